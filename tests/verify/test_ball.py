"""The ball inside the hull of the rows: examples by hand, plain Fractions, and ways in which it can be wrong."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import nnls

from sepcert.certificate.codec import dumps, loads
from sepcert.certificate.filed import FiledCertificate, place_rows
from sepcert.certificate.model import Ball, Combination, Evidence, KernelStatement, Margin, Witness
from sepcert.check_options import CheckOptions
from sepcert.data.reader import read_dataset
from sepcert.errors import CertificateError
from sepcert.problem import Problem
from sepcert.status import CheckOutcome, Claim
from sepcert.verify import verify
from sepcert.verify.ball import inner_radius, outer_radius
from sepcert.verify.evidence import check_evidence
from sepcert.verify.quotients import Geometry
from sepcert.verify.rows import SignedRows
from sepcert.workflows.margin import margin_dataset

ONE = Fraction(1)


def over(*pairs):
    return Combination(tuple(i for i, _ in pairs), tuple(Fraction(v) for _, v in pairs))


@pytest.fixture
def square(planted_evidence):
    """Raw rows 2 e_1, -2 e_1, e_2, -e_2 (y = 1, -1 in turn), whose normalised hull has the inradius 1/sqrt(2)."""
    problem = planted_evidence.problem_of([[2.0, 0], [2, 0], [0, 1], [0, 1]], [1, -1, 1, -1], bias=False)
    half = Fraction(1, 2)
    forward, backward = (over((0, half)), over((2, 1))), (over((1, half)), over((3, 1)))
    return problem, Ball(math.sqrt(0.5) - 1e-16, math.sqrt(0.5) + 1e-16, over((0, 1), (2, 2)), forward, backward)


def outcome(problem, ball, *claims):
    return check_evidence(problem, Evidence((Claim.NEGATIVE_MARGIN, *claims), ball=ball)).outcome


def test_square_by_hand(square):
    problem, ball = square
    rows = SignedRows(problem)
    inner, outer = inner_radius(rows, ball.forward, ball.backward), outer_radius(rows, ball.alpha)
    assert inner == pytest.approx(math.sqrt(0.5), rel=1e-15)
    assert outer == pytest.approx(math.sqrt(0.5), rel=1e-15)
    assert Fraction(inner) ** 2 <= Fraction(1, 2) <= Fraction(outer) ** 2
    assert math.nextafter(inner, 1) ** 2 >= 0.5 >= math.nextafter(outer, 0) ** 2
    assert outcome(problem, replace(ball, inner=inner, outer=outer)) is CheckOutcome.VERIFIED
    assert outcome(problem, replace(ball, inner=0.1, outer=3.0)) is CheckOutcome.VERIFIED
    for wrong in (
        replace(ball, inner=math.nextafter(inner, 1), outer=1.0),
        replace(ball, inner=inner, outer=math.nextafter(outer, 0)),
        replace(ball, inner=0.0),
        replace(ball, inner=-0.5),
        replace(ball, outer=math.inf),
        replace(ball, inner=math.nan),
        replace(ball, inner=0.9, outer=0.8),
    ):
        assert outcome(problem, wrong) is CheckOutcome.REJECTED, wrong


def test_raw_square_by_hand(square):
    """The hull of the raw rows is the rhombus with half diagonals 2 and 1, of inradius 2/sqrt(5)."""
    problem, ball = square
    rows = SignedRows(problem)
    assert inner_radius(rows, ball.forward, ball.backward, Geometry.RAW) == pytest.approx(2 / math.sqrt(5), rel=1e-15)
    alpha = over((0, 1), (2, 4))
    assert outer_radius(rows, alpha, Geometry.RAW) == pytest.approx(2 / math.sqrt(5), rel=1e-15)
    with pytest.raises(ValueError, match="Euclidean"):
        inner_radius(rows, ball.forward, ball.backward, Geometry.ONE_NORM)


def test_parts_that_do_not_prove_a_radius_are_rejected(square):
    problem, ball = square
    ball = replace(ball, inner=0.01, outer=1.5)
    assert outcome(problem, ball) is CheckOutcome.VERIFIED
    for wrong in (
        replace(ball, forward=ball.forward[:1], backward=ball.backward[:1]),
        replace(ball, backward=ball.backward[:1]),
        replace(ball, forward=(), backward=()),
        replace(ball, forward=ball.forward[:1] * 2, backward=ball.backward[:1] * 2),
        replace(ball, forward=ball.backward, backward=ball.forward[::-1]),
        replace(ball, forward=(over((0, -1)), ball.forward[1])),
        replace(ball, forward=(over((0, 0)), ball.forward[1])),
        replace(ball, forward=(over((9, 1)), ball.forward[1])),
        replace(ball, forward=(over((2, 1)), ball.forward[1])),
        replace(ball, alpha=over((0, 1), (1, 1))),
        replace(ball, alpha=Combination((), ())),
        replace(ball, alpha=over((1, 1), (0, 1))),
        None,
    ):
        assert outcome(problem, wrong) is CheckOutcome.REJECTED, wrong


def test_a_hull_that_is_flat_in_a_direction_needs_all_of_the_span(planted_evidence):
    """Rows +-e_1 overlap in a line; a further row e_2 makes the whole quasi-complete, with margin 0."""
    line = planted_evidence.problem_of([[1.0, 0], [1, 0]], [1, -1], bias=False)
    plane = planted_evidence.problem_of([[1.0, 0], [1, 0], [0, 1]], [1, -1, 1], bias=False)
    ball = Ball(1.0, 1.0, over((0, 1)), (over((0, 1)),), (over((1, 1)),))
    assert outcome(line, ball) is CheckOutcome.VERIFIED
    assert outcome(plane, ball) is CheckOutcome.REJECTED
    more = replace(ball, forward=(*ball.forward, over((2, 1))), backward=(*ball.backward, over((2, 1))))
    assert outcome(plane, more) is CheckOutcome.REJECTED


def test_claims_that_exclude_each_other(square):
    problem, ball = square
    witness = Witness(over((0, 1), (1, 1), (2, 1), (3, 1)))
    claims = (Claim.INSEPARABLE, Claim.OVERLAP, Claim.MARGIN_AT_MOST, Claim.NEGATIVE_MARGIN)
    whole = Evidence(claims, None, witness, Margin(None, 0.0), ball)
    assert check_evidence(problem, replace(whole, ball=replace(ball, inner=0.5, outer=0.9))).verified
    assert not check_evidence(problem, replace(whole, claims=claims[:3])).verified
    for claim in (Claim.SEPARABLE, Claim.QUASI_COMPLETE):
        assert not check_evidence(problem, Evidence((claim, Claim.NEGATIVE_MARGIN), ball=ball)).verified


TABLE = "x1,x2,class\n0,0,0\n1,1,0\n0,1,1\n1,0.5,1\n0.25,0.5,0\n"


@pytest.fixture
def filed(tmp_path, monkeypatch):
    """A certificate that states nothing but a ball."""
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(TABLE)
    dataset = read_dataset("data.csv")
    evidence = margin_dataset(dataset, CheckOptions()).result.certificate.evidence
    numbers = {i: int(n) for i, n in enumerate(dataset.row_numbers)}
    moved = lambda c: Combination(tuple(numbers[i] for i in c.rows), c.values)  # noqa: E731
    ball = evidence.ball
    sides = tuple(map(moved, ball.forward)), tuple(map(moved, ball.backward))
    ball = Ball(ball.inner, ball.outer, moved(ball.alpha), *sides)
    evidence = Evidence((Claim.NEGATIVE_MARGIN,), ball=ball)
    return dataset, FiledCertificate(dataset.fingerprint(), KernelStatement("linear"), evidence)


def changes(value, path):
    """Every change of one number or row, and lists cut short."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from changes(part, (*path, key))
    elif isinstance(value, list):
        yield path, value[:-1]
        yield path, [*value, value[-1]] if value else [1]
        for k, part in enumerate(value):
            yield from changes(part, (*path, k))
    elif isinstance(value, int):
        yield from ((path, v) for v in (value + 1, value - 1, 99))
    elif isinstance(value, str):
        numerals = ["0x1p+0", "0x1p-2", "0x0p+0", "-" + value, value + "0", "0x1/0x3"]
        numerals += [value.replace("p-", "p+"), value[:-1] + "9"]
        yield from ((path, v) for v in numerals if v != value)


def applied(whole, path, new):
    copy = json.loads(json.dumps(whole))
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = new
    return json.dumps(copy)


def test_every_change_of_the_ball(filed, plain_checker, planted_evidence):
    """The verifier agrees with plain Fractions on every change of one value."""
    dataset, certificate = filed
    assert verify(certificate).verified
    assert loads(dumps(certificate)) == certificate
    problem = Problem(dataset.points, dataset.labels)
    whole = json.loads(dumps(certificate))
    counts = {"refused": 0, "verified": 0, "rejected": 0}
    for path, new in changes(whole["ball"], ("ball",)):
        try:
            changed = loads(applied(whole, path, new))
        except CertificateError:
            counts["refused"] += 1
            continue
        report = verify(changed)
        try:
            evidence = place_rows(changed, dataset.row_numbers).evidence
            truth = plain_checker.holds(problem, evidence)
        except CertificateError:
            truth = False
        assert truth is not None
        assert report.verified is truth, (path, new, report.failed)
        assert report.outcome is not CheckOutcome.NOT_CHECKABLE
        counts["verified" if truth else "rejected"] += 1
    assert min(counts.values()) > 2
    assert counts["rejected"] > 40


@pytest.mark.parametrize("key", ["inner", "outer", "alpha", "forward", "backward"])
def test_keys_of_the_ball_are_strict(filed, key):
    whole = json.loads(dumps(filed[1]))
    del whole["ball"][key]
    with pytest.raises(CertificateError):
        loads(json.dumps(whole))
    whole["ball"] = {**json.loads(dumps(filed[1]))["ball"], "more": None}
    with pytest.raises(CertificateError):
        loads(json.dumps(whole))


def test_radii_bracket_the_truth_in_the_plane(planted_evidence):
    """Any positive combinations prove a radius that is not above the true one, found by a scan of angles."""
    rng = np.random.default_rng(5)
    proved = 0
    for _ in range(40):
        n = int(rng.integers(4, 9))
        x = rng.integers(-5, 6, (n, 2)) + 0.25
        problem = planted_evidence.problem_of(x, np.where(np.arange(n) % 2, 1, -1), bias=False)
        rows = SignedRows(problem)
        z = rows.floats(np.arange(n))
        angles = np.linspace(0, 2 * np.pi, 20001)
        u = np.array([np.cos(angles), np.sin(angles)])
        true = {
            Geometry.NORMALISED: float((z @ u / np.linalg.norm(z, axis=1)[:, None]).max(axis=0).min()),
            Geometry.RAW: float((z @ u).max(axis=0).min()),
        }
        for geometry, value in true.items():
            alpha = over(*((i, int(v)) for i, v in enumerate(rng.integers(1, 5, n))))
            assert outer_radius(rows, alpha, geometry) >= value - 1e-3 * abs(value)
            sides = []
            for sign in (1, -1):
                side = []
                for target in sign * np.eye(2):
                    q, _ = nnls(z.T, target)
                    side.append(over(*((i, float(v)) for i, v in enumerate(q) if v > 0)) if q.any() else over((0, 1)))
                sides.append(tuple(side))
            inner = inner_radius(rows, *sides, geometry)
            proved += inner > 0
            assert inner <= max(value, 0.0)
    assert proved > 10
