"""Margins of overlapping data: the ball inside the hull, against hulls computed by other means."""

import json
import math

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import sepcert
from sepcert.certificate.numerals import parse_number
from sepcert.status import Claim, ExitCode


def raw_rows(x, y, bias=True):
    x = np.asarray(x, dtype=float)
    z = np.hstack([np.ones((len(x), 1)), x]) if bias else x
    return z * np.asarray(y)[:, None]


def inradius(z):
    """The distance of 0 from the boundary of the hull, by its facets."""
    return float((-ConvexHull(z).equations[:, -1]).min())


def unit(z):
    return z / np.linalg.norm(z, axis=1)[:, None]


def inside(bracket, radius):
    assert bracket.lower <= bracket.upper < 0
    assert bracket.lower <= -radius * (1 - 1e-9)
    assert -radius * (1 + 1e-9) <= bracket.upper


def signed_points(points):
    """The points as raw rows without bias, with labels in turn."""
    y = np.where(np.arange(len(points)) % 2, 1, -1)
    return points * y[:, None], y


@pytest.mark.parametrize("k", [3, 4, 5, 6, 12, 41])
def test_regular_polygons(k):
    """The inradius of the regular k-gon is cos(pi/k)."""
    angles = 2 * np.pi * np.arange(k) / k + 0.1
    x, y = signed_points(np.array([np.cos(angles), np.sin(angles)]).T)
    result = sepcert.margin(x, y, bias=False)
    assert result.result.separation == "overlap"
    inside(result.rho_2, math.cos(math.pi / k))
    inside(result.rho, math.cos(math.pi / k))
    assert -result.rho_2.lower == pytest.approx(math.cos(math.pi / k), rel=1e-9)
    assert result.rho_2.upper < -0.37
    assert (result.rho_1.lower, result.rho_1.upper) == (0, 0)
    assert result.exit_code is ExitCode.HOLDS


def test_square_in_its_axes_is_exact():
    """Vertices +-e_1, +-e_2: the box of the polar square is the square itself."""
    x, y = signed_points(np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]]))
    result = sepcert.margin(x, y, bias=False)
    inside(result.rho_2, math.sqrt(0.5))
    assert result.rho_2.upper == pytest.approx(-math.sqrt(0.5), rel=1e-12)
    assert "rho_2" not in result.why


def test_a_line_is_exact():
    """In rank 1 both radii are: points 1 and -2 of the line, aliased or not, as raw rows."""
    for x in ([[1.0], [-2.0]], [[1.0, 3.0], [-2.0, -6.0]]):
        result = sepcert.margin(np.array(x) * [[1], [-1]], [1, -1], bias=False)
        inside(result.rho_2, 1.0)
        assert result.rho_2.upper == pytest.approx(-1.0, rel=1e-12)
        inside(result.rho, np.linalg.norm(x[0]))
        assert result.rho.upper == pytest.approx(-np.linalg.norm(x[0]), rel=1e-12)


def test_exclusive_or():
    """Two tetrahedra, in effect: with a bias the four rows are the vertices of a simplex around 0."""
    x, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [-1, -1, 1, 1]
    result = sepcert.margin(x, y)
    z = raw_rows(x, y)
    inside(result.rho, inradius(z))
    inside(result.rho_2, inradius(unit(z)))
    corners = sepcert.margin(np.array(x) * 2 - 1, y)
    inside(corners.rho_2, 1 / 3)
    assert -corners.rho_2.lower == pytest.approx(1 / 3, rel=1e-9)


@pytest.mark.parametrize("d", [2, 3, 4])
def test_random_clouds_against_their_hulls(d):
    rng = np.random.default_rng(d)
    tried = 0
    while tried < 8:
        n = int(rng.integers(2 * d + 2, 60))
        x = rng.standard_normal((n, d)) * rng.choice([0.2, 1.0, 5.0], d)
        y = np.where(rng.random(n) < 0.5, 1, -1)
        bias = bool(rng.integers(2)) and d < 4
        if len(set(y)) < 2:
            continue
        result = sepcert.margin(x, y, bias=bias)
        if result.result.separation != "overlap":
            continue
        tried += 1
        z = raw_rows(x, y, bias)
        inside(result.rho_2, inradius(unit(z)))
        inside(result.rho, inradius(z))
        assert result.rho_2.upper / result.rho_2.lower > 0.5 / z.shape[1]
        assert result.answered
        assert Claim.NEGATIVE_MARGIN in result.result.evidence.claims


def test_aliased_columns_live_in_their_span():
    """A copied column and a constant one: the ball is the one of the span."""
    rng = np.random.default_rng(20)
    x, y = rng.standard_normal((30, 2)), np.where(rng.random(30) < 0.5, 1, -1)
    wide = np.hstack([x, x[:, :1]])
    result = sepcert.margin(wide, y, bias=False)
    basis = np.array([[1, 0, 1], [0, math.sqrt(2), 0]]) / math.sqrt(2)
    z = raw_rows(wide, y, bias=False) @ basis.T
    inside(result.rho, inradius(z))
    inside(result.rho_2, inradius(unit(z)))
    assert sepcert.verify(result.certificate, X=wide, y=y).verified


def test_zero_rows_change_nothing():
    x, y = signed_points(np.array([[1.0, 0], [-1, 2], [0, -1], [-2, -1]]))
    plain = sepcert.margin(x, y, bias=False)
    more = sepcert.margin(np.vstack([x, [[0, 0]]]), [*y, 1], bias=False)
    assert more.result.separation == "overlap"
    for name in ("rho", "rho_2"):
        one, other = getattr(plain, name), getattr(more, name)
        inside(other, inradius(raw_rows(x, y, False)) if name == "rho" else inradius(unit(raw_rows(x, y, False))))
        assert one.lower == pytest.approx(other.lower, rel=1e-9)


def test_invariances():
    rng = np.random.default_rng(21)
    x, y = rng.standard_normal((40, 3)), np.where(rng.random(40) < 0.5, 1, -1)
    truth = inradius(unit(raw_rows(x, y, bias=False)))
    rotation = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    sizes = 2.0 ** rng.integers(-5, 5, (40, 1))
    for other, labels in ((x, y), (x[::-1], -y[::-1]), (x * sizes, y), (x @ rotation, y)):
        inside(sepcert.margin(other, labels, bias=False).rho_2, truth)


def test_columns_of_very_different_size():
    """Rescaled columns: the ball of the span is tiny in one direction, and still bracketed."""
    rng = np.random.default_rng(22)
    x, y = rng.standard_normal((60, 2)), np.where(rng.random(60) < 0.5, 1, -1)
    x = x * [1e6, 1e-3]
    result = sepcert.margin(x, y, bias=False)
    z = raw_rows(x, y, bias=False)
    assert result.rho.upper < 0
    assert result.rho_2.lower <= result.rho_2.upper < 0
    assert result.rho.lower <= -inradius(z / [1e6, 1e-3]) * 1e-3 * 0.5
    assert -result.rho.lower <= np.abs(z[:, 1]).max()


def test_certificate_and_evidence(tmp_path):
    rng = np.random.default_rng(23)
    x, y = rng.standard_normal((50, 2)), np.where(rng.random(50) < 0.5, 1, -1)
    result = sepcert.margin(x, y)
    result.certificate.save(tmp_path / "c.json")
    assert sepcert.verify(tmp_path / "c.json", X=x, y=y).verified
    changed = x.copy()
    changed[0, 0] += 1
    assert not sepcert.verify(tmp_path / "c.json", X=changed, y=y).verified
    shown = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert "negative-margin" in shown["claims"]
    z = raw_rows(x, y)
    for name, rows in (("rho", z), ("rho_2", unit(z))):
        part = shown["evidence"][name]
        w = sum(float(parse_number(v)) * z[i - 1] for i, v in part["alpha"])
        assert (rows @ w).min() / np.linalg.norm(w) == pytest.approx(shown[name]["lower"], rel=1e-9)
        sizes = np.linalg.norm(z, axis=1) if name == "rho_2" else np.ones(len(z))
        pairs = [[[(i - 1, float(parse_number(v))) for i, v in c] for c in part[s]] for s in ("forward", "backward")]
        extents = [[sum(v * sizes[i] for i, v in c) for c in side] for side in pairs]
        expected = 1 / np.sqrt((np.max(extents, axis=0) ** 2).sum())
        assert -shown[name]["upper"] == pytest.approx(expected, rel=1e-9)
        vectors = np.array([sum(v * z[i] for i, v in c) for c in pairs[0]])
        assert np.allclose(vectors @ vectors.T, np.eye(3), atol=1e-9)


def test_time_limit_keeps_the_verdict(monkeypatch):
    import sepcert.workflows.negative_margin as workflow

    monkeypatch.setattr(workflow, "cheapest_combination", lambda *arguments: None)
    x, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    result = sepcert.margin(x, y)
    assert (result.rho_2.lower, result.rho_2.upper) == (None, 0)
    assert "limits" in result.why["rho_2"]
    assert result.verified
    assert result.exit_code is ExitCode.UNDECIDED
    assert Claim.NEGATIVE_MARGIN not in result.result.evidence.claims


def test_the_outer_end_stands_alone_where_the_inner_one_fails(monkeypatch):
    import sepcert.workflows.negative_margin as workflow

    monkeypatch.setattr(workflow, "inner_radius", lambda *arguments: 0.0)
    rng = np.random.default_rng(25)
    x, y = rng.standard_normal((40, 2)), np.where(rng.random(40) < 0.5, 1, -1)
    result = sepcert.margin(x, y)
    truth = inradius(unit(raw_rows(x, y)))
    assert result.rho_2.upper == 0
    assert -1.1 * truth <= result.rho_2.lower <= -truth * (1 - 1e-9)
    assert result.exit_code is ExitCode.UNDECIDED
    w = np.array([float(parse_number(v)) for v in result.to_dict()["evidence"]["rho_2"]["w"]])
    assert (unit(raw_rows(x, y)) @ w).min() / np.linalg.norm(w) == pytest.approx(result.rho_2.lower, rel=1e-9)
    monkeypatch.setattr(workflow, "_box", lambda body, basis: body.support(basis[0]) and None)
    assert sepcert.margin(x, y).rho_2.lower <= -truth * (1 - 1e-9)


def test_a_solver_that_lies_is_found_out(monkeypatch):
    """Multipliers that are nonsense prove nothing, or something true."""
    import sepcert.workflows.negative_margin as workflow

    rng = np.random.default_rng(24)
    x, y = rng.standard_normal((40, 2)), np.where(rng.random(40) < 0.5, 1, -1)
    truth = inradius(unit(raw_rows(x, y, bias=False)))

    def nonsense(costs, vectors, target, deadline):
        return rng.random(len(vectors)), rng.standard_normal(vectors.shape[1])

    monkeypatch.setattr(workflow, "cheapest_combination", nonsense)
    for _ in range(3):
        bracket = sepcert.margin(x, y, bias=False).rho_2
        assert bracket.lower is None or bracket.lower <= -truth * (1 - 1e-9)
        assert bracket.upper >= -truth * (1 + 1e-9)
