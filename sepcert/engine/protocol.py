"""What a margin algorithm is, and what it hands to the driver.

An algorithm is three small functions over a state: `start`, `step` and `candidate`.  It has no loop over
iterations, no clock, no tolerance, no status and no output: those belong to :mod:`sepcert.engine.driver`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from time import perf_counter
from typing import ClassVar, Generic, TypeVar

from sepcert.engine.gram import GramOperator
from sepcert.problem import FloatArray
from sepcert.status import Termination


@dataclass(frozen=True, eq=False)
class Candidate:
    """What an iterate proposes: weights a for the lower end of the margin's bracket, p for the upper.

    All weights are over the *normalised* rows z_i/|z_i|.  Weights over the raw rows, as certificates have
    them, are a_i/|z_i|.  Arrays in a candidate are never written to again, by anybody.

    Attributes
    ----------
    weights : ndarray, shape (n,), or None
        a.
    image : ndarray, shape (n,), or None
        G a as the algorithm keeps it; it may have drifted.
    norm : float or None
        |a|_G, where the algorithm knows it better than as sqrt(a'Ga).
    direction : ndarray, shape (feature_dimension of the Gram operator,), or None
        w = sum_i a_i f_i, where the algorithm has it: it is then the proposal, and `weights` go with it.
    simplex : ndarray, shape (n,), or None
        p: nonnegative, sum 1.
    simplex_image : ndarray, shape (n,), or None
        G p.
    simplex_norm : float or None
        |p|_G, where the algorithm knows it better than as sqrt(p'Gp).
    step : float
        The length of the step that led here, in the algorithm's own sense; for the log.
    fresh : bool
        Whether `image` was computed from `direction` or `weights` in this very step, and not updated.
    exhausted : bool
        The algorithm has nothing more to do: its iterates will not change.
    extra : mapping of str to object
        What is particular to the algorithm, for the log.
    """

    weights: FloatArray | None = None
    image: FloatArray | None = None
    norm: float | None = None
    direction: FloatArray | None = None
    simplex: FloatArray | None = None
    simplex_image: FloatArray | None = None
    simplex_norm: float | None = None
    step: float = 0.0
    fresh: bool = False
    exhausted: bool = False
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class IterationRecord:
    """One line of the iteration log; the same columns for every algorithm.

    Attributes
    ----------
    iteration : int
        Steps taken; 0 is the start.
    step : float
        See :class:`Candidate`.
    margin_lower, margin_upper : float or None
        The best bracket so far on the normalised margin, in doubles.
    gap : float or None
        (upper - lower)/upper.
    seconds : float
        Wall-clock time since the start.
    products, passes : float
        Products with G and passes over the rows since the start.
    extra : mapping of str to object
        What is particular to the algorithm.
    """

    iteration: int
    step: float
    margin_lower: float | None
    margin_upper: float | None
    gap: float | None
    seconds: float
    products: float
    passes: float
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Bracket:
    """Two ends for the normalised margin, in doubles: a proposal like everything else here."""

    lower: float | None = None
    upper: float | None = None

    @property
    def gap(self) -> float | None:
        """(upper - lower)/upper, or None where an end is missing or the upper end is 0."""
        if self.lower is None or self.upper is None or self.upper == 0.0:
            return None
        return (self.upper - self.lower) / self.upper


class Goal(StrEnum):
    """What was reached when a run ended with CLAIM_REACHED."""

    SEPARATOR = "separator"
    WITNESS = "witness"
    GAP = "gap"


@dataclass(frozen=True)
class Targets:
    """What a run is for.

    Attributes
    ----------
    separator : bool
        Stop at the first separator.  Ignored where `gap` is given.
    epsilon : float or None
        Stop when |p|_G < epsilon.  None: the accuracy of the algorithm's options, if it has one; otherwise only
        when |p|_G cannot be told from 0 in doubles.
    gap : float or None
        Go on until (upper - lower)/upper <= gap.
    """

    separator: bool = True
    epsilon: float | None = None
    gap: float | None = None


@dataclass(frozen=True)
class Limits:
    """When to give up.

    Attributes
    ----------
    max_iterations : int or None
    deadline : float or None
        Absolute, on the clock of the run's :class:`Control`; nested runs share it.
    patience : int or None
        Iterations in a row without a better bracket that count as no progress.
    """

    max_iterations: int | None = None
    deadline: float | None = None
    patience: int | None = None


@dataclass
class Control:
    """What a run and the runs nested in it share: a clock, a deadline, and whether the user interrupted.

    Attributes
    ----------
    clock : callable
        Seconds from any fixed moment.
    deadline : float or None
        On that clock.
    interrupted : bool
    """

    clock: Callable[[], float] = perf_counter
    deadline: float | None = None
    interrupted: bool = False

    @property
    def expired(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and self.clock() >= self.deadline


@dataclass(frozen=True, eq=False)
class Outcome:
    """How a run ended; every number in it was computed from scratch at the end.

    Attributes
    ----------
    termination : Termination
    reached : Goal or None
        What was reached; None unless the termination is CLAIM_REACHED.
    candidate : Candidate or None
        The last one; the claimed one where something was reached.
    bracket : Bracket
    lower, upper : Candidate or None
        The candidates behind the ends of the bracket.
    iterations : int
    products, passes : float
    seconds : float
    """

    termination: Termination
    reached: Goal | None
    candidate: Candidate | None
    bracket: Bracket
    lower: Candidate | None
    upper: Candidate | None
    iterations: int
    products: float
    passes: float
    seconds: float


class Observer:
    """Something that watches a run; the methods do nothing unless they are overridden."""

    def started(self, algorithm: str, rows: int) -> None:
        """Be told that a run begins."""

    def iterated(self, record: IterationRecord) -> None:
        """Be told of an iteration."""

    def ended(self, outcome: Outcome) -> None:
        """Be told how the run ended."""


def require_accuracy(name: str, value: float | None) -> None:
    """Raise a ValueError unless an accuracy among an algorithm's options is positive and finite, or None."""
    if value is not None and not 0.0 < value < float("inf"):
        raise ValueError(f"{name} is {value}, but has to be positive")


OptionsT = TypeVar("OptionsT")
StateT = TypeVar("StateT")


class Algorithm(ABC, Generic[OptionsT, StateT]):
    """A margin algorithm.

    Parameters
    ----------
    options : OptionsT
        A frozen dataclass.

    Attributes
    ----------
    name : str
        Its name on the command line.
    control : Control or None
        Set by the driver before `start`; only algorithms that nest runs look at it.
    targets : Targets
        Of the run; set by the driver before `start`, with `accuracy` as epsilon where the run has none.
    """

    name: ClassVar[str]

    def __init__(self, options: OptionsT) -> None:
        self.options = options
        self.control: Control | None = None
        self.targets = Targets()

    @property
    def accuracy(self) -> float | None:
        """The target for |p|_G that the algorithm's own options set; one of the run comes before it."""
        return None

    @abstractmethod
    def start(self, gram: GramOperator) -> StateT:
        """Return the state before the first step."""

    @abstractmethod
    def step(self, gram: GramOperator, state: StateT) -> StateT:
        """Return the state after one more step; arrays that were in a candidate are not changed."""

    @abstractmethod
    def candidate(self, gram: GramOperator, state: StateT) -> Candidate:
        """Return what the state proposes."""

    def refresh(self, gram: GramOperator, state: StateT) -> StateT:
        """Return the state with images computed from scratch; asked for when a claim was only drift."""
        return state
