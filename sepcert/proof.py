"""From a decision to claims with exact evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np

from sepcert.certificate.model import Combination, Evidence, Margin, Separator, Witness
from sepcert.check_options import CheckOptions
from sepcert.exact.evidence import (
    combination,
    integer_witness,
    separator_from_alpha,
    separator_from_direction,
)
from sepcert.exact.face import Face
from sepcert.exact.partition import Partition
from sepcert.search.proposals import DEFAULT_GAP, Search
from sepcert.status import Claim, Separation
from sepcert.verify.margin import margin_lower, margin_upper
from sepcert.verify.rows import SignedRows

FINEST_GAP = 1e-9
"""Where a margin that was asked for lies inside the bracket, the search goes on to this gap."""
EXACT_UP_TO = 120
"""Dimension up to which alpha is solved for exactly only to improve the margin."""


def prove(rows: SignedRows, decision: Partition, options: CheckOptions, search: Search) -> Evidence:
    """Turn a decision into claims with exact evidence."""
    if decision.separation is Separation.COMPLETE and decision.separator is not None:
        return _prove_complete(rows, decision.separator, options, search)
    if decision.implicit is not None:
        claims = (Claim.INSEPARABLE, Claim.OVERLAP, Claim.MARGIN_AT_MOST)
        return Evidence(claims, None, Witness(None, decision.implicit), Margin(None, 0.0))
    if decision.witness is None:
        return bound_only(rows, search)
    return _prove_inseparable(rows, decision, decision.witness)


def _prove_inseparable(rows: SignedRows, decision: Partition, weights: Mapping[int, Fraction]) -> Evidence:
    claims = [Claim.INSEPARABLE, Claim.MARGIN_AT_MOST]
    witness = integer_witness(weights)
    separator = None
    if decision.separation is Separation.OVERLAP:
        claims.insert(1, Claim.OVERLAP)
    elif decision.separation is Separation.QUASI_COMPLETE and decision.separator is not None:
        claims.insert(1, Claim.QUASI_COMPLETE)
        separator = separator_from_direction(rows, decision.separator, weights)
    return Evidence(tuple(claims), separator, witness, Margin(None, 0.0))


def _prove_complete(rows: SignedRows, direction: list[int], options: CheckOptions, search: Search) -> Evidence:
    if search.found.upper is None and not search.alone:
        search.margin(Face(rows, np.arange(rows.count)))
    separator, margin = _best(rows, direction, options, search)
    if leaves_open(margin, options.min_margin):
        finer = search.finer(FINEST_GAP)
        finer.margin(Face(rows, np.arange(rows.count)))
        separator, margin = _best(rows, direction, options, finer)
    claims = (Claim.SEPARABLE, Claim.COMPLETE, Claim.MARGIN_AT_LEAST, Claim.MARGIN_AT_MOST)
    return Evidence(claims, separator, None, margin)


def leaves_open(margin: Margin, wanted: float | None) -> bool:
    """Whether a margin that is asked for lies inside the bracket."""
    if wanted is None or margin.lower is None or margin.upper is None:
        return False
    return margin.lower < wanted <= margin.upper


def _best(rows: SignedRows, direction: list[int], options: CheckOptions, search: Search) -> tuple[Separator, Margin]:
    """Return the separator with the best certified bracket that is found without further search.

    The alpha of the engine comes first, as it has few digits.  Where it does not hold exactly, or sum alpha_i z_i
    cancels so much that the bracket is wide, the directions of the engine and of the exact stage are tried, with alpha
    solved for exactly; in large dimensions that is not done only to narrow a bracket.
    """
    wanted = options.gap or DEFAULT_GAP
    one = Combination((0,), (Fraction(1),))  # any single row bounds the margin by 1
    upper = _upper(rows, search) or Margin(None, margin_upper(rows, one), one)
    best = _held(rows, _from_alpha(rows, search), upper)
    if best is not None and (rows.dimension > EXACT_UP_TO or _narrow(best[1], wanted)):
        return best
    for proposed in _directions(rows, direction, search):
        found = _held(rows, separator_from_direction(rows, proposed, search.found.upper or ()), upper)
        if found is not None and (best is None or (found[1].lower or 0.0) > (best[1].lower or 0.0)):
            best = found
        if best is not None and _narrow(best[1], wanted):
            break
    if best is None:
        raise ArithmeticError("a separator that was proved has been lost")
    return best


def _from_alpha(rows: SignedRows, search: Search) -> Separator | None:
    if search.found.alpha is None:
        return None
    return separator_from_alpha(rows, {i: Fraction(a) for i, a in search.found.alpha.items()})


def _directions(rows: SignedRows, direction: list[int], search: Search) -> Iterator[list[int]]:
    """Yield the engine's direction, where solving for its alpha is quick, and the exact stage's, which separates."""
    if rows.dimension <= EXACT_UP_TO and search.found.direction is not None:
        proposed = Face(rows, np.arange(rows.count)).scaled_base(search.found.direction)
        if any(proposed):
            yield proposed
    yield direction


def _held(rows: SignedRows, separator: Separator | None, upper: Margin) -> tuple[Separator, Margin] | None:
    """Return the separator with its bracket, or None where some row is not strictly on its side, exactly."""
    if separator is None:
        return None
    lower = margin_lower(rows, separator)
    return None if lower < 0 else (separator, Margin(lower, upper.upper, upper.upper_weights))


def _narrow(margin: Margin, gap: float) -> bool:
    lower, upper = margin.lower or 0.0, margin.upper or 0.0
    return upper - lower <= gap * upper


def _upper(rows: SignedRows, search: Search) -> Margin | None:
    if not search.found.upper:
        return None
    weights = combination({i: Fraction(v) for i, v in search.found.upper.items() if v > 0})
    return Margin(None, margin_upper(rows, weights), weights)


def bound_only(rows: SignedRows, search: Search) -> Evidence:
    """Return what is left where nothing was decided: an upper end of the margin, if there is one."""
    upper = _upper(rows, search)
    return Evidence((Claim.MARGIN_AT_MOST,), margin=upper) if upper is not None and upper.upper else Evidence(())
