"""From a decision to claims with exact evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from sepcert.certificate.model import Combination, Evidence, Margin, Separator, Witness
from sepcert.check_options import CheckOptions
from sepcert.exact.evidence import (
    combination,
    integer_witness,
    separates,
    separator_from_alpha,
    separator_from_direction,
)
from sepcert.exact.face import Face
from sepcert.exact.partition import Partition
from sepcert.search.proposals import Search
from sepcert.status import Claim, Separation
from sepcert.verify.margin import margin_lower, margin_upper
from sepcert.verify.rows import SignedRows

FINEST_GAP = 1e-9


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
    if search.found.upper is None:
        search.margin(Face(rows, np.arange(rows.count)))
    separator = _best_separator(rows, direction, search)
    margin = _bracket(rows, separator, search)
    if _leaves_open(margin, options.min_margin):
        finer = replace(search, gap=FINEST_GAP)
        finer.margin(Face(rows, np.arange(rows.count)))
        separator = _best_separator(rows, direction, finer)
        margin = _bracket(rows, separator, finer)
    claims = (Claim.SEPARABLE, Claim.COMPLETE, Claim.MARGIN_AT_LEAST, Claim.MARGIN_AT_MOST)
    return Evidence(claims, separator, None, margin)


def _leaves_open(margin: Margin, wanted: float | None) -> bool:
    """Whether a margin that is asked for lies inside the bracket."""
    if wanted is None or margin.lower is None or margin.upper is None:
        return False
    return margin.lower < wanted <= margin.upper


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
    one = Combination((0,), (Fraction(1),))
    upper = _upper(rows, search) or Margin(None, margin_upper(rows, one), one)
    return Margin(lower, upper.upper, upper.upper_weights)


def _upper(rows: SignedRows, search: Search) -> Margin | None:
    if not search.found.upper:
        return None
    weights = combination({i: Fraction(v) for i, v in search.found.upper.items() if v > 0})
    return Margin(None, margin_upper(rows, weights), weights)


def bound_only(rows: SignedRows, search: Search) -> Evidence:
    """Return what is left where nothing was decided: an upper end of the margin, if there is one."""
    upper = _upper(rows, search)
    return Evidence((Claim.MARGIN_AT_MOST,), margin=upper) if upper is not None and upper.upper else Evidence(())
