"""Euclidean projection onto the simplex."""

from __future__ import annotations

import numpy as np

from sepcert.problem import FloatArray


def project_onto_simplex(v: FloatArray) -> FloatArray:
    """Return the point of the simplex nearest to v.

    The projection is max(v - t, 0) for the one t that makes the sum 1.  Entries that a too small t would make
    negative are left out, which raises t, until none is: finitely many rounds, few in practice, and no sorting.

    Parameters
    ----------
    v : ndarray, shape (n,), finite, n >= 1

    Returns
    -------
    ndarray, shape (n,)
        Nonnegative, sum 1 to rounding.

    References
    ----------
    C. Michelot, A finite algorithm for finding the projection of a point onto the canonical simplex of R^n,
    Journal of Optimization Theory and Applications 50 (1986).
    """
    shifted = v - v.max()
    positive = shifted[shifted > -1.0]
    while True:
        threshold = (positive.sum() - 1.0) / len(positive)
        kept = positive[positive > threshold]
        if len(kept) == len(positive):
            return np.asarray(np.maximum(shifted - threshold, 0.0))
        positive = kept
