"""Both ends of the margin's bracket against exact rational squares."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sepcert.certificate.model import Combination, Separator
from sepcert.problem import Points, Problem
from sepcert.status import Numbers
from sepcert.verify.combination import Direction
from sepcert.verify.margin import margin_at_least, margin_at_most, margin_lower, margin_upper
from sepcert.verify.rows import SignedRows


def least_square(plain_checker, problem, separator):
    """The least (z'w)**2 / (|z|**2 |w|**2), or None if some z'w is not positive."""
    z = plain_checker.raw_rows(problem)
    w = plain_checker.combination(z, separator.alpha)
    values = [plain_checker.dot(row, w) for row in z]
    if min(values) <= 0:
        return None
    sizes = [plain_checker.dot(row, row) * plain_checker.dot(w, w) for row in z]
    return min(v * v / s for v, s in zip(values, sizes, strict=True))


def separated(rng, planted_evidence, numbers, scale):
    n, d = int(rng.integers(2, 9)), int(rng.integers(1, 5))
    x = rng.standard_normal((n, d)) * scale
    w = rng.standard_normal(d)
    y = np.where(x @ w > 0, 1, -1)
    problem = planted_evidence.problem_of(x, y, numbers, bias=bool(rng.integers(2)))
    alpha = Combination(tuple(range(n)), tuple(Fraction(float(v)) for v in rng.uniform(0.1, 1, n)))
    return problem, alpha


@pytest.mark.parametrize("numbers", list(Numbers))
@pytest.mark.parametrize("scale", [1.0, 2.0**-400, 2.0**-520, 2.0**500, 2.0**1000, 1e-300])
def test_lower_end(planted_evidence, plain_checker, numbers, scale):
    rng = np.random.default_rng(1)
    proved = 0
    for _ in range(25):
        problem, alpha = separated(rng, planted_evidence, numbers, scale)
        rows = SignedRows(problem)
        given = tuple(Direction(rows, Separator(alpha, None)).combined())
        for separator in (Separator(alpha, None), Separator(alpha, given)):
            bound = margin_lower(rows, separator)
            square = least_square(plain_checker, problem, separator)
            direction = Direction(rows, separator)
            if square is None:
                assert bound == -1.0
                assert not margin_at_least(direction, Fraction(0))[0]
                continue
            proved += 1
            assert Fraction(bound) ** 2 <= square <= (Fraction(bound) * (1 + Fraction(1, 10**11))) ** 2
            assert margin_at_least(direction, Fraction(bound))[0]
            assert not margin_at_least(direction, Fraction(bound) * (1 + Fraction(1, 10**11)) + Fraction(1, 10**300))[0]
    assert proved > 3


def test_lower_end_at_exact_rational_margins(planted_evidence):
    """z'w / (|z| |w|) = 3/5 exactly: 3/5 as a rational holds, the next number above does not."""
    problem = planted_evidence.problem_of([[3.0, 4.0], [5.0, 0.0]], [1, 1], bias=False)
    direction = Direction(SignedRows(problem), Separator(Combination((1,), (Fraction(1),)), None))
    assert margin_at_least(direction, Fraction(3, 5))[0]
    assert not margin_at_least(direction, Fraction(3, 5) + Fraction(1, 10**40))[0]
    bound = margin_lower(SignedRows(problem), Separator(direction.alpha, None))
    assert Fraction(3, 5) * (1 - Fraction(1, 10**12)) <= Fraction(bound) <= Fraction(3, 5)


@pytest.mark.parametrize("power", [-20, -52, -80, -300, -600])
def test_tiny_margins_are_tight(planted_evidence, plain_checker, power):
    """Two rows nearly opposite: cancellation that doubles cannot see through."""
    tiny = 2.0**power
    problem = planted_evidence.problem_of([[1.0, tiny], [-1.0, tiny]], [1, 1], bias=False)
    alpha = Combination((0, 1), (Fraction(1), Fraction(1)))
    separator = Separator(alpha, (Fraction(0), 2 * Fraction(tiny)))
    bound = margin_lower(SignedRows(problem), separator)
    square = least_square(plain_checker, problem, separator)
    assert Fraction(bound) ** 2 <= square <= (Fraction(bound) * (1 + Fraction(1, 10**11))) ** 2


@pytest.mark.parametrize("numbers", list(Numbers))
@pytest.mark.parametrize("scale", [1.0, 2.0**-600, 2.0**900])
def test_upper_end(planted_evidence, plain_checker, numbers, scale):
    rng = np.random.default_rng(2)
    for _ in range(25):
        problem, q = separated(rng, planted_evidence, numbers, scale)
        rows = SignedRows(problem)
        bound = margin_upper(rows, q)
        z = plain_checker.raw_rows(problem)
        vector = plain_checker.combination(z, q)
        unit = Fraction(scale) ** 2  # keeps the squares where their roots have many digits
        left = plain_checker.root_bounds(plain_checker.dot(vector, vector) / unit)
        right = [plain_checker.root_bounds(plain_checker.dot(row, row) / unit) for row in z]
        low = sum(v * r[0] for v, r in zip(q.values, right, strict=True))
        high = sum(v * r[1] for v, r in zip(q.values, right, strict=True))
        assert left[1] / low <= Fraction(bound) * (1 + Fraction(1, 10**200))
        assert Fraction(bound) * (1 - Fraction(1, 10**14)) <= left[0] / high
        assert margin_at_most(rows, q, Fraction(bound))[0]
        assert not margin_at_most(rows, q, Fraction(bound) * (1 - Fraction(1, 10**14)))[0]


def test_upper_end_of_a_witness_is_zero(planted_evidence):
    problem = planted_evidence.problem_of([[1.0, 2.0], [1.0, 2.0]], [1, -1])
    q = Combination((0, 1), (Fraction(1, 3), Fraction(1, 3)))
    assert margin_upper(SignedRows(problem), q) == 0.0
    assert margin_at_most(SignedRows(problem), q, Fraction(0))[0]
    nearly = Combination((0, 1), (Fraction(1), Fraction(1) + Fraction(1, 2**2000)))
    assert margin_upper(SignedRows(problem), nearly) == 2.0**-900


def test_the_ends_meet_on_a_known_margin(planted_evidence):
    """+ on 6 x2 = 8 x1, - on 8 x2 = 6 x1, no bias: the margin is sqrt(2)/10, whatever the lengths."""
    x = [[3.0, 4.0], [3e-5, 4e-5], [4e5, 3e5], [4.0, 3.0]]
    problem = planted_evidence.problem_of(x, [1, 1, -1, -1], Numbers.DECIMAL, bias=False)
    rows = SignedRows(problem)
    pair = Combination((0, 3), (Fraction(1), Fraction(1)))
    lower, upper = margin_lower(rows, Separator(pair, None)), margin_upper(rows, pair)
    assert Fraction(lower) ** 2 <= Fraction(2, 100) <= Fraction(upper) ** 2
    assert upper - lower < 1e-13


def least_squares(rows, count):
    """alpha on the first rows with sum alpha_i z_i close to the axis of x1."""
    axis = np.zeros(rows.dimension)
    axis[1] = 1.0
    return np.linalg.lstsq(rows.floats(np.arange(count)).T, axis, rcond=None)[0]


def test_many_rows_take_the_float_path(planted_evidence, monkeypatch):
    """On ordinary data only a handful of rows need exact integers."""
    rng = np.random.default_rng(7)
    x = rng.standard_normal((40_000, 6))
    x[:, 0] += np.where(x[:, 0] > 0, 0.2, -0.2)
    problem = planted_evidence.problem_of(x, np.where(x[:, 0] > 0, 1, -1))
    rows = SignedRows(problem)
    asked = []
    monkeypatch.setattr(rows, "fetch", lambda wanted, fetch=rows.fetch: (asked.extend(wanted), fetch(wanted)))
    alpha = Combination(tuple(range(400)), tuple(Fraction(float(v)) for v in least_squares(rows, 400)))
    separator = Separator(alpha, None)
    bound = margin_lower(rows, separator)
    assert 0.01 < bound < 0.2
    assert margin_at_least(Direction(rows, separator), Fraction(bound))[0]
    assert len(asked) < 3000
    moved = replace(problem, points=Points(x, Numbers.DECIMAL))
    assert margin_lower(SignedRows(moved), separator) == pytest.approx(bound, rel=1e-9)


@pytest.mark.parametrize("numbers", list(Numbers))
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_in_doubles_is_one_and_is_close(numbers, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    values = np.round(rng.standard_normal((500, 6)) * 10.0 ** rng.integers(-4, 4, 6), 6)
    labels = rng.choice([-1, 1], 500).astype(np.int8)
    rows = SignedRows(Problem(Points(values, numbers), labels))
    q = Combination(tuple(range(500)), tuple(Fraction(float(v)) for v in rng.uniform(1e-9, 1, 500)))
    exact = margin_upper(rows, q)
    monkeypatch.setattr("sepcert.verify.margin._LONG", 0)
    loose = margin_upper(rows, q)
    assert exact <= loose <= exact * (1 + 1e-9)
    assert margin_at_most(rows, q, Fraction(loose))[0]
    assert margin_at_most(rows, q, Fraction(exact))[0]
    assert not margin_at_most(rows, q, Fraction(exact) * Fraction(999, 1000))[0]
