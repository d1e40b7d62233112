r"""Kernel values with proved errors, in doubles, for all pairs of two sets of points; nothing of size n x n is held.

The rules and their proofs are in :mod:`sepcert.verify.kernel_rules`; here they are applied in blocks, a bias is added,
and expansions are summed.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from sepcert.kernels.base import Kernel
from sepcert.problem import FloatArray
from sepcert.verify.kernel_points import BLOCK, GAIN, TINY, UNIT, Pairs, PointRows
from sepcert.verify.kernel_rules import Enclosure, enclosed

NOTHING = Fraction(0)


def enclose(kernel: Kernel, left: PointRows, right: PointRows, shift: Fraction = NOTHING) -> Enclosure:
    """Enclose K(x, z) + shift for all pairs.

    Parameters
    ----------
    kernel : Kernel
    left, right : PointRows
        m and k points.
    shift : Fraction
        b0**2 where there is a bias, else 0.

    Returns
    -------
    values, errors : ndarray of float64, shape (m, k)
        |values - (K + shift)| <= errors; inf where doubles overflow.
    """
    values, errors = np.empty((left.count, right.count)), np.empty((left.count, right.count))
    other = right.side()
    step = max(1, BLOCK // max(1, right.count))
    for start in range(0, left.count, step):
        pairs = Pairs(left.part(start, start + step).side(), other, crossed=True)
        values[start : start + step], errors[start : start + step] = _enclosed(kernel, pairs, shift)
    return values, errors


def enclose_pairs(kernel: Kernel, left: PointRows, right: PointRows, shift: Fraction = NOTHING) -> Enclosure:
    """Enclose K(x_i, z_i) + shift for m pairs of points; arrays of shape (m,).  Otherwise as :func:`enclose`."""
    parts = [
        _enclosed(kernel, Pairs(left.part(at, at + BLOCK).side(), right.part(at, at + BLOCK).side(), False), shift)
        for at in range(0, left.count, BLOCK)
    ]
    return _joined(parts)


def enclose_diagonal(kernel: Kernel, rows: PointRows, shift: Fraction = NOTHING) -> Enclosure:
    """Enclose K(x_i, x_i) + shift; arrays of shape (m,).  Exact for kernels that are 1 there, up to the shift."""
    parts: list[Enclosure] = []
    for at in range(0, rows.count, BLOCK):
        side = rows.part(at, at + BLOCK).side()
        parts.append(_enclosed(kernel, Pairs(side, side, False), shift))
    return _joined(parts)


def _joined(parts: list[Enclosure]) -> Enclosure:
    if not parts:
        return np.empty(0), np.empty(0)
    return np.concatenate([v for v, _ in parts]), np.concatenate([e for _, e in parts])


def enclose_expansion(
    kernel: Kernel,
    left: PointRows,
    right: PointRows,
    coefficients: FloatArray,
    radii: FloatArray | None = None,
    shift: Fraction = NOTHING,
) -> Enclosure:
    """Enclose sum_j c_j (K(x_i, z_j) + shift) for all exact c with |c_j - coefficients_j| <= radii_j.

    Parameters
    ----------
    kernel : Kernel
    left, right : PointRows
        m and k points.
    coefficients, radii : ndarray of float64, shape (k,)
        Finite; no radii mean that the coefficients are exact.
    shift : Fraction
        b0**2 where there is a bias, else 0.

    Returns
    -------
    values, errors : ndarray of float64, shape (m,)

    Notes
    -----
    With v_j off by e_j and g = (k + 2) u, a product of length k is off by at most sum_j |c_j| (e_j + g |v_j|) +
    r_j (|v_j| + e_j), and by what underflows; all terms of the bound are nonnegative, so that computing it costs less
    than the factor 1 + 2**-20.  Coefficients below 2**-1000 count as radii.
    """
    coefficients, radii = _normal(coefficients, radii)
    sizes = np.abs(coefficients)
    gain = (right.count + 2) * UNIT * GAIN
    with np.errstate(over="ignore"):
        floor = 2.0**-960 * (right.count + 1 + float(sizes.sum()) + (0.0 if radii is None else float(radii.sum())))
    values, errors = np.empty(left.count), np.empty(left.count)
    other = right.side()
    step = max(1, BLOCK // max(1, right.count))
    for start in range(0, left.count, step):
        pairs = Pairs(left.part(start, start + step).side(), other, crossed=True)
        block, spread = _enclosed(kernel, pairs, shift)
        at = slice(start, start + step)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            values[at] = block @ coefficients
            np.abs(block, out=block)
            reach = 0.0 if radii is None else block @ radii + spread @ radii
            block *= gain
            spread += block
            errors[at] = (spread @ sizes + reach) * GAIN + floor
    return _known(values, errors)


def _normal(coefficients: FloatArray, radii: FloatArray | None) -> tuple[FloatArray, FloatArray | None]:
    """Move tiny coefficients, which the hardware may take for zero, into the radii."""
    tiny = (np.abs(coefficients) < TINY) & (coefficients.view(np.int64) << 1 != 0)
    if radii is not None:
        radii = np.where((radii < TINY) & (radii.view(np.int64) != 0), TINY, radii)
    if not tiny.any():
        return coefficients, radii
    spread = np.where(tiny, TINY, 0.0)
    return np.where(tiny, 0.0, coefficients), spread if radii is None else radii + spread


def _enclosed(kernel: Kernel, pairs: Pairs, shift: Fraction) -> Enclosure:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        values, errors = enclosed(kernel, pairs)
        if shift:
            constant = _nearest(shift)
            values = values + constant
            errors = (errors + np.abs(values) * UNIT + constant * UNIT) * GAIN + TINY
        return _known(values, errors)


def _known(values: FloatArray, errors: FloatArray) -> Enclosure:
    """Turn what has overflowed into 0 with the error inf."""
    unknown = ~(np.isfinite(values) & np.isfinite(errors))
    if unknown.any():
        values[unknown] = 0.0
        errors[unknown] = np.inf
    return values, errors


def _nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf
