"""Files that a command writes: whether they can be written is found out before the work."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from sepcert.cli.progress import cannot_write
from sepcert.errors import ConfigError, register

INPUT_TWICE = register("USAGE-INPUT", "Standard input can be read only once.")

STANDARD_STREAM = "-"


def refuse_outputs(outputs: Iterable[str | None], inputs: Iterable[str | None]) -> None:
    """Raise an error where an output is also an input or another output, is a folder, or cannot be written.

    Parameters
    ----------
    outputs, inputs : iterable of str or None
        Paths; None is passed over, and so is standard input.

    Raises
    ------
    ConfigError
        OUTPUT-FILE.
    """
    taken = {os.path.realpath(path) for path in inputs if path not in {None, STANDARD_STREAM}}
    for path in outputs:
        if path is None:
            continue
        if path == STANDARD_STREAM:
            raise cannot_write(path, "standard output holds the result")
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


def refuse_standard_input_twice(paths: Sequence[str], labels: str | None) -> None:
    """Raise an error where standard input is to be read more than once.

    Parameters
    ----------
    paths : sequence of str
        The data files.
    labels : str or None
        The file of labels, which is read with each of them.

    Raises
    ------
    ConfigError
        USAGE-INPUT.
    """
    times = paths.count(STANDARD_STREAM) + (len(paths) if labels == STANDARD_STREAM else 0)
    if times > 1:
        advice = "save it in a file first, and name that"
        raise ConfigError(INPUT_TWICE, f"- (standard input) is wanted {times} times", advice=advice)


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
