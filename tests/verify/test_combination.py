"""Exact combinations and their enclosures against plain Fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sepcert.certificate.model import Combination, Separator
from sepcert.problem import Points, exact_value
from sepcert.status import Numbers
from sepcert.verify.combination import Direction, combine, exact_sum
from sepcert.verify.rows import SignedRows

DOUBLES = st.floats(allow_nan=False, allow_infinity=False)


@given(arrays.arrays(np.float64, st.integers(0, 30), elements=DOUBLES), st.sampled_from(Numbers))
def test_exact_sum(values, numbers):
    assert exact_sum(values, numbers) == sum((exact_value(x, numbers) for x in values.tolist()), Fraction(0))


@pytest.mark.parametrize("numbers", list(Numbers))
def test_exact_sum_of_extremes(numbers):
    values = np.array([5e-324, -1e-310, 2.0**-1022, 1.0, -0.0, 1.7976931348623157e308, -3e-323, 2.0**53 + 2])
    assert exact_sum(values, numbers) == sum((exact_value(x, numbers) for x in values.tolist()), Fraction(0))
    assert exact_sum(values[:1], numbers) == exact_value(5e-324, numbers)


@pytest.mark.parametrize("numbers", list(Numbers))
@pytest.mark.parametrize("irregular", [False, True])
def test_groups_of_equal_weight(plain_checker, planted_evidence, numbers, irregular):
    rng = np.random.default_rng(0)
    n = 10_000
    x = np.round(rng.standard_normal((n, 2)), 3) if numbers is Numbers.DECIMAL else rng.standard_normal((n, 2))
    x[rng.integers(n, size=100)] *= 2.0**300
    problem = planted_evidence.problem_of(x, rng.choice([-1, 1], n), numbers, bias_scale=Fraction(1, 3))
    z = plain_checker.raw_rows(problem)
    if irregular:
        odd = rng.random(n) < 0.01
        for i in np.flatnonzero(odd):
            z[i] = [z[i][0], *(v + problem.labels[i] * Fraction(1, 10**30) for v in z[i][1:])]

        def source(rows):
            return [[problem.labels[i] * v for v in z[i][1:]] for i in rows]

        points = Points(x, numbers, odd, source)
        problem = type(problem)(points, problem.labels, bias_scale=Fraction(1, 3))
    chosen = tuple(range(0, n, 2))
    weights = tuple(Fraction(7) if i % 1000 else Fraction(i, 7) for i in chosen)
    expected = plain_checker.combination(z, Combination(chosen, weights))
    assert combine(SignedRows(problem), chosen, weights) == expected


@pytest.mark.parametrize("scale", [1.0, 2.0**-1060, 2.0**900])
def test_one_multiple_of_w_lies_in_the_enclosure(plain_checker, planted_evidence, scale):
    rng = np.random.default_rng(1)
    for numbers in Numbers:
        for _ in range(20):
            x = rng.integers(-9, 10, (6, 3)) / 10 * scale
            problem = planted_evidence.problem_of(x, [1, -1, 1, -1, 1, 1], numbers)
            alpha = Combination(tuple(range(6)), tuple(Fraction(int(v), 7) for v in rng.choice([-3, -1, 1, 5], 6)))
            w = plain_checker.combination(plain_checker.raw_rows(problem), alpha)
            for given_weights in (None, tuple(w)):
                direction = Direction(SignedRows(problem), Separator(alpha, given_weights))
                found = direction.enclosure
                if found is None or not any(w):
                    continue
                low, high = Fraction(0), None
                for v, centre, radius in zip(direction.integers, *(part.tolist() for part in found), strict=True):
                    error = abs(Fraction(centre)) / 2**53 + Fraction(radius)
                    ends = Fraction(centre) - error, Fraction(centre) + error
                    if v == 0:
                        assert ends[0] <= 0 <= ends[1]
                        continue
                    least, most = sorted(end / v for end in ends)
                    low, high = max(low, least), most if high is None else min(high, most)
                assert low <= high
                assert high > 0


def test_signs_without_weights(plain_checker, planted_evidence):
    """Near ties, where the enclosure cannot tell, fall back on exact integers."""
    rng = np.random.default_rng(2)
    zeros = 0
    for _ in range(60):
        x = rng.integers(-2, 3, (8, 2)) * 0.1
        y = rng.permutation([1, 1, 1, 1, -1, -1, -1, -1])
        problem = planted_evidence.problem_of(x, y, Numbers.DECIMAL, bias=False)
        alpha = Combination((0, 3, 5), tuple(Fraction(int(v), 3) for v in rng.integers(1, 4, 3)))
        z = plain_checker.raw_rows(problem)
        w = plain_checker.combination(z, alpha)
        expected = [(v > 0) - (v < 0) for v in (plain_checker.dot(row, w) for row in z)]
        assert Direction(SignedRows(problem), Separator(alpha, None)).row_signs().tolist() == expected
        zeros += expected.count(0)
    assert zeros > 5
