r"""Pairwise Frank-Wolfe steps towards the least |p|_G of the simplex.

Source: Lacoste-Julien and Jaggi, NIPS 2015, Algorithm 2 (for a polytope; Mitchell, Demyanov and Malozemov 1974 for
the point of least norm), with exact line search.

Iteration, from p_0 = e_1::

    i = argmin over all rows of (G p_k)_i                          the worst row
    j = argmax over the support of p_k of (G p_k)_j                the row that hurts most
    t = min(p_j, ((Gp)_j - (Gp)_i) / (G_ii + G_jj - 2 G_ij))
    p_{k+1} = p_k + t (e_i - e_j)

Two columns of G a step, the second of which was asked for before.  Weight goes from one row to another, so rows leave
the support as soon as they reach weight 0, which the steps towards one row of the other methods never do.

Claims: with a = p both ends of the bracket: a separator as soon as G p > 0, a witness to rho <= |p|_G always; it
goes on to the maximum margin.

Bound: |p|_G^2 falls geometrically, in steps that do not empty a row, by a factor that depends on the geometry of the
support (the pyramidal width, Theorem 1); it has no useful value beforehand.

| symbol | field |
|---|---|
| p, G p | `weights`, `image` |
| t of the last step | `step` |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sepcert.engine.gram import GramOperator
from sepcert.engine.passes import worst_rows
from sepcert.engine.protocol import Algorithm, Candidate
from sepcert.problem import FloatArray

EPS = float(np.finfo(np.float64).eps)
TOGETHER = 16
"""Columns of the worst rows that the lazy form computes at once, when the worst row's is missing."""


@dataclass(frozen=True)
class PairwiseFrankWolfeOptions:
    """Options of the pairwise steps.

    Attributes
    ----------
    block : int
        Pairwise steps in one iteration of the driver.
    """

    block: int = 50

    def __post_init__(self) -> None:
        if self.block < 1:
            raise ValueError(f"block is {self.block}, but has to be at least 1")


@dataclass(frozen=True, eq=False)
class PairwiseState:
    """State after some steps.

    Attributes
    ----------
    weights, image : ndarray, shape (n,)
    step : float
    steps : int
        Pairwise steps so far.
    optimal : bool
        No row is worse than the support to rounding, or |p|_G does not fall any more.
    """

    weights: FloatArray
    image: FloatArray
    step: float = 0.0
    steps: int = 0
    optimal: bool = False


def first_vertex(gram: GramOperator) -> PairwiseState:
    """Return all weight on the first row."""
    weights = np.zeros(gram.count)
    weights[0] = 1.0
    return PairwiseState(weights, gram.column(0))


def pairwise_steps(gram: GramOperator, state: PairwiseState, count: int) -> PairwiseState:
    """Return the state after at most so many pairwise steps; its arrays are new."""
    p, image = state.weights.copy(), state.image.copy()
    step, optimal, done = 0.0, False, 0
    while done < count:
        i = int(np.argmin(image))
        support = np.flatnonzero(p)
        j = int(support[np.argmax(image[support])])
        slope = float(image[j] - image[i])
        if not slope > 8.0 * EPS * float(np.abs(image[[i, j]]).max()):
            optimal = not done
            break
        if not gram.holds(i):
            gram.prepare(worst_rows(image, TOGETHER, np.inf))
        entering, leaving = gram.column(i), gram.column(j)
        curvature = float(entering[i] + leaving[j] - 2.0 * entering[j])
        step = float(p[j]) if curvature <= 0.0 else min(float(p[j]), slope / curvature)
        p[i] += step
        p[j] -= step
        entering -= leaving
        entering *= step
        image += entering
        done += 1
    total = float(p.sum())
    p /= total
    image /= total
    if done < count and not optimal:
        image = gram.times(p)
    if done and not float(p @ image) < float(state.weights @ state.image):
        return replace(state, steps=state.steps + done, optimal=True)
    return PairwiseState(p, image, step, state.steps + done, optimal)


class PairwiseFrankWolfe(Algorithm[PairwiseFrankWolfeOptions, PairwiseState]):
    """Pairwise steps; a block of them is one iteration."""

    name: ClassVar[str] = "pairwise-frank-wolfe"

    def start(self, gram: GramOperator) -> PairwiseState:
        """Return all weight on the first row."""
        return first_vertex(gram)

    def step(self, gram: GramOperator, state: PairwiseState) -> PairwiseState:
        """Take a block of pairwise steps."""
        return pairwise_steps(gram, state, self.options.block)

    def candidate(self, gram: GramOperator, state: PairwiseState) -> Candidate:
        """Propose p for both ends."""
        return pairwise_candidate(state)

    def refresh(self, gram: GramOperator, state: PairwiseState) -> PairwiseState:
        """Compute G p from scratch."""
        return replace(state, image=gram.times(state.weights), optimal=False)


def pairwise_candidate(state: PairwiseState) -> Candidate:
    """Return p for both ends."""
    return Candidate(
        weights=state.weights,
        image=state.image,
        simplex=state.weights,
        simplex_image=state.image,
        step=state.step,
        exhausted=state.optimal,
        extra={"steps": state.steps, "support": int(np.count_nonzero(state.weights))},
    )
