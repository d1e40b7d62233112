"""Problem -> decision -> evidence -> check, and the result they make.

Floating point proposes (:mod:`sepcert.engine`), exact arithmetic proves (:mod:`sepcert.exact`), and no verdict leaves
this module that :mod:`sepcert.verify` has not accepted.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from sepcert.certificate.model import Evidence
from sepcert.check_options import OPTION, CheckOptions
from sepcert.data.arrays import dataset_from_arrays
from sepcert.data.dataset import Dataset
from sepcert.errors import ConfigError
from sepcert.exact.decide import Deadline
from sepcert.exact.partition import partition
from sepcert.findings import Run
from sepcert.kernels import make_kernel
from sepcert.problem import Problem
from sepcert.proof import bound_only, prove
from sepcert.result import Result
from sepcert.search.proposals import Say, Search, Watcher
from sepcert.status import Claim, Numbers, Separation, Termination, Verdict
from sepcert.verify.evidence import check_evidence
from sepcert.verify.report import Report
from sepcert.verify.rows import SignedRows
from sepcert.verify.signs import signs

if TYPE_CHECKING:
    pass


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
    algorithm_options: Mapping[str, object] | None = None,
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
    algorithm_options : dict, optional
        The algorithm's own options.
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
    dataset = dataset_from_arrays(X, y, numbers=reading(numbers), positive=positive, feature_names=feature_names)
    options = CheckOptions(
        kernel=kernel,
        kernel_parameters=kernel_parameters,
        bias=bias,
        bias_scale=bias_scale,
        algorithm=algorithm,
        algorithm_options=algorithm_options or {},
        epsilon=epsilon,
        gap=gap,
        max_iterations=max_iterations,
        time_limit_seconds=time_limit_seconds,
        seed=seed,
        min_margin=min_margin,
    )
    return check_dataset(dataset, options)


def reading(numbers: str) -> Numbers:
    """Return the reading of that name; a ConfigError where there is none."""
    try:
        return Numbers(numbers)
    except ValueError:
        known = ", ".join(Numbers)
        raise ConfigError(OPTION, f"numbers is {numbers!r}", advice=f"one of {known}") from None


def check_dataset(
    dataset: Dataset,
    options: CheckOptions | None = None,
    *,
    observers: Sequence[Watcher] = (),
    say: Say | None = None,
) -> Result:
    """Decide whether the classes of a data set are separable, with a proof.

    Parameters
    ----------
    dataset : Dataset
    options : CheckOptions, optional
    observers : sequence of callables
        Told of every iteration of the engine.
    say : callable, optional
        Given log messages of one line.

    Returns
    -------
    Result
    """
    options = options or CheckOptions()
    began = time.monotonic()
    limit = options.time_limit_seconds
    deadline = Deadline(None if limit is None else began + limit)
    notes: list[str] = []

    def note(line: str) -> None:
        notes.append(line)
        if say is not None:
            say(line)

    kernel = make_kernel(options.kernel, dict(options.kernel_parameters), dataset.points.values)
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
        _termination(search, deadline, found, options),
        tuple(notes),
        options.changed(),
    )
    return Result(
        problem, dataset, found.verdict, found.separation, found.evidence, found.report, run, found.conflict, other
    )


def _search(options: CheckOptions, deadline: Deadline, observers: Sequence[Watcher], say: Say) -> Search:
    return Search(
        algorithm=options.algorithm,
        algorithm_options=options.algorithm_options,
        epsilon=options.epsilon,
        gap=options.gap,
        seed=options.seed,
        deadline=deadline,
        max_iterations=options.max_iterations,
        watchers=observers,
        say=say,
    )


def _termination(search: Search, deadline: Deadline, found: Certified, options: CheckOptions) -> Termination | None:
    """Say why the search ended; a gap that was asked for counts as reached only where the proof has reached it."""
    if deadline.stopped:
        return Termination.INTERRUPTED
    if deadline.passed():
        return Termination.TIME_LIMIT
    lower, upper = found.evidence.margin.lower, found.evidence.margin.upper
    if options.gap is not None and lower is not None and upper is not None and upper - lower > options.gap * upper:
        return Termination.NO_PROGRESS
    return search.spent.termination


def certify(problem: Problem, options: CheckOptions, search: Search) -> Certified:
    """Decide, prove and verify; evidence that the verifier does not accept becomes `undecided`.

    Parameters
    ----------
    problem : Problem
    options : CheckOptions
    search : Search
        Keeps what it learns and what it costs; an interrupt ends it, and what was proved by then is kept.
    """
    try:
        evidence, separation, conflict, notes = _proved(problem, options, search)
    except KeyboardInterrupt:
        search.deadline.stopped = True
        linear = not problem.kernel.strictly_positive_definite
        evidence = bound_only(SignedRows(problem), search) if linear else Evidence(())
        separation, conflict, notes = None, {}, ()
    report = check_evidence(problem, evidence)
    if evidence.claims and not report.verified:
        failed = report.failed
        notes += (f"the verifier did not accept the evidence ({failed.name if failed else report.outcome})",)
        evidence = Evidence(())
    verdict = _verdict(evidence, options)
    if verdict not in {Verdict.SEPARABLE, Verdict.INSEPARABLE}:
        separation = None
    return Certified(verdict, separation, evidence, report, conflict, notes)


Proved = tuple[Evidence, Separation | None, Mapping[int, Fraction], tuple[str, ...]]


def _proved(problem: Problem, options: CheckOptions, search: Search) -> Proved:
    """Return evidence, kind of separation, minimal conflict and notes."""
    if problem.kernel.strictly_positive_definite:
        from sepcert.kernel_proof import prove_by_points

        evidence, conflict = prove_by_points(problem, options, search)
        return evidence, None, conflict, ()
    rows = SignedRows(problem)
    decision = partition(rows, search.propose, search.deadline, search.alone)
    return prove(rows, decision, options, search), decision.separation, decision.conflict or {}, decision.notes


def _verdict(evidence: Evidence, options: CheckOptions) -> Verdict:
    """Return what verified claims amount to."""
    if Claim.SEPARABLE in evidence.claims:
        return Verdict.SEPARABLE
    if Claim.INSEPARABLE in evidence.claims:
        return Verdict.INSEPARABLE
    upper = evidence.margin.upper
    reached = options.epsilon is not None and upper is not None and upper <= options.epsilon
    return Verdict.MARGIN_AT_MOST if reached else Verdict.UNDECIDED


def _other_reading(
    dataset: Dataset, problem: Problem, found: Certified, options: CheckOptions, deadline: Deadline
) -> dict[str, str | None] | None:
    """Decide the other reading of the numbers unless the evidence found proves the same about it."""
    if dataset.other_reading is None or found.verdict is Verdict.UNDECIDED:
        return None
    other = replace(problem, points=dataset.other_reading)
    if problem.kernel.strictly_positive_definite:
        from sepcert.verify.identical_rows import conflicting_rows

        same = (conflicting_rows(other) is None) == (found.verdict is Verdict.SEPARABLE)
        verdict = Verdict.INSEPARABLE if found.verdict is Verdict.SEPARABLE else Verdict.SEPARABLE
        return None if same else {"numbers": other.numbers.value, "verdict": verdict.value, "separation": None}
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
