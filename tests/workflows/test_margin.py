"""Margins of separable data: known answers, references by other means, invariances, limits."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog, nnls

import sepcert
from sepcert.certificate.numerals import parse_number
from sepcert.errors import ConfigError, DataError
from sepcert.status import ExitCode
from sepcert.workflows.margin_result import relative_gap


def raw_rows(x, y, bias=True, scale=1.0):
    x = np.asarray(x, dtype=float)
    z = np.hstack([np.full((len(x), 1), scale), x]) if bias else x
    return z * np.asarray(y)[:, None]


def least_norm(z):
    """The distance of the hull from 0, by nonnegative least squares."""
    scale = np.linalg.norm(z, axis=1).max()
    system = np.vstack([z.T / scale, np.ones(len(z))])
    p, _ = nnls(system, np.append(np.zeros(z.shape[1]), 1.0), maxiter=100 * len(z))
    return float(np.linalg.norm(z.T @ p / p.sum()))


def game(a, signed):
    """The value of max_w min_i a_i'w over |w|_1 <= 1, or over the simplex, by one linear program."""
    n = len(a)
    a = np.hstack([a, -a]) if signed else a
    k = a.shape[1]
    sizes = np.append(np.ones(k), 0.0)[None]
    rows = np.hstack([-a, np.ones((n, 1))])
    bounds = [(0, None)] * k + [(None, None)]
    found = linprog(np.append(np.zeros(k), -1.0), A_ub=rows, b_ub=np.zeros(n), A_eq=sizes, b_eq=[1], bounds=bounds)
    return -found.fun


def inside(bracket, value, slack=1e-7):
    assert bracket.lower <= bracket.upper
    size = slack * max(abs(value), 1e-12)
    assert bracket.lower - size <= value <= bracket.upper + size, (bracket, value)


def check_all(result, z):
    inside(result.rho, least_norm(z))
    inside(result.rho_2, least_norm(z / np.linalg.norm(z, axis=1)[:, None]))
    assert result.rho_K == result.rho_2
    a = z / np.abs(z).max(axis=1)[:, None]
    inside(result.rho_1, game(a, signed=True), slack=1e-5)
    inside(result.rho_1_nonnegative, game(a, signed=False), slack=1e-5)
    inside(result.largest_norm, float(np.linalg.norm(z, axis=1).max()))
    inside(result.normalised_rho, least_norm(z) / float(np.linalg.norm(z, axis=1).max()))


def separable(rng, n, d, gap=0.0):
    x = rng.standard_normal((n, d)) * rng.choice([0.1, 1.0, 10.0], d)
    value = x @ rng.standard_normal(d) + 0.1
    kept = np.abs(value) > gap
    return x[kept], np.where(value[kept] > 0, 1, -1)


@pytest.mark.parametrize("seed", range(12))
def test_against_other_methods(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    x, y = separable(rng, int(rng.integers(6, 120)), d)
    if len(set(y)) < 2:
        return
    result = sepcert.margin(x, y)
    assert result.result.separation == "complete"
    assert result.verified
    assert result.answered
    assert result.exit_code is ExitCode.HOLDS
    for bracket in (result.rho, result.rho_2, result.rho_1):
        assert 0 < bracket.lower <= bracket.upper
        assert relative_gap(bracket) <= 1e-3
    check_all(result, raw_rows(x, y))


@pytest.mark.parametrize("r", [2, 10, 1000, 10**5])
def test_wedge_without_bias(r):
    """rho_2 = sqrt(2)/10 whatever r, while rho = sqrt(2)/(10 r), so that rho/max|x| falls as 1/r^2."""
    sizes = [Fraction(1, r), Fraction(1), Fraction(r)]
    x = [[float(s * a), float(s * b)] for a, b in ((6, 8), (8, 6)) for s in sizes]
    y = [1, 1, 1, 0, 0, 0]
    result = sepcert.margin(np.array(x) / 10, y, gap=1e-9, bias=False)
    inside(result.rho_2, math.sqrt(2) / 10, 1e-10)
    inside(result.rho, math.sqrt(2) / 10 / r, 1e-10)
    inside(result.largest_norm, r, 1e-14)
    inside(result.normalised_rho, math.sqrt(2) / 10 / r**2, 1e-10)
    inside(result.rho_1, 1 / 8, 1e-10)
    assert result.answered


def test_decimals_are_exact():
    """The wedge as decimals is the wedge: the brackets contain sqrt(2)/10 itself, which no double is."""
    x, y = [[0.6, 0.8], [0.06, 0.08], [0.8, 0.6], [0.08, 0.06]], [1, 1, 0, 0]
    result = sepcert.margin(x, y, bias=False, numbers="decimal")
    assert Fraction(result.rho_2.lower) ** 2 <= Fraction(2, 100) <= Fraction(result.rho_2.upper) ** 2
    assert Fraction(result.rho.lower) ** 2 <= Fraction(2, 10**4) <= Fraction(result.rho.upper) ** 2
    assert Fraction(result.rho_1.lower) <= Fraction(1, 8) <= Fraction(result.rho_1.upper)


def test_one_dimension_by_hand():
    """Points -1 and 3 with a bias: z = -(1, -1), (1, 3)."""
    result = sepcert.margin([[-1.0], [3.0]], [0, 1], gap=1e-9)
    inside(result.rho, math.sqrt(2), 1e-12)
    inside(result.rho_2, math.sqrt((1 + 1 / math.sqrt(5)) / 2), 1e-12)
    inside(result.rho_1, 1.0, 1e-12)
    inside(result.rho_1_nonnegative, 1.0, 1e-12)


def test_bias_scale():
    rng = np.random.default_rng(3)
    x, y = separable(rng, 40, 2)
    for scale in (0.125, 8.0):
        check_all(sepcert.margin(x, y, bias_scale=scale), raw_rows(x, y, scale=scale))


def test_invariances():
    rng = np.random.default_rng(4)
    x, y = separable(rng, 60, 3)
    base = sepcert.margin(x, y, gap=1e-8, bias=True)
    order = rng.permutation(len(x))
    flipped = sepcert.margin(x[order], -y[order], gap=1e-8)
    for name in ("rho", "rho_2", "rho_1", "largest_norm"):
        one, other = getattr(base, name), getattr(flipped, name)
        assert max(one.lower, other.lower) <= min(one.upper, other.upper)
    free = separable(rng, 60, 3)[0]
    y = np.where(free @ [1.0, 2, 3] > 0, 1, -1)
    plain = sepcert.margin(free, y, gap=1e-8, bias=False)
    scaled = sepcert.margin(free * 2.0 ** rng.integers(-9, 9, (len(free), 1)), y, gap=1e-8, bias=False)
    for name in ("rho_2", "rho_1", "rho_1_nonnegative"):
        one, other = getattr(plain, name), getattr(scaled, name)
        assert max(one.lower, other.lower) <= min(one.upper, other.upper)
    twice = sepcert.margin(2 * free, y, gap=1e-8, bias=False)
    assert twice.rho.lower <= 2 * plain.rho.upper
    assert twice.rho.upper >= 2 * plain.rho.lower


def test_the_inequality_of_the_paper():
    """rho / max|z| <= rho_2, the remark after its definition."""
    rng = np.random.default_rng(5)
    for _ in range(4):
        x, y = separable(rng, 50, 3)
        result = sepcert.margin(x, y)
        assert result.normalised_rho.lower <= result.rho_2.upper


@pytest.mark.parametrize("exponent", [-30, -45, -52])
def test_separable_by_a_hair(exponent):
    """Two points of the line that differ by a little: rho_2 of that size, and every end proved positive."""
    step = 2.0**exponent
    x, y = [[1.0], [1.0 + step], [3.0], [-2.0]], [0, 1, 1, 0]
    result = sepcert.margin(x, y)
    assert result.result.separation == "complete"
    for bracket in (result.rho, result.rho_2, result.rho_1):
        assert 0 < bracket.lower <= bracket.upper < 1
    inside(result.rho, step / math.sqrt(4 + (2 + step) ** 2) * math.sqrt(1.0), slack=1.0)
    assert result.rho.lower <= step


def test_timestamps_reach_the_gap():
    """Seconds since 1970 beside a small column: doubles alone leave rho between 3e-11 and 0.4."""
    rng = np.random.default_rng(15)
    t = 1.6e9 + rng.integers(0, 10**6, 40)
    x = np.column_stack([t, rng.standard_normal(40), rng.standard_normal(40)])
    y = np.where(x[:, 1] > 0.3 * x[:, 2] + 0.1, 1, -1)
    result = sepcert.margin(x, y)
    for bracket in (result.rho, result.rho_2):
        assert 0 < relative_gap(bracket) + 1e-300 <= 1e-3
        assert bracket.lower > 0
    assert sepcert.verify(result.certificate, X=x, y=y).verified
    far = sepcert.margin(np.column_stack([(t - 1.6e9) * 1e-6, x[:, 1:]]), y)
    assert result.rho.upper <= far.rho.upper * 1e6


def test_least_point_in_exact_arithmetic():
    """Wolfe's method in integers, from a working set that has to grow, against nonnegative least squares."""
    from sepcert.exact.decide import Deadline
    from sepcert.verify.quotients import Geometry, least_quotient, weighted_rows_bound
    from sepcert.verify.rows import SignedRows
    from sepcert.workflows.exact_point import exact_point

    rng = np.random.default_rng(16)
    for geometry in (Geometry.RAW, Geometry.NORMALISED):
        for _ in range(3):
            x, y = separable(rng, 400, 4)
            rows = SignedRows(sepcert.check(x, y).problem)
            z = raw_rows(x, y)
            sizes = np.ones(len(z)) if geometry is Geometry.RAW else np.linalg.norm(z, axis=1)
            found = exact_point(rows, np.arange(3), sizes, geometry, 1e-9, Deadline())
            assert min(found.values()) > 0
            p = sum(float(v) * z[i] for i, v in found.items())
            value = np.linalg.norm(p) / sum(float(v) * sizes[i] for i, v in found.items())
            assert value == pytest.approx(least_norm(z / sizes[:, None]), rel=1e-7)
            assert least_quotient(rows, [Fraction(v) for v in p], geometry) == pytest.approx(value, rel=1e-6)
            if geometry is Geometry.RAW:
                weights = sepcert.certificate.model.Combination(
                    tuple(sorted(found)), tuple(found[i] for i in sorted(found))
                )
                assert weighted_rows_bound(rows, weights, geometry) == pytest.approx(value, rel=1e-9)
    x, y = [[0.0, 1], [0, -1], [1, 1]], [1, 1, 1]
    rows = SignedRows(sepcert.check(np.array(x) * [[1], [1], [-1]], [1, 1, -1], bias=False).problem)
    assert exact_point(rows, np.arange(2), np.ones(3), Geometry.RAW, 1e-3, Deadline()) is None


@pytest.mark.parametrize("scale", [1e-200, 1e160, 1e300])
def test_extreme_sizes(scale):
    """Where squares leave the range of doubles, ends may be missing or wide, but not false."""
    x, y = np.array([[-1.0, 2], [3, 1], [4, -2]]) * scale, [0, 1, 1]
    result = sepcert.margin(x, y, bias=False)
    inside(result.rho_2, least_norm(raw_rows(x / scale, [-1, 1, 1], False) / np.array([[5], [10], [20]]) ** 0.5), 1e-3)
    truth = least_norm(raw_rows(x / scale, [-1, 1, 1], False))
    assert result.rho is None or 0 < result.rho.lower <= truth * scale * (1 + 1e-9)
    assert result.rho is None or truth * scale * (1 - 1e-9) <= result.rho.upper
    json.dumps(result.to_dict(), allow_nan=False)


def test_many_rows_of_equal_quotient():
    """Thousands of rows on two rays: all tie for the least quotient."""
    rng = np.random.default_rng(6)
    sizes = 2.0 ** rng.integers(-3, 4, 3000)
    y = np.where(np.arange(3000) % 2, 1, -1)
    x = np.where(y[:, None] > 0, [[3.0, 4.0]], [[4.0, 3.0]]) * sizes[:, None]
    result = sepcert.margin(x, y, gap=1e-6, bias=False)
    inside(result.rho_2, math.sqrt(2) / 10, 1e-10)
    inside(result.rho, math.sqrt(2) / 2 * 2.0**-3, 1e-10)
    assert result.answered


def test_aliased_columns():
    rng = np.random.default_rng(7)
    x, y = separable(rng, 40, 2)
    x = np.hstack([x, x[:, :1], np.full((len(x), 1), 2.0)])
    check_all(sepcert.margin(x, y), raw_rows(x, y))


def test_more_columns_than_rows():
    rng = np.random.default_rng(8)
    x = rng.standard_normal((12, 60))
    y = np.where(rng.random(12) < 0.5, 1, -1)
    check_all(sepcert.margin(x, y), raw_rows(x, y))


def test_larger_data_reach_the_gap_with_few_passes():
    rng = np.random.default_rng(9)
    x, y = separable(rng, 20000, 6, gap=0.3)
    result = sepcert.margin(x, y)
    assert result.answered
    assert result.passes < 100


def test_evidence_of_the_json_proves_the_brackets():
    """What docs/margin.md tells to do with `evidence`, in plain Fractions."""
    rng = np.random.default_rng(10)
    x, y = separable(rng, 30, 2)
    shown = json.loads(json.dumps(sepcert.margin(x, y).to_dict(), allow_nan=False))
    z = [[Fraction(v) for v in row] for row in raw_rows(x, y).tolist()]

    def read(name):
        w = [parse_number(v) for v in shown["evidence"][name]["w"]]
        q = [(row - 1, parse_number(v)) for row, v in shown["evidence"][name]["q"]]
        assert all(v > 0 for _, v in q)
        products = [sum(a * b for a, b in zip(row, w, strict=True)) for row in z]
        combined = [sum(v * z[i][j] for i, v in q) for j in range(3)]
        return w, q, products, combined

    w, q, products, combined = read("rho")
    assert min(products) > 0
    assert Fraction(shown["rho"]["lower"]) ** 2 * sum(v * v for v in w) <= min(products) ** 2
    assert sum(v * v for v in combined) <= (Fraction(shown["rho"]["upper"]) * sum(v for _, v in q)) ** 2
    sizes = [max(map(abs, row)) for row in z]
    for name, signed in (("rho_1", True), ("rho_1_nonnegative", False)):
        w, q, products, combined = read(name)
        assert signed or min(w) >= 0
        lower = min(p / s for p, s in zip(products, sizes, strict=True)) / sum(map(abs, w))
        upper = max(map(abs, combined)) if signed else max(combined)
        assert Fraction(shown[name]["lower"]) <= lower
        assert Fraction(shown[name]["upper"]) >= upper / sum(v * sizes[i] for i, v in q)
    assert shown["schema"] == "sepcert-margin/1"
    assert set(shown["conventions"]) >= {"rho", "rho_2", "rho_1", "rho_K"}


def test_certificate_verifies(tmp_path):
    rng = np.random.default_rng(11)
    x, y = separable(rng, 50, 3)
    result = sepcert.margin(x, y, gap=1e-6)
    result.certificate.save(tmp_path / "c.json")
    report = sepcert.verify(tmp_path / "c.json", X=x, y=y)
    assert report.verified
    assert result.certificate.evidence.margin.lower == result.rho_2.lower


def test_quasi_complete_is_exactly_zero():
    result = sepcert.margin([[0], [1], [1], [2]], [0, 0, 1, 1])
    assert result.result.separation == "quasi-complete"
    for bracket in (result.rho, result.rho_2, result.rho_1, result.rho_K, result.normalised_rho):
        assert (bracket.lower, bracket.upper) == (0, 0)
    assert result.answered
    assert result.rho_1_nonnegative.upper < 0
    assert {str(claim) for claim in result.certificate.evidence.claims} >= {"quasi-complete", "inseparable"}


def test_no_bias_and_zero_rows():
    """A row of zeros is zero in every normalisation: it makes separable data quasi-complete."""
    result = sepcert.margin([[0.0, 0], [1, 0], [2, 1]], [0, 1, 1], bias=False)
    assert result.result.separation == "quasi-complete"
    assert (result.rho_2.lower, result.rho_2.upper) == (0, 0)
    inside(result.rho_1_nonnegative, 0.0)
    nothing = sepcert.margin([[0.0], [0.0]], [0, 1], bias=False)
    assert nothing.rho is nothing.rho_2 is None
    assert "zero" in nothing.why["rho_2"]
    assert nothing.answered
    json.dumps(nothing.to_dict(), allow_nan=False)


def test_time_limit_still_prints_what_was_proved():
    rng = np.random.default_rng(12)
    x, y = separable(rng, 3000, 20)
    result = sepcert.margin(x, y, time_limit_seconds=1e-9)
    assert result.exit_code is ExitCode.UNDECIDED
    shown = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    for name in ("rho", "rho_2", "rho_1"):
        bracket = shown[name]
        assert name in shown["why"] or bracket["lower"] <= bracket["upper"]
    assert not shown["answered"]


def test_a_limit_after_the_check_leaves_wide_but_true_brackets(monkeypatch):
    """Where only the separator of the check is known, it bounds rho and rho_1 too."""
    import sepcert.workflows.margin as workflow
    from sepcert.workflows.one_norm import OneNormPrograms, Proposal
    from sepcert.workflows.raw_margin import RawProposal

    rng = np.random.default_rng(13)
    x, y = separable(rng, 80, 3)
    monkeypatch.setattr(workflow, "raw_proposal", lambda *arguments: RawProposal(None, {}, 0))
    monkeypatch.setattr(workflow, "exact_point", lambda *arguments: None)
    monkeypatch.setattr(OneNormPrograms, "signed", lambda self: Proposal(None, {}, 0))
    monkeypatch.setattr(OneNormPrograms, "nonnegative", lambda self: ())
    result = sepcert.margin(x, y)
    z = raw_rows(x, y)
    assert 0 < result.rho.lower <= least_norm(z) * (1 + 1e-9)
    assert least_norm(z) * (1 - 1e-9) <= result.rho.upper
    value = game(z / np.abs(z).max(axis=1)[:, None], signed=True)
    assert 0 < result.rho_1.lower <= value * (1 + 1e-6)
    assert value <= result.rho_1.upper * (1 + 1e-6)
    assert not result.answered
    assert result.rho_1_nonnegative is None
    assert "limits" in result.why["rho_1_nonnegative"]


def test_proposals_are_not_believed(monkeypatch):
    """A solver that returns nonsense costs width, never truth."""
    from sepcert.workflows import one_norm

    rng = np.random.default_rng(14)
    x, y = separable(rng, 60, 3)
    nonsense = lambda costs, matrix, right, deadline: (rng.random(len(costs)), rng.random(len(right)))  # noqa: E731
    monkeypatch.setattr(one_norm, "cheapest_cover", nonsense)
    result = sepcert.margin(x, y)
    z = raw_rows(x, y)
    a = z / np.abs(z).max(axis=1)[:, None]
    for bracket, signed in ((result.rho_1, True), (result.rho_1_nonnegative, False)):
        value = game(a, signed)
        assert bracket.lower <= value + 1e-7
        assert value - 1e-7 <= bracket.upper


def test_wrong_options_and_data():
    with pytest.raises(ConfigError, match="gap"):
        sepcert.margin([[0], [1]], [0, 1], gap=0)
    with pytest.raises(ConfigError, match="numbers"):
        sepcert.margin([[0], [1]], [0, 1], numbers="roman")
    with pytest.raises(DataError):
        sepcert.margin([[0], [1]], [0, 0])


def test_rows_of_very_different_size():
    result = sepcert.margin([[1e300], [1e-300], [-1e300]], ["a", "a", "b"])
    assert result.verified
    assert 0 < result.rho.lower <= result.rho.upper
    assert 0 < result.rho_2.lower <= result.rho_2.upper
