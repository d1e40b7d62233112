"""What is seen while a check runs: log lines, a live table of iterations, and the log file."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from sepcert.cli.guard import complain, printable
from sepcert.cli.render_text import is_rich
from sepcert.errors import ConfigError, register

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from sepcert.engine.protocol import IterationRecord

OUTPUT_FILE = register("OUTPUT-FILE", "A file that was asked for cannot be written.")

_DELAY_SECONDS = 0.5
_REFRESH_SECONDS = 0.15
_ITERATIONS_SHOWN = 8
_COMMON_COLUMNS = ("iteration", "step", "margin_lower", "margin_upper", "gap", "seconds")


def cannot_write(path: str, reason: str) -> ConfigError:
    """Return the error for an output file that cannot be written."""
    return ConfigError(OUTPUT_FILE, f"cannot write {path}: {reason}", advice="choose another file or folder")


class IterationLog:
    """Writes iteration records to a file, one JSON object a line.

    Parameters
    ----------
    path : str
        The file; an existing one is replaced.
    several : bool
        Whether every line names the data file it belongs to.
    """

    def __init__(self, path: str, several: bool) -> None:
        from sepcert.engine.observers import JsonLines

        self._path = path
        self._several = several
        self.data = ""
        try:
            self._file = Path(path).open("w", encoding="utf-8")  # noqa: SIM115
        except OSError as error:
            raise cannot_write(path, error.strerror or str(error)) from None
        self._lines = JsonLines(self._file)

    def __call__(self, record: IterationRecord) -> None:
        """Write one record."""
        if self._several:
            record = dataclasses.replace(record, extra={"path": self.data, **record.extra})
        try:
            self._lines.iterated(record)
        except OSError as error:
            raise cannot_write(self._path, error.strerror or str(error)) from None

    def close(self) -> None:
        """Finish the file."""
        try:
            self._file.close()
        except OSError as error:
            raise cannot_write(self._path, error.strerror or str(error)) from None


class Display:
    """Shows the progress of one check on standard error; on a terminal only, and only when it takes a while.

    Parameters
    ----------
    live : bool
        Whether a live display is wanted where standard error is a terminal.
    verbose : bool
        Whether the log lines are printed.

    Attributes
    ----------
    about : str
        The data file that notes and log lines name; empty where there is only one.
    """

    def __init__(self, *, live: bool, verbose: bool) -> None:
        self._wanted = live and is_rich(sys.stderr)
        self._verbose = verbose
        self.about = ""
        self._begin = time.monotonic()
        self._refreshed = 0.0
        self._live: Live | None = None
        self._stage = "reading"
        self._fraction: float | None = None
        self._records: deque[IterationRecord] = deque(maxlen=_ITERATIONS_SHOWN)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    @property
    def last(self) -> IterationRecord | None:
        """The latest iteration, for who interrupts."""
        return self._records[-1] if self._records else None

    def loading(self, done: int, total: int | None) -> None:
        """Take note of how many bytes have been read."""
        self._fraction = min(1.0, done / total) if total else None
        self._refresh()

    def note(self, message: str) -> None:
        """Print what a user should know in any case."""
        self._print(f"note: {self._prefix}{message}")

    @property
    def _prefix(self) -> str:
        return f"{self.about}: " if self.about else ""

    def say(self, message: str) -> None:
        """Take note of what happens; print it where the user wants to know."""
        self._stage, self._fraction = message, None
        if self._verbose:
            self._print(self._prefix + message)
        self._refresh()

    def record(self, record: IterationRecord) -> None:
        """Take note of an iteration."""
        self._records.append(record)
        self._fraction = None
        self._refresh()

    def _print(self, message: str) -> None:
        if self._live is None:
            complain(message)
        else:
            from rich.text import Text

            self._live.console.print(Text(printable(message)))

    def _refresh(self) -> None:
        now = time.monotonic()
        if not self._wanted or now - self._begin < _DELAY_SECONDS or now - self._refreshed < _REFRESH_SECONDS:
            return
        self._refreshed = now
        if self._live is None:
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True, markup=False, highlight=False, emoji=False)
            self._live = Live(console=console, auto_refresh=False, transient=True)
            self._live.start()
        self._live.update(self._picture(now - self._begin), refresh=True)

    def _picture(self, seconds: float) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        parts: list[RenderableType] = [Text(f"{printable(self._stage)} ({seconds:.0f} s)", overflow="ellipsis")]
        if self._fraction is not None:
            parts.append(ProgressBar(total=1.0, completed=self._fraction, width=40))
        if self._records:
            parts.append(self._table())
        return Group(*parts)

    def _table(self) -> RenderableType:
        from rich.table import Table

        extra = list(self._records[-1].extra)
        table = Table(box=None, padding=(0, 1), pad_edge=False)
        for name in (*_COMMON_COLUMNS, *extra):
            table.add_column(name.replace("_", " "), justify="right", no_wrap=True)
        for record in self._records:
            common = (getattr(record, name) for name in _COMMON_COLUMNS)
            table.add_row(*(_cell(value) for value in (*common, *(record.extra.get(name) for name in extra))))
        return table


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else printable(str(value))
