r"""The normalised von Neumann algorithm with exact line search.

Source: Ramdas and Pena, ICML 2014, Algorithm 5 (von Neumann, in Dantzig 1992), written for any kernel.

Iteration, from p_0 = 1/n::

    j = argmin_i (G p_k)_i
    t = argmin over [0, 1] of |(1-t) p_k + t e_j|_G
      = (|p|_G^2 - (Gp)_j) / (|p|_G^2 - 2 (Gp)_j + 1), clipped
    p_{k+1} = (1-t) p_k + t e_j

Claims: with a = p both ends of the bracket: a separator as soon as G p > 0, a witness to rho <= |p|_G always.
On separable data it goes on to the maximum margin.

Bound: at most 1/eps^2 iterations to |p|_G <= eps when rho <= 0, and at most 1/rho^2 to a separator when rho > 0,
since 1/|p_k|_G^2 grows by at least 1 as long as (Gp)_j <= 0.  O(rho^-2 log(1/eps)) when rho < 0 (Epelman and
Freund 2000).

| symbol | field |
|---|---|
| p | `weights` |
| G p | `image` |
| t | `step` |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sepcert.engine.gram import GramOperator
from sepcert.engine.protocol import Algorithm, Candidate
from sepcert.engine.step_sizes import towards_row
from sepcert.problem import FloatArray


@dataclass(frozen=True)
class VonNeumannOptions:
    """The algorithm has no options."""


@dataclass(frozen=True, eq=False)
class VonNeumannState:
    """State after some steps.

    Attributes
    ----------
    weights, image : ndarray, shape (n,)
    step : float
    """

    weights: FloatArray
    image: FloatArray
    step: float


class VonNeumann(Algorithm[VonNeumannOptions, VonNeumannState]):
    """Algorithm 5; one column of G a step."""

    name: ClassVar[str] = "von-neumann"

    def start(self, gram: GramOperator) -> VonNeumannState:
        """Return the uniform weights."""
        weights = np.full(gram.count, 1.0 / gram.count)
        return VonNeumannState(weights, gram.times(weights), 0.0)

    def step(self, gram: GramOperator, state: VonNeumannState) -> VonNeumannState:
        """Go to the least point of the segment between p and the worst row."""
        p, image = state.weights, state.image
        j = int(np.argmin(image))
        column = gram.column(j)
        t = towards_row(float(p @ image), float(image[j]), float(column[j]))
        weights = (1.0 - t) * p
        weights[j] += t
        moved = (1.0 - t) * image
        moved += t * column
        return VonNeumannState(weights, moved, t)

    def candidate(self, gram: GramOperator, state: VonNeumannState) -> Candidate:
        """Propose p for both ends."""
        return Candidate(
            weights=state.weights,
            image=state.image,
            simplex=state.weights,
            simplex_image=state.image,
            step=state.step,
        )

    def refresh(self, gram: GramOperator, state: VonNeumannState) -> VonNeumannState:
        """Compute G p from scratch."""
        return replace(state, image=gram.times(state.weights))
