"""Each algorithm against a naive reference, its theorem's bound, its invariants and its count of products."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sepcert.engine.active_set import MinNormPoint
from sepcert.engine.algorithms.min_norm_point import MinNormPointOptions, MinNormPointRounds
from sepcert.engine.algorithms.perceptron import Order, Perceptron, PerceptronOptions
from sepcert.engine.algorithms.smoothed_kernel_perceptron import (
    SmoothedKernelPerceptron,
    SmoothedKernelPerceptronOptions,
)
from sepcert.engine.algorithms.von_neumann import VonNeumann, VonNeumannOptions
from sepcert.engine.bounds import BoundInputs
from sepcert.engine.driver import run
from sepcert.engine.gram import DenseGram, FactoredGram
from sepcert.engine.observers import RecordList
from sepcert.engine.protocol import Goal, Limits, Targets
from sepcert.engine.registry import find
from sepcert.engine.rows import FloatRows
from sepcert.status import Termination


def gram_matrix(z):
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    return z @ z.T


def walk(algorithm, gram, steps):
    """Yield the candidates of the first steps."""
    state = algorithm.start(gram)
    for _ in range(steps):
        yield algorithm.candidate(gram, state), state
        state = algorithm.step(gram, state)


def snkp():
    return SmoothedKernelPerceptron(SmoothedKernelPerceptronOptions())


def nvn():
    return VonNeumann(VonNeumannOptions())


def perceptron(order=Order.CYCLIC, seed=0):
    return Perceptron(PerceptronOptions(order, seed))


# --- naive references -------------------------------------------------------------------------------------


def naive_perceptron(z, order, limit):
    """Textbook loop; returns the list of w after each mistake."""
    w, found, clean, i = np.zeros(z.shape[1]), [], 0, 0
    while clean < len(z) and len(found) < limit:
        row = int(np.argmin(z @ w)) if order == "worst" else i
        if z[row] @ w <= 0:
            w = w + z[row]
            found.append(w)
            clean = 0
        else:
            clean = len(z) if order == "worst" else clean + 1
        i = (i + 1) % len(z)
    return found


def naive_von_neumann(g, steps):
    p = np.full(len(g), 1.0 / len(g))
    for _ in range(steps):
        yield p
        e = np.eye(len(g))[np.argmin(g @ p)]
        difference = e - p
        t = -(p @ g @ difference) / (difference @ g @ difference)
        p = p + min(1.0, max(0.0, t)) * difference


def naive_smoothed(g, steps):
    def answer(a, mu):
        e = np.exp(-(g @ a) / mu + (g @ a).min() / mu)
        return e / e.sum()

    a, mu = np.full(len(g), 1.0 / len(g)), 2.0
    p = answer(a, mu)
    for k in range(steps):
        yield a, p
        t = 2.0 / (k + 3)
        a = (1 - t) * (a + t * p) + t * t * answer(a, mu)
        mu = (1 - t) * mu
        p = (1 - t) * p + t * answer(a, mu)


# --- steps against references -----------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["cyclic", "worst"])
@pytest.mark.parametrize("seed", [0, 1])
def test_perceptron_makes_the_mistakes_of_the_textbook(planted, signed, order, seed):
    rows = planted(400, 4, margin=0.05, seed=seed)
    expected = naive_perceptron(signed(rows), order, limit=10_000)
    outcome = run(perceptron(Order(order)), FactoredGram(rows))
    assert outcome.reached is Goal.SEPARATOR
    assert outcome.candidate.extra["mistakes"] == len(expected)
    np.testing.assert_allclose(outcome.candidate.direction, expected[-1], atol=1e-10)
    for (candidate, _), w in zip(
        walk(perceptron(Order(order)), FactoredGram(rows), 50), [0 * expected[0], *expected], strict=False
    ):
        np.testing.assert_allclose(candidate.direction, w, atol=1e-12)


def test_random_perceptron_sweeps_through_permutations(planted, signed):
    rows = planted(300, 4, margin=0.1)
    z = signed(rows)
    outcome = run(perceptron(Order.RANDOM, seed=5), FactoredGram(rows))
    rng = np.random.default_rng(5)
    w, mistakes = np.zeros(5), 0
    while True:
        before = mistakes
        for i in rng.permutation(300):
            if z[i] @ w <= 0:
                w, mistakes = w + z[i], mistakes + 1
        if mistakes == before:
            break
    assert outcome.reached is Goal.SEPARATOR
    assert outcome.candidate.extra["mistakes"] == mistakes
    np.testing.assert_allclose(outcome.candidate.direction, w, atol=1e-10)
    again = run(perceptron(Order.RANDOM, seed=5), FactoredGram(rows))
    np.testing.assert_array_equal(again.candidate.direction, outcome.candidate.direction)


def test_perceptron_weights_are_its_mistakes(planted, signed):
    rows = planted(200, 3, margin=0.1)
    gram = FactoredGram(rows)
    outcome = run(perceptron(), gram)
    raw = outcome.candidate.weights / gram.norms
    np.testing.assert_allclose(raw, np.round(raw), atol=1e-9)
    assert raw.sum() == pytest.approx(outcome.candidate.extra["mistakes"])
    np.testing.assert_allclose(signed(rows).T @ raw, outcome.candidate.direction, atol=1e-9)


def test_perceptron_goes_on_for_ever_on_overlap(planted):
    outcome = run(perceptron(), FactoredGram(planted(50, 3, noise=2.0)), limits=Limits(max_iterations=200))
    assert outcome.termination is Termination.ITERATION_LIMIT
    assert outcome.bracket.upper is None
    with pytest.raises(TypeError, match="rows"):
        run(perceptron(), DenseGram(np.eye(3)))


@pytest.mark.parametrize("noise", [0.0, 1.0])
@pytest.mark.parametrize("form", [FactoredGram, DenseGram.of_rows])
def test_von_neumann_steps(planted, signed, noise, form):
    rows = planted(60, 4, noise=noise)
    expected = naive_von_neumann(gram_matrix(signed(rows)), 50)
    for (candidate, _), p in zip(walk(nvn(), form(rows), 50), expected, strict=True):
        np.testing.assert_allclose(candidate.simplex, p, atol=1e-11)
        np.testing.assert_allclose(candidate.image, gram_matrix(signed(rows)) @ p, atol=1e-11)


@pytest.mark.parametrize("noise", [0.0, 1.0])
@pytest.mark.parametrize("form", [FactoredGram, DenseGram.of_rows])
def test_smoothed_steps(planted, signed, noise, form):
    rows = planted(60, 4, noise=noise)
    g = gram_matrix(signed(rows))
    for (candidate, _), (a, p) in zip(walk(snkp(), form(rows), 50), naive_smoothed(g, 50), strict=True):
        np.testing.assert_allclose(candidate.weights, a, atol=1e-11)
        np.testing.assert_allclose(candidate.simplex, p, atol=1e-11)
        np.testing.assert_allclose(candidate.image, g @ a, atol=1e-11)
        np.testing.assert_allclose(candidate.simplex_image, g @ p, atol=1e-11)


def test_a_step_leaves_earlier_candidates_alone(planted):
    gram = FactoredGram(planted(40, 3))
    for algorithm in (nvn(), snkp(), MinNormPointRounds(MinNormPointOptions(sample=3, batch=1))):
        kept = [candidate for candidate, _ in walk(algorithm, gram, 6)]
        copies = [c.weights.copy() for c, _ in walk(algorithm, gram, 6)]
        for candidate, copy in zip(kept, copies, strict=True):
            np.testing.assert_array_equal(candidate.weights, copy)


# --- theory ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_invariant_of_the_smoothed_perceptron(planted, signed, noise):
    """L_mu_k(a_k) <= -|p_k|_G^2/2 for every k (Lemma 5)."""
    for seed in range(5):
        rows = planted(80, 3, margin=0.02, noise=noise, seed=seed)
        g = gram_matrix(signed(rows))
        for candidate, state in walk(snkp(), FactoredGram(rows), 120):
            scaled = -(g @ candidate.weights) / state.smoothing
            log_mean = scaled.max() + np.log(np.mean(np.exp(scaled - scaled.max())))
            loss = state.smoothing * log_mean + 0.5 * candidate.weights @ g @ candidate.weights
            assert loss <= -0.5 * candidate.simplex @ g @ candidate.simplex + 1e-12


def test_iterations_stay_within_the_bounds(planted, signed):
    for seed in range(10):
        rows = planted(150, 4, margin=0.03 * (1 + seed), seed=seed)
        gram = FactoredGram(rows)
        z = signed(rows)
        margin = MinNormPoint(z / gram.norms[:, None]).solve().norm
        given_ = BoundInputs(150, margin, 0.0, MinNormPoint(z).solve().norm, float(gram.norms.max()))
        for algorithm in (perceptron(), perceptron(Order.WORST), perceptron(Order.RANDOM), nvn(), snkp()):
            outcome = run(algorithm, gram, limits=Limits(max_iterations=100_000))
            bound = find(algorithm.name).bound
            steps = outcome.candidate.extra.get("mistakes", outcome.iterations)
            assert outcome.reached is Goal.SEPARATOR
            assert steps <= bound(given_)
            assert 0.0 < outcome.bracket.lower <= margin * (1 + 1e-9)
            assert outcome.bracket.upper is None or outcome.bracket.upper >= margin * (1 - 1e-9)


@pytest.mark.parametrize("make", [nvn, snkp])
def test_witness_within_epsilon_on_overlap_within_the_bound(planted, make):
    for seed in range(3):
        rows = planted(100, 4, noise=1.0, seed=seed)
        algorithm = make()
        outcome = run(algorithm, FactoredGram(rows), Targets(epsilon=0.02), Limits(max_iterations=100_000))
        assert outcome.reached is Goal.WITNESS
        assert outcome.iterations <= find(algorithm.name).bound(BoundInputs(100, -1.0, epsilon=0.02))
        assert outcome.bracket.upper < 0.02


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 12), st.integers(1, 5), st.integers(0, 10**6))
def test_weak_duality(count, features, seed):
    """min(Ga)/|a|_G <= |p|_G for every a and every p in the simplex."""
    rng = np.random.default_rng(seed)
    rows = FloatRows(rng.standard_normal((count, features)), rng.choice([-1, 1], count).astype(np.int8), 1.0)
    gram = FactoredGram(rows)
    a, p = rng.standard_normal(count), rng.dirichlet(np.full(count, 0.3))
    for weights in (a, p, np.abs(a)):
        found = gram.evaluate(weights)
        assert found.image.min() / found.norm <= gram.norm(p) + 1e-12


# --- products, brackets, the whole run ------------------------------------------------------------------------


def test_products_of_a_step(planted):
    rows = planted(80, 5, noise=1.0)
    for algorithm, at_start, per_step in ((snkp(), 2.0, 1.0), (nvn(), 1.0, 0.5)):
        gram = FactoredGram(rows)
        log = RecordList()
        run(algorithm, gram, limits=Limits(max_iterations=30), observers=[log])
        products = [record.products for record in log.records]
        np.testing.assert_allclose(products, at_start + per_step * np.arange(31))
        assert log.records[-1].passes == 2.0 * products[-1] + 1.0  # one for the norms


def test_brackets_shrink_and_hold_the_margin(planted, signed):
    rows = planted(120, 4, margin=0.1)
    gram = FactoredGram(rows)
    margin = MinNormPoint(signed(rows) / gram.norms[:, None]).solve().norm
    for algorithm in (nvn(), snkp()):
        log = RecordList()
        outcome = run(algorithm, gram, Targets(gap=0.05), Limits(max_iterations=20_000), [log])
        assert outcome.reached is Goal.GAP
        assert outcome.bracket.gap <= 0.05
        lowers = [record.margin_lower for record in log.records]
        uppers = [record.margin_upper for record in log.records]
        assert lowers == sorted(lowers)
        assert uppers == sorted(uppers, reverse=True)
        assert lowers[-1] <= margin <= uppers[-1]


@pytest.mark.parametrize("form", [FactoredGram, DenseGram.of_rows])
@pytest.mark.parametrize("options", [{}, {"sample": 2, "batch": 1}])
def test_min_norm_point_finds_the_maximum_margin(planted, signed, form, options):
    for seed in range(4):
        rows = planted(300, 6, margin=0.05, seed=seed)
        gram = form(rows)
        z = signed(rows)
        margin = MinNormPoint(z / np.linalg.norm(z, axis=1, keepdims=True)).solve().norm
        algorithm = MinNormPointRounds(MinNormPointOptions(**options))
        outcome = run(algorithm, gram, Targets(gap=1e-7))
        assert outcome.reached is Goal.GAP
        assert outcome.bracket.lower == pytest.approx(margin, rel=1e-6)
        assert outcome.bracket.upper == pytest.approx(margin, rel=1e-6)
        first = run(algorithm, gram)
        assert first.reached is Goal.SEPARATOR
        assert first.iterations <= outcome.iterations


@pytest.mark.parametrize("form", [FactoredGram, DenseGram.of_rows])
def test_min_norm_point_finds_witnesses(planted, signed, form):
    for rows in (planted(300, 6, noise=1.0), planted(3000, 4, noise=0.05, seed=2)):
        if form is not FactoredGram and rows.count > 1000:
            continue
        z = signed(rows)
        outcome = run(MinNormPointRounds(MinNormPointOptions()), form(rows))
        assert outcome.reached is Goal.WITNESS
        p = outcome.candidate.simplex
        assert np.count_nonzero(p) <= z.shape[1] + 1
        unit = z / np.linalg.norm(z, axis=1, keepdims=True)
        assert np.linalg.norm(unit.T @ p) < 1e-14
    assert outcome.passes <= 12


def test_min_norm_point_trims_its_working_set(planted):
    rows = planted(4000, 3, margin=0.0, seed=1)
    algorithm = MinNormPointRounds(MinNormPointOptions(sample=10, batch=200))
    log = RecordList()
    outcome = run(algorithm, FactoredGram(rows), Targets(gap=1e-6), observers=[log])
    assert outcome.reached is Goal.GAP
    assert max(record.extra["working_set"] for record in log.records) <= 20 * 4 + 500


def test_min_norm_point_without_rows_to_add_is_exhausted(planted):
    rows = planted(200, 3, noise=1.0)
    quasi = FloatRows(np.array([[1.0], [0.0], [0.0], [-1.0]]), np.array([1, 1, -1, -1], dtype=np.int8), 1.0)
    outcome = run(MinNormPointRounds(MinNormPointOptions()), FactoredGram(quasi))
    assert outcome.reached is Goal.WITNESS
    np.testing.assert_allclose(outcome.candidate.simplex[[1, 2]], 0.5)
    separable = planted(50, 2, margin=0.3)
    end = run(MinNormPointRounds(MinNormPointOptions()), FactoredGram(separable), Targets(gap=0.0))
    assert end.termination in (Termination.NO_PROGRESS, Termination.CLAIM_REACHED)
    assert end.bracket.gap == pytest.approx(0.0, abs=1e-9)
    assert rows.count == 200


def test_refresh_computes_the_images_from_scratch(planted):
    gram = FactoredGram(planted(30, 3))
    for algorithm in (nvn(), snkp()):
        state = algorithm.step(gram, algorithm.start(gram))
        state.image[:] += 1.0
        fresh = algorithm.candidate(gram, algorithm.refresh(gram, state))
        np.testing.assert_allclose(fresh.image, gram.times(fresh.weights), atol=1e-13)
        np.testing.assert_allclose(fresh.simplex_image, gram.times(fresh.simplex), atol=1e-13)


def test_known_margin_of_the_wedge():
    """+ on 6 x2 = 8 x1, - on 8 x2 = 6 x1, no bias: rho is sqrt(2)/10 for any range of lengths."""
    lengths = np.geomspace(0.01, 100, 40)
    points = np.concatenate([np.outer(lengths, [0.6, 0.8]), np.outer(lengths, [0.8, 0.6])])
    labels = np.repeat([1, -1], 40).astype(np.int8)
    rows = FloatRows(points, labels, 0.0)
    for algorithm in (nvn(), snkp(), MinNormPointRounds(MinNormPointOptions())):
        outcome = run(algorithm, FactoredGram(rows), Targets(gap=1e-6), Limits(max_iterations=20_000))
        assert outcome.reached is Goal.GAP
        assert outcome.bracket.lower == pytest.approx(np.sqrt(2) / 10, rel=1e-5)
