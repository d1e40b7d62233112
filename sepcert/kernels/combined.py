"""Sums and products of kernels, which are kernels again (Schur)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sepcert.kernels.base import Kernel, finite
from sepcert.kernels.parameters import bad_value


class CombinedKernel(Kernel):
    """A kernel made of others.

    Attributes
    ----------
    of : tuple of Kernel
        Its members, at least two; none of them is a precomputed matrix, which has no points.
    """

    of: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        members = tuple(self.of)
        if len(members) < 2:
            raise bad_value(self.name, "of", f"{len(members)} kernel(s)", "is too few", "give a list of two or more")
        for member in members:
            if not isinstance(member, Kernel):
                raise bad_value(
                    self.name, "of", member, "is not a list of kernels", "write {name: gaussian, gamma: 0.5}"
                )
            if member.name == "precomputed":
                raise bad_value(
                    self.name,
                    "of",
                    "a precomputed matrix",
                    "has no points",
                    "combine the matrices, then use the result",
                )
        object.__setattr__(self, "of", members)

    @property
    def rational(self) -> bool:
        """Whether all members are."""
        return all(member.rational for member in self.of)

    def parameters(self) -> dict[str, str]:
        """Return name and parameters of every member as ``of.1.name``, ``of.1.gamma``, ..."""
        found: dict[str, str] = {}
        for number, member in enumerate(self.of, 1):
            found[f"of.{number}.name"] = member.name
            found.update({f"of.{number}.{key}": text for key, text in member.parameters().items()})
        return found


@dataclass(frozen=True)
class SumKernel(CombinedKernel):
    """K = K_1 + K_2 + ..., strictly positive definite if one member is.

    Attributes
    ----------
    of : tuple of Kernel
        Two or more.
    """

    name: ClassVar[str] = "sum"

    of: tuple[Kernel, ...]

    @property
    def strictly_positive_definite(self) -> bool:
        """Whether one member is; the others are positive semidefinite."""
        return any(member.strictly_positive_definite for member in self.of)

    @property
    def positive_diagonal(self) -> bool:
        """Whether one member has a positive diagonal."""
        return any(member.positive_diagonal for member in self.of)

    def values(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum for all pairs, shape (m, k)."""
        with np.errstate(over="ignore"):
            return finite(reduce(np.add, (member.values(left, right) for member in self.of)), self.name)

    def diagonal(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return K(x, x), shape (m,)."""
        with np.errstate(over="ignore"):
            return finite(reduce(np.add, (member.diagonal(points) for member in self.of)), self.name)


@dataclass(frozen=True)
class ProductKernel(CombinedKernel):
    """K = K_1 K_2 ..., strictly positive definite if one member is and the others have positive diagonals.

    (Horn and Johnson, Matrix Analysis, theorem 7.5.3: the Hadamard product of a positive definite matrix with a
    positive semidefinite one of positive diagonal is positive definite.)

    Attributes
    ----------
    of : tuple of Kernel
        Two or more.
    """

    name: ClassVar[str] = "product"

    of: tuple[Kernel, ...]

    @property
    def strictly_positive_definite(self) -> bool:
        """Whether one member is, and all have positive diagonals."""
        return self.positive_diagonal and any(member.strictly_positive_definite for member in self.of)

    @property
    def unit_diagonal(self) -> bool:
        """Whether all members have a diagonal of ones."""
        return all(member.unit_diagonal for member in self.of)

    @property
    def positive_diagonal(self) -> bool:
        """Whether all members have a positive diagonal."""
        return all(member.positive_diagonal for member in self.of)

    def values(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the product for all pairs, shape (m, k)."""
        with np.errstate(over="ignore", under="ignore"):
            return finite(reduce(np.multiply, (member.values(left, right) for member in self.of)), self.name)

    def diagonal(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return K(x, x), shape (m,)."""
        with np.errstate(over="ignore", under="ignore"):
            return finite(reduce(np.multiply, (member.diagonal(points) for member in self.of)), self.name)
