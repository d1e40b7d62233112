"""The last line of defence: whatever happens becomes an exit status, and one line instead of a traceback."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from typing import TextIO

from sepcert.errors import SepcertError, register
from sepcert.status import ExitCode

RESULT = register("OUTPUT-RESULT", "The result cannot be written to standard output.")
MEMORY = register("MEMORY", "There is not enough memory.")
INTERNAL = register("INTERNAL", "A defect of sepcert.")


class OutputError(Exception):
    """The result could not be written to standard output."""


def printable(text: str) -> str:
    """Return `text` with control characters escaped, so that data cannot command a terminal."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def complain(text: str) -> None:
    """Write a line to standard error; a closed standard error is no reason to fail."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(printable(text) + "\n")
        sys.stderr.flush()


def deliver(text: str) -> None:
    """Write a result to standard output and make sure that it left.

    Raises
    ------
    BrokenPipeError
        Nobody reads, or standard output was closed before the start.
    OutputError
        It cannot be written, as on a full disk.
    """
    if sys.stdout is None:
        raise BrokenPipeError
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error.strerror or str(error)) from None


def guarded(action: Callable[[], int], *, debug: bool) -> int:
    """Run `action` and return its exit status, or the one its failure stands for.

    Parameters
    ----------
    action : callable
        Returns an exit status.
    debug : bool
        Show the traceback of a crash.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        status = action()
        deliver("")
    except BrokenPipeError:
        status = ExitCode.CLOSED_PIPE
    except KeyboardInterrupt:
        complain("sepcert: interrupted")
        status = ExitCode.INTERRUPTED
    except Exception as error:
        explain_failure(error, debug=debug)
        status = ExitCode.COULD_NOT_RUN
    if status in {ExitCode.CLOSED_PIPE, ExitCode.COULD_NOT_RUN}:
        _discard_unwritten(sys.stdout)
    return int(status)


def explain_failure(error: Exception, *, debug: bool) -> None:
    """Say on standard error, without a traceback, why something could not be done (exit status 2).

    Parameters
    ----------
    error : Exception
        A :class:`~sepcert.errors.SepcertError` speaks for itself; anything else but a lack of memory and an output
        that cannot be written is a defect of sepcert.
    debug : bool
        Show the traceback of a defect.
    """
    if isinstance(error, SepcertError):
        complain(str(error) if error.place is not None else f"sepcert: {error}")
    elif isinstance(error, OutputError):
        complain(f"sepcert: error {RESULT}: cannot write the result: {error}")
    elif isinstance(error, MemoryError):
        advice = "use fewer rows or columns, or a machine with more memory"
        complain(f"sepcert: error {MEMORY}: out of memory; {advice}")
    else:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        if debug:
            import traceback

            complain("".join(traceback.format_exception(error)).rstrip())
        complain(f"sepcert: error {INTERNAL}: internal error: {what}{'' if debug else '; run again with --debug'}")


def _discard_unwritten(stream: TextIO | None) -> None:
    """Point the stream at nothing, so that Python's own flush at exit neither fails nor speaks."""
    try:
        if stream is not None:
            stream.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, stream.fileno())  # type: ignore[union-attr]
            os.close(nothing)
