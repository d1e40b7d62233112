"""Printing results as JSON: one object for one file, an array for several."""

from __future__ import annotations

import json
from collections.abc import Mapping

from sepcert.cli.guard import INTERNAL, MEMORY, deliver
from sepcert.errors import SepcertError


def text(value: object) -> str:
    """Return strict JSON on one line, in ASCII; infinity and NaN are refused."""
    return json.dumps(value, allow_nan=False)


def failure(path: str, error: Exception) -> dict[str, object]:
    """Return what stands in the array for a file that could not be checked."""
    return {"schema": "sepcert-error/1", "data": {"path": path}, "error": error_object(error)}


def error_object(error: Exception) -> dict[str, object]:
    """Return the `error` object: code, message, line, and whether it is a defect of sepcert."""
    if isinstance(error, SepcertError):
        line = error.place.line if error.place is not None else None
        return {"code": error.code, "message": error.message, "line": line, "internal": False}
    if isinstance(error, MemoryError):
        return {"code": MEMORY, "message": "out of memory", "line": None, "internal": False}
    return {"code": INTERNAL, "message": f"{type(error).__name__}: {error}", "line": None, "internal": True}


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
