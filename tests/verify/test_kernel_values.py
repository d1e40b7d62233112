"""Enclosures of kernel values contain the exact ones, are narrow, and do not depend on how they are computed."""

import platform
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from sepcert.kernels import (
    DEFINED,
    GaussianKernel,
    LaplacianKernel,
    LinearKernel,
    MaternKernel,
    PolynomialKernel,
    PrecomputedKernel,
    SumKernel,
)
from sepcert.problem import Points
from sepcert.status import Numbers
from sepcert.verify.kernel_exact import ball_value, ball_values, exact_points, exact_value, exact_values
from sepcert.verify.kernel_exponential import EXPONENTIAL_UNITS, exponential
from sepcert.verify.kernel_points import PointRows
from sepcert.verify.kernel_rules import RULES
from sepcert.verify.kernel_values import enclose, enclose_diagonal, enclose_expansion, enclose_pairs

UNIT = 2.0**-53


def plain(values):
    return PointRows(Points(np.asarray(values, dtype=np.float64), Numbers.BINARY64))


def test_every_kernel_has_a_rule():
    assert set(RULES) == set(DEFINED.values())


def test_the_exponential_keeps_its_bound():
    rng = np.random.default_rng(1)
    halves = (np.arange(1017) + 0.5) * np.log(2)
    edges = [halves, np.nextafter(halves, 0), np.nextafter(halves, 1e3), [0.0, 5e-324, 705.0]]
    s = np.concatenate(
        [rng.uniform(0, 705, 3000), rng.uniform(0, 1, 2000), np.exp2(-rng.uniform(0, 1074, 500)), *edges]
    )
    values = exponential(s)
    worst = 0.0
    with ctx.workprec(200):
        for given, value in zip(s.tolist(), values.tolist(), strict=True):
            truth = (-arb(given)).exp()
            worst = max(worst, float(abs(arb(value) / truth - 1).upper()) / UNIT)
    assert 0.9 < worst <= 2.02 + 0.1 + 0.36 < EXPONENTIAL_UNITS
    assert exponential(np.array([0.0]))[0] == 1.0


def test_the_constants_of_the_exponential():
    from sepcert.verify import kernel_exponential as module

    high, low = Fraction(module._HIGH), Fraction(module._LOW)
    assert (high * 2**42).denominator == 1
    assert (high * 2**42).numerator.bit_length() == 42
    assert abs(low) < Fraction(1, 2**44)
    with ctx.workprec(300):
        rest = arb(2).log() - arb(fmpq(high.numerator, high.denominator)) - arb(fmpq(low.numerator, low.denominator))
        assert abs(rest) < arb(2) ** -101


@pytest.mark.parametrize("reading", ["binary64", "decimal", "odd"])
def test_bounds_hold_on_plain_and_extreme_pairs(kernel_cases, reading):
    rng = np.random.default_rng(["binary64", "decimal", "odd"].index(reading))
    for number, kernel in enumerate(kernel_cases.kernels()):
        dimension = (1, 2, 5)[number % 3]
        x, z = kernel_cases.pairs(rng, 600, dimension)
        left, right = (kernel_cases.table(rng, side, reading) for side in (x, z))
        found = enclose_pairs(kernel, PointRows(left), PointRows(right))
        wrong, finite = kernel_cases.violations(kernel, left, right, found)
        assert not wrong, kernel
        assert finite > 400


@pytest.mark.parametrize("shift", [Fraction(1), Fraction(1, 100), Fraction(10) ** -400, Fraction(3) ** 900])
def test_a_bias_is_added(kernel_cases, shift):
    rng = np.random.default_rng(5)
    for kernel in kernel_cases.kernels()[1::4]:
        x, z = kernel_cases.pairs(rng, 60, 2)
        left, right = (kernel_cases.table(rng, side, "decimal") for side in (x, z))
        found = enclose_pairs(kernel, PointRows(left), PointRows(right), shift)
        wrong, finite = kernel_cases.violations(kernel, left, right, found, shift)
        assert not wrong
        assert finite > (30 if shift < 10**300 else -1)


def test_bounds_are_narrow_on_plain_points(kernel_cases):
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=(2, 500, 5))
    for kernel in kernel_cases.kernels():
        values, errors = enclose_pairs(kernel, plain(x), plain(z))
        if kernel.unit_diagonal:
            assert (errors <= 60 * UNIT * 40 * values + 2.0**-970).all()
        assert (errors < 1e-9 * (1 + np.abs(values).max())).all()


def test_crossed_pairs_agree_with_single_ones(kernel_cases):
    rng = np.random.default_rng(4)
    points = kernel_cases.table(rng, rng.normal(size=(30, 3)).round(2), "decimal")
    left, right = PointRows(points, np.arange(17)), PointRows(points, np.arange(5, 30, 2))
    i, j = (a.ravel() for a in np.meshgrid(left.rows, right.rows, indexing="ij"))
    for kernel in kernel_cases.kernels():
        values, errors = enclose(kernel, left, right)
        single, single_errors = enclose_pairs(kernel, PointRows(points, i), PointRows(points, j))
        assert values.shape == errors.shape == (17, 13)
        assert (np.abs(values.ravel() - single) <= errors.ravel() + single_errors).all()


def test_many_blocks_make_one(monkeypatch):
    rng = np.random.default_rng(8)
    rows, support = plain(rng.normal(size=(200, 4))), plain(rng.normal(size=(9, 4)))
    kernel = GaussianKernel("0.5")
    whole = enclose(kernel, rows, support), enclose_diagonal(kernel, rows), enclose_pairs(kernel, rows, rows)
    monkeypatch.setattr("sepcert.verify.kernel_values.BLOCK", 32)
    parts = enclose(kernel, rows, support), enclose_diagonal(kernel, rows), enclose_pairs(kernel, rows, rows)
    for (a, b), (c, d) in zip(whole, parts, strict=True):
        assert np.array_equal(a, c)
        assert np.array_equal(b, d)


def test_rows_that_are_equal_have_value_one_whatever_their_size():
    values = np.array([[1.6e9 + 0.1, 0.3]] * 2 + [[1.6e9 + 0.2, 0.3]])
    points = Points(values, Numbers.DECIMAL)
    for kernel in (GaussianKernel(1), LaplacianKernel(1), MaternKernel("1/2", 1)):
        found, errors = enclose(kernel, PointRows(points, np.array([0])), PointRows(points))
        assert found[0, :2].tolist() == [1.0, 1.0]
        assert (errors[0, :2] < 20 * UNIT).all()
        assert errors[0, 2] > 1e-9


def test_equal_doubles_of_different_numbers_are_told_apart(kernel_cases):
    exact = [[Fraction(2**53)], [Fraction(2**53 + 1)]]
    values = np.full((2, 1), 2.0**53)
    points = Points(values, Numbers.BINARY64, np.array([False, True]), lambda rows: [exact[i] for i in rows])
    for kernel in (GaussianKernel("1e-3"), LaplacianKernel("1e-3"), MaternKernel("3/2", 9)):
        left, right = PointRows(points, np.array([0])), PointRows(points, np.array([1]))
        values, errors = enclose(kernel, left, right)
        with ctx.workprec(200):
            assert abs(arb(values[0, 0]) - kernel_cases.truth(kernel, *exact)) <= arb(errors[0, 0])


def test_long_whole_decimals_are_rounded_numbers(kernel_cases):
    values = 2.0**60 + 256.0 * np.arange(20)[:, None]
    points = Points(values, Numbers.DECIMAL)
    assert any(x[0] != Fraction(v) for x, v in zip(points.exact_rows(range(20)), values[:, 0].tolist(), strict=True))
    one = Points(values[:1].repeat(20, axis=0), Numbers.DECIMAL)
    for kernel in (GaussianKernel("1e-6"), LaplacianKernel("1e-3"), MaternKernel("3/2", 1000)):
        found = enclose_pairs(kernel, PointRows(one), PointRows(points))
        assert not kernel_cases.violations(kernel, one, points, found)[0]


def test_the_rounding_of_sums_is_in_the_bound():
    rng = np.random.default_rng(15)
    matrix = rng.normal(size=(150, 40))
    kernel = PrecomputedKernel(matrix @ matrix.T + np.eye(150))
    rows = plain(kernel.points(np.arange(150)))
    c = rng.normal(size=150)
    c[-1] = -float(kernel.matrix[0, :-1] @ c[:-1]) / kernel.matrix[0, -1]
    found, errors = enclose_expansion(kernel, rows, rows, c)
    exact = [
        sum(Fraction(k) * Fraction(v) for k, v in zip(row, c.tolist(), strict=True)) for row in kernel.matrix.tolist()
    ]
    apart = [abs(Fraction(v) - e) for v, e in zip(found.tolist(), exact, strict=True)]
    assert max(apart) > 0
    assert all(a <= Fraction(e) for a, e in zip(apart, errors.tolist(), strict=True))


def test_a_bias_that_is_no_double_is_in_the_bound():
    kernel = PrecomputedKernel(np.array([[1.0, -1 / 3], [-1 / 3, 1.0]]))
    rows = plain(kernel.points(np.arange(2)))
    values, errors = enclose(kernel, rows, rows, Fraction(1, 3))
    exact = exact_values(kernel, exact_points(rows), exact_points(rows), Fraction(1, 3))
    assert values[0, 1] == 0.0
    assert 0 < abs(exact[0][1]) <= Fraction(float(errors[0, 1]))


def test_diagonals(kernel_cases):
    rng = np.random.default_rng(6)
    points = kernel_cases.table(rng, rng.normal(size=(40, 3)).round(2), "decimal")
    for kernel in kernel_cases.kernels():
        found = enclose_diagonal(kernel, PointRows(points))
        assert not kernel_cases.violations(kernel, points, points, found)[0]
        if kernel.unit_diagonal:
            assert found[0].tolist() == [1.0] * 40
            assert found[1].tolist() == [0.0] * 40


@pytest.mark.parametrize("inexact", [False, True])
def test_expansions(kernel_cases, inexact):
    rng = np.random.default_rng(7)
    values = rng.normal(size=(24, 2)).round(2)
    points = kernel_cases.table(rng, values, "decimal")
    support = PointRows(points, np.arange(8))
    floats = rng.normal(size=8)
    floats[:2] = 5e-324, 0.0
    exact = [Fraction(c) for c in floats.tolist()]
    radii = None
    if inexact:
        radii = np.abs(rng.normal(size=8)) * 1e-10
        radii[3] = 5e-324
        signs = rng.choice([-1, 1], 8).tolist()
        exact = [c + s * Fraction(r) for c, s, r in zip(exact, signs, radii.tolist(), strict=True)]
    shift = Fraction(1, 3)
    rows = points.exact_rows(range(24))
    for kernel in kernel_cases.kernels():
        if getattr(kernel, "degree", 0) == 100:
            continue
        found, errors = enclose_expansion(kernel, PointRows(points), support, floats, radii, shift)
        assert np.isfinite(errors).all()
        with ctx.workprec(300):
            for i, x in enumerate(rows):
                total = arb(0)
                for c, z in zip(exact, rows[:8], strict=True):
                    total += kernel_cases.ball(c) * (kernel_cases.truth(kernel, x, z) + kernel_cases.ball(shift))
                assert abs(arb(found[i]) - total) <= arb(errors[i])


def test_overflow_is_said_and_never_a_number():
    rows = plain([[1e200], [1.0]])
    for kernel in (LinearKernel(), PolynomialKernel(3), SumKernel((LinearKernel(), GaussianKernel(1)))):
        values, errors = enclose(kernel, rows, rows)
        assert (values[0, 0], errors[0, 0]) == (0.0, np.inf)
        assert errors[1, 1] < 1e-10
    values, errors = enclose_expansion(PolynomialKernel(3), rows, rows, np.array([0.0, 1.0]))
    assert errors[0] == np.inf
    values, errors = enclose(GaussianKernel(1), rows, rows)
    assert values.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert errors.max() < 1e-14


def test_nothing_of_nothing():
    rows, none = plain(np.ones((3, 2))), plain(np.ones((0, 2)))
    assert enclose(GaussianKernel(1), rows, none)[0].shape == (3, 0)
    assert enclose(GaussianKernel(1), none, rows)[0].shape == (0, 3)
    assert enclose_pairs(GaussianKernel(1), none, none)[0].shape == (0,)
    assert enclose_expansion(GaussianKernel(1), rows, none, np.zeros(0))[0].tolist() == [0.0] * 3


def test_exact_values_are_the_formula(kernel_cases):
    rng = np.random.default_rng(9)
    points = kernel_cases.table(rng, rng.normal(size=(6, 3)).round(1), "decimal")
    rows, exact = points.exact_rows(range(6)), exact_points(PointRows(points))
    kernel = PolynomialKernel(3, "0.1", "1/3")
    both = SumKernel((LinearKernel(), kernel))
    table = exact_values(both, exact, exact[:2], Fraction(1, 4))
    for i, x in enumerate(rows):
        for j, z in enumerate(rows[:2]):
            product = sum(a * b for a, b in zip(x, z, strict=True))
            power = (product / 10 + Fraction(1, 3)) ** 3
            assert exact_value(kernel, x, z) == power
            assert table[i][j] == product + power + Fraction(1, 4)
    with pytest.raises(ValueError, match="not rational"):
        exact_value(GaussianKernel(1), rows[0], rows[1])
    with pytest.raises(ValueError, match="not rational"):
        exact_values(SumKernel((LinearKernel(), GaussianKernel(1))), exact, exact)


@pytest.mark.parametrize("bits", [64, 200])
def test_balls_contain_the_value_and_are_small(kernel_cases, bits):
    rng = np.random.default_rng(10)
    x, z = kernel_cases.pairs(rng, 40, 3)
    left, right = (kernel_cases.table(rng, side, "decimal") for side in (x, z))
    exact = left.exact_rows(range(40)), right.exact_rows(range(40))
    for kernel in kernel_cases.kernels():
        for a, b in zip(*exact, strict=True):
            found = ball_value(kernel, a, b, bits)
            with ctx.workprec(3000):
                truth = kernel_cases.truth(kernel, a, b)
                assert found.contains(truth)
                if abs(truth) > arb(2) ** -1000 and kernel.name not in {"sum", "product", "polynomial"}:
                    assert found.rad() <= abs(truth) * arb(2) ** (16 - bits)
    assert ctx.prec == 53


def test_balls_of_many_pairs_with_a_bias(kernel_cases):
    rng = np.random.default_rng(11)
    points = kernel_cases.table(rng, rng.normal(size=(5, 2)), "binary64")
    exact, rows = exact_points(PointRows(points)), points.exact_rows(range(5))
    for kernel in kernel_cases.kernels():
        found = ball_values(kernel, exact, exact[1:], 128, Fraction(1, 3))
        for i in range(5):
            for j in range(4):
                with ctx.workprec(300):
                    assert found[i][j].contains(kernel_cases.truth(kernel, rows[i], rows[j + 1]) + arb(1) / 3)


def test_a_precomputed_matrix_is_exact():
    rng = np.random.default_rng(12)
    x = rng.normal(size=(6, 3))
    kernel = PrecomputedKernel(GaussianKernel("0.5").values(x, x))
    rows = plain(kernel.points(np.arange(6)))
    values, errors = enclose(kernel, rows, rows)
    assert np.array_equal(values, kernel.matrix)
    assert not errors.any()
    exact = exact_points(rows)
    assert exact_values(kernel, exact, exact) == [[Fraction(v) for v in row] for row in kernel.matrix.tolist()]
    ball = ball_values(kernel, exact[:1], exact[1:2], 100)[0][0]
    assert ball == arb(kernel.matrix[0, 1])
    computed, spread = enclose(GaussianKernel("0.5"), plain(x), plain(x))
    assert (np.abs(computed - values) <= spread + 1e-14).all()


PROGRAM = """
import ctypes, mmap, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import kernel_cases
from sepcert.verify.evidence import subnormals_are_lost
from sepcert.verify.kernel_points import PointRows
from sepcert.verify.kernel_values import enclose_pairs

def load_mxcsr(value):
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex("0fae17c3"))  # ldmxcsr [rdi]; ret
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    word = ctypes.c_uint32(value)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(ctypes.addressof(word))

rng = np.random.default_rng(13)
work = []
for kernel in kernel_cases.kernels():
    x, z = kernel_cases.pairs(rng, 60, 2)
    work.append([kernel, *(kernel_cases.table(rng, side, "binary64") for side in (x, z))])
load_mxcsr(0x1F80 | 0x8040)
lost = subnormals_are_lost()
found = [enclose_pairs(kernel, PointRows(left), PointRows(right)) for kernel, left, right in work]
load_mxcsr(0x1F80)
print(lost, subnormals_are_lost(), [kernel_cases.violations(*case, pair)[0] for case, pair in zip(work, found)])
"""


@pytest.mark.skipif(
    platform.machine() not in {"x86_64", "AMD64"} or sys.platform == "win32", reason="sets a register of x86-64"
)
def test_bounds_hold_where_subnormals_are_flushed(kernel_cases):
    command = [sys.executable, "-c", PROGRAM, str(Path(__file__).parent)]
    environment = {"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": "", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if "PermissionError" in done.stderr:
        pytest.skip("the system does not allow pages that can be written and executed")
    assert done.stdout.strip() == f"True False {[[]] * len(kernel_cases.kernels())}", done.stderr
