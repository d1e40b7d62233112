"""Claims with evidence for strictly positive definite kernels, where distinct points are always separable."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from sepcert.certificate.model import Combination, Evidence, Margin, Separator
from sepcert.check_options import CheckOptions
from sepcert.exact.evidence import combination, integer_witness
from sepcert.problem import Problem
from sepcert.proof import FINEST_GAP, leaves_open
from sepcert.search.kernel_margin import search_kernel_margin
from sepcert.search.proposals import Search
from sepcert.status import Claim
from sepcert.verify.identical_rows import conflicting_rows
from sepcert.verify.kernel_rows import Expansion, KernelRows, kernel_margin_lower, kernel_margin_upper

_SLACK = 2.0**-30
"""How far the ends are moved outward, so that another machine's rounding proves them as well."""


def prove_by_points(problem: Problem, options: CheckOptions, search: Search) -> tuple[Evidence, Mapping[int, Fraction]]:
    """Return the evidence, and the conflict if there is one.

    Two identical rows of opposite classes are a witness.  Without any the points are separable, by independence in
    feature space; the search looks for a separator and for weights that bracket the margin.
    """
    pair = conflicting_rows(problem)
    if pair is not None:
        weights = {i: Fraction(1) for i in pair}
        claims = (Claim.INSEPARABLE, Claim.MARGIN_AT_MOST)
        return Evidence(claims, None, integer_witness(weights), Margin(None, 0.0)), weights
    search_kernel_margin(problem, search)
    found = _bracketed(KernelRows(problem), search)
    if leaves_open(found.margin, options.min_margin) and not search.deadline.passed():
        finer = search.finer(FINEST_GAP)
        search_kernel_margin(problem, finer)
        found = _bracketed(KernelRows(problem), finer)
    return found, {}


def _bracketed(rows: KernelRows, search: Search) -> Evidence:
    """Return what the search's weights prove; separable they are in any case."""
    upper, weights_above = _upper(rows, search)
    separator, lower = _separator(rows, search)
    stated = [Claim.SEPARABLE]
    if separator is not None:
        stated.append(Claim.MARGIN_AT_LEAST)
    if upper is not None:
        stated.append(Claim.MARGIN_AT_MOST)
    return Evidence(tuple(stated), separator, None, Margin(lower, upper, weights_above))


def _upper(rows: KernelRows, search: Search) -> tuple[float | None, Combination | None]:
    if not search.found.upper:
        return None, None
    weights = combination({i: Fraction(v) for i, v in search.found.upper.items() if v > 0})
    bound = kernel_margin_upper(rows, weights)
    if not 0 < bound < float("inf"):
        return None, None
    return bound * (1 + _SLACK), weights


def _separator(rows: KernelRows, search: Search) -> tuple[Separator | None, float | None]:
    """Return alpha with the margin that is proved for it; None where doubles prove no sign of some row."""
    if not search.found.alpha:
        return None, None
    alpha = combination({i: Fraction(v) for i, v in search.found.alpha.items()})
    lower = kernel_margin_lower(Expansion(rows, alpha))
    if not lower > 0:
        return None, None
    return Separator(alpha, None), lower * (1 - _SLACK)
