"""The max-margin path for kernels: brackets around the optimum that scipy finds, hard Gram matrices, limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from sepcert.engine.algorithms import block_principal_pivoting
from sepcert.engine.algorithms.block_principal_pivoting import PivotRule
from sepcert.engine.algorithms.pairwise_frank_wolfe import first_vertex, pairwise_steps
from sepcert.engine.driver import run
from sepcert.engine.gram import DenseGram, FactoredGram
from sepcert.engine.gram_kernel import KernelRows
from sepcert.engine.gram_lazy import LazyGram
from sepcert.engine.observers import RecordList
from sepcert.engine.protocol import Control, Goal, Limits, Observer, Targets
from sepcert.engine.registry import ALGORITHMS, make_algorithm
from sepcert.kernels.base import Kernel
from sepcert.status import Termination

BOTH = ("pairwise-frank-wolfe", "block-principal-pivoting")


@dataclass(frozen=True)
class Gaussian(Kernel):
    gamma: float = 0.4

    name = "gaussian"
    rational = False
    strictly_positive_definite = True

    def values(self, left, right):
        return np.exp(-self.gamma * ((left[:, None, :] - right[None]) ** 2).sum(axis=2))

    def diagonal(self, points):
        return np.ones(len(points))


@dataclass(frozen=True)
class Power(Gaussian):
    """(x'z + 1)^3: of rank 10 in two dimensions."""

    degree: int = 3

    def values(self, left, right):
        return (left @ right.T + 1.0) ** self.degree

    def diagonal(self, points):
        return ((points * points).sum(axis=1) + 1.0) ** self.degree


def problem(count, features, gamma, seed, gap=0.0, noise=0.0, kernel=None):
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((count, features))
    labels = np.where(points[:, 0] + noise * rng.standard_normal(count) > 0, 1, -1).astype(np.int8)
    points[:, 0] += gap * labels
    return KernelRows(points, labels, kernel or Gaussian(gamma))


def forms(rows):
    yield DenseGram.of_kernel(rows)
    yield LazyGram(rows, 1 << 24)
    yield LazyGram(rows, 8 * 8 * rows.count)


def least_norm(g):
    """min |p|_G over the simplex, by nonnegative least squares in the vectors of an eigendecomposition of G."""
    values, vectors = np.linalg.eigh(g)
    factor = vectors * np.sqrt(np.maximum(values, 0.0))
    system = np.vstack([factor.T, np.ones(len(g))])
    target = np.zeros(len(g) + 1)
    target[-1] = 1.0
    u, _ = nnls(system, target, maxiter=100 * len(g))
    p = u / u.sum()
    return float(np.linalg.norm(factor.T @ p))


PROBLEMS = {
    "separated": lambda: problem(60, 3, 0.3, 0, gap=0.7),
    "narrow": lambda: problem(90, 3, 2.0, 1),
    "overlapping": lambda: problem(80, 5, 1.0, 2, noise=1.0),
    "many more rows than rank": lambda: problem(120, 2, 0.0, 3, gap=0.3, kernel=Power()),
    "smooth in one dimension": lambda: problem(80, 1, 0.5, 4, gap=0.4),
}


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("instance", PROBLEMS)
def test_the_bracket_holds_the_optimum(name, instance):
    rows = PROBLEMS[instance]()
    rho = least_norm(DenseGram.of_kernel(rows).matrix)
    assert rho > 1e-4  # within what the reference resolves
    gap = 0.01 if name == "block-principal-pivoting" else 0.1
    for gram in forms(rows):
        outcome = run(make_algorithm(name), gram, Targets(gap=gap), Limits(max_iterations=1500))
        assert outcome.reached is Goal.GAP
        lower, upper = outcome.bracket.lower, outcome.bracket.upper
        assert lower <= rho * (1 + 1e-7)
        assert upper >= rho * (1 - 1e-7)
        assert (upper - lower) / upper <= gap
        p, a, g = outcome.upper.simplex, outcome.lower.weights, DenseGram.of_kernel(rows).matrix
        assert p.min() >= 0.0
        assert p.sum() == pytest.approx(1.0, abs=1e-12)
        assert np.sqrt(p @ g @ p) == pytest.approx(upper, rel=1e-6)
        assert (g @ a).min() / np.sqrt(a @ g @ a) == pytest.approx(lower, rel=1e-6)


def test_the_reference_itself():
    """The nonnegative least squares above against sequential quadratic programming."""
    g = DenseGram.of_kernel(problem(14, 3, 0.5, 5, gap=0.5)).matrix
    n = len(g)
    found = minimize(
        lambda p: p @ g @ p,
        np.full(n, 1 / n),
        jac=lambda p: 2 * g @ p,
        bounds=[(0, None)] * n,
        constraints=[{"type": "eq", "fun": lambda p: p.sum() - 1, "jac": lambda p: np.ones(n)}],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert np.sqrt(found.fun) == pytest.approx(least_norm(g), rel=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_small_gaps_come_too(seed):
    rows = problem(50 + 20 * seed, 1 + seed % 4, (0.2, 1.0, 5.0)[seed % 3], seed, gap=0.3, noise=0.2 * (seed % 2))
    g = DenseGram.of_kernel(rows).matrix
    rho = least_norm(g)
    outcome = run(
        make_algorithm("block-principal-pivoting"),
        LazyGram(rows, 1 << 22),
        Targets(gap=1e-6),
        Limits(max_iterations=1500),
    )
    if rho > 1e-3:
        assert outcome.reached is Goal.GAP
        assert outcome.bracket.upper == pytest.approx(rho, rel=1e-5)
    assert outcome.bracket.upper >= rho * (1 - 1e-6) - 1e-9
    assert outcome.bracket.lower <= rho * (1 + 1e-6) + 1e-9


def naive_pairwise(g, steps):
    p = np.zeros(len(g))
    p[0] = 1.0
    for _ in range(steps):
        s = g @ p
        i = min(range(len(g)), key=lambda k: s[k])
        j = max((k for k in range(len(g)) if p[k] > 0), key=lambda k: s[k])
        t = min(p[j], (s[j] - s[i]) / (g[i, i] + g[j, j] - 2 * g[i, j]))
        p[i] += t
        p[j] -= t
    return p


@pytest.mark.parametrize("steps", [1, 2, 7, 40])
def test_pairwise_steps_by_hand(steps):
    rows = problem(30, 2, 0.5, 7, noise=0.5)
    g = DenseGram.of_kernel(rows).matrix
    for gram in forms(rows):
        state = pairwise_steps(gram, first_vertex(gram), steps)
        np.testing.assert_allclose(state.weights, naive_pairwise(g, steps), atol=1e-9)
        np.testing.assert_allclose(state.image, g @ state.weights, atol=1e-12)
        assert state.steps == steps


def test_pairwise_steps_leave_their_input_alone_and_end():
    rows = problem(30, 2, 0.5, 7, gap=1.0)
    gram = DenseGram.of_kernel(rows)
    state = pairwise_steps(gram, first_vertex(gram), 5)
    before = state.weights.copy(), state.image.copy()
    later = pairwise_steps(gram, state, 100_000)
    np.testing.assert_array_equal(state.weights, before[0])
    np.testing.assert_array_equal(state.image, before[1])
    last = later
    for _ in range(50):  # near the end how many steps are left depends on how BLAS rounds
        if last.optimal:
            break
        last = pairwise_steps(gram, last, 100)
    assert last.optimal
    outcome = run(make_algorithm("pairwise-frank-wolfe"), gram, Targets(gap=1e-17), Limits(max_iterations=5000))
    assert outcome.termination is Termination.NO_PROGRESS
    assert abs(outcome.bracket.gap) < 1e-9


@pytest.mark.parametrize("name", BOTH)
def test_opposite_labels_on_one_point(name):
    base = problem(40, 2, 0.5, 9, gap=1.0)
    points = np.vstack([base.points, base.points[[17]]])
    labels = np.append(base.labels, -base.labels[17]).astype(np.int8)
    for gram in forms(KernelRows(points, labels, Gaussian(0.5))):
        outcome = run(make_algorithm(name), gram, Targets(gap=0.01), Limits(max_iterations=500))
        assert outcome.reached is Goal.WITNESS
        assert outcome.bracket.upper < 1e-14
        np.testing.assert_allclose(outcome.candidate.simplex[[17, 40]], 0.5, atol=1e-9)
    two = KernelRows(np.zeros((2, 1)), np.array([1, -1], dtype=np.int8), Gaussian())
    outcome = run(make_algorithm(name), LazyGram(two, 0), Targets(gap=0.01))
    assert outcome.reached is Goal.WITNESS
    assert outcome.bracket.upper == 0.0


def test_duplicates_change_nothing():
    base = problem(50, 2, 0.5, 11, gap=0.4)
    alone = run(make_algorithm("bpp"), LazyGram(base, 1 << 20), Targets(gap=1e-4), Limits(max_iterations=900))
    again = KernelRows(np.vstack([base.points] * 3), np.tile(base.labels, 3), base.kernel)
    for gram in forms(again):
        thrice = run(make_algorithm("bpp"), gram, Targets(gap=1e-4), Limits(max_iterations=900))
        assert thrice.reached is alone.reached is Goal.GAP
        assert thrice.bracket.upper == pytest.approx(alone.bracket.upper, rel=2e-4)


def test_a_lower_end_that_is_rounding_is_not_proposed():
    """Of rank 10 with 400 rows: x has huge entries of both signs, and min(Gx)/|x|_G may come out above rho."""
    rows = problem(400, 2, 0.0, 12, gap=0.05, kernel=Power())
    rho = least_norm(DenseGram.of_kernel(rows).matrix)
    records = RecordList()
    outcome = run(
        make_algorithm("bpp", {"pairwise": 0}),
        DenseGram.of_kernel(rows),
        Targets(gap=1e-5),
        Limits(max_iterations=400),
        [records],
    )
    assert all(r.margin_lower is None or r.margin_lower <= rho * (1 + 1e-5) for r in records.records)
    assert outcome.bracket.upper >= rho * (1 - 1e-5)
    assert any(r.extra.get("shift", 0.0) > 0.0 for r in records.records)


def test_a_margin_below_what_doubles_resolve_ends():
    rows = problem(60, 1, 0.05, 13, noise=2.0)  # rank about 8, labels at random
    outcome = run(make_algorithm("bpp"), LazyGram(rows, 1 << 20), Targets(gap=0.01), Limits(max_iterations=3000))
    assert outcome.termination in (Termination.NO_PROGRESS, Termination.CLAIM_REACHED, Termination.ITERATION_LIMIT)
    assert outcome.reached is not Goal.GAP
    assert outcome.reached is not Goal.SEPARATOR
    assert outcome.bracket.lower <= 1e-7
    assert outcome.bracket.upper < 1e-3


def test_the_rule_of_the_changes():
    rule = PivotRule().after(9)
    assert (rule.least, rule.singles) == (9, 0)
    for _ in range(3):
        rule = rule.after(9)
        assert not rule.singles
    rule = rule.after(12)
    assert rule.singles == 1
    assert rule.after(9).singles == 2
    assert rule.after(8) == PivotRule(8)


@pytest.mark.parametrize("tries", [0, 3])
def test_without_block_changes_it_still_ends(tries, monkeypatch):
    """Murty's rule alone, and with blocks, reaches the same point."""
    monkeypatch.setattr(block_principal_pivoting, "TRIES", tries)
    monkeypatch.setattr(block_principal_pivoting, "STALLED", 10_000)
    rows = problem(40, 3, 0.5, 15, noise=0.5)
    rho = least_norm(DenseGram.of_kernel(rows).matrix)
    outcome = run(
        make_algorithm("bpp", {"pairwise": 0}),
        DenseGram.of_kernel(rows),
        Targets(gap=1e-6),
        Limits(max_iterations=3000),
    )
    assert outcome.reached is Goal.GAP
    assert outcome.bracket.upper == pytest.approx(rho, rel=1e-5)


def test_a_support_beyond_the_limit_is_left_to_pairwise_steps():
    rows = problem(80, 5, 1.0, 2, noise=1.0)
    rho = least_norm(DenseGram.of_kernel(rows).matrix)
    sizes = []

    class Watched(LazyGram):
        def block(self, index):
            sizes.append(len(index))
            return super().block(index)

    for limit in (5, 30):
        gram = Watched(rows, 1 << 20)
        outcome = run(
            make_algorithm("bpp", {"support_limit": limit, "pairwise": 10, "block": 10}),
            gram,
            Targets(gap=0.1),
            Limits(max_iterations=300),
        )
        assert max(sizes, default=0) <= limit
        assert outcome.bracket.lower <= rho <= outcome.bracket.upper * (1 + 1e-9)
        assert outcome.bracket.upper < 1.2 * rho
    assert sizes


def test_limits_and_interrupts():
    rows = problem(200, 4, 1.0, 16, noise=0.5)
    stopped = run(make_algorithm("bpp"), LazyGram(rows, 1 << 20), Targets(gap=1e-9), Limits(max_iterations=4))
    assert stopped.termination is Termination.ITERATION_LIMIT
    assert stopped.iterations == 4

    class Interrupting(Observer):
        def iterated(self, record):
            if record.iteration == 6:
                raise KeyboardInterrupt

    gram = LazyGram(rows, 1 << 20)
    outcome = run(make_algorithm("bpp"), gram, Targets(gap=1e-9), observers=[Interrupting()])
    assert outcome.termination is Termination.INTERRUPTED
    g = DenseGram.of_kernel(rows).matrix
    p = outcome.upper.simplex
    assert np.sqrt(p @ g @ p) == pytest.approx(outcome.bracket.upper, rel=1e-9)

    now = [0.0]

    def clock():
        now[0] += 1.0
        return now[0]

    late = run(make_algorithm("bpp"), gram, Targets(gap=1e-9), Limits(deadline=12.0), control=Control(clock=clock))
    assert late.termination is Termination.TIME_LIMIT


def test_no_factorisation_is_begun_that_would_end_after_the_deadline(monkeypatch):
    monkeypatch.setattr(block_principal_pivoting, "FACTOR_SECONDS", 1e9)
    rows = problem(100, 4, 1.0, 16, noise=0.5)
    limits = Limits(max_iterations=20, deadline=1e6)
    outcome = run(
        make_algorithm("bpp"), DenseGram.of_kernel(rows), Targets(gap=1e-9), limits, control=Control(clock=lambda: 0.0)
    )
    assert outcome.candidate.extra["pivots"] == 0
    assert outcome.candidate.extra["steps"] > 0


def test_options_are_checked():
    for name, options in (("pfw", {"block": 0}), ("bpp", {"pairwise": -1}), ("bpp", {"support_limit": 0})):
        with pytest.raises(Exception, match=r"at least|0 or more") as caught:
            make_algorithm(name, options)
        assert caught.value.code == "CONFIG-ALGORITHM-OPTION"


GRAM_BASED = [name for name, entry in ALGORITHMS.items() if entry.needs == "gram"]


@pytest.mark.parametrize("name", [name for name in GRAM_BASED if name != "min-norm-point"])
def test_every_gram_algorithm_works_on_columns(name):
    """Lazy, dense and, for a linear kernel, factored: the same outcome, and the truth."""
    wide, over = problem(40, 2, 0.3, 17, gap=1.0), problem(40, 2, 0.02, 18, noise=1.0)
    for rows, goal in ((wide, Goal.SEPARATOR), (over, Goal.WITNESS)):
        g = DenseGram.of_kernel(rows).matrix
        targets, limits = Targets(epsilon=0.05), Limits(max_iterations=3000)
        outcomes = [run(make_algorithm(name), gram, targets, limits) for gram in forms(rows)]
        for outcome in outcomes:
            assert outcome.reached is goal
            assert outcome.iterations == outcomes[0].iterations
            if goal is Goal.SEPARATOR:
                assert (g @ outcome.candidate.weights).min() > 0.0
            else:
                p = outcome.candidate.simplex
                assert np.sqrt(p @ g @ p) < 0.05
                assert p.min() >= 0.0
                assert p.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("name", BOTH)
def test_linear_rows(name, planted):
    rows = planted(100, 3, margin=0.3)
    best = run(make_algorithm("min-norm-point"), FactoredGram(rows), Targets(gap=1e-9)).bracket
    found = run(make_algorithm(name), FactoredGram(rows), Targets(gap=1e-3), Limits(max_iterations=2000))
    assert found.reached is Goal.GAP
    assert found.bracket.lower <= best.upper * (1 + 1e-9)
    assert found.bracket.upper >= best.lower * (1 - 1e-9)
