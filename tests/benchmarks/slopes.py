"""Slopes of iterations against 1/rho on planted data with rho <= 0.02, beside the windows they are known to lie in.

    python tests/benchmarks/slopes.py [--rows 2000] [--columns 10] [--seeds 12] [algorithm ...]

Iterations (mistakes, for `perceptron` and `winnow`) until the first separator.  The slope is that of log iterations
against log(1/rho) by least squares, over problems whose rho spreads over a decade, with its standard error: single
runs scatter by a factor of two or more.  The windows are those of 2000 x 10; on other shapes `snkp` has been seen from
1.2 to 1.6.  The exit status is 1 where a slope lies outside its window.
"""

from __future__ import annotations

import argparse
import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from sepcert.engine.driver import run
from sepcert.engine.gram import FactoredGram
from sepcert.engine.protocol import Goal, Limits, Targets
from sepcert.engine.registry import find, make_algorithm
from sepcert.engine.rows import FloatRows

LARGEST_MARGIN = 0.02
DISTANCES = np.geomspace(0.004, 0.08, 12)
"""By how much the points are moved away from the planted hyperplane; rho is somewhat less than half of it."""
SHAPE = (2000, 10)
WINDOWS = {"nkp": (1.4, np.inf), "snkp": (-np.inf, 1.3)}
ANY = (-np.inf, np.inf)
DEFAULT = ("nkp", "nvn", "snkp", "snkpvn", "isnkpvn", "isnkp")


def planted(rows: int, columns: int, distance: float, seed: int) -> FloatRows:
    """Return standard normal points, moved away from a random hyperplane through 0."""
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((rows, columns))
    normal = rng.standard_normal(columns)
    normal /= np.linalg.norm(normal)
    labels = np.where(points @ normal > 0, 1, -1).astype(np.int8)
    points += distance * labels[:, None] * normal
    return FloatRows(points, labels)


def measure(names: list[str], rows: int, columns: int, seeds: int) -> tuple[np.ndarray, dict[str, list[int]]]:
    """Return the margins of the problems, and the counts of each algorithm on them."""
    margins: list[float] = []
    counts: dict[str, list[int]] = {name: [] for name in names}
    for distance in DISTANCES:
        for seed in range(seeds):
            gram = FactoredGram(planted(rows, columns, float(distance), seed))
            margin = run(make_algorithm("min-norm-point"), gram, Targets(gap=1e-6)).bracket.lower
            if margin is None or not 0.0 < margin <= LARGEST_MARGIN:
                continue
            margins.append(margin)
            for name in names:
                outcome = run(make_algorithm(name), gram, limits=Limits(max_iterations=200_000))
                if outcome.reached is not Goal.SEPARATOR or outcome.candidate is None:
                    raise SystemExit(f"{name} did not separate at rho = {margin:.2g}")
                key = find(name).counts
                counted = outcome.iterations if key == "iterations" else outcome.candidate.extra[key]
                counts[name].append(int(str(counted)))
    return np.array(margins), counts


def fitted(margins: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    """Return the slope of log counts against log(1/margin), and its standard error."""
    x, y = np.log(1.0 / margins[counts > 0]), np.log(counts[counts > 0])
    slope, constant = np.polyfit(x, y, 1)
    rest = y - slope * x - constant
    return float(slope), float(np.sqrt(rest @ rest / (len(x) - 2) / ((x - x.mean()) @ (x - x.mean()))))


def main() -> int:
    """Print the table of slopes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=SHAPE[0])
    parser.add_argument("--columns", type=int, default=SHAPE[1])
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("algorithms", nargs="*", default=list(DEFAULT))
    given = parser.parse_args()
    margins, counts = measure(given.algorithms, given.rows, given.columns, given.seeds)
    print(
        f"{given.rows} x {given.columns}, {len(margins)} problems, rho from {margins.min():.2g} to {margins.max():.2g}"
    )
    print(f"{'algorithm':<24}{'slope':>7}{'error':>7}  {'window':<14}{'median':>8}{'most':>8}")
    outside = 0
    for name, found in counts.items():
        slope, error = fitted(margins, np.array(found))
        low, high = WINDOWS.get(name, ANY) if (given.rows, given.columns) == SHAPE else ANY
        window = "" if (low, high) == ANY else f">= {low}" if np.isinf(high) else f"<= {high}"
        inside = low <= slope <= high
        outside += not inside
        mark = "" if inside else "  outside"
        print(f"{name:<24}{slope:>7.2f}{error:>7.2f}  {window:<14}{np.median(found):>8.0f}{max(found):>8d}{mark}")
    return int(outside > 0)


if __name__ == "__main__":
    sys.exit(main())
