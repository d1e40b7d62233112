r"""Search in exactly rescaled coordinates, for data that doubles cannot tell from degenerate ones.

Rows that are nearly dependent, or nearly on one hyperplane, look like a witness in double precision while the truth
is decided by digits that are lost.  Here the rows are mapped by an exact invertible matrix T and only then rounded,

    \tilde r_i = fl(T r_i),        w'r_i = (T'\tilde w)'r_i = \tilde w'(T r_i)    for w = T'\tilde w,

so that neither verdict nor witness changes.  T is found by whitening: with the singular value decomposition
U S V' of the rows that matter (in the present coordinates) the next T is S^-1 V' T, rounded to integers.  Rows that
were a hair apart are then of size one apart.  The rows that matter are those of the last min-norm point, so that the
rescaling follows the search (compare the rescaled perceptron of Dunagan and Vempala 2008).

Everything is a proposal; the exact stage judges it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from flint import fmpz_mat

from sepcert.engine.active_set import MinNormPoint, MinNormSolution
from sepcert.exact.decide import Deadline, Proposal
from sepcert.exact.face import Face
from sepcert.problem import FloatArray, IntArray

ROUNDS = 30
_BITS = 60
_SMALLEST = 2.0**-70
_WELL_SCALED = 2.0**-20


class _Coordinates:
    """The exact matrix T of a face, and rows in its coordinates."""

    def __init__(self, face: Face) -> None:
        self.face = face
        size = face.dimension
        self.matrix = fmpz_mat([[int(j == k) for k in range(size)] for j in range(size)])

    def rows(self, index: Sequence[int]) -> FloatArray:
        """Return the rows T r_i, each of length one, rounded after the exact product; shape (m, q)."""
        self.face.rows.fetch(index)
        exact = fmpz_mat([self.face.reduced(i) for i in index]) * self.matrix.transpose()
        rows = np.array([_rounded([int(v) for v in row]) for row in exact.tolist()])
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        return np.asarray(rows / np.where(lengths > 0, lengths, 1.0)[:, None])

    def whiten(self, rows: FloatArray) -> bool:
        """Make the given rows of equal spread in all directions; False: they are already, or do not fill the space."""
        if len(rows) < rows.shape[1]:
            return False
        _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
        if not 0.0 < sizes[0] < np.inf or sizes[-1] > _WELL_SCALED * sizes[0]:
            return False
        scaled = directions / np.maximum(sizes, _SMALLEST * sizes[0])[:, None]
        largest = np.abs(scaled).max(axis=1)
        powers = _BITS - np.frexp(largest)[1].min()
        whole = [[_whole(v, int(powers)) for v in row] for row in scaled.tolist()]
        self.matrix = fmpz_mat(whole) * self.matrix
        return True

    def direction(self, weights: FloatArray) -> list[int]:
        """Return T'w as integers in the coordinates of the face, for weights in the present coordinates."""
        powers = _BITS - int(np.frexp(np.abs(weights).max())[1])
        whole = fmpz_mat([[_whole(v, powers) for v in weights.tolist()]])
        return [int(v) for v in (whole * self.matrix).tolist()[0]]


def _whole(value: float, power: int) -> int:
    """Return value * 2**power rounded to an integer."""
    numerator, denominator = value.as_integer_ratio()
    return (numerator << power) // denominator if power >= 0 else (numerator // denominator) >> -power


def _rounded(row: list[int]) -> list[float]:
    """Return the integers of a row over a common power of two, as doubles."""
    shift = max((abs(v).bit_length() for v in row), default=0) - 900
    return [float(v >> shift) for v in row] if shift > 0 else [float(v) for v in row]


def rescaled_proposals(face: Face, hints: Sequence[int], seed: int, deadline: Deadline) -> Iterator[Proposal]:
    """Propose separators and supports from rescaled coordinates.

    Parameters
    ----------
    face : Face
    hints : sequence of int
        Rows that mattered so far.
    seed : int
        Of the sample that joins them.
    deadline : Deadline
    """
    working = _first_working_set(face, hints, seed)
    coordinates = _Coordinates(face)
    coordinates.whiten(coordinates.rows(working))
    batch = 2 * face.dimension + 50
    for _ in range(ROUNDS):
        if deadline.passed():
            return
        rows = coordinates.rows(working)
        solution = MinNormPoint(rows).solve()
        support = tuple(working[k] for k in solution.support.tolist())
        if not _separates(solution):
            yield Proposal(None, support)
            if not coordinates.whiten(rows[solution.support]):
                return
            continue
        weights = coordinates.direction(solution.point / solution.norm)
        found = face.violators(face.lift(weights))
        if not len(found):
            yield Proposal(None, support, exact=tuple(weights))
            return
        known = set(working)
        new = [i for i in found[:batch].tolist() if i not in known]
        if not new and not coordinates.whiten(rows[solution.support]):
            return
        working += new


def _separates(solution: MinNormSolution) -> bool:
    return solution.separates and solution.norm > 1e3 * solution.rounding


def _first_working_set(face: Face, hints: Sequence[int], seed: int) -> list[int]:
    wanted = 4 * face.dimension + 50
    members: IntArray = face.members
    if len(members) <= wanted:
        return [int(i) for i in members]
    sample = np.random.default_rng(seed).choice(members, wanted, replace=False)
    return list(dict.fromkeys([*hints, *sample.tolist()]))
