"""Kernels in doubles: the formula, positive semidefiniteness, the rules of sums and products, matrices."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sepcert.errors import KernelError
from sepcert.kernels import (
    DEFINED,
    GaussianKernel,
    LaplacianKernel,
    LinearKernel,
    MaternKernel,
    PolynomialKernel,
    PrecomputedKernel,
    ProductKernel,
    SumKernel,
    define_kernel,
    require_positive,
)

RADIAL = [GaussianKernel("0.3"), LaplacianKernel("1/3"), *(MaternKernel(nu, "0.7") for nu in ("1/2", "3/2", "5/2"))]
POLYNOMIAL = [LinearKernel(), PolynomialKernel(1), PolynomialKernel(3, "0.5", "0.25"), PolynomialKernel(2, 1, 0)]
COMBINED = [
    SumKernel((LinearKernel(), RADIAL[0])),
    ProductKernel((PolynomialKernel(2), RADIAL[1])),
    ProductKernel((SumKernel((LinearKernel(), RADIAL[2])), RADIAL[3], PolynomialKernel(2))),
]
ALL = [*RADIAL, *POLYNOMIAL, *COMBINED]


def formula(kernel, x, z):
    if kernel.name == "sum":
        return sum(formula(member, x, z) for member in kernel.of)
    if kernel.name == "product":
        return math.prod(formula(member, x, z) for member in kernel.of)
    product = sum(a * b for a, b in zip(x, z, strict=True))
    if kernel.name == "linear":
        return product
    if kernel.name == "polynomial":
        return (float(kernel.gamma) * product + float(kernel.coef0)) ** kernel.degree
    if kernel.name == "laplacian":
        return math.exp(-float(kernel.gamma) * sum(abs(a - b) for a, b in zip(x, z, strict=True)))
    r = math.dist(x, z)
    if kernel.name == "gaussian":
        return math.exp(-float(kernel.gamma) * r * r)
    q = math.sqrt(2 * kernel.nu) * r / float(kernel.length_scale)
    return {1: 1, 3: 1 + q, 5: 1 + q + q * q / 3}[2 * kernel.nu] * math.exp(-q)


@pytest.mark.parametrize("kernel", ALL, ids=str)
def test_values_are_the_formula(kernel):
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(23, 3)), rng.normal(size=(31, 3))
    expected = [[formula(kernel, x, z) for z in right.tolist()] for x in left.tolist()]
    assert np.allclose(kernel.values(left, right), expected, rtol=1e-11, atol=1e-13)
    assert np.allclose(kernel.diagonal(left), [formula(kernel, x, x) for x in left.tolist()], rtol=1e-12)


@pytest.mark.parametrize("kernel", ALL, ids=str)
def test_gram_matrices_are_positive_semidefinite(kernel):
    points = np.random.default_rng(1).normal(size=(40, 2))
    gram = kernel.values(points, points)
    assert np.allclose(gram, gram.T, rtol=1e-12, atol=1e-13)
    smallest, largest = np.linalg.eigvalsh(gram)[[0, -1]]
    assert smallest >= -1e-13 * largest


@pytest.mark.parametrize("kernel", ALL, ids=str)
def test_strictly_positive_definite_ones_are_of_full_rank(kernel):
    points = np.random.default_rng(2).normal(size=(12, 1)) * 4
    smallest, largest = np.linalg.eigvalsh(kernel.values(points, points))[[0, -1]]
    assert (smallest > 1e-12 * largest) or not kernel.strictly_positive_definite
    if kernel.rational:
        assert smallest < 1e-12 * largest


@pytest.mark.parametrize("kernel", RADIAL, ids=str)
def test_radial_kernels_near_and_far(kernel):
    far = np.array([[1e9, 1e9], [1e9, 1e9], [1e9 + 1e-3, 1e9], [-1e200, 1e250], [5e-324, 0.0]])
    found = kernel.values(far, far)
    assert found[0, 1] == 1.0
    assert np.array_equal(np.diagonal(found), np.ones(5))
    assert np.array_equal(kernel.diagonal(far), np.ones(5))
    assert found[0, 2] == pytest.approx(formula(kernel, far[0].tolist(), far[2].tolist()), rel=1e-12)
    assert found[3, :3].max() == 0.0
    assert kernel.values(far, far[:0]).shape == (5, 0)


def test_properties():
    for kernel in RADIAL:
        assert kernel.strictly_positive_definite
        assert kernel.unit_diagonal
        assert kernel.positive_diagonal
        assert not kernel.rational
    for kernel in POLYNOMIAL:
        assert kernel.rational
        assert not kernel.strictly_positive_definite
        assert not kernel.unit_diagonal
        assert kernel.positive_diagonal == (getattr(kernel, "coef0", 0) > 0)


def test_sums_and_products_follow_their_rules():
    linear, power, radial = LinearKernel(), PolynomialKernel(2), GaussianKernel(1)
    homogeneous = PolynomialKernel(2, 1, 0)
    cases = [  # kernel, strictly positive definite, rational, K(x,x) = 1, K(x,x) > 0
        (SumKernel((linear, radial)), True, False, False, True),
        (SumKernel((linear, power)), False, True, False, True),
        (SumKernel((linear, homogeneous)), False, True, False, False),
        (ProductKernel((linear, radial)), False, False, False, False),
        (ProductKernel((homogeneous, radial)), False, False, False, False),
        (ProductKernel((power, radial)), True, False, False, True),
        (ProductKernel((radial, radial)), True, False, True, True),
        (ProductKernel((power, linear)), False, True, False, False),
        (ProductKernel((SumKernel((linear, power)), radial)), True, False, False, True),
        (SumKernel((ProductKernel((linear, radial)), linear)), False, False, False, False),
    ]
    for kernel, definite, rational, unit, positive in cases:
        found = kernel.strictly_positive_definite, kernel.rational, kernel.unit_diagonal, kernel.positive_diagonal
        assert found == (definite, rational, unit, positive), kernel


def test_a_product_with_the_linear_kernel_is_singular_at_the_origin():
    kernel = ProductKernel((LinearKernel(), GaussianKernel(1)))
    points = np.array([[0.0], [1.0], [2.0]])
    assert np.linalg.matrix_rank(kernel.values(points, points)) == 2


def test_a_polynomial_that_overflows_says_what_to_do():
    points = np.array([[1e60], [1.0]])
    for kernel in (PolynomialKernel(6), SumKernel((PolynomialKernel(6), GaussianKernel(1)))):
        for compute in (lambda k: k.diagonal(points), lambda k: k.values(points, points)):
            with pytest.raises(KernelError, match=r"KERNEL-OVERFLOW.*polynomial.*scale the columns") as caught:
                compute(kernel)
            assert caught.value.code == "KERNEL-OVERFLOW"


def test_rows_without_a_norm_are_counted():
    require_positive(np.array([1.0, 2.0]), "linear")
    diagonal = PolynomialKernel(2, 1, 0).diagonal(np.array([[0.0], [1.0], *[[0.0]] * 6]))
    with pytest.raises(KernelError, match=r"row 1, 3, 4, 5, 6 and 2 more") as caught:
        require_positive(diagonal, "polynomial")
    assert caught.value.code == "KERNEL-ZERO"


def test_scale_and_median():
    points = np.random.default_rng(3).normal(size=(50, 4)) * 3
    scale = define_kernel("gaussian", {"gamma": "scale"}, points).gamma
    assert float(scale) == pytest.approx(1 / (4 * points.var()), rel=1e-14)
    distances = [math.dist(a, b) for i, a in enumerate(points) for b in points[:i]]
    median = define_kernel("gaussian", {"gamma": "median"}, points).gamma
    assert float(median) == pytest.approx(0.5 / np.median(np.square(distances)), rel=1e-12)
    assert Fraction(float(median)) == median
    many = np.vstack([points, points, np.zeros((3000, 4))])
    assert define_kernel("gaussian", {"gamma": "median"}, many).gamma > 0
    for word, bad in [("scale", np.ones((3, 2))), ("median", np.ones((3, 2))), ("scale", np.array([[1e200], [0.0]]))]:
        with pytest.raises(KernelError, match="give gamma as a number") as caught:
            define_kernel("gaussian", {"gamma": word}, bad)
        assert caught.value.code == "KERNEL-DATA"


# matrices


@pytest.fixture
def gram():
    return GaussianKernel("0.3").values(*[np.random.default_rng(4).normal(size=(20, 3))] * 2)


def test_precomputed_is_what_was_computed(gram, tmp_path):
    np.save(tmp_path / "K.npy", gram)
    for kernel in (PrecomputedKernel(gram), PrecomputedKernel(str(tmp_path / "K.npy"))):
        rows, some = kernel.points(np.arange(20)), kernel.points(np.array([3, 0, 3]))
        assert np.array_equal(kernel.values(rows, rows), kernel.matrix)
        assert np.array_equal(kernel.values(some, rows), kernel.matrix[[3, 0, 3]])
        assert np.array_equal(kernel.diagonal(some), np.ones(3))
        assert np.array_equal(np.triu(kernel.matrix), np.triu(gram))
        assert np.array_equal(kernel.matrix, kernel.matrix.T)
        assert kernel.rational
        assert not kernel.strictly_positive_definite
        assert not kernel.matrix.flags.writeable
        kernel.require_size(20)
    assert kernel.path == str(tmp_path / "K.npy")


def test_fingerprints_of_matrices(gram):
    same, other = PrecomputedKernel(gram.copy()), PrecomputedKernel(gram + np.eye(20) * 1e-15)
    assert PrecomputedKernel(gram).sha256 == same.sha256
    assert same.sha256 != other.sha256
    assert PrecomputedKernel(gram.astype(">f8")).sha256 == same.sha256


@pytest.mark.parametrize(
    ("spoil", "code", "message"),
    [
        (lambda k: k[:, :5], "KERNEL-MATRIX", r"shape \(20, 5\)"),
        (lambda k: k[0], "KERNEL-MATRIX", r"shape \(20,\)"),
        (lambda k: k[:0, :0], "KERNEL-MATRIX", r"shape \(0, 0\)"),
        (lambda k: k + np.where(np.eye(20), np.nan, 0), "KERNEL-MATRIX", r"K\[1, 1\] is nan"),
        (lambda k: k + np.diag([0] * 19 + [np.inf]), "KERNEL-MATRIX", r"K\[20, 20\] is inf"),
        (lambda k: k - np.diag(np.diag(k)), "KERNEL-MATRIX", r"20 such in all.*diagonal must be positive"),
        (lambda k: k + np.triu(np.full((20, 20), 0.01), 1), "KERNEL-MATRIX", "not symmetric: K"),
        (lambda k: k - 0.6, "KERNEL-INDEFINITE", r"eigenvalue -[0-9.]+"),
        (lambda k: 2 * np.eye(20) - 1, "KERNEL-INDEFINITE", r"eigenvalue -18"),
        (lambda k: k.astype(complex), "KERNEL-MATRIX", "complex128"),
        (lambda k: k.astype(str), "KERNEL-MATRIX", "not real numbers"),
        (lambda k: np.eye(2, dtype=np.int64) * (2**53 + 1), "KERNEL-MATRIX", r"above 2\*\*53"),
    ],
)
def test_matrices_that_are_refused(gram, spoil, code, message):
    with pytest.raises(KernelError, match=message) as caught:
        PrecomputedKernel(spoil(gram))
    assert caught.value.code == code


def test_rounding_is_forgiven(gram):
    rng = np.random.default_rng(5)
    noise = rng.normal(size=gram.shape) * 1e-16
    thin = rng.normal(size=(60, 2))
    kernel = PrecomputedKernel(gram + noise)
    assert np.array_equal(kernel.matrix, kernel.matrix.T)
    PrecomputedKernel(thin @ thin.T)
    PrecomputedKernel((thin @ thin.T).astype(np.float32))
    PrecomputedKernel(np.array([[1, 1], [1, 1]]))
    PrecomputedKernel(np.array([[1e-300, 1e-300], [1e-300, 1e300]]))


def test_files_that_are_no_matrix(tmp_path):
    for name, content in [("none", None), ("text", b"1,2\n"), ("short", b"\x93NUMPY\x01\x00v\x00{")]:
        path = tmp_path / f"{name}.npy"
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(KernelError, match=f"{name}.npy") as caught:
            PrecomputedKernel(str(path))
        assert caught.value.code == "KERNEL-MATRIX"
    np.save(tmp_path / "objects.npy", np.array([[{}]]), allow_pickle=True)
    with pytest.raises(KernelError, match="not an NPY file of numbers"):
        PrecomputedKernel(str(tmp_path / "objects.npy"))


def test_points_of_a_matrix_are_row_numbers(gram):
    kernel = PrecomputedKernel(gram)
    for bad in ([[0.5]], [[20.0]], [[-1.0]], [[0.0, 1.0]], [[np.nan]]):
        with pytest.raises(KernelError, match="not row numbers"):
            kernel.diagonal(np.array(bad))
    with pytest.raises(KernelError, match=r"20 x 20, and the data have 21 rows"):
        kernel.require_size(21)
    with pytest.raises(KernelError, match="combine the matrices"):
        SumKernel((kernel, LinearKernel()))


def test_names_are_those_of_the_registry():
    assert {name: kernel.name for name, kernel in DEFINED.items()} == {name: name for name in DEFINED}
    assert set(DEFINED) == {"sum", "product", "precomputed", *(kernel.name for kernel in [*RADIAL, *POLYNOMIAL])}
