"""The verifier: do the parts of an `Evidence` prove every claim it states, and nothing else?

Which part proves what, and by which inequalities, is said in ``certificate/FORMAT.md``.  Every decision here rests on
exact integers or on doubles with a proved bound.  Nothing is repaired or searched for: evidence that is not complete
is rejected.
"""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np

from sepcert.certificate.model import Ball, Combination, Evidence, Margin, Separator, Witness
from sepcert.kernels.linear import LinearKernel
from sepcert.problem import Problem, SignArray
from sepcert.status import CheckOutcome, Claim
from sepcert.verify.ball import check_ball
from sepcert.verify.combination import Direction, combine
from sepcert.verify.margin import margin_at_least, margin_at_most
from sepcert.verify.positive_solution import has_positive_solution
from sepcert.verify.report import Findings, Refused, Report, Uncheckable
from sepcert.verify.rows import SignedRows
from sepcert.verify.signs import signs

_SEPARABLE = {Claim.SEPARABLE, Claim.COMPLETE, Claim.MARGIN_AT_LEAST}
_INSEPARABLE = {Claim.INSEPARABLE, Claim.QUASI_COMPLETE, Claim.OVERLAP}
_BY_SEPARATOR = {*_SEPARABLE, Claim.QUASI_COMPLETE}


def check_evidence(problem: Problem, evidence: Evidence) -> Report:
    """Check that the evidence proves each of its claims about the problem.

    Parameters
    ----------
    problem : Problem
    evidence : Evidence
        Rows are 0-based positions.

    Returns
    -------
    Report
        VERIFIED: every claim is proved and every part was needed.  REJECTED: the parts do not prove a claim, or are
        malformed.  NOT_CHECKABLE: the answer cannot be found here.  No exception leaves this function.
    """
    findings = Findings()
    try:
        check_into(findings, problem, evidence)
    except Refused:
        return findings.report(CheckOutcome.REJECTED)
    except Exception as error:
        return uncheckable(findings, error)
    return findings.report(CheckOutcome.VERIFIED)


def uncheckable(findings: Findings, error: Exception) -> Report:
    """Close a list of findings with the error that stopped the check."""
    reason = str(error) if isinstance(error, Uncheckable) else f"{type(error).__name__}: {error}"
    with contextlib.suppress(Refused):
        findings.require(False, "the check could be completed", reason, "no error")
    return findings.report(CheckOutcome.NOT_CHECKABLE)


def check_into(findings: Findings, problem: Problem, evidence: Evidence) -> None:
    """Make the checks of :func:`check_evidence`; raise `Refused` at the first that fails."""
    rows = SignedRows(problem)
    _check_problem(rows, evidence)
    by_points = problem.kernel.strictly_positive_definite
    claims = _check_statement(findings, evidence, by_points=by_points)
    if type(problem.kernel) is not LinearKernel:
        from sepcert.verify.kernel_evidence import check_kernel

        _check_kernel_parts(findings, rows, evidence)
        check_kernel(findings, problem, evidence, claims)
        return
    row_signs = None
    if evidence.separator is not None:
        direction = _check_separator(findings, rows, evidence.separator)
        row_signs = direction.row_signs()
        if claims & _SEPARABLE:
            right = int(np.count_nonzero(row_signs > 0))
            findings.require(right == rows.count, "rows with z_i'w > 0", right, f"all {rows.count}")
        if Claim.MARGIN_AT_LEAST in claims:
            _check_lower(findings, direction, evidence.margin)
    if evidence.witness is not None:
        _check_witness(findings, rows, evidence.witness)
        if Claim.OVERLAP in claims:
            _check_span(findings, rows, evidence.witness.rows, "witness", known=evidence.witness.p is None)
        if Claim.QUASI_COMPLETE in claims and row_signs is not None:
            _check_complementary(findings, row_signs, evidence.witness.rows)
    if Claim.MARGIN_AT_MOST in claims:
        _check_upper(findings, rows, evidence)
    if evidence.ball is not None:
        _check_ball(findings, rows, evidence.ball)


def _check_problem(rows: SignedRows, evidence: Evidence) -> None:
    """Refuse to judge what this verifier does not know how to compute with."""
    problem = rows.problem
    if type(problem.kernel) is not LinearKernel and not problem.kernel.strictly_positive_definite:
        raise Uncheckable(f"the kernel {problem.kernel.name!r} is not built in this verifier")
    values, labels = problem.points.values, problem.labels
    if labels.shape != (len(values),) or not (np.abs(labels) == 1).all():
        raise Uncheckable("the labels are not one of -1, +1 a row")
    if problem.rows == 0 or not np.isfinite(rows.column_bounds).all():
        raise Uncheckable("the points are not finite, or there are none")
    if problem.bias and problem.bias_scale <= 0:
        raise Uncheckable("the bias scale is not positive")
    if subnormals_are_lost():
        margin = [v for v in (evidence.margin.lower, evidence.margin.upper) if v is not None]
        margin += [] if evidence.ball is None else [evidence.ball.inner, evidence.ball.outer]
        if _has_subnormals(values) or _has_subnormals(np.array(margin, dtype=np.float64)):
            raise Uncheckable(
                "another library has switched the processor to flushing subnormal numbers to zero, and there are some"
            )


def subnormals_are_lost() -> bool:
    """Whether the processor now treats subnormal doubles as zero, as operands or as results (DAZ, FTZ)."""
    with np.errstate(all="ignore"):
        operand = np.array([1], dtype=np.int64).view(np.float64) * 2.0**1000
        result = np.array([2.0**-1000]) * 2.0**-60
    return not bool(operand[0] > 0) or int(result.view(np.int64)[0]) == 0


def _has_subnormals(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> bool:
    for block in np.array_split(np.atleast_2d(values), max(1, values.size >> 20)):
        bits = np.ascontiguousarray(block).view(np.int64)
        if (((bits >> 52) & 0x7FF == 0) & (bits << 1 != 0)).any():
            return True
    return False


def _check_kernel_parts(findings: Findings, rows: SignedRows, evidence: Evidence) -> None:
    """Check the form of the combinations of a kernel's evidence."""
    if evidence.separator is not None:
        _check_combination(findings, rows, evidence.separator.alpha, "separator", positive=False)
    if evidence.witness is not None and evidence.witness.p is not None:
        _check_weights(findings, rows, evidence.witness.p)
    if evidence.margin.upper_weights is not None:
        _check_combination(findings, rows, evidence.margin.upper_weights, "upper bound", positive=True)


def _check_weights(findings: Findings, rows: SignedRows, p: Combination) -> None:
    _check_combination(findings, rows, p, "witness", positive=True)
    whole = all(v.denominator == 1 for v in p.values)
    coprime = whole and math.gcd(*(v.numerator for v in p.values)) == 1
    findings.require(coprime, "weights of the witness", "as given", "integers without a common factor")


def _check_statement(findings: Findings, evidence: Evidence, *, by_points: bool) -> set[Claim]:
    """Check that the claims fit together and that exactly the parts they need are there.

    `by_points`: distinct points are separable by a theorem, so that `separable` needs no separator.
    """
    claims = set(evidence.claims)
    known = all(isinstance(claim, Claim) for claim in evidence.claims)
    stated = ", ".join(str(claim) for claim in evidence.claims) or "none"
    findings.require(known and len(claims) == len(evidence.claims) > 0, "claims", stated, "at least one, each once")
    margin = evidence.margin
    numbers = [v for v in (margin.lower, margin.upper) if v is not None]
    usable = all(type(v) is float and math.isfinite(v) and v >= 0 for v in numbers)
    findings.require(usable and numbers == sorted(numbers), "margin", numbers or "none", "0 <= lower <= upper < inf")
    zero = margin.upper == 0
    positive, negative = claims & _SEPARABLE, claims & _INSEPARABLE
    overlapping = claims & {Claim.OVERLAP, Claim.NEGATIVE_MARGIN}
    contradictory = (positive and (negative or overlapping or zero)) or (Claim.QUASI_COMPLETE in claims and overlapping)
    findings.require(not contradictory, "claims that exclude each other", stated if contradictory else "none", "none")
    at_most = Claim.MARGIN_AT_MOST in claims
    optional = by_points and claims & _BY_SEPARATOR == {Claim.SEPARABLE}
    parts = {
        "separator": (evidence.separator, bool(claims & _BY_SEPARATOR) and not optional),
        "witness": (evidence.witness, bool(negative) or (at_most and zero)),
        "margin.lower": (margin.lower, Claim.MARGIN_AT_LEAST in claims),
        "margin.upper": (margin.upper, at_most),
        "margin.upper_weights": (margin.upper_weights, at_most and not zero),
        "ball": (evidence.ball, Claim.NEGATIVE_MARGIN in claims),
    }
    given = [name for name, (part, _) in parts.items() if part is not None]
    needed = [name for name, (_, need) in parts.items() if need]
    findings.require(given == needed, "parts", ", ".join(given) or "none", ", ".join(needed) or "none")
    return claims


def _check_rows(findings: Findings, rows: SignedRows, chosen: tuple[int, ...], name: str) -> None:
    whole = all(type(i) is int for i in chosen)
    ordered = whole and all(a < b for a, b in pairwise(chosen))
    valid = bool(chosen) and ordered and chosen[0] >= 0 and chosen[-1] < rows.count
    findings.require(valid, f"rows of the {name}", f"{len(chosen)} rows", f"increasing, among the {rows.count} rows")


def _check_combination(
    findings: Findings, rows: SignedRows, combination: Combination, name: str, *, positive: bool
) -> None:
    _check_rows(findings, rows, combination.rows, name)
    exact = all(type(v) is Fraction for v in combination.values)
    valid = exact and all(v > 0 if positive else v != 0 for v in combination.values)
    findings.require(valid, f"numbers of the {name}", "as given", "positive" if positive else "not zero")


def _check_separator(findings: Findings, rows: SignedRows, separator: Separator) -> Direction:
    """Check that w = sum alpha_i z_i, where w is given."""
    _check_combination(findings, rows, separator.alpha, "separator", positive=False)
    direction = Direction(rows, separator)
    given = separator.weights
    if given is not None:
        sized = len(given) == rows.dimension and all(type(w) is Fraction for w in given)
        findings.require(sized, "coefficients of w", len(given), rows.dimension)
        equal = sum(a == b for a, b in zip(given, direction.combined(), strict=True))
        findings.require(equal == rows.dimension, "coefficients equal to sum alpha_i z_i", equal, rows.dimension)
    return direction


def _check_witness(findings: Findings, rows: SignedRows, witness: Witness) -> None:
    """Check that p > 0 on the support and sum p_i z_i = 0."""
    single = (witness.p is None) != (witness.support is None)
    findings.require(single, "form of the witness", "p" if witness.p else "support", "either p or support")
    if witness.p is not None:
        _check_weights(findings, rows, witness.p)
        wrong = sum(v != 0 for v in combine(rows, witness.p.rows, witness.p.values))
        findings.require(wrong == 0, "components of sum p_i z_i that are not 0", wrong, 0)
        return
    support = witness.support or ()
    _check_rows(findings, rows, support, "witness")
    findings.require(len(support) == rows.dimension + 1, "rows of the implicit witness", len(support), "D + 1")
    holds, how = has_positive_solution(rows, support)
    findings.require(holds, f"unique positive solution, by {how}", "yes" if holds else "no", "yes")


def _check_complementary(findings: Findings, row_signs: SignArray, support: tuple[int, ...]) -> None:
    wrong = int(np.count_nonzero(row_signs < 0))
    findings.require(wrong == 0, "rows with z_i'w < 0", wrong, 0)
    right = int(np.count_nonzero(row_signs > 0))
    findings.require(right > 0, "rows with z_i'w > 0", right, "at least 1")
    on_plane = np.flatnonzero(row_signs == 0)
    same = np.array_equal(on_plane, np.array(support, dtype=np.int64))
    findings.require(same, "rows with z_i'w = 0", len(on_plane), f"exactly the {len(support)} rows with p_i > 0")


def _check_span(
    findings: Findings, rows: SignedRows, support: tuple[int, ...], owner: str, *, known: bool = False
) -> int:
    """Check that some rows span all rows, and return their rank; `known`: it has been proved to be D."""
    name = f"rank of the {owner}'s rows"
    if known:
        findings.require(True, name, rows.dimension, rows.dimension)
        return rows.dimension
    from flint import fmpz_mat

    rows.fetch(support)
    matrix = fmpz_mat([rows.integers(i)[0] for i in support])
    rank = int(matrix.rank())
    if rank == rows.dimension:
        findings.require(True, name, rank, rows.dimension)
        return rank
    if rows.count - len(support) <= rows.dimension - rank:
        whole = int(fmpz_mat([rows.integers(i)[0] for i in range(rows.count)]).rank())
        findings.require(whole == rank, name, rank, f"{whole}, the rank of all rows")
        return rank
    basis, nullity = matrix.nullspace()
    for k in range(int(nullity)):
        vector = [Fraction(int(basis[j, k])) for j in range(rows.dimension)]
        outside = int(np.count_nonzero(signs(rows, vector)))
        findings.require(outside == 0, f"rows outside the span of the {owner}'s rows, direction {k + 1}", outside, 0)
    return rank


def _check_ball(findings: Findings, rows: SignedRows, ball: Ball) -> None:
    """Check the form of the ball, that it has a pair of combinations for each dimension of the span, and its radii."""
    usable = all(type(v) is float and math.isfinite(v) and v > 0 for v in (ball.inner, ball.outer))
    numbers = f"{ball.inner!r}, {ball.outer!r}"
    findings.require(usable and ball.inner <= ball.outer, "radii of the ball", numbers, "0 < inner <= outer < inf")
    _check_combination(findings, rows, ball.alpha, "outer radius", positive=False)
    for one in (*ball.forward, *ball.backward):
        _check_combination(findings, rows, one, "inner radius", positive=True)
    support = sorted({i for one in ball.forward for i in one.rows})
    rank = _check_span(findings, rows, tuple(support), "inner radius") if support else 0
    pairs = f"{len(ball.forward)} and {len(ball.backward)}"
    paired = len(ball.forward) == len(ball.backward) == rank > 0
    findings.require(paired, "combinations forward and backward", pairs, f"{rank}, the rank of the rows, each")
    check_ball(findings, rows, ball)


def _check_lower(findings: Findings, direction: Direction, margin: Margin) -> None:
    if margin.lower is None:
        raise Refused("margin-at-least")
    bound = margin.lower
    holds, value = margin_at_least(direction, Fraction(bound))
    findings.require(holds, "least z_i'w / (|z_i| |w|)", repr(value), f"at least {bound!r}", f"{value - bound:.1e}")


def _check_upper(findings: Findings, rows: SignedRows, evidence: Evidence) -> None:
    bound, weights = evidence.margin.upper, evidence.margin.upper_weights
    if bound == 0:
        findings.require(evidence.witness is not None, "margin at most 0", "by the witness", "a witness")
        return
    if bound is None or weights is None:
        raise Refused("margin-at-most")
    _check_combination(findings, rows, weights, "upper bound", positive=True)
    holds, value = margin_at_most(rows, weights, Fraction(bound))
    name = "|sum q_i z_i| / sum q_i |z_i|"
    findings.require(holds, name, repr(value), f"at most {bound!r}", f"{bound - value:.1e}")
