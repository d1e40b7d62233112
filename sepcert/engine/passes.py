"""Passes over the rows in memory: products with a vector, the worst rows, positivity; passes are counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sepcert.engine.rows import FloatRows
from sepcert.problem import FloatArray, IntArray

BLOCK_BYTES = 1 << 21
"""Bytes of data in one block: its products are still in the cache when they are looked at."""


@dataclass(frozen=True, eq=False)
class Pass:
    """What one pass over the rows saw.

    Attributes
    ----------
    products : ndarray, shape (n,)
        z_i'w; divided by |z_i| where norms were given.
    least : float
        The smallest of them.
    not_positive : int
        How many are <= 0 (or not a number).
    """

    products: FloatArray
    least: float
    not_positive: int

    @property
    def all_positive(self) -> bool:
        """Whether w separates all rows, in doubles."""
        return self.not_positive == 0

    def worst(self, count: int, below: float = 0.0) -> IntArray:
        """Return the indices of the rows with the least products, at most `count`, the worst first.

        Parameters
        ----------
        count : int
        below : float
            Only rows with products <= this are returned.
        """
        return worst_rows(self.products, count, below)


def worst_rows(products: FloatArray, count: int, below: float) -> IntArray:
    """Return the indices of the at most `count` least products that are <= `below`, the least first."""
    found = np.flatnonzero(products <= below)
    if count <= 0:
        return found[:0]
    if len(found) > count:
        found = found[np.argpartition(products[found], count - 1)[:count]]
    return found[np.argsort(products[found], kind="stable")]


class RowPasses:
    """Passes over rows in memory, block by block.

    Parameters
    ----------
    rows : FloatRows
    norms : ndarray, shape (n,), optional
        |z_i|, to look at products of normalised rows.

    Attributes
    ----------
    count : int
        Passes made so far.
    """

    def __init__(self, rows: FloatRows, norms: FloatArray | None = None) -> None:
        self.rows = rows
        self.norms = norms
        self.count = 0

    def over(self, w: FloatArray) -> Pass:
        """Make one pass with w, shape (D,)."""
        self.count += 1
        n = self.rows.count
        products = np.empty(n)
        step = max(1, BLOCK_BYTES // (8 * max(1, self.rows.dimension)))
        least, positive = np.inf, 0
        for start in range(0, n, step):
            stop = min(n, start + step)
            block = self.rows.between(start, stop).products(w)
            if self.norms is not None:
                block /= self.norms[start:stop]
            products[start:stop] = block
            least = min(least, float(block.min()))
            positive += int(np.count_nonzero(block > 0.0))
        return Pass(products, least, n - positive)
