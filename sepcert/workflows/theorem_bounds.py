"""The theorems' bounds on a problem, from margins that separators prove.

Every bound falls as the margin grows, so that a lower end of the margin gives a bound that holds, if not the best one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf, isfinite

import numpy as np

from sepcert.certificate.model import Separator
from sepcert.engine.bounds import BoundInputs
from sepcert.engine.registry import Entry
from sepcert.engine.rows import BLOCK_ENTRIES, FloatRows
from sepcert.problem import FloatArray

_UNIT = 2.0**-53


@dataclass(frozen=True, eq=False)
class RowSizes:
    """|z_i| in two norms, shape (n,) each."""

    euclidean: FloatArray
    largest_entry: FloatArray

    @classmethod
    def of(cls, rows: FloatRows) -> RowSizes:
        """Measure the rows; two passes."""
        entries = np.full(rows.count, rows.bias)
        step = max(1, BLOCK_ENTRIES // max(1, rows.points.shape[1]))
        for start in range(0, rows.count, step):
            block = np.abs(rows.points[start : start + step]).max(axis=1, initial=rows.bias)
            entries[start : start + step] = block
        with np.errstate(all="ignore"):
            return cls(rows.norms(), entries)


def bound_inputs(
    rows: FloatRows,
    sizes: RowSizes,
    margin: float | None,
    separators: Iterable[Separator],
    epsilon: float | None,
) -> BoundInputs:
    """Return what the bounds need.

    Parameters
    ----------
    rows : FloatRows
    sizes : RowSizes
    margin : float or None
        The best proved lower end of the normalised margin; None: there is none.
    separators : iterable of Separator
        Proved ones; the best gives each of the other margins a lower end.
    epsilon : float or None
        The target for |p|_G.
    """
    raw = l1 = 0.0
    for separator in separators:
        w = _direction(rows, separator)
        products = rows.products(w)
        slack = 4.0 * (rows.dimension + 4) * _UNIT
        raw = max(raw, _least(products - slack * sizes.euclidean * float(np.linalg.norm(w)), float(np.linalg.norm(w))))
        least = (products - slack * sizes.largest_entry * float(np.abs(w).sum())) / sizes.largest_entry
        l1 = max(l1, _least(least, float(np.abs(w).sum())))
    return BoundInputs(
        rows=rows.count,
        margin=margin or 0.0,
        epsilon=epsilon or 0.0,
        raw_margin=raw,
        largest_norm=float(sizes.euclidean.max()) * (1.0 + 4.0 * (rows.dimension + 4) * _UNIT),
        features=2 * rows.dimension,
        l1_margin=l1,
    )


def _least(products: FloatArray, norm: float) -> float:
    value = float(products.min()) / norm * (1.0 - 1e-12) if norm > 0.0 else 0.0
    return value if isfinite(value) and value > 0.0 else 0.0


def _direction(rows: FloatRows, separator: Separator) -> FloatArray:
    if separator.weights is not None:
        largest = max((abs(v) for v in separator.weights), default=0)
        return np.array([float(v / largest) if largest else 0.0 for v in separator.weights])
    alpha = np.zeros(rows.count)
    alpha[list(separator.alpha.rows)] = [float(v) for v in separator.alpha.values]
    return rows.combination(alpha)


def bound_of(entry: Entry, given: BoundInputs) -> float | None:
    """Return the theorem's bound on what the algorithm counts; None where there is none, or nothing is known."""
    if entry.bound is None:
        return None
    bound = entry.bound(replace(given, gamma=getattr(entry.options(), "gamma", given.gamma)))
    return bound if bound < inf else None
