"""Decide one face exactly: a strict separator or a minimal witness, from a float proposal where that is good enough.

The order: the proposed direction is checked over all rows; the proposed support is solved exactly for its weights; rows
that are nearly a witness are decided apart from the others; the exact simplex settles what is left, starting from
the proposed rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from sepcert.exact.face import Face
from sepcert.exact.linear_algebra import independent, null_space, primitive
from sepcert.exact.simplex import separate
from sepcert.problem import FloatArray
from sepcert.verify.positive_solution import has_positive_solution
from sepcert.verify.signs import signs

IMPLICIT_FROM = 100
"""From this dimension on a witness on D + 1 rows is stated by its rows alone: its weights would be long."""


@dataclass(frozen=True)
class Proposal:
    """What floating point believes about a face; nothing here is trusted.

    Attributes
    ----------
    direction : ndarray of float64, shape (q,), or None
        A separator in the coordinates of :meth:`sepcert.exact.face.Face.floats`.
    support : tuple of int
        Rows (indices of the problem) that may carry a witness, or hold the margin.
    exact : tuple of int or None
        A separator in the exact coordinates of the face, in place of `direction`.
    """

    direction: FloatArray | None = None
    support: tuple[int, ...] = ()
    exact: tuple[int, ...] | None = None


Proposer = Callable[[Face], Iterable[Proposal]]
"""Proposals for a face, best first; the next one is asked for only when the one before has failed."""


@dataclass(frozen=True)
class FaceAnswer:
    """The exact answer about a face; all None: stopped, or nothing was proved.

    Attributes
    ----------
    separator : list of int or None
        w in R^D with z_i'w > 0 for every member.
    witness : dict of int to Fraction or None
        Row -> p_i > 0 over the raw rows, with sum p_i z_i orthogonal to the face's subspace; minimal.
    implicit : tuple of int, or None
        D + 1 rows that carry a unique positive witness, proved without computing it; only for a face of all of R^D.
    """

    separator: list[int] | None = None
    witness: dict[int, Fraction] | None = None
    implicit: tuple[int, ...] | None = None
    notes: tuple[str, ...] = field(default=())


@dataclass
class Deadline:
    """When to stop: at a moment of the monotonic clock (None: never), or when somebody has said so."""

    at: float | None = None
    stopped: bool = False

    def passed(self) -> bool:
        """Whether it is time to stop."""
        return self.stopped or (self.at is not None and time.monotonic() >= self.at)


def decide(face: Face, propose: Proposer, deadline: Deadline, alone: bool = False) -> FaceAnswer:
    """Return an exact separator or witness of a face with at least one member, none of them zero in it.

    Parameters
    ----------
    face : Face
    propose : callable
    deadline : Deadline
    alone : bool
        Only promote what was proposed: the exact simplex then looks at the proposed rows, not at all members.
    """
    hints: list[int] = []
    nearly: list[tuple[int, ...]] = []
    for proposal in propose(face):
        weights = _proposed_weights(face, proposal)
        if weights is not None and any(weights) and not len(face.violators(weights)):
            return FaceAnswer(separator=weights, notes=("the proposed direction separates",))
        found = _promoted(face, proposal.support)
        if found is not None:
            return found
        hints += proposal.support
        if weights is None and proposal.support:
            nearly.append(proposal.support)
        if deadline.passed():
            return FaceAnswer(notes=("stopped before the exact simplex",))
    if not alone:
        tilted = _tilted(face, min(nearly, key=len), propose, deadline) if nearly else None
        return tilted if tilted is not None else _by_simplex(face, hints, deadline)
    if not hints:
        return FaceAnswer(notes=("nothing was proposed",))
    among = _by_simplex(Face(face.rows, np.array(sorted(set(hints))), face.base), hints, deadline)
    if among.witness is not None:
        return among
    return FaceAnswer(notes=("the proposed rows carry no exact witness",))


def _tilted(face: Face, support: Sequence[int], propose: Proposer, deadline: Deadline) -> FaceAnswer | None:
    """Decide rows that nearly carry a witness and all others apart, and put both separators together.

    For rows S whose span is not everything: let u separate the rows in span(S), and w separate the others from within
    the orthogonal complement of span(S).  Then M w + u separates all for a large M.  A witness of the rows in span(S)
    is one; a witness of the others decides nothing (None).
    """
    if not 0 < len(support) < min(len(face.members), face.dimension + 1):
        return None
    kept = [support[k] for k in independent([face.reduced(i) for i in support])]
    if len(kept) >= face.dimension:
        return None
    across = [face.lift(v) for v in null_space([face.reduced(i) for i in kept], face.dimension)]
    inside = face.members
    for vector in across:
        inside = inside[signs(face.rows, [Fraction(v) for v in vector], inside) == 0]
    others = np.setdiff1d(face.members, inside, assume_unique=True)
    along = Face(face.rows, inside, [face.lift(face.reduced(i)) for i in kept])
    near = _by_simplex(along, [i for i in support if i in set(inside.tolist())], deadline)
    if near.separator is None or not len(others):
        return None if near.separator is None and near.witness is None else near
    far = decide(Face(face.rows, others, across), propose, deadline)
    if far.separator is None:
        return None
    weights = _mixed(face, near.separator, far.separator)
    if weights is None:
        return None
    note = f"a separator tilted by {len(kept)} rows that were nearly a witness"
    return FaceAnswer(separator=weights, notes=(*far.notes, note))


def _mixed(face: Face, near: Sequence[int], far: Sequence[int]) -> list[int] | None:
    """Return 2**k far + near for nearly the least k that separates all members, or None."""
    level = max(v.bit_length() for v in near) - max(v.bit_length() for v in far)
    for step in (0, 8, 16, 32, 64, 128, 256, 512, 1024, 2048):
        up, down = max(level + step, 0), max(-(level + step), 0)
        weights = primitive([(b << up) + (a << down) for a, b in zip(near, far, strict=True)])
        if not len(face.violators(weights)):
            return weights
    return None


def _proposed_weights(face: Face, proposal: Proposal) -> list[int] | None:
    if proposal.exact is not None:
        return face.lift(proposal.exact)
    return None if proposal.direction is None else face.scaled_base(proposal.direction)


def _promoted(face: Face, support: Sequence[int]) -> FaceAnswer | None:
    """Return the witness on the proposed support: implicit where an explicit one would be long."""
    square = face.base is None and len(support) == face.dimension + 1
    if square and face.dimension >= IMPLICIT_FROM:
        proved, how = has_positive_solution(face.rows, tuple(sorted(support)))
        if proved:
            return FaceAnswer(
                implicit=tuple(sorted(support)), notes=(f"the proposed support carries a witness ({how})",)
            )
    witness = support_witness(face, support)
    return None if witness is None else FaceAnswer(witness=witness, notes=("the proposed support carries a witness",))


def support_witness(face: Face, support: Sequence[int]) -> dict[int, Fraction] | None:
    """Return the witness on the given rows if it is unique up to scale and of one sign; else None."""
    if not support or len(support) > face.dimension + 1:
        return None
    face.rows.fetch(support)
    exact = [face.integers(i) for i in support]
    columns = [list(column) for column in zip(*(row for row, _ in exact), strict=True)]
    kernel = null_space(columns, len(support))
    if len(kernel) != 1:
        return None
    vector = kernel[0]
    if min(vector) < 0 < max(vector):
        return None
    return {i: abs(v) * k for i, v, (_, k) in zip(support, vector, exact, strict=True) if v}


def _by_simplex(face: Face, hints: Sequence[int], deadline: Deadline) -> FaceAnswer:
    """Run the exact simplex over all members, entering proposed rows first while they are violated."""
    preferred = list(dict.fromkeys(hints))[: 4 * (face.dimension + 1)]
    face.rows.fetch(preferred)

    def violated(weights: list[int]) -> int | None:
        worst: tuple[float, int] | None = None
        for i in preferred:
            row = face.reduced(i)
            value = sum(a * b for a, b in zip(row, weights, strict=True) if a and b)
            if value <= 0:
                size = sum(abs(a * b) for a, b in zip(row, weights, strict=True) if a and b) or 1
                relative = value / size
                if worst is None or relative < worst[0]:
                    worst = (relative, i)
        return worst[1] if worst is not None else face.worst(face.lift(weights))

    first = preferred[0] if preferred else int(face.members[0])
    answer = separate(face.reduced, violated, first, face.costs(), deadline.passed)
    note = (f"exact simplex, {answer.pivots} pivots",)
    if answer.separator is not None:
        return FaceAnswer(separator=face.lift(answer.separator), notes=note)
    if answer.witness is not None:
        return FaceAnswer(witness={i: v * face.integers(i)[1] for i, v in answer.witness.items()}, notes=note)
    return FaceAnswer(notes=(f"exact simplex stopped after {answer.pivots} pivots",))
