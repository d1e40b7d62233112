"""What must not change the verdict: scales, shifts, order, repetition, names of the classes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sepcert


def verdict(X, y, **options):
    result = sepcert.check(X, y, **options)
    assert result.verified
    return result.separation


@st.composite
def problems(draw):
    """Small problems with many ties; all entries are small integers, so that scaling is exact."""
    n, d = draw(st.integers(4, 14)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(-4, 5, (n, d)).astype(float)
    kind = draw(st.sampled_from(["random", "plane", "plane and ties"]))
    y = rng.choice([0, 1], n)
    if kind != "random":
        side = X @ rng.integers(-3, 4, d) + rng.integers(-2, 3)
        y = np.where(side > 0, 1, np.where(side < 0, 0, y if kind == "plane and ties" else 1))
    y[:2] = [0, 1]
    return X, y


@given(problems(), st.data())
@settings(max_examples=60, deadline=None)
def test_scaling_a_column_changes_nothing(problem, data):
    X, y = problem
    column = data.draw(st.integers(0, X.shape[1] - 1))
    power = data.draw(st.integers(-30, 30))
    by_two, by_ten = X.copy(), X.copy()
    by_two[:, column] *= 2.0**power
    by_ten[:, column] = [float(f"{int(v)}e{power}") for v in X[:, column]]
    expected = verdict(X, y)
    assert verdict(by_two, y) == expected
    assert verdict(by_ten, y, numbers="decimal") == expected


@given(problems(), st.data())
@settings(max_examples=60, deadline=None)
def test_shifting_a_column_changes_nothing_with_a_bias(problem, data):
    X, y = problem
    shifted = X.copy()
    shifted[:, data.draw(st.integers(0, X.shape[1] - 1))] += data.draw(st.integers(-(2**40), 2**40))
    assert verdict(shifted, y) == verdict(X, y)


@given(problems(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_order_and_repetition_of_rows_change_nothing(problem, random):
    X, y = problem
    expected = verdict(X, y)
    order = list(range(len(X)))
    random.shuffle(order)
    assert verdict(X[order], y[order]) == expected
    more = order + random.choices(order, k=5)
    assert verdict(X[more], y[more]) == expected


@given(problems(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_scaling_rows_changes_nothing_without_a_bias(problem, random):
    X, y = problem
    factors = np.array([2.0 ** random.randint(-30, 30) * random.randint(1, 9) for _ in y])
    assert verdict(X * factors[:, None], y, bias=False) == verdict(X, y, bias=False)


@given(problems())
@settings(max_examples=60, deadline=None)
def test_names_of_the_classes_change_nothing(problem):
    X, y = problem
    expected = verdict(X, y)
    assert verdict(X, 1 - y) == expected
    assert verdict(X, y, positive=0) == expected
    assert verdict(X, np.where(y == 1, "sick", "well")) == expected
    assert verdict(-X, y) == expected


@given(problems())
@settings(max_examples=40, deadline=None)
def test_aliased_columns_change_nothing_and_are_listed(problem):
    X, y = problem
    twice = np.column_stack([X, X[:, 0] * 2 - 1])
    result = sepcert.check(twice, y)
    assert result.separation == verdict(X, y)
    assert f"x{twice.shape[1]}" in result.aliased


@given(problems(), st.fractions(min_value="1/1000", max_value=1000))
@settings(max_examples=40, deadline=None)
def test_the_bias_scale_changes_nothing(problem, scale):
    X, y = problem
    assert verdict(X, y, bias_scale=scale) == verdict(X, y)


@pytest.mark.parametrize("step", [1, 1e-4, 1e-6])
def test_unix_timestamps(step):
    seconds = 1.7e9 + step * np.arange(40)
    y = (np.arange(40) >= 20).astype(int)
    assert verdict(seconds[:, None], y) == "complete"
    y[[19, 20]] = [1, 0]
    assert verdict(seconds[:, None], y) == "overlap"


def test_one_feature_with_a_tie():
    x = np.array([[1.0], [2.0], [3.0], [3.0], [4.0]])
    assert verdict(x, [0, 0, 0, 1, 1]) == "quasi-complete"
    assert verdict(x, [0, 0, 1, 1, 1]) == "complete"


def test_fewer_rows_than_columns():
    rng = np.random.default_rng(0)
    assert verdict(rng.standard_normal((8, 30)), [0, 1] * 4) == "complete"
    same = np.vstack([np.ones((2, 30)), np.zeros((1, 30))])
    assert verdict(same, [0, 1, 1]) != "complete"


@pytest.mark.parametrize("rows", [60, 3000])
def test_large_and_small_paths_agree(rows):
    """The same problem through the exact simplex alone and through the engine, by repeating rows."""
    rng = np.random.default_rng(rows)
    for _ in range(6):
        X = rng.integers(-3, 4, (12, 3)).astype(float)
        y = np.where(X @ [1, 2, -1] + rng.integers(-1, 2, 12) > 0, 1, 0)
        y[:2] = [0, 1]
        many = np.tile(X, (rows // 12, 1))
        assert verdict(many, np.tile(y, rows // 12)) == verdict(X, y)
