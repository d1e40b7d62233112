"""Every way the loop can end, its fixed order of questions, and that nothing is claimed without a fresh image."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

from sepcert.engine.driver import run
from sepcert.engine.gram import DenseGram, FactoredGram
from sepcert.engine.observers import JsonLines, RecordList
from sepcert.engine.protocol import Algorithm, Candidate, Control, Goal, Limits, Observer, Targets
from sepcert.engine.rows import FloatRows
from sepcert.status import Termination


@dataclass(frozen=True)
class Script:
    """Candidates to hand out in turn; an exception class is raised by the step instead."""

    candidates: tuple
    nested: bool = False


class Scripted(Algorithm[Script, int]):
    name = "scripted"
    refreshed = 0

    def start(self, gram):
        return 0

    def step(self, gram, state):
        upcoming = self._at(state + 1)
        if isinstance(upcoming, type):
            raise upcoming
        if self.options.nested:
            inner = Scripted(Script((Candidate(), KeyboardInterrupt)))
            assert run(inner, gram, control=self.control).termination is Termination.INTERRUPTED
        return state + 1

    def candidate(self, gram, state):
        return self._at(state)

    def refresh(self, gram, state):
        self.refreshed += 1
        return state

    def _at(self, state):
        return self.options.candidates[min(state, len(self.options.candidates) - 1)]


class Clock:
    """Each reading is one second after the one before."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now


GRAM = np.array([[1.0, 0.5], [0.5, 1.0]])
GOOD = np.array([0.5, 0.5])
OPPOSITE = np.array([[1.0, -1.0], [-1.0, 1.0]])
NOTHING = Candidate()


def lower(value, weights=GOOD):
    """A candidate whose kept image says min(Ga)/|a| = value."""
    return Candidate(weights=weights, image=np.array([value, 1.0]), norm=1.0)


def upper(value, p=GOOD):
    return Candidate(simplex=p, simplex_norm=value)


def go(*candidates, matrix=GRAM, nested=False, **keywords):
    return run(Scripted(Script(candidates, nested)), DenseGram(matrix), **keywords)


def test_separator_is_claimed_from_a_fresh_image():
    outcome = go(NOTHING, lower(-0.5), lower(0.1))
    assert outcome.termination is Termination.CLAIM_REACHED
    assert outcome.reached is Goal.SEPARATOR
    assert outcome.iterations == 2
    assert outcome.bracket.lower == pytest.approx(0.75 / np.sqrt(0.75))  # of GOOD, not the 0.1 that was kept
    np.testing.assert_allclose(outcome.candidate.image, GRAM @ GOOD)


def test_drifted_image_is_no_claim():
    bad = np.array([1.0, -1.0])
    algorithm = Scripted(Script((lower(0.1, bad),)))
    outcome = run(algorithm, DenseGram(GRAM), limits=Limits(max_iterations=3))
    assert outcome.termination is Termination.ITERATION_LIMIT
    assert outcome.reached is None
    assert algorithm.refreshed == 4
    assert outcome.bracket.lower == pytest.approx(-0.5)


def test_a_separator_without_weights_or_direction_is_no_claim():
    outcome = go(Candidate(image=np.ones(2), norm=1.0), limits=Limits(max_iterations=1))
    assert outcome.termination is Termination.ITERATION_LIMIT
    assert outcome.bracket.lower is None


def test_witness_within_rounding_and_within_epsilon():
    outcome = go(NOTHING, Candidate(simplex=GOOD, simplex_image=np.zeros(2)), matrix=OPPOSITE)
    assert (outcome.termination, outcome.reached) == (Termination.CLAIM_REACHED, Goal.WITNESS)
    assert outcome.bracket.upper == 0.0
    close = np.array([0.51, 0.49])
    outcome = go(upper(0.5, close), upper(0.02, close), matrix=OPPOSITE, targets=Targets(epsilon=0.03))
    assert (outcome.reached, outcome.iterations) == (Goal.WITNESS, 1)
    assert outcome.bracket.upper == pytest.approx(0.02)
    feigned = go(upper(0.001), matrix=GRAM, targets=Targets(epsilon=0.01), limits=Limits(max_iterations=1))
    assert feigned.termination is Termination.ITERATION_LIMIT  # from scratch |p|_G is 0.87
    assert feigned.bracket.upper == pytest.approx(np.sqrt(0.75))


def test_gap_target_goes_on_past_the_first_separator():
    first, p = np.array([1.0, 0.2]), np.array([0.5, 0.5])
    poor = Candidate(weights=first, image=GRAM @ first, simplex=first / 1.2, simplex_image=GRAM @ first / 1.2)
    best = Candidate(weights=p, image=GRAM @ p, simplex=p, simplex_image=GRAM @ p)
    outcome = go(poor, best, targets=Targets(gap=1e-9))
    assert (outcome.reached, outcome.iterations) == (Goal.GAP, 1)
    assert outcome.bracket.gap == pytest.approx(0.0, abs=1e-12)


def test_the_best_of_each_end_is_kept():
    log = RecordList()
    go(lower(-0.2), upper(0.9), lower(-0.6), upper(0.95), limits=Limits(max_iterations=3), observers=[log])
    assert [(r.margin_lower, r.margin_upper) for r in log.records] == [
        (-0.2, None),
        (-0.2, 0.9),
        (-0.2, 0.9),
        (-0.2, 0.9),
    ]
    assert [r.iteration for r in log.records] == [0, 1, 2, 3]
    assert log.records[1].gap == pytest.approx(1.1 / 0.9)


@pytest.mark.parametrize(
    "broken",
    [
        Candidate(weights=GOOD, image=np.array([np.nan, 1.0])),
        Candidate(weights=GOOD, image=np.array([1.0, np.inf])),
        Candidate(simplex=GOOD, simplex_image=np.array([np.nan, 0.0])),
        Candidate(simplex=GOOD, simplex_norm=np.inf),
        Candidate(step=np.nan),
    ],
)
def test_non_finite_numbers_end_the_run_and_claim_nothing(broken):
    outcome = go(upper(0.9), broken)
    assert outcome.termination is Termination.NON_FINITE
    assert outcome.reached is None
    assert outcome.iterations == 1
    assert outcome.bracket.lower is None
    assert outcome.bracket.upper == pytest.approx(np.sqrt(0.75))


def test_non_finite_comes_before_a_claim():
    assert go(replace(lower(0.1), step=np.nan)).termination is Termination.NON_FINITE


def test_interruption_keeps_the_bracket():
    outcome = go(upper(0.9), KeyboardInterrupt)
    assert outcome.termination is Termination.INTERRUPTED
    assert outcome.bracket.upper == pytest.approx(np.sqrt(0.75))
    at_once = go(NOTHING, observers=[Interrupting()])
    assert at_once.termination is Termination.INTERRUPTED


class Interrupting(Observer):
    def iterated(self, record):
        raise KeyboardInterrupt


def test_interruption_of_a_nested_run_ends_the_outer_one():
    control = Control()
    outcome = go(NOTHING, NOTHING, nested=True, control=control)
    assert outcome.termination is Termination.INTERRUPTED
    assert control.interrupted
    claimed = go(NOTHING, lower(0.1), nested=True)
    assert claimed.termination is Termination.CLAIM_REACHED  # a claim comes first


def test_iteration_limit_comes_before_the_time_limit():
    clock = Clock()
    limits = Limits(max_iterations=0, deadline=0.0)
    assert go(NOTHING, limits=limits, control=Control(clock)).termination is Termination.ITERATION_LIMIT
    outcome = go(NOTHING, limits=Limits(deadline=50.0), control=Control(clock))
    assert outcome.termination is Termination.TIME_LIMIT
    assert clock.now < 60.0
    assert outcome.seconds > 0.0


def test_time_limit_comes_before_no_progress_and_a_claim_before_both():
    late = Limits(deadline=0.0)
    done = Candidate(exhausted=True)
    assert go(done, limits=late, control=Control(Clock())).termination is Termination.TIME_LIMIT
    assert go(lower(0.1), limits=late, control=Control(Clock())).termination is Termination.CLAIM_REACHED
    assert go(done).termination is Termination.NO_PROGRESS


def test_patience_is_no_progress():
    outcome = go(upper(0.9), upper(0.95), limits=Limits(patience=4))
    assert (outcome.termination, outcome.iterations) == (Termination.NO_PROGRESS, 4)


def test_nested_runs_share_the_earliest_deadline_and_restore_it():
    control = Control(Clock(), deadline=1000.0)
    seen = []

    class Watching(Scripted):
        def start(self, gram):
            seen.append(self.control.deadline)
            return 0

    algorithm = Watching(Script((Candidate(exhausted=True),)))
    run(algorithm, DenseGram(GRAM), limits=Limits(deadline=500.0), control=control)
    run(algorithm, DenseGram(GRAM), limits=Limits(deadline=2000.0), control=control)
    run(algorithm, DenseGram(GRAM), control=control)
    assert seen == [500.0, 1000.0, 1000.0]
    assert control.deadline == 1000.0


def test_direction_is_the_proposal_where_there_is_one(planted, signed):
    rows = planted(30, 3, margin=0.3)
    gram = FactoredGram(rows)
    w = np.linalg.lstsq(signed(rows), np.ones(30), rcond=None)[0]
    assert (signed(rows) @ w).min() > 0
    candidate = Candidate(direction=w, image=np.ones(30), norm=1.0)
    outcome = run(Scripted(Script((candidate,))), gram)
    z = signed(rows)
    expected = (z @ w / np.linalg.norm(z, axis=1)).min() / np.linalg.norm(w)
    assert outcome.reached is Goal.SEPARATOR
    assert outcome.bracket.lower == pytest.approx(expected)
    before = gram.passes
    run(Scripted(Script((replace(outcome.candidate, fresh=True),))), gram)
    assert gram.passes == before  # nothing is computed twice


def test_small_norms_are_taken_from_the_rows():
    """p'Gp = 0 in doubles where |p|_G is 1e-9: the driver must not call it 0."""
    tiny = 1e-9
    points = np.array([[1.0, tiny], [-1.0, tiny]])
    gram = FactoredGram(FloatRows(points, np.array([1, 1], dtype=np.int8), 0.0))
    p = GOOD
    candidate = Candidate(simplex=p, simplex_image=gram.times(p) * 0.0)
    outcome = run(Scripted(Script((candidate,))), gram, limits=Limits(max_iterations=0))
    assert outcome.termination is Termination.ITERATION_LIMIT
    assert outcome.bracket.upper == pytest.approx(tiny, rel=1e-6)


def test_json_lines():
    stream = io.StringIO()
    go(upper(0.9), Candidate(step=np.nan, extra={"working_set": 3}), observers=[JsonLines(stream)])
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["start", "iteration", "iteration", "end"]
    assert lines[0] == {"event": "start", "algorithm": "scripted", "rows": 2}
    common = "event iteration step margin_lower margin_upper gap seconds products passes"
    assert set(lines[1]) == set(common.split())
    assert lines[2]["step"] is None
    assert lines[2]["working_set"] == 3
    assert lines[3]["termination"] == "non-finite"
    assert lines[3]["reached"] is None
