"""Implicit witnesses against exact solutions."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from sepcert.problem import Points
from sepcert.status import Numbers
from sepcert.verify import positive_solution
from sepcert.verify.positive_solution import has_positive_solution
from sepcert.verify.rows import SignedRows


def truth(rows, support):
    """Solve the system exactly in rationals."""
    size = rows.dimension + 1
    columns = [rows.fractions(i) for i in support]
    system = [[fmpq(c[j].numerator, c[j].denominator) for c in columns] for j in range(size - 1)]
    try:
        solution = fmpq_mat([*system, [1] * size]).solve(fmpq_mat([[int(k == size - 1)] for k in range(size)]))
    except ZeroDivisionError:
        return False
    return all(solution[k, 0] > 0 for k in range(size))


def system_of(rng, dimension, spread=1.0, numbers=Numbers.BINARY64, digits=None):
    """D + 1 rows with a positive relation, up to the rounding of the last row; weights down to `spread`."""
    z = rng.standard_normal((dimension + 1, dimension))
    p = spread ** rng.uniform(0, 1, dimension + 1)
    z[-1] = -(p[:-1] @ z[:-1]) / p[-1]
    return z if digits is None else np.round(z, digits)


@pytest.fixture
def rows_of(planted_evidence):
    def make(z, numbers=Numbers.BINARY64, bias=False):
        y = np.where(np.arange(len(z)) % 3 == 0, -1, 1)
        return SignedRows(planted_evidence.problem_of(z * y[:, None], y, numbers, bias))

    return make


@pytest.mark.parametrize("dimension", [1, 2, 5, 20, 60])
@pytest.mark.parametrize("numbers", list(Numbers))
def test_well_conditioned_systems_are_proved_in_doubles(rows_of, dimension, numbers):
    rng = np.random.default_rng(dimension)
    for scale in (1.0, 10.0 ** rng.integers(-30, 30, dimension)):
        z = system_of(rng, dimension) * scale
        rows = rows_of(z, numbers)
        support = tuple(range(dimension + 1))
        assert truth(rows, support)
        assert has_positive_solution(rows, support) == (True, "doubles with proved bounds")
        z[0] = -z[0]
        rows = rows_of(z, numbers)
        assert not truth(rows, support)
        assert not has_positive_solution(rows, support)[0]


@pytest.mark.parametrize("seed", range(6))
def test_near_singular_and_near_zero(rows_of, seed):
    """Weights of size 2**-52 of both signs, ulps apart from singular: every stage is needed, none is wrong."""
    rng = np.random.default_rng(seed)
    stages = set()
    for _ in range(25):
        dimension = int(rng.integers(1, 6))
        z = system_of(rng, dimension)
        kind = rng.integers(4)
        if kind == 0 and dimension > 1:
            z[1] = -z[0] * (1 + rng.integers(-2, 3) * 2.0**-52)
        elif kind == 1:
            z[0] *= 2.0 ** rng.integers(-1000, 900)
        elif kind == 2:
            z[0] = -(z[1:].sum(axis=0)) + z[1] * (1 + rng.integers(-2, 3) * 2.0**-52)
        else:
            z = rng.integers(-1, 2, z.shape).astype(float)
        numbers = list(Numbers)[rng.integers(2)]
        rows = rows_of(z, numbers, bias=False)
        support = tuple(range(dimension + 1))
        answer, how = has_positive_solution(rows, support)
        assert answer == truth(rows, support), (z, numbers)
        stages.add(how)
    assert len(stages) > 1


def test_each_stage_agrees(rows_of):
    rng = np.random.default_rng(3)
    for _ in range(20):
        rows = rows_of(rng.integers(-2, 3, (4, 3)).astype(float))
        support = (0, 1, 2, 3)
        expected = truth(rows, support)
        system = positive_solution._integer_system(rows, support)
        assert positive_solution._exact(system) == expected
        for bits in (30, 64, 200):
            assert positive_solution._proved_in_balls(system, bits) in {expected, None}
        assert has_positive_solution(rows, support)[0] == expected


@pytest.mark.parametrize("seed", range(3))
def test_no_proposal_makes_a_false_system_pass(rows_of, seed):
    """R and x may be anything."""
    rng = np.random.default_rng(seed)
    for _ in range(40):
        rows = rows_of(rng.integers(-3, 4, (4, 3)).astype(float))
        balanced = positive_solution._balanced(rows, (0, 1, 2, 3))
        if balanced is None or truth(rows, (0, 1, 2, 3)):
            continue
        matrix = balanced[0]
        near = np.linalg.pinv(matrix)
        for inverse in (near, -near, 3 * near, 0 * near, near + rng.standard_normal((4, 4)) * 0.3, 1e9 * near):
            for solution in (np.abs(near[:, -1]) + 1e-3, rng.random(4), np.full(4, 1e9)):
                assert not positive_solution._proved_in_doubles(matrix, inverse, solution, 0.0)


def test_balancing_changes_entries_by_powers_of_two_only(rows_of):
    rng = np.random.default_rng(4)
    z = rng.standard_normal((5, 4)) * 2.0 ** rng.integers(-300, 300, (5, 1)) * 2.0 ** rng.integers(-300, 300, (1, 4))
    z[rng.random(z.shape) < 0.2] = 0.0
    rows = rows_of(z)
    balanced, _ = positive_solution._balanced(rows, (0, 1, 2, 3, 4))
    exact = [rows.fractions(i) for i in range(5)]
    for j in range(4):
        for k in range(5):
            entry, original = Fraction(balanced[j, k]), exact[k][j]
            assert (entry == 0) == (original == 0)
            if entry:
                ratio = abs(entry / original)
                assert ratio.numerator & (ratio.numerator - 1) == 0
                assert ratio.denominator & (ratio.denominator - 1) == 0
                assert entry / original > 0
    assert np.abs(balanced).max() <= 1
    pattern = np.array(
        [[Fraction(balanced[j, k]) / exact[k][j] if balanced[j, k] else 0 for k in range(5)] for j in range(4)]
    )
    for a, b, c, d in ((0, 1, 0, 1), (1, 2, 2, 3), (2, 3, 3, 4), (0, 3, 1, 4)):
        block = pattern[np.ix_([a, b], [c, d])]
        if block.all():
            assert block[0, 0] * block[1, 1] == block[0, 1] * block[1, 0]


@pytest.mark.parametrize("tiny", [5e-324, 2.0**-1030, 1e-308, 2.0**-700])
def test_entries_out_of_range_are_settled_exactly(rows_of, tiny):
    """p = (1, 1, 1 + tiny), and an entry that no scaling brings near the others."""
    z = np.array([[1.0, -1.0], [-1.0, -tiny], [0.0, 1.0]])
    rows = rows_of(z)
    answer, how = has_positive_solution(rows, (0, 1, 2))
    assert answer
    assert truth(rows, (0, 1, 2))
    assert how != "doubles with proved bounds"
    z[2, 1] = -1.0
    assert not has_positive_solution(rows_of(z), (0, 1, 2))[0]


def test_weights_of_very_different_size_are_proved_in_doubles(rows_of):
    """p = (1, 1, tiny): the second round scales the unknowns."""
    for tiny, scale in itertools.product((2.0**-60, 2.0**-300), (1.0, 2.0**50)):
        rows = rows_of(np.array([[1.0, 0.0], [-1.0, tiny], [0.0, -1.0 * scale]]))
        assert has_positive_solution(rows, (0, 1, 2)) == (True, "doubles with proved bounds")
        rows = rows_of(np.array([[1.0, 0.0], [-1.0, -tiny], [0.0, -1.0]]))
        assert not has_positive_solution(rows, (0, 1, 2))[0]


def test_decimals_are_not_their_doubles(rows_of):
    """0.1 + 0.2 - 0.3: singular as decimals, not as doubles."""
    z = np.array([[0.1, 1.0], [0.2, 2.0], [-0.3, -3.0]])
    for numbers in Numbers:
        rows = rows_of(z, numbers)
        assert has_positive_solution(rows, (0, 1, 2))[0] == truth(rows, (0, 1, 2))


def test_irregular_rows_are_settled_exactly(planted_evidence):
    exact = [[Fraction(1, 10**400)], [Fraction(-3, 10**400)]]
    points = Points(np.zeros((2, 1)), Numbers.DECIMAL, np.array([True, True]), lambda rows: [exact[i] for i in rows])
    problem = planted_evidence.problem_of(np.zeros((2, 1)), [1, 1], Numbers.DECIMAL, bias=False)
    rows = SignedRows(type(problem)(points, problem.labels, bias=False))
    assert has_positive_solution(rows, (0, 1))[0]
