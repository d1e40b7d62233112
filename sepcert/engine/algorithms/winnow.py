r"""Winnow: multiplicative updates.

Source: Littlestone 1988; Ramdas and Pena, ICML 2014, section 2.2, on rows of unit l_inf norm, z_i/|z_i|_inf.

Iteration, from w_0 = 1/d::

    find a mistake:  the row j with the least z_j'w_k/|z_j|, where that is not positive
    w_{k+1} = w_k exp(r z_j/|z_j|_inf), componentwise, scaled to sum 1

A problem whose separators have signs is solved with every feature doubled, (z, -z): w = u - v with u, v >= 0.  Nothing
is copied for it, since u and v are proportional to exp(s) and exp(-s) for one vector s.

Claims: a separator (without doubling, one with w >= 0).  It has no weights p on the simplex of the rows, hence no upper
end and no witness; w need not be in the span of the rows, so that only a positive lower end counts.

Bound: 2 ln d/r^2 mistakes for every r <= rho_1 = max over the simplex of min_i z_i'w/|z_i|_inf, with d twice the number
of features after doubling: KL(w*, w_k) begins at ln d or less and falls by r^2/2 or more at a mistake.  (The paper has
ln n/rho_1^2, with n the number of rows.)  Where no r is given, it is guessed: 1/2, 1/4, and so on, each from w_0 anew
and until its bound is used up, in all at most 32 ln d/(3 rho_1^2) mistakes.  Beginning anew is a step.

| symbol | field |
|---|---|
| s = r sum of the rows that were corrected | `exponents` |
| w (u - v after doubling) | `direction` |
| r | `margin_bound` |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from typing import ClassVar

import numpy as np

from sepcert.engine.gram import FactoredGram, GramOperator, require_rows
from sepcert.engine.protocol import Algorithm, Candidate
from sepcert.problem import FloatArray

FIRST_GUESS, LAST_GUESS = 0.5, 1e-9


@dataclass(frozen=True)
class WinnowOptions:
    """Options of Winnow.

    Attributes
    ----------
    margin_bound : float or None
        r, a lower bound of rho_1, in (0, 1]; None: it is guessed.
    signed : bool
        Whether every feature is doubled, so that separators may have negative entries.
    """

    margin_bound: float | None = None
    signed: bool = True

    def __post_init__(self) -> None:
        if self.margin_bound is not None and not 0.0 < self.margin_bound <= 1.0:
            raise ValueError(f"margin_bound is {self.margin_bound}, but rho_1 is at most 1, and r is positive")


@dataclass(frozen=True, eq=False)
class WinnowState:
    """State after some mistakes.

    Attributes
    ----------
    exponents, direction : ndarray, shape (D,)
    image : ndarray, shape (n,)
        z_i'w/|z_i|.
    margin_bound : float
    mistakes, total : int
        Since w was w_0, and in all.
    """

    exponents: FloatArray
    direction: FloatArray
    image: FloatArray
    margin_bound: float
    mistakes: int
    total: int

    @property
    def done(self) -> bool:
        """Whether no row is a mistake."""
        return bool(np.all(self.image > 0.0))


class Winnow(Algorithm[WinnowOptions, WinnowState]):
    """Winnow with the worst row as the next mistake; one pass over the rows a step; needs rows in memory."""

    name: ClassVar[str] = "winnow"

    def start(self, gram: GramOperator) -> WinnowState:
        """Return the uniform weights."""
        return self._anew(require_rows(gram, self.name), self.options.margin_bound or FIRST_GUESS, 0)

    def step(self, gram: GramOperator, state: WinnowState) -> WinnowState:
        """Correct the worst row, or begin anew with half the guess where the bound of this one is used up."""
        rows = require_rows(gram, self.name)
        if state.done:
            return state
        r = state.margin_bound
        if self.options.margin_bound is None and r > LAST_GUESS and state.mistakes + 1 > self._allowed(rows, r):
            return self._anew(rows, r / 2.0, state.total)
        row = rows.features(np.array([int(np.argmin(state.image))]))[0]
        exponents = state.exponents + r * (row / np.abs(row).max())
        direction = self._weights(exponents)
        return replace(
            state,
            exponents=exponents,
            direction=direction,
            image=rows.image_of(direction),
            mistakes=state.mistakes + 1,
            total=state.total + 1,
        )

    def candidate(self, gram: GramOperator, state: WinnowState) -> Candidate:
        """Propose w once no row is a mistake: its products bound the margin only if they are positive."""
        mistaken = bool(np.any(state.image <= 0.0))
        return Candidate(
            direction=state.direction,
            image=None if mistaken else state.image,
            norm=float(np.linalg.norm(state.direction)),
            step=state.margin_bound if state.total else 0.0,
            fresh=True,
            exhausted=state.done,
            extra={"mistakes": state.total, "margin_bound": state.margin_bound},
        )

    def _allowed(self, gram: FactoredGram, r: float) -> float:
        return 2.0 * log(gram.feature_dimension * (2 if self.options.signed else 1)) / r**2

    def _anew(self, gram: FactoredGram, r: float, total: int) -> WinnowState:
        exponents = np.zeros(gram.feature_dimension)
        direction = self._weights(exponents)
        return WinnowState(exponents, direction, gram.image_of(direction), r, 0, total)

    def _weights(self, s: FloatArray) -> FloatArray:
        """Return exp(s), or exp(s) - exp(-s) where features are doubled, over the sum of all exponentials."""
        if not self.options.signed:
            positive = np.exp(s - s.max())
            return np.asarray(positive / positive.sum())
        size = np.abs(s)
        scale = np.exp(size - size.max())
        opposite = np.exp(-2.0 * size)
        return np.asarray(np.sign(s) * scale * -np.expm1(-2.0 * size) / np.sum(scale * (1.0 + opposite)))
