"""Rows, passes, Gram operators and the projection, against the same things written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sepcert.engine.gram import DenseGram, FactoredGram
from sepcert.engine.passes import RowPasses, worst_rows
from sepcert.engine.rows import FloatRows, condition_columns
from sepcert.engine.simplex_projection import project_onto_simplex
from sepcert.engine.step_sizes import smoothing_step, towards_row


def variants(rows):
    d = rows.points.shape[1]
    rng = np.random.default_rng(3)
    scale, shift = 2.0 ** rng.integers(-3, 4, d), rng.standard_normal(d)
    yield rows
    yield FloatRows(rows.points, rows.labels, 0.0)
    yield FloatRows(rows.points, rows.labels, 0.0, scale=scale)
    yield FloatRows(rows.points, rows.labels, 2.5, scale=scale, shift=shift)


def test_rows_against_the_matrix_written_out(planted, signed):
    rng = np.random.default_rng(1)
    for rows in variants(planted(37, 5)):
        z = signed(rows)
        w, p = rng.standard_normal(rows.dimension), rng.random(rows.count)
        assert z.shape == (rows.count, rows.dimension)
        np.testing.assert_allclose(rows.products(w), z @ w, atol=1e-12)
        np.testing.assert_allclose(rows.unsigned_products(w), rows.labels * (z @ w), atol=1e-12)
        np.testing.assert_allclose(rows.combination(p), z.T @ p, atol=1e-12)
        np.testing.assert_allclose(rows.take(np.array([5, 0, 5])), z[[5, 0, 5]], atol=1e-15)
        np.testing.assert_allclose(rows.norms(), np.linalg.norm(z, axis=1), rtol=1e-14)
        np.testing.assert_allclose(rows.between(3, 9).products(w), (z @ w)[3:9], atol=1e-12)
        plain = FloatRows(rows.points, rows.labels, rows.bias)
        np.testing.assert_allclose(plain.products(rows.in_units_of_the_data(w)), z @ w, atol=1e-12)


def test_rows_are_a_view(planted):
    rows = planted(50, 4)
    assert np.shares_memory(rows.between(10, 20).points, rows.points)
    with pytest.raises(ValueError, match="bias"):
        FloatRows(rows.points, rows.labels, 0.0, shift=np.zeros(4))


def test_columns_are_brought_to_comparable_size(planted):
    rows = planted(3000, 4)
    factors, offsets = np.array([1e9, 1e-9, 1.0, 1.0]), np.array([0.0, 0.0, 1.6e9, 0.0])
    points = rows.points * factors + offsets
    points[:, 3] = 7.0
    points[1234, 3] = 8.0  # constant in a sample, not in all rows
    conditioned = condition_columns(FloatRows(points, rows.labels, 1.0), sample=20)
    spread = np.abs(conditioned.take(np.arange(3000))[:, 1:]).max(axis=0)
    assert np.all(spread < 20.0)
    assert np.all(spread > 0.1)
    assert np.all(np.frexp(conditioned.scale)[0] == 0.5)
    without_bias = condition_columns(FloatRows(points, rows.labels, 0.0))
    assert without_bias.shift is None
    constant = condition_columns(FloatRows(np.zeros((3, 2)), np.array([1, -1, 1], dtype=np.int8), 1.0))
    np.testing.assert_array_equal(constant.scale, [1.0, 1.0])


def test_passes_in_blocks(planted, signed, monkeypatch):
    monkeypatch.setattr("sepcert.engine.passes.BLOCK_BYTES", 8 * 6 * 10)
    rows = planted(137, 5)
    z = signed(rows)
    passes = RowPasses(rows, rows.norms())
    w = np.random.default_rng(0).standard_normal(6)
    seen = passes.over(w)
    expected = z @ w / np.linalg.norm(z, axis=1)
    np.testing.assert_allclose(seen.products, expected, atol=1e-13)
    assert seen.least == seen.products.min()
    assert seen.not_positive == np.count_nonzero(expected <= 0)
    assert not seen.all_positive
    np.testing.assert_array_equal(seen.worst(7), np.argsort(expected, kind="stable")[:7])
    everything = seen.worst(1000)
    assert len(everything) == seen.not_positive
    assert passes.over(np.full(6, np.nan)).not_positive == 137
    assert passes.count == 2
    assert len(worst_rows(expected, 0, np.inf)) == 0


@pytest.mark.parametrize("form", [FactoredGram, DenseGram.of_rows])
def test_gram_operators(planted, signed, form):
    rng = np.random.default_rng(2)
    for rows in variants(planted(30, 5)):
        z = signed(rows)
        z /= np.linalg.norm(z, axis=1, keepdims=True)
        g = z @ z.T
        gram = form(rows)
        assert gram.count == 30
        for a in (rng.standard_normal(30), np.eye(30)[4] - 2.0 * np.eye(30)[7]):
            np.testing.assert_allclose(gram.times(a), g @ a, atol=1e-12)
            found = gram.evaluate(a)
            np.testing.assert_allclose(found.image, g @ a, atol=1e-12)
            assert found.norm == pytest.approx(np.sqrt(a @ g @ a))
            assert gram.norm(a) == pytest.approx(np.sqrt(a @ g @ a))
            np.testing.assert_allclose(gram.row_direction(a), z.T @ a, atol=1e-12)
        np.testing.assert_allclose(gram.column(3), g[:, 3], atol=1e-12)
        np.testing.assert_allclose(gram.diagonal, 1.0, atol=1e-12)
        features = gram.features(np.arange(30))
        assert features.shape == (30, gram.feature_dimension)
        np.testing.assert_allclose(features @ features.T, g, atol=1e-11)
        w = rng.standard_normal(gram.feature_dimension)
        np.testing.assert_allclose(gram.image_of(w), features @ w, atol=1e-12)


def test_gram_counts_products_and_passes(planted):
    rows = planted(40, 3)
    factored = FactoredGram(rows)
    assert (factored.products, factored.passes) == (0.0, 0.0)  # the norms come with the first product
    factored.features(np.array([0, 3]))
    assert (factored.products, factored.passes) == (0.0, 0.0)
    factored.times(np.ones(40))
    factored.column(0)
    factored.norm(np.eye(40)[0])  # sparse: no pass
    assert (factored.products, factored.passes) == (1.5, 4.0)
    dense = DenseGram(np.eye(10))
    dense.times(np.ones(10))
    dense.column(1)
    assert dense.products == pytest.approx(1.1)
    assert dense.row_direction(np.ones(10)) is None
    assert dense.norm(np.ones(10)) == pytest.approx(np.sqrt(10))


def test_zero_rows_have_no_normalised_form():
    rows = FloatRows(np.array([[1.0], [0.0]]), np.array([1, -1], dtype=np.int8), 0.0)
    with pytest.raises(ValueError, match="norm zero"):
        FactoredGram(rows).times(np.ones(2))
    with pytest.raises(ValueError, match="norm zero"):
        FactoredGram(rows).features(np.array([1]))


def naive_projection(v):
    u = np.sort(v)[::-1]
    thresholds = (np.cumsum(u) - 1.0) / np.arange(1, len(v) + 1)
    last = np.flatnonzero(u > thresholds)[-1]
    return np.maximum(v - thresholds[last], 0.0)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=12))
def test_simplex_projection_against_sorting(values):
    v = np.array(values)
    projected = project_onto_simplex(v)
    np.testing.assert_allclose(projected, naive_projection(v), atol=1e-9)
    assert projected.min() >= 0.0
    assert projected.sum() == pytest.approx(1.0, abs=1e-9)


def test_simplex_projection_of_far_points():
    np.testing.assert_allclose(project_onto_simplex(np.array([1e300, 0.0, -1e300])), [1.0, 0.0, 0.0])
    np.testing.assert_allclose(project_onto_simplex(np.full(5, -7.0)), 0.2)
    inside = np.array([0.1, 0.2, 0.7])
    np.testing.assert_allclose(project_onto_simplex(inside), inside, atol=1e-15)


def test_step_sizes():
    smoothing = 2.0
    for k in range(20):
        assert smoothing == pytest.approx(4.0 / ((k + 1) * (k + 2)))
        smoothing *= 1.0 - smoothing_step(k)
    grid = np.linspace(0, 1, 100001)
    for square, product in ((0.5, -0.2), (0.5, 0.3), (0.01, 0.02), (0.9, 0.95), (1.0, 1.0)):
        values = (1 - grid) ** 2 * square + 2 * grid * (1 - grid) * product + grid**2
        t = towards_row(square, product)
        assert (1 - t) ** 2 * square + 2 * t * (1 - t) * product + t**2 <= values.min() + 1e-9
