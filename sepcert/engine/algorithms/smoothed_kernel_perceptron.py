r"""The smoothed normalised kernel perceptron.

Source: Ramdas and Pena, ICML 2014, Algorithm 4 (Soheili and Pena 2012 for the linear case), with the entropy as
the prox function d(p) = sum_i p_i log p_i + log n.

Iteration, from a_0 = 1/n, mu_0 = 2, p_0 = p_mu0(a_0)::

    theta_k = 2/(k+3)
    a_{k+1} = (1 - theta_k)(a_k + theta_k p_k) + theta_k^2 p_mu_k(a_k)
    mu_{k+1} = (1 - theta_k) mu_k                            so mu_k = 4/((k+1)(k+2))
    p_{k+1} = (1 - theta_k) p_k + theta_k p_mu_{k+1}(a_{k+1})

with p_mu(a) a softmax of -Ga/mu.  A step needs one product with G, the start two (:mod:`sepcert.engine.smoothing`).

Claims: a separator as soon as G a > 0; a witness to rho <= |p|_G always.  The stop at |p|_G < delta is an option
(the paper's algorithm has none, and goes on for ever where there is no separator).

Bound: at most 2 sqrt(2 ln n)/max(rho, delta) iterations to a separator or to |p|_G < delta.

| symbol | field |
|---|---|
| a, p, mu, k and the images | those of :class:`sepcert.engine.smoothing.SmoothedState` |
| delta | option `delta` |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sepcert.engine import smoothing
from sepcert.engine.gram import GramOperator
from sepcert.engine.protocol import Algorithm, Candidate, require_accuracy
from sepcert.engine.prox import Entropy


@dataclass(frozen=True)
class SmoothedKernelPerceptronOptions:
    """Options of the smoothed perceptron.

    Attributes
    ----------
    delta : float or None
        Stop when |p|_G < delta, unless the run has a target of its own.
    """

    delta: float | None = None

    def __post_init__(self) -> None:
        require_accuracy("delta", self.delta)


class SmoothedKernelPerceptron(Algorithm[SmoothedKernelPerceptronOptions, smoothing.SmoothedState]):
    """Algorithm 4; one product with G a step."""

    name: ClassVar[str] = "smoothed-kernel-perceptron"

    @property
    def accuracy(self) -> float | None:
        """Delta."""
        return self.options.delta

    def start(self, gram: GramOperator) -> smoothing.SmoothedState:
        """Return the uniform weights and their smoothed answer."""
        return smoothing.start_smoothing(gram, Entropy(), np.full(gram.count, 1.0 / gram.count))

    def step(self, gram: GramOperator, state: smoothing.SmoothedState) -> smoothing.SmoothedState:
        """Take the shared step."""
        return smoothing.smoothed_step(gram, state)

    def candidate(self, gram: GramOperator, state: smoothing.SmoothedState) -> Candidate:
        """Propose a for the lower end and p for the upper."""
        return smoothing.smoothed_candidate(state)

    def refresh(self, gram: GramOperator, state: smoothing.SmoothedState) -> smoothing.SmoothedState:
        """Compute the images from scratch."""
        return smoothing.recomputed(gram, state)
