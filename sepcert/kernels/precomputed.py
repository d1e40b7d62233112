"""A kernel that is given as a matrix: K(i, j) for rows i and j of the data."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sepcert.errors import KernelError, Place, register
from sepcert.kernels.base import Kernel

MATRIX = register("KERNEL-MATRIX", "The matrix of a precomputed kernel cannot be read, or cannot be a kernel matrix.")
INDEFINITE = register("KERNEL-INDEFINITE", "The kernel, or its matrix, is not positive semidefinite.")

_SYMMETRY = 1e-6
_ROUNDING = 16.0
_LARGEST_INTEGER = 2**53


def read_matrix(path: str) -> NDArray[np.float64]:
    """Return the matrix of an NPY file as doubles; pickles are never loaded.

    Raises
    ------
    KernelError
        The file cannot be read, or does not hold a matrix of real numbers that doubles represent.
    """
    place = Place(path)
    try:
        with Path(path).open("rb") as stream:
            array = np.lib.format.read_array(stream, allow_pickle=False)
    except OSError as error:
        raise KernelError(
            MATRIX, f"cannot read the matrix: {error.strerror or error}", place=place, advice="check the path"
        ) from None
    except (ValueError, EOFError, SyntaxError, OverflowError, MemoryError):
        raise KernelError(
            MATRIX, "the file is not an NPY file of numbers", place=place, advice="save it with numpy.save(path, K)"
        ) from None
    return _doubles(array, place)


def _doubles(array: NDArray[Any], place: Place | None) -> NDArray[np.float64]:
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise KernelError(MATRIX, f"the matrix holds {array.dtype}, not real numbers of up to 64 bits", place=place)
    found = np.ascontiguousarray(array, dtype=np.float64)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and (np.abs(found) >= _LARGEST_INTEGER).any():
        raise KernelError(
            MATRIX,
            "the matrix holds integers above 2**53, which doubles do not represent",
            place=place,
            advice="divide it by a power of two",
        )
    return found


def _mirrored(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the symmetric matrix with the same entries on and above the diagonal."""
    upper = np.triu(matrix)
    upper += np.triu(matrix, 1).T
    return upper


@dataclass(frozen=True, eq=False)
class PrecomputedKernel(Kernel):
    """K(i, j) from a matrix that is given; every claim is about the matrix, whatever it was computed from.

    Its points are row numbers: a table of one column, which holds 0-based rows of the matrix; see :meth:`points`.

    Attributes
    ----------
    matrix : ndarray of float64, shape (n, n)
        As a specification the path of an NPY file, or an array.  Its entries are exact as they are stored.  The
        entries on and above the diagonal count, and those below are replaced by them; both may differ by rounding
        only.
    path : str or None
        The file it was read from.

    Raises
    ------
    KernelError
        Not square, not finite, not symmetric, a diagonal that is not positive, or clearly indefinite (the message
        tells the eigenvalue of the matrix scaled to unit diagonal).
    """

    name: ClassVar[str] = "precomputed"

    matrix: NDArray[np.float64] = field(repr=False)
    path: str | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        given: object = self.matrix
        rounding = 2.0**-52
        if isinstance(given, str | Path):
            object.__setattr__(self, "path", str(given))
            matrix = read_matrix(str(given))
        else:
            array = np.asarray(given)
            matrix = _doubles(array, None)
        with np.errstate(all="ignore"):
            if bool((matrix.astype(np.float32) == matrix).all()):
                rounding = 2.0**-23
        matrix = self._checked(matrix, rounding)
        matrix.setflags(write=False)
        object.__setattr__(self, "matrix", matrix)

    def _fail(self, code: str, message: str, advice: str) -> KernelError:
        return KernelError(code, message, place=None if self.path is None else Place(self.path), advice=advice)

    def _checked(self, matrix: NDArray[np.float64], rounding: float) -> NDArray[np.float64]:
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
            raise self._fail(MATRIX, f"the matrix has shape {matrix.shape}, not (n, n)", "save K[i, j] for all rows")
        if not np.isfinite(matrix).all():
            i, j = np.argwhere(~np.isfinite(matrix))[0].tolist()
            raise self._fail(MATRIX, f"K[{i + 1}, {j + 1}] is {matrix[i, j]}", "a kernel matrix is finite")
        diagonal = np.diagonal(matrix)
        bad = np.flatnonzero(~(diagonal > 0.0))
        if len(bad):
            i = int(bad[0])
            raise self._fail(
                MATRIX,
                f"K[{i + 1}, {i + 1}] is {diagonal[i]} ({len(bad)} such in all), and the diagonal must be positive",
                "leave these rows out, or add b0**2 to all entries for a bias",
            )
        roots = np.sqrt(diagonal)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            scaled = matrix / roots[:, None] / roots
            apart = np.abs(scaled - scaled.T)
        if not apart.max() <= _SYMMETRY:
            i, j = np.unravel_index(int(np.nanargmax(apart)), apart.shape)
            raise self._fail(
                MATRIX,
                f"the matrix is not symmetric: K[{i + 1}, {j + 1}] = {matrix[i, j]}, "
                f"K[{j + 1}, {i + 1}] = {matrix[j, i]}",
                "is it a kernel matrix of one set of rows?",
            )
        self._require_semidefinite(_mirrored(scaled), rounding)
        return _mirrored(matrix)

    def _require_semidefinite(self, scaled: NDArray[np.float64], rounding: float) -> None:
        """Refuse a symmetric matrix of unit diagonal that has an eigenvalue below -16 n rounding."""
        allowed = _ROUNDING * len(scaled) * rounding
        shifted = scaled.copy()
        shifted[np.diag_indices(len(scaled))] += allowed
        try:
            np.linalg.cholesky(shifted)
        except np.linalg.LinAlgError:
            smallest = float(np.linalg.eigvalsh(scaled)[0])
            if smallest < -allowed:
                raise self._fail(
                    INDEFINITE,
                    "the matrix is not positive semidefinite: scaled to unit diagonal, it has the eigenvalue "
                    f"{smallest:.3g}",
                    "use a positive semidefinite kernel",
                ) from None

    @property
    def rational(self) -> bool:
        """Always: the entries are doubles, and n features are enough."""
        return True

    @property
    def strictly_positive_definite(self) -> bool:
        """Never said: nothing is known but the matrix."""
        return False

    @property
    def positive_diagonal(self) -> bool:
        """Always: it is checked."""
        return True

    @cached_property
    def sha256(self) -> str:
        """The fingerprint of the matrix: n as eight bytes, then the entries row by row, little-endian."""
        digest = hashlib.sha256(len(self.matrix).to_bytes(8, "little"))
        digest.update(np.ascontiguousarray(self.matrix, dtype="<f8").data)
        return digest.hexdigest()

    def parameters(self) -> dict[str, str]:
        """Return the fingerprint; the matrix itself is not part of a certificate."""
        return {"sha256": self.sha256}

    def require_size(self, rows: int) -> None:
        """Refuse data with another number of rows.

        Raises
        ------
        KernelError
        """
        if len(self.matrix) != rows:
            raise self._fail(
                MATRIX,
                f"the matrix is {len(self.matrix)} x {len(self.matrix)}, and the data have {rows} rows",
                "one row and column for each data row, in the same order",
            )

    @staticmethod
    def points(rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the points that stand for these rows of the matrix (0-based), shape (m, 1)."""
        return rows.astype(np.float64)[:, None]

    def index(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the rows of the matrix that the points stand for, shape (m,).

        Raises
        ------
        KernelError
            Some point is no row number.
        """
        numbers = points[:, 0] if points.shape[1] == 1 else np.full(len(points), -1.0)
        within = (numbers >= 0.0) & (numbers < len(self.matrix)) & (np.rint(numbers) == numbers)
        if not within.all():
            raise self._fail(MATRIX, "the points are not row numbers of the matrix", "the matrix is all that is known")
        return np.asarray(numbers.astype(np.int64))

    def values(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the entries of the matrix, shape (m, k)."""
        return np.asarray(self.matrix[np.ix_(self.index(left), self.index(right))])

    def diagonal(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return diagonal entries of the matrix, shape (m,)."""
        rows = self.index(points)
        return np.asarray(self.matrix[rows, rows])
