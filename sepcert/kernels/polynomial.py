"""The polynomial kernel K(x, z) = (gamma x'z + coef0)**degree."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sepcert.kernels.base import Kernel, finite
from sepcert.kernels.parameters import degree, not_negative, positive


@dataclass(frozen=True)
class PolynomialKernel(Kernel):
    """K(x, z) = (gamma x'z + coef0)^degree; its features are monomials, so everything about it is rational.

    Attributes
    ----------
    degree : int
        At least 1.
    gamma : Fraction
        Above zero; 1 by default.
    coef0 : Fraction
        Not below zero; 1 by default.
    """

    name: ClassVar[str] = "polynomial"

    degree: int
    gamma: Fraction = Fraction(1)
    coef0: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", degree(self.name, "degree", self.degree))
        object.__setattr__(self, "gamma", positive(self.name, "gamma", self.gamma))
        object.__setattr__(self, "coef0", not_negative(self.name, "coef0", self.coef0))

    @property
    def rational(self) -> bool:
        """Always."""
        return True

    @property
    def strictly_positive_definite(self) -> bool:
        """Never: the features are finitely many."""
        return False

    @property
    def positive_diagonal(self) -> bool:
        """Whether coef0 > 0: otherwise K(0, 0) = 0."""
        return self.coef0 > 0

    def values(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (gamma x'z + coef0)**degree for all pairs, shape (m, k)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self._of_products(np.asarray(left @ right.T))

    def diagonal(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (gamma |x|**2 + coef0)**degree, shape (m,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self._of_products(np.einsum("ij,ij->i", points, points))

    def _of_products(self, products: NDArray[np.float64]) -> NDArray[np.float64]:
        products *= float(self.gamma)
        products += float(self.coef0)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return finite(_power(products, self.degree), self.name)


def _power(base: NDArray[np.float64], degree: int) -> NDArray[np.float64]:
    """Return base**degree by squaring, several times faster than `numpy.power`; overwrites `base`."""
    result: NDArray[np.float64] | None = None
    while degree > 1:
        if degree & 1:
            result = base.copy() if result is None else np.multiply(result, base, out=result)
        base *= base
        degree >>= 1
    return base if result is None else np.multiply(result, base, out=result)
