r"""The iterated smoothed normalised kernel perceptron-von Neumann algorithm, ISNKPVN(gamma, epsilon).

Source: Ramdas and Pena, ICML 2014, Algorithm 7.

Iteration, from q_0 = 1/n::

    stop if |q_t|_G < epsilon
    delta_t = max(|q_t|_G/gamma, epsilon)
    q_{t+1} = SNKPVN(q_t, delta_t)              (Algorithm 6; it may end with a separator)

The test comes before the call; in the paper it comes after it and on delta_t, so that |q_0|_G = 0 would never end.
It is made on p_0, which the driver sees where a call opens, and which passes where q_t does: |p_0|_G <= |q_t|_G,
because -|p_0|_G^2/2 >= L_mu0(q_t) >= -|q_t|_G^2/2.

A step here is one iteration of the call that is under way, or the opening of the next call: its iterate k = 0 is
looked at like every other one.  So the driver's loop is the only one; it sees every iterate, its log has a line for
each, its limits count them, and interruption and deadline hold inside a call as they do outside.  A run of t calls
takes t - 1 steps more than the calls have iterations.  Every step needs one product with G, the start two.

Claims: a separator as soon as G a > 0 in a call; a witness to rho <= |p|_G always; it stops at |p|_G < epsilon.

Bound: at most max(1, floor(log(|q_0|_G/max(epsilon, rho_+))/log gamma) + 1) calls (the paper has one less, and none
where |q_0|_G is near epsilon).  Each is at most 2 sqrt(2n)/max(epsilon, rho_+) iterations, and when rho < 0 at most
2 sqrt(2n) gamma/|rho|, because |q_t|_G/delta_t <= gamma.

| symbol | field |
|---|---|
| a, p, mu, k and the images in a call | `inner` |
| abs(p_k)_G | `norm` |
| delta_t | `delta` |
| t + 1, iterations of all calls | `calls`, `inner_iterations` |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sepcert.engine import smoothing
from sepcert.engine.gram import GramOperator
from sepcert.engine.protocol import Algorithm, Candidate, require_accuracy
from sepcert.engine.prox import EuclideanDistance, Prox
from sepcert.problem import FloatArray


@dataclass(frozen=True)
class IteratedOptions:
    """Options of the iterated methods.

    Attributes
    ----------
    gamma : float
        By what a call has to reduce |q_t|_G; greater than 1.
    epsilon : float or None
        Stop when |q_t|_G < epsilon, unless the run has a target of its own.  None: a rounded 0.
    """

    gamma: float = 2.0
    epsilon: float | None = None

    def __post_init__(self) -> None:
        require_accuracy("epsilon", self.epsilon)
        if not 1.0 < self.gamma < float("inf"):
            raise ValueError(f"gamma is {self.gamma}, but has to be greater than 1")


@dataclass(frozen=True, eq=False)
class IteratedState:
    """State after some iterations of some calls; see the module."""

    inner: smoothing.SmoothedState
    norm: float
    delta: float
    calls: int
    inner_iterations: int


class IteratedSmoothedKernelPerceptronVonNeumann(Algorithm[IteratedOptions, IteratedState]):
    """Algorithm 7; one product with G a step."""

    name: ClassVar[str] = "iterated-smoothed-kernel-perceptron-von-neumann"

    @property
    def accuracy(self) -> float | None:
        """Epsilon."""
        return self.options.epsilon

    def prox(self, center: FloatArray) -> Prox:
        """Return the prox function around q_t."""
        return EuclideanDistance(center)

    def start(self, gram: GramOperator) -> IteratedState:
        """Open the first call, around the uniform weights."""
        center = np.full(gram.count, 1.0 / gram.count)
        return self._call(gram, center, gram.times(center), 1, 0)

    def step(self, gram: GramOperator, state: IteratedState) -> IteratedState:
        """Take a step of the call that is under way, or open the next one."""
        inner = state.inner
        if state.norm < state.delta:
            return self._call(gram, inner.simplex, inner.simplex_image, state.calls + 1, state.inner_iterations)
        inner = smoothing.smoothed_step(gram, inner)
        norm = gram.norm_from(inner.simplex, inner.simplex_image)
        return replace(state, inner=inner, norm=norm, inner_iterations=state.inner_iterations + 1)

    def _call(
        self, gram: GramOperator, center: FloatArray, image: FloatArray, calls: int, iterations: int
    ) -> IteratedState:
        """Open a call around q_t; its image is known, so that this needs one product."""
        inner = smoothing.start_smoothing(gram, self.prox(center), center, image)
        norm = gram.norm_from(inner.simplex, inner.simplex_image)
        target = self.targets.epsilon if self.targets.epsilon is not None else self.options.epsilon
        delta = max(gram.norm_from(center, image) / self.options.gamma, target or 0.0)
        return IteratedState(inner, norm, delta, calls, iterations)

    def candidate(self, gram: GramOperator, state: IteratedState) -> Candidate:
        """Propose a for the lower end and p for the upper."""
        extra = {
            "smoothing": state.inner.smoothing,
            "delta": state.delta,
            "calls": state.calls,
            "inner_iterations": state.inner_iterations,
        }
        return replace(smoothing.smoothed_candidate(state.inner), simplex_norm=state.norm, extra=extra)

    def refresh(self, gram: GramOperator, state: IteratedState) -> IteratedState:
        """Compute the images and |p_k|_G from scratch."""
        inner = smoothing.recomputed(gram, state.inner)
        return replace(state, inner=inner, norm=gram.norm_from(inner.simplex, inner.simplex_image))
