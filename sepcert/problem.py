"""The statement that is certified: labelled points, a kernel, a bias and a reading of the numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sepcert.kernels.base import Kernel
from sepcert.kernels.linear import LinearKernel
from sepcert.status import Numbers

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
SignArray = NDArray[np.int8]
BoolArray = NDArray[np.bool_]

_EXACT_INTEGERS = 1e15


def exact_value(x: float, numbers: Numbers) -> Fraction:
    """Return the rational number that a regular entry stands for.

    Parameters
    ----------
    x : float
        A finite double.
    numbers : Numbers
        DECIMAL: the shortest decimal that rounds to `x`, which is the numeral itself whenever that has at most
        15 significant digits.  BINARY64: the double.
    """
    if numbers is Numbers.BINARY64 or (abs(x) < _EXACT_INTEGERS and x.is_integer()):
        return Fraction(x)
    return Fraction(Decimal(repr(x)))


@dataclass(frozen=True, eq=False)
class Points:
    """A table of exactly known numbers, held as the nearest doubles.

    Attributes
    ----------
    values : ndarray of float64, shape (n, d), C order, finite
        Each entry is the double nearest to the exact value.
    numbers : Numbers
        The rule that gives the exact value of a regular entry; see :func:`exact_value`.
    irregular : ndarray of bool, shape (n,), or None
        Rows with an entry that the rule does not give (numerals of more than 15 significant digits, integers
        above 2**53).  None: there are none.
    exact_source : callable, or None
        Given row indices (0-based), the exact values of those whole rows.  Needed where `irregular` is not None.
    """

    values: FloatArray
    numbers: Numbers
    irregular: BoolArray | None = None
    exact_source: Callable[[Sequence[int]], list[list[Fraction]]] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows n and of columns d."""
        n, d = self.values.shape
        return n, d

    def exact_rows(self, rows: Sequence[int]) -> list[list[Fraction]]:
        """Return the exact entries of the given rows (0-based indices)."""
        found: dict[int, list[Fraction]] = {}
        if self.irregular is not None and self.exact_source is not None:
            odd = sorted({int(i) for i in rows if self.irregular[i]})
            if odd:
                found = dict(zip(odd, self.exact_source(odd), strict=True))
        for i in rows:
            if i not in found:
                found[i] = [exact_value(x, self.numbers) for x in self.values[i].tolist()]
        return [found[i] for i in rows]


@dataclass(frozen=True, eq=False)
class Problem:
    """What is asked: does some classifier of the kernel's space separate the classes strictly?

    Attributes
    ----------
    points : Points
        The n rows x_i in R^d.
    labels : ndarray of int8, shape (n,)
        y_i in {-1, +1}; both occur.
    kernel : Kernel
        K; with a bias the statement is about K + b0**2.
    bias : bool
        Whether there is a bias feature.
    bias_scale : Fraction
        b0 > 0, the value of the bias feature.
    """

    points: Points
    labels: SignArray
    kernel: Kernel = LinearKernel()
    bias: bool = True
    bias_scale: Fraction = Fraction(1)

    @property
    def rows(self) -> int:
        """Number of rows n."""
        return self.points.shape[0]

    @property
    def dimension(self) -> int:
        """Dimension D of the raw rows z_i = y_i (b0, x_i), the bias feature included."""
        return self.points.shape[1] + int(self.bias)

    @property
    def numbers(self) -> Numbers:
        """The reading of the numbers."""
        return self.points.numbers
