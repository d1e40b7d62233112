r"""The step that all smoothed methods share (Ramdas and Pena, ICML 2014, Algorithms 4 and 6).

From a_0, mu_0 and p_0 = p_mu0(a_0)::

    theta_k = 2/(k+3)
    a_{k+1} = (1 - theta_k)(a_k + theta_k p_k) + theta_k^2 p_mu_k(a_k)
    mu_{k+1} = (1 - theta_k) mu_k                            so mu_k = 2 mu_0/((k+1)(k+2))
    p_{k+1} = (1 - theta_k) p_k + theta_k p_mu_{k+1}(a_{k+1})

with p_mu(a) = argmin over the simplex of <a, p>_G + mu d(p) for a prox function d of :mod:`sepcert.engine.prox`.
The images G a and G p follow by the same combinations, and p_mu_k(a_k) is the one computed at the end of the step
before, so a step needs one product with G.

Invariant (Lemmas 5 and 8): L_mu_k(a_k) <= -|p_k|_G^2/2 for every k, with
L_mu(a) = max over the simplex of (-<a, p>_G - mu d(p)) + |a|_G^2/2.

| symbol | field |
|---|---|
| a, G a | `weights`, `image` |
| p, G p | `simplex`, `simplex_image` |
| p_mu_k(a_k), its image | `smoothed`, `smoothed_image` |
| mu_k, k | `smoothing`, `iteration` |
| d | `prox` |
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sepcert.engine.gram import GramOperator
from sepcert.engine.protocol import Candidate
from sepcert.engine.prox import Prox
from sepcert.engine.step_sizes import smoothing_step
from sepcert.problem import FloatArray


@dataclass(frozen=True, eq=False)
class SmoothedState:
    """State after k steps; all arrays have shape (n,)."""

    prox: Prox
    weights: FloatArray
    image: FloatArray
    simplex: FloatArray
    simplex_image: FloatArray
    smoothed: FloatArray
    smoothed_image: FloatArray
    smoothing: float
    iteration: int


def start_smoothing(
    gram: GramOperator, prox: Prox, weights: FloatArray, image: FloatArray | None = None
) -> SmoothedState:
    """Return the state at k = 0; one product, and one more where G a_0 is not given.

    Parameters
    ----------
    gram : GramOperator
    prox : Prox
    weights : ndarray, shape (n,)
        a_0, the point where the prox function is least.
    image : ndarray, shape (n,), optional
        G a_0.
    """
    image = gram.times(weights) if image is None else image
    smoothing = prox.initial_smoothing
    smoothed = prox.minimiser(image, smoothing)
    smoothed_image = gram.times(smoothed)
    return SmoothedState(prox, weights, image, smoothed, smoothed_image, smoothed, smoothed_image, smoothing, 0)


def smoothed_step(gram: GramOperator, state: SmoothedState) -> SmoothedState:
    """Move a, shrink the smoothing, and average its answer into p; one product."""
    theta = smoothing_step(state.iteration)
    smoothing = (1.0 - theta) * state.smoothing
    weights = _mix(theta, state.weights, state.simplex, state.smoothed)
    image = _mix(theta, state.image, state.simplex_image, state.smoothed_image)
    smoothed = state.prox.minimiser(image, smoothing)
    smoothed_image = gram.times(smoothed)
    return SmoothedState(
        state.prox,
        weights,
        image,
        (1.0 - theta) * state.simplex + theta * smoothed,
        (1.0 - theta) * state.simplex_image + theta * smoothed_image,
        smoothed,
        smoothed_image,
        smoothing,
        state.iteration + 1,
    )


def smoothed_candidate(state: SmoothedState) -> Candidate:
    """Propose a for the lower end and p for the upper."""
    return Candidate(
        weights=state.weights,
        image=state.image,
        simplex=state.simplex,
        simplex_image=state.simplex_image,
        step=smoothing_step(state.iteration - 1) if state.iteration else 0.0,
        extra={"smoothing": state.smoothing},
    )


def recomputed(gram: GramOperator, state: SmoothedState) -> SmoothedState:
    """Compute the three images from scratch."""
    return replace(
        state,
        image=gram.times(state.weights),
        simplex_image=gram.times(state.simplex),
        smoothed_image=gram.times(state.smoothed),
    )


def _mix(theta: float, a: FloatArray, p: FloatArray, smoothed: FloatArray) -> FloatArray:
    """Return (1 - theta)(a + theta p) + theta^2 smoothed."""
    mixed = theta * p
    mixed += a
    mixed *= 1.0 - theta
    mixed += theta * theta * smoothed
    return mixed
