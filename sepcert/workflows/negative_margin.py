r"""Proposals for the bracket on a negative margin, by linear programs over the polar body of the hull.

Let b_i in R^r be the rows z_i / s_i in an orthonormal basis of their span.  The hull of the b_i contains a ball of
radius t around 0 iff |w| <= 1/t for every w of the polar body P = {w : b_i'w >= -1}: the longest vector of P has length
1/|rho|.  To find it is NP-hard.

* Outer radius: any w in P gives |rho| <= 1/|w|.  Climb: replace w by a maximiser of w'x over x in P, which is not
  shorter, until nothing changes.
* Inner radius: P lies in the box |v_k'w| <= M_k of an orthonormal basis v_1..v_r, M_k = max over P of +-v_k'w (two
  linear programs each), so |rho| >= 1/sqrt(sum M_k**2).  Strong duality writes v_k and -v_k as sum q_i z_i with
  q >= 0 and sum q_i s_i <= M_k: what the certificate holds (:mod:`sepcert.verify.ball`).  Several bases are tried, for
  the box depends on it.

The programs see a working set; after each all rows are looked at, and the violated ones come in.  Multipliers on a
working set are multipliers, so every round proves something.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sepcert.certificate.model import Ball, Combination
from sepcert.engine.passes import worst_rows
from sepcert.engine.rows import FloatRows
from sepcert.exact.decide import Deadline
from sepcert.exact.evidence import combination, separator_from_direction, spanning_rows
from sepcert.exact.linear_algebra import combination as coefficients
from sepcert.problem import FloatArray, IntArray
from sepcert.verify.ball import inner_radius, outer_radius
from sepcert.verify.quotients import Geometry
from sepcert.verify.rows import SignedRows
from sepcert.verify.signs import common_integers
from sepcert.workflows.programs import cheapest_combination, column_scale

LARGEST_RANK = 200
"""Two programs a dimension and a certificate of r**2 numbers: beyond this rank none is looked for."""
SEVERAL_BASES = 10
TURNS = 8
ROUNDS = 60
FEW_CLIMBS, CLIMBS = 3, 12
STEPS = 30
_TOLERATED = 1e-9

Multipliers = dict[int, float]


@dataclass(frozen=True, eq=False)
class Support:
    """The optimum of a linear function over the polar body.

    Attributes
    ----------
    point : ndarray, shape (r,)
        In P, to rounding.
    multipliers : dict of int to float
        q >= 0 with sum q_i z_i the negative of the function, nearly.
    extent : float
        sum q_i s_i.
    """

    point: FloatArray
    multipliers: Multipliers
    extent: float


class PolarBody:
    """P = {w : b_i'w >= -1} through a working set.

    Parameters
    ----------
    rows : FloatRows
    sizes : ndarray, shape (n,)
        s_i > 0.
    rank : int
        r, exact.
    working : ndarray of int64
        Rows whose hull has 0 in its relative interior, so that the programs are bounded.
    deadline : Deadline
    """

    def __init__(self, rows: FloatRows, sizes: FloatArray, rank: int, working: IntArray, deadline: Deadline) -> None:
        self.rows, self.sizes, self.rank, self.deadline = rows, sizes, rank, deadline
        self.working = working
        block = self._normalised(working)
        self.basis: FloatArray = np.asarray(np.linalg.svd(block, full_matrices=True)[2][:rank].T)
        self.block: FloatArray = np.asarray(block @ self.basis)
        self.passes = 0
        self.longest: FloatArray | None = None

    def _normalised(self, index: IntArray) -> FloatArray:
        return self.rows.take(index) / self.sizes[index, None]

    def support(self, function: FloatArray) -> Support | None:
        """Maximise function'w over P; None where that did not succeed in time.

        Rows that were tight stay in the working set for the next function, the others that came in go again.
        """
        working: IntArray = self.working
        block: FloatArray = self.block
        found: Support | None = None
        tight = np.zeros(len(working), dtype=bool)
        for _ in range(ROUNDS):
            solved = self._solve(block, function)
            if solved is None:
                break
            point, prices = solved
            tight = prices > 0
            found = self._support(working[tight], block[tight], prices[tight], point, function)
            products = self.rows.products(self.basis @ point) / self.sizes
            self.passes += 1
            products[working] = np.inf
            entering = worst_rows(products, 2 * self.rank + 50, -1.0 - _TOLERATED)
            if not len(entering):
                if self.longest is None or _length(point) > _length(self.longest):
                    self.longest = point
                break
            working = np.concatenate([working, entering])
            block = np.concatenate([block, np.asarray(self._normalised(entering) @ self.basis)])
        kept = len(self.working) + np.flatnonzero(tight[len(self.working) :])
        self.working = np.concatenate([self.working, working[kept]])
        self.block = np.asarray(np.concatenate([self.block, block[kept]]))
        return found

    def _solve(self, block: FloatArray, function: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        scale = column_scale(block)
        target = -function * scale
        unit = float(np.abs(target).max())
        solved = cheapest_combination(np.ones(len(block)), block * scale, target / unit, self.deadline)
        return None if solved is None else (-solved[1] * scale, solved[0] * unit)

    def _support(
        self, rows: IntArray, block: FloatArray, q: FloatArray, point: FloatArray, function: FloatArray
    ) -> Support:
        """Sharpen the multipliers: on their rows the equations sum q_i b_i = -function are solved again."""
        again: FloatArray = np.asarray(np.linalg.lstsq(block.T, -function, rcond=None)[0], dtype=np.float64)
        if (again > 0).all():
            before, after = (float(np.linalg.norm(values @ block + function)) for values in (q, again))
            q = again if after <= before else q
        values = zip(rows.tolist(), (q / self.sizes[rows]).tolist(), strict=True)
        return Support(point, {i: v for i, v in values if 0 < v < np.inf}, float(q.sum()))


@dataclass(frozen=True, eq=False)
class _Box:
    """The two programs of each direction of a basis."""

    basis: FloatArray
    forward: list[Support]
    backward: list[Support]

    @property
    def half_diagonal(self) -> float:
        pairs = zip(self.forward, self.backward, strict=True)
        return float(np.sqrt(sum(max(one.extent, other.extent) ** 2 for one, other in pairs)))


@dataclass(frozen=True)
class NegativeMargin:
    """What was found for overlapping rows; where `ball` is None, `why`, and perhaps the outer end alone."""

    ball: Ball | None
    why: str = ""
    passes: int = 0
    outer: tuple[float, Combination] | None = None


def negative_margin(
    rows: SignedRows, floats: FloatRows, witness: Sequence[int], geometry: Geometry, deadline: Deadline, seed: int
) -> NegativeMargin:
    """Bracket the margin of rows that are known to overlap; both radii are proved.

    Parameters
    ----------
    rows : SignedRows
    floats : FloatRows
        The same rows.
    witness : sequence of int
        Rows with positive weights that add up to zero, and that span all rows.
    geometry : Geometry
        NORMALISED or RAW.
    deadline : Deadline
    seed : int
        Of the first working set.
    """
    spanning = spanning_rows(rows, witness)
    rank = len(spanning)
    if rank > LARGEST_RANK:
        return NegativeMargin(None, f"the rows have rank {rank}; a ball is looked for up to rank {LARGEST_RANK}")
    sizes = np.ones(rows.count) if geometry is Geometry.RAW else floats.norms()
    sizes[sizes == 0.0] = 1.0
    sample = min(rows.count, 2 * rank + 50)
    random = np.random.default_rng(seed)
    drawn = random.choice(rows.count, sample, replace=False, shuffle=False)
    body = PolarBody(floats, sizes, rank, np.union1d(np.array([*witness, *spanning]), drawn), deadline)
    boxes = _boxes(body)
    if not boxes:
        alphas = [] if body.longest is None else _alphas(body, [body.longest], spanning)
        best = min(((outer_radius(rows, one, geometry), one) for one in alphas), key=_first, default=None)
        return NegativeMargin(None, "the linear programs were not solved within the limits", body.passes, best)
    longest = _longest(body, boxes, random)
    outer = [(outer_radius(rows, alpha, geometry), alpha) for alpha in _alphas(body, longest[:3], spanning)]
    if not outer or min(outer, key=_first)[0] * _length(longest[0]) > 1 + 1e-6:
        alpha = _exact_alpha(rows, body, longest[0], spanning)
        outer.append((outer_radius(rows, alpha, geometry), alpha))
    box = min(boxes, key=lambda one: one.half_diagonal)
    forward, backward = (tuple(_exact(one.multipliers) for one in side) for side in (box.forward, box.backward))
    inner = inner_radius(rows, forward, backward, geometry)
    if not inner > 0:
        sharp = [_sharpened(rows, body, side, sign, box.basis) for side, sign in ((forward, 1), (backward, -1))]
        if sharp[0] is not None and sharp[1] is not None:
            forward, backward = sharp[0], sharp[1]
            inner = inner_radius(rows, forward, backward, geometry)
    if not outer or not 0 < inner <= min(outer, key=_first)[0]:
        why = "rounding spoils the combinations that would prove a radius"
        return NegativeMargin(None, why, body.passes, min(outer, key=_first, default=None))
    radius, alpha = min(outer, key=_first)
    return NegativeMargin(Ball(inner, radius, alpha, forward, backward), passes=body.passes)


def _sharpened(
    rows: SignedRows, body: PolarBody, side: Sequence[Combination], sign: int, basis: FloatArray
) -> tuple[Combination, ...] | None:
    """Solve for the multipliers of a side again, exactly and on the same rows; None where one is not positive."""
    found = []
    for one, vector in zip(side, basis, strict=True):
        target = [sign * Fraction(float(v)) for v in body.basis @ vector]
        exact = [rows.integers(i) for i in one.rows]
        solved = coefficients([numerators for numerators, _ in exact], target)
        if solved is None or min(solved) <= 0:
            return None
        values = {i: c * scale for i, c, (_, scale) in zip(one.rows, solved, exact, strict=True)}
        found.append(combination(values))
    return tuple(found)


def _exact(multipliers: Multipliers) -> Combination:
    return combination({i: Fraction(q) for i, q in multipliers.items()})


def _boxes(body: PolarBody) -> list[_Box]:
    """Solve the programs of one basis after another."""
    boxes: list[_Box] = []
    for basis in _bases(body):
        box = _box(body, basis)
        if box is None:
            return boxes
        boxes.append(box)
    if body.rank <= SEVERAL_BASES:
        box = _box(body, _basis_from(max(_points(boxes), key=_length)))
        boxes += [] if box is None else [box]
    return boxes


def _bases(body: PolarBody) -> Iterator[FloatArray]:
    """Principal axes; in low dimensions the columns' axes too, where the rows have full rank; turned in the plane."""
    yield np.eye(body.rank)
    if body.rank > SEVERAL_BASES:
        return
    if body.rank == body.rows.dimension:
        yield np.ascontiguousarray(body.basis)
    for angle in np.pi / 2 * np.arange(1, TURNS) / TURNS if body.rank == 2 else ():
        yield np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


def _box(body: PolarBody, basis: FloatArray) -> _Box | None:
    forward, backward = [], []
    for vector in basis:
        one, other = body.support(-vector), body.support(vector)
        if one is None or other is None:
            return None
        forward.append(one)
        backward.append(other)
    return _Box(basis, forward, backward)


def _basis_from(vector: FloatArray) -> FloatArray:
    """Return an orthonormal basis, in rows, that begins with the direction of a vector."""
    start = np.column_stack([vector / _length(vector), np.eye(len(vector))])
    return np.ascontiguousarray(np.linalg.qr(start)[0].T)


def _points(boxes: list[_Box]) -> list[FloatArray]:
    return [one.point for box in boxes for one in (*box.forward, *box.backward)]


def _length(point: FloatArray) -> float:
    return float(np.linalg.norm(point))


def _longest(body: PolarBody, boxes: list[_Box], random: np.random.Generator) -> list[FloatArray]:
    """Climb from the longest points found and from random directions; the ends, the longest first.

    Functions are disturbed a little, so that the climb does not rest on an edge or a facet of equal values.
    """
    starts: list[FloatArray] = []
    for point in sorted(_points(boxes), key=_length, reverse=True):
        if all(_length(point - other) > 1e-6 * _length(point) for other in starts):
            starts.append(point)
    few = body.rank > SEVERAL_BASES
    starts = starts[: FEW_CLIMBS if few else CLIMBS]
    ends = list(starts)
    for start in [*starts, *random.standard_normal((FEW_CLIMBS if few else CLIMBS, body.rank))]:
        direction, longest = start / _length(start), 0.0
        for _ in range(STEPS):
            further = body.support(direction + 1e-3 * random.standard_normal(body.rank))
            if further is None or _length(further.point) <= longest * (1 + 1e-9):
                break
            ends.append(further.point)
            longest = _length(further.point)
            direction = further.point / longest
    return sorted(ends, key=_length, reverse=True)[:CLIMBS]


def _alphas(body: PolarBody, points: list[FloatArray], spanning: list[int]) -> list[Combination]:
    """Write points of P as combinations of rows: of a few that are far from dependent, or else of the spanning ones."""
    from scipy.linalg import qr

    order = qr(body.block.T, mode="r", pivoting=True)[1][: body.rank]
    found = []
    for index in (body.working[order], np.array(spanning)):
        block = body.rows.take(index) / body.sizes[index, None] @ body.basis
        for point in points:
            alpha = np.linalg.lstsq(block.T, point, rcond=None)[0] / body.sizes[index]
            exact = {int(i): Fraction(float(a)) for i, a in zip(index, alpha, strict=True) if np.isfinite(a)}
            if any(exact.values()):
                found.append(combination(exact))
    return found


def _exact_alpha(rows: SignedRows, body: PolarBody, point: FloatArray, spanning: list[int]) -> Combination:
    """Write a point as a combination in exact arithmetic, where rounded coefficients lose it."""
    vector = [Fraction(float(v)) for v in body.basis @ point]
    return separator_from_direction(rows, common_integers(vector), spanning).alpha


def _first(pair: tuple[float, Combination]) -> float:
    return pair[0]
