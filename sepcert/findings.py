"""The parts of a result in the user's terms: margin, gate, separator, witness, and how the run went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sepcert.certificate.model import Separator as ExactSeparator
from sepcert.problem import FloatArray, Problem
from sepcert.status import ExitCode, Termination

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Margin:
    """A certified bracket on the paper's normalised margin rho; None: no bound proved."""

    lower: float | None
    upper: float | None


@dataclass(frozen=True)
class Gate:
    """Whether what was expected holds.

    Attributes
    ----------
    expect : str
        One of :class:`sepcert.status.Expect`.
    min_margin : float or None
    holds : bool or None
        None: undecided.
    """

    expect: str
    min_margin: float | None
    holds: bool | None

    @property
    def exit_code(self) -> ExitCode:
        """0 the gate holds, 1 it fails, 3 undecided."""
        return {True: ExitCode.HOLDS, False: ExitCode.FAILS, None: ExitCode.UNDECIDED}[self.holds]


class Separator:
    """A classifier that was found, as doubles; the certificate has the exact numbers.

    Attributes
    ----------
    weights : dict of str to float, or None
        Linear kernel: the coefficient of each column, ``(bias)`` first if there is one.
    rows : list of int
        1-based numbers of the support rows.
    index : ndarray of int64
        Their 0-based positions among the rows used.
    alpha : list of float
        Coefficients of the support rows: f = sum_i alpha_i y_i K(x_i, .).
    """

    def __init__(
        self, problem: Problem, exact: ExactSeparator, names: Sequence[str], numbers: Sequence[int], strict: bool
    ) -> None:
        self._problem = problem
        self._strict = strict
        self.index = np.array(exact.alpha.rows, dtype=np.int64)
        self.rows = list(numbers)
        given = exact.weights or ()
        self.alpha, known = _in_range(exact.alpha.values, given)
        self._signed = np.array(self.alpha) * problem.labels[self.index]
        self._w: FloatArray | None = None
        if problem.kernel.name == "linear":
            self._w = np.array(known) if known else self._combined(self.index, np.array(self.alpha))
        self.weights = None if self._w is None else dict(zip(names, self._w.tolist(), strict=True))

    def _combined(self, index: Any, alpha: FloatArray) -> FloatArray:
        signed = alpha * self._problem.labels[index]
        weights = signed @ self._problem.points.values[index]
        if not self._problem.bias:
            return np.asarray(weights)
        return np.concatenate([[float(self._problem.bias_scale) * signed.sum()], weights])

    @property
    def support(self) -> int:
        """Number of support rows."""
        return len(self.rows)

    @cached_property
    def holds_in_doubles(self) -> bool:
        """Whether the rounded weights, evaluated in doubles, still have no row on the wrong side."""
        with np.errstate(all="ignore"):
            products = self.decision_function(self._problem.points.values) * self._problem.labels
        return bool((products > 0).all()) if self._strict else bool((products >= 0).all())

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return f(x) for new points, positive on the side of the positive class.

        Parameters
        ----------
        X : array_like, shape (m, d)

        Returns
        -------
        ndarray of float64, shape (m,)
        """
        points = np.asarray(X, dtype=np.float64)
        if self._w is None:
            return self._expanded(points)
        if self._problem.bias:
            return np.asarray(points @ self._w[1:] + float(self._problem.bias_scale) * self._w[0])
        return np.asarray(points @ self._w)

    def _expanded(self, points: FloatArray) -> FloatArray:
        """Return sum_i alpha_i y_i (K(x_i, x) + b0**2), in blocks of points."""
        support = self._problem.points.values[self.index]
        constant = float(self._problem.bias_scale) ** 2 * float(self._signed.sum()) if self._problem.bias else 0.0
        step = max(1, _BLOCK // max(1, len(support)))
        parts = [
            self._problem.kernel.values(np.ascontiguousarray(points[at : at + step]), support) @ self._signed
            for at in range(0, len(points), step)
        ]
        return np.concatenate(parts) + constant if parts else np.empty(0)


class Witness:
    """Weights on the rows that prove that nothing separates, as doubles; the certificate has the exact numbers.

    Attributes
    ----------
    rows : list of int
        1-based row numbers.
    index : ndarray of int64
        0-based positions among the rows used.
    p : list of float
        Positive weights with sum 1.
    g_norm : float
        |sum p_i z_i| / sum p_i sqrt(K_ii), rounded up; exactly 0 where `exact`.
    exact : bool
        Whether the weighted rows add up to zero exactly.
    """

    def __init__(self, index: Sequence[int], p: Sequence[float], numbers: Sequence[int], g_norm: float) -> None:
        self.index = np.array(index, dtype=np.int64)
        self.rows = list(numbers)
        self.p = list(p)
        self.g_norm = g_norm
        self.exact = g_norm == 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the `witness` object of the JSON."""
        return {"rows": self.rows, "p": self.p, "g_norm": self.g_norm, "exact": self.exact}


def _in_range(alpha: Sequence[Fraction], weights: Sequence[Fraction]) -> tuple[list[float], list[float]]:
    """Return both as doubles, divided by one power of two where one of them would be too large."""
    largest = max((abs(v) for v in (*alpha, *weights)), default=Fraction(0))
    excess = largest.numerator.bit_length() - largest.denominator.bit_length() - 1000
    scale = Fraction(1, 1 << excess) if excess > 0 else Fraction(1)
    return [float(v * scale) for v in alpha], [float(v * scale) for v in weights]


def shares(weights: Sequence[Fraction]) -> list[float]:
    """Return positive weights divided by their sum, as doubles."""
    total = sum(weights, Fraction(0))
    return [float(w / total) for w in weights]


@dataclass(frozen=True)
class Run:
    """How the answer was found; nothing here is part of the proof.

    Attributes
    ----------
    algorithm : str
    iterations, passes : int
        Of the floating-point engine; a pass is one product of all rows with a direction.
    seconds : float
        From the matrix in memory to the verified evidence.
    termination : Termination or None
        Why the search ended; None where none was needed.
    notes : tuple of str
        What was chosen and why, and the stages of the proof.
    options : dict
        The options that differ from the defaults.
    """

    algorithm: str
    iterations: int
    passes: int
    seconds: float
    termination: Termination | None
    notes: tuple[str, ...] = ()
    options: dict[str, object] = field(default_factory=dict)
