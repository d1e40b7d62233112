"""A race in words and in a table that fits the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from sepcert.cli.guard import printable
from sepcert.cli.wording import count, left_out, margin_sentence, outward, shortened
from sepcert.status import Termination, Verdict

if TYPE_CHECKING:
    from sepcert.workflows.race import RaceResult, RaceRun

_NAME = 10
_PLAIN_DIGITS = 6
_DASH = "-"


@dataclass(frozen=True)
class Column:
    """One column of the table.

    Attributes
    ----------
    title : str
    cell : callable
        From a run to its text.
    left : bool
        Whether its cells begin at the left.
    """

    title: str
    cell: Callable[[RaceRun], str]
    left: bool = False


def short_number(value: float | None, *, up: bool | None = None) -> str:
    """Return a number with three digits, rounded up, down, or (None) to the nearest; a dash for None."""
    if value is None:
        return _DASH
    rounded = Decimal(f"{value:.3g}" if up is None else outward(value, up=up, digits=3))
    if rounded == 0:
        return "0"
    if -4 < rounded.adjusted() < _PLAIN_DIGITS:
        return f"{rounded:f}"
    return f"{rounded.normalize():e}".replace("e+", "e")


def whole(value: float | None) -> str:
    """Return a count: its digits where they are few, else three of them, rounded up."""
    if value is None:
        return _DASH
    return str(int(value)) if value < 10**_PLAIN_DIGITS else short_number(value, up=True)


def _narrow_columns() -> list[Column]:
    return [
        Column("algorithm", lambda run: run.alias, left=True),
        Column("verdict", lambda run: run.verdict.value.replace("margin-at-most", "at most"), left=True),
        Column("iterat.", lambda run: whole(run.iterations)),
        Column("bound", lambda run: whole(run.bound)),
        Column("prod.", lambda run: short_number(run.products)),
        Column("CPU s", lambda run: short_number(run.cpu_seconds)),
        Column("lower", lambda run: short_number(run.margin.lower, up=False)),
        Column("upper", lambda run: short_number(run.margin.upper, up=True)),
    ]


def _wide_columns() -> list[Column]:
    return [
        Column("algorithm", lambda run: run.algorithm, left=True),
        Column("verdict", lambda run: run.verdict.value, left=True),
        Column("stopped by", lambda run: run.termination.value.replace("-", " "), left=True),
        Column("iterations", lambda run: whole(run.iterations)),
        Column("counted", _counted),
        Column("bound", lambda run: whole(run.bound)),
        Column("products", lambda run: short_number(run.products)),
        Column("CPU s", lambda run: short_number(run.cpu_seconds)),
        Column("margin from", lambda run: short_number(run.margin.lower, up=False)),
        Column("to", lambda run: short_number(run.margin.upper, up=True)),
    ]


def _counted(run: RaceRun) -> str:
    return _DASH if run.counted is None else f"{run.counted} {run.counts}"


def table(runs: Sequence[RaceRun], width: int) -> list[str]:
    """Return the table: all columns where there is room, fewer and short names where not, else blocks."""
    for columns, gap in ((_wide_columns(), 2), (_narrow_columns(), 2), (_narrow_columns(), 1)):
        lines = _aligned(runs, columns, gap)
        if max(map(len, lines)) <= width:
            return lines
    return _blocks(runs)


def _aligned(runs: Sequence[RaceRun], columns: Sequence[Column], gap: int) -> list[str]:
    cells = [[column.title for column in columns], *([column.cell(run) for column in columns] for run in runs)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(columns))]
    lines = []
    for row in cells:
        padded = (
            text.ljust(size) if column.left else text.rjust(size)
            for text, size, column in zip(row, widths, columns, strict=True)
        )
        lines.append((" " * gap).join(padded).rstrip())
    return lines


def _blocks(runs: Sequence[RaceRun]) -> list[str]:
    """Return a few lines for each run, for very narrow terminals."""
    lines: list[str] = []
    for run in runs:
        name, *others = _narrow_columns()
        lines.append(name.cell(run))
        lines += [f"  {column.title:<{_NAME}}{column.cell(run)}" for column in others]
    return lines


def headline(result: RaceResult) -> str:
    """Return the answer in one sentence."""
    ran = count(len(result.runs), "algorithm")
    if not result.runs:
        return "Undecided: no algorithm could run"
    if not result.answered:
        return f"Undecided within the limits: {ran} ran, and none of them proved anything"
    verdict = result.verdict
    agreeing = sum(run.verified and run.verdict is verdict for run in result.runs)
    how = "linearly " if result.options.kernel == "linear" else ""
    through = "" if result.options.bias else ", without a bias"
    said = {
        Verdict.SEPARABLE: f"{how}separable{through}",
        Verdict.INSEPARABLE: f"not {how}separable{through}",
        Verdict.MARGIN_AT_MOST: f"margin at most {outward(result.margin.upper or 0.0, up=True)}",
    }[verdict]
    return f"{said[0].upper()}{said[1:]}: proved by {agreeing} of {ran}"


def facts(result: RaceResult, path: str, written: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return what is said below the table."""
    options, about = result.options, result.dataset.description
    name = "standard input" if path == "-" else path
    features = count(len(about.features), "feature")
    without = left_out(result.dataset)
    rows = count(about.rows, "row") + (f" ({without})" if without else "")
    limits = [
        f"{options.max_iterations:,} iterations" if options.max_iterations is not None else "",
        f"{options.time_limit_seconds:g} s" if options.time_limit_seconds is not None else "",
        f"epsilon {options.epsilon:g}" if options.epsilon is not None else "",
        f"relative gap {options.gap:g}" if options.gap is not None else "",
    ]
    said = [
        ("data", f"{name}: {rows}, {features}"),
        ("limits", f"{', '.join(limit for limit in limits if limit)}; for each algorithm"),
        ("margin", margin_sentence(result.margin.lower, result.margin.upper)),
        ("proved", _how_proved(result)),
        ("bound", _about_bound(result)),
        ("first", _first_separators(result)),
    ]
    said += [("stopped", sentence) for sentence in _stopped(result)]
    reasons: dict[str, list[str]] = {}
    for absent in result.absent:
        reasons.setdefault(absent.reason, []).append(absent.algorithm)
    said += [("left out", f"{', '.join(names)}: {reason}") for reason, names in reasons.items()]
    return [*((k, v) for k, v in said if v), *written]


def _how_proved(result: RaceResult) -> str:
    if not result.answered:
        return ""
    return "verdicts and margins: from what the algorithm proposed alone, in exact arithmetic, and verified"


def _about_bound(result: RaceResult) -> str:
    if all(run.bound is None for run in result.runs):
        return ""
    lower = result.margin.lower
    at = f" at margin {short_number(lower, up=False)}" if lower else ""
    mistakes = [run.alias for run in result.runs if run.counts == "mistakes" and run.bound is not None]
    what = f"; on mistakes for {' and '.join(mistakes)}" if mistakes else ""
    return f"the theorem's, on iterations to the first separator or to epsilon{at}{what}"


def _first_separators(result: RaceResult) -> str:
    """Return after how much each separated, where the runs went on to a gap: that is what the bound is on."""
    if result.options.gap is None or result.verdict is not Verdict.SEPARABLE:
        return ""
    parts = [f"{run.alias} {run.counted}" for run in result.runs if run.counted is not None]
    return f"to the first separator: {', '.join(parts)}"


def _stopped(result: RaceResult) -> list[str]:
    """Return who was stopped before it was done, and by what; and who was done, without a proof coming of it."""
    reasons: dict[str, list[object]] = {}
    for run in result.runs:
        reason = run.termination.value.replace("-", " ")
        if run.termination is Termination.CLAIM_REACHED:
            reason = "claimed in doubles, but not proved within the limits"
        if not run.verified or run.termination.value.endswith("limit"):
            reasons.setdefault(reason, []).append(run.alias)
    return [f"{reason}: {shortened(names, 12)}" for reason, names in reasons.items()]


def race_text(
    result: RaceResult,
    path: str,
    width: int,
    *,
    quiet: bool = False,
    written: Sequence[tuple[str, str]] = (),
    wrap: bool = False,
) -> str:
    """Return the whole account of a race.

    Parameters
    ----------
    result : RaceResult
    path : str
        As the user gave it.
    width : int
        Columns of the terminal.
    quiet : bool
        Only the first line and the table.
    written : sequence of (str, str)
        What was written, and where.
    wrap : bool
        Whether sentences are wrapped at the width; not in a pipe.
    """
    without = left_out(result.dataset) if quiet else ""
    lines = [printable("; ".join(part for part in (headline(result), without) if part))]
    lines += ["", *table(result.runs, width)] if result.runs else []
    if not quiet:
        lines.append("")
        for name, said in facts(result, path, written):
            if not wrap:
                lines.append(f"{name:<{_NAME}}{printable(said)}".replace("\n", " "))
                continue
            lines += textwrap.wrap(
                printable(said),
                max(width, 20),
                initial_indent=f"{name:<{_NAME}}",
                subsequent_indent=" " * _NAME,
                break_long_words=False,
                break_on_hyphens=False,
            )
    return "\n".join(lines) + "\n"
