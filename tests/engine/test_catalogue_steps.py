"""Steps of the catalogue against naive references, their products with G, their options and their own stops."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from sepcert.engine.driver import run
from sepcert.engine.gram import DenseGram, FactoredGram
from sepcert.engine.observers import RecordList
from sepcert.engine.protocol import Control, Goal, Limits, Observer, Targets
from sepcert.engine.registry import find, make_algorithm
from sepcert.engine.rows import FloatRows
from sepcert.errors import ConfigError
from sepcert.status import Termination

SMOOTHED = ("snkp", "snkpvn", "isnkpvn", "isnkp")
FORMS = [FactoredGram, DenseGram.of_rows]


def gram_matrix(z):
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    return z @ z.T


def walk(algorithm, gram, steps):
    """Yield the candidates of the first steps."""
    state = algorithm.start(gram)
    for _ in range(steps):
        yield algorithm.candidate(gram, state)
        state = algorithm.step(gram, state)


# --- naive references -------------------------------------------------------------------------------------


def naive_kernel_perceptron(g, steps):
    a = np.zeros(len(g))
    for k in range(steps):
        yield a
        a = (1 - 1 / (k + 1)) * a + np.eye(len(g))[np.argmin(g @ a)] / (k + 1)


def naive_projection(v):
    """By bisection for the threshold."""
    low, high = v.min() - 1.0, v.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(v - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(v - low, 0)


def naive_call(g, q, answer, mu):
    """Algorithm 4 or 6 from q: yields a, p without end."""
    a, p, k = q, answer(g @ q, q, mu), 0
    while True:
        yield a, p
        t = 2 / (k + 3)
        a, mu = (1 - t) * (a + t * p) + t * t * answer(g @ a, q, mu), (1 - t) * mu
        p, k = (1 - t) * p + t * answer(g @ a, q, mu), k + 1


def naive_iterated(g, gamma, epsilon, answer, mu):
    """Algorithm 7 with the test before the call: yields a, p and the number of the call."""
    q, call = np.full(len(g), 1 / len(g)), 0
    while np.sqrt(q @ g @ q) >= epsilon:
        delta, call = max(np.sqrt(q @ g @ q) / gamma, epsilon), call + 1
        for a, p in naive_call(g, q, answer, mu):
            yield a, p, call
            if np.sqrt(p @ g @ p) < delta:
                q = p
                break


def nearest(image, q, mu):
    return naive_projection(q - image / mu)


def tilted(image, q, mu):
    e = q * np.exp((image.min() - image) / mu)
    return e / e.sum()


def naive_winnow(z, r, steps):
    """Winnow on features that are written down twice; yields w = u - v."""
    z = np.hstack([z, -z])
    w = np.full(z.shape[1], 1 / z.shape[1])
    for _ in range(steps):
        half = len(w) // 2
        yield w[:half] - w[half:]
        products = z @ w / np.linalg.norm(z[:, :half], axis=1)
        products[np.abs(products) < 1e-15] = 0.0
        j = np.argmin(products)
        if products[j] > 0:
            return
        w = w * np.exp(r * z[j] / np.abs(z[j]).max())
        w = w / w.sum()


# --- steps ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_normalised_perceptrons(planted, signed, noise):
    rows = planted(60, 4, margin=0.005, noise=noise)
    z = signed(rows)
    g, unit = gram_matrix(z), z / np.linalg.norm(z, axis=1, keepdims=True)
    expected = list(naive_kernel_perceptron(g, 50))
    for name, gram in (
        ("nkp", FactoredGram(rows)),
        ("nkp", DenseGram.of_rows(rows)),
        ("normalized-perceptron", FactoredGram(rows)),
    ):
        first, *candidates = walk(make_algorithm(name), gram, 50)
        assert first.weights is None
        for candidate, a in zip(candidates, expected[1:], strict=True):
            np.testing.assert_allclose(candidate.weights, a, atol=1e-12)
            np.testing.assert_array_equal(candidate.simplex, candidate.weights)
            np.testing.assert_allclose(candidate.image, g @ a, atol=1e-12)
            if name == "normalized-perceptron":
                np.testing.assert_allclose(candidate.direction, unit.T @ a, atol=1e-12)
                assert candidate.simplex_norm == pytest.approx(np.sqrt(a @ g @ a))


@pytest.mark.parametrize("noise", [0.0, 1.0])
@pytest.mark.parametrize("form", FORMS)
def test_smoothed_perceptron_von_neumann(planted, signed, noise, form):
    rows = planted(60, 4, noise=noise)
    g = gram_matrix(signed(rows))
    for q in (None, np.random.default_rng(0).dirichlet(np.full(60, 0.2))):
        start = np.full(60, 1 / 60) if q is None else q
        candidates = walk(make_algorithm("snkpvn", {"q": q}), form(rows), 50)
        for candidate, (a, p) in zip(candidates, naive_call(g, start, nearest, 120.0), strict=False):
            np.testing.assert_allclose(candidate.weights, a, atol=1e-11)
            np.testing.assert_allclose(candidate.simplex, p, atol=1e-11)
            np.testing.assert_allclose(candidate.image, g @ a, atol=1e-11)
            np.testing.assert_allclose(candidate.simplex_image, g @ p, atol=1e-11)


@pytest.mark.parametrize("noise", [0.0, 1.0])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "answer", "mu"), [("isnkpvn", nearest, 120.0), ("isnkp", tilted, 2.0)])
def test_iterated(planted, signed, noise, form, name, answer, mu):
    rows = planted(60, 4, margin=0.01, noise=noise)
    g = gram_matrix(signed(rows))
    algorithm = make_algorithm(name, {"gamma": 1.5, "epsilon": 1e-3})
    count = 0
    for candidate, (a, p, call) in zip(
        walk(algorithm, form(rows), 50), naive_iterated(g, 1.5, 1e-3, answer, mu), strict=False
    ):
        np.testing.assert_allclose(candidate.weights, a, atol=1e-10)
        np.testing.assert_allclose(candidate.simplex, p, atol=1e-10)
        np.testing.assert_allclose(candidate.simplex_image, g @ p, atol=1e-10)
        assert candidate.simplex_norm == pytest.approx(np.sqrt(p @ g @ p))
        assert candidate.extra["calls"] == call
        count += 1
    assert count == 50
    assert call > 2
    assert candidate.extra["inner_iterations"] + call == 50


def test_winnow_steps(planted, signed):
    rows = planted(80, 5, margin=0.02, seed=1)
    found = list(walk(make_algorithm("winnow", {"margin_bound": 0.02}), FactoredGram(rows), 50))
    expected = list(naive_winnow(signed(rows), 0.02, 50))
    for candidate, w in zip(found, expected, strict=True):
        np.testing.assert_allclose(candidate.direction, w, atol=1e-13)
    assert found[-1].extra == {"mistakes": 49, "margin_bound": 0.02}


def test_winnow_guesses_begin_anew_when_their_bound_is_used_up(planted):
    log = RecordList()
    gram = FactoredGram(planted(80, 3, noise=1.0))
    run(make_algorithm("winnow"), gram, limits=Limits(max_iterations=400), observers=[log])
    guesses = [record.extra["margin_bound"] for record in log.records]
    for r in sorted(set(guesses), reverse=True)[:-1]:
        assert guesses.count(r) == 1 + int(2 * np.log(8) / r**2)  # its start, and the mistakes of its bound
    assert len(set(guesses)) > 2


def test_winnow_without_doubling_finds_nonnegative_separators():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((200, 6))
    side = points @ [1.0, 2.0, 0.0, 0.0, 1.0, 0.0]
    kept = np.abs(side) > 0.3
    rows = FloatRows(points[kept], np.sign(side[kept]).astype(np.int8), 0.0)
    outcome = run(make_algorithm("winnow", {"signed": False}), FactoredGram(rows))
    assert outcome.reached is Goal.SEPARATOR
    assert outcome.candidate.direction.min() >= 0.0
    opposite = FloatRows(points[kept], -np.sign(side[kept]).astype(np.int8), 0.0)
    limits = Limits(max_iterations=300)
    assert run(make_algorithm("winnow", {"signed": False}), FactoredGram(opposite), limits=limits).reached is None
    assert run(make_algorithm("winnow"), FactoredGram(opposite), limits=limits).reached is Goal.SEPARATOR


def test_winnow_bounds_nothing_before_it_separates(planted):
    """With n < D its w leaves the span of the rows, where min(Zw)/|w| < 0 is no lower end of the margin."""
    for rows in (planted(6, 40, margin=0.0), planted(40, 2, noise=2.0)):
        for candidate in walk(make_algorithm("winnow"), FactoredGram(rows), 12):
            done = np.all(rows.products(candidate.direction) > 0)
            assert (candidate.image is not None) == candidate.exhausted == done
            assert candidate.simplex is None


def test_winnow_survives_large_exponents(planted):
    algorithm = make_algorithm("winnow")
    for s in (np.array([1e4, -3.0, 0.0]), np.array([-900.0, 900.0, 1e-8]), np.array([1e-9, -2e-9, 0.0])):
        w = algorithm._weights(s)
        assert np.abs(w).sum() <= 1.0 + 1e-12
        np.testing.assert_array_equal(np.sign(w), np.where(np.abs(s) > np.abs(s).max() - 700, np.sign(s), np.sign(w)))
    np.testing.assert_allclose(algorithm._weights(np.array([1e-9, -2e-9])), [5e-10, -1e-9], rtol=1e-12)


# --- products, stops, options -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SMOOTHED)
@pytest.mark.parametrize("form", FORMS)
def test_one_product_a_step(planted, name, form):
    gram = form(planted(70, 4, noise=1.0))
    log = RecordList()
    run(make_algorithm(name), gram, limits=Limits(max_iterations=40), observers=[log])
    np.testing.assert_allclose([record.products for record in log.records], 2.0 + np.arange(41))


def test_one_column_a_step(planted):
    rows = planted(70, 4, noise=1.0)
    for name, gram, each in (
        ("nkp", FactoredGram(rows), 0.5),
        ("nkp", DenseGram.of_rows(rows), 1 / 70),
        ("normalized-perceptron", FactoredGram(rows), 0.5),
        ("winnow", FactoredGram(rows), 0.5),
    ):
        log = RecordList()
        run(make_algorithm(name), gram, limits=Limits(max_iterations=30), observers=[log])
        products = [record.products for record in log.records]
        np.testing.assert_allclose(np.diff(products), each)


@pytest.mark.parametrize("name", ["snkpvn", "isnkpvn", "isnkp", "snkp", "nvn"])
def test_uniform_weights_that_are_a_witness_end_the_run_at_once(name):
    points = np.array([[0.3, -2.0], [0.3, -2.0]])
    gram = FactoredGram(FloatRows(points, np.array([1, -1], dtype=np.int8), 1.0))
    outcome = run(make_algorithm(name), gram, limits=Limits(max_iterations=100))
    assert (outcome.termination, outcome.reached) == (Termination.CLAIM_REACHED, Goal.WITNESS)
    assert outcome.iterations == 0
    np.testing.assert_allclose(outcome.candidate.simplex, 0.5)
    assert outcome.bracket.upper <= 1e-15  # 0 but for how BLAS adds


@pytest.mark.parametrize("name", ["isnkpvn", "isnkp"])
def test_a_call_opens_no_worse_than_the_last_one_ended(planted, name):
    """|p_0|_G <= |q_t|_G: the test before the call can be made on p_0."""
    for seed in range(4):
        gram = FactoredGram(planted(50, 3, noise=(seed % 2), margin=0.01, seed=seed))
        candidates = list(walk(make_algorithm(name, {"gamma": 1.2}), gram, 60))
        for before, after in pairwise(candidates):
            if after.extra["calls"] > before.extra["calls"]:
                assert after.simplex_norm <= before.simplex_norm * (1 + 1e-12)
                np.testing.assert_array_equal(after.weights, before.simplex)
        assert candidates[0].simplex_norm <= gram.norm(np.full(50, 0.02)) * (1 + 1e-12)


@pytest.mark.parametrize(("name", "option"), [("snkp", "delta"), ("snkpvn", "delta"), ("isnkpvn", "epsilon")])
def test_own_accuracy_stops_unless_the_run_has_one(planted, name, option):
    gram = FactoredGram(planted(90, 4, noise=1.0))
    limits = Limits(max_iterations=5000)
    coarse = run(make_algorithm(name, {option: 0.05}), gram, limits=limits)
    assert coarse.reached is Goal.WITNESS
    assert 0.01 < coarse.bracket.upper < 0.05
    fine = run(make_algorithm(name, {option: 0.05}), gram, Targets(epsilon=0.005), limits)
    assert fine.reached is Goal.WITNESS
    assert fine.bracket.upper < 0.005
    assert fine.iterations > coarse.iterations


def test_epsilon_of_the_run_limits_the_targets_of_the_calls(planted):
    gram = FactoredGram(planted(90, 4, noise=1.0))
    log = RecordList()
    outcome = run(make_algorithm("isnkpvn", {"gamma": 10.0}), gram, Targets(epsilon=0.02), observers=[log])
    assert outcome.reached is Goal.WITNESS
    assert min(record.extra["delta"] for record in log.records) == 0.02


@pytest.mark.parametrize("name", ["isnkpvn", "isnkp"])
def test_limits_hold_inside_the_calls(planted, name):
    gram = FactoredGram(planted(90, 4, noise=1.0))
    log = RecordList()
    outcome = run(make_algorithm(name), gram, limits=Limits(max_iterations=13), observers=[log])
    assert (outcome.termination, outcome.iterations) == (Termination.ITERATION_LIMIT, 13)
    assert [record.iteration for record in log.records] == list(range(14))
    ticks = iter(range(10**6))
    late = run(make_algorithm(name), gram, control=Control(lambda: float(next(ticks)), deadline=40.0))
    assert late.termination is Termination.TIME_LIMIT
    assert late.seconds < 50.0
    assert late.bracket.upper < 1.0

    class Interrupting(Observer):
        def iterated(self, record):
            if record.iteration == 7:
                raise KeyboardInterrupt

    stopped = run(make_algorithm(name), gram, observers=[Interrupting()])
    assert (stopped.termination, stopped.iterations) == (Termination.INTERRUPTED, 7)
    assert stopped.upper is not None


@pytest.mark.parametrize("name", ["nkp", "snkpvn", "isnkpvn", "isnkp"])
def test_refresh_and_untouched_candidates(planted, name):
    gram = FactoredGram(planted(30, 3))
    algorithm = make_algorithm(name)
    kept = list(walk(algorithm, gram, 6))
    for candidate, again in zip(kept[1:], list(walk(make_algorithm(name), gram, 6))[1:], strict=True):
        np.testing.assert_array_equal(candidate.weights, again.weights)
    state = algorithm.step(gram, algorithm.start(gram))
    getattr(state, "inner", state).image[:] += 1.0
    fresh = algorithm.candidate(gram, algorithm.refresh(gram, state))
    np.testing.assert_allclose(fresh.image, gram.times(fresh.weights), atol=1e-13)
    np.testing.assert_allclose(fresh.simplex_image, gram.times(fresh.simplex), atol=1e-13)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("snkp", {"delta": 0.0}, "delta is 0.0"),
        ("snkpvn", {"delta": -1.0}, "delta is -1.0"),
        ("snkpvn", {"q": np.array([0.5, 0.6])}, "simplex"),
        ("snkpvn", {"q": np.array([1.5, -0.5])}, "simplex"),
        ("isnkpvn", {"gamma": 1.0}, "greater than 1"),
        ("isnkp", {"gamma": float("nan")}, "greater than 1"),
        ("isnkpvn", {"epsilon": float("inf")}, "positive"),
        ("winnow", {"margin_bound": 0.0}, "margin_bound"),
        ("winnow", {"margin_bound": 1.5}, "margin_bound"),
        ("nkp", {"gamma": 2.0}, "it takes none"),
    ],
)
def test_options_that_are_refused(name, options, message):
    with pytest.raises(ConfigError, match=message):
        make_algorithm(name, options)


def test_what_does_not_fit_the_data_is_refused(planted):
    with pytest.raises(ValueError, match="30 rows"):
        run(make_algorithm("snkpvn", {"q": np.array([0.5, 0.5])}), FactoredGram(planted(30, 2)))
    for name in ("winnow", "normalized-perceptron", "perceptron"):
        assert find(name).needs == "rows"
        with pytest.raises(TypeError, match=f"{name} works on rows"):
            run(make_algorithm(name), DenseGram(np.eye(3)))
