r"""``margin``: certified brackets on rho, rho_2, rho_1 and rho_K (definitions: :data:`margin_result.CONVENTIONS`).

`check` decides the trichotomy and brackets rho_2 to the gap; what is particular to each kind of separation:

* complete: rho from the point of least norm of the raw rows, rho_1 from linear programs; all positive;
* quasi-complete: rho = rho_2 = rho_1 = 0.  The witness sum p_i z_i = 0 makes every min_i z_i'w / s_i at most 0, and the
  w of the strictly complementary pair has z_i'w >= 0 and is not 0 on all rows, so that its quotients are at least 0;
* overlap: rho and rho_2 are negative, and bracketed by :mod:`sepcert.workflows.negative_margin`; rho_1 is 0, because
  w = 0 is allowed in its definition and the witness bounds it.

Floating point proposes w, q and balls; the functions of :mod:`sepcert.verify` say what they prove.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sepcert.certificate.model import Combination, Evidence
from sepcert.certify import check_dataset, reading
from sepcert.check_options import CheckOptions
from sepcert.data.arrays import dataset_from_arrays
from sepcert.data.dataset import Dataset
from sepcert.engine.rows import FloatRows
from sepcert.exact.decide import Deadline
from sepcert.exact.evidence import combination, separator_from_alpha
from sepcert.findings import Margin
from sepcert.problem import FloatArray
from sepcert.result import Result
from sepcert.search.proposals import Watcher
from sepcert.status import Claim, Separation, Termination
from sepcert.verify.combination import Direction, combine
from sepcert.verify.evidence import check_evidence
from sepcert.verify.margin import margin_lower, margin_upper, row_norms
from sepcert.verify.quotients import Geometry, largest_norm, least_quotient, weighted_rows_bound
from sepcert.verify.rows import SignedRows
from sepcert.workflows.exact_point import exact_point
from sepcert.workflows.margin_result import Ends, MarginResult, relative_gap
from sepcert.workflows.negative_margin import negative_margin
from sepcert.workflows.one_norm import OneNormPrograms
from sepcert.workflows.raw_margin import raw_proposal

DEFAULT_GAP = 1e-3

_LIMITS = "it was not found within the limits"
_NP_HARD = "the radius of a ball in a polytope: NP-hard in general, so the bracket may be wide"
_NO_SPAN = "all rows are zero: there is no direction of length 1 in their span"
_NOTHING_SEPARATES = "nothing separates: w = 0 is the best direction of |w|_1 <= 1"


def margin(
    X: ArrayLike,
    y: ArrayLike,
    gap: float = DEFAULT_GAP,
    *,
    bias: bool = True,
    bias_scale: Fraction | float = 1,
    time_limit_seconds: float | None = None,
    seed: int = 0,
    numbers: str = "binary64",
    positive: Any = None,
    feature_names: Sequence[str] | None = None,
) -> MarginResult:
    """Bracket the margins of labelled points.

    Parameters
    ----------
    X : array_like, shape (n, d)
    y : array_like, shape (n,)
        Labels, exactly two different ones.
    gap : float
        Relative gap (upper - lower)/upper that is aimed at where a margin is positive.
    bias, bias_scale, numbers, positive, feature_names
        As in :func:`sepcert.check`.
    time_limit_seconds : float, optional
    seed : int

    Returns
    -------
    MarginResult

    Raises
    ------
    DataError, ConfigError
        With a code, the place and advice.
    """
    dataset = dataset_from_arrays(X, y, numbers=reading(numbers), positive=positive, feature_names=feature_names)
    options = CheckOptions(bias=bias, bias_scale=bias_scale, gap=gap, time_limit_seconds=time_limit_seconds, seed=seed)
    return margin_dataset(dataset, options)


def margin_options(options: CheckOptions) -> CheckOptions:
    """Return what a margin takes of the options of a check: the problem, gap, time limit and seed."""
    return CheckOptions(
        kernel=options.kernel,
        kernel_parameters=options.kernel_parameters,
        bias=options.bias,
        bias_scale=options.bias_scale,
        gap=options.gap,
        time_limit_seconds=options.time_limit_seconds,
        seed=options.seed,
    )


def margin_dataset(
    dataset: Dataset,
    options: CheckOptions,
    *,
    observers: Sequence[Watcher] = (),
    say: Callable[[str], None] = lambda line: None,
) -> MarginResult:
    """Bracket the margins of a data set.

    Parameters
    ----------
    dataset : Dataset
    options : CheckOptions
        `gap` None: 1e-3.
    observers : sequence of callables
        Told of the iterations of the check.
    say : callable
        Given log messages of one line.
    """
    began = time.monotonic()
    limit = options.time_limit_seconds
    deadline = Deadline(None if limit is None else began + limit)
    options = replace(options, gap=DEFAULT_GAP if options.gap is None else options.gap)
    result = check_dataset(dataset, options, observers=observers, say=say)
    if result.problem.kernel.name != "linear":
        return _of_kernel(result, options, began)
    deadline.stopped = result.termination is Termination.INTERRUPTED
    work = _Work(result, options, deadline, say)
    with np.errstate(all="ignore"):
        work.run()
    if "rho_2" in work.why:
        work.why["rho_K"] = work.why["rho_2"]
    return MarginResult(
        result=work.result,
        gap=options.gap or DEFAULT_GAP,
        rho=work.found.get("rho"),
        rho_2=work.found.get("rho_2"),
        rho_1=work.found.get("rho_1"),
        rho_K=work.found.get("rho_2"),
        rho_1_nonnegative=work.found.get("rho_1_nonnegative"),
        largest_norm=work.size,
        why=work.why,
        ends=work.ends,
        seconds=time.monotonic() - began,
        passes=result.passes + work.passes,
    )


def _of_kernel(result: Result, options: CheckOptions, began: float) -> MarginResult:
    """Report rho_K alone: the other margins are about rows of numbers."""
    why = dict.fromkeys(("rho", "rho_2", "rho_1", "rho_1_nonnegative"), "it is defined for the linear kernel")
    bracket = None if result.margin == Margin(None, None) else result.margin
    if bracket is None or bracket.lower is None:
        why["rho_K"] = "a lower end is proved where a separator is found"
    gap, seconds = options.gap or DEFAULT_GAP, time.monotonic() - began
    return MarginResult(result, gap, None, None, None, bracket, None, None, why, {}, seconds, result.passes)


@dataclass(eq=False)
class _Work:
    """The brackets found so far, on top of the result of the check."""

    result: Result
    options: CheckOptions
    deadline: Deadline
    say: Callable[[str], None]
    found: dict[str, Margin] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    ends: dict[str, Ends] = field(default_factory=dict)
    passes: int = 0

    def __post_init__(self) -> None:
        self.directions: list[tuple[Fraction, ...]] = []
        self.combinations: list[Combination] = []
        self.rows = SignedRows(self.result.problem)
        problem = self.result.problem
        self.floats = FloatRows(problem.points.values, problem.labels, self.rows.bias)
        self.gap = self.options.gap or DEFAULT_GAP
        self.size = Margin(*largest_norm(self.rows))

    def run(self) -> None:
        """Bracket all margins, as the kind of separation allows."""
        separation = self.result.separation
        if separation is Separation.OVERLAP:
            self._nonnegative()
        if separation is Separation.COMPLETE:
            self._complete()
        elif separation is Separation.QUASI_COMPLETE:
            self.found.update(dict.fromkeys(("rho", "rho_2", "rho_1"), Margin(0.0, 0.0)))
        elif separation is Separation.OVERLAP:
            self._overlap()
        else:
            self._undecided()
        if separation is not Separation.OVERLAP:
            self._nonnegative()

    def _undecided(self) -> None:
        """Report what the check has proved: perhaps a witness, perhaps an upper end of rho_2."""
        upper = self.result.evidence.margin.upper
        if self.result.evidence.witness is not None and upper == 0:
            self.found.update(rho=Margin(None, 0.0), rho_2=Margin(None, 0.0), rho_1=Margin(0.0, 0.0))
        elif upper is not None:
            self.found["rho_2"] = Margin(None, upper)
        names = ("rho", "rho_2", "rho_1")
        self.why.update(dict.fromkeys(names, "the kind of separation was not decided within the limits"))

    def _complete(self) -> None:
        evidence = self.result.evidence
        self.found["rho_2"] = self.result.margin
        separator, known = self._separator(), evidence.margin.upper_weights
        self.directions = [separator]
        self.combinations = [] if known is None else [known]
        near = np.array([float(v) for v in separator])
        self.say("rho: the point of least norm of the raw rows")
        raw = raw_proposal(self.floats, near, self.gap / 4, self.deadline)
        self.passes += raw.passes
        self._bracket("rho", Geometry.RAW, [(raw.weights, raw.multipliers)])
        if not self._closed("rho"):
            self._exactly(Geometry.RAW, near, np.ones(self.rows.count))
            self._bracket("rho", Geometry.RAW, [(raw.weights, raw.multipliers)])
        if not self._closed("rho_2"):
            found = self._exactly(Geometry.NORMALISED, near, row_norms(self.rows)[0])
            self._improve(found)
        self.say("rho_1: linear programs")
        signed = self._programs(near).signed()
        self.passes += signed.passes
        self._bracket("rho_1", Geometry.ONE_NORM, [(signed.weights, signed.multipliers)])

    def _closed(self, name: str) -> bool:
        gap = relative_gap(self.found[name]) if name in self.found else None
        return gap is not None and gap <= self.gap

    def _exactly(self, geometry: Geometry, near: FloatArray, sizes: FloatArray) -> Combination | None:
        """Look for the least point in rational arithmetic; what is found joins the directions and the combinations."""
        self.say(f"doubles do not reach the gap: the point of least norm of the {geometry} rows in exact arithmetic")
        first = np.argsort(self.floats.products(near) / sizes, kind="stable")[: 4 * self.rows.dimension + 50]
        weights = exact_point(self.rows, first, sizes, geometry, self.gap, self.deadline)
        if not weights:
            return None
        found = combination(weights)
        self.directions.append(tuple(combine(self.rows, found.rows, found.values)))
        self.combinations.append(found)
        return found

    def _improve(self, found: Combination | None) -> None:
        """Let weights prove the ends of rho_2 in the certificate, each where it is better than what is there."""
        evidence = self.result.evidence
        margin, separator = evidence.margin, evidence.separator
        if found is None or margin.lower is None or margin.upper is None:
            return
        other = separator_from_alpha(self.rows, dict(zip(found.rows, found.values, strict=True)))
        lower = -1.0 if other is None else margin_lower(self.rows, other)
        if lower > margin.lower:
            separator, margin = other, replace(margin, lower=lower)
        upper = margin_upper(self.rows, found)
        if margin.upper is not None and upper < margin.upper:
            margin = replace(margin, upper=upper, upper_weights=found)
        if self._accepted(replace(evidence, separator=separator, margin=margin)):
            self.found["rho_2"] = self.result.margin

    def _separator(self) -> tuple[Fraction, ...]:
        """Return the exact w of the check's separator."""
        exact = self.result.evidence.separator
        if exact is None:
            raise ArithmeticError("a separable problem has no separator")
        return exact.weights if exact.weights is not None else tuple(Direction(self.rows, exact).combined())

    def _programs(self, near: FloatArray | None) -> OneNormPrograms:
        """Prepare linear programs that begin with the rows that are known to matter."""
        evidence = self.result.evidence
        seeds: list[int] = []
        for known in (evidence.margin.upper_weights, evidence.witness):
            seeds += [] if known is None else known.rows[: 20 * self.rows.dimension + 500]
        index = np.array(seeds, dtype=np.int64)
        if near is not None:
            closest = np.argsort(self.floats.products(near), kind="stable")[: 2 * self.rows.dimension + 50]
            index = np.union1d(index, closest)
        return OneNormPrograms(self.floats, index, self.gap, self.deadline, self.options.seed)

    def _nonnegative(self) -> None:
        name = "rho_1_nonnegative"
        self.say("rho_1 of nonnegative directions: linear programs")
        proposals = self._programs(None).nonnegative()
        self.passes += sum(one.passes for one in proposals)
        pairs = [(one.weights, one.multipliers) for one in proposals]
        self._bracket(name, Geometry.ONE_NORM, pairs, nonnegative=True)

    def _bracket(
        self,
        name: str,
        geometry: Geometry,
        proposals: Sequence[tuple[Any, dict[int, float]]],
        nonnegative: bool = False,
    ) -> None:
        """Keep the best proved end of each side; what is known of other margins stands by where the gap is open."""
        directions = [tuple(Fraction(float(v)) for v in w) for w, _ in proposals if w is not None]
        if nonnegative:
            directions = [tuple(max(v, Fraction(0)) for v in w) for w in directions]
        combinations = [combination({i: Fraction(v) for i, v in q.items()}) for _, q in proposals if q]
        self._keep(name, geometry, directions, combinations, nonnegative)
        if not nonnegative and not self._closed(name):
            self._keep(name, geometry, [*directions, *self.directions], [*combinations, *self.combinations])
        bracket = self.found.get(name)
        if bracket is None or bracket.lower is None or bracket.upper is None:
            self.why[name] = _LIMITS
        else:
            self.why.pop(name, None)

    def _keep(
        self,
        name: str,
        geometry: Geometry,
        directions: Sequence[tuple[Fraction, ...]],
        combinations: Sequence[Combination],
        nonnegative: bool = False,
    ) -> None:
        lowers = [(least_quotient(self.rows, w, geometry), w) for w in directions if any(w)]
        uppers = [(weighted_rows_bound(self.rows, q, geometry, nonnegative=nonnegative), q) for q in combinations]
        lower = max(lowers, key=lambda one: one[0], default=(None, None))
        upper = min(uppers, key=lambda one: one[0], default=(None, None))
        if lowers or uppers:
            self.found[name] = Margin(lower[0], upper[0])
            self.ends[name] = Ends(lower[1], upper[1])

    def _overlap(self) -> None:
        self.found.update(rho=Margin(None, 0.0), rho_2=Margin(None, 0.0), rho_1=Margin(0.0, 0.0))
        self.why["rho_1"] = _NOTHING_SEPARATES
        if self.size.upper == 0:
            for name in ("rho", "rho_2"):
                del self.found[name]
                self.why[name] = _NO_SPAN
            return
        for name, geometry in (("rho_2", Geometry.NORMALISED), ("rho", Geometry.RAW)):
            self.say(f"{name}: linear programs for the ball inside the hull of the rows")
            self._ball(name, geometry)

    def _ball(self, name: str, geometry: Geometry) -> None:
        witness = self.result.evidence.witness
        if witness is None or self.deadline.passed():
            self.why[name] = _LIMITS
            return
        answer = negative_margin(self.rows, self.floats, witness.rows, geometry, self.deadline, self.options.seed)
        self.passes += answer.passes
        ball = answer.ball
        if ball is None:
            self.why[name] = answer.why
            if answer.outer is not None and answer.outer[0] > 0:
                radius, alpha = answer.outer
                self.found[name] = Margin(-radius, 0.0)
                self.ends[name] = Ends(tuple(combine(self.rows, alpha.rows, alpha.values)))
            return
        if geometry is Geometry.NORMALISED:
            evidence = self.result.evidence
            claims = (*evidence.claims, Claim.NEGATIVE_MARGIN)
            if not self._accepted(replace(evidence, claims=claims, ball=ball)):
                self.why[name] = "the verifier did not accept the ball"
                return
        self.found[name] = Margin(-ball.outer, -ball.inner)
        self.ends[name] = Ends(ball=ball)
        if ball.outer - ball.inner > self.gap * ball.outer:
            self.why[name] = _NP_HARD

    def _accepted(self, evidence: Evidence) -> bool:
        """Put the evidence in the place of that of the check if the verifier accepts it."""
        report = check_evidence(self.result.problem, evidence)
        if report.verified:
            self.result = replace(self.result, evidence=evidence, report=report)
        return report.verified
