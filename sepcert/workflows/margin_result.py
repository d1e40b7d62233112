"""What `margin` returns: brackets on the margins of one data set, each proved, and what proves them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sepcert.certificate.model import Ball, Certificate, Combination
from sepcert.certificate.numerals import format_number
from sepcert.findings import Margin
from sepcert.result import Result
from sepcert.status import Claim, ExitCode, Termination

SCHEMA = "sepcert-margin/1"

CONVENTIONS = {
    "rows": "z_i = y_i (b0, x_i), without b0 where there is no bias; a row of zeros stays zero in every normalisation",
    "rho": "sup of min_i z_i'w over |w| = 1, w in the span of the rows",
    "rho_2": "sup of min_i z_i'w/|z_i| over |w| = 1, w in the span of the rows",
    "rho_1": "max of min_i z_i'w/|z_i|_inf over |w|_1 <= 1; 0 where nothing separates",
    "rho_1_nonnegative": "max of min_i z_i'w/|z_i|_inf over w >= 0 with sum 1",
    "rho_K": "sup of min_i y_i f(x_i)/sqrt(K(x_i,x_i)) over |f|_K = 1; rho_2 for the linear kernel",
    "largest_norm": "max_i |z_i|",
}


@dataclass(frozen=True)
class Ends:
    """The vectors behind a bracket.

    Attributes
    ----------
    weights : tuple of Fraction, or None
        w, which proves the lower end.
    multipliers : Combination or None
        q over the raw rows, which proves the upper end.
    ball : Ball or None
        In place of both where the margin is negative.
    """

    weights: tuple[Fraction, ...] | None = None
    multipliers: Combination | None = None
    ball: Ball | None = None


@dataclass(frozen=True, eq=False)
class MarginResult:
    """Certified brackets on the margins of a data set.

    Attributes
    ----------
    result : Result
        The verdict, with the evidence that the certificate holds: for the bracket on rho_2, and for the trichotomy.
    gap : float
        The relative gap (upper - lower)/upper that was asked for.
    rho, rho_2, rho_1, rho_K, rho_1_nonnegative : Margin or None
        None: nothing was proved, or it is not defined; `why` tells why.
    largest_norm : Margin or None
        max_i |z_i|; None where the kernel is not linear.
    why : dict of str to str
        For margins that are None or have only one end, or whose bracket may be wide.
    ends : dict of str to Ends
        What proves the brackets that are not in the certificate.
    seconds : float
    passes : int
        Products of all rows with a direction, those of the check included.
    """

    result: Result
    gap: float
    rho: Margin | None
    rho_2: Margin | None
    rho_1: Margin | None
    rho_K: Margin | None  # noqa: N815 - the paper's name
    rho_1_nonnegative: Margin | None
    largest_norm: Margin | None
    why: Mapping[str, str]
    ends: Mapping[str, Ends]
    seconds: float
    passes: int

    @property
    def normalised_rho(self) -> Margin | None:
        """The quotient rho / max_i |z_i|, which the bounds of the unnormalised perceptron depend on."""
        if self.rho is None or self.largest_norm is None:
            return None
        low, high = self.largest_norm.lower, self.largest_norm.upper
        return Margin(
            _quotient(self.rho.lower, high, low, up=False),
            _quotient(self.rho.upper, low, high, up=True),
        )

    @property
    def verified(self) -> bool:
        """Whether the verifier has accepted the evidence of the certificate."""
        return self.result.verified

    @property
    def certificate(self) -> Certificate:
        """The certificate: the bracket on rho_2 and the trichotomy."""
        return self.result.certificate

    @property
    def answered(self) -> bool:
        """Whether every margin has both ends, and the positive ones the gap that was asked for."""
        if not self.verified:
            return False
        if self.largest_norm is None:
            return self._reached(self.rho_K)
        return all(self._reached(one) for one in (self.rho, self.rho_2, self.rho_1))

    def _reached(self, bracket: Margin | None) -> bool:
        if bracket is None:  # not defined where all rows are zero
            return self.largest_norm is not None and self.largest_norm.upper == 0
        if bracket.lower is None or bracket.upper is None:
            return False
        gap = relative_gap(bracket)
        if bracket.lower < 0 <= bracket.upper:
            return False
        return bracket.upper <= 0 or (gap is not None and gap <= self.gap)

    @property
    def exit_code(self) -> ExitCode:
        """0 answered, 3 undecided."""
        if self.result.termination == Termination.INTERRUPTED:
            return ExitCode.INTERRUPTED
        return ExitCode.HOLDS if self.answered else ExitCode.UNDECIDED

    def _reasons(self) -> dict[str, str]:
        """Return `why`, with a sentence for every bracket that is wider than the gap and has none yet."""
        reasons = dict(self.why)
        for name in ("rho", "rho_2", "rho_1"):
            margin = getattr(self, name)
            if margin is None or margin.lower is None or margin.upper is None:
                continue
            if margin.upper > 0 and margin.upper - margin.lower > self.gap * margin.upper:
                reasons.setdefault(name, "the gap was not reached: doubles tell no more, or a limit came first")
        return reasons

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of ``sepcert margin --format json``; see docs/margin.md."""
        whole = self.result.to_dict()
        return {
            "schema": SCHEMA,
            "verdict": whole["verdict"],
            "separation": whole["separation"],
            "rho": _shown(self.rho),
            "rho_2": _shown(self.rho_2),
            "rho_1": _shown(self.rho_1),
            "rho_K": _shown(self.rho_K),
            "rho_1_nonnegative": _shown(self.rho_1_nonnegative),
            "largest_norm": _shown(self.largest_norm),
            "rho_over_largest_norm": _shown(self.normalised_rho),
            "why": self._reasons(),
            "gap": self.gap,
            "answered": self.answered,
            "claims": [str(claim) for claim in self.result.evidence.claims],
            "evidence": {name: self._written(ends) for name, ends in self.ends.items()},
            "data": whole["data"],
            "kernel": whole["kernel"],
            "conventions": CONVENTIONS,
            "passes": self.passes,
            "seconds": round(self.seconds, 6),
            "termination": self.result.termination,
            "verified": self.verified,
        }

    def _written(self, ends: Ends) -> dict[str, Any]:
        """Return vectors as exact numerals (those of certificates), rows as 1-based numbers."""
        if ends.ball is not None:
            ball = ends.ball
            return {
                "alpha": self._pairs(ball.alpha),
                "forward": [self._pairs(one) for one in ball.forward],
                "backward": [self._pairs(one) for one in ball.backward],
            }
        return {
            "w": None if ends.weights is None else [format_number(v) for v in ends.weights],
            "q": None if ends.multipliers is None else self._pairs(ends.multipliers),
        }

    def _pairs(self, weights: Combination) -> list[list[object]]:
        numbers = self.result.dataset.row_numbers
        return [[int(numbers[i]), format_number(v)] for i, v in zip(weights.rows, weights.values, strict=True)]

    @property
    def negative(self) -> bool:
        """Whether the certificate brackets a negative margin."""
        return Claim.NEGATIVE_MARGIN in self.result.evidence.claims


def relative_gap(bracket: Margin) -> float | None:
    """Return (upper - lower)/upper, rounded up; None where an end is missing, or the upper one is not positive."""
    if bracket.lower is None or bracket.upper is None or bracket.upper <= 0:
        return None
    exact = 1 - Fraction(bracket.lower) / Fraction(bracket.upper)
    return math.nextafter(float(exact), math.inf) if exact else 0.0


def _quotient(value: float | None, if_positive: float | None, if_negative: float | None, *, up: bool) -> float | None:
    from sepcert.verify.quotients import rounded

    divisor = if_positive if value is not None and value > 0 else if_negative
    if value is None or not divisor or math.isinf(divisor):
        return None
    return rounded(Fraction(value) / Fraction(divisor), up=up)


def _shown(bracket: Margin | None) -> dict[str, float | None] | None:
    if bracket is None:
        return None
    ends = (bracket.lower, bracket.upper)
    lower, upper = (v if v is not None and math.isfinite(v) else None for v in ends)
    return {"lower": lower, "upper": upper}
