"""What a kernel is: its statement with exact parameters, and its values in doubles for the engine.

Proved values are not a kernel's business: :mod:`sepcert.verify` has them, one rule a kernel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sepcert.errors import KernelError, register
from sepcert.kernels.parameters import exact_text

OVERFLOW = register("KERNEL-OVERFLOW", "A value of the kernel is too large for binary64.")
ZERO = register("KERNEL-ZERO", "A row has K(x, x) = 0, so that it has no normalised form.")

Heuristic = Callable[[NDArray[np.float64]], float]
"""From the points, shape (n, d), to a parameter that suits them."""


class Kernel(ABC):
    """A positive semidefinite kernel K on R^d.

    Subclasses are frozen dataclasses whose fields are the parameters, as exact rationals.

    Attributes
    ----------
    name : str
        Its name on the command line.
    heuristics : dict
        By parameter: the words that may stand for a number, and how each becomes one, given the points.
    rational : bool
        Whether K(x, z) is rational for rational x and z and the feature map is finite, so that there are exact
        witnesses and the trichotomy.
    strictly_positive_definite : bool
        Whether distinct points are linearly independent in feature space, so that they can be separated whatever
        their labels.
    unit_diagonal : bool
        Whether K(x, x) = 1 for every x.
    positive_diagonal : bool
        Whether K(x, x) > 0 for every x.
    """

    name: ClassVar[str]
    heuristics: ClassVar[Mapping[str, Mapping[str, Heuristic]]] = {}

    @property
    @abstractmethod
    def rational(self) -> bool:
        """Whether values at rational points are rational and the feature map is finite."""

    @property
    @abstractmethod
    def strictly_positive_definite(self) -> bool:
        """Whether distinct points are independent in feature space."""

    @property
    def unit_diagonal(self) -> bool:
        """Whether K(x, x) = 1 for every x."""
        return False

    @property
    def positive_diagonal(self) -> bool:
        """Whether K(x, x) > 0 for every x."""
        return self.unit_diagonal

    def parameters(self) -> dict[str, str]:
        """Return every parameter as an exact rational string, by name."""
        owner: Any = self
        return {entry.name: exact_text(Fraction(getattr(self, entry.name))) for entry in fields(owner)}

    @abstractmethod
    def values(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return K(x, z) in doubles for all pairs, without a proved error.

        Parameters
        ----------
        left : ndarray of float64, shape (m, d)
        right : ndarray of float64, shape (k, d)

        Returns
        -------
        ndarray of float64, shape (m, k)

        Raises
        ------
        KernelError
            A value overflows.
        """

    @abstractmethod
    def diagonal(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return K(x, x) in doubles, shape (m,)."""


class RadialKernel(Kernel):
    """A function of a distance that is 1 at distance 0 and strictly positive definite on every R^d."""

    @property
    def rational(self) -> bool:
        """Never: the feature map is infinite."""
        return False

    @property
    def strictly_positive_definite(self) -> bool:
        """Always."""
        return True

    @property
    def unit_diagonal(self) -> bool:
        """Always."""
        return True

    def diagonal(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ones, shape (m,)."""
        return np.ones(len(points))


def finite(values: NDArray[np.float64], kernel: str) -> NDArray[np.float64]:
    """Return the values themselves; a KernelError with advice where one has overflowed."""
    if not np.isfinite(values).all():
        raise KernelError(
            OVERFLOW,
            f"the {kernel} kernel overflows binary64 on these points",
            advice="scale the columns to a range near 1, or choose a smaller gamma or degree",
        )
    return values


def require_positive(diagonal: NDArray[np.float64], kernel: str) -> None:
    """Refuse a diagonal with a zero, where K(x, x) > 0 is needed.

    Parameters
    ----------
    diagonal : ndarray of float64, shape (n,)
        K(x, x), the bias included.
    kernel : str
        Its name, for the message.

    Raises
    ------
    KernelError
        With the number of rows, and the first five of them (1-based).
    """
    zero = np.flatnonzero(~(diagonal > 0.0))
    if len(zero):
        first = ", ".join(str(i + 1) for i in zero[:5].tolist())
        more = f" and {len(zero) - 5} more" if len(zero) > 5 else ""
        raise KernelError(
            ZERO,
            f"K(x, x) is not above zero for the {kernel} kernel in row {first}{more}",
            advice="use a bias, a positive coef0, or leave these rows out",
        )
