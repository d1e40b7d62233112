"""Every algorithm on every problem: what it leads to is true, and the verifier has accepted it."""

import numpy as np
import pytest

import sepcert
from sepcert.engine.registry import ALGORITHMS

TRUTH = {"complete": "separable", "quasi-complete": "inseparable", "overlap": "inseparable"}


def planted(rows, columns, gap, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns))
    w = rng.standard_normal(columns)
    side = X @ w / np.linalg.norm(w)
    X += gap * np.sign(side)[:, None] * w / np.linalg.norm(w)
    return X, (side > 0).astype(int)


def problems():
    """Name -> (X, y, options, separation)."""
    rng = np.random.default_rng(5)
    X, y = planted(120, 4, 0.3)
    flipped = y.copy()
    flipped[:3] = 1 - flipped[:3]
    noisy = rng.integers(0, 2, 120)
    grid = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    wide = rng.standard_normal((12, 200))
    return {
        "wide margin": (X, y, {}, "complete"),
        "narrow margin": (*planted(150, 3, 0.001, 3), {}, "complete"),
        "no bias": (*planted(100, 5, 0.2, 4), {"bias": False}, "complete"),
        "one row a class": (np.array([[1.0, 2.0], [2.0, 1.0]]), [0, 1], {}, "complete"),
        "fewer rows than columns": (wide, rng.permutation([0, 1] * 6), {}, "complete"),
        "random labels": (X, noisy, {}, "overlap"),
        "three flipped labels": (X, flipped, {}, "overlap"),
        "a conflicting duplicate": (np.vstack([X, X[:1]]), np.append(y, 1 - y[0]), {}, "overlap"),
        "xor": (grid, [0, 1, 1, 0], {}, "overlap"),
        "a tie": (np.array([[1.0], [2.0], [2.0], [3.0]]), [0, 0, 1, 1], {}, "quasi-complete"),
        "a level": (np.column_stack([rng.integers(0, 3, 60), np.arange(60) < 9]), [1] * 9 + [0, 1, 0] * 17, {}, None),
        "a zero row": (np.array([[0.0, 0.0], [1.0, 2.0], [-1.0, 1.0]]), [0, 1, 0], {"bias": False}, "quasi-complete"),
        "bad scales": (X * [1e-9, 1e9, 1.0, 1e3], y, {}, "complete"),
    }


@pytest.mark.parametrize("algorithm", ["auto", *ALGORITHMS])
@pytest.mark.parametrize("problem", list(problems()))
def test_every_verdict_is_true_and_verified(problem, algorithm):
    X, y, options, separation = problems()[problem]
    separation = separation or sepcert.check(X, y, **options).separation
    result = sepcert.check(X, y, algorithm=algorithm, epsilon=1e-3, max_iterations=400, **options)
    if algorithm == "auto":
        assert result.separation == separation
    if result.verdict in {"separable", "inseparable"}:
        assert result.verified
        assert result.verdict == TRUTH[separation]
        assert result.separation in {separation, None}
    elif result.verdict == "margin-at-most":
        assert result.verified
        assert result.margin.upper <= 1e-3
    else:
        assert algorithm != "auto"
        assert not result.verified
    exact = sepcert.check(X, y, gap=1e-6, **options)
    if exact.verdict == "separable":
        assert result.margin.lower is None or result.margin.lower <= exact.margin.upper
        assert result.margin.upper is None or result.margin.upper >= exact.margin.lower


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_every_algorithm_decides_the_easy_ones(algorithm):
    X, y, options, _ = problems()["wide margin"]
    result = sepcert.check(X, y, algorithm=algorithm, max_iterations=20_000, **options)
    assert result.verdict == "separable"
    assert result.algorithm == algorithm
    witnesses = "witness" in ALGORITHMS[algorithm].proves
    X, y, options, _ = problems()["random labels"]
    overlapping = sepcert.check(X, y, algorithm=algorithm, epsilon=1e-3, max_iterations=3000, **options)
    assert (overlapping.verdict in {"inseparable", "margin-at-most"}) is witnesses


def test_aliases_and_unknown_names():
    X, y, _, _ = problems()["wide margin"]
    assert sepcert.check(X, y, algorithm="nvn").verdict == "separable"
    with pytest.raises(sepcert.ConfigError, match="did you mean 'von-neumann'"):
        sepcert.check(X, y, algorithm="von-neuman")


def test_options_of_an_algorithm():
    X, y, _, _ = problems()["wide margin"]
    orders = {
        order: sepcert.check(X, y, algorithm="perceptron", algorithm_options={"order": order}).iterations
        for order in ("cyclic", "worst")
    }
    assert len(set(orders.values())) == 2
    with pytest.raises(sepcert.ConfigError, match="takes no option 'gama'"):
        sepcert.check(X, y, algorithm="isnkpvn", algorithm_options={"gama": 2})
    with pytest.raises(sepcert.ConfigError):
        sepcert.check(X, y, algorithm="isnkpvn", algorithm_options={"gamma": "fast"})
    with pytest.raises(sepcert.ConfigError, match="auto takes no options"):
        sepcert.check(X, y, algorithm_options={"gamma": 2})


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        ("perceptron", {"seed": 1.5}),
        ("perceptron", {"seed": "x"}),
        ("perceptron", {"seed": -1}),
        ("min-norm-point", {"sample": 0}),
        ("min-norm-point", {"batch": "x"}),
        ("snkp", {"delta": True}),
        ("snkpvn", {"q": 1}),
        ("isnkpvn", {"gamma": "true"}),
    ],
)
def test_options_of_the_wrong_kind_are_refused(algorithm, options):
    X, y, _, _ = problems()["wide margin"]
    with pytest.raises(sepcert.ConfigError):
        sepcert.check(X, y, algorithm=algorithm, algorithm_options=options)


def test_a_time_limit_leaves_the_exact_stage_its_part():
    X, y, _, _ = problems()["random labels"]
    result = sepcert.check(X, y, algorithm="nkp", time_limit_seconds=1.0)
    assert result.verdict == "inseparable"


def test_the_bias_scale_of_a_kernel_is_limited():
    with pytest.raises(sepcert.ConfigError, match="bias_scale"):
        sepcert.check([[0.0], [1.0]], [0, 1], kernel="gaussian", gamma=1, bias_scale=1e200)
