"""The Laplacian kernel K(x, z) = exp(-gamma |x - z|_1)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sepcert.kernels.base import RadialKernel
from sepcert.kernels.distances import absolute_distances, decaying
from sepcert.kernels.parameters import positive


@dataclass(frozen=True)
class LaplacianKernel(RadialKernel):
    """K(x, z) = exp(-gamma |x - z|_1), strictly positive definite.

    It is a product over the coordinates of kernels of one variable whose Fourier transforms are positive.

    Attributes
    ----------
    gamma : Fraction
        Above zero.
    """

    name: ClassVar[str] = "laplacian"

    gamma: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive(self.name, "gamma", self.gamma))

    def values(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return exp(-gamma |x - z|_1) for all pairs, shape (m, k)."""
        found = absolute_distances(left, right)
        found *= float(self.gamma)
        return decaying(found)
