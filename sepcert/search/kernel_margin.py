"""The floating-point search for kernels: a large margin, from columns of the Gram matrix."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from sepcert.engine.dispatch import choose_for_kernel
from sepcert.engine.driver import run
from sepcert.engine.gram_kernel import KernelRows
from sepcert.engine.protocol import Algorithm, Control, Limits, Outcome, Targets
from sepcert.engine.registry import find, make_algorithm
from sepcert.errors import ConfigError, register
from sepcert.problem import FloatArray, Problem
from sepcert.search.proposals import DEFAULT_GAP, Search, Watching
from sepcert.status import Termination

NEEDS_ROWS = register(
    "CONFIG-ALGORITHM-KERNEL", "The algorithm works on rows, and the kernel gives only their products."
)


def search_kernel_margin(problem: Problem, search: Search) -> None:
    """Run the chosen algorithm, and the one that follows it, and keep what they find in ``search.found``.

    Raises
    ------
    KernelError
        A value of the kernel is too large for a double, or the run does not fit into memory.
    ConfigError
        A named algorithm that needs rows.
    """
    bias = float(problem.bias_scale) if problem.bias else 0.0
    rows = KernelRows(problem.points.values, problem.labels, problem.kernel, bias)
    choice, form = choose_for_kernel(problem.rows, problem.points.shape[1])
    search.say(choice.reason)
    gram = form.make(rows)
    names = [search.algorithm] if search.alone else [choice.algorithm, choice.then]
    for name in names:
        if name is None:
            break
        algorithm = _algorithm(name, search, form.support)
        targets = Targets(
            epsilon=search.epsilon if search.alone else None,
            gap=search.gap if search.alone or search.gap is not None else DEFAULT_GAP,
        )
        most = choice.max_iterations if search.max_iterations is None else search.max_iterations
        limits = Limits(max_iterations=search.max_iterations if search.alone else most)
        control = Control(clock=time.monotonic, deadline=search.deadline.at)
        outcome = run(algorithm, gram, targets, limits, [Watching(search.watchers)], control)
        search.spent.add(outcome)
        if outcome.termination is Termination.INTERRUPTED:
            search.deadline.stopped = True
        _keep(outcome, rows.lengths, search)
        done = outcome.termination is Termination.CLAIM_REACHED or search.deadline.passed()
        if done or search.found.alpha is not None:
            break


def _algorithm(name: str, search: Search, support: int) -> Algorithm[Any, Any]:
    entry = find(name)
    if entry.needs == "rows":
        raise ConfigError(
            NEEDS_ROWS, f"{entry.name} works on rows", advice="choose one that needs only products with G"
        )
    known = entry.options.__dataclass_fields__
    own: dict[str, object] = {"seed": search.seed, "support_limit": support}
    return make_algorithm(entry.name, {**{k: v for k, v in own.items() if k in known}, **search.algorithm_options})


def _keep(outcome: Outcome, lengths: FloatArray, search: Search) -> None:
    """Keep the weights behind both ends of the bracket, over the raw rows."""
    lower, upper = outcome.lower, outcome.upper
    if lower is not None and lower.weights is not None and (outcome.bracket.lower or 0.0) > 0:
        search.found.alpha = _raw(lower.weights, lengths)
    if upper is not None and upper.simplex is not None:
        search.found.upper = _raw(upper.simplex, lengths)


def _raw(weights: FloatArray, lengths: FloatArray) -> dict[int, float]:
    at = np.flatnonzero(weights)
    return dict(zip(at.tolist(), (weights[at] / lengths[at]).tolist(), strict=True))
