"""A result in sentences; nothing here knows of terminals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING

from sepcert.config import Expect
from sepcert.status import Numbers, Separation, Verdict

if TYPE_CHECKING:
    from sepcert.config import Configuration
    from sepcert.data.dataset import Dataset
    from sepcert.findings import Gate
    from sepcert.result import Result

ROWS_SHOWN = 6
NAMES_SHOWN = 8
COEFFICIENTS_SHOWN = 6

READINGS = {Numbers.DECIMAL: "decimals as written", Numbers.BINARY64: "binary64 doubles"}

_ADVICE = {
    Separation.COMPLETE: (
        "Maximum likelihood estimates of a logistic or probit model do not exist: coefficients run to infinity. "
        "Use a penalised likelihood (Firth), drop or merge the columns that separate, or report one-sided intervals. "
        "Unexpected? Look for a column that gives the label away."
    ),
    Separation.QUASI_COMPLETE: (
        "Maximum likelihood estimates of a logistic or probit model do not exist: some coefficients run to infinity. "
        "Use a penalised likelihood (Firth), drop or merge the columns or levels that separate, or report one-sided "
        "intervals. A classifier without errors on the training rows does not exist either."
    ),
    Separation.OVERLAP: (
        "Maximum likelihood estimates of a logistic or probit model exist and are finite. A classifier without "
        "errors on the training rows does not exist: check the conflicting rows, add columns, or allow errors "
        "(soft margin)."
    ),
}


@dataclass(frozen=True)
class Account:
    """What is said about one file.

    Attributes
    ----------
    headline : str
        The verdict in words.
    facts : tuple of (str, str)
        A name and a sentence each.
    brief : tuple of str
        What has to stand beside the headline where the facts are not shown.
    """

    headline: str
    facts: tuple[tuple[str, str], ...]
    brief: tuple[str, ...] = ()


def count(number: int, noun: str) -> str:
    """Return the number with its noun in the right form."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def shortened(items: Sequence[object], shown: int) -> str:
    """Return the first items, and how many more there are."""
    if len(items) <= shown + 1:
        return ", ".join(str(item) for item in items)
    return f"{', '.join(str(item) for item in items[:shown])} and {len(items) - shown:,} more"


def outward(value: float, *, up: bool, digits: int = 6) -> str:
    """Return `value` with few digits, rounded away from the inside of its bracket."""
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    rounded = Context(prec=digits, rounding=rounding).create_decimal(Decimal(value)).normalize()
    return f"{rounded:f}" if rounded == 0 or -5 < rounded.adjusted() < 16 else f"{rounded:e}"


def places(dataset: Dataset, rows: Sequence[int]) -> str:
    """Return where the rows (1-based numbers) are: lines of a text file, else row numbers."""
    import numpy as np

    shown = list(rows[: ROWS_SHOWN + 1])
    names, noun = list(map(int, shown)), "row"
    if dataset.line_numbers is not None:
        names = dataset.line_numbers(np.searchsorted(dataset.row_numbers, shown).tolist())
        noun = "line"
    every: list[object] = [*names, *[None] * (len(rows) - len(shown))]
    return f"{noun}{'' if len(rows) == 1 else 's'} {shortened(every, ROWS_SHOWN)}"


def margin_sentence(lower: float | None, upper: float | None) -> str:
    """Return the bracket on the normalised margin in words, rounded outward."""
    if lower is not None and upper is not None:
        return f"between {outward(lower, up=False)} and {outward(upper, up=True)} (normalised)"
    if upper is not None:
        return "not positive" if upper == 0 else f"at most {outward(upper, up=True)} (normalised)"
    if lower is not None:
        return f"at least {outward(lower, up=False)} (normalised)"
    return "no bound proved"


def headline(result: Result, dataset: Dataset, configuration: Configuration) -> str:
    """Return the verdict in words a statistician would use."""
    kernel = configuration.kernel.name
    plane = "hyperplane" if configuration.kernel.bias else "hyperplane through the origin"
    rows = count(dataset.description.rows, "row")
    if result.verdict == Verdict.SEPARABLE:
        if kernel == "linear":
            return f"Linearly separable (complete separation): a {plane} has all {rows} strictly on the right side"
        return f"Separable with the {kernel} kernel: a classifier has all {rows} strictly on the right side"
    if result.separation == Separation.QUASI_COMPLETE and result.witness is not None:
        on_it = f"{len(result.witness.rows):,} of {rows}"
        return f"Quasi-complete separation: a {plane} has no row on the wrong side, but {on_it} lie on it"
    if result.verdict == Verdict.INSEPARABLE:
        rows_in_conflict = _conflict(result)
        how = "linearly separable" if kernel == "linear" else f"separable with the {kernel} kernel"
        where = f"{count(len(rows_in_conflict), 'row')} conflict ({places(dataset, rows_in_conflict)})"
        return f"Not {how}: {where}"
    if result.verdict == Verdict.MARGIN_AT_MOST and result.margin.upper is not None:
        bound = outward(result.margin.upper, up=True)
        return f"Neither proved separable nor inseparable: the normalised margin is at most {bound}"
    return f"Undecided within the limits{_reason(result.termination)}"


def _reason(termination: str | None) -> str:
    return f" ({termination.replace('-', ' ')})" if termination else ""


def _conflict(result: Result) -> Sequence[int]:
    if result.conflicts:
        rows: Sequence[int] = result.conflicts[0]["rows"]
        return rows
    return result.witness.rows if result.witness is not None else []


def _data_sentence(dataset: Dataset, path: str) -> str:
    about = dataset.description
    positives = int((dataset.labels > 0).sum())
    sides = f"{about.positive} ({positives:,}) against {about.negative} ({about.rows - positives:,})"
    label = f"{about.label} = " if about.label else "labels "
    features = f"{count(len(about.features), 'feature')} ({shortened(about.features, NAMES_SHOWN)})"
    name = "standard input" if path == "-" else path
    without = left_out(dataset)
    rows = count(about.rows, "row") + (f" ({without})" if without else "")
    return f"{name}: {rows}, {features}; {label}{sides}"


def left_out(dataset: Dataset) -> str:
    """Return which rows of the file are not part of the problem, or an empty text."""
    counts = dataset.counts
    reasons = ((counts.missing, "for missing values"), (counts.zero_weight, "of weight zero"))
    given = [(number, reason) for number, reason in reasons if number]
    if not given:
        return ""
    (number, reason), *others = given
    return ", ".join([f"{count(number, 'row')} left out {reason}", *(f"{n:,} {why}" for n, why in others)])


def _separator_sentence(result: Result) -> str | None:
    """Return the coefficients of a hyperplane, scaled so that the first is 1 or -1.

    The order is by how far a column moves the decision over the data: its coefficient times its range.
    """
    separator, exact = result.separator, result.evidence.separator
    if separator is None or exact is None or separator.weights is None:
        return None
    features, points = result.dataset.description.features, result.problem.points.values
    reach = dict(zip(features, (points.max(axis=0) / 2 - points.min(axis=0) / 2).tolist(), strict=True))
    columns = {name: weight for name, weight in separator.weights.items() if weight and name != "(bias)"}
    bias = separator.weights.get("(bias)", 0.0)
    by_size = sorted(columns, key=lambda name: -abs(columns[name]) * reach[name])
    scale = abs(columns[by_size[0]] if by_size else bias)
    said = shortened([f"{name} {columns[name] / scale:.4g}" for name in by_size], COEFFICIENTS_SHOWN)
    others = len(features) - len(columns)
    parts = [said, f"(bias) {bias / scale:.4g}" if bias else ""]
    zeros = " (others 0)" if others and exact.weights is not None else ""
    return ", ".join(part for part in parts if part) + zeros


def _kernel_sentence(result: Result, configuration: Configuration) -> str | None:
    """Return the kernel with its parameters as they were given, and the number where that is a word."""
    kernel = result.problem.kernel
    if kernel.name == "linear":
        return None
    parts = []
    for name, given in configuration.kernel_parameters.items():
        if isinstance(given, str):
            word = given.strip()[:1].isalpha()
            parts.append(f"{name} = {float(getattr(kernel, name)):.6g} ({given})" if word else f"{name} = {given}")
    return ", ".join([kernel.name, *parts])


def _proof_sentence(result: Result, configuration: Configuration) -> str:
    if not result.verified:
        return "no verdict was proved"
    if result.verdict == Verdict.SEPARABLE:
        what = _separable_proof(result, configuration)
    elif result.separation == Separation.QUASI_COMPLETE:
        what = "a separator for the rows off the hyperplane, and exact weights that tie all the others to it"
    elif result.witness is not None and result.witness.exact:
        rows = count(len(result.witness.rows), "row")
        meet = "balance to exactly zero" if not configuration.kernel.bias else "make both classes meet in one point"
        what = f"exact weights on {rows} that {meet}{_beyond_the_conflict(result)}"
    else:
        what = "weights on the rows that bound the margin from above"
    return f"{what}; verified ({count(len(result.report.checks), 'check')})"


def _separable_proof(result: Result, configuration: Configuration) -> str:
    if result.separator is None:
        return (
            "no point has both labels, and a strictly positive definite kernel separates all distinct points; "
            "no separator with a provable margin was found"
        )
    how = "in exact arithmetic" if configuration.kernel.name == "linear" else "with proved error bounds"
    return f"the separator puts every row strictly on the right side, {how}"


def _beyond_the_conflict(result: Result) -> str:
    """Tell why the weights are on more rows than those that conflict."""
    few, many = len(_conflict(result)), len(result.witness.rows) if result.witness is not None else 0
    if few >= many or result.separation != Separation.OVERLAP:
        return ""
    return (
        f" and that span all rows, which excludes quasi-complete separation; the {count(few, 'row')} in "
        "conflict are minimal: without any one of them the others can be separated"
    )


def _numbers_sentence(result: Result, dataset: Dataset, configuration: Configuration) -> str | None:
    other = result.other_numbers
    if not other or (other["verdict"], other["separation"]) == (result.verdict, result.separation):
        return None
    here = READINGS[Numbers(dataset.description.numbers)]
    there = READINGS[Numbers(str(other["numbers"]))]
    return f"this is about the numbers as {here}; as {there} {_other_answer(other, configuration.kernel.name)}"


def _other_answer(other: Mapping[str, str | None], kernel: str) -> str:
    linear = kernel == "linear"
    how = "linearly separable" if linear else f"separable with the {kernel} kernel"
    if other["verdict"] == Verdict.SEPARABLE:
        return f"it is {how}{' (complete separation)' if linear else ''}"
    if other["separation"] == Separation.QUASI_COMPLETE:
        return "there is quasi-complete separation"
    if other["verdict"] == Verdict.INSEPARABLE:
        return f"it is not {how}{' (overlap)' if other['separation'] == Separation.OVERLAP else ''}"
    if other["verdict"] == Verdict.MARGIN_AT_MOST:
        return "it is neither proved separable nor inseparable"
    return "it was not decided within the limits"


def _rows_sentence(result: Result, dataset: Dataset) -> str | None:
    if result.separation != Separation.QUASI_COMPLETE or result.witness is None:
        return None
    return f"on the hyperplane: {places(dataset, result.witness.rows)}"


def _aliased_sentence(result: Result) -> str | None:
    if not result.aliased:
        return None
    return f"columns that depend on earlier ones: {shortened(result.aliased, NAMES_SHOWN)}"


def _gate_sentence(gate: Gate, exit_zero: bool) -> str:
    wanted = str(gate.expect) + (f", margin at least {gate.min_margin:g}" if gate.min_margin is not None else "")
    outcome = {True: "holds", False: "fails", None: "undecided"}[gate.holds]
    forgiven = " (exit status 0 on request)" if exit_zero and gate.holds is False else ""
    return f"expected {wanted}: {outcome}{forgiven}"


def _telling_gate(result: Result, gate: Gate, configuration: Configuration) -> str:
    """Return the gate where it does not hold and the verdict alone would not tell."""
    plain_failure = result.verdict == Verdict.INSEPARABLE and result.separation != Separation.QUASI_COMPLETE
    told = result.verdict == Verdict.UNDECIDED or (plain_failure and gate.expect == Expect.SEPARABLE)
    return "" if gate.holds or told else _gate_sentence(gate, configuration.gate.exit_zero)


def _advice(result: Result, configuration: Configuration, certificate: str | None) -> str:
    if result.separation is not None and configuration.kernel.name == "linear":
        aliased = " Leave the aliased columns out first." if result.aliased else ""
        return _ADVICE[Separation(result.separation)] + aliased
    if result.verdict in {Verdict.UNDECIDED, Verdict.MARGIN_AT_MOST}:
        engine = configuration.engine
        ways = {
            "allow more time": engine.time_limit_seconds,
            "allow more iterations": engine.max_iterations,
            "use a smaller --epsilon, or none": engine.epsilon,
            "use --algorithm auto": engine.algorithm != "auto",
        }
        open_ways = [way for way, limited in ways.items() if limited]
        return f"To decide it: {'; '.join(open_ways)}." if open_ways else ""
    return "Verify the certificate anywhere with sepcert verify." if certificate else ""


def account(
    result: Result,
    dataset: Dataset,
    configuration: Configuration,
    gate: Gate,
    path: str,
    certificate: str | None,
) -> Account:
    """Return everything that is said about one file.

    Parameters
    ----------
    result, dataset, configuration, gate
        The run.
    path : str
        As the user gave it.
    certificate : str or None
        Where the certificate was written.
    """
    facts: list[tuple[str, str | None]] = [
        ("data", _data_sentence(dataset, path)),
        ("rows", _rows_sentence(result, dataset)),
        ("kernel", _kernel_sentence(result, configuration)),
        ("separator", _separator_sentence(result)),
        ("margin", margin_sentence(result.margin.lower, result.margin.upper)),
        ("proof", _proof_sentence(result, configuration)),
        ("numbers", _numbers_sentence(result, dataset, configuration)),
        ("aliased", _aliased_sentence(result)),
        ("gate", _gate_sentence(gate, configuration.gate.exit_zero)),
        ("certificate", certificate or "not written (--certificate FILE)"),
        ("next", _advice(result, configuration, certificate)),
    ]
    said = tuple((name, sentence) for name, sentence in facts if sentence)
    brief = (left_out(dataset), _telling_gate(result, gate, configuration))
    return Account(headline(result, dataset, configuration), said, tuple(part for part in brief if part))
