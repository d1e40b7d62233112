"""Printing results as JSON: one object for one file, an array for several."""

from __future__ import annotations

import json
from collections.abc import Mapping

from sepcert.cli.guard import deliver
from sepcert.errors import SepcertError


def text(value: object) -> str:
    """Return strict JSON on one line, in ASCII; infinity and NaN are refused."""
    return json.dumps(value, allow_nan=False)


def failure(path: str, error: Exception) -> dict[str, object]:
    """Return what stands in the array for a file that could not be checked."""
    known = isinstance(error, SepcertError)
    code = error.code if isinstance(error, SepcertError) else "INTERNAL"
    message = error.message if isinstance(error, SepcertError) else f"{type(error).__name__}: {error}"
    line = error.place.line if isinstance(error, SepcertError) and error.place is not None else None
    return {
        "schema": "sepcert-error/1",
        "data": {"path": path},
        "error": {"code": code, "message": message, "line": line, "internal": not known},
    }


class JsonPrinter:
    """Writes each result as soon as it is there.

    Parameters
    ----------
    several : bool
        Whether an array is written, where a file that could not be checked has its place, too.
    """

    def __init__(self, several: bool) -> None:
        self._several = several
        self._written = 0

    def add(self, value: Mapping[str, object]) -> None:
        """Write one object."""
        opening = ("[" if self._written == 0 else ",\n") if self._several else ""
        self._written += 1
        deliver(opening + text(value) + ("" if self._several else "\n"))

    def add_failure(self, path: str, error: Exception) -> None:
        """Write an object for a file that could not be checked; nothing where there is only one file."""
        if self._several:
            self.add(failure(path, error))

    def close(self) -> None:
        """End the array."""
        if self._several:
            deliver("]\n" if self._written else "[]\n")
