"""What it means that evidence proves claims, in plain Fractions: the definition that the verifier must agree with."""

from fractions import Fraction
from itertools import pairwise
from math import gcd, isqrt

from sepcert.problem import exact_value
from sepcert.status import Claim


def raw_rows(problem):
    """z_i = y_i (b0, x_i)."""
    found = []
    for values, y in zip(problem.points.values.tolist(), problem.labels.tolist(), strict=True):
        x = [exact_value(v, problem.numbers) for v in values]
        found.append([y * v for v in ([problem.bias_scale] if problem.bias else []) + x])
    return found


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def combination(z, c):
    return [sum((v * z[i][j] for i, v in zip(c.rows, c.values, strict=True)), Fraction(0)) for j in range(len(z[0]))]


def echelon(matrix):
    """Reduced row echelon form and pivot columns."""
    m, pivots = [list(map(Fraction, row)) for row in matrix], []
    for column in range(len(m[0]) if m else 0):
        at = next((i for i in range(len(pivots), len(m)) if m[i][column] != 0), None)
        if at is None:
            continue
        r = len(pivots)
        m[r], m[at] = m[at], m[r]
        m[r] = [v / m[r][column] for v in m[r]]
        for i in range(len(m)):
            if i != r and m[i][column] != 0:
                m[i] = [a - m[i][column] * b for a, b in zip(m[i], m[r], strict=True)]
        pivots.append(column)
    return m, pivots


def rank(matrix):
    return len(echelon(matrix)[1])


def valid(rows, values, n, positive):
    increasing = all(a < b for a, b in pairwise(rows))
    numbers = all(v > 0 if positive else v != 0 for v in values)
    return len(rows) > 0 and increasing and rows[0] >= 0 and rows[-1] < n and numbers


def witness_holds(z, w):
    n, size = len(z), len(z[0])
    if (w.p is None) == (w.support is None):
        return False
    if w.p is not None:
        if not valid(w.p.rows, w.p.values, n, True) or any(v.denominator != 1 for v in w.p.values):
            return False
        return gcd(*(v.numerator for v in w.p.values)) == 1 and not any(combination(z, w.p))
    if not valid(w.support, (), n, True) or len(w.support) != size + 1:
        return False
    system = [[z[i][j] for i in w.support] + [0] for j in range(size)] + [[1] * (size + 2)]
    solved, pivots = echelon(system)
    return pivots == list(range(size + 1)) and all(row[-1] > 0 for row in solved)


def root_bounds(value):
    """Rational bounds of a square root, 2**-300 of its size apart or so."""
    scale = 1 << 1200
    low = isqrt(value.numerator * scale * scale // value.denominator)
    return Fraction(low, scale), Fraction(low + 1, scale)


def ball_holds(z, ball):
    """Whether both radii are proved; None where only exact roots could tell."""
    n, pairs = len(z), list(zip(ball.forward, ball.backward, strict=False))
    if not (0 < ball.inner <= ball.outer < float("inf")) or not valid(ball.alpha.rows, ball.alpha.values, n, False):
        return False
    if not all(valid(c.rows, c.values, n, True) for c in (*ball.forward, *ball.backward)):
        return False
    if not len(ball.forward) == len(ball.backward) == rank(z):
        return False
    w, square = combination(z, ball.alpha), Fraction(ball.outer) ** 2
    if not any(w):
        return False
    if any(dot(row, w) < 0 and dot(row, w) ** 2 > square * dot(row, row) * dot(w, w) for row in z):
        return False
    lengths = [root_bounds(dot(row, row)) for row in z]
    forward = [combination(z, f) for f, _ in pairs]
    defects = [dot(a, b) - (j == k) for j, a in enumerate(forward) for k, b in enumerate(forward)]
    bounds = []
    for e in (0, 1):  # all roots rounded for the claim, and then against it
        spectrum = 1 - root_bounds(sum(v * v for v in defects))[e]
        sizes = [max(sum(v * lengths[i][e] for i, v in zip(c.rows, c.values, strict=True)) for c in p) for p in pairs]
        errors = [[a + b for a, b in zip(combination(z, f), combination(z, g), strict=True)] for f, g in pairs]
        lost = max(root_bounds(dot(v, v))[e] / m for v, m in zip(errors, sizes, strict=True))
        if spectrum <= 0:
            return False
        bounds.append(root_bounds(spectrum / sum(m * m for m in sizes))[1 - e] - lost)
    if Fraction(ball.inner) > bounds[0]:
        return False
    return True if Fraction(ball.inner) <= bounds[1] * (1 - Fraction(1, 1 << 80)) else None


def holds(problem, evidence):
    """True, False, or None where |sum q z| / sum q |z| is so near its bound that only exact roots could tell."""
    z, claims, margin = raw_rows(problem), set(evidence.claims), evidence.margin
    separator, witness = evidence.separator, evidence.witness
    strict = claims & {Claim.SEPARABLE, Claim.COMPLETE, Claim.MARGIN_AT_LEAST}
    against = claims & {Claim.INSEPARABLE, Claim.QUASI_COMPLETE, Claim.OVERLAP}
    by_witness = bool(against) or (Claim.MARGIN_AT_MOST in claims and margin.upper == 0)
    needed = (
        bool(strict) or Claim.QUASI_COMPLETE in claims,
        by_witness,
        Claim.MARGIN_AT_LEAST in claims,
        Claim.MARGIN_AT_MOST in claims,
        Claim.MARGIN_AT_MOST in claims and margin.upper != 0,
        Claim.NEGATIVE_MARGIN in claims,
    )
    parts = (separator, witness, margin.lower, margin.upper, margin.upper_weights, evidence.ball)
    if not claims or tuple(p is not None for p in parts) != needed or (strict and by_witness):
        return False
    if Claim.NEGATIVE_MARGIN in claims and (strict or Claim.QUASI_COMPLETE in claims):
        return False
    inside = None if evidence.ball is None else ball_holds(z, evidence.ball)
    if inside is False:
        return False
    if any(v is not None and not 0 <= v < float("inf") for v in (margin.lower, margin.upper)):
        return False
    if margin.lower is not None and margin.upper is not None and margin.lower > margin.upper:
        return False
    if separator is not None:
        if not valid(separator.alpha.rows, separator.alpha.values, len(z), False):
            return False
        w = combination(z, separator.alpha)
        if separator.weights is not None and list(separator.weights) != w:
            return False
        signs = [(v > 0) - (v < 0) for v in (dot(row, w) for row in z)]
        if strict and min(signs) <= 0:
            return False
        if margin.lower is not None:
            square = Fraction(margin.lower) ** 2
            if not all(dot(row, w) ** 2 >= square * dot(row, row) * dot(w, w) for row in z):
                return False
    if witness is not None and not witness_holds(z, witness):
        return False
    if Claim.OVERLAP in claims and rank([z[i] for i in witness.rows]) != rank(z):
        return False
    if Claim.QUASI_COMPLETE in claims:
        on_plane = tuple(i for i, s in enumerate(signs) if s == 0)
        if min(signs) < 0 or max(signs) <= 0 or on_plane != witness.rows or Claim.OVERLAP in claims:
            return False
    if margin.upper_weights is not None:
        q = margin.upper_weights
        if not valid(q.rows, q.values, len(z), True):
            return False
        left = root_bounds(dot(combination(z, q), combination(z, q)))
        roots = [root_bounds(dot(z[i], z[i])) for i in q.rows]
        right = [Fraction(margin.upper) * sum(v * r[e] for v, r in zip(q.values, roots, strict=True)) for e in (0, 1)]
        if right[0] == 0 or left[0] > right[1]:
            return False
        if left[1] > right[0] * (1 - Fraction(1, 1 << 60)):
            return None
    return True if evidence.ball is None else inside
