"""Distances of points in doubles, without a proved error; for the engine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_BLOCK = 1 << 15
_CANCELLED = 2.0**-10


def squared_distances(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return |x - z|**2 for all pairs, shape (m, k), with about 13 right digits.

    Parameters
    ----------
    left : ndarray of float64, shape (m, d)
    right : ndarray of float64, shape (k, d)

    Notes
    -----
    |x|**2 + |z|**2 - 2 x'z after centring, by one matrix product; where that cancels or overflows, by differences.
    """
    if not len(left) or not len(right):
        return np.zeros((len(left), len(right)))
    with np.errstate(over="ignore", invalid="ignore"):
        centre = right.mean(axis=0)
        a, b = left - centre, right - centre
        found = np.asarray(a @ b.T)
        found *= -2.0
        here, there = np.einsum("ij,ij->i", a, a), np.einsum("ij,ij->i", b, b)
        for start in range(0, len(left), max(1, _BLOCK // len(right))):
            rows = slice(start, start + max(1, _BLOCK // len(right)))
            sizes = here[rows, None] + there
            block = found[rows]
            block += sizes
            sizes *= _CANCELLED
            i, j = np.nonzero(~(block > sizes) | ~np.isfinite(block))
            for at in range(0, len(i), _BLOCK):
                some, others = i[at : at + _BLOCK], j[at : at + _BLOCK]
                difference = left[rows][some] - right[others]
                block[some, others] = np.einsum("ij,ij->i", difference, difference)
    return found


def absolute_distances(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return |x - z|_1 for all pairs, shape (m, k)."""
    found = np.zeros((len(left), len(right)))
    step = max(1, _BLOCK // max(1, len(right)))
    columns = np.ascontiguousarray(right.T)
    with np.errstate(over="ignore"):
        for start in range(0, len(left), step):
            block = found[start : start + step]
            for x, z in zip(left[start : start + step].T, columns, strict=True):
                difference = x[:, None] - z
                block += np.abs(difference, out=difference)
    return found


def decaying(exponents: FloatArray) -> FloatArray:
    """Return exp(-s) in place of s >= 0."""
    with np.errstate(under="ignore"):
        np.negative(exponents, out=exponents)
        return np.asarray(np.exp(exponents, out=exponents))


def blockwise(function: Callable[[FloatArray], None], values: FloatArray) -> FloatArray:
    """Apply a function that works in place to blocks of rows, so that its temporaries stay small."""
    step = max(1, _BLOCK // max(1, values.shape[1]))
    for start in range(0, len(values), step):
        function(values[start : start + step])
    return values
