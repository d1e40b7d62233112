"""Problem -> decision -> evidence -> check, and the result they make.

Floating point proposes (:mod:`sepcert.engine`), exact arithmetic proves (:mod:`sepcert.exact`), and no verdict leaves
this module that :mod:`sepcert.verify` has not accepted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sepcert.certificate.model import Combination, Evidence, Margin, Separator
from sepcert.data.arrays import dataset_from_arrays
from sepcert.data.dataset import Dataset
from sepcert.errors import ConfigError, register
from sepcert.exact.decide import Deadline
from sepcert.exact.evidence import (
    combination,
    integer_witness,
    separates,
    separator_from_alpha,
    separator_from_direction,
)
from sepcert.exact.face import Face
from sepcert.exact.partition import Partition, partition
from sepcert.findings import Run
from sepcert.kernels import make_kernel
from sepcert.problem import Problem
from sepcert.proposals import ENOUGH_PASSES, Search
from sepcert.result import Result
from sepcert.status import Claim, Numbers, Separation, Termination, Verdict
from sepcert.verify.evidence import check_evidence
from sepcert.verify.margin import margin_lower, margin_upper
from sepcert.verify.report import Report
from sepcert.verify.rows import SignedRows
from sepcert.verify.signs import signs

if TYPE_CHECKING:
    from sepcert.engine.protocol import IterationRecord

OPTION = register("CONFIG-OPTION", "An option of the check has a value that it cannot have.")

DEFAULT_GAP = 0.01
FINEST_GAP = 1e-9

Watcher = Callable[["IterationRecord"], None]
Say = Callable[[str], None]


@dataclass(frozen=True)
class CheckOptions:
    """What is asked, how hard to try.

    Attributes
    ----------
    kernel : str
    kernel_parameters : dict
    bias : bool
    bias_scale : Fraction or float
        b0 > 0, taken exactly.
    algorithm : str
        ``auto``, or one algorithm that runs alone.
    epsilon : float or None
        Target for |p|_G of a witness that is not exact.
    gap : float or None
        Go on until (upper - lower)/upper <= gap; None: 0.01 where it comes cheaply.
    max_iterations : int or None
        Of the floating-point engine.
    time_limit_seconds : float or None
    seed : int
    min_margin : float or None
        Go on until the bracket lies on one side of it.
    """

    kernel: str = "linear"
    kernel_parameters: Mapping[str, object] = field(default_factory=dict)
    bias: bool = True
    bias_scale: Fraction | float = Fraction(1)
    algorithm: str = "auto"
    epsilon: float | None = None
    gap: float | None = None
    max_iterations: int | None = None
    time_limit_seconds: float | None = None
    seed: int = 0
    min_margin: float | None = None

    def __post_init__(self) -> None:
        for name in ("epsilon", "gap", "time_limit_seconds", "bias_scale"):
            value = getattr(self, name)
            if value is not None and not (0 < value < float("inf")):
                raise ConfigError(OPTION, f"{name} is {value!r}", advice="give a positive number")
        if self.max_iterations is not None and self.max_iterations < 0:
            raise ConfigError(OPTION, f"max_iterations is {self.max_iterations}", advice="give 0 or more")

    def changed(self) -> dict[str, object]:
        """Return the options that differ from the defaults, as plain values."""
        default = CheckOptions()
        pairs = ((f.name, getattr(self, f.name)) for f in fields(self))
        return {
            name: str(value) if isinstance(value, Fraction) else dict(value) if isinstance(value, Mapping) else value
            for name, value in pairs
            if value != getattr(default, name)
        }


@dataclass(frozen=True)
class Certified:
    """Evidence with the verifier's report, before it is put into the user's words."""

    verdict: Verdict
    separation: Separation | None
    evidence: Evidence
    report: Report
    conflict: Mapping[int, Fraction]
    notes: tuple[str, ...]


def check(
    X: ArrayLike,
    y: ArrayLike,
    *,
    kernel: str = "linear",
    bias: bool = True,
    bias_scale: Fraction | float = 1,
    algorithm: str = "auto",
    epsilon: float | None = None,
    gap: float | None = None,
    max_iterations: int | None = None,
    time_limit_seconds: float | None = None,
    seed: int = 0,
    min_margin: float | None = None,
    numbers: str = "binary64",
    positive: Any = None,
    feature_names: Sequence[str] | None = None,
    **kernel_parameters: object,
) -> Result:
    """Decide whether the classes are separable, with a proof.

    Parameters
    ----------
    X : array_like, shape (n, d)
        Points.
    y : array_like, shape (n,)
        Labels, exactly two different ones.
    kernel : str
        Name of the kernel; its parameters go by their own names.
    bias : bool
        Whether the classifier has a bias.
    bias_scale : float or Fraction
        b0, the value of the bias feature.
    algorithm : str
        ``auto`` or the name of one algorithm.
    epsilon, gap, max_iterations, time_limit_seconds, seed, min_margin
        See :class:`CheckOptions`.
    numbers : str
        ``binary64``: the stored values; ``decimal``: the shortest decimals that round to them.
    positive : object, optional
        The label of the positive class; default: the last in sorted order.
    feature_names : sequence of str, optional

    Returns
    -------
    Result

    Raises
    ------
    DataError, KernelError, ConfigError
        With a code, the place and advice.
    """
    dataset = dataset_from_arrays(X, y, numbers=_reading(numbers), positive=positive, feature_names=feature_names)
    options = CheckOptions(
        kernel=kernel,
        kernel_parameters=kernel_parameters,
        bias=bias,
        bias_scale=bias_scale,
        algorithm=algorithm,
        epsilon=epsilon,
        gap=gap,
        max_iterations=max_iterations,
        time_limit_seconds=time_limit_seconds,
        seed=seed,
        min_margin=min_margin,
    )
    return check_dataset(dataset, options)


def _reading(numbers: str) -> Numbers:
    try:
        return Numbers(numbers)
    except ValueError:
        known = ", ".join(Numbers)
        raise ConfigError(OPTION, f"numbers is {numbers!r}", advice=f"one of {known}") from None


def check_dataset(
    dataset: Dataset,
    options: CheckOptions = CheckOptions(),
    *,
    observers: Sequence[Watcher] = (),
    say: Say | None = None,
) -> Result:
    """Decide whether the classes of a data set are separable, with a proof.

    Parameters
    ----------
    dataset : Dataset
    options : CheckOptions
    observers : sequence of callables
        Told of every iteration of the engine.
    say : callable, optional
        Given log messages of one line.

    Returns
    -------
    Result
    """
    began = time.monotonic()
    limit = options.time_limit_seconds
    deadline = Deadline(None if limit is None else began + limit)
    notes: list[str] = []

    def note(line: str) -> None:
        notes.append(line)
        if say is not None:
            say(line)

    kernel = make_kernel(options.kernel, dict(options.kernel_parameters))
    scale = Fraction(options.bias_scale)
    problem = Problem(dataset.points, dataset.labels, kernel, options.bias, scale)
    search = _search(options, deadline, observers, note)
    found = certify(problem, options, search)
    for line in found.notes:
        note(line)
    other = _other_reading(dataset, problem, found, options, deadline)
    run = Run(
        options.algorithm,
        search.spent.iterations,
        round(search.spent.passes),
        time.monotonic() - began,
        _termination(search, deadline, found),
        tuple(notes),
        options.changed(),
    )
    return Result(
        problem, dataset, found.verdict, found.separation, found.evidence, found.report, run, found.conflict, other
    )


def _search(options: CheckOptions, deadline: Deadline, observers: Sequence[Watcher], say: Say) -> Search:
    return Search(
        gap=DEFAULT_GAP if options.gap is None else options.gap,
        seed=options.seed,
        deadline=deadline,
        max_iterations=options.max_iterations,
        enough=ENOUGH_PASSES if options.gap is None else None,
        watchers=observers,
        say=say,
    )


def _termination(search: Search, deadline: Deadline, found: Certified) -> Termination | None:
    if found.verdict is Verdict.UNDECIDED and search.spent.termination is not Termination.INTERRUPTED:
        return Termination.INTERRUPTED if deadline.stopped else Termination.TIME_LIMIT
    return search.spent.termination


def certify(problem: Problem, options: CheckOptions, search: Search) -> Certified:
    """Decide, prove and verify; evidence that the verifier does not accept becomes `undecided`."""
    rows = SignedRows(problem)
    try:
        decision = partition(rows, search.propose, search.deadline)
        evidence = prove(rows, decision, options, search)
    except KeyboardInterrupt:
        search.deadline.stopped = True
        decision, evidence = Partition(None), _bound_only(rows, search)
    report = check_evidence(problem, evidence)
    notes = decision.notes
    if evidence.claims and not report.verified:
        failed = report.failed
        notes += (f"the verifier did not accept the evidence ({failed.name if failed else report.outcome})",)
        evidence = Evidence(())
    verdict = _verdict(evidence, options)
    separation = decision.separation if verdict in {Verdict.SEPARABLE, Verdict.INSEPARABLE} else None
    return Certified(verdict, separation, evidence, report, decision.conflict or {}, notes)


def _verdict(evidence: Evidence, options: CheckOptions) -> Verdict:
    """Return what verified claims amount to."""
    if Claim.SEPARABLE in evidence.claims:
        return Verdict.SEPARABLE
    if Claim.INSEPARABLE in evidence.claims:
        return Verdict.INSEPARABLE
    upper = evidence.margin.upper
    reached = options.epsilon is not None and upper is not None and upper <= options.epsilon
    return Verdict.MARGIN_AT_MOST if reached else Verdict.UNDECIDED


def prove(rows: SignedRows, decision: Partition, options: CheckOptions, search: Search) -> Evidence:
    """Turn a decision into claims with exact evidence."""
    if decision.separation is Separation.COMPLETE and decision.separator is not None:
        return _prove_complete(rows, decision.separator, options, search)
    if decision.witness is None:
        return _bound_only(rows, search)
    claims = [Claim.INSEPARABLE, Claim.MARGIN_AT_MOST]
    witness = integer_witness(decision.witness)
    separator = None
    if decision.separation is Separation.OVERLAP:
        claims.insert(1, Claim.OVERLAP)
    elif decision.separation is Separation.QUASI_COMPLETE and decision.separator is not None:
        claims.insert(1, Claim.QUASI_COMPLETE)
        separator = separator_from_direction(rows, decision.separator, decision.witness)
    return Evidence(tuple(claims), separator, witness, Margin(None, 0.0))


def _prove_complete(rows: SignedRows, direction: list[int], options: CheckOptions, search: Search) -> Evidence:
    if search.found.upper is None:
        search.margin(Face(rows, np.arange(rows.count)))
    separator = _best_separator(rows, direction, search)
    margin = _bracket(rows, separator, search)
    wanted = options.min_margin
    if wanted is not None and margin.lower is not None and margin.upper is not None:
        if margin.lower < wanted <= margin.upper:
            finer = replace(search, gap=FINEST_GAP, enough=None)
            finer.margin(Face(rows, np.arange(rows.count)))
            separator = _best_separator(rows, direction, finer)
            margin = _bracket(rows, separator, finer)
    claims = (Claim.SEPARABLE, Claim.COMPLETE, Claim.MARGIN_AT_LEAST, Claim.MARGIN_AT_MOST)
    return Evidence(claims, separator, None, margin)


def _best_separator(rows: SignedRows, direction: list[int], search: Search) -> Separator:
    """Return the engine's separator, which has the larger margin, if it is one exactly; else the exact one."""
    if search.found.alpha is not None:
        alpha = {i: Fraction(a) for i, a in search.found.alpha.items()}
        separator = separator_from_alpha(rows, alpha)
        if separator is not None and separates(rows, separator):
            return separator
    return separator_from_direction(rows, direction, search.found.upper or ())


def _bracket(rows: SignedRows, separator: Separator, search: Search) -> Margin:
    lower = max(margin_lower(rows, separator), 0.0)
    upper = _upper(rows, search) or Margin(None, 1.0, Combination((0,), (Fraction(1),)))
    return Margin(lower, upper.upper, upper.upper_weights)


def _upper(rows: SignedRows, search: Search) -> Margin | None:
    if not search.found.upper:
        return None
    weights = combination({i: Fraction(v) for i, v in search.found.upper.items() if v > 0})
    return Margin(None, margin_upper(rows, weights), weights)


def _bound_only(rows: SignedRows, search: Search) -> Evidence:
    """Return what is left where nothing was decided: an upper end of the margin, if there is one."""
    upper = _upper(rows, search)
    return Evidence((Claim.MARGIN_AT_MOST,), margin=upper) if upper is not None and upper.upper else Evidence(())


def _other_reading(
    dataset: Dataset, problem: Problem, found: Certified, options: CheckOptions, deadline: Deadline
) -> dict[str, str | None] | None:
    """Decide the other reading of the numbers unless the evidence found proves the same about it."""
    if dataset.other_reading is None or found.verdict is Verdict.UNDECIDED:
        return None
    other = replace(problem, points=dataset.other_reading)
    rows = SignedRows(other)
    separator = found.evidence.separator
    if found.separation is Separation.COMPLETE and separator is not None and separator.weights is not None:
        if bool((signs(rows, separator.weights) > 0).all()):
            return None
    elif check_evidence(other, found.evidence).verified:
        return None
    hints = found.evidence.witness.rows if found.evidence.witness is not None else ()
    search = _search(options, deadline, (), lambda line: None)
    search.hints = tuple(hints)
    second = certify(other, options, search)
    return {
        "numbers": other.numbers.value,
        "verdict": second.verdict.value,
        "separation": None if second.separation is None else second.separation.value,
    }
