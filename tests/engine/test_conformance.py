"""Every algorithm on every problem that it accepts: what the driver says is true when recomputed in Fractions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np
import pytest

from sepcert.engine.driver import run
from sepcert.engine.gram import DenseGram, FactoredGram
from sepcert.engine.protocol import Goal, Limits, Targets
from sepcert.engine.registry import ALGORITHMS, find, make_algorithm
from sepcert.engine.rows import FloatRows
from sepcert.status import Termination

LIMITS = Limits(max_iterations=1200)
EPSILON = 0.05
ROUNDING = 1e-13


@dataclass(frozen=True)
class Case:
    """A problem with its known answer.

    `rho` lies between `least` and `most`; for the ones that are not separable `least` is None and `most` 0.
    """

    rows: FloatRows
    least: float | None
    most: float
    dense: bool = False
    easy: bool = False  # every algorithm that can prove something about it does


def rows_of(points, labels, bias=1.0):
    return FloatRows(np.array(points, dtype=float), np.array(labels, dtype=np.int8), bias)


def sided(count, features, gap, seed, bias=1.0):
    """Points with |x_1| >= gap, labelled by its sign."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, (count, features)).round(3)
    labels = np.where(points[:, 0] > 0, 1, -1)
    points[:, 0] += gap * labels
    return rows_of(points, labels, bias)


def overlapping(count, features, seed):
    rng = np.random.default_rng(seed)
    return rows_of(rng.standard_normal((count, features)).round(3), np.tile([1, -1], count // 2))


def wide_data(count, features, seed):
    rng = np.random.default_rng(seed)
    return rows_of(rng.standard_normal((count, features)).round(3), np.tile([1, -1], count // 2), 0.0)


CASES: dict[str, Callable[[], Case]] = {
    "wide margin": lambda: Case(sided(40, 3, 1.0, 0), 0.3, 1.0, easy=True),
    "wide margin, dense": lambda: Case(sided(40, 3, 1.0, 0), 0.3, 1.0, dense=True, easy=True),
    "narrow margin": lambda: Case(sided(60, 3, 0.002, 1), 1e-4, 0.05),
    "no bias": lambda: Case(sided(50, 4, 0.6, 2, 0.0), 0.2, 1.0, easy=True),
    "bias feature 7": lambda: Case(sided(50, 2, 2.0, 2, 7.0), 0.1, 0.5, easy=True),
    "overlap": lambda: Case(overlapping(60, 3, 3), None, 0.0, easy=True),
    "overlap, dense": lambda: Case(overlapping(60, 3, 3), None, 0.0, dense=True, easy=True),
    "conflicting duplicate": lambda: Case(
        rows_of([[1, 2], [1, 2], [3, 1], [-3, 0]], [1, -1, 1, -1]), None, 0.0, easy=True
    ),
    "one row per class": lambda: Case(rows_of([[0.1], [0.2]], [1, -1]), 0.01, 0.2, easy=True),
    "n << d": lambda: Case(wide_data(10, 200, 4), 0.2, 0.5, easy=True),
    "n << d, dense": lambda: Case(wide_data(10, 200, 4), 0.2, 0.5, dense=True, easy=True),
    "quasi-complete": lambda: Case(rows_of([[1], [0], [0], [-1], [2]], [1, 1, -1, -1, 1]), None, 0.0),
    "exact midpoint": lambda: Case(rows_of([[0, 0], [2, 2], [1, 1], [5, 0.5]], [1, 1, -1, -1]), None, 0.0),
    "repeated rows": lambda: Case(rows_of([[1, 1]] * 5 + [[-1, 0]] * 3, [1] * 5 + [-1] * 3), 0.5, 1.0, easy=True),
}


def exact_rows(rows):
    """The rows z_i in Fractions."""
    first = [Fraction(rows.bias)] if rows.bias else []
    return [
        [int(y) * x for x in [*first, *map(Fraction, point)]]
        for y, point in zip(rows.labels, rows.points.tolist(), strict=True)
    ]


def root(x, digits=40):
    return Fraction(isqrt(int(x * 10 ** (2 * digits))), 10**digits)


def combination(z, coefficients):
    return [
        sum((c * x for c, x in zip(coefficients, column, strict=True)), Fraction(0)) for column in zip(*z, strict=True)
    ]


def separates(z, w):
    return all(sum(a * b for a, b in zip(row, w, strict=True)) > 0 for row in z)


def exact_norm(z, p):
    """|p|_G, to 40 digits."""
    raw = [
        Fraction(float(x)) / root(sum(e * e for e in row)) if x else Fraction(0) for x, row in zip(p, z, strict=True)
    ]
    return float(root(sum(x * x for x in combination(z, raw))))


def check_truth(case, outcome, epsilon, gap=None, dense=False):
    """Recompute what the outcome claims, and compare both ends of the bracket with the known margin."""
    z = exact_rows(case.rows)
    claimed = outcome.candidate
    assert (outcome.termination is Termination.CLAIM_REACHED) == (outcome.reached is not None)
    assert outcome.termination is not Termination.NON_FINITE
    if outcome.reached in (Goal.SEPARATOR, Goal.GAP):
        assert case.least is not None
        if claimed.direction is not None and not dense:  # there it is a vector of the factor of G
            assert separates(z, [Fraction(x) for x in claimed.direction.tolist()])
        if claimed.weights is not None:
            lengths = [root(sum(x * x for x in row)) for row in z]
            raw = [Fraction(float(a)) / length for a, length in zip(claimed.weights, lengths, strict=True)]
            assert separates(z, combination(z, raw))
    if outcome.reached is Goal.GAP:
        assert outcome.bracket.gap <= gap
    if outcome.reached is Goal.WITNESS:
        p = claimed.simplex
        assert p.min() >= 0.0
        assert p.sum() == pytest.approx(1.0, abs=1e-12)
        norm = exact_norm(z, p)
        assert norm < (epsilon or ROUNDING) * (1 + 1e-9)
        resolved = 1e-7 if dense else ROUNDING  # sqrt(p'Gp) has half of the digits
        assert outcome.bracket.upper == pytest.approx(norm, rel=1e-9, abs=resolved)
        assert (case.least or 0.0) < (epsilon or ROUNDING)
    lower, upper = outcome.bracket.lower, outcome.bracket.upper
    assert lower is None or lower <= case.most + ROUNDING
    assert upper is None or upper >= (case.least or 0.0)
    if lower is not None and lower > 0:
        assert case.least is not None


ACCEPTED = [
    (name, problem)
    for name, entry in ALGORITHMS.items()
    for problem in CASES
    if entry.needs == "gram" or not CASES[problem]().dense
]


@pytest.mark.parametrize(("name", "problem"), ACCEPTED)
def test_outcomes_are_true(name, problem):
    case, entry = CASES[problem](), find(name)
    for epsilon, gap in ((None, None), (EPSILON, None), (None, 0.1)):
        gram = DenseGram.of_rows(case.rows) if case.dense else FactoredGram(case.rows)
        outcome = run(make_algorithm(name), gram, Targets(epsilon=epsilon, gap=gap), LIMITS)
        check_truth(case, outcome, epsilon, gap, case.dense)
        if case.easy and gap is None:
            if case.least is not None and case.least > (epsilon or 0.0):
                assert outcome.reached is Goal.SEPARATOR
            elif case.least is None and epsilon is not None and "witness" in entry.proves:
                assert outcome.reached is Goal.WITNESS


@pytest.mark.parametrize("name", [name for name, entry in ALGORITHMS.items() if entry.needs == "gram"])
def test_a_matrix_is_enough(name):
    """Without rows behind G the outcome is that of the rows."""
    for problem in ("wide margin", "overlap", "conflicting duplicate"):
        case = CASES[problem]()
        targets = Targets(epsilon=EPSILON)
        matrix = DenseGram.of_rows(case.rows).matrix
        alone = run(make_algorithm(name), DenseGram(matrix), targets, LIMITS)
        with_rows = run(make_algorithm(name), FactoredGram(case.rows), targets, LIMITS)
        assert alone.reached is with_rows.reached is not None
        check_truth(case, alone, EPSILON, dense=True)
