"""The floating-point search for kernels: a large margin, from columns of the Gram matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from sepcert.engine.dispatch import choose_for_kernel
from sepcert.engine.gram_kernel import KernelRows
from sepcert.engine.protocol import Algorithm
from sepcert.engine.registry import find, make_algorithm
from sepcert.errors import ConfigError, register
from sepcert.problem import Problem
from sepcert.search.proposals import Search
from sepcert.status import Termination

LARGEST_SCALE = 1e150
SCALE = register("CONFIG-BIAS-SCALE", "The bias feature is too large for the values of the kernel.")
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
    if not bias < LARGEST_SCALE:
        raise ConfigError(
            SCALE, f"bias_scale is {bias:g}", advice=f"with a kernel it has to be below {LARGEST_SCALE:g}"
        )
    rows = KernelRows(problem.points.values, problem.labels, problem.kernel, bias)
    choice, form = choose_for_kernel(problem.rows, problem.points.shape[1])
    search.say(choice.reason)
    gram = form.make(rows)
    members = np.arange(problem.rows)
    names = [search.algorithm] if search.alone else [choice.algorithm, choice.then]
    for name in names:
        if name is None or search.deadline.passed():
            break
        algorithm = _algorithm(name, search, form.support)
        outcome = search.run_once(algorithm, gram, most=None if search.alone else choice.max_iterations)
        search.remember(outcome, lambda at: rows.lengths[at], members)
        if outcome.termination is Termination.CLAIM_REACHED or search.found.alpha is not None:
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
