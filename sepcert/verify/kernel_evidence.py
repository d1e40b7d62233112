"""The checks for strictly positive definite kernels: which part proves what, and by which inequality.

`separable`: a separator alpha with z_i'f > 0 in every row; or, without one, the theorem that distinct points are
independent in feature space, so that it is enough that no two identical rows have opposite classes.  `inseparable`: a
witness whose weights cancel among identical rows, which is the only way to sum p_i z_i = 0 there.  `margin-at-least`:
min z_i'f / (|z_i| |f|) in doubles with bounds.  `margin-at-most`: 0 by a witness, else |sum q_i z_i| / sum q_i |z_i|.
"""

from __future__ import annotations

import numpy as np

from sepcert.certificate.model import Combination, Evidence
from sepcert.problem import Problem
from sepcert.status import Claim
from sepcert.verify.identical_rows import conflicting_rows, groups_of_identical_rows
from sepcert.verify.kernel_rows import Expansion, KernelRows, kernel_margin_lower, kernel_margin_upper
from sepcert.verify.report import Findings, Refused, Uncheckable

_FINITE_ONLY = {Claim.COMPLETE, Claim.QUASI_COMPLETE, Claim.OVERLAP, Claim.NEGATIVE_MARGIN}


def check_kernel(findings: Findings, problem: Problem, evidence: Evidence, claims: set[Claim]) -> None:
    """Make the checks; the statement's form and its combinations have been checked."""
    finite = claims & _FINITE_ONLY
    findings.require(not finite, "claims about finite feature maps", ", ".join(finite) or "none", "none")
    rows = KernelRows(problem)
    if evidence.separator is not None:
        absent = evidence.separator.weights is None
        findings.require(absent, "weights of the separator", "none" if absent else "some", "none: only alpha")
        _check_expansion(findings, Expansion(rows, evidence.separator.alpha), evidence, claims)
    elif Claim.SEPARABLE in claims:
        pair = conflicting_rows(problem)
        seen = "none" if pair is None else f"rows at positions {pair[0]} and {pair[1]}"
        findings.require(pair is None, "identical rows of opposite classes", seen, "none: distinct points separate")
    if evidence.witness is not None:
        p = evidence.witness.p
        findings.require(p is not None, "form of the witness", "p" if p else "support", "p")
        if p is not None:
            left = uncancelled(problem, p)
            findings.require(left == 0, "points at which the weights do not cancel", left, 0)
    if Claim.MARGIN_AT_MOST in claims and evidence.margin.upper != 0:
        _check_upper(findings, rows, evidence)


def _check_expansion(findings: Findings, expansion: Expansion, evidence: Evidence, claims: set[Claim]) -> None:
    count = expansion.rows.count
    proved, open_rows = expansion.positive(*expansion.products())
    if open_rows and proved + open_rows == count:
        raise Uncheckable(f"the signs of {open_rows} rows stay open at the highest precision")
    findings.require(proved == count, "rows with z_i'f > 0", proved, f"all {count}")
    if Claim.MARGIN_AT_LEAST in claims:
        bound = evidence.margin.lower
        if bound is None:
            raise Refused("margin-at-least")
        value = kernel_margin_lower(expansion)
        name = "least z_i'f / (|z_i| |f|)"
        findings.require(value >= bound, name, repr(value), f"at least {bound!r}", f"{value - bound:.1e}")


def _check_upper(findings: Findings, rows: KernelRows, evidence: Evidence) -> None:
    bound, weights = evidence.margin.upper, evidence.margin.upper_weights
    if bound is None or weights is None:
        raise Refused("margin-at-most")
    value = kernel_margin_upper(rows, weights)
    name = "|sum q_i z_i| / sum q_i |z_i|"
    findings.require(value <= bound, name, repr(value), f"at most {bound!r}", f"{bound - value:.1e}")


def uncancelled(problem: Problem, p: Combination) -> int:
    """Return at how many points the weights p_i y_i of identical rows do not add up to zero."""
    weights = dict(zip(p.rows, p.values, strict=True))
    left = set(p.rows)
    wrong = 0
    for group in groups_of_identical_rows(problem, np.array(p.rows, dtype=np.int64)):
        members = group.tolist()
        wrong += sum(weights[i] * int(problem.labels[i]) for i in members) != 0
        left -= set(members)
    return wrong + len(left)
