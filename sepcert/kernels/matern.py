"""The Matern kernels of smoothness 1/2, 3/2 and 5/2."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sepcert.kernels.base import RadialKernel
from sepcert.kernels.distances import blockwise, squared_distances
from sepcert.kernels.parameters import bad_value, positive, rational

SMOOTHNESS = (Fraction(1, 2), Fraction(3, 2), Fraction(5, 2))


@dataclass(frozen=True)
class MaternKernel(RadialKernel):
    """K(x, z) = f(sqrt(2 nu) |x - z| / l), strictly positive definite.

    f(q) is exp(-q) for nu = 1/2, (1 + q) exp(-q) for 3/2, (1 + q + q^2/3) exp(-q) for 5/2 (Rasmussen and Williams,
    Gaussian Processes for Machine Learning, 2006, section 4.2).

    Attributes
    ----------
    nu : Fraction
        1/2, 3/2 or 5/2.
    length_scale : Fraction
        l > 0.
    """

    name: ClassVar[str] = "matern"

    nu: Fraction
    length_scale: Fraction

    def __post_init__(self) -> None:
        nu = rational(self.name, "nu", self.nu)
        if nu not in SMOOTHNESS:
            raise bad_value(self.name, "nu", self.nu, "is none of 1/2, 3/2, 5/2")
        object.__setattr__(self, "nu", nu)
        object.__setattr__(self, "length_scale", positive(self.name, "length_scale", self.length_scale))

    @property
    def square_factor(self) -> Fraction:
        """The factor 2 nu / l**2 of |x - z|**2 in q**2."""
        return 2 * self.nu / self.length_scale**2

    def values(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the kernel for all pairs, shape (m, k)."""
        found = squared_distances(left, right)
        found *= float(self.square_factor)
        return blockwise(self._of_squares, found)

    def _of_squares(self, q: NDArray[np.float64]) -> None:
        np.sqrt(q, out=q)
        np.minimum(q, 1e4, out=q)
        with np.errstate(under="ignore"):
            decay = np.exp(-q)
        if self.nu == SMOOTHNESS[0]:
            q[...] = 1.0
        elif self.nu == SMOOTHNESS[1]:
            q += 1.0
        else:
            q[...] = 1.0 + q * (1.0 + q / 3.0)
        with np.errstate(under="ignore"):
            q *= decay
