"""Which algorithm `auto` runs on a problem, and why, by a small measured cost model.

The unit is one pass over the data: n D multiply-adds, at about 0.25 ns each on one core when the data are larger
than the cache.  Measured with that unit (one BLAS thread, 20,000 to 1,000,000 rows, planted margins 0 to 0.05):

* working set: 3 to 9 passes, and active-set solves that grow like D^2.5: 10 to 20 ms at D = 20, 50 to 120 ms at 100,
  0.4 to 1 s at 300, 1.3 to 2.7 s at 500;
* smoothed perceptron: 60 to 400 iterations of two passes on data with a margin, up to 2000 without.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MULTIPLY_ADD_SECONDS = 2.5e-10
"""One entry of one pass over data larger than the cache."""
WORKING_SET_SECONDS = 3.5e-7
"""All active-set solves of a run, over D^2.5."""
WORKING_SET_PASSES = 8
SMOOTHED_ITERATIONS = 400
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
        ``"factored"`` or ``"dense"``: the form of the Gram operator.
    reason : str
        One line for the log.
    seconds : dict of str to float
        The estimates that were compared.
    """

    algorithm: str
    form: str
    reason: str
    seconds: dict[str, float] = field(default_factory=dict)


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
    active = min(rows, dimension) ** 2.5
    working = WORKING_SET_SECONDS * active + WORKING_SET_PASSES * one_pass
    smoothed = 2.0 * SMOOTHED_ITERATIONS * one_pass
    seconds = {"working-set": working, "smoothed": smoothed}
    compared = f"working set about {_time(working)}, smoothed perceptron about {_time(smoothed)}"
    if working <= smoothed or rows <= 2 * dimension:
        return Choice("working-set", "factored", f"working set for {rows} x {dimension}: {compared}", seconds)
    return Choice(
        "smoothed-kernel-perceptron",
        "factored",
        f"smoothed perceptron for {rows} x {dimension}: {compared}",
        seconds,
    )


def _time(seconds: float) -> str:
    return f"{1e3 * seconds:.2g} ms" if seconds < 1.0 else f"{seconds:.2g} s"
