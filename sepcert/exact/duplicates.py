"""Identical rows with opposite labels: the shortest witnesses, found by hashing.

A point that occurs with both labels lies on every weakly separating hyperplane.  Data with few distinct rows
(levels, small grids) have many such points; taking them all at once saves facial reduction a round for each.

The verifier groups identical rows by sorting (:mod:`sepcert.verify.identical_rows`): it trusts no hash, and sees
irregular rows too.  Here a pair that is missed costs time only.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sepcert.problem import FloatArray, IntArray
from sepcert.verify.rows import BLOCK, SignedRows


def conflicting_pairs(rows: SignedRows) -> list[tuple[int, int]]:
    """Return one pair of a positive and a negative row for each point that occurs with both labels.

    Only regular rows are compared (see :class:`sepcert.problem.Points`); two of them are equal exactly when their
    doubles are.  A pair is compared in full, so that an accident of hashing costs a pair but never invents one.

    Returns
    -------
    list of (int, int)
        0-based positions (positive, negative), by increasing positive.
    """
    points, labels = rows.problem.points, rows.problem.labels
    regular = np.arange(rows.count) if points.irregular is None else np.flatnonzero(~points.irregular)
    keys = row_hashes(points.values)[regular]
    positive, negative = regular[labels[regular] > 0], regular[labels[regular] < 0]
    first_positive = _first_of_each(keys[labels[regular] > 0], positive)
    first_negative = _first_of_each(keys[labels[regular] < 0], negative)
    _, at, other = np.intersect1d(first_positive[0], first_negative[0], assume_unique=True, return_indices=True)
    left, right = first_positive[1][at], first_negative[1][other]
    same = (points.values[left] == points.values[right]).all(axis=1)
    pairs = sorted(zip(left[same].tolist(), right[same].tolist(), strict=True))
    return [(int(i), int(j)) for i, j in pairs]


def pair_weights(pairs: list[tuple[int, int]]) -> dict[int, Fraction]:
    """Return the witness that gives every row of every pair the weight 1."""
    return {i: Fraction(1) for pair in pairs for i in pair}


def row_hashes(values: FloatArray) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each row's doubles, with -0.0 as 0.0; shape (n,)."""
    factors = np.random.default_rng(0x5E9).integers(1, 1 << 63, values.shape[1], dtype=np.uint64) * np.uint64(2)
    factors += np.uint64(1)
    hashes = np.empty(len(values), dtype=np.uint64)
    for start in range(0, len(values), BLOCK):
        words = (values[start : start + BLOCK] + 0.0).view(np.uint64)
        words ^= words >> np.uint64(29)
        hashes[start : start + BLOCK] = (words * factors).sum(axis=1, dtype=np.uint64)
    return hashes


def _first_of_each(keys: NDArray[np.uint64], rows: IntArray) -> tuple[NDArray[np.uint64], IntArray]:
    found, at = np.unique(keys, return_index=True)
    return found, rows[at]
