"""Data that doubles cannot tell from degenerate ones, and numbers that doubles cannot hold."""

import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import sepcert


def ill_conditioned(dimension, power):
    """D + 1 rows with a positive witness, squeezed by 10**-power in some directions."""
    rng = np.random.default_rng([0, 10])
    rows = dimension + 1
    signs = np.ones(rows, dtype=int)
    signs[::2] = -1
    points = rng.normal(size=(dimension, dimension))
    p = rng.uniform(0.2, 1, rows)
    last = -(signs[:-1] * p[:-1]) @ points / (p[-1] * signs[-1])
    left, _, right = np.linalg.svd(rng.normal(size=(dimension, dimension)))
    squeeze = left @ np.diag(10.0 ** np.linspace(0, -power, dimension)) @ right
    return np.vstack([points, last]) @ squeeze, signs


@pytest.mark.parametrize("power", [7, 10, 13, 15])
@pytest.mark.parametrize("dimension", [40, 100])
def test_nearly_dependent_rows_are_decided(dimension, power):
    X, y = ill_conditioned(dimension, power)
    result = sepcert.check(X, y, bias=False, time_limit_seconds=60)
    assert result.separation == "overlap"
    assert not any("exact simplex" in note for note in result.notes)


@pytest.mark.parametrize(("n", "d", "rank"), [(300, 60, 30), (300, 40, 20), (150, 100, 50)])
def test_nearly_rank_deficient_data_are_decided(n, d, rank):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d))
    result = sepcert.check(X, rng.choice([-1, 1], n), time_limit_seconds=60)
    assert result.verified
    assert not any("exact simplex" in note for note in result.notes)


@pytest.mark.parametrize("columns", [30, 60])
def test_two_points_a_hair_apart_tilt_the_separator(columns):
    rng = np.random.default_rng(columns)
    X = rng.standard_normal((1500, columns))
    w = rng.standard_normal(columns)
    w /= np.linalg.norm(w)
    X += 0.3 * np.sign(X @ w)[:, None] * w
    y = (X @ w > 0).astype(int)
    first = rng.standard_normal(columns)
    first -= (first @ w) * w
    second = first.copy()
    second[3] = np.nextafter(first[3], 9.0)
    result = sepcert.check(np.vstack([X, first, second]), np.append(y, [0, 1]), time_limit_seconds=60)
    assert result.separation == "complete"
    assert result.margin.lower < 1e-16


def test_many_points_within_rounding_of_the_plane():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 40))
    w = rng.standard_normal(40)
    X[:200] -= np.outer(X[:200] @ w, w) / (w @ w)
    result = sepcert.check(X, (X @ w > 0).astype(int), time_limit_seconds=60)
    assert result.verified
    assert not any("exact simplex" in note for note in result.notes)


@pytest.mark.parametrize(
    "X",
    [
        [[5e-324], [1e-323]],
        [[Fraction(1, 10**400)], [Fraction(2, 10**400)]],
        [[5e-324, 1.0], [1.0, 1.0]],
        [[1e300, 1e-300], [-1e300, -1e-300]],
    ],
)
def test_the_json_of_extreme_numbers_is_finite_and_says_what_rounding_does(X):
    result = sepcert.check(X, [0, 1])
    assert result.verified
    separator = json.loads(json.dumps(result.to_dict(), allow_nan=False))["separator"]
    assert isinstance(separator["holds_in_doubles"], bool)
    assert result.separator.holds_in_doubles is separator["holds_in_doubles"]


def test_weights_that_hold_in_doubles():
    result = sepcert.check([[1.0], [2.0], [3.0]], [0, 0, 1])
    assert result.separator.holds_in_doubles
    assert (result.separator.decision_function([[1.0], [2.0], [3.0]]) > 0).tolist() == [False, False, True]


def test_without_a_search_the_trivial_upper_end_is_certified():
    X = [[-0.0, -9.332636185032189e-302, 1e-300], [9.332636185032189e-302, 9.332636185032189e-302, 1e-300]]
    result = sepcert.check(X, [1, 0], bias=False)
    assert result.verdict == "separable"
    assert result.margin.upper >= result.margin.lower >= 0


def test_weights_of_an_implicit_witness_are_accurate():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((1500, 120)) * 10.0 ** rng.integers(-3, 3, 120)
    y = rng.choice([0, 1], 1500)
    result = sepcert.check(X, y)
    assert result.evidence.witness.p is None
    witness = result.witness
    assert min(witness.p) > 0
    rows = X[witness.index] * np.where(y[witness.index] == 1, 1, -1)[:, None]
    for column in rows.T[:10]:
        exact = sum(Fraction(p) * Fraction(float(v)) for p, v in zip(witness.p, column, strict=True))
        assert abs(exact) <= Fraction(1, 2**48) * sum(
            Fraction(p) * abs(Fraction(float(v))) for p, v in zip(witness.p, column, strict=True)
        )


def test_a_gap_counts_as_reached_only_where_it_is_proved():
    seconds = 1.7e9 + np.arange(400.0)
    X = np.column_stack([seconds, np.random.default_rng(0).standard_normal(400)])
    result = sepcert.check(X, (np.arange(400) > 200).astype(int), gap=1e-9)
    assert result.verdict == "separable"
    reached = result.margin.upper - result.margin.lower <= 1e-9 * result.margin.upper
    assert (result.termination == "claim-reached") is reached


def test_absurd_exponents_are_refused_at_once():
    for text in ("1e-99999999", "1e999999999", "snan"):
        with pytest.raises(sepcert.DataError):
            sepcert.check([[Decimal(text)], [Decimal("0.1")]], [0, 1])


@pytest.mark.parametrize(
    "options",
    [
        {"bias": 2},
        {"bias": "no"},
        {"bias": None},
        {"bias_scale": 0},
        {"bias_scale": Fraction(10) ** 400},
        {"bias_scale": "x"},
        {"bias_scale": Decimal("1e-99999999")},
        {"epsilon": "a"},
        {"epsilon": float("nan")},
        {"gap": -1.0},
        {"min_margin": float("inf")},
        {"max_iterations": 1.5},
        {"max_iterations": -1},
        {"seed": -1},
        {"seed": "a"},
        {"time_limit_seconds": 0},
        {"algorithm": None},
        {"kernel": None},
        {"kernel": []},
    ],
)
def test_options_that_cannot_be(options):
    with pytest.raises(sepcert.ConfigError):
        sepcert.check([[1.0], [2.0]], [0, 1], **options)


@pytest.mark.parametrize(
    "options",
    [
        {"bias": np.True_},
        {"bias_scale": np.int64(2)},
        {"bias_scale": np.float32(0.5)},
        {"bias_scale": "1/3"},
        {"bias_scale": Decimal("0.1")},
        {"gap": np.float64(1e-3), "seed": np.int64(3), "max_iterations": np.int64(50)},
        {"epsilon": np.float32(0.5), "min_margin": np.float64(0.01), "time_limit_seconds": np.int64(3)},
    ],
)
def test_numbers_of_other_types_are_taken_and_can_be_saved(options, tmp_path):
    result = sepcert.check([[1.0], [2.0]], [0, 1], **options)
    json.dumps(result.to_dict(), allow_nan=False)
    result.certificate.save(tmp_path / "c.json")
    assert sepcert.verify(tmp_path / "c.json", X=[[1.0], [2.0]], y=[0, 1]).verified


@pytest.mark.parametrize("algorithm", ["smoothed-kernel-perceptron", "von-neumann"])
def test_dense_weights_on_many_rows_are_bounded_without_exact_sums(algorithm, monkeypatch):
    """A witness on all of 20,000 rows: its bound comes from doubles with a proved error."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 10))

    def refuse(*arguments):
        raise AssertionError("an exact sum over all rows")

    monkeypatch.setattr("sepcert.verify.margin._quotient", refuse)
    result = sepcert.check(X, rng.choice([0, 1], 20_000), algorithm=algorithm, max_iterations=3)
    assert result.verdict in {"undecided", "inseparable"}
    assert result.margin.upper is not None
