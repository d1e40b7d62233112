"""Kernels from what users write and from what certificates hold; faults with their codes."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sepcert.certificate.numerals import format_number, parse_number
from sepcert.config import resolve, show
from sepcert.errors import ConfigError, KernelError
from sepcert.kernels import (
    DEFINED,
    KERNELS,
    GaussianKernel,
    LinearKernel,
    PolynomialKernel,
    PrecomputedKernel,
    SumKernel,
    accepted_parameters,
    define_kernel,
    make_kernel,
    rebuild_kernel,
)
from sepcert.kernels.parameters import exact_text


@pytest.fixture
def all_kernels(monkeypatch):
    """Accept every kernel that is defined."""
    for name, kernel in DEFINED.items():
        monkeypatch.setitem(KERNELS, name, kernel)


def test_numbers_are_exact():
    half = Fraction(1, 2)
    for written in ("0.5", "1/2", " .5", "5e-1", 0.5, Fraction(1, 2), Decimal("0.5")):
        assert GaussianKernel(written).gamma == half
    assert GaussianKernel("0.1").gamma == Fraction(1, 10)
    assert GaussianKernel(0.1).gamma == Fraction(0.1)
    assert GaussianKernel(np.float64(0.1)).gamma == Fraction(0.1)
    assert PolynomialKernel("3").degree == PolynomialKernel(3.0).degree == 3
    assert isinstance(PolynomialKernel("3").degree, int)


def test_defaults():
    assert PolynomialKernel(2) == define_kernel("polynomial", {"degree": 2, "gamma": None, "coef0": "1"})
    assert define_kernel("linear") == LinearKernel()


BAD = [
    ("gaussian", {}, "KERNEL-MISSING", r"needs gamma \(a number, scale or median\)"),
    ("laplacian", {}, "KERNEL-MISSING", "needs gamma"),
    ("polynomial", {}, "KERNEL-MISSING", "needs degree"),
    ("matern", {"nu": "1/2"}, "KERNEL-MISSING", "needs length_scale"),
    ("precomputed", {}, "KERNEL-MISSING", "needs matrix"),
    ("sum", {}, "KERNEL-MISSING", "needs of"),
    ("gaussian", {"gama": 1}, "KERNEL-PARAMETER", "did you mean 'gamma'"),
    ("linear", {"gamma": 1}, "KERNEL-PARAMETER", "takes no parameter 'gamma'"),
    ("matern", {"nu": 1, "lengthscale": 1}, "KERNEL-PARAMETER", "did you mean 'length_scale'"),
    ("gaussian", {"gamma": 0}, "KERNEL-VALUE", "not above zero"),
    ("gaussian", {"gamma": "-1"}, "KERNEL-VALUE", "not above zero"),
    ("gaussian", {"gamma": "auto"}, "KERNEL-VALUE", "neither a number nor one of scale, median"),
    ("gaussian", {"gamma": "scale"}, "KERNEL-VALUE", "needs the data"),
    ("gaussian", {"gamma": "1_0"}, "KERNEL-VALUE", "not a number"),
    ("gaussian", {"gamma": "1/0"}, "KERNEL-VALUE", "not a number"),
    ("gaussian", {"gamma": "1e999"}, "KERNEL-VALUE", "out of range"),
    ("gaussian", {"gamma": "1e9999"}, "KERNEL-VALUE", "not a number"),
    ("gaussian", {"gamma": "9" * 5000}, "KERNEL-VALUE", "not a number"),
    ("gaussian", {"gamma": float("nan")}, "KERNEL-VALUE", "not a number"),
    ("gaussian", {"gamma": float("inf")}, "KERNEL-VALUE", "not a number"),
    ("gaussian", {"gamma": True}, "KERNEL-VALUE", "not a number"),
    ("gaussian", {"gamma": [1]}, "KERNEL-VALUE", "not a number"),
    ("gaussian", {"gamma": Fraction(10**700 + 1, 10**700)}, "KERNEL-VALUE", "too many digits"),
    ("laplacian", {"gamma": "scale"}, "KERNEL-VALUE", "not a number"),
    ("polynomial", {"degree": 0}, "KERNEL-VALUE", "not a whole number above zero"),
    ("polynomial", {"degree": "2.5"}, "KERNEL-VALUE", "not a whole number above zero"),
    ("polynomial", {"degree": "-1"}, "KERNEL-VALUE", "not a whole number above zero"),
    ("polynomial", {"degree": 1001}, "KERNEL-VALUE", "above 1000"),
    ("polynomial", {"degree": 2, "coef0": "-0.1"}, "KERNEL-VALUE", "below zero"),
    ("polynomial", {"degree": 2, "gamma": 0}, "KERNEL-VALUE", "not above zero"),
    ("matern", {"nu": 1, "length_scale": 1}, "KERNEL-VALUE", "none of 1/2, 3/2, 5/2"),
    ("matern", {"nu": "0.5", "length_scale": 0}, "KERNEL-VALUE", "not above zero"),
    ("sum", {"of": ["linear"]}, "KERNEL-VALUE", "too few"),
    ("sum", {"of": "linear"}, "KERNEL-VALUE", "not a list of kernels"),
    ("sum", {"of": {"name": "linear"}}, "KERNEL-VALUE", "not a list of kernels"),
    ("sum", {"of": ["linear", 3]}, "KERNEL-VALUE", "not a kernel"),
    ("product", {"of": ["linear", {"gamma": 3}]}, "KERNEL-VALUE", "not a kernel"),
    ("product", {"of": ["linear", {"name": "gaussian"}]}, "KERNEL-MISSING", "needs gamma"),
    ("product", {"of": ["linear", {"name": "gaussian", "gama": 1}]}, "KERNEL-PARAMETER", "did you mean 'gamma'"),
    ("product", {"of": ["linear", "gausian"]}, "KERNEL-UNKNOWN", "'gausian'"),
    ("product", {"of": ["linear", "tanh"]}, "KERNEL-INDEFINITE", "not positive semidefinite"),
    ("sigmoid", {}, "KERNEL-INDEFINITE", r"tanh\(gamma x'z \+ coef0\) is not positive semidefinite"),
    ("tanh", {"gamma": 1}, "KERNEL-INDEFINITE", "no feature space"),
    ("cosine", {}, "KERNEL-UNKNOWN", "built kernels: "),
]


@pytest.mark.parametrize(("name", "parameters", "code", "message"), BAD)
def test_faults(all_kernels, name, parameters, code, message):
    with pytest.raises(KernelError, match=message) as caught:
        make_kernel(name, parameters)
    assert caught.value.code == code


def test_other_names_lead_to_ours(all_kernels):
    for given_name, ours in [
        ("rbf", "gaussian"),
        ("poly", "polynomial"),
        ("gausian", "gaussian"),
        ("Matern", "matern"),
    ]:
        with pytest.raises(KernelError, match=f"did you mean '{ours}'"):
            make_kernel(given_name)


def test_endless_nesting_is_refused(all_kernels):
    nested: object = "linear"
    for _ in range(20):
        nested = {"name": "sum", "of": [nested, "linear"]}
    with pytest.raises(KernelError, match="deeper than"):
        make_kernel("sum", {"of": [nested, "linear"]})


NESTED = {
    "of": [
        "linear",
        {"name": "gaussian", "gamma": "0.1"},
        {"name": "product", "of": [{"name": "matern", "nu": "5/2", "length_scale": "1/3"}, LinearKernel()]},
    ]
}
GOOD = [
    ("linear", {}),
    ("polynomial", {"degree": 3, "gamma": "0.1", "coef0": 0}),
    ("gaussian", {"gamma": "1/3"}),
    ("gaussian", {"gamma": "median"}),
    ("laplacian", {"gamma": "1e-90"}),
    ("matern", {"nu": "1.5", "length_scale": "2.5"}),
    ("sum", NESTED),
    ("product", NESTED),
]


@pytest.mark.parametrize(("name", "parameters"), GOOD)
def test_certificates_hold_kernels_exactly(name, parameters):
    kernel = define_kernel(name, parameters, np.random.default_rng(0).normal(size=(9, 2)))
    written = kernel.parameters()
    again = rebuild_kernel(name, written)
    assert again == kernel
    assert again.parameters() == written
    for key, text in written.items():
        if not key.endswith("name"):
            assert format_number(parse_number(text)) == text


def test_a_matrix_is_found_again(tmp_path):
    kernel = PrecomputedKernel(np.eye(3))
    np.save(tmp_path / "K.npy", np.eye(3))
    assert rebuild_kernel("precomputed", kernel.parameters(), str(tmp_path / "K.npy")).sha256 == kernel.sha256
    assert rebuild_kernel("precomputed", kernel.parameters(), np.eye(3)).sha256 == kernel.sha256
    with pytest.raises(KernelError, match="not the one"):
        rebuild_kernel("precomputed", kernel.parameters(), 2 * np.eye(3))
    with pytest.raises(KernelError, match="is not given"):
        rebuild_kernel("precomputed", kernel.parameters())
    with pytest.raises(KernelError, match="not the one"):
        rebuild_kernel("precomputed", {}, np.eye(3))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("gaussian", {}),
        ("gaussian", {"gamma": "0.5"}),
        ("gaussian", {"gamma": "0x1/0x2"}),
        ("gaussian", {"gamma": "0x1.80p+0"}),
        ("gaussian", {"gamma": "0x1p+999"}),
        ("gaussian", {"gamma": "0x1/0x0"}),
        ("gaussian", {"gamma": "-0x1p+0"}),
        ("gaussian", {"gamma": "0x0p+0"}),
        ("gaussian", {"gamma": "scale"}),
        ("gaussian", {"gamma": "0x1p-1", "delta": "0x1p-1"}),
        ("linear", {"gamma": "0x1p-1"}),
        ("polynomial", {"degree": "0x1p+1", "gamma": "0x1p+0"}),
        ("polynomial", {"degree": "0x1.8p+0", "gamma": "0x1p+0", "coef0": "0x1p+0"}),
        ("sum", {"of.1.name": "linear"}),
        ("sum", {"of.1.name": "linear", "of.3.name": "linear"}),
        ("sum", {"of.1.name": "linear", "of.2.gamma": "0x1p+0"}),
        ("sum", {"of.1.name": "linear", "of.2.name": "linear", "gamma": "0x1p+0"}),
        ("sum", {"of.1.name": "linear", "of.02.name": "linear"}),
        ("sum", {"of.1.name": "linear", "of.2.name": "precomputed", "of.2.sha256": "00"}),
        ("sigmoid", {}),
        ("nothing", {}),
    ],
)
def test_what_no_kernel_writes_is_refused(name, parameters):
    with pytest.raises(KernelError):
        rebuild_kernel(name, parameters)


@given(st.fractions(min_value=Fraction(1, 10**80), max_value=10**80) | st.floats(1e-80, 1e80).map(Fraction))
def test_numbers_are_written_as_certificates_do(value):
    assert exact_text(value) == format_number(value)
    assert rebuild_kernel("gaussian", {"gamma": exact_text(value)}) == GaussianKernel(value)


def test_names_of_parameters():
    assert accepted_parameters("polynomial") == ["degree", "gamma", "coef0"]
    assert accepted_parameters("precomputed") == ["matrix"]


# configuration


@pytest.fixture
def settle(tmp_path, all_kernels):
    def run(text=None, environment=(), **flags):
        path = tmp_path / "run.yaml"
        path.write_text(text or "")
        return resolve(flags, dict(environment), str(path), str(tmp_path / "none.toml"))

    return run


def kernel_of(found):
    return make_kernel(found.kernel.name, found.kernel_parameters, np.random.default_rng(0).normal(size=(9, 2)))


def test_kernels_of_a_file(settle):
    found = settle("kernel: {name: gaussian, gamma: 0.1, bias: false}")
    assert found.kernel_parameters == {"gamma": "0.1"}
    assert kernel_of(found) == GaussianKernel("0.1")
    assert kernel_of(settle("kernel: {name: gaussian, gamma: median}")).gamma > 0
    parameters = settle("kernel: {name: polynomial, degree: 2, coef0: null}").kernel_parameters
    assert define_kernel("polynomial", parameters) == PolynomialKernel(2)


def test_nested_kernels_of_a_file(settle, tmp_path):
    text = """
kernel:
  name: sum
  bias: false
  of:
    - linear
    - {name: gaussian, gamma: 0.1}
    - name: product
      of: [{name: polynomial, degree: 2}, {name: laplacian, gamma: 1/3}]
"""
    found = settle(text)
    kernel = kernel_of(found)
    assert kernel.of[1] == GaussianKernel("0.1")
    assert kernel.of[2].of[0] == PolynomialKernel(2)
    again = settle(show(found))
    assert again.kernel_parameters == found.kernel_parameters
    assert kernel_of(again) == kernel
    project = tmp_path / "pyproject.toml"
    project.write_text(
        "[tool.sepcert.kernel]\nname = 'sum'\nof = ['linear', {name = 'gaussian', gamma = 0.1}, {name = 'product', "
        "of = [{name = 'polynomial', degree = 2}, {name = 'laplacian', gamma = '1/3'}]}]\n"
    )
    assert kernel_of(resolve({}, {}, None, str(project))) == kernel


def test_a_flag_beats_a_variable_beats_the_file(settle):
    text = "kernel: {name: polynomial, degree: 2, gamma: 3, coef0: 4}"
    found = settle(text, {"SEPCERT_DEGREE": "5", "SEPCERT_GAMMA": "6", "SEPCERT_COEF0": ""}, degree="7")
    assert found.kernel_parameters == {"degree": "7", "gamma": "6", "coef0": "4"}


def test_a_precomputed_matrix_is_named_by_its_path(settle):
    assert settle("kernel: {name: precomputed, matrix: K.npy}").kernel_parameters == {"matrix": "K.npy"}


@pytest.mark.parametrize(
    ("text", "error", "code", "line"),
    [
        ("kernel:\n  name: gaussian\n  gamma: 0\n", KernelError, "KERNEL-VALUE", 3),
        ("kernel:\n  name: polynomial\n  degree: 2.5\n", KernelError, "KERNEL-VALUE", 3),
        ("kernel: {name: gaussian}\n", KernelError, "KERNEL-MISSING", None),
        ("kernel:\n  name: gaussian\n  degree: 2\n", ConfigError, "CONFIG-KEY", 3),
        ("kernel:\n  name: gaussian\n  gama: 2\n", ConfigError, "CONFIG-KEY", 3),
        ("kernel:\n  name: gaussian\n  gamma: [1]\n", KernelError, "KERNEL-VALUE", 3),
        ("kernel:\n  name: sum\n  of: linear\n", KernelError, "KERNEL-VALUE", 3),
        ("kernel:\n  name: sum\n  of: [linear, ~]\n", KernelError, "KERNEL-VALUE", 3),
        ("kernel:\n  name: sum\n  of: [linear, {name: gaussian, gama: 1}]\n", KernelError, "KERNEL-PARAMETER", None),
        ("kernel:\n  name: sum\n  of: [linear, {name: [a]}]\n", ConfigError, "CONFIG-TYPE", 3),
        ("kernel:\n  name: sum\n  of: [linear, {name: linear, name: linear}]\n", ConfigError, "CONFIG-DUPLICATE", 3),
        ("kernel: {name: sigmoid}\n", KernelError, "KERNEL-INDEFINITE", None),
    ],
)
def test_faults_of_kernels_in_files(settle, text, error, code, line):
    with pytest.raises(error) as caught:
        settle(text)
    assert caught.value.code == code
    if line is not None:
        assert caught.value.place is not None
        assert caught.value.place.line == line


def test_parameters_of_other_kernels_are_faults(settle):
    with pytest.raises(ConfigError, match="SEPCERT_GAMMA"):
        settle(environment={"SEPCERT_GAMMA": "1"})
    with pytest.raises(ConfigError, match="--degree"):
        settle("kernel: {name: gaussian, gamma: 1}", degree="3")
    with pytest.raises(ConfigError, match="did you mean SEPCERT_GAMMA"):
        settle(environment={"SEPCERT_GAMA": "1"})


def test_sums_of_kernels_that_are_made():
    assert SumKernel((LinearKernel(), GaussianKernel(1))) == define_kernel(
        "sum", {"of": [LinearKernel(), {"name": "gaussian", "gamma": 1}]}
    )
