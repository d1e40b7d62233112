"""Which algorithm `auto` runs on a problem, and why, by a small measured cost model.

The unit is one pass over the data: n D multiply-adds, at about 0.25 ns each on one core when the data are larger
than the cache.  Measured beside it (one BLAS thread, planted margins 0 and 0.05, 5,000 to 1,000,000 rows):

* working set: 3 to 9 passes, and active-set solves that grow like D^2.5: 10 ms at D = 20, 50 to 120 ms at 100, 0.4 to
  1 s at 300, 1.3 to 2.7 s at 500, 7 to 10 s at 1000; less where there are fewer rows than that;
* smoothed perceptron: 60 to 400 iterations of two passes on data with a margin, up to 1400 without; it never
  decides data that overlap, so that a run of it is limited and the working set comes after it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sepcert.engine.algorithms.block_principal_pivoting import FACTOR_SECONDS, VALUE_SECONDS
from sepcert.engine.gram_form import GramForm, choose_form

MULTIPLY_ADD_SECONDS = 2.5e-10
"""One entry of one pass over data larger than the cache."""
WORKING_SET_SECONDS = 3.5e-7
"""All active-set solves of a run, over D^2.5."""
WORKING_SET_START_SECONDS = 5e-3
WORKING_SET_PASSES = 8
SMOOTHED_ITERATIONS = 400
SMOOTHED_LIMIT = 1500
"""Iterations after which the smoothed perceptron has most likely met data that overlap."""
WIDE = 400
"""Below this the working set is not left: it also decides overlapping data, which the smoothed perceptron cannot."""
GRAM_RATIO = 4
"""Work in G when D is at least this many times n; below it, rows are as good."""


@dataclass(frozen=True)
class Choice:
    """What will be run.

    Attributes
    ----------
    algorithm : str
        A name in the registry.
    form : str
        ``"factored"``, ``"dense"`` or ``"lazy"``: the form of the Gram operator.
    reason : str
        One line for the log.
    seconds : dict of str to float
        The estimates that were compared.
    max_iterations : int or None
        Where to stop it without a claim.
    then : str or None
        What to run if it stops there.
    """

    algorithm: str
    form: str
    reason: str
    seconds: dict[str, float] = field(default_factory=dict)
    max_iterations: int | None = None
    then: str | None = None


def choose(rows: int, dimension: int) -> Choice:
    """Choose by the size of the problem.

    Parameters
    ----------
    rows : int
        n.
    dimension : int
        D, bias feature included.
    """
    one_pass = MULTIPLY_ADD_SECONDS * rows * dimension
    if dimension >= GRAM_RATIO * rows:
        product = one_pass * rows / 2 + 10.0 * MULTIPLY_ADD_SECONDS * rows**3
        return Choice(
            "min-norm-point",
            "dense",
            f"min-norm point in the {rows} x {rows} Gram matrix: D = {dimension} is at least {GRAM_RATIO} n; "
            f"about {_time(product)}",
            {"gram": product},
        )
    solves = WORKING_SET_START_SECONDS + WORKING_SET_SECONDS * min(rows, dimension) ** 2.5
    working = solves + WORKING_SET_PASSES * one_pass
    smoothed = 2.0 * SMOOTHED_ITERATIONS * one_pass
    seconds = {"working-set": working, "smoothed": smoothed}
    compared = f"working set about {_time(working)}, smoothed perceptron about {_time(smoothed)}"
    if working <= smoothed or dimension < WIDE:
        return Choice("min-norm-point", "factored", f"working set for {rows} x {dimension}: {compared}", seconds)
    return Choice(
        "smoothed-kernel-perceptron",
        "factored",
        f"smoothed perceptron for {rows} x {dimension}: {compared}",
        seconds,
        SMOOTHED_LIMIT,
        "min-norm-point",
    )


PIVOTS = 12
KERNEL_LIMIT = 1000
"""Iterations of block principal pivoting after which it has most likely met a margin below what doubles resolve."""


def choose_for_kernel(
    rows: int, columns: int, available: int | None = None, limit: int | None = None, form: str = "auto"
) -> tuple[Choice, GramForm]:
    """Choose for a kernel other than the linear one, by the size of the problem and the memory there is.

    Parameters
    ----------
    rows, columns : int
        n and d.
    available, limit, form
        See :func:`sepcert.engine.gram_form.choose_form`.

    Returns
    -------
    Choice
        Block principal pivoting, and the smoothed perceptron where that ends without the target.
    GramForm
        How to make the operator; its `support` is the algorithm's option `support_limit`.

    Raises
    ------
    KernelError
        It does not fit into memory.
    """
    shape = choose_form(rows, columns, available, limit=limit, form=form)
    seconds = {}
    for name, part in (("support n/10", 10), ("support n/2", 2)):
        support = min(shape.support, rows // part)
        seconds[name] = VALUE_SECONDS * rows * support + PIVOTS * FACTOR_SECONDS * support**3
    compared = ", ".join(f"about {_time(time)} with {name}" for name, time in seconds.items())
    reason = f"pairwise Frank-Wolfe and block principal pivoting on the support: {compared}; {shape.reason}"
    choice = Choice("block-principal-pivoting", shape.form, reason, seconds, KERNEL_LIMIT, "smoothed-kernel-perceptron")
    return choice, shape


def _time(seconds: float) -> str:
    return f"{1e3 * seconds:.2g} ms" if seconds < 1.0 else f"{seconds:.2g} s"
