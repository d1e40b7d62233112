"""Exact signs against plain Fractions, on rows built to be nasty."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sepcert.problem import Points, Problem
from sepcert.status import Numbers
from sepcert.verify.exact_entries import integer_column, integer_rows
from sepcert.verify.integer_columns import integer_signs
from sepcert.verify.rows import SignedRows, column_sizes
from sepcert.verify.signs import common_integers, dot_enclosure, signs


def signed_rows(values, labels, numbers=Numbers.BINARY64, bias=True, scale=Fraction(1)):
    points = Points(np.ascontiguousarray(values, dtype=np.float64), numbers)
    return SignedRows(Problem(points, np.asarray(labels, dtype=np.int8), bias=bias, bias_scale=scale))


def true_rows(values, labels, numbers, bias, scale=Fraction(1)):
    read = Fraction if numbers is Numbers.BINARY64 else lambda v: Fraction(repr(float(v)))
    return [
        [int(y) * v for v in ([scale] if bias else []) + [read(x) for x in row]]
        for row, y in zip(np.asarray(values, dtype=float).tolist(), labels, strict=True)
    ]


def true_signs(rows, weights):
    sums = [sum((a * b for a, b in zip(row, weights, strict=True)), Fraction(0)) for row in rows]
    return [(s > 0) - (s < 0) for s in sums]


@pytest.mark.parametrize("numbers", list(Numbers))
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_signs_agree_with_fractions_near_ties(numbers, bias, seed):
    rng = np.random.default_rng(seed)
    n, d = 300, 1 + seed
    values = np.round(rng.standard_normal((n, d)), int(rng.integers(0, 16))) * 10.0 ** rng.integers(-9, 9)
    labels = rng.choice([-1, 1], n)
    exact = true_rows(values, labels, numbers, bias, Fraction(1, 3))
    weights = [Fraction(int(a), int(b)) for a, b in rng.integers(1, 50, (d + bias, 2))]
    if d > 1:
        weights[-1] = -sum(a * b for a, b in zip(exact[0][:-1], weights[:-1], strict=True)) / (exact[0][-1] or 1)
        values[1:40] = values[0] * (1 + rng.integers(-2, 3, (39, d)) * 2.0**-52)
        exact = true_rows(values, labels, numbers, bias, Fraction(1, 3))
    rows = signed_rows(values, labels, numbers, bias, Fraction(1, 3))
    assert signs(rows, weights).tolist() == true_signs(exact, weights)
    some = np.array([0, 5, 7, 100])
    assert signs(rows, weights, some).tolist() == [true_signs(exact, weights)[i] for i in some]
    assert integer_signs(rows, common_integers(weights), np.arange(n)).tolist() == true_signs(exact, weights)


@given(
    st.lists(
        st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False)),
        min_size=1,
        max_size=6,
    ),
    st.lists(st.fractions(), min_size=3, max_size=3),
    st.sampled_from(list(Numbers)),
)
@settings(max_examples=300, deadline=None)
def test_signs_of_any_doubles_and_any_fractions(values, weights, numbers):
    labels = [(-1) ** k for k in range(len(values))]
    rows = signed_rows(values, labels, numbers)
    assert signs(rows, weights).tolist() == true_signs(true_rows(values, labels, numbers, True), weights)


@pytest.mark.parametrize("power", [-1074, -1050, -1022, -600, 0, 500, 1000])
def test_extreme_scales_and_subnormals(power):
    base = np.array([[3.0, -2.0], [1.0, 1.0], [2.0, 3.0], [-1.0, 4.0]])
    values = np.ldexp(base, power)
    rows = signed_rows(values, [1, -1, 1, -1], bias=False)
    for weights in (
        [Fraction(2), Fraction(3)],
        [Fraction(1, 10**400), Fraction(-1, 10**399)],
        [Fraction(0)] * 2,
    ):
        assert signs(rows, weights).tolist() == true_signs(
            true_rows(values, [1, -1, 1, -1], Numbers.BINARY64, False), weights
        )


def test_many_exact_zeros_among_decimals_take_the_vectorised_path():
    rng = np.random.default_rng(3)
    n = 5000
    first = rng.integers(-(10**6), 10**6, n) / 1000.0
    values = np.column_stack([first, np.round(3 * first, 3), rng.integers(0, 2, n)])
    labels = rng.choice([-1, 1], n)
    weights = [Fraction(0), Fraction(3, 7), Fraction(-1, 7), Fraction(1, 10**30)]
    rows = signed_rows(values, labels, Numbers.DECIMAL)
    found = signs(rows, weights)
    assert found.tolist() == true_signs(true_rows(values, labels, Numbers.DECIMAL, True), weights)
    assert (found == 0).sum() > 2000
    assert len(rows._exact) == 0


def test_integer_columns_are_exact_or_refused():
    rng = np.random.default_rng(0)
    assert integer_column(np.array([0.1, 0.25, -3.0]), Numbers.DECIMAL)[1] == 100
    assert integer_column(np.array([0.1, 0.25]), Numbers.BINARY64) is None
    for numbers in Numbers:
        for _ in range(200):
            values = np.round(rng.standard_normal(5) * 10.0 ** rng.integers(-3, 14), int(rng.integers(0, 8)))
            column = integer_column(values, numbers)
            if column is not None:
                read = Fraction if numbers is Numbers.BINARY64 else lambda v: Fraction(repr(v))
                assert [Fraction(int(m), column[1]) for m in column[0]] == [read(v) for v in values.tolist()]


def test_enclosures_contain_the_exact_products():
    rng = np.random.default_rng(5)
    values = rng.standard_normal((400, 7)) * 10.0 ** rng.integers(-8, 8, 7)
    labels = rng.choice([-1, 1], 400)
    rows = signed_rows(values, labels, Numbers.DECIMAL)
    weights = rng.standard_normal(8)
    found, errors = dot_enclosure(rows, weights, np.full(8, 1e-9))
    moved = [
        Fraction(w) + Fraction(int(s), 10**9) for w, s in zip(weights.tolist(), rng.choice([-1, 1], 8), strict=True)
    ]
    for s, e, row in zip(
        found.tolist(), errors.tolist(), true_rows(values, labels, Numbers.DECIMAL, True), strict=True
    ):
        assert abs(Fraction(s) - sum(a * b for a, b in zip(row, moved, strict=True))) <= Fraction(e)


@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (5000, 20), (3, 4000), (0, 2), (10, 0)])
def test_column_sizes(shape):
    values = np.random.default_rng(1).standard_normal(shape)
    assert column_sizes(values).tolist() == np.abs(values).max(axis=0, initial=0.0).tolist()


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8), st.sampled_from(list(Numbers))
)
@settings(max_examples=300, deadline=None)
def test_integer_rows_are_exact(values, numbers):
    points = Points(np.array([values, values[::-1]]), numbers)
    for (numerators, denominator), row in zip(integer_rows(points, [0, 1]), points.values.tolist(), strict=True):
        read = Fraction if numbers is Numbers.BINARY64 else lambda v: Fraction(repr(float(v)))
        assert [Fraction(v, denominator) for v in numerators] == [read(v) for v in row]
