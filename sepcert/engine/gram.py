r"""The signed, normalised Gram operator G_ij = z_i'z_j / (|z_i| |z_j|) in its forms, with one interface.

The lazy form, which computes columns of a kernel's G on demand, is in :mod:`sepcert.engine.gram_lazy`.

A *product* is one multiplication G p.  In the factored form it is Z(Z'p): two passes over the data, and G is
never formed; a column is one pass and counts as half a product.  In the dense form a column counts 1/n.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sepcert.engine.gram_kernel import KernelRows
from sepcert.engine.rows import FloatRows
from sepcert.problem import FloatArray, IntArray

CANCELLED = 1e-6
"""Below this sqrt(p'Gp) has lost half of its digits, and |p|_G is computed from the rows instead."""
SPARSE = 8
"""Weights with fewer than n/8 nonzeros are multiplied row by row."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What one product tells about weights a.

    Attributes
    ----------
    image : ndarray, shape (n,)
        G a.
    norm : float
        |a|_G.
    direction : ndarray, shape (feature_dimension,), or None
        w = sum_i a_i f_i, see :meth:`GramOperator.features`, where the product computed it.
    """

    image: FloatArray
    norm: float
    direction: FloatArray | None


class GramOperator(ABC):
    """G as an operator that counts what is asked of it.

    Attributes
    ----------
    rows : FloatRows or None
        The rows behind G; None where only a matrix is known.
    products : float
        Products with G so far.
    passes : float
        Passes over the rows so far.
    """

    rows: FloatRows | None

    def __init__(self) -> None:
        self.products = 0.0
        self.passes = 0.0

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of rows n."""

    @property
    @abstractmethod
    def diagonal(self) -> FloatArray:
        """G_ii, which is 1; shape (n,)."""

    @property
    @abstractmethod
    def feature_dimension(self) -> int:
        """Dimension of the vectors of :meth:`features`."""

    @abstractmethod
    def evaluate(self, a: FloatArray) -> Evaluation:
        """Return G a, |a|_G and the direction from scratch; one product."""

    @abstractmethod
    def norm(self, a: FloatArray) -> float:
        """Return |a|_G from scratch."""

    def norm_from(self, a: FloatArray, image: FloatArray) -> float:
        """Return |a|_G as sqrt(a'image), image = G a, or from scratch where that has lost its digits."""
        square = float(a @ image)
        return self.norm(a) if square < CANCELLED**2 else float(np.sqrt(square))

    @abstractmethod
    def column(self, j: int) -> FloatArray:
        """Return G e_j, shape (n,)."""

    @abstractmethod
    def features(self, index: IntArray) -> FloatArray:
        """Return vectors f_i with f_i'f_j = G_ij for these rows, shape (k, feature_dimension)."""

    @abstractmethod
    def image_of(self, w: FloatArray) -> FloatArray:
        """Return f_i'w for all rows, shape (n,), for w of shape (feature_dimension,)."""

    @abstractmethod
    def row_direction(self, a: FloatArray) -> FloatArray | None:
        """Return w = sum_i a_i z_i/|z_i|, shape (D,), or None where only a matrix is known."""

    def times(self, p: FloatArray) -> FloatArray:
        """Return G p, shape (n,); one product."""
        return self.evaluate(p).image

    def block(self, index: IntArray) -> FloatArray:
        """Return a new array with G for these rows and columns, shape (k, k); no pass."""
        features = self.features(index)
        square = features @ features.T
        np.fill_diagonal(square, 1.0)
        return square

    def combine(self, index: IntArray, coefficients: FloatArray) -> FloatArray:
        """Return sum_j c_j G e_j over these j (without repeats), shape (n,); at most one product."""
        a = np.zeros(self.count)
        a[index] = coefficients
        return self.times(a)

    def holds(self, j: int) -> bool:
        """Say whether column j costs nothing to compute; only the lazy form ever says no."""
        return True

    def prepare(self, index: IntArray) -> bool:
        """Be told that these columns are about to be asked for, and say whether that was of use; it is not here."""
        return False


class FactoredGram(GramOperator):
    """G of rows in memory, as a product of two factors; nothing of size n x D is copied.

    Parameters
    ----------
    rows : FloatRows

    Raises
    ------
    ValueError
        By every method that meets it: a row is zero, so that it has no normalised form (it is a witness by
        itself: screen for it first), or a norm is not a finite number.
    """

    rows: FloatRows

    def __init__(self, rows: FloatRows) -> None:
        super().__init__()
        self.rows = rows

    @cached_property
    def norms(self) -> FloatArray:
        """|z_i|, shape (n,); one pass over the rows, made when the first product with all rows is."""
        self.passes += 1.0
        return _checked(self.rows.norms())

    @cached_property
    def _signed_inverse(self) -> FloatArray:
        return np.asarray(self.rows.labels / self.norms)

    def lengths(self, index: IntArray) -> FloatArray:
        """Return |z_i| of some rows, shape (k,); no pass."""
        return self._unit(index)[1]

    def _unit(self, index: IntArray) -> tuple[FloatArray, FloatArray]:
        rows = self.rows.take(index)
        norms = _checked(np.sqrt(np.einsum("ij,ij->i", rows, rows)))
        rows /= norms[:, None]
        return rows, norms

    @property
    def count(self) -> int:
        """Number of rows n."""
        return self.rows.count

    @property
    def diagonal(self) -> FloatArray:
        """G_ii, which is 1; shape (n,)."""
        return np.ones(self.count)

    @property
    def feature_dimension(self) -> int:
        """D."""
        return self.rows.dimension

    def row_direction(self, a: FloatArray) -> FloatArray:
        """Return w = sum_i a_i z_i/|z_i|, shape (D,); half a product, or none and no pass where a is sparse."""
        support = np.flatnonzero(a)
        if SPARSE * len(support) < self.count:
            return np.asarray(a[support] @ self.features(support))
        self.products += 0.5
        self.passes += 1.0
        return self.rows.unsigned_combination(a * self._signed_inverse)

    def image_of(self, w: FloatArray) -> FloatArray:
        """Return z_i'w/|z_i| for all rows, shape (n,); half a product."""
        self.products += 0.5
        self.passes += 1.0
        image = self.rows.unsigned_products(w)
        image *= self._signed_inverse
        return image

    def evaluate(self, a: FloatArray) -> Evaluation:
        """Return G a, |a|_G and the direction from scratch; one product."""
        w = self.row_direction(a)
        return Evaluation(self.image_of(w), float(np.linalg.norm(w)), w)

    def norm(self, a: FloatArray) -> float:
        """Return |a|_G from scratch; half a product."""
        return float(np.linalg.norm(self.row_direction(a)))

    def column(self, j: int) -> FloatArray:
        """Return G e_j, shape (n,); half a product."""
        return self.image_of(self.features(np.array([j]))[0])

    def features(self, index: IntArray) -> FloatArray:
        """Return the normalised rows z_i/|z_i|, shape (k, D)."""
        return self._unit(index)[0]


def require_rows(gram: GramOperator, algorithm: str) -> FactoredGram:
    """Return the operator of an algorithm that works on rows; a TypeError where there is only a matrix."""
    if not isinstance(gram, FactoredGram):
        raise TypeError(f"{algorithm} works on rows, not on a Gram matrix")
    return gram


def _checked(norms: FloatArray) -> FloatArray:
    if not np.all(norms > 0.0) or not np.all(np.isfinite(norms)):
        raise ValueError("a row has norm zero, or no finite norm")
    return norms


class DenseGram(GramOperator):
    """G as a matrix in memory, for n much smaller than D and for matrices that are given.

    Parameters
    ----------
    matrix : ndarray, shape (n, n)
        Symmetric, positive semidefinite, diagonal 1.
    rows : FloatRows, optional
        The rows it came from; then directions are known.
    kernel_rows : KernelRows, optional
        The rows and the kernel it came from; then |a|_G is known where a'Ga has lost its digits.
    """

    def __init__(
        self, matrix: FloatArray, rows: FloatRows | None = None, kernel_rows: KernelRows | None = None
    ) -> None:
        super().__init__()
        self.rows = rows
        self.kernel_rows = kernel_rows
        self.matrix = matrix
        self._embedding: FloatArray | None = None
        self._norms = rows.norms() if rows is not None else None

    @classmethod
    def of_rows(cls, rows: FloatRows) -> DenseGram:
        """Compute the matrix of the rows: n^2 D/2 multiplications, and n^2 numbers in memory."""
        signed = FactoredGram(rows).features(np.arange(rows.count))
        gram = cls(signed @ signed.T, rows)
        gram.passes += 1.0
        return gram

    @classmethod
    def of_kernel(cls, kernel_rows: KernelRows) -> DenseGram:
        """Compute the matrix of a kernel: n^2/2 values, and n^2 numbers in memory."""
        gram = cls(kernel_rows.square(np.arange(kernel_rows.count)), kernel_rows=kernel_rows)
        gram.passes += 1.0
        return gram

    @property
    def count(self) -> int:
        """Number of rows n."""
        return len(self.matrix)

    @property
    def diagonal(self) -> FloatArray:
        """G_ii, which is 1; shape (n,)."""
        return np.diagonal(self.matrix).copy()

    @property
    def feature_dimension(self) -> int:
        """The numerical rank of G."""
        return int(self._embedded().shape[1])

    def evaluate(self, a: FloatArray) -> Evaluation:
        """Return G a and |a|_G; one product, and one pass over the rows if they are known."""
        image = self.times(a)
        w = self.row_direction(a)
        square = float(a @ image)
        if w is not None:
            return Evaluation(image, float(np.linalg.norm(w)), None)
        if self.kernel_rows is not None and square < CANCELLED**2:
            return Evaluation(image, self.kernel_rows.norm(a), None)
        return Evaluation(image, float(np.sqrt(max(square, 0.0))), None)

    def times(self, p: FloatArray) -> FloatArray:
        """Return G p, shape (n,); one product."""
        self.products += 1.0
        return np.asarray(self.matrix @ p)

    def row_direction(self, a: FloatArray) -> FloatArray | None:
        """Return w = sum_i a_i z_i/|z_i|, shape (D,), or None where only the matrix is known; one pass."""
        if self.rows is None or self._norms is None:
            return None
        self.passes += 1.0
        return self.rows.combination(a / self._norms)

    def norm(self, a: FloatArray) -> float:
        """Return |a|_G from scratch; one product."""
        return self.evaluate(a).norm

    def column(self, j: int) -> FloatArray:
        """Return G e_j, shape (n,); 1/n of a product."""
        self.products += 1.0 / self.count
        return np.asarray(self.matrix[j].copy())

    def block(self, index: IntArray) -> FloatArray:
        """Return a new array with G for these rows and columns, shape (k, k)."""
        return np.asarray(self.matrix[np.ix_(index, index)])

    def _embedded(self) -> FloatArray:
        """Return rows whose Gram matrix is G, from its eigenvectors; eigenvalues at rounding level are left out."""
        if self._embedding is None:
            values, vectors = np.linalg.eigh(self.matrix)
            kept = values > 4.0 * np.finfo(np.float64).eps * self.count * values[-1]
            self._embedding = np.ascontiguousarray(vectors[:, kept] * np.sqrt(values[kept]))
        return self._embedding

    def features(self, index: IntArray) -> FloatArray:
        """Return vectors with f_i'f_j = G_ij to rounding, shape (k, rank)."""
        return np.asarray(self._embedded()[index])

    def image_of(self, w: FloatArray) -> FloatArray:
        """Return f_i'w for all rows, shape (n,)."""
        self.products += 0.5
        return np.asarray(self._embedded() @ w)
