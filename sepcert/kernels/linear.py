"""The linear kernel K(x, z) = x'z; its feature map is the identity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sepcert.kernels.base import Kernel


@dataclass(frozen=True)
class LinearKernel(Kernel):
    """K(x, z) = x'z, without parameters.

    A statement about it is a statement about hyperplanes: with a bias b0 the raw rows are
    z_i = y_i (b0, x_i), and K_ii = |x_i|**2 + b0**2.
    """

    name: ClassVar[str] = "linear"

    @property
    def rational(self) -> bool:
        """Always: the feature map is the identity."""
        return True

    @property
    def strictly_positive_definite(self) -> bool:
        """Never: more than d points are dependent."""
        return False

    def parameters(self) -> dict[str, str]:
        """Return every parameter as an exact rational string; the linear kernel has none."""
        return {}

    def values(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return x'z for all pairs, shape (m, k)."""
        return np.asarray(left @ right.T)

    def diagonal(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return |x|**2, shape (m,)."""
        return np.asarray(np.einsum("ij,ij->i", points, points))
