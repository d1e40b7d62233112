"""The margin algorithms by name: what each can prove, what it needs, its paper and its bound.

``sepcert list algorithms`` prints this table.  An algorithm joins by :func:`register`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from math import inf, log, sqrt
from typing import Any

from sepcert.engine.algorithms.min_norm_point import MinNormPointOptions, MinNormPointRounds
from sepcert.engine.algorithms.perceptron import Order, Perceptron, PerceptronOptions
from sepcert.engine.algorithms.smoothed_kernel_perceptron import (
    SmoothedKernelPerceptron,
    SmoothedKernelPerceptronOptions,
)
from sepcert.engine.algorithms.von_neumann import VonNeumann, VonNeumannOptions
from sepcert.engine.protocol import Algorithm
from sepcert.errors import ConfigError
from sepcert.errors import register as register_code

UNKNOWN = register_code("CONFIG-ALGORITHM", "The algorithm is not one of those that are built.")
OPTION = register_code("CONFIG-ALGORITHM-OPTION", "The algorithm does not take this option, or not this value.")


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
    """

    rows: int
    margin: float
    epsilon: float = 0.0
    raw_margin: float = 0.0
    largest_norm: float = 0.0


Bound = Callable[[BoundInputs], float]


@dataclass(frozen=True)
class Entry:
    """One algorithm in the registry.

    Attributes
    ----------
    name : str
    aliases : tuple of str
    summary : str
        One line.
    proves : str
        What its candidates can become.
    needs : str
        ``"rows"`` (rows in memory) or ``"gram"`` (any form of the Gram operator).
    paper : str
    bound_text : str
        In the notation of the registry's documentation.
    bound : callable or None
        Iterations at most, as a function; infinity where it says nothing; None where there is none.
    options : type
        The frozen dataclass of its options.
    make : callable
        From an instance of it to the algorithm.
    """

    name: str
    aliases: tuple[str, ...]
    summary: str
    proves: str
    needs: str
    paper: str
    bound_text: str
    bound: Bound | None
    options: type[Any]
    make: Callable[[Any], Algorithm[Any, Any]]


ALGORITHMS: dict[str, Entry] = {}


def register(entry: Entry) -> Entry:
    """Add an algorithm under its name; names and aliases are unique."""
    taken = {name for other in ALGORITHMS.values() for name in (other.name, *other.aliases)}
    for name in (entry.name, *entry.aliases):
        if name in taken:
            raise ValueError(f"there is an algorithm named {name} already")
    ALGORITHMS[entry.name] = entry
    return entry


def find(name: str) -> Entry:
    """Return the entry of that name or alias.

    Raises
    ------
    ConfigError
        CONFIG-ALGORITHM; the message lists the algorithms that are built.
    """
    for entry in ALGORITHMS.values():
        if name == entry.name or name in entry.aliases:
            return entry
    near = difflib.get_close_matches(name, ALGORITHMS, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise ConfigError(
        UNKNOWN, f"algorithm {name!r} is not built", advice=f"{hint}built algorithms: {', '.join(ALGORITHMS)}"
    )


def make_algorithm(name: str, options: Mapping[str, object] | None = None) -> Algorithm[Any, Any]:
    """Return the algorithm of that name with these options.

    Raises
    ------
    ConfigError
        Unknown name, unknown option, or a value that the option does not take.
    """
    entry = find(name)
    given = dict(options or {})
    known = {field.name for field in fields(entry.options)}
    for option in given:
        if option not in known:
            advice = f"it takes {', '.join(sorted(known))}" if known else "it takes none"
            raise ConfigError(OPTION, f"{entry.name} takes no option {option!r}", advice=advice)
    try:
        return entry.make(entry.options(**given))
    except ValueError as error:
        raise ConfigError(OPTION, f"{entry.name}: {error}") from error


def _mistake_bound(given: BoundInputs) -> float:
    return (given.largest_norm / given.raw_margin) ** 2 if given.raw_margin > 0.0 else inf


def _von_neumann_bound(given: BoundInputs) -> float:
    target = max(given.margin, given.epsilon)
    return 1.0 / target**2 if target > 0.0 else inf


def _smoothed_bound(given: BoundInputs) -> float:
    target = max(given.margin, given.epsilon)
    return 2.0 * sqrt(2.0 * log(given.rows)) / target if target > 0.0 else inf


def _perceptron(options: PerceptronOptions) -> Perceptron:
    return Perceptron(PerceptronOptions(Order(options.order), options.seed))


register(
    Entry(
        name=Perceptron.name,
        aliases=(),
        summary="adds a misclassified row to the separator until there is none; raw rows",
        proves="separator",
        needs="rows",
        paper="Rosenblatt 1958; Ramdas and Pena 2014, Algorithm 1",
        bound_text="max|z|^2/rho_raw^2 mistakes (Block, Novikoff 1962)",
        bound=_mistake_bound,
        options=PerceptronOptions,
        make=_perceptron,
    )
)
register(
    Entry(
        name=SmoothedKernelPerceptron.name,
        aliases=("snkp",),
        summary="accelerated smoothed perceptron with the entropy as prox; one product with G a step",
        proves="separator or eps-witness",
        needs="gram",
        paper="Ramdas and Pena 2014, Algorithm 4",
        bound_text="2 sqrt(2 ln n)/max(rho, eps) iterations",
        bound=_smoothed_bound,
        options=SmoothedKernelPerceptronOptions,
        make=SmoothedKernelPerceptron,
    )
)
register(
    Entry(
        name=VonNeumann.name,
        aliases=("nvn",),
        summary="exact line search from convex weights to the worst row; one column of G a step",
        proves="separator or eps-witness",
        needs="gram",
        paper="Dantzig 1992; Ramdas and Pena 2014, Algorithm 5",
        bound_text="1/max(rho, eps)^2 iterations; O(rho^-2 log(1/eps)) when rho < 0 (Epelman and Freund 2000)",
        bound=_von_neumann_bound,
        options=VonNeumannOptions,
        make=VonNeumann,
    )
)
register(
    Entry(
        name=MinNormPointRounds.name,
        aliases=(),
        summary="the point of least norm in the hull of the rows, by an active set over a working set",
        proves="separator of maximum margin, or witness",
        needs="gram",
        paper="Wolfe 1976; Lawson and Hanson 1974",
        bound_text="finitely many steps",
        bound=None,
        options=MinNormPointOptions,
        make=MinNormPointRounds,
    )
)
