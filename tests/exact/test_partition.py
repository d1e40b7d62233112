"""The trichotomy against a plain-Fractions reference, and its evidence by hand."""

import time
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from sepcert.exact.decide import Deadline, Proposal
from sepcert.exact.partition import partition
from sepcert.status import Numbers

DATA = Path(__file__).parent.parent / "data"


def no_proposal(face):
    return []


def misleading_proposal(face):
    """A direction and a support that are mostly wrong: they may cost time, never truth."""
    rng = np.random.default_rng(len(face.members))
    some = rng.choice(face.members, min(len(face.members), face.dimension + 1), replace=False)
    return [Proposal(rng.standard_normal(face.dimension), tuple(int(i) for i in some))]


def assert_proved(rows, found):
    """Check the evidence of a partition in plain Fractions."""
    exact = [rows.fractions(i) for i in range(rows.count)]
    total = [Fraction(0)] * rows.dimension
    for i, p in (found.witness or {}).items():
        assert p > 0
        total = [t + p * v for t, v in zip(total, exact[i], strict=True)]
    assert not any(total)
    if found.separator is not None:
        products = [sum(a * b for a, b in zip(z, found.separator, strict=True)) for z in exact]
        never = set(found.witness or {})
        assert all((v == 0) if i in never else (v > 0) for i, v in enumerate(products))


def small_problems():
    rng = np.random.default_rng(12)
    for k in range(250):
        n, d = int(rng.integers(2, 11)), int(rng.integers(1, 4))
        kind = k % 5
        if kind == 0:
            values = rng.integers(-2, 3, (n, d))
        elif kind == 1:
            values = rng.integers(0, 2, (n, d))
        elif kind == 2:
            values = np.round(rng.standard_normal((n, d)), 1)
        elif kind == 3:
            values = rng.integers(-1, 2, (n, 1)) * rng.integers(-1, 2, (1, d))
        else:
            values = rng.standard_normal((n, d)) * 2.0 ** rng.integers(-40, 40, d)
        labels = rng.choice([-1, 1], n)
        if kind != 3 and k % 2:
            labels = np.where(values @ rng.integers(-2, 3, d) + 0.25 >= 0, 1, -1)
        yield k, values.astype(float), labels, Numbers.DECIMAL if k % 3 else Numbers.BINARY64, bool(k % 4)


@pytest.mark.parametrize("propose", [no_proposal, misleading_proposal])
def test_partition_agrees_with_plain_fractions(truth, make_rows, propose):
    seen = set()
    for k, values, labels, numbers, bias in small_problems():
        rows = make_rows(values, labels, numbers, bias)
        found = partition(rows, propose, Deadline())
        exact = [rows.fractions(i) for i in range(rows.count)]
        never = truth.never_strict(exact)
        expected = "complete" if not never else "overlap" if len(never) == len(exact) else "quasi-complete"
        assert found.separation == expected, k
        if expected == "quasi-complete":
            assert set(found.witness) == never, k
        assert_proved(rows, found)
        seen.add(expected)
    assert len(seen) == 3


def test_conflicts_are_minimal(truth, make_rows):
    for _, values, labels, numbers, bias in list(small_problems())[:80]:
        rows = make_rows(values, labels, numbers, bias)
        found = partition(rows, no_proposal, Deadline())
        if found.conflict is None:
            continue
        support = sorted(found.conflict)
        exact = [rows.fractions(i) for i in support]
        sums = [
            sum(found.conflict[i] * z[j] for i, z in zip(support, exact, strict=True)) for j in range(rows.dimension)
        ]
        assert not any(sums)
        for part in combinations(exact, len(exact) - 1):
            assert not part or truth.separation(list(part)) == "complete"


@pytest.mark.parametrize("propose", [no_proposal, misleading_proposal])
def test_the_adversarial_set(make_rows, propose):
    stored = np.load(DATA / "adversarial.npz", allow_pickle=False)
    at = row = 0
    wrong = []
    for k, (n, d) in enumerate(stored["shape"].tolist()):
        values = stored["X"][at : at + n * d].reshape(n, d)
        labels = np.where(stored["y"][row : row + n] > 0, 1, -1)
        at, row = at + n * d, row + n
        found = partition(make_rows(values, labels), propose, Deadline())
        if found.separation is None or found.separation.value[0] != stored["truth"][k]:
            wrong.append(k)
    assert wrong == []


def test_a_deadline_leaves_it_undecided(make_rows):
    rng = np.random.default_rng(0)
    rows = make_rows(rng.standard_normal((60, 5)), rng.choice([-1, 1], 60))
    found = partition(rows, no_proposal, Deadline(time.monotonic() - 1.0))
    assert found.separation is None
    assert found.separator is None


def test_every_row_zero_without_a_bias_is_overlap(make_rows):
    found = partition(make_rows(np.zeros((3, 2)), [1, -1, 1], bias=False), no_proposal, Deadline())
    assert found.separation == "overlap"
    assert len(found.conflict) == 1


def test_some_zero_rows_without_a_bias_are_quasi_complete(make_rows):
    rows = make_rows(np.array([[0.0, 0.0], [1.0, 2.0], [-1.0, -2.0]]), [1, 1, -1], bias=False)
    found = partition(rows, no_proposal, Deadline())
    assert found.separation == "quasi-complete"
    assert set(found.witness) == {0}
    assert_proved(rows, found)


def test_thousands_of_rows_on_the_plane(make_rows):
    rng = np.random.default_rng(4)
    values = rng.integers(-9, 10, (3000, 4)).astype(float)
    side = values @ np.array([3, -2, 1, 0])
    labels = np.where(side > 0, 1, -1)
    on_it = side == 0
    labels[on_it] = rng.choice([-1, 1], int(on_it.sum()))
    rows = make_rows(values, labels, Numbers.DECIMAL)
    found = partition(rows, no_proposal, Deadline())
    assert found.separation == "quasi-complete"
    assert set(found.witness) == set(np.flatnonzero(on_it).tolist())
    assert_proved(rows, found)
