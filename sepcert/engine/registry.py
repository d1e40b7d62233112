"""The margin algorithms by name: what each can prove, what it needs, its paper and its bound.

``sepcert list algorithms`` prints this table.  An algorithm joins by :func:`register`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from sepcert.engine import bounds
from sepcert.engine.algorithms.block_principal_pivoting import BlockPivotingOptions, BlockPrincipalPivoting
from sepcert.engine.algorithms.iterated_smoothed_entropy import IteratedSmoothedEntropy
from sepcert.engine.algorithms.iterated_smoothed_kernel_perceptron_von_neumann import (
    IteratedOptions,
    IteratedSmoothedKernelPerceptronVonNeumann,
)
from sepcert.engine.algorithms.min_norm_point import MinNormPointOptions, MinNormPointRounds
from sepcert.engine.algorithms.normalized_kernel_perceptron import (
    NormalizedKernelPerceptron,
    NormalizedKernelPerceptronOptions,
)
from sepcert.engine.algorithms.normalized_perceptron import NormalizedPerceptron, NormalizedPerceptronOptions
from sepcert.engine.algorithms.pairwise_frank_wolfe import PairwiseFrankWolfe, PairwiseFrankWolfeOptions
from sepcert.engine.algorithms.perceptron import Order, Perceptron, PerceptronOptions
from sepcert.engine.algorithms.smoothed_kernel_perceptron import (
    SmoothedKernelPerceptron,
    SmoothedKernelPerceptronOptions,
)
from sepcert.engine.algorithms.smoothed_kernel_perceptron_von_neumann import (
    SmoothedKernelPerceptronVonNeumann,
    SmoothedKernelPerceptronVonNeumannOptions,
)
from sepcert.engine.algorithms.von_neumann import VonNeumann, VonNeumannOptions
from sepcert.engine.algorithms.winnow import Winnow, WinnowOptions
from sepcert.engine.protocol import Algorithm
from sepcert.errors import ConfigError
from sepcert.errors import register as register_code

UNKNOWN = register_code("CONFIG-ALGORITHM", "The algorithm is not one of those that are built.")
OPTION = register_code("CONFIG-ALGORITHM-OPTION", "The algorithm does not take this option, or not this value.")


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
        What it counts at most, as a function; infinity where it says nothing; None where there is none.
    options : type
        The frozen dataclass of its options.
    make : callable
        From an instance of it to the algorithm.
    counts : str
        What the bound is on: ``"iterations"`` (of the run), or a key of the candidates' `extra`.
    """

    name: str
    aliases: tuple[str, ...]
    summary: str
    proves: str
    needs: str
    paper: str
    bound_text: str
    bound: bounds.Bound | None
    options: type[Any]
    make: Callable[[Any], Algorithm[Any, Any]]
    counts: str = "iterations"


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
        UNKNOWN, f"algorithm {name!r} is not built", advice=f"{hint}auto, or one of {', '.join(ALGORITHMS)}"
    )


def make_algorithm(name: str, options: Mapping[str, object] | None = None) -> Algorithm[Any, Any]:
    """Return the algorithm of that name with these options.

    Raises
    ------
    ConfigError
        Unknown name, unknown option, or a value that the option does not take.

    Notes
    -----
    Values may be texts, as the command line has them: ``"2.5"``, ``"true"``, ``"none"``.
    """
    entry = find(name)
    given = dict(options or {})
    known = {field.name for field in fields(entry.options)}
    for option in given:
        if option not in known:
            advice = f"it takes {', '.join(sorted(known))}" if known else "it takes none"
            raise ConfigError(OPTION, f"{entry.name} takes no option {option!r}", advice=advice)
    try:
        plain = {name: _plain(value) for name, value in given.items()}
        for field in fields(entry.options):
            if field.name in plain:
                _require_kind(entry.name, field.name, str(field.type), plain[field.name])
        return entry.make(entry.options(**plain))
    except TypeError as error:
        written = ", ".join(f"{option}={value!r}" for option, value in given.items())
        raise ConfigError(
            OPTION, f"{entry.name} cannot use {written}", advice="give numbers where it asks for them"
        ) from error
    except ValueError as error:
        raise ConfigError(OPTION, f"{entry.name}: {error}") from error


def _require_kind(algorithm: str, option: str, kind: str, value: object) -> None:
    """Refuse a value that is not of the field's kind; whole numbers are 0 or more, those of a working set 1 or more."""
    if value is None and "None" in kind:
        return
    wanted = None
    if kind.startswith("int"):
        least = 1 if option in {"sample", "batch", "enough"} else 0
        if isinstance(value, bool) or not hasattr(value, "__index__") or int(value) < least:
            wanted = f"a whole number, {least} or more"
    elif kind.startswith("float"):
        if isinstance(value, bool | str) or not hasattr(value, "__float__"):
            wanted = "a number"
    elif kind.startswith("bool"):
        wanted = None if isinstance(value, bool) else "true or false"
    elif "Array" in kind and (np.ndim(value) != 1 or isinstance(value, str)):  # type: ignore[arg-type]
        wanted = "an array with one weight a row, from Python"
    if wanted is not None:
        raise ConfigError(OPTION, f"{algorithm}: {option} is {value!r}", advice=f"give {wanted}")


def _plain(value: object) -> object:
    """Return the number or truth value that a text stands for; anything else as it is."""
    if not isinstance(value, str):
        return value
    words = {"true": True, "false": False, "none": None}
    if value.lower() in words:
        return words[value.lower()]
    for read in (int, float):
        try:
            return read(value)
        except ValueError:
            continue
    return value


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
        bound=bounds.mistakes_of_the_perceptron,
        options=PerceptronOptions,
        make=_perceptron,
        counts="mistakes",
    )
)
register(
    Entry(
        name=NormalizedPerceptron.name,
        aliases=(),
        summary="averages the worst of the rows of unit length into the separator; one pass a step",
        proves="separator or eps-witness",
        needs="rows",
        paper="Ramdas and Pena 2014, Algorithm 2",
        bound_text="1/max(rho_2, eps)^2 iterations",
        bound=bounds.inverse_square,
        options=NormalizedPerceptronOptions,
        make=NormalizedPerceptron,
    )
)
register(
    Entry(
        name=NormalizedKernelPerceptron.name,
        aliases=("nkp",),
        summary="averages the worst row into convex weights, and goes on to the maximum margin; one column of G a step",
        proves="separator or eps-witness",
        needs="gram",
        paper="Ramdas and Pena 2014, Algorithm 3",
        bound_text="1/max(rho, eps)^2 iterations",
        bound=bounds.inverse_square,
        options=NormalizedKernelPerceptronOptions,
        make=NormalizedKernelPerceptron,
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
        bound=bounds.smoothed_with_entropy,
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
        bound=bounds.inverse_square,
        options=VonNeumannOptions,
        make=VonNeumann,
    )
)
register(
    Entry(
        name=SmoothedKernelPerceptronVonNeumann.name,
        aliases=("snkpvn",),
        summary="accelerated smoothed perceptron with the distance to q as prox; one product with G a step",
        proves="separator or delta-witness",
        needs="gram",
        paper="Ramdas and Pena 2014, Algorithm 6",
        bound_text="2 sqrt(2n)/max(delta, rho) iterations; (2 sqrt(2n)/delta) |q|_G/(|q|_G + |rho|) when rho < 0",
        bound=bounds.smoothed_with_distance,
        options=SmoothedKernelPerceptronVonNeumannOptions,
        make=SmoothedKernelPerceptronVonNeumann,
    )
)
register(
    Entry(
        name=IteratedSmoothedKernelPerceptronVonNeumann.name,
        aliases=("isnkpvn",),
        summary="snkpvn again and again, each time from the last weights; one product with G a step",
        proves="separator or eps-witness",
        needs="gram",
        paper="Ramdas and Pena 2014, Algorithm 7",
        bound_text="floor(log(|q_0|_G/max(eps, rho))/log gamma) + 1 calls of 2 sqrt(2n)/max(eps, rho) iterations; of "
        "2 sqrt(2n) gamma/|rho| when rho < 0",
        bound=bounds.iterated,
        options=IteratedOptions,
        make=IteratedSmoothedKernelPerceptronVonNeumann,
    )
)
register(
    Entry(
        name=IteratedSmoothedEntropy.name,
        aliases=("isnkp",),
        summary="smoothed perceptron again and again, each time with the entropy relative to the last weights",
        proves="separator or eps-witness",
        needs="gram",
        paper="Ramdas and Pena 2015, remark in the source of arXiv 1505.04123",
        bound_text="none is proved",
        bound=None,
        options=IteratedOptions,
        make=IteratedSmoothedEntropy,
    )
)
register(
    Entry(
        name=Winnow.name,
        aliases=(),
        summary="multiplicative updates by misclassified rows of unit l_inf norm; features are doubled for signs",
        proves="separator",
        needs="rows",
        paper="Littlestone 1988; Ramdas and Pena 2014, section 2.2",
        bound_text="2 ln d/r^2 mistakes, r <= rho_1 given, 32 ln d/(3 rho_1^2) where it is guessed; d after doubling",
        bound=bounds.mistakes_of_winnow,
        options=WinnowOptions,
        make=Winnow,
        counts="mistakes",
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
register(
    Entry(
        name=PairwiseFrankWolfe.name,
        aliases=("pfw",),
        summary="moves weight from the best to the worst row with exact line search; two columns of G a step",
        proves="separator of maximum margin, or eps-witness",
        needs="gram",
        paper="Lacoste-Julien and Jaggi 2015, Algorithm 2; Mitchell, Demyanov and Malozemov 1974",
        bound_text="|p|_G^2 falls geometrically, at a rate that depends on the data",
        bound=None,
        options=PairwiseFrankWolfeOptions,
        make=PairwiseFrankWolfe,
    )
)
register(
    Entry(
        name=BlockPrincipalPivoting.name,
        aliases=("bpp",),
        summary="pairwise steps, then one Cholesky factorisation of the support an iteration; for kernels",
        proves="separator of maximum margin, or eps-witness",
        needs="gram",
        paper="Judice and Pires 1994; Portugal, Judice and Vicente 1994; Lacoste-Julien and Jaggi 2015",
        bound_text="finitely many steps",
        bound=None,
        options=BlockPivotingOptions,
        make=BlockPrincipalPivoting,
    )
)
