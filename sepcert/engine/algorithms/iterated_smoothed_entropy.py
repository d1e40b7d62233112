r"""The iterated smoothed normalised kernel perceptron with the relative entropy as prox.

Source: a remark of Ramdas and Pena in the source of arXiv 1505.04123 that the paper does not print, without a proof:
Algorithm 7 with Algorithm 4 inside.  The prox function here is the relative entropy d_t(p) = sum_i p_i log(p_i/q_ti).

Iteration, from q_0 = 1/n::

    stop if |q_t|_G < epsilon
    delta_t = max(|q_t|_G/gamma, epsilon)
    q_{t+1} = the p with |p|_G < delta_t of the smoothed perceptron from a_0 = q_t, mu_0 = 2, with prox d_t

with p_mu(a) proportional to q_t exp(-Ga/mu).  What a step is, and what it proposes, is as in
:mod:`sepcert.engine.algorithms.iterated_smoothed_kernel_perceptron_von_neumann`.

The invariant L_mu_k(a_k) <= -|p_k|_G^2/2 holds in every call, since the relative entropy is strongly convex in the
1-norm and 0 at q_t.

Claims: a separator as soon as G a > 0 in a call; a witness to rho <= |p|_G always; it stops at |p|_G < epsilon.

Bound: none is proved.  The one of Algorithm 4 does not carry over, because d_t is not bounded on the simplex by log n
(or by anything, as weights of q_t go to 0).  What can be reported is the count.

| symbol | field |
|---|---|
| a, p, mu, q_t, delta_t, t | as in Algorithm 7 |
"""

from __future__ import annotations

from typing import ClassVar

from sepcert.engine.algorithms.iterated_smoothed_kernel_perceptron_von_neumann import (
    IteratedSmoothedKernelPerceptronVonNeumann,
)
from sepcert.engine.prox import Entropy, Prox
from sepcert.problem import FloatArray


class IteratedSmoothedEntropy(IteratedSmoothedKernelPerceptronVonNeumann):
    """Algorithm 7 with the relative entropy; one product with G a step."""

    name: ClassVar[str] = "iterated-smoothed-entropy"

    def prox(self, center: FloatArray) -> Prox:
        """Return the prox function around q_t."""
        return Entropy(center)
