r"""The normalised perceptron, with the separator itself as the iterate.

Source: Ramdas and Pena, ICML 2014, Algorithm 2, on rows of unit Euclidean norm.

Iteration, from w_0 = 0, with z_i the normalised rows::

    j = argmin_i z_i'w_k
    theta_k = 1/(k+1)
    w_{k+1} = (1 - theta_k) w_k + theta_k z_j

w_k = sum_i p_i z_i with p in the simplex for k >= 1: p counts how often each row was the worst one.

Claims: a separator as soon as all z_i'w > 0; a witness to rho_2 <= |w| always, because |p|_G = |w|.

Bound: at most 1/rho_2^2 iterations to a separator, and 1/eps^2 to |w| <= eps.  The paper calls this the perceptron's
guarantee; the perceptron's own, max|x|^2/rho^2, is never better and can be worse by any factor.

| symbol | field |
|---|---|
| w | `direction` |
| z_i'w | `image` |
| p | `weights` |
| k | `iteration` |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sepcert.engine.gram import GramOperator, require_rows
from sepcert.engine.protocol import Algorithm, Candidate
from sepcert.problem import FloatArray


@dataclass(frozen=True)
class NormalizedPerceptronOptions:
    """The algorithm has no options."""


@dataclass(frozen=True, eq=False)
class NormalizedPerceptronState:
    """State after k steps.

    Attributes
    ----------
    direction : ndarray, shape (D,)
    weights, image : ndarray, shape (n,)
    iteration : int
    """

    direction: FloatArray
    weights: FloatArray
    image: FloatArray
    iteration: int


class NormalizedPerceptron(Algorithm[NormalizedPerceptronOptions, NormalizedPerceptronState]):
    """Algorithm 2; one pass over the rows a step; needs rows in memory."""

    name: ClassVar[str] = "normalized-perceptron"

    def start(self, gram: GramOperator) -> NormalizedPerceptronState:
        """Return w = 0."""
        n = require_rows(gram, self.name).count
        return NormalizedPerceptronState(np.zeros(gram.feature_dimension), np.zeros(n), np.zeros(n), 0)

    def step(self, gram: GramOperator, state: NormalizedPerceptronState) -> NormalizedPerceptronState:
        """Average the worst row in, and look at all rows."""
        j = int(np.argmin(state.image))
        theta = 1.0 / (state.iteration + 1)
        direction = (1.0 - theta) * state.direction + theta * gram.features(np.array([j]))[0]
        weights = (1.0 - theta) * state.weights
        weights[j] += theta
        return NormalizedPerceptronState(direction, weights, gram.image_of(direction), state.iteration + 1)

    def candidate(self, gram: GramOperator, state: NormalizedPerceptronState) -> Candidate:
        """Propose w for the lower end and p for the upper; nothing before the first step."""
        if not state.iteration:
            return Candidate()
        norm = float(np.linalg.norm(state.direction))
        return Candidate(
            weights=state.weights,
            image=state.image,
            norm=norm,
            direction=state.direction,
            simplex=state.weights,
            simplex_norm=norm,
            step=1.0 / state.iteration,
            fresh=True,
        )
