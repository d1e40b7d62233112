"""The Gaussian kernel K(x, z) = exp(-gamma |x - z|**2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sepcert.errors import KernelError, register
from sepcert.kernels.base import Heuristic, RadialKernel
from sepcert.kernels.distances import decaying, squared_distances
from sepcert.kernels.parameters import positive

DATA = register("KERNEL-DATA", "A parameter of the kernel cannot be found from these data.")

_SAMPLE = 1000


def scale_gamma(points: NDArray[np.float64]) -> float:
    """Return 1/(d Var(X)), the variance being that of all entries together.

    Raises
    ------
    KernelError
        All entries are equal, or their variance is no double.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        found = float(1.0 / (points.shape[1] * np.float64(points.var())))
    return _usable(found, "scale", "their variance")


def median_gamma(points: NDArray[np.float64]) -> float:
    """Return 1/(2 m**2), m the median distance between different rows (at most 1000 rows, evenly spaced).

    Raises
    ------
    KernelError
        All rows are equal, or the distance is no double.
    """
    n = len(points)
    chosen = points[np.arange(min(n, _SAMPLE)) * n // min(n, _SAMPLE)]
    squares = squared_distances(chosen, chosen)[np.triu_indices(len(chosen), 1)]
    squares = squares[squares > 0.0]
    with np.errstate(over="ignore", divide="ignore"):
        found = float(0.5 / np.median(squares)) if len(squares) else np.inf
    return _usable(found, "median", "the median distance of the rows")


def _usable(gamma: float, word: str, what: str) -> float:
    if not 2.0**-300 <= gamma <= 2.0**300:
        raise KernelError(
            DATA,
            f"gamma = {word} cannot be found: {what} is zero or out of range",
            advice="give gamma as a number, or scale the columns",
        )
    return gamma


@dataclass(frozen=True)
class GaussianKernel(RadialKernel):
    """K(x, z) = exp(-gamma |x - z|^2), strictly positive definite.

    Attributes
    ----------
    gamma : Fraction
        Above zero.  As a specification also ``scale`` or ``median``, see :func:`scale_gamma` and
        :func:`median_gamma`; the kernel holds the double that came out.
    """

    name: ClassVar[str] = "gaussian"
    heuristics: ClassVar[Mapping[str, Mapping[str, Heuristic]]] = {
        "gamma": {"scale": scale_gamma, "median": median_gamma}
    }

    gamma: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive(self.name, "gamma", self.gamma))

    def values(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return exp(-gamma |x - z|**2) for all pairs, shape (m, k)."""
        found = squared_distances(left, right)
        found *= float(self.gamma)
        return decaying(found)
