r"""Prox functions d of the smoothed methods, through their minimisers over the simplex.

A smoothed method replaces the worst row of an image v = G a by p_mu(a) = argmin over the simplex of v'p + mu d(p).
With lambda the largest number for which |p - q|_G^2 <= lambda |p - q|_#^2 in the norm # in which d is strongly
convex (Ramdas and Pena, appendix), the smoothing begins with mu_0 = 2 lambda:

| d(p) | norm | lambda | p_mu(a) |
|---|---|---|---|
| sum_i p_i log p_i + log n | 1 | 1 | softmax of -v/mu |
| sum_i p_i log(p_i/q_i) | 1 | 1 | q times the exponentials of -v/mu, scaled to sum 1 |
| abs(p - q)^2/2 | 2 | n | projection of q - v/mu |

The first is the second with q = 1/n.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from sepcert.engine.simplex_projection import project_onto_simplex
from sepcert.problem import FloatArray


class Prox(ABC):
    """A prox function around a point q of the simplex."""

    @property
    @abstractmethod
    def initial_smoothing(self) -> float:
        """mu_0 = 2 lambda."""

    @abstractmethod
    def minimiser(self, image: FloatArray, smoothing: float) -> FloatArray:
        """Return argmin over the simplex of p'image + smoothing d(p), shape (n,)."""


class Entropy(Prox):
    """The relative entropy to q.

    Parameters
    ----------
    center : ndarray, shape (n,), or None
        q; None: the uniform weights.  Where q_i is 0, the minimisers are 0.
    """

    def __init__(self, center: FloatArray | None = None) -> None:
        self._logarithm: FloatArray | None = None
        if center is not None:
            self._logarithm = np.full(len(center), -np.inf)
            np.log(center, where=center > 0.0, out=self._logarithm)

    @property
    def initial_smoothing(self) -> float:
        """Two: |p|_G <= |p|_1."""
        return 2.0

    def minimiser(self, image: FloatArray, smoothing: float) -> FloatArray:
        """Return q exp(-image/mu), scaled to sum 1; shape (n,)."""
        exponents = image.min() - image
        exponents /= smoothing
        if self._logarithm is not None:
            exponents += self._logarithm
            exponents -= exponents.max()
        np.exp(exponents, out=exponents)
        exponents /= exponents.sum()
        return np.asarray(exponents)


class EuclideanDistance(Prox):
    """Half the squared Euclidean distance to q.

    Parameters
    ----------
    center : ndarray, shape (n,)
        q.
    """

    def __init__(self, center: FloatArray) -> None:
        self._center = center

    @property
    def initial_smoothing(self) -> float:
        """Twice the number of rows: |p|_G <= sqrt(n) |p|_2."""
        return 2.0 * len(self._center)

    def minimiser(self, image: FloatArray, smoothing: float) -> FloatArray:
        """Return the projection of q - image/mu onto the simplex, shape (n,)."""
        return project_onto_simplex(self._center - image / smoothing)
