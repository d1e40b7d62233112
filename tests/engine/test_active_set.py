"""The min-norm point against scipy's nnls, against all faces of tiny hulls, and on degenerate rows."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from sepcert.engine.active_set import MinNormPoint, MinNormSolution
from sepcert.engine.passive_set import PassiveSet


def planted(rows: int, dimension: int, margin: float, seed: int, noise: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((rows, dimension - 1))
    normal = rng.standard_normal(dimension - 1)
    normal /= np.linalg.norm(normal)
    labels = np.where(points @ normal + noise * rng.standard_normal(rows) > 0, 1.0, -1.0)
    points += np.outer(labels * margin, normal)
    z = labels[:, None] * np.column_stack([np.ones(rows), points])
    return z / np.linalg.norm(z, axis=1, keepdims=True)


def oracle(z: np.ndarray) -> np.ndarray:
    system = np.vstack([z.T, np.ones(len(z))])
    target = np.zeros(len(system))
    target[-1] = 1.0
    u, _ = nnls(system, target, maxiter=100 * len(z))
    return u / u.sum()


def brute_force(z: np.ndarray) -> float:
    """The least norm over the affine least points, with nonnegative weights, of all subsets of rows."""
    best = np.inf
    for size in range(1, min(len(z), z.shape[1] + 1) + 1):
        for subset in itertools.combinations(range(len(z)), size):
            face = z[list(subset)]
            system = np.block([[face @ face.T, np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]])
            p = np.linalg.lstsq(system, np.append(np.zeros(size), 1.0), rcond=None)[0][:size]
            if p.min() >= -1e-12 and abs(p.sum() - 1.0) < 1e-9:
                best = min(best, float(np.linalg.norm(face.T @ p)))
    return best


def check_consistent(z: np.ndarray, solution: MinNormSolution) -> None:
    """p in the simplex, x = Z'p to rounding, the fields agree, and the support is where p is positive."""
    scale = float(np.linalg.norm(z, axis=1).max())
    assert solution.weights.shape == (len(z),)
    assert solution.weights.min() >= 0.0
    assert solution.weights.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_array_equal(np.flatnonzero(solution.weights), solution.support)
    assert np.linalg.norm(z.T @ solution.weights - solution.point) <= 1e-14 * scale
    assert solution.norm == pytest.approx(np.linalg.norm(solution.point))
    assert solution.least_product == pytest.approx((z @ solution.point).min(), abs=1e-15 * scale**2)
    if solution.converged and not solution.contains_origin:
        assert solution.least_product >= solution.norm**2 * (1 - 1e-8) - 1e-15 * solution.norm * scale


@pytest.mark.parametrize("block", [None, 1, 3, 40])
@pytest.mark.parametrize(
    ("rows", "dimension", "margin", "noise"),
    [(130, 21, 0.05, 0.0), (130, 21, 0.0, 0.3), (60, 40, 0.0, 5.0), (400, 61, 0.0, 0.1), (3, 30, 0.0, 1.0)],
)
def test_agrees_with_nnls(rows: int, dimension: int, margin: float, noise: float, block: int | None) -> None:
    for seed in range(3):
        z = planted(rows, dimension, margin, seed, noise)
        solution = MinNormPoint(z, block).solve()
        expected = oracle(z)
        check_consistent(z, solution)
        assert solution.converged
        assert solution.norm == pytest.approx(np.linalg.norm(z.T @ expected), abs=1e-9)
        if not solution.contains_origin:  # then the support is unique for points in general position
            np.testing.assert_allclose(solution.weights, expected, atol=1e-7)


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 6), st.integers(1, 3), st.integers(0, 10**9), st.sampled_from([1e-3, 1.0, 1e3]))
def test_agrees_with_all_faces_of_small_hulls(rows: int, dimension: int, seed: int, scale: float) -> None:
    """Small integers: repeated, opposite, dependent and zero rows all occur."""
    z = np.random.default_rng(seed).integers(-2, 3, (rows, dimension)).astype(float)
    solution = MinNormPoint(scale * z).solve()
    check_consistent(scale * z, solution)
    assert solution.converged
    assert solution.norm / scale == pytest.approx(brute_force(z), abs=1e-10)


def test_degenerate_rows() -> None:
    x = np.array([0.6, -0.8, 0.0])
    one = MinNormPoint(x[None]).solve()
    np.testing.assert_array_equal(one.point, x)
    assert one.separates
    assert not one.contains_origin
    opposite = MinNormPoint(np.array([x, -x])).solve()
    assert opposite.contains_origin
    np.testing.assert_allclose(opposite.weights, [0.5, 0.5])
    zero = MinNormPoint(np.array([x, np.zeros(3), -x])).solve()
    assert zero.contains_origin
    np.testing.assert_array_equal(zero.weights, [0.0, 1.0, 0.0])
    only_zero = MinNormPoint(np.zeros((2, 3))).solve()
    assert only_zero.contains_origin
    assert not only_zero.separates
    repeated = MinNormPoint(np.tile(x, (50, 1))).solve()
    assert repeated.converged
    assert repeated.norm == pytest.approx(1.0)
    with pytest.raises(ValueError, match="no rows"):
        MinNormPoint(np.empty((0, 3))).solve()


def test_tiny_row_is_not_mistaken_for_zero() -> None:
    z = np.array([[1e-3, 0.0], [1e3, 1e3], [1e3, -1e3]])
    solution = MinNormPoint(z).solve()
    assert solution.separates
    assert solution.norm == pytest.approx(1e-3)
    tiny = MinNormPoint(np.array([[1e-100, 0.0], [1.0, 0.5]])).solve()
    assert not tiny.contains_origin


@pytest.mark.parametrize("margin", [1e-6, 1e-9, 1e-12])
def test_direction_is_good_far_below_the_square_root_of_the_unit_roundoff(margin: float) -> None:
    """Rows at +-margin from a plane: the Gram matrix holds margin^2, which is below rounding."""
    rng = np.random.default_rng(5)
    flat = rng.standard_normal((60, 4))
    z = np.column_stack([np.full(60, margin), flat])
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    solution = MinNormPoint(z).solve()
    assert solution.converged
    assert solution.separates
    assert solution.point[0] / solution.norm == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("gap", [1e-6, 1e-10, 1e-13, 1e-15])
def test_nearly_repeated_rows_do_not_cycle(gap: float) -> None:
    base = planted(40, 6, 0.0, 3, noise=0.5)
    rng = np.random.default_rng(1)
    for sign in (1.0, -1.0):
        z = np.concatenate([base, sign * base * (1 + gap * rng.standard_normal(base.shape))])
        solution = MinNormPoint(z).solve()
        check_consistent(z, solution)
        assert solution.iterations < 400
        if sign > 0:
            assert solution.norm == pytest.approx(np.linalg.norm(z.T @ oracle(z)), abs=1e-7)
        else:
            assert solution.norm <= 10 * gap


def test_warm_start_equals_cold_start() -> None:
    z = planted(300, 15, 0.02, 7)
    warm = MinNormPoint(z[:80])
    first = warm.solve()
    warm.append(z[80:200])
    warm.solve()
    warm.append(z[200:])
    last = warm.solve()
    cold = MinNormPoint(z).solve()
    np.testing.assert_allclose(last.weights, cold.weights, atol=1e-10)
    assert last.iterations < cold.iterations
    assert first.norm >= last.norm
    again = warm.solve()
    assert again.iterations == 0
    np.testing.assert_allclose(again.weights, last.weights, atol=1e-14)


def test_append_of_much_longer_rows_and_keep() -> None:
    z = planted(60, 8, 0.05, 2)
    engine = MinNormPoint(z)
    engine.solve()
    longer = 500.0 * planted(60, 8, 0.05, 2)[::-1]
    engine.append(longer)
    check_consistent(np.concatenate([z, longer]), engine.solve())
    solution = engine.solve()
    order = np.concatenate([solution.support[::-1], [0, 61]])
    order = order[np.sort(np.unique(order, return_index=True)[1])]
    engine.keep(order)
    assert engine.count == len(order)
    kept = engine.solve()
    assert kept.iterations == 0
    np.testing.assert_allclose(kept.weights, solution.weights[order], atol=1e-12)
    mask = np.ones(len(order), dtype=bool)
    mask[0] = False
    engine.keep(mask)
    rows = np.concatenate([z, longer])[order[1:]]
    without = engine.solve()
    check_consistent(rows, without)
    np.testing.assert_allclose(without.weights, MinNormPoint(rows).solve().weights, atol=1e-9)
    engine.keep(without.weights == 0.0)
    check_consistent(rows[without.weights == 0.0], engine.solve())


def test_iteration_limit_returns_a_point_of_the_hull() -> None:
    z = planted(200, 20, 0.01, 4)
    engine = MinNormPoint(z)
    solution = engine.solve(max_iterations=3)
    check_consistent(z, solution)
    assert solution.iterations == 3
    assert not solution.converged
    assert engine.solve().converged


def test_no_floating_point_warning_on_extreme_scales() -> None:
    z = planted(50, 5, 0.01, 9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scale in (1e-150, 1e150):
            solution = MinNormPoint(scale * z).solve()
            assert solution.norm / scale == pytest.approx(MinNormPoint(z).solve().norm, rel=1e-9)


def test_passive_set_keeps_the_pseudo_inverse() -> None:
    rng = np.random.default_rng(0)
    columns = np.column_stack([rng.standard_normal((12, 9)), np.ones(12)])
    passive = PassiveSet(9)
    assert passive.add(np.arange(3), columns[:3]) == 3
    assert passive.add(np.array([1, 3]), columns[[1, 3]]) == 1  # a repeated row depends on those held
    assert passive.add(np.arange(4, 9), columns[4:9]) == 5
    passive.remove(np.array([5, 0, 3]))
    assert passive.add(np.array([9]), columns[9:10]) == 1
    held = columns[passive.index]
    np.testing.assert_array_equal(np.sort(passive.index), [1, 2, 4, 6, 7, 8, 9])
    np.testing.assert_array_equal(passive.points, held[:, :-1])
    inverse = np.linalg.pinv(held.T)
    for column in columns:
        np.testing.assert_allclose(passive.combination(column), inverse @ column, atol=1e-12)
    weights = np.linalg.solve(held @ held.T, np.ones(7))
    np.testing.assert_allclose(passive.affine_weights(), weights / weights.sum(), atol=1e-12)
    assert passive.refactor().all()
    for column in columns:
        np.testing.assert_allclose(passive.combination(column), inverse @ column, atol=1e-12)


def test_nearly_dependent_rows_are_noticed_and_repaired() -> None:
    """A column that is independent by 1e-6 only spoils the pseudo-inverse, and keeps spoiling it when it is gone."""
    rng = np.random.default_rng(4)
    columns = np.column_stack([rng.standard_normal((40, 30)), np.ones(40)])
    columns[20] = columns[:20].mean(axis=0) + 1e-7 * rng.standard_normal(31)
    columns[20, -1] = 1.0
    passive = PassiveSet(30)
    passive.add(np.arange(20), columns[:20])
    assert passive.error < 1e-12
    passive.add(np.array([20]), columns[20:21])
    assert passive.error > 1e-6
    passive.remove(np.array([20]))
    assert passive.error > 1e-6
    passive.refactor()
    assert passive.error == 0.0
    inverse = np.linalg.pinv(columns[:20].T)
    np.testing.assert_allclose(passive.combination(columns[30]), inverse @ columns[30], atol=1e-12)


def test_many_rows_near_a_face_of_full_dimension() -> None:
    """Hundreds of exchanges with k near D + 1, where an unrepaired factorisation loses its way."""
    z = planted(1200, 150, 0.0, 11)
    engine = MinNormPoint(z[:600])
    engine.solve()
    engine.append(z[600:])
    solution = engine.solve()
    check_consistent(z, solution)
    assert solution.converged
    assert solution.norm == pytest.approx(np.linalg.norm(z.T @ oracle(z)), rel=1e-8)
