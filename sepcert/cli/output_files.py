"""Files that a command writes: whether they can be written is found out before the work."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from sepcert.cli.progress import cannot_write


def refuse_outputs(outputs: Iterable[str | None], inputs: Iterable[str | None]) -> None:
    """Raise an error where an output is also an input or another output, is a folder, or cannot be written.

    Parameters
    ----------
    outputs, inputs : iterable of str or None
        Paths; None is passed over.

    Raises
    ------
    ConfigError
        OUTPUT-FILE.
    """
    taken = {os.path.realpath(path) for path in inputs if path is not None}
    for path in outputs:
        if path is None:
            continue
        place = os.path.realpath(path)
        if place in taken:
            raise cannot_write(path, "the run has another use for this file")
        taken.add(place)
        folder = Path(path).parent
        if Path(path).is_dir():
            raise cannot_write(path, "it is a folder")
        if not folder.is_dir():
            raise cannot_write(path, f"there is no folder {folder}")
        if not os.access(path if Path(path).exists() else folder, os.W_OK):
            raise cannot_write(path, "no permission")


def write_file(path: str, content: str | bytes) -> None:
    """Write a file at once; text as UTF-8.

    Raises
    ------
    ConfigError
        OUTPUT-FILE.
    """
    try:
        Path(path).write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise cannot_write(path, error.strerror or str(error)) from None
