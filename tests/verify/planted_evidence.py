"""Small problems with evidence that is true by construction, and ways to spoil it."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import gcd, lcm

import numpy as np
from plain_checker import combination, dot, echelon, rank, raw_rows

from sepcert.certificate.model import Combination, Evidence, Margin, Separator, Witness
from sepcert.problem import Points, Problem
from sepcert.status import Claim, Numbers
from sepcert.verify.margin import margin_lower, margin_upper
from sepcert.verify.rows import SignedRows


def problem_of(x, y, numbers=Numbers.BINARY64, bias=True, bias_scale=Fraction(1)):
    values = np.ascontiguousarray(x, dtype=np.float64)
    return Problem(Points(values, numbers), np.array(y, dtype=np.int8), bias=bias, bias_scale=bias_scale)


def random_points(rng, n, d, numbers):
    """Few distinct values, so that ties, duplicates and dependent rows are common."""
    kind = rng.integers(4)
    if kind == 0:
        return rng.integers(-2, 3, (n, d)).astype(float)
    if kind == 1:
        return rng.integers(-9, 10, (n, d)) / 10
    if kind == 2 and numbers is Numbers.BINARY64:
        return rng.integers(-3, 4, (n, d)) * 2.0 ** rng.integers(-60, 60, (1, d))
    return np.round(rng.standard_normal((n, d)), 3)


def random_problem(rng):
    d, n = int(rng.integers(1, 4)), int(rng.integers(3, 10))
    numbers = Numbers.DECIMAL if rng.integers(2) else Numbers.BINARY64
    y = rng.permutation(np.where(np.arange(n) < rng.integers(1, n), 1, -1))
    scale = [Fraction(1), Fraction(1, 3), Fraction(10)][rng.integers(3)]
    return problem_of(random_points(rng, n, d, numbers), y, numbers, bool(rng.integers(2)), scale)


def labelled_by(rng, problem):
    """The problem with the labels of a random hyperplane, rows on it left out; None if it has one class."""
    z = raw_rows(replace(problem, labels=np.ones(problem.rows, dtype=np.int8)))
    w = [Fraction(int(v)) for v in rng.integers(-3, 4, len(z[0]))]
    side = np.array([int((v > 0) - (v < 0)) for v in (dot(row, w) for row in z)], dtype=np.int8)
    if not {-1, 1} <= set(side.tolist()):
        return None
    kept = side != 0
    points = Points(np.ascontiguousarray(problem.points.values[kept]), problem.numbers)
    return replace(problem, points=points, labels=side[kept]), w


def coefficients(z, w):
    """alpha with sum alpha_i z_i = w, or None if w is not in the span."""
    system = [[row[j] for row in z] + [w[j]] for j in range(len(w))]
    solved, pivots = echelon(system)
    if len(z) in pivots:
        return None
    found = {column: solved[k][-1] for k, column in enumerate(pivots) if solved[k][-1] != 0}
    return sparse(found)


def sparse(found):
    rows = tuple(sorted(found))
    return Combination(rows, tuple(found[i] for i in rows))


def whole(found):
    """Positive rationals as integers without a common factor."""
    scale = lcm(*(v.denominator for v in found.values()))
    integers = {i: int(v * scale) for i, v in found.items()}
    divisor = gcd(*integers.values())
    return sparse({i: Fraction(v // divisor) for i, v in integers.items()})


def separable(rng, problem):
    found = labelled_by(rng, problem)
    if found is None:
        return None
    problem, w = found
    z = raw_rows(problem)
    alpha = coefficients(z, w)
    if alpha is None or not alpha.rows:
        return None
    given = tuple(combination(z, alpha)) if rng.integers(2) else None
    separator = Separator(alpha, given)
    rows = SignedRows(problem)
    q = Combination(alpha.rows, tuple(abs(v) for v in alpha.values))
    lower, upper = margin_lower(rows, separator), margin_upper(rows, q)
    claims = (Claim.SEPARABLE, Claim.COMPLETE, Claim.MARGIN_AT_LEAST, Claim.MARGIN_AT_MOST)
    if upper == 0:
        return problem, Evidence(claims[:3], separator, margin=Margin(lower, None))
    return problem, Evidence(claims, separator, margin=Margin(lower, upper, q))


def positive_relations(z, size):
    """Rows with a positive dependence, minimal ones of at most `size` rows."""
    for support in (s for k in range(1, size + 1) for s in combinations(range(len(z)), k)):
        system = [[z[i][j] for i in support] for j in range(len(z[0]))]
        solved, pivots = echelon(system)
        if pivots != list(range(len(support) - 1)):
            continue
        p = [-solved[k][-1] for k in range(len(pivots))] + [Fraction(1)]
        if min(p) > 0:
            yield dict(zip(support, p, strict=True))


def inseparable(rng, problem):
    z = raw_rows(problem)
    found = list(positive_relations(z, len(z[0]) + 1))
    if not found:
        return None
    total = {}
    for relation in found:
        for i, v in relation.items():
            total[i] = total.get(i, 0) + v
    one = found[rng.integers(len(found))]
    zero = Margin(None, 0.0)
    kind = rng.integers(3)
    if kind == 0:
        return problem, Evidence((Claim.INSEPARABLE, Claim.MARGIN_AT_MOST), None, Witness(whole(one)), zero)
    if kind == 1 and len(one) == len(z[0]) + 1:
        claims = (Claim.INSEPARABLE, Claim.OVERLAP)
        return problem, Evidence(claims, None, Witness(None, tuple(sorted(one))))
    if rank([z[i] for i in total]) == rank(z):
        claims = (Claim.INSEPARABLE, Claim.OVERLAP, Claim.MARGIN_AT_MOST)
        return problem, Evidence(claims, None, Witness(whole(total)), zero)
    return problem, Evidence((Claim.MARGIN_AT_MOST,), None, Witness(whole(total)), zero)


def quasi_complete(rng, problem):
    """Rows off a plane, and pairs of equal rows of both classes on it."""
    found = labelled_by(rng, problem)
    if found is None:
        return None
    separated, w = found
    z = raw_rows(replace(problem, labels=np.ones(problem.rows, dtype=np.int8)))
    plane = [i for i in range(problem.rows) if dot(z[i], w) == 0]
    if not plane:
        return None
    on = problem.points.values[plane]
    values = np.vstack([on, separated.points.values, on])
    labels = np.concatenate([np.ones(len(on)), separated.labels, -np.ones(len(on))]).astype(np.int8)
    whole_problem = replace(problem, points=Points(values, problem.numbers), labels=labels)
    alpha = coefficients(raw_rows(whole_problem), w)
    if alpha is None or not alpha.rows:
        return None
    after = len(on) + separated.rows
    p = sparse({i: Fraction(1) for i in [*range(len(on)), *range(after, after + len(on))]})
    separator = Separator(alpha, tuple(w) if rng.integers(2) else None)
    return whole_problem, Evidence((Claim.INSEPARABLE, Claim.QUASI_COMPLETE), separator, Witness(p))


def planted(rng):
    """A problem with true evidence."""
    while True:
        kind = (separable, inseparable, quasi_complete)[rng.integers(3)]
        found = kind(rng, random_problem(rng))
        if found is not None:
            return found


def spoiled_combination(rng, c, n):
    rows, values = list(c.rows), list(c.values)
    at = int(rng.integers(len(rows)))
    kind = rng.integers(7)
    if kind == 0:
        values[at] += [Fraction(1), Fraction(-1), Fraction(1, 1 << 80)][rng.integers(3)]
    elif kind == 1:
        rows[at] = int(rng.integers(-1, n + 1))
    elif kind == 2:
        del rows[at], values[at]
    elif kind == 3:
        values[at] = -values[at]
    elif kind == 4:
        values[at] = Fraction(0)
    elif kind == 5:
        rows.append(int(rng.integers(n)))
        values.append(Fraction(1))
    else:
        values = [2 * v for v in values]
    return Combination(tuple(rows), tuple(values))


def spoiled(rng, evidence, n):
    """The evidence with one thing changed; sometimes it is still true."""
    kind = rng.integers(8)
    separator, witness, margin = evidence.separator, evidence.witness, evidence.margin
    if kind == 0:
        size = int(rng.integers(0, 3))
        return replace(evidence, claims=tuple(list(Claim)[k] for k in rng.permutation(7)[:size]))
    if kind == 1:
        return replace(evidence, **{["separator", "witness"][rng.integers(2)]: None})
    if kind == 2 and separator is not None:
        return replace(evidence, separator=replace(separator, alpha=spoiled_combination(rng, separator.alpha, n)))
    if kind == 3 and separator is not None and separator.weights is not None:
        weights = list(separator.weights)
        weights[rng.integers(len(weights))] += Fraction(1, 1 << 70)
        return replace(evidence, separator=replace(separator, weights=tuple(weights)))
    if kind == 4 and witness is not None and witness.p is not None:
        return replace(evidence, witness=Witness(spoiled_combination(rng, witness.p, n)))
    if kind == 5 and witness is not None and witness.support is not None:
        support = list(witness.support)
        support[rng.integers(len(support))] = int(rng.integers(n))
        return replace(evidence, witness=Witness(None, tuple(sorted(support))))
    if kind == 6 and margin.upper_weights is not None:
        weights = spoiled_combination(rng, margin.upper_weights, n)
        return replace(evidence, margin=replace(margin, upper_weights=weights))
    names = [name for name in ("lower", "upper") if getattr(margin, name) is not None]
    if not names:
        return replace(evidence, margin=Margin(None, [0.0, 0.5, 1.0][rng.integers(3)]))
    name = names[rng.integers(len(names))]
    value = getattr(margin, name)
    steps = [np.nextafter(value, 2), np.nextafter(value, -1), value * 2, value / 2, 0.0, -0.1, float("nan")]
    return replace(evidence, margin=replace(margin, **{name: float(steps[rng.integers(len(steps))])}))
