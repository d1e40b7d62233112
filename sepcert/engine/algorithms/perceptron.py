r"""The perceptron (Rosenblatt 1958) on the raw rows.

Source: Ramdas and Pena, ICML 2014, Algorithm 1.

Iteration, from w_0 = 0::

    find a mistake:  i with z_i'w_k <= 0
    w_{k+1} = w_k + z_i

One step is one mistake.  Which mistake is an option: the next one in cyclic order (the rows are scanned on from
the last mistake), the next one in an order that is drawn anew for each sweep, or the row with the least z_i'w.

Claims: a separator.  It has no weights p on the simplex, hence no upper end and no witness; on data that are not
separable it goes on for ever.

Bound (Block 1962, Novikoff 1962): at most max|z_i|^2/rho^2 mistakes, rho = max_{|w|=1} min_i z_i'w the margin of
the raw rows z_i, the bias feature included in both.

| symbol | field |
|---|---|
| w | `direction` |
| number of mistakes on row i | `mistakes[i]` |
| z_i'w / abs(z_i) for all i | `image` (only where all rows were looked at) |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar

import numpy as np

from sepcert.engine.gram import FactoredGram, GramOperator, require_rows
from sepcert.engine.protocol import Algorithm, Candidate
from sepcert.engine.rows import FloatRows
from sepcert.problem import FloatArray, IntArray

FIRST_BLOCK, LARGEST_BLOCK = 32, 1 << 15
"""Rows looked at together while the next mistake is searched; the number doubles from the first to the last."""


class Order(StrEnum):
    """Which mistake is corrected next."""

    CYCLIC = "cyclic"
    RANDOM = "random"
    WORST = "worst"


@dataclass(frozen=True)
class PerceptronOptions:
    """Options of the perceptron: the order of the rows, and the seed of the random one."""

    order: Order = Order.CYCLIC
    seed: int = 0


@dataclass(frozen=True, eq=False)
class PerceptronState:
    """State after some mistakes.

    Attributes
    ----------
    direction : ndarray, shape (D,)
    mistakes : ndarray of int64, shape (n,)
        Written in place.
    position : int
        Where in the order the search goes on.
    order : ndarray of int64, shape (n,), or None
        The order of the rows in this sweep; None: as they stand.
    random : numpy.random.Generator
        Draws the order of the next sweep.
    image : ndarray, shape (n,), or None
    total : int
        Mistakes in all.
    done : bool
        No row is a mistake.
    """

    direction: FloatArray
    mistakes: IntArray
    position: int
    order: IntArray | None
    random: np.random.Generator
    image: FloatArray | None
    total: int
    done: bool


class Perceptron(Algorithm[PerceptronOptions, PerceptronState]):
    """Algorithm 1; needs rows in memory."""

    name: ClassVar[str] = "perceptron"

    def start(self, gram: GramOperator) -> PerceptronState:
        """Return w = 0."""
        rows = require_rows(gram, self.name).rows
        random = np.random.default_rng(self.options.seed)
        order = random.permutation(rows.count) if self.options.order is Order.RANDOM else None
        mistakes = np.zeros(rows.count, dtype=np.int64)
        return PerceptronState(np.zeros(rows.dimension), mistakes, 0, order, random, None, 0, done=False)

    def step(self, gram: GramOperator, state: PerceptronState) -> PerceptronState:
        """Correct one mistake."""
        factored = require_rows(gram, self.name)
        if state.done:
            return state
        if self.options.order is Order.WORST:
            return self._correct_worst(factored, state)
        found, state = self._next_mistake(factored, state)
        if found is None:
            image = factored.image_of(state.direction)
            return replace(state, image=image, done=True)
        return self._corrected(factored.rows, state, found)

    def candidate(self, gram: GramOperator, state: PerceptronState) -> Candidate:
        """Propose w; the weights over the rows are given when there are no mistakes any more."""
        weights = state.mistakes * require_rows(gram, self.name).norms if state.done else None
        return Candidate(
            weights=weights,
            direction=state.direction,
            image=state.image,
            norm=float(np.linalg.norm(state.direction)),
            step=0.0 if state.done or not state.total else 1.0,
            fresh=state.image is not None,
            exhausted=state.done,
            extra={"mistakes": state.total},
        )

    @staticmethod
    def _corrected(rows: FloatRows, state: PerceptronState, row: int) -> PerceptronState:
        state.mistakes[row] += 1
        direction = state.direction + rows.take(np.array([row]))[0]
        return replace(state, direction=direction, image=None, total=state.total + 1)

    def _correct_worst(self, gram: FactoredGram, state: PerceptronState) -> PerceptronState:
        """Correct the least raw product; the image it leaves is looked at in the next step."""
        image = np.zeros(gram.count) if state.image is None else state.image
        corrected = self._corrected(gram.rows, state, int(np.argmin(image * gram.norms)))
        image = gram.image_of(corrected.direction)
        return replace(corrected, image=image, done=bool(np.all(image > 0.0)))

    def _next_mistake(self, gram: FactoredGram, state: PerceptronState) -> tuple[int | None, PerceptronState]:
        """Search on from the state's position, at most once through all rows."""
        n, block, seen = gram.count, FIRST_BLOCK, 0
        position, order = state.position, state.order
        while seen < n:
            if position == n:
                position = 0
                order = None if order is None else state.random.permutation(n)
                seen = 0 if order is not None else seen
            stop = min(n, position + block, position + n - seen)
            products = _products(gram.rows, order, position, stop, state.direction)
            gram.passes += (stop - position) / n
            mistakes = np.flatnonzero(~(products > 0.0))
            if len(mistakes):
                found = position + int(mistakes[0])
                row = found if order is None else int(order[found])
                return row, replace(state, position=found + 1, order=order)
            seen += stop - position
            position = stop
            block = min(2 * block, LARGEST_BLOCK)
        return None, replace(state, position=position, order=order)


def _products(rows: FloatRows, order: IntArray | None, start: int, stop: int, w: FloatArray) -> FloatArray:
    """Return z_i'w for places start..stop-1 of the order."""
    if order is None:
        return rows.between(start, stop).products(w)
    return np.asarray(rows.take(order[start:stop]) @ w)
