"""The theorems of the perceptron papers as tests: invariants, bounds, duality, the wedge; and windows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from sepcert.engine.active_set import MinNormPoint
from sepcert.engine.bounds import BoundInputs, calls
from sepcert.engine.driver import run
from sepcert.engine.gram import FactoredGram
from sepcert.engine.observers import RecordList
from sepcert.engine.protocol import Goal, Limits, Targets
from sepcert.engine.registry import ALGORITHMS, find, make_algorithm
from sepcert.engine.rows import FloatRows

SMOOTHED = ("snkp", "snkpvn", "isnkpvn", "isnkp")
WITH_WITNESS = ("nkp", "normalized-perceptron", "snkp", "nvn", "snkpvn", "isnkpvn", "isnkp")


def unit_rows(rows, signed):
    z = signed(rows)
    return z / np.linalg.norm(z, axis=1, keepdims=True)


def margin_of(z):
    return MinNormPoint(z).solve().norm


def l1_margin(z):
    """rho_1 for signed w, by its linear program: max t with z_i'(u - v)/|z_i|_inf >= t, u, v >= 0, sum 1."""
    z = z / np.abs(z).max(axis=1, keepdims=True)
    n, d = z.shape
    rows = np.hstack([-z, z, np.ones((n, 1))])
    total = np.append(np.ones(2 * d), 0.0)[None, :]
    limits = [(0, None)] * (2 * d) + [(None, None)]
    found = linprog(-np.eye(2 * d + 1)[-1], A_ub=rows, b_ub=np.zeros(n), A_eq=total, b_eq=[1.0], bounds=limits)
    return float(-found.fun)


def ball_in_the_plane(z):
    """|rho| of unit vectors in the plane that overlap: the least distance of an edge of their hull from 0."""
    angle = np.sort(np.arctan2(z[:, 1], z[:, 0]))
    gaps = np.diff(np.append(angle, angle[0] + 2 * np.pi))
    return float(np.cos(gaps.max() / 2))


def overlapping_directions(count, seed):
    """Unit vectors in the plane whose hull contains 0, as rows without bias."""
    for attempt in range(100):
        rng = np.random.default_rng(1000 * seed + attempt)
        angle = rng.uniform(0, 2 * np.pi, count)
        points = np.column_stack([np.cos(angle), np.sin(angle)])
        if ball_in_the_plane(points) > 0.05:
            return FloatRows(points, np.ones(count, dtype=np.int8), 0.0), ball_in_the_plane(points)
    raise AssertionError("no overlapping directions drawn")


# --- Lemmas -----------------------------------------------------------------------------------------------


def smoothed_loss(g, a, mu, center, entropy):
    """L_mu(a) = max_p (-<a, p>_G - mu d(p)) + |a|_G^2/2, the maximum in closed form or by the projection."""
    image = g @ a
    if entropy:
        exponent = -image / mu
        top = exponent.max()
        return mu * (top + np.log(np.sum(center * np.exp(exponent - top)))) + 0.5 * a @ image
    v = center - image / mu
    u = np.sort(v)[::-1]
    thresholds = (np.cumsum(u) - 1.0) / np.arange(1, len(v) + 1)
    p = np.maximum(v - thresholds[np.flatnonzero(u > thresholds)[-1]], 0.0)
    return -p @ image - 0.5 * mu * np.sum((p - center) ** 2) + 0.5 * a @ image


@pytest.mark.parametrize("name", SMOOTHED)
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_invariant(planted, signed, name, noise):
    """L_mu_k(a_k) <= -|p_k|_G^2/2 at every k (Lemmas 5 and 8), for both prox functions and around every q_t."""
    for seed in range(3):
        rows = planted(60, 3, margin=0.02, noise=noise, seed=seed)
        z = unit_rows(rows, signed)
        g, gram, algorithm = z @ z.T, FactoredGram(rows), make_algorithm(name)
        state, center, least = algorithm.start(gram), np.full(60, 1 / 60), 0.0
        for _ in range(100):
            inner = getattr(state, "inner", state)
            center = center if inner.iteration else inner.weights
            loss = smoothed_loss(g, inner.weights, inner.smoothing, center, name in ("snkp", "isnkp"))
            value = -0.5 * inner.simplex @ g @ inner.simplex
            assert loss <= value + 1e-13
            least = max(least, value - loss)
            state = algorithm.step(gram, state)
        assert least > 1e-6  # the two sides are not the same number


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 12), st.integers(1, 5), st.integers(0, 10**6))
def test_lemma_2_and_weak_duality(count, features, seed):
    """|a|_G <= |a|_1 <= sqrt(n)|a|_2; min(Ga)/|a|_G <= rho <= |p|_G for a of every sign and p in the simplex."""
    rng = np.random.default_rng(seed)
    rows = FloatRows(rng.standard_normal((count, features)), rng.choice([-1, 1], count).astype(np.int8), 1.0)
    gram = FactoredGram(rows)
    z = rows.labels[:, None] * np.column_stack([np.ones(count), rows.points])
    rho = MinNormPoint(z / np.linalg.norm(z, axis=1, keepdims=True)).solve().norm
    separable = rho > 1e-9
    for a in (rng.standard_normal(count), -np.abs(rng.standard_normal(count)), rng.dirichlet(np.full(count, 0.3))):
        found = gram.evaluate(a)
        assert found.norm <= np.abs(a).sum() * (1 + 1e-12)
        assert np.abs(a).sum() <= math.sqrt(count) * np.linalg.norm(a) * (1 + 1e-12)
        assert found.image.min() / found.norm <= (rho if separable else 0.0) + 1e-9
    for p in rng.dirichlet(np.full(count, 0.3), size=5):
        assert gram.norm(p) >= rho - 1e-9


# --- bounds -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, entry in ALGORITHMS.items() if entry.bound is not None])
def test_separators_within_the_bound_on_ten_problems(planted, signed, name):
    entry = find(name)
    for seed in range(10):
        rows = planted(120, 4, margin=0.03 * (1 + seed), seed=seed, bias=(1.0, 2.5)[seed % 2])
        gram, z = FactoredGram(rows), signed(rows)
        uniform = gram.norm(np.full(120, 1 / 120))
        inputs = BoundInputs(
            rows=120,
            margin=margin_of(unit_rows(rows, signed)),
            raw_margin=margin_of(z),
            largest_norm=float(np.linalg.norm(z, axis=1).max()),
            start_norm=uniform,
            features=10,
            l1_margin=l1_margin(z),
        )
        outcome = run(make_algorithm(name), gram, limits=Limits(max_iterations=50_000))
        assert outcome.reached is Goal.SEPARATOR
        counted = outcome.iterations if entry.counts == "iterations" else outcome.candidate.extra[entry.counts]
        assert counted <= entry.bound(inputs)
        assert outcome.bracket.lower <= inputs.margin * (1 + 1e-9)
        assert outcome.bracket.upper is None or outcome.bracket.upper >= inputs.margin * (1 - 1e-9)


def test_winnow_within_the_bound_of_a_given_margin(planted, signed):
    for seed in range(10):
        rows = planted(120, 4, margin=0.05 * (1 + seed), seed=seed)
        rho_1 = l1_margin(signed(rows))
        for r in (rho_1, 0.5 * rho_1):
            outcome = run(make_algorithm("winnow", {"margin_bound": r}), FactoredGram(rows))
            bound = find("winnow").bound(BoundInputs(120, 0.0, features=10, l1_margin=rho_1, l1_bound=r))
            assert bound == pytest.approx(2 * math.log(10) / r**2)
            assert outcome.reached is Goal.SEPARATOR
            assert 0 < outcome.candidate.extra["mistakes"] <= bound


@pytest.mark.parametrize("name", WITH_WITNESS)
def test_witnesses_within_the_bound_on_ten_problems(name):
    """The exact |rho| is known in the plane; epsilon is below and above it."""
    entry = find(name)
    for seed in range(10):
        rows, radius = overlapping_directions(12, seed)
        gram = FactoredGram(rows)
        uniform = gram.norm(np.full(12, 1 / 12))
        for epsilon in (0.3 * radius, 0.003):
            log = RecordList()
            outcome = run(make_algorithm(name), gram, Targets(epsilon=epsilon), Limits(max_iterations=200_000), [log])
            assert outcome.reached is Goal.WITNESS
            assert outcome.bracket.upper < epsilon
            inputs = BoundInputs(12, -radius, epsilon, start_norm=uniform)
            if entry.bound is not None:
                assert outcome.iterations <= entry.bound(inputs)
            if name == "isnkpvn":
                assert outcome.candidate.extra["calls"] <= calls(inputs)
                per_call = np.bincount([r.extra["calls"] for r in log.records])
                assert per_call.max() - 1 <= 2 * math.sqrt(24) * min(2.0 / radius, 1 / epsilon)


def test_smoothed_von_neumann_from_a_near_witness():
    """When rho < 0 the count falls with |q|_G, and stays within (2 sqrt(2n)/delta) |q|_G/(|q|_G + |rho|)."""
    for seed in range(10):
        rows, radius = overlapping_directions(12, seed)
        gram = FactoredGram(rows)
        near = run(make_algorithm("nvn"), gram, Targets(epsilon=0.02)).upper.simplex
        counts = []
        for q in (near, np.eye(12)[0]):
            delta = gram.norm(q) / 50
            outcome = run(make_algorithm("snkpvn", {"q": q, "delta": delta}), gram)
            inputs = BoundInputs(12, -radius, delta, start_norm=gram.norm(q))
            assert outcome.reached is Goal.WITNESS
            assert outcome.iterations <= find("snkpvn").bound(inputs)
            counts.append(outcome.iterations * delta)
        assert counts[0] < counts[1]


def test_perceptron_counts_with_the_value_of_the_bias_feature(planted, signed):
    """Block and Novikoff count rows with b0: both margin and norm change with it."""
    seen = set()
    for bias in (0.5, 1.0, 4.0):
        rows = planted(150, 3, margin=0.1, seed=3, bias=bias)
        z = signed(rows)
        inputs = BoundInputs(150, 0.0, raw_margin=margin_of(z), largest_norm=float(np.linalg.norm(z, axis=1).max()))
        for order in ("cyclic", "random", "worst"):
            outcome = run(make_algorithm("perceptron", {"order": order}), FactoredGram(rows))
            assert 0 < outcome.candidate.extra["mistakes"] <= find("perceptron").bound(inputs)
        seen.add(round(find("perceptron").bound(inputs)))
    assert len(seen) == 3


def test_normalised_perceptrons_shrink_as_the_root(planted):
    """|p_k|_G <= 1/sqrt(k) until there is a separator."""
    for noise in (0.0, 1.0):
        for name in ("nkp", "normalized-perceptron"):
            log = RecordList()
            rows = planted(100, 3, margin=0.0, noise=noise)
            run(make_algorithm(name), FactoredGram(rows), limits=Limits(max_iterations=400), observers=[log])
            for record in log.records[1:-1]:
                assert record.margin_upper <= 1 / math.sqrt(record.iteration) + 1e-12


@pytest.mark.parametrize("name", ["nkp", "normalized-perceptron", "snkp", "snkpvn", "isnkp", "nvn"])
def test_goes_on_to_the_maximum_margin(planted, signed, name):
    rows = planted(80, 3, margin=0.3)
    margin = margin_of(unit_rows(rows, signed))
    outcome = run(make_algorithm(name), FactoredGram(rows), Targets(gap=0.05), Limits(max_iterations=20_000))
    assert outcome.reached is Goal.GAP
    assert 0.95 * margin <= outcome.bracket.lower <= margin <= outcome.bracket.upper * (1 + 1e-9)


def test_bounds_are_the_formulas():
    inputs = BoundInputs(rows=800, margin=0.1, epsilon=0.01, start_norm=0.5)
    assert find("nkp").bound(inputs) == pytest.approx(100.0)
    assert find("normalized-perceptron").bound(inputs) == pytest.approx(100.0)
    assert find("snkpvn").bound(inputs) == pytest.approx(800.0)
    assert calls(inputs) == 3  # |q_t|_G can be 0.5, below 0.25, below 0.125, and not below 0.0625
    assert find("isnkpvn").bound(inputs) == 3 * 801
    overlap = BoundInputs(rows=800, margin=-0.5, epsilon=0.01, start_norm=0.5, gamma=4.0)
    assert find("snkpvn").bound(overlap) == pytest.approx(8000.0 / 2)
    assert calls(overlap) == 3
    assert find("isnkpvn").bound(overlap) == 3 * (640 + 1)
    assert calls(BoundInputs(800, -0.5, 0.1, start_norm=0.05)) == 1
    assert find("winnow").bound(BoundInputs(5, 0, features=8, l1_margin=0.2)) == pytest.approx(
        32 * math.log(8) / (3 * 0.04)
    )
    assert find("winnow").bound(BoundInputs(5, 0, features=8, l1_margin=0.2, l1_bound=0.3)) == math.inf
    for name in ("nkp", "snkpvn", "isnkpvn", "winnow"):
        assert find(name).bound(BoundInputs(rows=800, margin=-0.1)) == math.inf
    assert find("isnkp").bound is None


# --- the wedge ----------------------------------------------------------------------------------------------


def wedge(r, seed=None, count=20):
    """+ on 6 x2 = 8 x1, - on 8 x2 = 6 x1, no bias, 1/r <= |x| <= r, log-uniform or (no seed) evenly spread."""
    rng = np.random.default_rng(seed)
    spread = np.linspace(-1, 1, 2 * count) if seed is None else rng.uniform(-1, 1, 2 * count)
    labels = np.tile([1, -1], count) if seed is None else rng.permutation(np.repeat([1, -1], count))
    if seed is None:
        spread = np.repeat(np.linspace(-1, 1, count), 2)
    points = np.where(labels[:, None] > 0, [[0.6, 0.8]], [[0.8, 0.6]]) * r ** spread[:, None]
    return FloatRows(points, labels.astype(np.int8), 0.0)


def test_margins_of_the_wedge(signed):
    for r in (3.0, 30.0, 1000.0):
        rows = wedge(r)
        z = signed(rows)
        assert margin_of(unit_rows(rows, signed)) == pytest.approx(math.sqrt(2) / 10)
        assert margin_of(z) / np.linalg.norm(z, axis=1).max() == pytest.approx(math.sqrt(2) / 10 / r**2)
        for name in ("nkp", "snkp", "nvn", "snkpvn", "min-norm-point"):
            outcome = run(make_algorithm(name), FactoredGram(rows), Targets(gap=1e-3), Limits(max_iterations=20_000))
            assert outcome.reached is Goal.GAP
            assert outcome.bracket.lower == pytest.approx(math.sqrt(2) / 10, rel=2e-3)


def test_mistakes_on_the_wedge():
    """Raw rows: the mean of 30 seeds at least doubles from r = 3 to 1000.  Normalised rows: 2 mistakes, always."""
    mistakes = {}
    for r in (3.0, 1000.0):
        counts = []
        for seed in range(30):
            rows = wedge(r, seed)
            counts.append(run(make_algorithm("perceptron"), FactoredGram(rows)).candidate.extra["mistakes"])
            points = rows.points / np.linalg.norm(rows.points, axis=1, keepdims=True)
            unit = run(make_algorithm("perceptron"), FactoredGram(FloatRows(points, rows.labels, 0.0)))
            assert unit.candidate.extra["mistakes"] == 2
            assert run(make_algorithm("normalized-perceptron"), FactoredGram(rows)).iterations == 2
        mistakes[r] = np.mean(counts)
    assert mistakes[1000.0] >= 2.0 * mistakes[3.0]


# --- windows ------------------------------------------------------------------------------------------------


def test_windows_on_narrow_margins(planted, signed):
    for seed in (1, 2, 3):
        rows = planted(2000, 10, margin=0.015, seed=seed)
        gram = FactoredGram(rows)
        margin = run(make_algorithm("min-norm-point"), gram, Targets(gap=1e-6)).bracket.lower
        assert 0.006 < margin < 0.007
        fast = run(make_algorithm("snkp"), gram, limits=Limits(max_iterations=200))
        assert fast.reached is Goal.SEPARATOR
        slow = run(make_algorithm("nkp"), gram, limits=Limits(max_iterations=20_000))
        assert slow.reached is Goal.SEPARATOR
        assert slow.iterations > 1000
