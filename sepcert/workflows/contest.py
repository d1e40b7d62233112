"""One algorithm alone on a problem: what it costs, and what its proposal alone proves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sepcert.certify import Certified, certify
from sepcert.check_options import CheckOptions
from sepcert.engine.protocol import IterationRecord, Outcome
from sepcert.engine.registry import Entry
from sepcert.exact.decide import Deadline, Proposal
from sepcert.exact.face import Face
from sepcert.problem import Problem
from sepcert.search.proposals import Say, Search, Spent, Watcher

SPACING = 1.02
"""Of two points of a trace whose costs are closer than this factor, the first is left out."""


@dataclass(frozen=True)
class TracePoint:
    """The bracket, in doubles, after some work.

    Attributes
    ----------
    products : float
        See :func:`products_of`.
    lower, upper : float or None
        The best ends so far.
    """

    products: float
    lower: float | None
    upper: float | None


def products_of(products: float, passes: float) -> float:
    """Return the work in products with G; a pass that is no part of one is half a product, that for norms is free."""
    return max(products, (passes - 1.0) / 2.0)


class Trace:
    """Watches a run: a thinned course of the bracket, and the count that the theorem bounds.

    Parameters
    ----------
    counts : str
        ``iterations``, or the key of the records' `extra` that is counted.

    Attributes
    ----------
    counted : int or None
        The count at the first separator, or at the last record.
    """

    def __init__(self, counts: str) -> None:
        self._counts = counts
        self._kept: list[TracePoint] = []
        self._last: TracePoint | None = None
        self._separated = False
        self.counted: int | None = None

    def __call__(self, record: IterationRecord) -> None:
        """Take note of an iteration."""
        point = TracePoint(products_of(record.products, record.passes), record.margin_lower, record.margin_upper)
        separates = point.lower is not None and point.lower > 0
        if not self._separated:
            value = record.iteration if self._counts == "iterations" else record.extra.get(self._counts)
            self.counted = value if isinstance(value, int) else None
        if not self._kept or separates > self._separated or point.products > SPACING * self._kept[-1].products:
            self._kept.append(point)
        self._separated |= separates
        self._last = point

    @property
    def points(self) -> tuple[TracePoint, ...]:
        """The course; the last record is its end."""
        if self._last is None or self._last is self._kept[-1]:
            return tuple(self._kept)
        return (*self._kept, self._last)


@dataclass
class FirstRun(Spent):
    """Keeps the outcome of the run on the whole problem."""

    outcome: Outcome | None = None

    def add(self, outcome: Outcome) -> None:
        """Keep the outcome."""
        super().add(outcome)
        self.outcome = self.outcome or outcome


@dataclass
class Contest(Search):
    """The search of one algorithm alone: nothing else adds to its proposal, its costs or its records.

    Attributes
    ----------
    cpu_seconds : float
        Of the algorithm, without the exact stage.
    refused : str
        Why it did not run, where it did not.
    """

    spent: FirstRun = field(default_factory=FirstRun)
    cpu_seconds: float = 0.0
    refused: str = ""

    def propose(self, face: Face) -> Iterator[Proposal]:
        """Propose for the whole problem what the algorithm finds; smaller faces belong to the exact stage."""
        if face.base is not None:
            yield from Search(deadline=self.deadline, seed=self.seed).propose(face)
            return
        began = time.process_time()
        proposals = list(super().propose(face))
        self.cpu_seconds = time.process_time() - began
        yield from proposals

    def margin(self, face: Face) -> None:
        """Look for nothing: an upper end that the algorithm did not propose is not its own."""


@dataclass(frozen=True)
class Finish:
    """How one algorithm did.

    Attributes
    ----------
    entry : Entry
    outcome : Outcome or None
        Of its run; None: it did not run.
    certified : Certified
        What the exact stage and the verifier made of its proposal.
    trace : Trace
    cpu_seconds, proof_cpu_seconds : float
        Of the algorithm; of the exact stage and the verifier.
    own_upper : bool
        Whether it proposed an upper end of the margin.
    refused : str
        Why it did not run.
    stopped : bool
        Whether the user interrupted it.
    """

    entry: Entry
    outcome: Outcome | None
    certified: Certified
    trace: Trace
    cpu_seconds: float
    proof_cpu_seconds: float
    own_upper: bool
    refused: str
    stopped: bool


def run_alone(
    entry: Entry,
    problem: Problem,
    options: CheckOptions,
    watch: Watcher,
    say: Say,
    clock: Callable[[], float] = time.process_time,
) -> Finish:
    """Run one algorithm on a problem, and prove what its proposal proves.

    Parameters
    ----------
    entry : Entry
    problem : Problem
    options : CheckOptions
        Its time limit begins now and holds for the exact stage, too.
    watch : callable
        Told of every iteration.
    say : callable
        Given log messages.
    clock : callable
        CPU seconds.
    """
    limit = options.time_limit_seconds
    trace = Trace(entry.counts)
    heard: list[str] = []

    def listen(line: str) -> None:
        heard.append(line)
        say(line)

    contest = Contest(
        deadline=Deadline(None if limit is None else time.monotonic() + limit),
        algorithm=entry.name,
        epsilon=options.epsilon,
        gap=options.gap,
        seed=options.seed,
        max_iterations=options.max_iterations,
        watchers=(trace, watch),
        say=listen,
    )
    began = clock()
    certified = certify(problem, options, contest)
    spent = clock() - began
    return Finish(
        entry=entry,
        outcome=contest.spent.outcome,
        certified=certified,
        trace=trace,
        cpu_seconds=contest.cpu_seconds,
        proof_cpu_seconds=max(0.0, spent - contest.cpu_seconds),
        own_upper=contest.found.upper is not None,
        refused="" if contest.spent.outcome is not None else (heard[-1] if heard else "it was not asked"),
        stopped=contest.deadline.stopped,
    )
