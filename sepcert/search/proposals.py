"""From the floating-point engine to proposals for the exact stage."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sepcert.engine.algorithms.min_norm_point import MinNormPointOptions, MinNormPointRounds
from sepcert.engine.dispatch import choose
from sepcert.engine.driver import run
from sepcert.engine.gram import DenseGram, FactoredGram, GramOperator
from sepcert.engine.protocol import Algorithm, Control, IterationRecord, Limits, Observer, Outcome, Targets
from sepcert.engine.rows import FloatRows, condition_columns
from sepcert.exact.decide import Deadline, Proposal
from sepcert.exact.face import Face
from sepcert.problem import FloatArray, IntArray
from sepcert.search.rescaled import rescaled_proposals
from sepcert.status import Termination

Watcher = Callable[[IterationRecord], None]
Say = Callable[[str], None]

SMALL_DIMENSION = 12
SMALL_ENTRIES = 6000
"""Up to these sizes the exact simplex decides in about a millisecond, sooner than a search with its proof."""
NARROW = 128
ENOUGH_PASSES = 12
"""Up to dimension NARROW the maximal margin is looked for in this many passes; a pass costs more than the rest."""
DEFAULT_GAP = 0.01
RUN_SHARE = 0.7
"""Part of the time left that a run may take."""


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
    direction : ndarray of float64, shape (D,), or None
        The same separator in the units of the data; where alpha cancels it is the better one.
    upper : dict of int to float, or None
        Nonnegative weights whose combination bounds the margin from above.
    """

    alpha: dict[int, float] | None = None
    direction: FloatArray | None = None
    upper: dict[int, float] | None = None


@dataclass
class Search:
    """Runs the engine on faces, and keeps what it learns about the whole problem.

    Attributes
    ----------
    deadline : Deadline
    algorithm : str
        ``auto``, or the one algorithm that looks at the whole problem.
    algorithm_options : dict
        Its own options.
    epsilon : float or None
        Target for |p|_G.
    gap : float or None
        Relative gap of the margin bracket that is aimed at; None: what comes cheaply.
    max_iterations : int or None
    seed : int
    watchers : sequence of callables
        Told of every iteration.
    say : callable
        Told what is done and why.
    hints : tuple of int
        Rows that may carry a witness; they are proposed first.
    """

    deadline: Deadline
    algorithm: str = "auto"
    algorithm_options: Mapping[str, object] = field(default_factory=dict)
    epsilon: float | None = None
    gap: float | None = None
    max_iterations: int | None = None
    seed: int = 0
    watchers: Sequence[Watcher] = ()
    say: Say = lambda line: None
    hints: tuple[int, ...] = ()
    spent: Spent = field(default_factory=Spent)
    found: Found = field(default_factory=Found)
    last_support: tuple[int, ...] = ()

    @property
    def alone(self) -> bool:
        """Whether one named algorithm runs alone."""
        return self.algorithm != "auto"

    def propose(self, face: Face) -> Iterator[Proposal]:
        """Propose for a face: nothing for a small one, which the exact simplex decides sooner."""
        if self.hints and face.base is None:
            yield Proposal(None, self.hints)
        rows = self._rows(face)
        if self.alone and face.base is None:
            from sepcert.engine.registry import find, make_algorithm

            entry = find(self.algorithm)
            seeded = {"seed": self.seed} if "seed" in entry.options.__dataclass_fields__ else {}
            self.say(f"{entry.name} alone, on {rows.count} rows in {rows.dimension} dimensions")
            yield from self._proposals(
                make_algorithm(entry.name, {**seeded, **self.algorithm_options}), rows, face.members, keep=True
            )
            return
        if face.dimension <= SMALL_DIMENSION and len(face.members) * face.dimension <= SMALL_ENTRIES:
            self.say(f"exact simplex on {rows.count} rows in {rows.dimension} dimensions: too small to search")
            return
        yield from self._automatic(face, rows)

    def _automatic(self, face: Face, rows: FloatRows) -> Iterator[Proposal]:
        """Propose what `dispatch` chooses, then the working set: on the rows, on balanced columns, rescaled."""
        members, whole = face.members, face.base is None and len(rows.points) == face.rows.count
        choice = choose(rows.count, rows.dimension)
        self.say(choice.reason)
        if choice.algorithm == "smoothed-kernel-perceptron":
            from sepcert.engine.algorithms.smoothed_kernel_perceptron import (
                SmoothedKernelPerceptron,
                SmoothedKernelPerceptronOptions,
            )

            smoothed = SmoothedKernelPerceptron(SmoothedKernelPerceptronOptions())
            yield from self._proposals(smoothed, rows, members, keep=whole, most=choice.max_iterations, first=True)
            self.say("working set: the smoothed perceptron has not decided")
        yield from self._proposals(self._rounds(rows), rows, members, keep=whole, dense=choice.form == "dense")
        self.say("working set again, with columns centred and scaled: the first proposal was not exact")
        yield from self._proposals(self._rounds(rows), condition_columns(rows), members, keep=False)
        self.say("search in exactly rescaled coordinates: doubles cannot tell these rows apart")
        yield from rescaled_proposals(face, self.last_support, self.seed, self.deadline)

    def margin(self, face: Face) -> None:
        """Look for the maximal margin of a problem that is known to be separable, within the limits."""
        rows = self._rows(face)
        dense = choose(rows.count, rows.dimension).form == "dense"
        for _ in self._proposals(self._rounds(rows), rows, face.members, keep=True, dense=dense):
            pass

    def _rounds(self, rows: FloatRows) -> MinNormPointRounds:
        cheap = ENOUGH_PASSES if rows.dimension <= NARROW else 1
        return MinNormPointRounds(MinNormPointOptions(seed=self.seed, enough=cheap if self.gap is None else None))

    def _rows(self, face: Face) -> FloatRows:
        problem = face.rows.problem
        if face.base is not None:
            matrix = np.ascontiguousarray(face.floats())
            return FloatRows(matrix, np.ones(len(matrix), dtype=np.int8), 0.0)
        values, labels = problem.points.values, problem.labels
        if face.subset is not None:
            values, labels = values[face.members], labels[face.members]
        return FloatRows(values, labels, face.rows.bias)

    def _proposals(
        self,
        algorithm: Algorithm[Any, Any],
        rows: FloatRows,
        members: IntArray,
        *,
        keep: bool,
        most: int | None = None,
        first: bool = False,
        dense: bool = False,
    ) -> Iterator[Proposal]:
        """Run an algorithm and yield what it proposes; nothing where the rows have no finite norms.

        `keep`: remember it as about the whole problem.  `most`: a limit on the iterations beside the user's.  `first`:
        the first separator is enough.  `dense`: work in the matrix G.
        """
        try:
            unit = FactoredGram(rows)
            gram: GramOperator = DenseGram.of_rows(rows) if dense else unit
            outcome = self.run_once(algorithm, gram, first=first, most=most)
        except ValueError as error:
            self.say(f"no floating-point search: {error}")
            return
        if keep:
            self.remember(outcome, unit.lengths, members)
            self._remember_direction(outcome, unit)
        proposal = _proposal(outcome, gram, rows, members)
        if proposal is not None:
            self.last_support = proposal.support[: 2 * rows.dimension]
            yield proposal

    def run_once(
        self, algorithm: Algorithm[Any, Any], gram: GramOperator, *, first: bool = False, most: int | None = None
    ) -> Outcome:
        """Run an algorithm within the limits that are left, and count what it cost.

        Parameters
        ----------
        algorithm : Algorithm
        gram : GramOperator
        first : bool
            The first separator is enough; else the run goes on to the gap.
        most : int, optional
            A limit on the iterations of this run, beside what the user's limit leaves.
        """
        left = None if self.max_iterations is None else max(0, self.max_iterations - self.spent.iterations)
        limits = [limit for limit in (most, left) if limit is not None]
        gap = DEFAULT_GAP if self.gap is None and not self.alone and not first else self.gap
        outcome = run(
            algorithm,
            gram,
            Targets(epsilon=self.epsilon if self.alone else None, gap=gap),
            Limits(max_iterations=min(limits, default=None)),
            [Watching(self.watchers)],
            Control(clock=time.monotonic, deadline=self._share()),
        )
        self.spent.add(outcome)
        if outcome.termination is Termination.INTERRUPTED:
            self.deadline.stopped = True
        return outcome

    def _share(self) -> float | None:
        """Return the end of a run: part of the time that is left, so that the exact stage has some."""
        if self.deadline.at is None:
            return None
        now = time.monotonic()
        return now + RUN_SHARE * max(0.0, self.deadline.at - now)

    def remember(self, outcome: Outcome, lengths: Callable[[IntArray], FloatArray], members: IntArray) -> None:
        """Keep the weights behind both ends of the bracket, over the raw rows.

        Parameters
        ----------
        outcome : Outcome
        lengths : callable
            Positions of rows -> their norms |z_i|.
        members : ndarray of int64
            The rows of the problem that the positions stand for.
        """

        def raw(weights: FloatArray) -> dict[int, float]:
            at = np.flatnonzero(weights)
            return dict(zip(members[at].tolist(), (weights[at] / lengths(at)).tolist(), strict=True))

        lower, upper = outcome.lower, outcome.upper
        if lower is not None and lower.weights is not None and (outcome.bracket.lower or 0.0) > 0:
            self.found.alpha = raw(lower.weights)
        if upper is not None and upper.simplex is not None:
            self.found.upper = raw(upper.simplex)

    def _remember_direction(self, outcome: Outcome, unit: FactoredGram) -> None:
        lower = outcome.lower
        if lower is not None and lower.weights is not None and (outcome.bracket.lower or 0.0) > 0:
            known = unit.row_direction(lower.weights) if lower.direction is None else lower.direction
            self.found.direction = known if len(known) == unit.rows.dimension else None

    def finer(self, gap: float) -> Search:
        """Return a search for a smaller gap that shares what was found and spent."""
        return replace(self, gap=gap)


def _proposal(outcome: Outcome, gram: GramOperator, rows: FloatRows, members: IntArray) -> Proposal | None:
    """Turn the outcome of a run into a proposal; its support is that of the best simplex weights, heaviest first."""
    lower, upper = outcome.lower, outcome.upper
    direction = None
    if lower is not None and (outcome.bracket.lower or 0.0) > 0:
        known = lower.direction if isinstance(gram, FactoredGram) else None
        if known is None and lower.weights is not None:
            known = gram.row_direction(lower.weights)
        direction = None if known is None else rows.in_units_of_the_data(known)
    support: tuple[int, ...] = ()
    if upper is not None and upper.simplex is not None:
        at = np.flatnonzero(upper.simplex)
        support = tuple(members[at[np.argsort(-upper.simplex[at], kind="stable")]].tolist())
    if direction is None and not support:
        return None
    return Proposal(direction, support)
