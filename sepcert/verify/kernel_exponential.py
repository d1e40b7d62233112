r"""exp(-s) in doubles with a proved relative error, from basic operations of IEEE 754 only.

Every operation below is one correctly rounded +, - or x, a rounding to an integer, or work on integers.  NumPy computes
them one at a time, so nothing is fused; if a compiler fused a product with a sum it would drop one of the roundings.

Theorem.  For 0 <= s <= 705 the result E satisfies |E - exp(-s)| <= 3 u exp(-s), u = 2**-53, and E = 1 for s = 0.

Proof.  *Reduction.*  ln 2 = HI + LO + d: HI has 42 significant bits and is a multiple of 2**-42, |LO| < 2**-44,
|d| < 2**-101.  k is the integer nearest to fl(s C), C the double nearest to 1/ln 2, so k <= 1018 < 2**10 and
|s - k ln 2| <= (1/2 + 2**-40) ln 2 < 0.34658.  k HI has at most 52 bits and is exact.  So is k HI - s: for k = 0 it is
-s; for k > 0, s > 0.34 is a multiple of 2**-54 as k HI is, and the difference is below 1/2 in size, so it has 53
bits.  Adding fl(k LO), which is off by at most u 2**-34 + k |d| < u 2**-33, gives

    r = (k ln 2 - s) + e,    |e| <= u |r| + u 2**-33 (1 + u),    |r| <= R = 0.3466.

*Polynomial.*  P(r) = sum_{j<=13} r**j / j! differs from exp(r) by at most R**14/14! exp(R), relative to exp(r) >=
exp(-R) less than R**14/14! exp(2R) < 1e-17 < 0.1 u.

*Horner's rule.*  Let q_13 = c_13 and q_j = c_j + r q_{j+1}, c_j = fl(1/j!), where c_0, c_1, c_2 are exact and the
others are off by at most u c_j.  With E_j the error of the computed q_j, each step adds one product and one sum:

    E_j <= u |q_j| + |r| (u |q_{j+1}| + E_{j+1}) (1 + u) + [j >= 3] u c_j,
    E_0 <= u ( |q_0| + 2 |r| |q_1| + 2 r**2 |q_2| + sum_{j>=3} (2 |q_j| + c_j) |r|**j ) (1 + 30 u).

Up to the remainder q_0 = exp(r), r q_1 = exp(r) - 1 and r**2 q_2 = exp(r) - 1 - r; and |q_j| <= c_j/(1 - R/4) < 1.1 c_j
for j >= 3.  Divided by exp(r), with x = |r|, the terms of the bracket are

    r = -x:   1 + 2 (exp(x) - 1)  + 2 (1 - (1 - x) exp(x))  + 3.2 (x**3/6 + x**4/24 + ...) exp(x),
    r = +x:   1 + 2 (1 - exp(-x)) + 2 (1 - (1 + x) exp(-x)) + 3.2 (x**3/6 + x**4/24 + ...) exp(-x);

the second and third terms grow with x, and so does the last for x < 3.  At x = R the sums are below
1 + 0.8286 + 0.1520 + 0.0345 = 2.0151 and 1 + 0.5859 + 0.0958 + 0.0172 = 1.6989.

*Together*: 2.02 u (Horner) + 0.1 u (remainder) + 0.3466 u (argument), and terms of second order: less than 2.5 u.
The last product, with 2**-k, is exact: the result is at least 0.7 * 2**-1018, a normal number.  Flushing subnormals
to zero changes nothing: r is -s, or a multiple of 2**-97; a product with r below 2**-1022 is added to a c_j, j <= 12;
for k = 0 and s subnormal r may count as 0, and 1 is then as good.  The bound that is used is 3 u.
"""

from __future__ import annotations

import math

import numpy as np

from sepcert.problem import FloatArray

EXPONENTIAL_UNITS = 3
"""The relative error in units of 2**-53."""
LARGEST_EXPONENT = 705.0

_HIGH = float.fromhex("0x1.62e42fefa3800p-1")
_LOW = float.fromhex("0x1.ef35793c76730p-45")
_PER_LN2 = float.fromhex("0x1.71547652b82fep+0")
_COEFFICIENTS = [1.0 / math.factorial(j) for j in range(14)]


def exponential(s: FloatArray) -> FloatArray:
    """Return exp(-s), off by at most 3 u exp(-s).

    Parameters
    ----------
    s : ndarray of float64, any shape
        Each entry between 0 and 705.

    Returns
    -------
    ndarray of float64, the same shape
    """
    k = s * _PER_LN2
    np.rint(k, out=k)
    r = k * _HIGH
    r -= s
    low = k * _LOW
    r += low
    result = np.multiply(r, _COEFFICIENTS[13], out=low)
    for coefficient in _COEFFICIENTS[12:0:-1]:
        result += coefficient
        result *= r
    result += 1.0
    power = k.astype(np.int64)
    np.subtract(1023, power, out=power)
    np.left_shift(power, 52, out=power)
    result *= power.view(np.float64)
    return result
