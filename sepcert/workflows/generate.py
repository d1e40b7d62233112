r"""Data with a known verdict and a known margin, the same for the same seed.

Every number has at most 12 significant digits, so that text, doubles and what is stated here agree.  Rounding to that
moves a row of unit length by at most 5e-12 and the normalised margin by no more; :data:`SLACK` covers it.

Rows are first made as unit vectors v of R^D in the geometry of the paper, z_i/|z_i| = v_i.  With a bias, D = d + 1,
and v stands for the point x = v_{1..d}/v_0 of the class sign(v_0); without, for x = y s v with any size s > 0.
"""

from __future__ import annotations

import difflib
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from math import atan, cos, log, pi, sin, sqrt
from typing import Any

import numpy as np

from sepcert.errors import ConfigError, register
from sepcert.problem import FloatArray, IntArray
from sepcert.status import Numbers, Separation, Verdict

NAME = register("GENERATE-NAME", "There is no generator of this name.")
OPTION = register("GENERATE-OPTION", "The generator does not take this option, or not this value.")

SCHEMA = "sepcert-truth/1"
DIGITS = 12
SLACK = 1e-11
"""By how much a stated margin may be off."""
_CLEAR = 1e-9
"""Rows closer to the planted hyperplane than this are drawn again."""
_DISTANCE = 0.5


@dataclass(frozen=True)
class Truth:
    """What is known about generated data by the way they were made.

    Attributes
    ----------
    verdict : Verdict
    separation : Separation
    margin_lower, margin_upper : float or None
        A bracket on the normalised margin; negative for overlapping data; None: not known.
    bias : bool
        Whether the statement is about classifiers with a bias.
    numbers : Numbers or None
        The reading of the numbers that it holds for; None: both.
    because : str
        The reason, in one sentence.
    """

    verdict: Verdict
    separation: Separation
    margin_lower: float | None
    margin_upper: float | None
    bias: bool
    numbers: Numbers | None
    because: str


@dataclass(frozen=True, eq=False)
class Generated:
    """Generated data.

    Attributes
    ----------
    name : str
    options : dict
        All options that were in force.
    X : ndarray of float64, shape (n, d)
        Each the double nearest to a decimal of at most 12 digits.
    y : ndarray of int64, shape (n,)
        -1 and 1.
    truth : Truth
    """

    name: str
    options: dict[str, Any]
    X: FloatArray
    y: IntArray
    truth: Truth

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of ``--truth``."""
        truth = self.truth
        return {
            "schema": SCHEMA,
            "generator": self.name,
            "options": self.options,
            "rows": len(self.X),
            "columns": self.X.shape[1],
            "verdict": truth.verdict.value,
            "separation": truth.separation.value,
            "margin": {"lower": truth.margin_lower, "upper": truth.margin_upper},
            "bias": truth.bias,
            "numbers": None if truth.numbers is None else truth.numbers.value,
            "because": truth.because,
        }


Draw = tuple[FloatArray, IntArray, Truth]


@dataclass(frozen=True)
class Recipe:
    """One generator.

    Attributes
    ----------
    summary : str
    make : callable
        From a random generator and the options to points, labels and truth.
    defaults : dict
        Its options with their defaults; ``rows`` and ``columns`` among them.
    """

    summary: str
    make: Callable[..., Draw]
    defaults: dict[str, Any] = field(default_factory=dict)


def generate(name: str, *, seed: int = 0, **options: Any) -> Generated:
    """Make data of which the truth is known.

    Parameters
    ----------
    name : str
        One of :data:`GENERATORS`.
    seed : int
    **options
        ``rows``, ``columns``, and what the generator takes beyond them: ``r``, ``rho``, ``noise``.

    Returns
    -------
    Generated

    Raises
    ------
    ConfigError
        GENERATE-NAME, GENERATE-OPTION.
    """
    if name not in GENERATORS:
        near = difflib.get_close_matches(name, GENERATORS, n=1)
        advice = f"did you mean {near[0]}?" if near else f"known: {', '.join(GENERATORS)}"
        raise ConfigError(NAME, f"there is no generator {name!r}", advice=advice)
    recipe = GENERATORS[name]
    for option in options:
        if option not in recipe.defaults:
            raise ConfigError(OPTION, f"{name} takes no {option}", advice=f"it takes {', '.join(recipe.defaults)}")
    full = {key: _plain(name, key, value) for key, value in {**recipe.defaults, **options}.items()}
    seed = _plain(name, "seed", seed)
    whole = [(key, full[key]) for key, default in recipe.defaults.items() if isinstance(default, int)]
    for key, value in [("seed", seed), *whole]:
        if not isinstance(value, int) or value < 0:
            raise _bad(name, key, value, "a whole number, 0 or more")
    if full["rows"] < 2:
        raise _bad(name, "rows", full["rows"], "at least 2")
    if full["columns"] < 1:
        raise _bad(name, "columns", full["columns"], "at least 1")
    X, y, truth = recipe.make(np.random.default_rng(seed), **full)
    return Generated(name, {**full, "seed": seed}, _rounded(X), y, truth)


def _plain(name: str, option: str, value: object) -> Any:
    if isinstance(value, bool | str | bytes) or not hasattr(value, "__float__"):
        raise _bad(name, option, value, "a number")
    return operator.index(value) if hasattr(value, "__index__") else float(value)


def _bad(name: str, option: str, value: object, wanted: str) -> ConfigError:
    return ConfigError(OPTION, f"{name}: {option} is {value}", advice=f"give {wanted}")


def _rounded(X: FloatArray) -> FloatArray:
    """Return the doubles nearest to the entries' decimals of 12 significant digits; no negative zeros."""
    texts = [float(f"{value:.{DIGITS}g}") for value in X.ravel().tolist()]
    return np.array(texts, dtype=np.float64).reshape(X.shape) + 0.0


def _both(rng: np.random.Generator, n: int) -> IntArray:
    """Return random labels with both classes among them."""
    y = np.where(rng.random(n) < 0.5, -1, 1)
    y[:2] = (1, -1)
    return np.asarray(rng.permutation(y), dtype=np.int64)


def _unit(X: FloatArray) -> FloatArray:
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))


def _around(value: float) -> tuple[float, float]:
    return value - SLACK, value + SLACK


def wedge(rng: np.random.Generator, rows: int, columns: int, r: float) -> Draw:
    """Return the wedge of the paper: sizes that are uniform in their logarithm, on two rays with cosine 0.96."""
    if columns != 2:
        raise _bad("wedge", "columns", columns, "2: the wedge lies in the plane")
    if not 1.0 <= r <= 1e6:
        raise _bad("wedge", "r", r, "a number from 1 to 1e6")
    sizes = np.array([_size(s, r) for s in np.exp(rng.uniform(-log(r), log(r), rows)).tolist()])
    y = _both(rng, rows)
    X = np.where(y[:, None] > 0, [6.0, 8.0], [8.0, 6.0]) * sizes[:, None] / 10.0
    lower, upper = _around(sqrt(2.0) / 10.0)
    because = "two rays; the margin is the sine of half the angle between them, whatever the sizes of the rows"
    return X, y, Truth(Verdict.SEPARABLE, Separation.COMPLETE, lower, upper, False, None, because)


def _size(drawn: float, r: float) -> float:
    """Return a decimal of few digits near the drawn size, from 1/r to r; so the point lies on its ray exactly."""
    if r < 1.001:
        return 1.0
    size = float(f"{drawn:.6g}")
    inward = 1e-5 if size < 1.0 / r else -1e-5 if size > r else 0.0
    return float(f"{size * (1.0 + inward):.6g}")


def _frame(rng: np.random.Generator, first_row: FloatArray) -> FloatArray:
    """Return a random orthogonal matrix with this first row; its columns are a frame of R^D."""
    size = len(first_row)
    columns = np.column_stack([first_row, rng.standard_normal((size, size - 1))])
    q, r = np.linalg.qr(columns)
    return np.asarray((q * np.sign(np.diag(r))).T)


def _points(v: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the points and classes that unit vectors stand for, with a bias."""
    return v[:, 1:] / v[:, :1], np.where(v[:, 0] > 0.0, 1, -1).astype(np.int64)


def _filled(rng: np.random.Generator, given: FloatArray, rows: int, draw: Callable[[int], FloatArray]) -> FloatArray:
    """Return `rows` vectors: the given ones and drawn ones that stand for points that are not far out, shuffled."""
    parts, missing = [given], rows - len(given)
    least = 0.1 / sqrt(given.shape[1])
    while missing > 0:
        drawn = draw(2 * missing + 16)
        drawn = drawn[np.abs(drawn[:, 0]) >= least][:missing]
        parts.append(drawn)
        missing -= len(drawn)
    return np.asarray(rng.permutation(np.concatenate(parts), axis=0))


def separable(rng: np.random.Generator, rows: int, columns: int, rho: float) -> Draw:
    """Return rows with v'w >= rho for a planted w, and two on the border whose mean is rho w: no w does better."""
    if not _CLEAR <= rho < 0.99:
        raise _bad("separable", "rho", rho, "a margin from 1e-9 to 0.99")
    s = sqrt(1.0 - rho * rho)
    angle = min(pi / 8.0, atan(s / (2.0 * rho)))
    frame = _frame(rng, np.array([sin(angle), cos(angle), *([0.0] * (columns - 1))]))
    w, u = frame[:, 0], frame[:, 1]
    border = np.array([rho * w + s * u, rho * w - s * u])

    def draw(count: int) -> FloatArray:
        t = rng.uniform(rho, (1.0 + rho) / 2.0, count)
        across = _unit(rng.standard_normal((count, columns))) @ frame[:, 1:].T
        return np.asarray(t[:, None] * w + np.sqrt(1.0 - t * t)[:, None] * across)

    X, y = _points(_filled(rng, border, rows, draw))
    lower, upper = _around(rho)
    because = "a planted hyperplane has every row at a normalised margin of rho or more, and two rows allow no more"
    return X, y, Truth(Verdict.SEPARABLE, Separation.COMPLETE, max(lower, 0.0), upper, True, None, because)


def infeasible(rng: np.random.Generator, rows: int, columns: int, rho: float) -> Draw:
    """Return rows whose hull holds a ball of radius rho around 0 and no larger one.

    The border of a face v'w = rho carries the 2d points rho w +- s u_j; with -w they span a pyramid around 0 whose
    other faces are 1/sqrt(1 + d (1 + rho)/(1 - rho)) away, which has to be rho or more.
    """
    size = columns + 1
    if not (0.0 < rho < 1.0 and rho * rho * (1.0 + columns * (1.0 + rho) / (1.0 - rho)) <= 1.0) or rho < _CLEAR:
        wanted = f"a number from 1e-9 to {_largest_ball(columns):.4g}, what {columns} columns allow"
        raise _bad("infeasible", "rho", rho, wanted)
    if rows < 2 * columns + 1:
        raise _bad("infeasible", "rows", rows, f"at least {2 * columns + 1} (2 columns + 1)")
    s = sqrt(1.0 - rho * rho)
    frame = _frame(rng, np.full(size, 1.0 / sqrt(size)))
    w, others = frame[:, 0], frame[:, 1:].T
    pyramid = np.concatenate([rho * w + s * others, rho * w - s * others, -w[None, :]])

    def draw(count: int) -> FloatArray:
        v = _unit(rng.standard_normal((count, size)))
        return v[v @ w <= rho]

    X, y = _points(_filled(rng, pyramid, rows, draw))
    lower, upper = _around(-rho)
    because = "the hull of the normalised rows holds a ball of radius |rho| around 0, and touches it"
    return X, y, Truth(Verdict.INSEPARABLE, Separation.OVERLAP, lower, min(upper, 0.0), True, None, because)


def _largest_ball(columns: int) -> float:
    """Return the largest rho with rho^2 (1 + d (1 + rho)/(1 - rho)) <= 1, rounded down, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2.0
        fits = middle * middle * (1.0 + columns * (1.0 + middle) / (1.0 - middle)) <= 1.0
        low, high = (middle, high) if fits else (low, middle)
    return low * (1.0 - 1e-3)


def _bracket(signed: FloatArray, w: FloatArray) -> tuple[float, float]:
    """Return what w proves below and the means of the rows nearest to its hyperplane prove above.

    `signed` are normalised rows y_i z_i/|z_i|, shape (n, D).
    """
    margins = signed @ (w / np.linalg.norm(w))
    order = np.argsort(margins, kind="stable")
    means = np.cumsum(signed[order], axis=0) / np.arange(1, len(order) + 1)[:, None]
    upper = float(np.linalg.norm(means, axis=1).min())
    return float(margins.min()) - SLACK, min(1.0, upper + SLACK)


def sphere(rng: np.random.Generator, rows: int, columns: int) -> Draw:
    """Return points uniform on the unit sphere, divided by a hyperplane through 0 with a uniform normal."""
    w = _unit(rng.standard_normal((1, columns)))[0]
    X = np.empty((0, columns))
    while len(X) < rows:
        drawn = _unit(rng.standard_normal((rows, columns)))
        X = np.concatenate([X, drawn[np.abs(drawn @ w) >= _CLEAR]])[:rows]
    y = np.where(X @ w > 0.0, 1, -1).astype(np.int64)
    if len(set(y.tolist())) == 1:
        X[0], y[0] = -X[0], -y[0]
    lower, upper = _bracket(y[:, None] * X, w)
    because = "a hyperplane through 0 has every row on its side; the planted one proves the lower end of the margin"
    return X, y, Truth(Verdict.SEPARABLE, Separation.COMPLETE, lower, upper, False, None, because)


def noisy(rng: np.random.Generator, rows: int, columns: int, noise: float) -> Draw:
    """Return normal points divided by a hyperplane, with labels flipped at random.

    With noise, one flipped row is planted in the middle of 2d rows of the class that it left: overlap is certain.
    """
    if not 0.0 <= noise <= 0.5:
        raise _bad("noisy", "noise", noise, "a probability from 0 to 0.5")
    planted = 2 * columns + 1 if noise > 0.0 else 0
    if rows < planted + 1:
        raise _bad("noisy", "rows", rows, f"at least {planted + 1} (2 columns + 2)")
    w = _unit(rng.standard_normal((1, columns)))[0]
    offset = 0.25 * float(rng.standard_normal())
    X = np.empty((0, columns))
    while len(X) < rows:
        drawn = rng.standard_normal((rows, columns))
        X = np.concatenate([X, drawn[np.abs(drawn @ w - offset) >= 1e-6]])[:rows]
    if planted:
        centre = (abs(offset) + 2.0 * _DISTANCE) * w
        X[0] = centre
        X[1:planted] = centre + _DISTANCE * np.concatenate([np.eye(columns), -np.eye(columns)])
    y = np.where(X @ w > offset, 1, -1).astype(np.int64)
    if len(set(y[planted:].tolist())) == 1:
        X[-1] -= 2.0 * (X[-1] @ w - offset) * w
        y[-1] = -y[-1]
    if not planted:
        z = np.column_stack([np.ones(rows), X]) * y[:, None]
        lower, upper = _bracket(_unit(z), np.array([-offset, *w]))
        because = "no label was flipped; the planted hyperplane proves the lower end of the margin"
        return X, y, Truth(Verdict.SEPARABLE, Separation.COMPLETE, lower, upper, True, None, because)
    flipped = rng.random(rows) < noise
    flipped[:planted] = False
    flipped[0] = True
    y[flipped] *= -1
    order = rng.permutation(rows)
    because = (
        f"{int(flipped.sum())} labels were flipped, one of them in the middle of {2 * columns} rows of its old class"
    )
    truth = Truth(Verdict.INSEPARABLE, Separation.OVERLAP, None, 0.0, True, None, because)
    return X[order], y[order], truth


def midpoints(rng: np.random.Generator, rows: int, columns: int) -> Draw:
    """Return points at equal distances on one line, classes in turn: each is the exact midpoint of its neighbours."""
    if rows < 3:
        raise _bad("midpoints", "rows", rows, "at least 3")
    start = rng.integers(-9999, 10000, columns)
    step = 2 * rng.integers(1, 50, columns) + 1
    step *= rng.choice([-1, 1], columns)
    order = rng.permutation(rows)
    X = (start[None, :] + order[:, None] * step[None, :]) / 1000.0
    y = np.where(order % 2 == 0, 1, -1).astype(np.int64)
    because = "on one line, every row but the two ends is exactly the midpoint of two rows of the other class"
    truth = Truth(Verdict.INSEPARABLE, Separation.OVERLAP, None, 0.0, True, Numbers.DECIMAL, because)
    return X, y, truth


_SIZE = {"rows": 200, "columns": 5}
GENERATORS: dict[str, Recipe] = {
    "wedge": Recipe(
        "two rays in the plane, |x| from 1/r to r; normalised margin sqrt(2)/10 without a bias",
        wedge,
        {"rows": 200, "columns": 2, "r": 10.0},
    ),
    "separable": Recipe("a planted normalised margin rho", separable, {**_SIZE, "rho": 0.05}),
    "infeasible": Recipe("overlap, with a normalised margin of -rho", infeasible, {**_SIZE, "rho": 0.05}),
    "sphere": Recipe("uniform on the unit sphere, a halfspace through 0", sphere, dict(_SIZE)),
    "noisy": Recipe("normal points, labels flipped with probability noise", noisy, {**_SIZE, "noise": 0.1}),
    "midpoints": Recipe("overlap by exact ties of decimals, on a line", midpoints, {"rows": 12, "columns": 10}),
}
