"""Verdicts with strictly positive definite kernels."""

import contextlib
import json

import numpy as np
import pytest

import sepcert

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
KERNELS = {
    "gaussian": {"gamma": 0.5},
    "laplacian": {"gamma": 1},
    "matern": {"nu": "3/2", "length_scale": 1},
}


def circles(rows, seed=0):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, rows)
    y = rng.integers(0, 2, rows)
    radius = 1 + 0.5 * y + 0.1 * rng.uniform(-1, 1, rows)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("bias", [True, False])
def test_distinct_points_are_separable(kernel, bias, tmp_path):
    result = sepcert.check(CORNERS, [0, 1, 1, 0], kernel=kernel, bias=bias, **KERNELS[kernel])
    assert (result.verdict, result.separation, result.verified) == ("separable", None, True)
    assert 0 < result.margin.lower <= result.margin.upper <= 1.01 * result.margin.lower
    assert result.separator.weights is None
    assert ((result.separator.decision_function(CORNERS) > 0) == [False, True, True, False]).all()
    json.dumps(result.to_dict(), allow_nan=False)
    result.certificate.save(tmp_path / "c.json")
    assert sepcert.verify(tmp_path / "c.json", X=CORNERS, y=[0, 1, 1, 0]).verified
    assert not sepcert.verify(tmp_path / "c.json", X=CORNERS, y=[0, 1, 0, 1]).verified


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_conflicting_duplicates_are_the_witness(kernel, tmp_path):
    X = np.vstack([CORNERS, [[-0.0, 0.0]]])
    result = sepcert.check(X, [0, 1, 1, 0, 1], kernel=kernel, **KERNELS[kernel])
    assert (result.verdict, result.verified) == ("inseparable", True)
    assert (result.witness.rows, result.witness.p, result.witness.exact) == ([1, 5], [0.5, 0.5], True)
    assert result.margin.upper == 0.0
    result.certificate.save(tmp_path / "c.json")
    assert sepcert.verify(tmp_path / "c.json", X=X, y=[0, 1, 1, 0, 1]).verified


def test_the_margin_of_a_small_problem_contains_the_exact_optimum():
    from scipy.optimize import minimize

    X, y = circles(12)
    signs = np.where(y == 1, 1, -1)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    G = (np.exp(-0.7 * squares) + 1) / 2 * np.outer(signs, signs)
    found = minimize(
        lambda p: p @ G @ p,
        np.full(12, 1 / 12),
        jac=lambda p: 2 * G @ p,
        bounds=[(0, 1)] * 12,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like},
        options={"ftol": 1e-16, "maxiter": 1000},
    )
    result = sepcert.check(X, y, kernel="gaussian", gamma=0.7, gap=1e-6)
    rho = np.sqrt(found.fun)
    assert result.margin.lower <= rho * (1 + 1e-6)
    assert result.margin.upper >= rho * (1 - 1e-6)
    assert result.margin.upper - result.margin.lower <= 1.01e-6 * result.margin.upper


def test_scaling_the_kernel_does_not_change_the_margin_without_a_bias():
    X, y = circles(60)
    small = sepcert.check(X, y, kernel="gaussian", gamma=2, bias=False, gap=1e-5)
    shifted = sepcert.check(X + 3.0, y, kernel="gaussian", gamma=2, bias=False, gap=1e-5)
    assert shifted.margin.lower <= small.margin.upper * (1 + 1e-6)
    assert small.margin.lower <= shifted.margin.upper * (1 + 1e-6)


def test_a_separable_problem_below_the_resolution_of_doubles_is_still_decided():
    X, y = circles(200)
    result = sepcert.check(X, y, kernel="gaussian", gamma=1e-9)
    assert (result.verdict, result.verified) == ("separable", True)


def test_dropping_a_column_creates_the_duplicates(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,id,y\n0.1,1,0\n0.2,2,1\n0.1,3,1\n0.3,4,0\n")
    from sepcert.certify import check_dataset
    from sepcert.check_options import CheckOptions
    from sepcert.data.reader import ReadOptions, read_dataset

    options = CheckOptions(kernel="gaussian", kernel_parameters={"gamma": "0.5"})
    assert check_dataset(read_dataset(str(path)), options).verdict == "separable"
    dropped = check_dataset(read_dataset(str(path), ReadOptions(drop=("id",))), options)
    assert dropped.witness.rows == [1, 3]


def test_decimals_that_are_one_double_apart_only_as_written(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,y\n0.10000000000000000001,0\n0.1,1\n")
    from sepcert.certify import check_dataset
    from sepcert.check_options import CheckOptions
    from sepcert.data.reader import read_dataset

    result = check_dataset(read_dataset(str(path)), CheckOptions(kernel="laplacian", kernel_parameters={"gamma": "1"}))
    assert result.verdict == "separable"
    assert result.other_numbers == {"numbers": "binary64", "verdict": "inseparable", "separation": None}


@pytest.mark.parametrize(
    ("kernel", "parameters"),
    [
        ("gaussian", {"gamma": 0}),
        ("gaussian", {"gamma": -1}),
        ("gaussian", {}),
        ("gaussian", {"gama": 1}),
        ("matern", {"nu": 2, "length_scale": 1}),
        ("sigmoid", {}),
        ("polynomial", {"degree": 2}),
        ("rbf", {}),
    ],
)
def test_kernels_that_cannot_be(kernel, parameters):
    with pytest.raises(sepcert.KernelError):
        sepcert.check(CORNERS, [0, 1, 1, 0], kernel=kernel, **parameters)


def test_tampering_with_a_kernel_certificate(tmp_path):
    X, y = circles(20)
    result = sepcert.check(X, y, kernel="gaussian", gamma=1)
    path = tmp_path / "c.json"
    result.certificate.save(path)
    text = path.read_text()
    stored = json.loads(text)
    assert sepcert.verify(path, X=X, y=y).verified
    row, value = stored["separator"]["alpha"][0]
    changes = [
        (json.dumps(stored["kernel"]["parameters"]), json.dumps({"gamma": "0x2"})),
        (f'"{stored["margin"]["lower"]}"', '"0x1.0p-1"'),
        (f'"{stored["margin"]["upper"]}"', '"0x1.0p-30"'),
        (f'[{row}, "{value}"]', f'[{row}, "-0x1.0p+9"]'),
        ('"separable"', '"inseparable"'),
    ]
    for before, after in changes:
        assert before in text
        path.write_text(text.replace(before, after, 1))
        with contextlib.suppress(sepcert.CertificateError):
            assert not sepcert.verify(path, X=X, y=y).verified, before


@pytest.mark.parametrize("algorithm", ["nvn", "snkp", "nkp", "block-principal-pivoting", "isnkpvn"])
def test_named_algorithms_with_a_kernel(algorithm):
    X, y = circles(80)
    result = sepcert.check(X, y, kernel="gaussian", gamma=4, algorithm=algorithm, max_iterations=3000, epsilon=1e-9)
    assert (result.verdict, result.verified) == ("separable", True)
    best = sepcert.check(X, y, kernel="gaussian", gamma=4)
    assert result.margin.lower is None or result.margin.lower <= best.margin.upper
    assert result.margin.upper is None or result.margin.upper >= best.margin.lower


def test_an_algorithm_that_needs_rows():
    with pytest.raises(sepcert.ConfigError, match="works on rows"):
        sepcert.check(CORNERS, [0, 1, 1, 0], kernel="gaussian", gamma=1, algorithm="perceptron")


@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("sum", [{"name": "linear"}, {"name": "gaussian", "gamma": "0.5"}]),
        ("product", [{"name": "gaussian", "gamma": "0.5"}, {"name": "laplacian", "gamma": "0.25"}]),
    ],
)
def test_sums_and_products(name, members, tmp_path):
    result = sepcert.check(CORNERS, [0, 1, 1, 0], kernel=name, of=members)
    assert (result.verdict, result.verified) == ("separable", True)
    result.certificate.save(tmp_path / "c.json")
    assert sepcert.verify(tmp_path / "c.json", X=CORNERS, y=[0, 1, 1, 0]).verified


def test_sums_that_are_not_strictly_positive_definite_are_refused():
    with pytest.raises(sepcert.KernelError, match="not strictly positive definite"):
        sepcert.check(CORNERS, [0, 1, 1, 0], kernel="sum", of=[{"name": "linear"}, {"name": "linear"}])
