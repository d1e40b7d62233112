r"""Proof that D + 1 rows carry a witness, without computing it: the solution of its linear system is positive.

The system.  Let A have the D + 1 rows as its columns.  If for positive diagonal S and T the matrix
M = [S A T; 1'] is nonsingular and M x = e_{D+1} has a positive solution, then A has rank D, its kernel is spanned by
p = T x > 0, and sum p_i z_i = 0.  S and T are powers of two that balance M.

The proof in doubles (Rump, Verification methods: rigorous results using floating-point arithmetic, Acta Numerica 2010,
sec. 10).  Let m = D + 1, R any matrix, x any vector, u = 2**-53, gamma_k = k u / (1 - k u), and let every entry of M be
known up to the factor 1 +- rel.  With E = I - R M and beta >= ||E||_inf, beta < 1/2: R and M are nonsingular, and

    x* - x = (I - E)^-1 R (e - M x) = (I + E (I - E)^-1) R r,   r = e - M x,
    |x*_i - x_i| <= (|R| |r|)_i + beta / (1 - beta) max_k (|R| |r|)_k.

Each computed product of length m is off by at most gamma_m times the product of the absolute values, in any order of
summation, with or without fused multiply-add.  Hence, with P = fl(R M),

    ||E||_inf <= max_i ( sum_k |I - P|_ik + (gamma_m + rel) (|R| |M| 1)_i ),
    |r| <= |fl(e - M x)| + (gamma_{m+1} + rel) (|M| |x| + e).

All quantities on the right are sums of nonnegative terms, so computing them costs a factor of at most
1 + (m + 10) u <= 1 + 2**-22 each; three such factors and gamma's denominator are below 1 + 2**-20, which every bound
is multiplied by, and gamma_{m+4} is used.  Entries of M, R and x are zero or of size 2**-400 to 2**400: nothing
overflows, and all products and sums are multiples of 2**-904, so nothing underflows, not even where the hardware
flushes subnormals; 2**-300 is added to |r| to keep the last product in range.
"""

from __future__ import annotations

import math

import numpy as np

from sepcert.problem import FloatArray, IntArray
from sepcert.verify.rows import SignedRows
from sepcert.verify.signs import UNIT

_SMALLEST, _LARGEST = 2.0**-400, 2.0**400
_GAIN = 1 + 2.0**-20
_ARB_BITS = (128, 256)
_NO_EXPONENT = -100_000


def has_positive_solution(rows: SignedRows, support: tuple[int, ...]) -> tuple[bool, str]:
    """Say whether the system of D + 1 rows is nonsingular with a positive solution, and how that was found.

    Doubles first; where they cannot decide ball arithmetic at rising precision; then exact integers.
    """
    powers = None
    for _ in range(2):
        balanced = _balanced(rows, support, powers)
        proposal = None if balanced is None else _proposed(balanced[0])
        if balanced is None or proposal is None:
            break
        if _proved_in_doubles(balanced[0], *proposal, rows.relative_error):
            return True, "doubles with proved bounds"
        powers = balanced[1] + np.frexp(proposal[1])[1]  # next time all unknowns are of size 1
    system = _integer_system(rows, support)
    for bits in _ARB_BITS:
        answer = _proved_in_balls(system, bits)
        if answer is not None:
            return answer, f"ball arithmetic, {bits} bits"
    return _exact(system), "exact integers"


def _balanced(
    rows: SignedRows, support: tuple[int, ...], powers: IntArray | None = None
) -> tuple[FloatArray, IntArray] | None:
    """Return M and the exponents of T, or None where an entry leaves the proof's range.

    S and T balance the sizes of the entries; where `powers` is given T = 2**powers, and only S is chosen.
    """
    chosen = np.array(support, dtype=np.int64)
    irregular = rows.problem.points.irregular
    if irregular is not None and irregular[chosen].any():
        return None  # a numeral that is not zero may have been read as 0.0
    block = np.ascontiguousarray(rows.floats(chosen).T)
    nonzero = (block.view(np.int64) << 1) != 0
    sizes = np.abs(block)
    if not (nonzero.any(axis=0).all() and nonzero.any(axis=1).all()):
        return None
    if not ((sizes >= 2.0**-1022) & (sizes < math.inf))[nonzero].all():
        return None  # a subnormal decimal has no relative bound
    exponents = np.where(nonzero, np.frexp(block)[1], _NO_EXPONENT).astype(np.int64)
    left, right = np.zeros((len(block), 1), dtype=np.int64), np.zeros(len(support), dtype=np.int64)
    if powers is not None:
        right = powers.astype(np.int64)
        left = -(exponents + right).max(axis=1, keepdims=True)
    for _ in range(3 if powers is None else 0):
        left = -(exponents + right).max(axis=1, keepdims=True)
        right = -(exponents + left).max(axis=0)
    block = np.ldexp(block, left + right)
    sizes = np.abs(block)[nonzero]
    if not ((sizes >= _SMALLEST) & (sizes <= _LARGEST)).all():
        return None
    return np.vstack([block, np.ones((1, len(support)))]), right


def _clipped(values: FloatArray) -> FloatArray | None:
    """Set tiny entries of an approximation to zero; None if there are huge ones."""
    kept: FloatArray = np.where(np.abs(values) < _SMALLEST, 0.0, values)
    return kept if bool((np.abs(kept) <= _LARGEST).all()) else None


def _proposed(matrix: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return an approximate inverse R of M and an approximate solution x > 0; None if there are none in range."""
    unit = np.zeros(len(matrix))
    unit[-1] = 1.0
    with np.errstate(all="ignore"):
        try:
            inverse = _clipped(np.linalg.inv(matrix).astype(np.float64))
        except np.linalg.LinAlgError:
            return None
        if inverse is None:
            return None
        solution = inverse @ unit
        for _ in range(2):
            solution = solution + inverse @ (unit - matrix @ solution)
        solution_in_range = _clipped(solution)
    if solution_in_range is None or not (solution_in_range > 0).all():
        return None
    return inverse, solution_in_range


def _proved_in_doubles(matrix: FloatArray, inverse: FloatArray, solution: FloatArray, relative: float) -> bool:
    """Apply the bounds above to any R and x in range; `relative` is the error of the entries of M."""
    size = len(matrix)
    unit = np.zeros(size)
    unit[-1] = 1.0
    with np.errstate(all="ignore"):
        gamma = ((size + 4) * UNIT * _GAIN + relative) * _GAIN
        inverse_size, matrix_size = np.abs(inverse), np.abs(matrix)
        defect = inverse @ matrix
        defect.flat[:: size + 1] -= 1.0
        sums = np.abs(defect).sum(axis=1) + gamma * (inverse_size @ matrix_size.sum(axis=1))
        beta = float(sums.max()) * _GAIN
        if not beta < 0.5:
            return False
        residual = np.abs(unit - matrix @ solution) + gamma * (matrix_size @ np.abs(solution) + unit)
        spread = (inverse_size @ (residual * _GAIN + 2.0**-300)) * _GAIN
        error = (spread + beta / (1 - beta) * float(spread.max())) * _GAIN
    return bool((solution > error).all())


def _integer_system(rows: SignedRows, support: tuple[int, ...]) -> list[list[int]]:
    """Return the equations with integer coefficients: row i may be taken times its denominator, for p_i takes it up."""
    rows.fetch(support)
    columns = [rows.integers(i)[0] for i in support]
    equations = [list(equation) for equation in zip(*columns, strict=True)]
    divisors = [math.gcd(*equation) or 1 for equation in equations]
    reduced = [[v // g for v in equation] for equation, g in zip(equations, divisors, strict=True)]
    return [*reduced, [1] * len(support)]


def _proved_in_balls(system: list[list[int]], bits: int) -> bool | None:
    """Decide in ball arithmetic; None where this precision is not enough."""
    from flint import arb_mat, ctx

    size = len(system)
    with ctx.workprec(bits):
        try:
            solution = arb_mat(system).solve(arb_mat([[int(k == size - 1)] for k in range(size)]))
        except ZeroDivisionError:
            return None
        entries = [solution[k, 0] for k in range(size)]
        if all(entry > 0 for entry in entries):
            return True
        return False if any(entry < 0 for entry in entries) else None


def _exact(system: list[list[int]]) -> bool:
    from flint import fmpz_mat

    size = len(system)
    try:
        solution = fmpz_mat(system).solve(fmpz_mat([[int(k == size - 1)] for k in range(size)]))
    except ZeroDivisionError:
        return False
    return all(solution[k, 0] > 0 for k in range(size))
