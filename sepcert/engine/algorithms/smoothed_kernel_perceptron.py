r"""The smoothed normalised kernel perceptron.

Source: Ramdas and Pena, ICML 2014, Algorithm 4 (Soheili and Pena 2012 for the linear case), with the entropy as
the prox function d(p) = sum_i p_i log p_i + log n.

Iteration, from a_0 = 1/n, mu_0 = 2, p_0 = p_mu0(a_0)::

    theta_k = 2/(k+3)
    a_{k+1} = (1 - theta_k)(a_k + theta_k p_k) + theta_k^2 p_mu_k(a_k)
    mu_{k+1} = (1 - theta_k) mu_k                            so mu_k = 4/((k+1)(k+2))
    p_{k+1} = (1 - theta_k) p_k + theta_k p_mu_{k+1}(a_{k+1})

with p_mu(a) = argmin over the simplex of <a, p>_G + mu d(p), a softmax of -Ga/mu.  The images G a and G p follow
by the same combinations, and p_mu_k(a_k) is the one computed at the end of the step before, so a step needs one
product with G; the start needs two.

Invariant (Lemma 5): L_mu_k(a_k) <= -|p_k|_G^2/2 for every k, with
L_mu(a) = max over the simplex of (-<a, p>_G - mu d(p)) + |a|_G^2/2.

Claims: a separator as soon as G a > 0; a witness to rho <= |p|_G always.

Bound: at most 2 sqrt(2 ln n)/max(rho, eps) iterations to a separator or to |p|_G < eps.

| symbol | field |
|---|---|
| a, G a | `weights`, `image` |
| p, G p | `simplex`, `simplex_image` |
| p_mu_k(a_k), its image | `smoothed`, `smoothed_image` |
| mu_k, k | `smoothing`, `iteration` |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sepcert.engine.gram import GramOperator
from sepcert.engine.protocol import Algorithm, Candidate
from sepcert.engine.step_sizes import smoothing_step
from sepcert.problem import FloatArray

INITIAL_SMOOTHING = 2.0


@dataclass(frozen=True)
class SmoothedKernelPerceptronOptions:
    """The algorithm has no options; its delta is the run's epsilon."""


@dataclass(frozen=True, eq=False)
class SmoothedKernelPerceptronState:
    """State after k steps; all arrays have shape (n,)."""

    weights: FloatArray
    image: FloatArray
    simplex: FloatArray
    simplex_image: FloatArray
    smoothed: FloatArray
    smoothed_image: FloatArray
    smoothing: float
    iteration: int


class SmoothedKernelPerceptron(Algorithm[SmoothedKernelPerceptronOptions, SmoothedKernelPerceptronState]):
    """Algorithm 4; one product with G a step."""

    name: ClassVar[str] = "smoothed-kernel-perceptron"

    def start(self, gram: GramOperator) -> SmoothedKernelPerceptronState:
        """Return the uniform weights and their smoothed answer."""
        weights = np.full(gram.count, 1.0 / gram.count)
        image = gram.times(weights)
        smoothed = softmin(image, INITIAL_SMOOTHING)
        smoothed_image = gram.times(smoothed)
        return SmoothedKernelPerceptronState(
            weights, image, smoothed, smoothed_image, smoothed, smoothed_image, INITIAL_SMOOTHING, 0
        )

    def step(self, gram: GramOperator, state: SmoothedKernelPerceptronState) -> SmoothedKernelPerceptronState:
        """Move a, shrink the smoothing, and average its answer into p."""
        theta = smoothing_step(state.iteration)
        smoothing = (1.0 - theta) * state.smoothing
        weights = _mix(theta, state.weights, state.simplex, state.smoothed)
        image = _mix(theta, state.image, state.simplex_image, state.smoothed_image)
        smoothed = softmin(image, smoothing)
        smoothed_image = gram.times(smoothed)
        return SmoothedKernelPerceptronState(
            weights,
            image,
            (1.0 - theta) * state.simplex + theta * smoothed,
            (1.0 - theta) * state.simplex_image + theta * smoothed_image,
            smoothed,
            smoothed_image,
            smoothing,
            state.iteration + 1,
        )

    def candidate(self, gram: GramOperator, state: SmoothedKernelPerceptronState) -> Candidate:
        """Propose a for the lower end and p for the upper."""
        return Candidate(
            weights=state.weights,
            image=state.image,
            simplex=state.simplex,
            simplex_image=state.simplex_image,
            step=smoothing_step(state.iteration - 1) if state.iteration else 0.0,
            extra={"smoothing": state.smoothing},
        )

    def refresh(self, gram: GramOperator, state: SmoothedKernelPerceptronState) -> SmoothedKernelPerceptronState:
        """Compute the three images from scratch."""
        return replace(
            state,
            image=gram.times(state.weights),
            simplex_image=gram.times(state.simplex),
            smoothed_image=gram.times(state.smoothed),
        )


def softmin(image: FloatArray, smoothing: float) -> FloatArray:
    """Return p_mu = argmin over the simplex of p'image + mu sum_i p_i log p_i, shape (n,)."""
    exponents = image.min() - image
    exponents /= smoothing
    np.exp(exponents, out=exponents)
    exponents /= exponents.sum()
    return np.asarray(exponents)


def _mix(theta: float, a: FloatArray, p: FloatArray, smoothed: FloatArray) -> FloatArray:
    """Return (1 - theta)(a + theta p) + theta^2 smoothed."""
    mixed = theta * p
    mixed += a
    mixed *= 1.0 - theta
    mixed += theta * theta * smoothed
    return mixed
