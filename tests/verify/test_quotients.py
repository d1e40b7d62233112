"""Quotients min_i z_i'w / (s_i |w|) and their upper bounds, against plain Fractions."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sepcert.certificate.model import Combination
from sepcert.status import Numbers
from sepcert.verify.quotients import (
    Geometry,
    largest_norm,
    least_quotient,
    quotients_at_least,
    rounded,
    weighted_rows_bound,
)
from sepcert.verify.rows import SignedRows


def signed_square(z, w, geometry, dot):
    """The least quotient times its absolute value; exact."""
    found = []
    for row in z:
        value = dot(row, w)
        if geometry is Geometry.ONE_NORM:
            size = (max(map(abs, row)) * sum(map(abs, w))) ** 2
        else:
            size = dot(w, w) * (1 if geometry is Geometry.RAW else dot(row, row))
        found.append(value * abs(value) / size if any(row) else Fraction(0))
    return min(found)


def square_of(value):
    return Fraction(value) * abs(Fraction(value))


def directions(rng, dimension):
    yield [Fraction(int(v)) for v in rng.integers(-3, 4, dimension)]
    yield [Fraction(float(v)) for v in rng.standard_normal(dimension) * 2.0 ** rng.integers(-50, 50)]
    yield [Fraction(int(v), 7) + Fraction(int(u), 1 << 90) for u, v in rng.integers(-4, 5, (dimension, 2))]


@pytest.mark.parametrize("geometry", Geometry)
@pytest.mark.parametrize("seed", range(4))
def test_least_quotient_is_a_tight_lower_bound(geometry, seed, plain_checker, planted_evidence):
    rng = np.random.default_rng(seed)
    for _ in range(25):
        problem = planted_evidence.random_problem(rng)
        z, rows = plain_checker.raw_rows(problem), SignedRows(problem)
        for w in directions(rng, rows.dimension):
            if not any(w):
                continue
            truth = signed_square(z, w, geometry, plain_checker.dot)
            found = least_quotient(rows, w, geometry)
            assert square_of(found) <= truth
            assert float(truth) == pytest.approx(square_of(found), rel=1e-9, abs=1e-280)
            holds, _ = quotients_at_least(rows, w, geometry, Fraction(found))
            assert holds
            for bound in (math.nextafter(found, math.inf), 0.0, found / 2, found * 2):
                holds, _ = quotients_at_least(rows, w, geometry, Fraction(bound))
                assert holds == (square_of(bound) <= truth)


@pytest.mark.parametrize("seed", range(3))
def test_weighted_rows_bound_every_direction(seed, plain_checker, planted_evidence):
    """Weak duality, in exact arithmetic: no direction has a larger quotient than the bound."""
    rng = np.random.default_rng(10 + seed)
    for _ in range(20):
        problem = planted_evidence.random_problem(rng)
        z, rows = plain_checker.raw_rows(problem), SignedRows(problem)
        chosen = sorted(rng.choice(rows.count, rng.integers(1, rows.count + 1), replace=False).tolist())
        q = Combination(tuple(chosen), tuple(Fraction(int(v), 3) for v in rng.integers(1, 9, len(chosen))))
        for geometry, nonnegative in ((Geometry.RAW, False), (Geometry.ONE_NORM, False), (Geometry.ONE_NORM, True)):
            bound = square_of(weighted_rows_bound(rows, q, geometry, nonnegative=nonnegative))
            for w in directions(rng, rows.dimension):
                w = [abs(v) for v in w] if nonnegative else w
                if any(w):
                    assert signed_square(z, w, geometry, plain_checker.dot) <= bound


def test_bounds_by_hand(planted_evidence):
    rows = SignedRows(planted_evidence.problem_of([[3.0, 4.0], [0, 1]], [1, -1], bias=False))
    both = Combination((0, 1), (Fraction(1), Fraction(4)))
    assert weighted_rows_bound(rows, both, Geometry.RAW) == rounded(Fraction(3, 5), up=True)
    assert weighted_rows_bound(rows, both, Geometry.ONE_NORM) == 3 / 8
    two = Combination((0, 1), (Fraction(1), Fraction(9)))
    assert weighted_rows_bound(rows, two, Geometry.ONE_NORM) == rounded(Fraction(5, 13), up=True)
    assert weighted_rows_bound(rows, two, Geometry.ONE_NORM, nonnegative=True) == rounded(Fraction(3, 13), up=True)
    for wrong in (Combination((), ()), Combination((0,), (Fraction(-1),))):
        with pytest.raises(ValueError, match="positive"):
            weighted_rows_bound(rows, wrong, Geometry.RAW)
    with pytest.raises(ValueError, match="zero"):
        least_quotient(rows, [Fraction(0)] * 2, Geometry.RAW)


def test_rounding_is_outward():
    for value in (Fraction(1, 3), Fraction(-1, 3), Fraction(10) ** 400, -(Fraction(10) ** 400), Fraction(1, 10**400)):
        low, high = rounded(value, up=False), rounded(value, up=True)
        assert low < high
        assert math.isinf(low) or Fraction(low) < value
        assert math.isinf(high) or Fraction(high) > value
    assert rounded(Fraction(3, 4), up=True) == rounded(Fraction(3, 4), up=False) == 0.75


@pytest.mark.parametrize("scale", [1.0, 2.0**-700, 2.0**600, 1e-320])
def test_extreme_sizes(scale, plain_checker, planted_evidence):
    """Where squares under- or overflow, the ends are still on the right side."""
    x = np.array([[3.0, 4.0], [1.0, 2.0], [0.0, 0.0], [-1.0, 7.0]]) * scale
    problem = planted_evidence.problem_of(x, [1, -1, 1, 1], Numbers.BINARY64, bias=False)
    for one in (problem, replace(problem, bias=True)):
        rows, z = SignedRows(one), plain_checker.raw_rows(one)
        w = [Fraction(v) for v in (2, -1, 3)[: rows.dimension]]
        for geometry in Geometry:
            truth = signed_square(z, w, geometry, plain_checker.dot)
            assert square_of(least_quotient(rows, w, geometry)) <= truth
            assert square_of(math.nextafter(least_quotient(rows, w, geometry) * (1 - 1e-11), 1)) >= truth or scale < 1
        low, high = largest_norm(rows)
        truth = max(plain_checker.dot(row, row) for row in z)
        assert Fraction(low) ** 2 <= truth
        assert math.isinf(high) or Fraction(high) ** 2 >= truth


def test_largest_norm_of_many_equal_rows(planted_evidence):
    x = np.tile([[0.6, 0.8]], (5000, 1))
    rows = SignedRows(planted_evidence.problem_of(x, np.where(np.arange(5000) % 2, 1, -1), Numbers.DECIMAL, bias=False))
    low, high = largest_norm(rows)
    assert low == 1.0
    assert 1.0 <= high < 1 + 1e-14
