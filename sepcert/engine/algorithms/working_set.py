r"""Working set, min-norm point and passes over the rows: what `auto` runs on tall data.

A cutting-plane method for the hard-margin problem.  With f_i = z_i/|z_i| (f_i'f_j = G_ij), keep a small set W of rows:

    x_k = argmin { |x| : x in conv{f_i : i in W_k} },     s_i = f_i'x_k / |x_k|  for all i (one pass)
    W_{k+1} = W_k and the worst rows with s_i < |x_k|

Weights p on W with x_k = sum p_i f_i are simplex weights on all rows, so that |x_k| is an upper end of the margin in
every round and min s a lower end.  x_k = 0 proposes a witness on at most D + 1 rows, often before the first pass
(Cover 1965: 2D random points are inseparable half of the time).  |x_k| falls in every round that adds a row below it,
so the method ends at the maximal margin after finitely many rounds; seven to nine are usual.

| symbol | field |
|---|---|
| W | `State.working` |
| p on W, x | `State.solution` |
| s | `State.products` |

References
----------
The finite problem is :mod:`sepcert.engine.active_set`.  J. E. Kelley, The cutting-plane method for solving convex
programs, J. SIAM 8 (1960).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sepcert.engine.active_set import MinNormPoint, MinNormSolution
from sepcert.engine.gram import GramOperator
from sepcert.engine.protocol import Algorithm, Candidate
from sepcert.problem import FloatArray, IntArray


@dataclass(frozen=True)
class Options:
    """How the working set grows.

    Attributes
    ----------
    seed : int
        Of the first sample, 4 D + 50 rows.
    batch : int or None
        Rows let in at once; None: 3 (2 D + 50).
    enough : int or None
        From this many passes on, the first separator is enough; None: go on to the maximal margin.
    largest : int
        Above this size only the support is kept before rows are let in.
    """

    seed: int = 0
    batch: int | None = None
    enough: int | None = None
    largest: int = 20_000


@dataclass(eq=False)
class State:
    """Where the method stands.

    Attributes
    ----------
    working : ndarray of int64, shape (m,)
        W.
    solver : MinNormPoint
        On the rows f_i of W, in that order.
    solution : MinNormSolution
    products : ndarray of float64, shape (n,), or None
        s; None where x is 0.
    rounds : int
    exhausted : bool
        No row outside W is below the margin of W, or a separator is enough.
    """

    working: IntArray
    solver: MinNormPoint
    solution: MinNormSolution
    products: FloatArray | None
    rounds: int = 1
    exhausted: bool = False


class WorkingSet(Algorithm[Options, State]):
    """The method; see the module."""

    name: ClassVar[str] = "working-set"

    def start(self, gram: GramOperator) -> State:
        """Solve on a random sample, and pass over the rows."""
        wanted = 4 * gram.feature_dimension + 50
        if gram.count <= wanted:
            sample = np.arange(gram.count)
        else:
            generator = np.random.default_rng(self.options.seed)
            sample = np.sort(generator.choice(gram.count, wanted, replace=False, shuffle=False))
        solver = MinNormPoint(gram.features(sample))
        return self._look(gram, State(sample, solver, solver.solve(), None))

    def step(self, gram: GramOperator, state: State) -> State:
        """Let the worst rows into W, solve, and pass over the rows."""
        new = self._violators(gram, state)
        if not len(new):
            state.exhausted = True
            return state
        if len(state.working) > max(self.options.largest, 10 * gram.feature_dimension):
            state.solver.keep(state.solution.support)
            state.working = state.working[state.solution.support]
        state.solver.append(gram.features(new))
        state.working = np.concatenate([state.working, new])
        state.solution = state.solver.solve()
        state.rounds += 1
        return self._look(gram, state)

    def candidate(self, gram: GramOperator, state: State) -> Candidate:
        """Propose x as a separator and p as simplex weights."""
        solution = state.solution
        simplex = np.zeros(gram.count)
        simplex[state.working] = solution.weights
        extra = {"working": len(state.working), "support": len(solution.support)}
        if state.products is None:
            return Candidate(simplex=simplex, simplex_norm=solution.norm, exhausted=True, extra=extra)
        return Candidate(
            weights=simplex,
            image=state.products,
            norm=1.0,
            direction=solution.point / solution.norm,
            simplex=simplex,
            simplex_norm=solution.norm,
            exhausted=state.exhausted,
            extra=extra,
        )

    def _look(self, gram: GramOperator, state: State) -> State:
        """Make a pass with the direction of x, unless x cannot be told from 0."""
        solution = state.solution
        if solution.contains_origin:
            state.products = None
            return state
        state.products = gram.image_of(solution.point / solution.norm)
        enough = self.options.enough
        if enough is not None and state.rounds >= enough and state.products.min() > 0:
            state.exhausted = True
        return state

    def _violators(self, gram: GramOperator, state: State) -> IntArray:
        """Return the rows outside W that are farthest below the margin of W."""
        if state.products is None:
            return np.empty(0, dtype=np.int64)
        batch = self.options.batch or 3 * (2 * gram.feature_dimension + 50)
        found = np.flatnonzero(state.products < state.solution.norm * (1 - 1e-9))
        if len(found) > batch:
            found = found[np.argpartition(state.products[found], batch)[:batch]]
        return np.setdiff1d(found, state.working)
