"""Bounds on the number of iterations or mistakes, from the theorems; each is derived where its algorithm stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor, inf, log, sqrt


@dataclass(frozen=True)
class BoundInputs:
    """What the bounds are functions of.

    Attributes
    ----------
    rows : int
        n.
    margin : float
        rho, the normalised margin; negative for overlapping data.
    epsilon : float
        The target for |p|_G; 0: none.
    raw_margin : float
        The margin of the raw rows.
    largest_norm : float
        max |z_i| of the raw rows, bias feature included.
    start_norm : float
        |q_0|_G; at most 1.
    gamma : float
        The option of the iterated method.
    features : int
        Number of features that Winnow works with: after doubling, bias feature included.
    l1_margin : float
        rho_1, the margin of rows of unit l_inf norm over weights of sum 1.
    l1_bound : float
        The lower bound of rho_1 that Winnow is given; 0: it guesses.
    """

    rows: int
    margin: float
    epsilon: float = 0.0
    raw_margin: float = 0.0
    largest_norm: float = 0.0
    start_norm: float = 1.0
    gamma: float = 2.0
    features: int = 0
    l1_margin: float = 0.0
    l1_bound: float = 0.0

    @property
    def target(self) -> float:
        """max(rho, eps), the larger of what ends a run with a separator and what ends it with a witness."""
        return max(self.margin, self.epsilon, 0.0)


Bound = Callable[[BoundInputs], float]


def mistakes_of_the_perceptron(given: BoundInputs) -> float:
    """Return max|z|^2/rho_raw^2 (Block 1962, Novikoff 1962)."""
    return (given.largest_norm / given.raw_margin) ** 2 if given.raw_margin > 0.0 else inf


def inverse_square(given: BoundInputs) -> float:
    """Return 1/max(rho, eps)^2."""
    return 1.0 / given.target**2 if given.target > 0.0 else inf


def smoothed_with_entropy(given: BoundInputs) -> float:
    """Return 2 sqrt(2 ln n)/max(rho, eps)."""
    return 2.0 * sqrt(2.0 * log(given.rows)) / given.target if given.target > 0.0 else inf


def smoothed_with_distance(given: BoundInputs) -> float:
    """Return 2 sqrt(2n)/max(eps, rho); when rho < 0 the smaller of it and (2 sqrt(2n)/eps) |q|/(|q| + |rho|)."""
    if given.target <= 0.0:
        return inf
    shrunk = given.start_norm / (given.start_norm + abs(given.margin)) if given.margin < 0.0 else 1.0
    return 2.0 * sqrt(2.0 * given.rows) / given.target * shrunk


def iterated(given: BoundInputs) -> float:
    """Return the bound on the calls times the bound on the steps of one, its opening included."""
    if given.target <= 0.0:
        return inf
    one = 2.0 * sqrt(2.0 * given.rows) / given.target
    if given.margin < 0.0:
        one = min(one, 2.0 * sqrt(2.0 * given.rows) * given.gamma / abs(given.margin))
    return calls(given) * (floor(one) + 1.0)


def calls(given: BoundInputs) -> float:
    """Return max(1, floor(log(|q_0|/max(eps, rho))/log gamma) + 1)."""
    if given.target <= 0.0:
        return inf
    if given.start_norm <= given.target:
        return 1.0
    return floor(log(given.start_norm / given.target) / log(given.gamma)) + 1.0


def mistakes_of_winnow(given: BoundInputs) -> float:
    """Return 2 ln d/r^2 for a lower bound r of rho_1, and 32 ln d/(3 rho_1^2) where r is guessed."""
    if given.l1_margin <= 0.0 or given.l1_bound > given.l1_margin:
        return inf
    if given.l1_bound > 0.0:
        return 2.0 * log(given.features) / given.l1_bound**2
    return 32.0 * log(given.features) / (3.0 * given.l1_margin**2)
