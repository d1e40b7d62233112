"""The only iteration loop of the margin algorithms.

Each iteration: candidate -> bracket (lower end from a, upper end from p; the best of each is kept) -> record ->
observers -> stop.  The questions are asked in a fixed order: non-finite numbers, claim reached, interrupted,
iteration limit, time limit, no progress.  There is no default status.  Before a claim, and before the outcome is
made, every image is computed from scratch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, isfinite, nan, sqrt
from typing import Generic

import numpy as np

from sepcert.engine.gram import GramOperator
from sepcert.engine.protocol import (
    Algorithm,
    Bracket,
    Candidate,
    Control,
    Goal,
    IterationRecord,
    Limits,
    Observer,
    OptionsT,
    Outcome,
    StateT,
    Targets,
)
from sepcert.status import Termination

EPS = float(np.finfo(np.float64).eps)


def run(
    algorithm: Algorithm[OptionsT, StateT],
    gram: GramOperator,
    targets: Targets | None = None,
    limits: Limits | None = None,
    observers: Sequence[Observer] = (),
    control: Control | None = None,
) -> Outcome:
    """Run an algorithm until a target or a limit is reached.

    Parameters
    ----------
    algorithm : Algorithm
    gram : GramOperator
    targets : Targets, optional
        The first separator, when not given.
    limits : Limits, optional
        A deadline here and one in `control` both hold.
    observers : sequence of Observer
    control : Control, optional
        Given to nested runs, so that they share clock, deadline and interruption.

    Returns
    -------
    Outcome
        With KeyboardInterrupt caught: the bracket so far, and the termination INTERRUPTED.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        run_once = _Run(algorithm, gram, targets or Targets(), limits or Limits(), observers, control or Control())
        return run_once.execute()


class _Run(Generic[OptionsT, StateT]):
    """One run: the best bracket, the counters and the answers to the questions of the loop."""

    def __init__(
        self,
        algorithm: Algorithm[OptionsT, StateT],
        gram: GramOperator,
        targets: Targets,
        limits: Limits,
        observers: Sequence[Observer],
        control: Control,
    ) -> None:
        self.algorithm, self.gram = algorithm, gram
        self.targets = targets if targets.epsilon is not None else replace(targets, epsilon=algorithm.accuracy)
        self.limits, self.observers = limits, observers
        self.control = control
        self.began = control.clock()
        self.products, self.passes = gram.products, gram.passes
        self.state: StateT | None = None
        self.last: Candidate | None = None
        self.lower: tuple[float, Candidate] | None = None
        self.upper: tuple[float, Candidate] | None = None
        self.ends: tuple[float | None, float | None] = (None, None)
        self.iterations, self.idle = 0, 0
        self.reached: Goal | None = None

    def execute(self) -> Outcome:
        for observer in self.observers:
            observer.started(self.algorithm.name, self.gram.count)
        self.algorithm.control, self.algorithm.targets = self.control, self.targets
        shared = self.control.deadline
        deadlines = [t for t in (self.limits.deadline, shared) if t is not None]
        self.control.deadline = min(deadlines, default=None)
        try:
            termination = self._iterate()
        finally:
            self.control.deadline = shared
        outcome = self._outcome(termination)
        for observer in self.observers:
            observer.ended(outcome)
        return outcome

    def _iterate(self) -> Termination:
        while True:
            try:
                self._advance()
                self._report()
                termination = self._question()
            except KeyboardInterrupt:
                self.control.interrupted = True
                termination = Termination.INTERRUPTED
            if termination is not None:
                return termination

    def _advance(self) -> None:
        """Take a step (the first time: start) and let its candidate improve the bracket."""
        if self.state is None:
            self.state = self.algorithm.start(self.gram)
        else:
            self.state = self.algorithm.step(self.gram, self.state)
            self.iterations += 1
        self.last = self.algorithm.candidate(self.gram, self.state)
        self._look(self.last)

    def _look(self, candidate: Candidate) -> None:
        lower, upper = _lower_end(candidate), self._upper_end(candidate)
        self.ends = (lower, upper)
        better = False
        if lower is not None and isfinite(lower) and (self.lower is None or lower > self.lower[0]):
            self.lower, better = (lower, candidate), True
        if upper is not None and isfinite(upper) and (self.upper is None or upper < self.upper[0]):
            self.upper, better = (upper, candidate), True
        self.idle = 0 if better else self.idle + 1

    def _upper_end(self, candidate: Candidate) -> float | None:
        if candidate.simplex is None:
            return None
        if candidate.simplex_norm is not None:
            return candidate.simplex_norm
        if candidate.simplex_image is None:
            return self.gram.norm(candidate.simplex)
        return self.gram.norm_from(candidate.simplex, candidate.simplex_image)

    @property
    def bracket(self) -> Bracket:
        return Bracket(None if self.lower is None else self.lower[0], None if self.upper is None else self.upper[0])

    def _report(self) -> None:
        if not self.observers or self.last is None:
            return
        bracket = self.bracket
        record = IterationRecord(
            iteration=self.iterations,
            step=self.last.step,
            margin_lower=bracket.lower,
            margin_upper=bracket.upper,
            gap=bracket.gap,
            seconds=self.control.clock() - self.began,
            products=self.gram.products - self.products,
            passes=self.gram.passes - self.passes,
            extra=self.last.extra,
        )
        for observer in self.observers:
            observer.iterated(record)

    def _question(self) -> Termination | None:
        """Ask why to stop, in the fixed order; None: there is no reason."""
        if self._non_finite():
            return Termination.NON_FINITE
        if self._claim():
            return Termination.CLAIM_REACHED
        if self.control.interrupted:
            return Termination.INTERRUPTED
        if self.limits.max_iterations is not None and self.iterations >= self.limits.max_iterations:
            return Termination.ITERATION_LIMIT
        if self.control.expired:
            return Termination.TIME_LIMIT
        if self.last is not None and self.last.exhausted:
            return Termination.NO_PROGRESS
        if self.limits.patience is not None and self.idle >= self.limits.patience:
            return Termination.NO_PROGRESS
        return None

    def _non_finite(self) -> bool:
        numbers = [*self.ends, None if self.last is None else self.last.step]
        return any(x is not None and not isfinite(x) for x in numbers)

    def _claim(self) -> bool:
        """Say whether a target is reached, after computing from scratch what it rests on."""
        goal = self._apparent_goal()
        if goal is None:
            return False
        self._confirm(lower=goal is not Goal.WITNESS, upper=goal is not Goal.SEPARATOR)
        self.reached = self._apparent_goal()
        if self.reached is None and self.state is not None:
            self.state = self.algorithm.refresh(self.gram, self.state)
        return self.reached is not None

    def _apparent_goal(self) -> Goal | None:
        bracket = self.bracket
        separated = bracket.lower is not None and bracket.lower > 0.0
        if self.targets.gap is not None:
            if separated and bracket.gap is not None and bracket.gap <= self.targets.gap:
                return Goal.GAP
        elif self.targets.separator and separated:
            return Goal.SEPARATOR
        if self.upper is None:
            return None
        upper, candidate = self.upper
        if self.targets.epsilon is not None and upper < self.targets.epsilon:
            return Goal.WITNESS
        if upper > 4.0 * EPS * sqrt(self.gram.count):
            return None
        return Goal.WITNESS if upper <= _rounding(candidate) else None

    def _confirm(self, lower: bool = True, upper: bool = True) -> None:
        """Replace the ends of the bracket by what their candidates give from scratch."""
        if lower and self.lower is not None:
            fresh = self._fresh_lower(self.lower[1])
            value = _lower_end(fresh)
            self.lower = None if value is None else (value, fresh)
        if upper and self.upper is not None:
            simplex = self.upper[1].simplex
            if simplex is not None:
                norm = self.gram.norm(simplex)
                fresh = replace(self.upper[1], simplex_norm=norm, simplex_image=None)
                self.upper = (norm, fresh)

    def _fresh_lower(self, candidate: Candidate) -> Candidate:
        if candidate.fresh:
            return candidate
        if candidate.direction is not None:
            norm = float(np.linalg.norm(candidate.direction))
            return replace(candidate, image=self.gram.image_of(candidate.direction), norm=norm, fresh=True)
        if candidate.weights is None:
            return replace(candidate, image=None)
        found = self.gram.evaluate(candidate.weights)
        return replace(candidate, image=found.image, norm=found.norm, direction=found.direction, fresh=True)

    def _outcome(self, termination: Termination) -> Outcome:
        if termination is not Termination.CLAIM_REACHED or self.reached is not Goal.GAP:
            done = self.reached
            self._confirm(lower=done is not Goal.SEPARATOR, upper=done is not Goal.WITNESS)
        claimed = {
            Goal.SEPARATOR: self.lower,
            Goal.GAP: self.lower,
            Goal.WITNESS: self.upper,
            None: None,
        }[self.reached]
        return Outcome(
            termination=termination,
            reached=self.reached,
            candidate=self.last if claimed is None else claimed[1],
            bracket=self.bracket,
            lower=None if self.lower is None else self.lower[1],
            upper=None if self.upper is None else self.upper[1],
            iterations=self.iterations,
            products=self.gram.products - self.products,
            passes=self.gram.passes - self.passes,
            seconds=self.control.clock() - self.began,
        )


def _lower_end(candidate: Candidate) -> float | None:
    """Return min(Ga)/|a|_G; None where there is no image, or |a|_G is 0."""
    image = candidate.image
    if image is None:
        return None
    norm = candidate.norm
    if norm is None:
        if candidate.weights is None:
            return None
        square = float(candidate.weights @ image)
        norm = sqrt(square) if square > 0.0 else square
    if norm <= 0.0:
        return None
    if norm == inf:
        return nan
    return float(image.min()) / norm


def _rounding(candidate: Candidate) -> float:
    """Return what |p|_G may owe to rounding alone: 4 eps times the root of the size of the support."""
    support = 1 if candidate.simplex is None else int(np.count_nonzero(candidate.simplex))
    return 0.0 if support <= 1 else 4.0 * EPS * sqrt(support)
