"""Observers of a run: a list of records, and JSON lines."""

from __future__ import annotations

import json
from dataclasses import fields
from math import isfinite
from typing import TextIO

from sepcert.engine.protocol import IterationRecord, Observer, Outcome


class RecordList(Observer):
    """Keeps the records of a run in `records`."""

    def __init__(self) -> None:
        self.records: list[IterationRecord] = []

    def iterated(self, record: IterationRecord) -> None:
        """Keep the record."""
        self.records.append(record)


class JsonLines(Observer):
    """Writes one JSON object a line: `start`, then `iteration` lines, then `end`.

    Parameters
    ----------
    stream : text stream
        Open for writing; it is flushed at the end of a run and never closed.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def started(self, algorithm: str, rows: int) -> None:
        """Write the first line."""
        self._write({"event": "start", "algorithm": algorithm, "rows": rows})

    def iterated(self, record: IterationRecord) -> None:
        """Write the record; what is particular to the algorithm stands beside the common columns."""
        common = {field.name: getattr(record, field.name) for field in fields(record) if field.name != "extra"}
        self._write({"event": "iteration", **common, **record.extra})

    def ended(self, outcome: Outcome) -> None:
        """Write the last line and flush."""
        self._write(
            {
                "event": "end",
                "termination": outcome.termination.value,
                "reached": None if outcome.reached is None else outcome.reached.value,
                "margin_lower": outcome.bracket.lower,
                "margin_upper": outcome.bracket.upper,
                "iterations": outcome.iterations,
                "products": outcome.products,
                "passes": outcome.passes,
                "seconds": outcome.seconds,
            }
        )
        self._stream.flush()

    def _write(self, line: dict[str, object]) -> None:
        finite = {key: None if _not_a_number(value) else value for key, value in line.items()}
        self._stream.write(json.dumps(finite, allow_nan=False) + "\n")


def _not_a_number(value: object) -> bool:
    """Say whether JSON has no word for this number."""
    return isinstance(value, float) and not isfinite(value)
