"""What a kernel is: its statement with exact parameters, and its values in doubles for the engine.

Proved values are not a kernel's business: :mod:`sepcert.verify` has them, one rule a kernel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray


class Kernel(ABC):
    """A positive semidefinite kernel K on R^d.

    Subclasses are frozen dataclasses whose fields are the parameters, as exact rationals.

    Attributes
    ----------
    name : str
        Its name on the command line.
    rational : bool
        Whether K(x, z) is rational for rational x and z and the feature map is finite, so that there are exact
        witnesses and the trichotomy.
    strictly_positive_definite : bool
        Whether distinct points are linearly independent in feature space, so that they can be separated whatever
        their labels.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def rational(self) -> bool:
        """Whether values at rational points are rational and the feature map is finite."""

    @property
    @abstractmethod
    def strictly_positive_definite(self) -> bool:
        """Whether distinct points are independent in feature space."""

    @abstractmethod
    def parameters(self) -> dict[str, str]:
        """Return every parameter as an exact rational string, by name."""

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
        """

    @abstractmethod
    def diagonal(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return K(x, x) in doubles, shape (m,)."""
