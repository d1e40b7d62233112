"""Complete, quasi-complete or overlapping: facial reduction to a strictly complementary pair (w, p).

Goldman and Tucker: there are w and p >= 0 with sum p_i z_i = 0 such that every row has either z_i'w > 0 and p_i = 0,
or z_i'w = 0 and p_i > 0.  While a witness exists, w is restricted to the null space of its rows and the rows that
vanish there join N; it ends when the rest has a strict separator or nothing is left, after at most D rounds.
N empty: complete; N all rows: overlap; else quasi-complete (Albert and Anderson 1984).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from sepcert.exact.decide import Deadline, Proposer, decide
from sepcert.exact.duplicates import conflicting_pairs, pair_weights
from sepcert.exact.face import Face
from sepcert.exact.linear_algebra import combination, independent, null_space
from sepcert.problem import IntArray
from sepcert.status import Separation
from sepcert.verify.combination import combine
from sepcert.verify.rows import SignedRows
from sepcert.verify.signs import signs

Weights = dict[int, Fraction]


@dataclass(frozen=True)
class Partition:
    """What facial reduction found.

    Attributes
    ----------
    separation : Separation or None
        None: it was stopped before the trichotomy was decided.
    separator : list of int or None
        w in R^D (a positive multiple of it): strict on all rows (complete) or on those outside N (quasi-complete).
    witness : dict of int to Fraction or None
        p over the raw rows: positive on all of N (quasi-complete), or on rows that span all rows (overlap).
    conflict : dict of int to Fraction or None
        The first witness found: minimal, every proper subset of its rows is separable.
    implicit : tuple of int, or None
        In place of `witness`: D + 1 rows in general position that carry a unique positive one.
    """

    separation: Separation | None
    separator: list[int] | None = None
    witness: Weights | None = None
    conflict: Weights | None = None
    implicit: tuple[int, ...] | None = None
    notes: tuple[str, ...] = field(default=())


class _Reduction:
    """The state of facial reduction.

    `witness` is exact and positive on its rows; `spanning` are independent rows among them with the same span, and
    `base` is a basis of the null space of that span (None: no witness yet).  `members` are the rows still open,
    `vanished` those found to be zero in the subspace, `conflict` is the first witness, which is minimal.
    """

    def __init__(self, rows: SignedRows) -> None:
        self.rows = rows
        self.witness: Weights = {}
        self.conflict: Weights | None = None
        self.spanning: list[int] = []
        self.base: list[list[int]] | None = None
        self.members: IntArray = np.arange(rows.count)
        self.vanished: list[int] = []
        self.notes: list[str] = []

    def drop_vanishing(self) -> None:
        """Move the members that are zero in the present subspace into N."""
        if self.base is None:
            if self.rows.problem.bias:
                return
            nothing = ~self.rows.problem.points.values.any(axis=1)
            suspects = np.flatnonzero(nothing)
            self.rows.fetch(suspects.tolist())
            zero = [i for i in suspects.tolist() if not any(self.rows.integers(i)[0])]
        else:
            open_rows = self.members
            for vector in self.base:
                open_rows = open_rows[signs(self.rows, [Fraction(v) for v in vector], open_rows) == 0]
            zero = open_rows.tolist()
        if zero:
            self.vanished += zero
            self.members = np.setdiff1d(self.members, zero, assume_unique=True)
        if self.base is None and zero:
            self.witness = {i: Fraction(1) for i in zero}
            self.conflict = {zero[0]: Fraction(1)}

    def add(self, found: Weights) -> None:
        """Merge a witness of the face into the exact one and restrict the subspace."""
        if self.conflict is None:
            self.conflict = found
        self.witness = _merged(self.rows, found, self.witness, self.spanning)
        names = sorted(set(self.spanning) | set(found))
        kept = independent([self.rows.integers(i)[0] for i in names])
        self.spanning = [names[k] for k in kept]
        self.base = null_space([self.rows.integers(i)[0] for i in self.spanning], self.rows.dimension)

    def add_duplicates(self) -> None:
        """Add the points that occur with both labels, as many as widen the span of the witness."""
        pairs = dict(conflicting_pairs(self.rows))
        left = np.array(sorted(pairs), dtype=np.int64)
        while self.base and len(left):
            for vector in self.base:
                outside = left[signs(self.rows, [Fraction(v) for v in vector], left) != 0]
                if len(outside):
                    break
            else:
                return
            chosen = outside[:: max(1, len(outside) // (4 * self.rows.dimension))].tolist()
            self.rows.fetch(chosen)
            names = [*self.spanning, *chosen]
            wider = {names[k] for k in independent([self.rows.integers(i)[0] for i in names])}
            self.add(pair_weights([(i, pairs[i]) for i in chosen if i in wider]))
            left = np.setdiff1d(left, list(wider), assume_unique=True)

    def finish(self, separator: list[int] | None) -> Partition:
        """Say which of the three it is, with the evidence."""
        notes = tuple(self.notes)
        if separator is not None and not self.witness:
            return Partition(Separation.COMPLETE, separator, notes=notes)
        if separator is None:
            return Partition(Separation.OVERLAP, None, self.witness, self.conflict, notes=notes)
        rest = sorted(set(self.vanished) - self.witness.keys())
        pair = _extended(self.rows, self.witness, self.spanning, rest)
        return Partition(Separation.QUASI_COMPLETE, separator, pair, self.conflict, notes=notes)


def partition(rows: SignedRows, propose: Proposer, deadline: Deadline, alone: bool = False) -> Partition:
    """Decide the trichotomy for the raw rows.

    Parameters
    ----------
    rows : SignedRows
    propose : callable
        Face -> proposals, best first; the floating-point search.
    deadline : Deadline
    alone : bool
        Only promote what is proposed for all rows; see :func:`sepcert.exact.decide.decide`.

    Returns
    -------
    Partition
        With `separation` None where the deadline came first; a witness found by then is kept.
    """
    state = _Reduction(rows)
    state.drop_vanishing()
    while True:
        if not len(state.members) or state.base == []:
            return state.finish(None)
        face = Face(rows, state.members, state.base)
        answer = decide(face, propose, deadline, alone and state.base is None)
        state.notes += answer.notes
        if answer.implicit is not None:
            return Partition(Separation.OVERLAP, implicit=answer.implicit, notes=tuple(state.notes))
        if answer.separator is not None:
            return state.finish(answer.separator)
        if answer.witness is None:
            found = state.witness or None
            return Partition(None, None, found, state.conflict, notes=tuple(state.notes))
        first = state.base is None
        state.add(answer.witness)
        if first and state.base:
            state.add_duplicates()
        if state.base:
            state.drop_vanishing()


def _coefficients(rows: SignedRows, spanning: Sequence[int], target: Sequence[Fraction]) -> Weights:
    """Write `target` as a combination of the independent rows `spanning`, in whose span it lies."""
    exact = [rows.integers(i) for i in spanning]
    found = combination([numerators for numerators, _ in exact], target)
    if found is None:
        raise ArithmeticError("a vector is not in the span that contains it")
    return {i: c * denominator for i, c, (_, denominator) in zip(spanning, found, exact, strict=True)}


def _merged(rows: SignedRows, found: Weights, present: Weights, spanning: Sequence[int]) -> Weights:
    """Return an exact witness on the rows of both: found + m present + delta, delta on `spanning`, m large."""
    if not present or not spanning:
        return {**present, **found}
    residual = combine(rows, list(found), list(found.values()))
    delta = _coefficients(rows, spanning, [-r for r in residual])
    multiple = max([Fraction(1), *(-2 * d / present[i] for i, d in delta.items())])
    merged = {i: multiple * p for i, p in present.items()}
    for part in (found, delta):
        for i, value in part.items():
            merged[i] = merged.get(i, Fraction(0)) + value
    return merged


def _extended(rows: SignedRows, present: Weights, spanning: Sequence[int], rest: Sequence[int]) -> Weights:
    """Return an exact witness that is also positive on `rest`, rows in the span: a small equal weight on each."""
    if not rest:
        return present
    if not spanning:
        return {**present, **dict.fromkeys(rest, Fraction(1))}
    residual = combine(rows, rest, [Fraction(1)] * len(rest))
    delta = _coefficients(rows, spanning, [-r for r in residual])
    small = min([Fraction(1), *(present[i] / (-2 * d) for i, d in delta.items() if d < 0)])
    if small < 1:
        small = Fraction(1, 1 << (small.denominator // small.numerator).bit_length())
    extended = {i: p + small * delta.get(i, Fraction(0)) for i, p in present.items()}
    extended.update(dict.fromkeys(rest, small))
    return extended
