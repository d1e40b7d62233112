"""Linear programs by HiGHS; what it says is a proposal."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from sepcert.exact.decide import Deadline
from sepcert.problem import FloatArray

LARGEST_EXPONENT = 60
"""Columns are scaled by powers of two of at most this size."""


def cheapest_cover(
    costs: FloatArray, matrix: FloatArray, right: FloatArray, deadline: Deadline
) -> tuple[FloatArray, FloatArray] | None:
    """Minimise costs'x subject to matrix @ x >= right and x >= 0.

    Parameters
    ----------
    costs : ndarray, shape (k,)
    matrix : ndarray, shape (m, k)
    right : ndarray, shape (m,)
    deadline : Deadline

    Returns
    -------
    x : ndarray, shape (k,)
    prices : ndarray, shape (m,)
        Nonnegative multipliers of the inequalities.  None in place of both where there is no optimum, or not in time.
    """
    found = _solved(deadline, costs, A_ub=-matrix, b_ub=-right)
    if found is None:
        return None
    return _finite(np.asarray(found.x), np.maximum(-np.asarray(found.ineqlin.marginals), 0.0))


def cheapest_combination(
    costs: FloatArray, vectors: FloatArray, target: FloatArray, deadline: Deadline
) -> tuple[FloatArray, FloatArray] | None:
    """Minimise costs'q subject to sum_i q_i vectors_i = target and q >= 0.

    Parameters
    ----------
    costs : ndarray, shape (m,)
    vectors : ndarray, shape (m, k)
    target : ndarray, shape (k,)
    deadline : Deadline

    Returns
    -------
    q : ndarray, shape (m,)
    prices : ndarray, shape (k,)
        y with vectors @ y <= costs and target'y = costs'q.  None in place of both as above.
    """
    found = _solved(deadline, costs, A_eq=vectors.T, b_eq=target)
    if found is None:
        return None
    return _finite(np.maximum(np.asarray(found.x), 0.0), np.asarray(found.eqlin.marginals))


def _solved(deadline: Deadline, costs: FloatArray, **constraints: FloatArray) -> Any:
    """Return HiGHS's answer, None where it is not an optimum; without presolve, which costs more than it saves."""
    import scipy.optimize

    if deadline.passed():
        return None
    options: dict[str, Any] = {"presolve": False}
    if deadline.at is not None:
        options["time_limit"] = max(deadline.at - time.monotonic(), 1e-3)
    solve: Any = scipy.optimize.linprog
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = solve(costs, bounds=(0, None), method="highs", options=options, **constraints)
    return found if found.status == 0 else None


def _finite(one: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    return (one, other) if np.isfinite(one).all() and np.isfinite(other).all() else None


def column_scale(matrix: FloatArray) -> FloatArray:
    """Return powers of two that bring the largest entry of each column near 1 (HiGHS drops entries below 1e-9)."""
    sizes = np.abs(matrix).max(axis=0, initial=0.0)
    exponents = np.zeros(matrix.shape[1], dtype=np.int64)
    usable = (sizes > 0) & np.isfinite(sizes)
    exponents[usable] = -np.frexp(sizes[usable])[1]
    return np.asarray(np.ldexp(1.0, np.clip(exponents, -LARGEST_EXPONENT, LARGEST_EXPONENT)))
