"""check_evidence against the definition in plain Fractions, and the ways in which evidence can be wrong."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sepcert.certificate.model import Combination, Evidence, Margin, Separator, Witness
from sepcert.problem import Points
from sepcert.status import CheckOutcome, Claim, Numbers
from sepcert.verify.evidence import check_evidence

ONE = Fraction(1)


@pytest.mark.parametrize("seed", range(16))
def test_agrees_with_plain_fractions(seed, plain_checker, planted_evidence):
    rng = np.random.default_rng(seed)
    verified = rejected = 0
    for _ in range(25):
        problem, evidence = planted_evidence.planted(rng)
        assert plain_checker.holds(problem, evidence) is not False
        assert check_evidence(problem, evidence).outcome is CheckOutcome.VERIFIED
        for _ in range(4):
            changed = planted_evidence.spoiled(rng, evidence, problem.rows)
            truth = plain_checker.holds(problem, changed)
            report = check_evidence(problem, changed)
            assert report.outcome in {CheckOutcome.VERIFIED, CheckOutcome.REJECTED}
            if truth is not None:
                assert report.verified == truth, (problem, changed, report)
            verified, rejected = verified + report.verified, rejected + (not report.verified)
    assert min(verified, rejected) > 5


@pytest.mark.parametrize("seed", range(4))
def test_evidence_for_other_data(seed, plain_checker, planted_evidence):
    """The same evidence on a table with one entry moved by an ulp, one label flipped, or read the other way."""
    rng = np.random.default_rng(100 + seed)
    for _ in range(25):
        problem, evidence = planted_evidence.planted(rng)
        values, labels = problem.points.values.copy(), problem.labels.copy()
        i, j = rng.integers(values.shape[0]), rng.integers(values.shape[1])
        numbers = problem.numbers
        kind = rng.integers(4)
        if kind == 0:
            values[i, j] = np.nextafter(values[i, j], rng.choice([-np.inf, np.inf]))
        elif kind == 1:
            labels[i] = -labels[i]
        elif kind == 2:
            numbers = {Numbers.DECIMAL: Numbers.BINARY64, Numbers.BINARY64: Numbers.DECIMAL}[numbers]
        else:
            values[i] = values[rng.integers(len(values))]
        other = replace(problem, points=Points(values, numbers), labels=labels)
        truth = plain_checker.holds(other, evidence)
        report = check_evidence(other, evidence)
        assert report.outcome is not CheckOutcome.NOT_CHECKABLE
        if truth is not None:
            assert report.verified == truth


@pytest.fixture
def line(planted_evidence):
    """Positive rows at 1 and 2, negative rows at -1 and -2; and the same with a conflict at 0."""
    x = np.array([[1.0], [2], [-1], [-2]])
    separable = planted_evidence.problem_of(x, [1, 1, -1, -1])
    quasi = planted_evidence.problem_of(np.vstack([x, [[0], [0]]]), [1, 1, -1, -1, 1, -1])
    return separable, quasi


def combination(**values):
    rows = sorted((int(k[1:]), Fraction(v)) for k, v in values.items())
    return Combination(tuple(r for r, _ in rows), tuple(v for _, v in rows))


def outcome(problem, *claims, separator=None, witness=None, margin=None):
    return check_evidence(problem, Evidence(claims, separator, witness, margin or Margin(None, None))).outcome


def test_examples_by_hand(line):
    separable, quasi = line
    w = Separator(combination(r0=1, r2=1), (Fraction(0), Fraction(2)))
    p = Witness(combination(r4=1, r5=1))
    for claim in (Claim.SEPARABLE, Claim.COMPLETE):
        assert outcome(separable, claim, separator=w) is CheckOutcome.VERIFIED
        assert outcome(quasi, claim, separator=w) is CheckOutcome.REJECTED
    assert outcome(quasi, Claim.INSEPARABLE, witness=p) is CheckOutcome.VERIFIED
    assert outcome(quasi, Claim.QUASI_COMPLETE, separator=w, witness=p) is CheckOutcome.VERIFIED
    assert outcome(quasi, Claim.OVERLAP, witness=p) is CheckOutcome.REJECTED
    assert outcome(separable, Claim.QUASI_COMPLETE, separator=w, witness=p) is CheckOutcome.REJECTED
    more = Witness(combination(r0=1, r2=1, r4=1, r5=1))
    assert outcome(quasi, Claim.QUASI_COMPLETE, separator=w, witness=more) is CheckOutcome.REJECTED


def test_overlap_is_not_quasi_complete(planted_evidence):
    """With alpha = p the separator is 0 and every row lies on its plane: no row is on the right side."""
    problem = planted_evidence.problem_of([[0.0, 0], [0, 1], [1, 0], [1, 1]], [-1, 1, 1, -1])
    p = combination(r0=1, r1=1, r2=1, r3=1)
    zero = (Fraction(0),) * 3
    assert outcome(problem, Claim.OVERLAP, witness=Witness(p)) is CheckOutcome.VERIFIED
    for weights in (None, zero):
        separator = Separator(p, weights)
        claim = outcome(problem, Claim.QUASI_COMPLETE, separator=separator, witness=Witness(p))
        assert claim is CheckOutcome.REJECTED
        assert outcome(problem, Claim.SEPARABLE, separator=separator) is CheckOutcome.REJECTED


def test_unused_parts_are_rejected(line):
    separable, quasi = line
    w = Separator(combination(r0=1, r2=1), (Fraction(0), Fraction(2)))
    p = Witness(combination(r4=1, r5=1))
    q = combination(r0=1, r1=1)
    rejected = [
        outcome(separable),
        outcome(separable, Claim.SEPARABLE),
        outcome(separable, separator=w),
        outcome(separable, Claim.SEPARABLE, separator=w, margin=Margin(0.1, None)),
        outcome(separable, Claim.SEPARABLE, separator=w, margin=Margin(None, 1.0)),
        outcome(separable, Claim.SEPARABLE, separator=w, margin=Margin(None, None, q)),
        outcome(separable, Claim.SEPARABLE, Claim.MARGIN_AT_MOST, separator=w, margin=Margin(None, 1.0)),
        outcome(separable, Claim.SEPARABLE, Claim.SEPARABLE, separator=w),
        outcome(quasi, Claim.INSEPARABLE, separator=w, witness=p),
        outcome(quasi, Claim.INSEPARABLE, witness=p, margin=Margin(None, 0.0)),
        outcome(quasi, Claim.INSEPARABLE, Claim.SEPARABLE, separator=w, witness=p),
        outcome(quasi, Claim.QUASI_COMPLETE, Claim.OVERLAP, separator=w, witness=p),
        outcome(quasi, Claim.MARGIN_AT_MOST, witness=p, margin=Margin(None, 0.0, combination(r4=1, r5=1))),
        outcome(quasi, Claim.MARGIN_AT_MOST, margin=Margin(None, 0.0, combination(r4=1, r5=1))),
    ]
    assert set(rejected) == {CheckOutcome.REJECTED}
    assert outcome(quasi, Claim.MARGIN_AT_MOST, witness=p, margin=Margin(None, 0.0)) is CheckOutcome.VERIFIED
    only_q = Margin(None, 0.5, combination(r4=2, r5=1))
    assert outcome(quasi, Claim.MARGIN_AT_MOST, margin=only_q) is CheckOutcome.VERIFIED


@pytest.mark.parametrize(
    ("rows", "values"),
    [
        ((), ()),
        ((4, 5), (ONE, 0 * ONE)),
        ((4, 5), (ONE, -ONE)),
        ((5, 4), (ONE, ONE)),
        ((4, 4, 5), (ONE, ONE, 2 * ONE)),
        ((4, 6), (ONE, ONE)),
        ((-2, -1), (ONE, ONE)),
        ((4, 5), (2 * ONE, 2 * ONE)),
        ((4, 5), (ONE / 2, ONE / 2)),
        ((4, 5), (1, 1)),
        ((4, 5), (1.0, 1.0)),
        ((4.0, 5.0), (ONE, ONE)),
        ((np.int64(4), np.int64(5)), (ONE, ONE)),
        ((4, True), (ONE, ONE)),
        (("4", "5"), (ONE, ONE)),
        ((4, 10**30), (ONE, ONE)),
    ],
)
def test_malformed_weights_are_rejected(line, rows, values):
    p = Combination(rows, values)
    assert outcome(line[1], Claim.INSEPARABLE, witness=Witness(p)) is CheckOutcome.REJECTED
    assert outcome(line[1], Claim.SEPARABLE, separator=Separator(p, None)) is CheckOutcome.REJECTED
    if ONE / 2 not in values and 2 * ONE not in values:  # those are fine for an upper bound
        upper = Margin(None, 1.0, p)
        assert outcome(line[1], Claim.MARGIN_AT_MOST, margin=upper) is CheckOutcome.REJECTED


def test_malformed_forms_are_rejected(line):
    quasi = line[1]
    p = combination(r4=1, r5=1)
    for witness in (Witness(None), Witness(None, ()), Witness(p, (0, 1, 2)), Witness(None, (0, 1, 99))):
        assert outcome(quasi, Claim.INSEPARABLE, witness=witness) is CheckOutcome.REJECTED
    for weights in ((), (Fraction(0),), (Fraction(0), Fraction(2), Fraction(0)), (0, 2), (0.0, 2.0)):
        separator = Separator(combination(r0=1, r2=1), weights)
        assert outcome(line[0], Claim.SEPARABLE, separator=separator) is CheckOutcome.REJECTED
    separator = Separator(combination(r0=1, r2=1), None)
    for lower in (-1.0, float("nan"), float("inf"), 1, 2.0):
        margin = Margin(lower, None)
        assert outcome(line[0], Claim.MARGIN_AT_LEAST, separator=separator, margin=margin) is CheckOutcome.REJECTED


def test_nothing_leaves_as_an_exception(line):
    class Odd:
        def __getattr__(self, name):
            raise KeyError(name)

    assert check_evidence(line[0], Odd()).outcome is CheckOutcome.NOT_CHECKABLE
    broken = replace(line[0], points=Points(np.array([[1.0], [np.nan], [-1], [-2]]), Numbers.BINARY64))
    w = Separator(combination(r0=1, r2=1), None)
    report = check_evidence(broken, Evidence((Claim.SEPARABLE,), w))
    assert report.outcome is CheckOutcome.NOT_CHECKABLE
    assert "finite" in report.failed.value
    one_label = replace(line[0], labels=np.array([1, 1, -1, 2], dtype=np.int8))
    assert check_evidence(one_label, Evidence((Claim.SEPARABLE,), w)).outcome is CheckOutcome.NOT_CHECKABLE


def test_zero_row_without_bias(planted_evidence):
    problem = planted_evidence.problem_of([[1.0], [0.0], [-1.0]], [1, 1, -1], bias=False)
    zero = Witness(combination(r1=1))
    assert outcome(problem, Claim.INSEPARABLE, witness=zero) is CheckOutcome.VERIFIED
    assert outcome(problem, Claim.OVERLAP, witness=zero) is CheckOutcome.REJECTED
    assert outcome(problem, Claim.SEPARABLE, separator=Separator(combination(r0=1), None)) is CheckOutcome.REJECTED
    pair = Separator(combination(r0=1), (ONE,))
    assert outcome(problem, Claim.QUASI_COMPLETE, separator=pair, witness=zero) is CheckOutcome.VERIFIED
    nothing = Margin(None, 0.5, combination(r1=1))
    assert outcome(problem, Claim.MARGIN_AT_MOST, margin=nothing) is CheckOutcome.REJECTED


@pytest.mark.parametrize("explicit", [True, False])
def test_near_ties_of_one_ulp(planted_evidence, explicit):
    """A point on the plane x1 = x2, and the same moved by one ulp to either side."""
    base = 0.1
    for step, expected in ((1, True), (0, False), (-1, False)):
        moved = base if step == 0 else np.nextafter(base, step * np.inf)
        x = [[moved, base], [1.0, 0.0], [0.0, 1.0]]
        problem = planted_evidence.problem_of(x, [1, 1, -1], bias=False)
        separator = Separator(combination(r1=1, r2=1), (ONE, -ONE) if explicit else None)
        report = check_evidence(problem, Evidence((Claim.SEPARABLE,), separator))
        assert report.verified is expected


@pytest.mark.parametrize("explicit", [True, False])
@pytest.mark.parametrize("power", [-1074, -1040, -600, 600, 1000, 1023])
def test_extreme_scales(planted_evidence, power, explicit, plain_checker):
    unit = float(np.ldexp(1.0, power))
    x = np.array([[unit, 1.0], [0.0, 1.0], [-0.0, -1.0]])
    problem = planted_evidence.problem_of(x, [1, -1, -1], bias=False)
    weights = (Fraction(1) / Fraction(unit), Fraction(1, 4))
    alpha = planted_evidence.coefficients(plain_checker.raw_rows(problem), list(weights))
    separator = Separator(alpha, weights if explicit else None)
    assert not check_evidence(problem, Evidence((Claim.SEPARABLE,), separator)).verified
    problem = replace(problem, labels=np.array([1, 1, -1], dtype=np.int8))
    alpha = planted_evidence.coefficients(plain_checker.raw_rows(problem), list(weights))
    separator = Separator(alpha, weights if explicit else None)
    evidence = Evidence((Claim.SEPARABLE, Claim.COMPLETE), separator)
    assert check_evidence(problem, evidence).verified
    zero = Evidence((Claim.SEPARABLE, Claim.MARGIN_AT_LEAST), separator, margin=Margin(0.0, None))
    assert check_evidence(problem, zero).verified


def test_decimals_that_read_as_zero(planted_evidence):
    """Irregular rows: their exact values are not those of their doubles."""
    exact = [[Fraction(1, 10**400)], [-Fraction(1, 10**400)]]
    values = np.zeros((2, 1))
    points = Points(values, Numbers.DECIMAL, np.array([True, True]), lambda rows: [exact[i] for i in rows])
    problem = replace(planted_evidence.problem_of(values, [1, -1], bias=False), points=points)
    separator = Separator(combination(r0=1), (exact[0][0],))
    assert check_evidence(problem, Evidence((Claim.SEPARABLE,), separator)).verified
    witness = Evidence((Claim.INSEPARABLE,), None, Witness(combination(r0=1, r1=1)))
    assert not check_evidence(problem, witness).verified
    opposite = replace(problem, labels=np.array([1, 1], dtype=np.int8))
    assert check_evidence(opposite, witness).verified
    implicit = Evidence((Claim.OVERLAP,), None, Witness(None, (0, 1)))
    assert check_evidence(opposite, implicit).verified
    assert not check_evidence(problem, implicit).verified


def test_aliased_columns_and_more_columns_than_rows(planted_evidence):
    x = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    y = [-1, 1, 1, -1]
    p = Witness(combination(r0=1, r1=1, r2=1, r3=1))
    overlap = Evidence((Claim.OVERLAP,), None, p)
    for extra in (x[:, :1], x @ [[1.0], [1]], np.ones((4, 1)), np.hstack([x, x, x])):
        problem = planted_evidence.problem_of(np.hstack([x, extra]), y)
        assert check_evidence(problem, overlap).verified
        off = problem.points.values.copy()
        off[0, -1] += 2.0**-40
        more = replace(problem, points=Points(np.vstack([off, off[:1]]), Numbers.BINARY64))
        more = replace(more, labels=np.array([*y, 1], dtype=np.int8))
        pair = Evidence((Claim.OVERLAP,), None, Witness(combination(r0=1, r4=1)))
        assert not check_evidence(more, pair).verified


def test_large_quasi_complete(planted_evidence, plain_checker):
    """Twenty thousand rows on the plane x1 = 0 with real coordinates, in pairs, and some off it."""
    rng = np.random.default_rng(5)
    half = rng.standard_normal((10_000, 3))
    half[:, 0] = 0
    off = rng.standard_normal((50, 3))
    off[:, 0] = np.abs(off[:, 0]) + 0.5
    for numbers, points in ((Numbers.BINARY64, half), (Numbers.DECIMAL, np.round(half, 6))):
        x = np.vstack([points, points[::-1], off])
        problem = planted_evidence.problem_of(x, [*([1] * 10_000), *([-1] * 10_000), *([1] * 50)], numbers)
        on, count = tuple(range(20_000)), problem.rows
        few = [0, 1, 2, count - 1]
        part = replace(problem, points=Points(x[few], numbers), labels=problem.labels[few])
        z = plain_checker.raw_rows(part)
        alpha = planted_evidence.coefficients(z, [Fraction(0), ONE, Fraction(0), Fraction(0)])
        alpha = Combination(tuple(few[k] for k in alpha.rows), alpha.values)
        pair = Evidence((Claim.QUASI_COMPLETE,), Separator(alpha, None), Witness(Combination(on, (ONE,) * 20_000)))
        assert check_evidence(problem, pair).verified
        values = x.copy()
        values[7, 1] = np.nextafter(values[7, 1], 9)
        moved = replace(problem, points=Points(values, Numbers.BINARY64))
        assert not check_evidence(moved, pair).verified
