r"""The point of least norm in the hull of all normalised rows, by rounds over a working set.

Source: Wolfe 1976; Lawson and Hanson 1974, chapter 23 (:mod:`sepcert.engine.active_set` is the method proper).

Iteration, from a random sample W of the rows::

    x = least point of conv{f_i : i in W},  p its weights            (active set)
    s = f_i'x for all rows                                           (one pass)
    W = W with the rows of least s_i < |x|^2 added

f_i are the normalised rows z_i/|z_i|, or vectors with the Gram matrix G.  |x| falls from round to round, because
the support stays and a row below the optimality condition comes in; so no support comes twice, and the rounds
end.  W keeps what it has, which saves passes, until it has more than 20 D + 500 rows; then the rows of least
s_i and the support stay.  Only W is copied.

Claims: with a = p both ends of the bracket: the separator of maximum margin, or a witness.

Bound: finitely many steps; how many has no useful bound.

| symbol | field |
|---|---|
| W | `working` |
| x, p on W | `solution.point`, `solution.weights` |
| s | `image` |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sepcert.engine.active_set import MinNormPoint, MinNormSolution
from sepcert.engine.gram import GramOperator
from sepcert.engine.passes import worst_rows
from sepcert.engine.protocol import Algorithm, Candidate
from sepcert.problem import FloatArray, IntArray

OPTIMAL = 1e-11
"""A row is below the optimality condition when s_i < |x|^2 (1 - this), less rounding."""
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class MinNormPointOptions:
    """Options of the rounds.

    Attributes
    ----------
    sample : int or None
        Rows in the first working set; 4 D + 50 when not given.
    batch : int or None
        Rows added in a round, at most; 3 (2 D + 50) when not given: a pass costs more than a larger active set.
    seed : int
        Of the sample.
    enough : int or None
        From this many rounds on the first separator is enough; None: go on to the largest margin.
    """

    sample: int | None = None
    batch: int | None = None
    seed: int = 0
    enough: int | None = None


@dataclass(eq=False)
class MinNormPointState:
    """State after some rounds.

    Attributes
    ----------
    hull : MinNormPoint
        The rows of W and their active set.
    working : ndarray of int64, shape (m,)
    solution : MinNormSolution
    image : ndarray, shape (n,), or None
        None where x cannot be told from 0: a pass would tell nothing.
    entering : ndarray of int64
        Rows that the next round adds, the worst first; none when x is optimal, or good enough.
    rounds : int
    """

    hull: MinNormPoint
    working: IntArray
    solution: MinNormSolution
    image: FloatArray | None
    entering: IntArray
    rounds: int


class MinNormPointRounds(Algorithm[MinNormPointOptions, MinNormPointState]):
    """Working-set rounds over an active-set method; one pass a round."""

    name: ClassVar[str] = "min-norm-point"

    def start(self, gram: GramOperator) -> MinNormPointState:
        """Solve the sample and look at all rows."""
        n = gram.count
        size = min(n, self.options.sample or 4 * gram.feature_dimension + 50)
        generator = np.random.default_rng(self.options.seed)
        working = np.sort(generator.choice(n, size, replace=False, shuffle=False))
        return self._solved(gram, MinNormPoint(gram.features(working)), working, 1)

    def step(self, gram: GramOperator, state: MinNormPointState) -> MinNormPointState:
        """Add the worst rows to the working set, solve, and look at all rows."""
        if state.image is None or not len(state.entering):
            return state
        working = state.working
        if len(working) + len(state.entering) > 20 * gram.feature_dimension + 500:
            near = worst_rows(state.image[working], 10 * gram.feature_dimension, np.inf)
            kept = np.union1d(near, state.solution.support)
            state.hull.keep(kept)
            working = working[kept]
        state.hull.append(gram.features(state.entering))
        working = np.concatenate([working, state.entering])
        return self._solved(gram, state.hull, working, state.rounds + 1, before=state.solution.norm)

    def _solved(
        self, gram: GramOperator, hull: MinNormPoint, working: IntArray, rounds: int, before: float = np.inf
    ) -> MinNormPointState:
        solution = hull.solve()
        entering = np.empty(0, dtype=np.int64)
        if solution.contains_origin:
            return MinNormPointState(hull, working, solution, None, entering, rounds)
        image = gram.image_of(solution.point)
        enough = self.options.enough is not None and rounds >= self.options.enough and float(image.min()) > 0.0
        if solution.norm < before and not enough:
            below = solution.norm**2 * (1.0 - OPTIMAL) - 8.0 * EPS * solution.norm
            batch = self.options.batch or 3 * (2 * gram.feature_dimension + 50)
            masked = image.copy()
            masked[working] = np.inf
            entering = worst_rows(masked, batch, below)
        return MinNormPointState(hull, working, solution, image, entering, rounds)

    def candidate(self, gram: GramOperator, state: MinNormPointState) -> Candidate:
        """Propose p for both ends."""
        weights = np.zeros(gram.count)
        support = state.solution.support
        weights[state.working[support]] = state.solution.weights[support]
        extra: dict[str, object] = {"working_set": len(state.working), "support": len(support)}
        if state.image is None:
            return Candidate(simplex=weights, simplex_norm=state.solution.norm, exhausted=True, extra=extra)
        return Candidate(
            weights=weights,
            image=state.image,
            norm=state.solution.norm,
            direction=state.solution.point,
            simplex=weights,
            simplex_norm=state.solution.norm,
            step=float(state.solution.iterations),
            fresh=True,
            exhausted=not len(state.entering),
            extra=extra,
        )
