"""Every algorithm side by side: costs, bounds, proofs from its own proposal alone, and what is left out."""

import dataclasses
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

import sepcert
from sepcert.check_options import CheckOptions
from sepcert.data.arrays import dataset_from_arrays
from sepcert.engine import registry
from sepcert.engine.driver import run
from sepcert.engine.gram import FactoredGram
from sepcert.engine.protocol import Algorithm, Candidate, IterationRecord, Limits
from sepcert.engine.registry import ALGORITHMS, find, make_algorithm
from sepcert.engine.rows import FloatRows
from sepcert.errors import ConfigError
from sepcert.workflows.contest import Trace, products_of
from sepcert.workflows.generate import generate
from sepcert.workflows.race import race, race_dataset
from sepcert.workflows.theorem_bounds import RowSizes, bound_inputs

PLANTED = generate("separable", rows=150, columns=4, rho=0.03)
OVERLAP = generate("infeasible", rows=150, columns=4, rho=0.03)


@pytest.fixture(scope="module")
def separable():
    return race(PLANTED.X, PLANTED.y)


@pytest.fixture(scope="module")
def overlap():
    return race(OVERLAP.X, OVERLAP.y, max_iterations=400)


def by_name(result):
    return {run.algorithm: run for run in result.runs}


def test_every_algorithm_of_the_registry_runs_in_its_order(separable, overlap):
    for result in (separable, overlap):
        assert [run.algorithm for run in result.runs] == list(ALGORITHMS)
        assert result.absent == ()
        assert result.answered
    assert {run.verdict for run in separable.runs} == {"separable"}
    assert {run.verdict for run in overlap.runs} <= {"inseparable", "undecided"}
    assert all(run.verified == (run.verdict != "undecided") for run in [*separable.runs, *overlap.runs])


def test_the_costs_are_those_of_the_driver(separable):
    gram_rows = FloatRows(PLANTED.X, PLANTED.y.astype(np.int8))
    for entry in ALGORITHMS.values():
        outcome = run(make_algorithm(entry.name), FactoredGram(gram_rows), limits=Limits(max_iterations=10_000))
        found = by_name(separable)[entry.name]
        assert found.iterations == outcome.iterations, entry.name
        assert found.passes == pytest.approx(outcome.passes)
        assert found.termination is outcome.termination
        if entry.counts == "iterations":
            assert found.products == pytest.approx(outcome.products)
        assert found.cpu_seconds >= 0
        assert found.proof_cpu_seconds >= 0


def test_margins_are_proved_and_only_from_the_own_proposal(separable, overlap):
    truth = PLANTED.truth
    for found in separable.runs:
        assert 0 < found.margin.lower <= truth.margin_upper
        no_weights = found.algorithm in {"perceptron", "winnow"}
        assert (found.margin.upper is None) == no_weights
        assert no_weights or found.margin.upper >= truth.margin_lower
    assert separable.margin.lower == max(run.margin.lower for run in separable.runs)
    assert separable.margin.upper - separable.margin.lower < 1e-6
    for found in overlap.runs:
        assert found.margin.lower is None
        assert found.margin.upper == (0.0 if found.verdict == "inseparable" else found.margin.upper)
    assert overlap.margin.upper == 0.0


@pytest.mark.parametrize("name", ["snkp", "nvn", "min-norm-point"])
def test_the_verdict_is_that_of_check_with_this_algorithm(separable, overlap, name):
    for made, result in ((PLANTED, separable), (OVERLAP, overlap)):
        alone = sepcert.check(made.X, made.y, algorithm=name, max_iterations=result.options.max_iterations)
        found = by_name(result)[find(name).name]
        assert (found.verdict, found.separation) == (alone.verdict, alone.separation)


def test_bounds_hold_and_follow_from_the_best_margin(separable):
    lower = separable.margin.lower
    for found in separable.runs:
        if found.bound is not None:
            assert found.counted is not None
            assert found.counted <= found.bound, found.algorithm
    runs = by_name(separable)
    assert runs["normalized-kernel-perceptron"].bound == pytest.approx(1 / lower**2)
    assert runs["smoothed-kernel-perceptron"].bound == pytest.approx(2 * sqrt(2 * np.log(150)) / lower)
    assert runs["min-norm-point"].bound is None
    assert runs["iterated-smoothed-entropy"].bound is None
    assert runs["perceptron"].counts == "mistakes"


def test_bounds_of_the_mistakes_are_not_below_those_of_the_best_margins():
    """On the wedge both margins are known: raw sqrt(2)/10 times the least size, and rho_1 in closed form."""
    made = generate("wedge", rows=60, r=4.0)
    found = by_name(race(made.X, made.y, bias=False))
    sizes = np.linalg.norm(made.X, axis=1)
    least = [sizes[made.y == side].min() for side in (1, -1)]
    a, b = least[0] * np.array([0.6, 0.8]), -least[1] * np.array([0.8, 0.6])
    raw = abs(a[0] * b[1] - a[1] * b[0]) / np.linalg.norm(a - b)
    block = (sizes.max() / raw) ** 2
    assert block * (1 - 1e-9) <= found["perceptron"].bound <= 4 * block
    assert found["perceptron"].counted <= block
    assert found["winnow"].bound >= 32 * np.log(4) / (3 * (1 / 8) ** 2) * (1 - 1e-9)


def test_without_a_margin_there_is_a_bound_only_for_epsilon(overlap):
    assert all(run.bound is None for run in overlap.runs)
    result = race(OVERLAP.X, OVERLAP.y, epsilon=0.05, algorithms=["nkp", "snkp", "perceptron"], max_iterations=1000)
    runs = by_name(result)
    assert runs["normalized-kernel-perceptron"].bound == pytest.approx(400.0)
    assert runs["perceptron"].bound is None
    assert runs["normalized-kernel-perceptron"].iterations <= 400


def test_with_a_gap_the_count_is_up_to_the_first_separator(separable):
    result = race(PLANTED.X, PLANTED.y, gap=0.2, algorithms=["snkp", "nkp"], max_iterations=3000)
    for found in result.runs:
        first = by_name(separable)[found.algorithm]
        assert found.counted == first.counted == first.iterations
        assert found.iterations > first.iterations
        assert found.counted <= found.bound
        assert found.margin.upper - found.margin.lower < first.margin.upper - first.margin.lower


def test_names_aliases_and_doubles():
    found = race(PLANTED.X, PLANTED.y, algorithms=["nvn", "snkp", "von-neumann"])
    assert [run.alias for run in found.runs] == ["nvn", "snkp"]
    for names in (["nonsense"], ["auto"]):
        with pytest.raises(ConfigError) as caught:
            race(PLANTED.X, PLANTED.y, algorithms=names)
        assert caught.value.code == "CONFIG-ALGORITHM"
        assert caught.value.advice
    with pytest.raises(ConfigError):
        race(PLANTED.X, PLANTED.y, numbers="octal")


def test_limits_hold_for_each_and_are_there_without_being_asked_for():
    dataset = dataset_from_arrays(OVERLAP.X, OVERLAP.y)
    options = race_dataset(dataset, algorithms=["snkp"]).options
    assert (options.max_iterations, options.time_limit_seconds) == (10_000, 10.0)
    found = race_dataset(dataset, CheckOptions(max_iterations=7), ["perceptron", "winnow"])
    assert (found.options.max_iterations, found.options.time_limit_seconds) == (7, None)
    assert [run.iterations for run in found.runs] == [7, 7]
    assert not found.answered
    assert (found.verdict, found.margin.lower, found.margin.upper) == ("undecided", None, None)
    late = race_dataset(dataset, CheckOptions(time_limit_seconds=0.02), ["perceptron", "winnow"])
    assert {run.termination for run in late.runs} == {"time-limit"}


def test_what_is_watched_has_names_and_only_their_own_iterations():
    seen = []
    dataset = dataset_from_arrays(*quasi_complete())
    result = race_dataset(
        dataset, CheckOptions(max_iterations=20), watch=lambda name, record: seen.append((name, record))
    )
    for found in result.runs:
        mine = [record.iteration for name, record in seen if name == found.algorithm]
        assert mine == list(range(found.iterations + 1)), found.algorithm
    assert {run.separation for run in result.runs if run.verified} == {"quasi-complete"}


def quasi_complete():
    """A line with a tie between the classes in a plane, so that the exact stage has a face to look at."""
    X = [[1, 0], [2, 0], [3, 0], [3, 0], [4, 0], [5, 1], [1, 1], [6, 2]]
    return np.array(X, dtype=float), [0, 0, 0, 1, 1, 1, 0, 1]


def test_an_algorithm_that_does_not_apply_is_named(monkeypatch):
    fake = dataclasses.replace(find("snkp"), name="on-manifolds", aliases=("om",), needs="manifolds")
    monkeypatch.setitem(registry.ALGORITHMS, "on-manifolds", fake)
    result = race(PLANTED.X, PLANTED.y, algorithms=["snkp", "om"])
    assert [(one.algorithm, one.reason) for one in result.absent] == [("on-manifolds", "it needs manifolds")]
    assert result.to_dict()["not_applicable"] == [{"algorithm": "on-manifolds", "reason": "it needs manifolds"}]
    assert [run.alias for run in result.runs] == ["snkp"]


def test_zero_rows_have_no_normalised_form():
    result = race([[0.0, 0.0], [1.0, 2.0], [0.0, 0.0], [2.0, 1.0]], [1, 0, 1, 0], bias=False)
    assert result.runs == ()
    assert {one.algorithm for one in result.absent} == set(ALGORITHMS)
    assert "row 1 and 1 more has norm zero" in result.absent[0].reason
    assert not result.answered


def test_norms_beyond_the_doubles_are_a_reason():
    result = race([[1e308, 1e308], [1.0, 2.0]], [1, 0], algorithms=["snkp"])
    assert "range" in result.absent[0].reason


def test_an_interrupt_ends_the_race_and_keeps_what_is_done():
    def watch(name, record):
        if name == "von-neumann":
            raise KeyboardInterrupt

    dataset = dataset_from_arrays(OVERLAP.X, OVERLAP.y)
    result = race_dataset(dataset, CheckOptions(max_iterations=50), ["snkp", "nvn", "nkp"], watch=watch)
    assert result.interrupted
    assert [run.alias for run in result.runs] == ["snkp", "nvn"]
    assert result.runs[1].termination == "interrupted"
    assert [one.reason for one in result.absent] == ["the race was interrupted"]


class Boaster(Algorithm):
    """Says at once that the first coordinate separates, whatever the data."""

    name = "boaster"

    def start(self, gram):
        return None

    def step(self, gram, state):
        return None

    def candidate(self, gram, state):
        direction = np.eye(gram.feature_dimension)[0]
        n = gram.count
        return Candidate(weights=np.full(n, 1 / n), direction=direction, image=np.ones(n), norm=1.0, fresh=True)


def test_what_an_algorithm_says_of_itself_is_not_believed(monkeypatch):
    boaster = dataclasses.replace(find("snkp"), name="boaster", aliases=(), make=Boaster)
    monkeypatch.setitem(registry.ALGORITHMS, "boaster", boaster)
    for made in (PLANTED, OVERLAP):
        (found,) = race(made.X, made.y, algorithms=["boaster"]).runs
        assert (found.verdict, found.verified, found.termination) == ("undecided", False, "claim-reached")
        assert (found.margin.lower, found.bound) == (None, None)


def record(iteration, products, lower, upper, **extra):
    return IterationRecord(iteration, 0.0, lower, upper, None, 0.0, products, 2 * products + 1, extra)


def test_a_trace_is_thinned_but_keeps_ends_and_the_first_separator():
    trace = Trace("mistakes")
    for k in range(100_000):
        trace(record(k, 1.0 + k / 2, 0.1 if k >= 54_321 else -0.1, 1.0, mistakes=k // 2))
    points = trace.points
    assert len(points) < 1000
    assert points[0].products == 1.0
    assert points[-1].products == 1.0 + 99_999 / 2
    assert any(p.products == 1.0 + 54_321 / 2 and p.lower > 0 for p in points)
    assert trace.counted == 54_321 // 2


def test_a_pass_that_is_no_part_of_a_product_is_half_of_one():
    assert products_of(3.5, 8.0) == 3.5
    assert products_of(0.5, 41.0) == 20.0


def test_the_inputs_of_the_bounds_are_lower_ends():
    rng = np.random.default_rng(1)
    X, w = rng.standard_normal((50, 3)), np.array([1.0, -2.0, 0.5])
    rows = FloatRows(X, np.where(X @ w > 0, 1, -1).astype(np.int8), 0.0)
    found = sepcert.check(X, rows.labels, bias=False)
    separator = found.evidence.separator
    given = bound_inputs(rows, RowSizes.of(rows), found.margin.lower, [separator], None)
    z = [[Fraction(float(v)) * int(y) for v in row] for row, y in zip(X, rows.labels, strict=True)]
    products = [sum(a * b for a, b in zip(row, separator.weights, strict=True)) for row in z]
    length = sum(v * v for v in separator.weights)
    assert Fraction(given.raw_margin) ** 2 <= min(products) ** 2 / length
    assert float(Fraction(given.raw_margin) ** 2 / (min(products) ** 2 / length)) == pytest.approx(1.0, abs=1e-6)
    scaled = min(p / max(map(abs, row)) for p, row in zip(products, z, strict=True)) / sum(map(abs, separator.weights))
    assert Fraction(given.l1_margin) <= scaled
    assert given.l1_margin == pytest.approx(float(scaled), rel=1e-6)
    assert Fraction(given.largest_norm) ** 2 >= max(sum(v * v for v in row) for row in z)
    assert given.features == 6


def test_the_library_exports_both():
    assert sepcert.race is race
    assert sepcert.generate is generate


def test_other_kernels_are_refused():
    with pytest.raises(sepcert.ConfigError, match="race compares algorithms on the linear kernel"):
        sepcert.race([[0.0], [1.0]], [0, 1], kernel="gaussian", kernel_parameters={"gamma": 1})
