"""Kernel values with proved errors: 10**5 pairs a kernel against balls, and the CPU time of 20,000 x 200 values.

Run ``python tests/benchmarks/kernel_bounds.py [pairs]`` from the root of the project.  It ends with status 1 if an
error is not within its bound.
"""

import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "verify")]

import kernel_cases  # noqa: E402

from sepcert.kernels import define_kernel  # noqa: E402
from sepcert.problem import Points  # noqa: E402
from sepcert.status import Numbers  # noqa: E402
from sepcert.verify.kernel_points import PointRows  # noqa: E402
from sepcert.verify.kernel_values import enclose_expansion, enclose_pairs  # noqa: E402


def bounds(count):
    """Check `count` pairs a kernel, a third of them under each reading; return how many bounds do not hold."""
    rng = np.random.default_rng(2)
    wrong = 0
    for number, kernel in enumerate(kernel_cases.kernels()):
        began, finite = time.process_time(), 0
        for reading in ("binary64", "decimal", "odd"):
            sides = kernel_cases.pairs(rng, count // 3, (1, 2, 5)[number % 3])
            left, right = (kernel_cases.table(rng, side, reading) for side in sides)
            enclosure = enclose_pairs(kernel, PointRows(left), PointRows(right))
            found, known = kernel_cases.violations(kernel, left, right, enclosure)
            wrong, finite = wrong + len(found), finite + known
        seconds = time.process_time() - began
        print(f"{kernel.name:<12} {count // 3 * 3:>7} pairs, {finite:>7} finite, {wrong} wrong so far, {seconds:.0f} s")
    return wrong


def speed():
    """Print the CPU time of sum_j c_j K(x_i, z_j) for 20,000 x 200 pairs, proved and plain, the best of three."""
    rng = np.random.default_rng(0)
    x, c = rng.normal(size=(20000, 10)), rng.normal(size=200)
    for name, parameters in [
        ("gaussian", {"gamma": "0.1"}),
        ("laplacian", {"gamma": "0.1"}),
        ("matern", {"nu": "5/2", "length_scale": 1}),
        ("polynomial", {"degree": 3}),
    ]:
        kernel = define_kernel(name, parameters)
        for numbers in (Numbers.BINARY64, Numbers.DECIMAL):
            values = x if numbers is Numbers.BINARY64 else np.rint(x * 1000) / 1000
            points = Points(values, numbers)
            rows, support = PointRows(points), PointRows(points, np.arange(0, 20000, 100))
            proved = least(lambda k=kernel, r=rows, s=support: enclose_expansion(k, r, s, c))
            plain = least(lambda k=kernel, v=values: k.values(v, v[::100]) @ c)
            print(f"{name:<12} {numbers:<9} proved {proved:.3f} s, plain {plain:.3f} s")


def least(run):
    times = []
    for _ in range(3):
        began = time.process_time()
        run()
        times.append(time.process_time() - began)
    return min(times)


if __name__ == "__main__":
    speed()
    sys.exit(bounds(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000) > 0)
