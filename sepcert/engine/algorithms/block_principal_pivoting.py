r"""Block principal pivoting to the least |p|_G of the simplex, from the support that pairwise steps find.

Source: Judice and Pires 1994 and Portugal, Judice and Vicente, Mathematics of Computation 63 (1994), for strictly
convex quadratic programs with bounds; the start is Lacoste-Julien and Jaggi 2015
(:mod:`sepcert.engine.algorithms.pairwise_frank_wolfe`).

The problem min x'Gx/2 - 1'x over x >= 0 has the solution x = t p, with p the least point of the simplex and
t = 1/|p|_G^2.  It is a linear complementarity problem: w = Gx - 1 >= 0, x >= 0, x'w = 0.  Iteration, from a set F::

    solve G_FF x_F = 1, x = 0 elsewhere                            one Cholesky factorisation
    V = {i in F : x_i < 0}  and  {i not in F : w_i < 0}            one product with the columns of F
    F = F without the first kind, with the second

As long as the number of rows in V falls, F changes in a block; after three changes without a new least number only
the last row of V changes sides, until there is one (Murty's rule, which ends on its own).  So no F is seen twice, and
there are finitely many.  To keep blocks small, the worst rows come in first, no more than twice the rows that F has,
and no more than the support limit allows.  Murty's rule is slow: after some such changes pairwise steps look for
a better F, a few times.

G is often singular to rounding (smooth kernels in few dimensions, duplicates, more rows than features), and then x
has huge entries of both signs on the way.  So G is shifted: (G_FF + delta I) x_F = 1 + delta c_F, with a centre
c >= 0, 0 at first, and delta = eta |p|_G^2 for the best p so far, which changes w by about eta at most.  When that is
solved without reaching the target, c = x, delta is lowered and it is solved again: the proximal point method, whose
limit is a solution for G itself.  Both ends of the bracket are computed with G, never with the shifted matrix, so
that nothing is claimed that the shift made true; an x whose norm owes too much to rounding proposes no lower end.

Claims: with a = x a separator and the lower end, with the positive part of x, scaled, as p a witness and the upper end.

Bound: finitely many iterations, in exact arithmetic; five to fifteen have been seen.  Where F would need more rows
than the limit, pairwise steps take over.

| symbol | field |
|---|---|
| F | `inside` |
| x, Gx | `proposal.weights`, `proposal.image` |
| delta, c | `shift`, `centre` |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sepcert.engine.algorithms.pairwise_frank_wolfe import (
    PairwiseState,
    first_vertex,
    pairwise_candidate,
    pairwise_steps,
)
from sepcert.engine.gram import CANCELLED, GramOperator
from sepcert.engine.gram_block import SupportBlock
from sepcert.engine.protocol import Algorithm, Candidate
from sepcert.problem import BoolArray, FloatArray, IntArray

EPS = float(np.finfo(np.float64).eps)
VIOLATED = 1e-10
"""w_i counts as negative below minus this, and below rounding."""
LEAST_WEIGHT = 1e-13
"""x_i counts as negative below minus this times the largest."""
TRIES = 3
"""Block changes without a new least number of violations, before single changes."""
GROWTH = 2.0
LEAST_GROWTH = 64
STALLED = 15
"""Single changes in a row after which pairwise steps look for a better support: Murty's rule is slow."""
RESTARTS = 6
"""How often they do, each time with twice as many steps."""
ETA = 1e-3
"""The first shift, relative to |p|_G^2 ..."""
LOWERED = 0.1
"""... what it is multiplied with when the centre moves ..."""
RAISED = 10.0
"""... and for each restart, after which it stays, and the centre, the best p so far at first, goes farther."""
RELAXED = 1.5
"""How far, below 2 (Eckstein and Bertsekas 1992)."""
SAME = 1e-13
"""A centre that moves less, relative to its largest entry, does not move."""
ROUNDING = 16.0 * EPS
"""The least shift, times the rows in F."""
FOUND = 0.5
"""The support is about found when it grows by less than this in a pairwise step."""
CUTS = 1
"""How many changes in a row the support limit may cut before pairwise steps take over for good."""
LARGEST_SHIFT = 1e-2
CENTRES = 200
"""How often the centre is moved."""
RESOLVED = 1e-4
"""Largest part of x'Gx that may be rounding in a lower end."""
FACTOR_SECONDS = 1.5e-11
"""Seconds of a factorisation of k rows, over k^3."""
VALUE_SECONDS = 5e-9
"""Seconds of one kernel value."""


@dataclass(frozen=True)
class BlockPivotingOptions:
    """Options of block principal pivoting.

    Attributes
    ----------
    pairwise : int or None
        Pairwise steps before the first factorisation; chosen by n when not given.
    block : int
        Pairwise steps in one iteration of the driver.
    support_limit : int
        Rows in F at most; F takes 8 bytes for each pair.
    """

    pairwise: int | None = None
    block: int = 50
    support_limit: int = 8000

    def __post_init__(self) -> None:
        if self.pairwise is not None and self.pairwise < 0:
            raise ValueError(f"pairwise is {self.pairwise}, but has to be at least 0")
        if self.block < 1 or self.support_limit < 1:
            raise ValueError("block and support_limit have to be at least 1")


@dataclass(frozen=True)
class PivotRule:
    """The rule that makes the changes of F end.

    Attributes
    ----------
    least : int or None
        The least number of violations so far.
    tries : int
        Block changes left without a smaller one.
    singles : int
        Single changes since the last smaller one.
    """

    least: int | None = None
    tries: int = TRIES
    singles: int = 0

    def after(self, violations: int) -> PivotRule:
        """Return the rule for the next change; a single one if `singles` is positive."""
        if self.least is None or violations < self.least:
            return PivotRule(violations)
        if self.tries:
            return replace(self, tries=self.tries - 1)
        return replace(self, singles=self.singles + 1)


@dataclass(frozen=True, eq=False)
class Proposal:
    """What one factorisation gave.

    Attributes
    ----------
    weights, image : ndarray, shape (n,)
        x, its negative entries included, and G x.
    resolved : bool
        Whether |x|_G owes little to rounding.
    simplex : ndarray, shape (n,), or None
        The positive part of x, scaled to sum 1.
    simplex_norm : float or None
        Its norm, where it has digits.
    """

    weights: FloatArray
    image: FloatArray
    resolved: bool
    simplex: FloatArray | None
    simplex_norm: float | None


@dataclass(frozen=True, eq=False)
class BlockPivotingState:
    """State after some steps.

    Attributes
    ----------
    pairwise : PairwiseState
        Where the pairwise steps are.
    inside : ndarray of bool, shape (n,)
        F; before the first pivot the support of the pairwise steps.
    centre : ndarray, shape (n,)
        c.
    wanted : int or None
        Pairwise steps in all after which to pivot; None: the support has too many rows for it.
    pivoting : bool
        Whether the next step is a pivot; pairwise steps otherwise.
    proposal : Proposal or None
        Of the last pivot; None after pairwise steps.
    rule : PivotRule
    shift, least_shift : float
        delta, and below what it is not lowered any more.
    centres, restarts, pivots, violations : int
        Centres, returns to pairwise steps and factorisations so far, and the violations of the last one.
    cut : int
        Changes in a row that the support limit has cut.
    exhausted : bool
    """

    pairwise: PairwiseState
    inside: BoolArray
    centre: FloatArray
    wanted: int | None
    pivoting: bool = False
    proposal: Proposal | None = None
    rule: PivotRule = PivotRule()
    shift: float = 0.0
    least_shift: float = 0.0
    centres: int = 0
    restarts: int = 0
    pivots: int = 0
    violations: int = 0
    cut: int = 0
    exhausted: bool = False


class BlockPrincipalPivoting(Algorithm[BlockPivotingOptions, BlockPivotingState]):
    """Pairwise steps, then one factorisation of the support an iteration."""

    name: ClassVar[str] = "block-principal-pivoting"

    def start(self, gram: GramOperator) -> BlockPivotingState:
        """Return all weight on the first row."""
        begin = first_vertex(gram)
        nothing = np.zeros(gram.count)
        state = BlockPivotingState(begin, begin.weights > 0.0, nothing, self._first(gram))
        return state if state.wanted else self._ready(state)

    def _first(self, gram: GramOperator) -> int:
        """Return the number of pairwise steps before the first factorisation."""
        given = self.options.pairwise
        return max(2 * self.options.block, gram.count // 16) if given is None else given

    def _ready(self, state: BlockPivotingState) -> BlockPivotingState:
        """Turn to pivoting when there were enough pairwise steps."""
        p = state.pairwise
        inside = p.weights > 0.0
        size = int(np.count_nonzero(inside))
        grown = size - int(np.count_nonzero(state.inside))
        found = p.optimal or (not state.restarts and grown < FOUND * self.options.block)
        if state.wanted is None or (p.steps < state.wanted and not found):
            return replace(state, inside=inside)
        if size > self.options.support_limit:
            return replace(state, wanted=None)
        least, square = ROUNDING * size, float(p.weights @ p.image)
        shift = max(least, ETA * RAISED**state.restarts * square)
        centre = p.weights / max(square, least) if state.restarts else state.centre
        return replace(state, pivoting=True, inside=inside, shift=shift, least_shift=least, centre=centre)

    def step(self, gram: GramOperator, state: BlockPivotingState) -> BlockPivotingState:
        """Take a block of pairwise steps, or pivot once."""
        if state.pivoting and self._affordable(gram.count, int(np.count_nonzero(state.inside))):
            return self._pivoted(gram, state)
        moved = pairwise_steps(gram, state.pairwise, self.options.block)
        state = replace(state, pairwise=moved, proposal=None)
        if state.pivoting or state.wanted is None:
            return replace(state, exhausted=moved.optimal)
        return self._ready(state)

    def _affordable(self, count: int, size: int) -> bool:
        """Say whether a pivot will most likely be done before the deadline."""
        control = self.control
        if control is None or control.deadline is None:
            return True
        return control.clock() + FACTOR_SECONDS * size**3 + VALUE_SECONDS * count * size < control.deadline

    def _pivoted(self, gram: GramOperator, state: BlockPivotingState) -> BlockPivotingState:
        index = np.flatnonzero(state.inside)
        block = SupportBlock(gram.block(index))
        if not block.factor(state.shift, LARGEST_SHIFT):
            return replace(state, exhausted=True)
        shift = block.shift
        x = block.solve(1.0 + shift * state.centre[index])
        image = gram.combine(index, x)
        weights = np.zeros(gram.count)
        weights[index] = x
        size = float(np.abs(x).sum())
        slack = image - 1.0 - shift * state.centre
        slack[index] = 0.0
        leaving = index[x < -LEAST_WEIGHT * float(np.abs(x).max())]
        entering = np.flatnonzero(slack < -max(VIOLATED, 16.0 * EPS * size))
        resolved = 4.0 * EPS * size**2 < RESOLVED * float(weights @ image)
        state = replace(
            state,
            proposal=Proposal(weights, image, resolved, *_positive_part(weights, index, block)),
            shift=shift,
            pivots=state.pivots + 1,
            violations=len(leaving) + len(entering),
        )
        if not state.violations:
            return _with_next_centre(state, np.maximum(weights, 0.0))
        return self._changed(gram, state, leaving, entering[np.argsort(slack[entering], kind="stable")])

    def _changed(
        self, gram: GramOperator, state: BlockPivotingState, leaving: IntArray, entering: IntArray
    ) -> BlockPivotingState:
        """Return the state with the next F; `entering` has the worst rows first."""
        inside, size = state.inside.copy(), int(np.count_nonzero(state.inside))
        rule, cut = state.rule.after(state.violations), state.cut
        limit = self.options.support_limit
        if rule.singles > STALLED:
            return self._restarted(gram, state)
        if rule.singles:
            last = int(np.concatenate([leaving, entering]).max())
            inside[last] = not inside[last]
        else:
            inside[leaving] = False
            room = int(max(LEAST_GROWTH, GROWTH * size))
            cut = cut + 1 if min(room, len(entering)) > limit - size + len(leaving) else 0
            inside[entering[: max(0, min(room, limit - size + len(leaving)))]] = True
        if int(np.count_nonzero(inside)) > limit or cut > CUTS:
            return replace(self._restarted(gram, state), wanted=None)
        return replace(state, inside=inside, rule=rule, cut=cut)

    def _restarted(self, gram: GramOperator, state: BlockPivotingState) -> BlockPivotingState:
        """Return to pairwise steps, from the better one of the two points."""
        if state.restarts >= RESTARTS:
            return replace(state, exhausted=True)
        proposal, pairwise = state.proposal, state.pairwise
        if proposal is not None and proposal.simplex is not None and proposal.simplex_norm is not None:
            square = float(pairwise.weights @ pairwise.image)
            if proposal.simplex_norm**2 < square:
                image = gram.times(proposal.simplex)
                pairwise = replace(pairwise, weights=proposal.simplex, image=image, optimal=False)
        wanted = pairwise.steps + self._first(gram) * 2**state.restarts
        return replace(
            state, pairwise=pairwise, pivoting=False, rule=PivotRule(), restarts=state.restarts + 1, wanted=wanted
        )

    def candidate(self, gram: GramOperator, state: BlockPivotingState) -> Candidate:
        """Propose x for the lower end and its positive part for the upper."""
        extra = {
            "steps": state.pairwise.steps,
            "pivots": state.pivots,
            "violations": state.violations,
            "shift": state.shift,
            "centres": state.centres,
        }
        found = state.proposal
        if found is None:
            other = pairwise_candidate(state.pairwise)
            return replace(other, exhausted=state.exhausted, extra={**extra, **other.extra})
        return Candidate(
            weights=found.weights if found.resolved else None,
            image=found.image if found.resolved else None,
            simplex=found.simplex,
            simplex_norm=found.simplex_norm,
            exhausted=state.exhausted,
            extra={**extra, "support": int(np.count_nonzero(found.weights))},
        )

    def refresh(self, gram: GramOperator, state: BlockPivotingState) -> BlockPivotingState:
        """Compute the image of the pairwise steps from scratch."""
        image = gram.times(state.pairwise.weights)
        return replace(state, pairwise=replace(state.pairwise, image=image, optimal=False))


def _with_next_centre(state: BlockPivotingState, solution: FloatArray) -> BlockPivotingState:
    """Move the centre to the solution of the shifted problem, and lower the shift."""
    step = solution - state.centre
    if state.centres >= CENTRES or float(np.abs(step).max()) <= SAME * float(solution.max(initial=0.0)):
        return replace(state, exhausted=True)
    centre, shift = solution, max(LOWERED * state.shift, min(state.shift, state.least_shift))
    if state.restarts:
        centre, shift = np.maximum(state.centre + RELAXED * step, 0.0), state.shift
    return replace(state, centre=centre, centres=state.centres + 1, shift=shift, rule=PivotRule())


def _positive_part(weights: FloatArray, index: IntArray, block: SupportBlock) -> tuple[FloatArray | None, float | None]:
    """Return the positive part of x as simplex weights, and its norm by the support's block."""
    simplex = np.maximum(weights, 0.0)
    total = float(simplex.sum())
    if not 0.0 < total < np.inf:
        return None, None
    simplex /= total
    square = float(simplex[index] @ block.times(simplex[index]))
    return simplex, float(np.sqrt(square)) if square > CANCELLED**2 else None
