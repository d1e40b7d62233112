r"""The smoothed normalised kernel perceptron-von Neumann algorithm, SNKPVN(q, delta).

Source: Ramdas and Pena, ICML 2014, Algorithm 6 (Soheili and Pena 2013 for the linear case), with the prox function
d_q(p) = |p - q|_2^2/2 around a point q of the simplex.

Iteration, from a_0 = q, mu_0 = 2n, p_0 = p_mu0(a_0)::

    theta_k = 2/(k+3)
    a_{k+1} = (1 - theta_k)(a_k + theta_k p_k) + theta_k^2 p_mu_k(a_k)
    mu_{k+1} = (1 - theta_k) mu_k                            so mu_k = 4n/((k+1)(k+2))
    p_{k+1} = (1 - theta_k) p_k + theta_k p_mu_{k+1}(a_{k+1})

with p_mu(a) the projection of q - Ga/mu onto the simplex.  A step needs one product with G, the start two
(:mod:`sepcert.engine.smoothing`).

Claims: a separator as soon as G a > 0; a witness to rho <= |p|_G always; it stops at |p|_G < delta.

Bound: always at most 2 sqrt(2n)/max(delta, rho_+) iterations, rho_+ = max(rho, 0); when rho < 0 also at most
(2 sqrt(2n)/delta) |q|_G/(|q|_G + |rho|).  The paper states the second for delta > rho as well, where |rho| is not
the radius of a ball in the hull; it holds only when rho < 0.  The paper also has sqrt(n) |q|_G/|rho| in place of
sqrt(2n) |q|_G/(|q|_G + |rho|), which is what its Lemma 7 gives: dist(q, W) <= sqrt(2) |q|_G/(|q|_G + |rho|) and
|p_k|_G <= sqrt(mu_k) dist(q, W).

| symbol | field |
|---|---|
| a, p, mu, k and the images | those of :class:`sepcert.engine.smoothing.SmoothedState` |
| q, delta | options `q`, `delta` |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sepcert.engine import smoothing
from sepcert.engine.gram import GramOperator
from sepcert.engine.protocol import Algorithm, Candidate, require_accuracy
from sepcert.engine.prox import EuclideanDistance
from sepcert.problem import FloatArray

SUM_TOLERANCE = 1e-9
"""How far the sum of given weights may be from 1 before they are refused."""


@dataclass(frozen=True, eq=False)
class SmoothedKernelPerceptronVonNeumannOptions:
    """Options of the algorithm.

    Attributes
    ----------
    q : ndarray, shape (n,), or None
        Where it starts: nonnegative, sum 1.  None: the uniform weights.
    delta : float or None
        Stop when |p|_G < delta, unless the run has a target of its own.
    """

    q: FloatArray | None = None
    delta: float | None = None

    def __post_init__(self) -> None:
        require_accuracy("delta", self.delta)
        if self.q is None:
            return
        q = np.asarray(self.q, dtype=np.float64)
        if not np.all(q >= 0.0) or abs(float(q.sum()) - 1.0) > SUM_TOLERANCE:
            raise ValueError("q is not a point of the simplex: nonnegative, sum 1")


class SmoothedKernelPerceptronVonNeumann(Algorithm[SmoothedKernelPerceptronVonNeumannOptions, smoothing.SmoothedState]):
    """Algorithm 6; one product with G a step."""

    name: ClassVar[str] = "smoothed-kernel-perceptron-von-neumann"

    @property
    def accuracy(self) -> float | None:
        """Delta."""
        return self.options.delta

    def start(self, gram: GramOperator) -> smoothing.SmoothedState:
        """Return q and its smoothed answer.

        Raises
        ------
        ValueError
            q does not have one weight for each row.
        """
        q = self.options.q
        center = np.full(gram.count, 1.0 / gram.count) if q is None else np.array(q, dtype=np.float64)
        if center.shape != (gram.count,):
            raise ValueError(f"q has shape {center.shape}, but there are {gram.count} rows")
        return smoothing.start_smoothing(gram, EuclideanDistance(center), center)

    def step(self, gram: GramOperator, state: smoothing.SmoothedState) -> smoothing.SmoothedState:
        """Take the shared step."""
        return smoothing.smoothed_step(gram, state)

    def candidate(self, gram: GramOperator, state: smoothing.SmoothedState) -> Candidate:
        """Propose a for the lower end and p for the upper."""
        return smoothing.smoothed_candidate(state)

    def refresh(self, gram: GramOperator, state: smoothing.SmoothedState) -> smoothing.SmoothedState:
        """Compute the images from scratch."""
        return smoothing.recomputed(gram, state)
