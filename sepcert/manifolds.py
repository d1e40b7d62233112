"""The statement about manifolds: labelled sets of points, each of which has to lie on one side as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sepcert.problem import FloatArray, IntArray, Points, SignArray


@dataclass(frozen=True, eq=False)
class Cloud:
    """A finite set of points; a classifier has it on one side exactly when it has its hull there.

    Attributes
    ----------
    points : Points
        Shape (m, d), m >= 1.
    rows : ndarray of int64, shape (m,)
        The 1-based number of each point in the input: its row in a table, or its place in the manifold's own array.
    """

    points: Points
    rows: IntArray

    @property
    def dimension(self) -> int:
        """Number of features d."""
        return self.points.shape[1]


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """The set x = c + sum_i R_i s_i u_i over the s with |s|_q <= 1; every number is the double itself.

    Attributes
    ----------
    centre : ndarray of float64, shape (d,)
        c.
    axes : ndarray of float64, shape (k, d)
        The rows are u_i; neither of length 1 nor orthogonal, unless they are given so.
    radii : ndarray of float64, shape (k,)
        R_i >= 0.
    exponent : Fraction or None
        q > 0; None is infinity (a box).  |s|_q is not a norm for q < 1, but the hull is that of q = 1.
    """

    centre: FloatArray
    axes: FloatArray
    radii: FloatArray
    exponent: Fraction | None

    @property
    def dimension(self) -> int:
        """Number of features d."""
        return len(self.centre)


@dataclass(frozen=True, eq=False)
class SampledManifold:
    """A manifold known only through a function, such as the warps of an image.

    Attributes
    ----------
    dimension : int
        Number of features d.
    worst : callable
        Given a direction, shape (d,), float64: the point that it finds with the least product, shape (d,), the
        product, and whether that is the least one over the manifold.
    centre : ndarray of float64, shape (d,), or None
    """

    dimension: int
    worst: Callable[[FloatArray], tuple[FloatArray, float, bool]]
    centre: FloatArray | None = None


Manifold = Cloud | Ellipsoid | SampledManifold


@dataclass(frozen=True, eq=False)
class ManifoldProblem:
    """What is asked: does some w have y_p (b0, x)'w > 0 for every point x of every manifold M_p?

    Attributes
    ----------
    manifolds : tuple of Manifold
        M_1 .. M_P, of one dimension d.
    labels : ndarray of int8, shape (P,)
        y_p in {-1, +1}; both occur.
    names : tuple of str
        What the user calls each manifold.
    bias : bool
        Whether there is a bias feature.
    bias_scale : Fraction
        b0 > 0, the value of the bias feature.
    """

    manifolds: tuple[Manifold, ...]
    labels: SignArray
    names: tuple[str, ...]
    bias: bool = False
    bias_scale: Fraction = Fraction(1)

    @property
    def count(self) -> int:
        """Number of manifolds P."""
        return len(self.manifolds)

    @property
    def dimension(self) -> int:
        """Dimension D of the raw points z = y (b0, x), the bias feature included."""
        return self.manifolds[0].dimension + int(self.bias)

    def raw_points(self, manifold: int, points: NDArray[np.float64]) -> FloatArray:
        """Return z = y_p (b0, x) in doubles for points x of one manifold, shapes (m, d) to (m, D)."""
        values = points
        if self.bias:
            values = np.hstack([np.full((len(points), 1), float(self.bias_scale)), points])
        return values * float(self.labels[manifold])
