"""Every error that a user can meet, each with a stable code.

A :class:`SepcertError` is always the user's to mend (data, configuration, kernel, certificate) and becomes exit
status 2 on the command line.  `CODES` is what ``sepcert list codes`` prints.
"""

from __future__ import annotations

from dataclasses import dataclass

CODES: dict[str, str] = {}


def register(code: str, meaning: str) -> str:
    """Add an error code to the list that ``sepcert list codes`` prints, and return it."""
    if CODES.get(code, meaning) != meaning:
        raise ValueError(f"error code {code} has two meanings")
    CODES[code] = meaning
    return code


@dataclass(frozen=True)
class Place:
    """Where a fault is: a file, its line and its column, both 1-based; the column counts fields."""

    path: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        # Control characters would split the line of the message.
        parts = ["".join(c if c.isprintable() else ascii(c)[1:-1] for c in self.path or "<data>")]
        if self.line is not None:
            parts.append(str(self.line))
            if self.column is not None:
                parts.append(str(self.column))
        return ":".join(parts)


class SepcertError(Exception):
    """An error with a stable code, a place and advice.

    Parameters
    ----------
    code : str
        A code of :data:`CODES`, such as ``DATA-NUMBER``.
    message : str
        What is wrong, in one line.
    place : Place, optional
        Where it is.
    advice : str, optional
        What the user can do about it.
    more : tuple of str
        Further faults of the same kind, already formatted (at most four), and how many there are in all.
    """

    def __init__(
        self, code: str, message: str, *, place: Place | None = None, advice: str = "", more: tuple[str, ...] = ()
    ) -> None:
        self.code = code
        self.message = message
        self.place = place
        self.advice = advice
        self.more = more
        super().__init__(str(self))

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place is not None else ""
        advice = f"; {self.advice}" if self.advice else ""
        return "\n".join([f"{where}error {self.code}: {self.message}{advice}", *self.more])


class DataError(SepcertError):
    """The data cannot be read as a labelled table of numbers."""


class ConfigError(SepcertError):
    """An option, an environment variable or a configuration file is wrong."""


class KernelError(SepcertError):
    """The kernel is unknown, not built yet, or cannot be used on the data."""


class CertificateError(SepcertError):
    """A certificate cannot be read, so nothing can be said about it (exit 2, never 1)."""
