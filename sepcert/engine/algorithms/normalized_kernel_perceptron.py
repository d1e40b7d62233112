r"""The normalised kernel perceptron.

Source: Ramdas and Pena, ICML 2014, Algorithm 3.

Iteration, from a_0 = 0::

    j = argmin_i (G a_k)_i
    theta_k = 1/(k+1)
    a_{k+1} = (1 - theta_k) a_k + theta_k e_j

a_k is in the simplex for k >= 1: it counts how often each row was the worst one.  G a follows by columns of G.

Claims: with p = a both ends of the bracket: a separator as soon as G a > 0, a witness to rho <= |a|_G always.  It
is the subgradient method for L(a) = max_i(-(Ga)_i) + |a|_G^2/2, so on separable data it goes on to the maximum margin.

Bound: at most 1/rho^2 iterations to a separator, and 1/eps^2 to |a|_G <= eps, because |k a_k|_G^2 grows by at most 1 a
step as long as (G a_k)_j <= 0, while (k a_k)'G a* grows by at least rho.

| symbol | field |
|---|---|
| a, G a | `weights`, `image` |
| k | `iteration` |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sepcert.engine.gram import GramOperator
from sepcert.engine.protocol import Algorithm, Candidate
from sepcert.problem import FloatArray


@dataclass(frozen=True)
class NormalizedKernelPerceptronOptions:
    """The algorithm has no options."""


@dataclass(frozen=True, eq=False)
class NormalizedKernelPerceptronState:
    """State after k steps.

    Attributes
    ----------
    weights, image : ndarray, shape (n,)
    iteration : int
    """

    weights: FloatArray
    image: FloatArray
    iteration: int


class NormalizedKernelPerceptron(Algorithm[NormalizedKernelPerceptronOptions, NormalizedKernelPerceptronState]):
    """Algorithm 3; one column of G a step."""

    name: ClassVar[str] = "normalized-kernel-perceptron"

    def start(self, gram: GramOperator) -> NormalizedKernelPerceptronState:
        """Return a = 0."""
        return NormalizedKernelPerceptronState(np.zeros(gram.count), np.zeros(gram.count), 0)

    def step(self, gram: GramOperator, state: NormalizedKernelPerceptronState) -> NormalizedKernelPerceptronState:
        """Average the worst row in."""
        j = int(np.argmin(state.image))
        theta = 1.0 / (state.iteration + 1)
        weights = (1.0 - theta) * state.weights
        weights[j] += theta
        image = (1.0 - theta) * state.image
        image += theta * gram.column(j)
        return NormalizedKernelPerceptronState(weights, image, state.iteration + 1)

    def candidate(self, gram: GramOperator, state: NormalizedKernelPerceptronState) -> Candidate:
        """Propose a for both ends; nothing before the first step."""
        if not state.iteration:
            return Candidate()
        return Candidate(
            weights=state.weights,
            image=state.image,
            simplex=state.weights,
            simplex_image=state.image,
            step=1.0 / state.iteration,
        )

    def refresh(self, gram: GramOperator, state: NormalizedKernelPerceptronState) -> NormalizedKernelPerceptronState:
        """Compute G a from scratch."""
        return replace(state, image=gram.times(state.weights))
