"""From the floating-point engine to proposals for the exact stage."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from sepcert.engine.algorithms.working_set import Options, WorkingSet
from sepcert.engine.driver import run
from sepcert.engine.gram import FactoredGram
from sepcert.engine.protocol import Control, IterationRecord, Limits, Observer, Outcome, Targets
from sepcert.engine.rows import FloatRows, condition_columns
from sepcert.exact.decide import Deadline, Proposal
from sepcert.exact.face import Face
from sepcert.problem import FloatArray, IntArray
from sepcert.status import Termination

Watcher = Callable[[IterationRecord], None]
Say = Callable[[str], None]

SMALL_DIMENSION = 12
SMALL_ENTRIES = 6000
ENOUGH_PASSES = 12


class Watching(Observer):
    """Hands iteration records to plain functions."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self.watchers = watchers

    def iterated(self, record: IterationRecord) -> None:
        """Pass the record on."""
        for watcher in self.watchers:
            watcher(record)


@dataclass
class Spent:
    """What the engine has cost so far, and why its last loop ended."""

    iterations: int = 0
    passes: float = 0.0
    termination: Termination | None = None

    def add(self, outcome: Outcome) -> None:
        """Count a run."""
        self.iterations += outcome.iterations
        self.passes += outcome.passes
        self.termination = outcome.termination


@dataclass
class Found:
    """The best that the engine knows about all rows in the geometry of the paper: weights over the raw rows.

    Attributes
    ----------
    alpha : dict of int to float, or None
        Of a separator.
    upper : dict of int to float, or None
        Nonnegative weights whose combination bounds the margin from above.
    """

    alpha: dict[int, float] | None = None
    upper: dict[int, float] | None = None


@dataclass
class Search:
    """Runs the working-set method on faces, and keeps what it learns about the whole problem.

    Attributes
    ----------
    gap : float
        Relative gap of the margin bracket that is aimed at.
    seed : int
    deadline : Deadline
    watchers : sequence of callables
        Told of every iteration.
    say : callable
        Told what is done and why.
    hints : tuple of int
        Rows that may carry a witness; they are proposed first.
    """

    gap: float
    seed: int
    deadline: Deadline
    max_iterations: int | None = None
    enough: int | None = ENOUGH_PASSES
    watchers: Sequence[Watcher] = ()
    say: Say = lambda line: None
    hints: tuple[int, ...] = ()
    spent: Spent = field(default_factory=Spent)
    found: Found = field(default_factory=Found)

    def propose(self, face: Face) -> Iterator[Proposal]:
        """Propose for a face: nothing for a small one, which the exact simplex decides sooner."""
        if self.hints and face.base is None:
            yield Proposal(None, self.hints)
        size = len(face.members) * face.dimension
        if face.dimension <= SMALL_DIMENSION and size <= SMALL_ENTRIES:
            self.say(f"exact simplex on {len(face.members)} rows in {face.dimension} dimensions: too small to search")
            return
        rows = self._rows(face)
        self.say(f"working set on {rows.count} rows in {rows.dimension} dimensions")
        whole = face.base is None and len(face.members) == face.rows.count
        yield from self._proposals(rows, face.members, keep=whole)
        balanced = condition_columns(rows)
        self.say("working set again, with columns centred and scaled: the first proposal was not exact")
        yield from self._proposals(balanced, face.members, keep=False)

    def margin(self, face: Face) -> None:
        """Look for the maximal margin of a problem that is known to be separable, within the limits."""
        for _ in self._proposals(self._rows(face), face.members, keep=True):
            pass

    def _rows(self, face: Face) -> FloatRows:
        problem = face.rows.problem
        if face.base is not None:
            matrix = np.ascontiguousarray(face.floats())
            return FloatRows(matrix, np.ones(len(matrix), dtype=np.int8), 0.0)
        values, labels = problem.points.values, problem.labels
        if face.subset is not None:
            values, labels = values[face.members], labels[face.members]
        return FloatRows(values, labels, face.rows.bias)

    def _proposals(self, rows: FloatRows, members: IntArray, keep: bool) -> Iterator[Proposal]:
        try:
            gram = FactoredGram(rows)
        except ValueError:
            return
        outcome = run(
            WorkingSet(Options(seed=self.seed, enough=self.enough)),
            gram,
            Targets(gap=self.gap),
            Limits(max_iterations=self.max_iterations),
            [Watching(self.watchers)],
            Control(clock=time.monotonic, deadline=self.deadline.at),
        )
        self.spent.add(outcome)
        if outcome.termination is Termination.INTERRUPTED:
            self.deadline.stopped = True
        if keep:
            self._remember(outcome, gram.norms, members)
        proposal = _proposal(outcome, rows, members)
        if proposal is not None:
            yield proposal

    def _remember(self, outcome: Outcome, norms: FloatArray, members: IntArray) -> None:
        lower, upper = outcome.lower, outcome.upper
        if lower is not None and lower.weights is not None and (outcome.bracket.lower or 0.0) > 0:
            self.found.alpha = _raw(lower.weights, norms, members)
        if upper is not None and upper.simplex is not None:
            self.found.upper = _raw(upper.simplex, norms, members)


def _raw(weights: FloatArray, norms: FloatArray, members: IntArray) -> dict[int, float]:
    """Return weights over the raw rows from weights over the normalised ones, without zeros."""
    at = np.flatnonzero(weights)
    return dict(zip(members[at].tolist(), (weights[at] / norms[at]).tolist(), strict=True))


def _proposal(outcome: Outcome, rows: FloatRows, members: IntArray) -> Proposal | None:
    """Turn the outcome of a run into a proposal; the support is that of the best simplex weights."""
    lower, upper = outcome.lower, outcome.upper
    direction = None
    if lower is not None and lower.direction is not None and (outcome.bracket.lower or 0.0) > 0:
        direction = rows.in_units_of_the_data(lower.direction)
    support: tuple[int, ...] = ()
    if upper is not None and upper.simplex is not None:
        support = tuple(members[np.flatnonzero(upper.simplex)].tolist())
    if direction is None and not support:
        return None
    return Proposal(direction, support)
