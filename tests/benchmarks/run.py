"""Benchmarks: sepcert beside what a user would run instead, in one table; needs the extra ``[bench]``.

    python tests/benchmarks/run.py [--seeds 5] [--json FILE] [tall] [wide] [csv] [start] [adversarial] [growth]

CPU seconds of one process with one BLAS thread, medians over seeds.  `search` is from the matrix in memory to the
floating-point proposal, `whole` is ``sepcert.check(X, y)``: search, proof and own verification.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import numpy as np  # noqa: E402
from instances import KINDS, make  # noqa: E402
from scipy.optimize import linprog  # noqa: E402

import sepcert  # noqa: E402
from sepcert.exact.decide import Deadline  # noqa: E402
from sepcert.exact.face import Face  # noqa: E402
from sepcert.problem import Points, Problem  # noqa: E402
from sepcert.search.proposals import Search  # noqa: E402
from sepcert.status import Numbers  # noqa: E402
from sepcert.verify.rows import SignedRows  # noqa: E402


def cpu(job: Callable[[], object]) -> tuple[float, object]:
    """Return the CPU seconds of a job and what it returns."""
    began = time.process_time()
    value = job()
    return time.process_time() - began, value


def highs(points: np.ndarray, labels: np.ndarray) -> object:
    """Solve the feasibility program y_i (x_i'w + b) >= 1 with HiGHS."""
    rows = np.column_stack([np.ones(len(points)), points]) * labels[:, None]
    free = [(None, None)] * rows.shape[1]
    return linprog(np.zeros(rows.shape[1]), A_ub=-rows, b_ub=-np.ones(len(rows)), bounds=free, method="highs").status


def search(points: np.ndarray, labels: np.ndarray) -> object:
    """Run the engine until its first proposal."""
    problem = Problem(Points(points, Numbers.BINARY64), labels.astype(np.int8))
    face = Face(SignedRows(problem), np.arange(len(points)))
    found = Search(Deadline())
    next(iter(found.propose(face)), None)
    return found.spent.passes


def compare(rows: int, columns: int, seeds: int, rival: bool) -> list[dict[str, object]]:
    """Time the four kinds of one size."""
    table = []
    for kind in KINDS:
        lines: dict[str, list[float]] = {"one pass": [], "search": [], "whole": [], "passes": [], "HiGHS": []}
        verdict = ""
        for seed in range(seeds):
            points, labels = make(kind, rows, columns, seed)
            direction = np.ones(columns)
            lines["one pass"].append(min(cpu(lambda x=points, w=direction: x @ w)[0] for _ in range(5)))
            seconds, passes = cpu(lambda x=points, y=labels: search(x, y))
            lines["search"].append(seconds)
            lines["passes"].append(float(passes))
            seconds, result = cpu(lambda x=points, y=labels: sepcert.check(x, y))
            verdict = f"{result.separation}, verified" if result.verified else "NOT PROVED"
            lines["whole"].append(seconds)
            if rival:
                lines["HiGHS"].append(cpu(lambda x=points, y=labels: highs(x, y))[0])
        row: dict[str, object] = {"size": f"{rows} x {columns}", "kind": kind, "verdict": verdict}
        row |= {name: median(values) for name, values in lines.items() if values}
        if rival:
            row["search ratio"] = row["HiGHS"] / row["search"]
            row["whole ratio"] = row["HiGHS"] / row["whole"]
        row["search / pass"] = row["search"] / row["one pass"]
        row["whole / pass"] = row["whole"] / row["one pass"]
        table.append(row)
        show(row)
    return table


def tall(seeds: int) -> list[dict[str, object]]:
    """100,000 x 20 with HiGHS beside, 1,000,000 x 20 without."""
    return compare(100_000, 20, seeds, True) + compare(1_000_000, 20, min(seeds, 2), False)


def wide(seeds: int) -> list[dict[str, object]]:
    """20,000 x 500."""
    return compare(20_000, 500, min(seeds, 2), False)


def growth(seeds: int) -> list[dict[str, object]]:
    """How the time of the whole grows with n, with d, and with 1/rho."""
    table = []
    for rows in (25_000, 50_000, 100_000, 200_000):
        table += compare(rows, 20, min(seeds, 3), False)
    for columns in (10, 40, 80):
        table += compare(50_000, columns, min(seeds, 3), False)
    return table


def child(words: list[str]) -> tuple[float, float]:
    """Run a command and return its CPU seconds and its peak memory in bytes."""
    code = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, done.returncode)\n"
    )
    out = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True).stdout
    seconds, peak, _ = out.split()
    return float(seconds), float(peak)


def csv(seeds: int) -> list[dict[str, object]]:
    """1,000,000 x 20 as CSV: the whole command against np.loadtxt on the same file."""
    table = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS[1:]:
            points, labels = make(kind, 1_000_000, 20, 0)
            path = str(Path(folder) / "data.csv")
            np.savetxt(path, np.column_stack([points, labels > 0]), delimiter=",", fmt=["%.17g"] * 20 + ["%d"])
            load = f"import numpy; numpy.loadtxt({path!r}, delimiter=',')"
            theirs = [child([sys.executable, "-c", load])[0] for _ in range(min(seeds, 3))]
            mine = [child([sys.executable, "-m", "sepcert", "check", path]) for _ in range(min(seeds, 3))]
            row: dict[str, object] = {
                "size": "1000000 x 20 CSV",
                "kind": kind,
                "megabytes": os.path.getsize(path) / 1e6,
                "np.loadtxt": median(theirs),
                "whole command": median(seconds for seconds, _ in mine),
                "peak / matrix": median(peak for _, peak in mine) / (1_000_000 * 20 * 8),
            }
            row["ratio"] = row["whole command"] / row["np.loadtxt"]
            table.append(row)
            show(row)
    return table


def start(seeds: int) -> list[dict[str, object]]:
    """Start-up: the version, a small file, and what importing numpy costs here."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.csv"
        path.write_text("x,y\n1,0\n2,0\n3,1\n4,1\n")
        words = {
            "import numpy": [sys.executable, "-c", "import numpy"],
            "--version": [sys.executable, "-m", "sepcert", "--version"],
            "check small.csv": [sys.executable, "-m", "sepcert", "check", str(path)],
        }
        row: dict[str, object] = {"size": "start"}
        row |= {name: median(child(command)[0] for _ in range(max(seeds, 5))) for name, command in words.items()}
    show(row)
    return [row]


def adversarial(seeds: int) -> list[dict[str, object]]:
    """504 small instances with known truth."""
    stored = np.load(HERE.parent / "data" / "adversarial.npz", allow_pickle=False)
    at = line = right = undecided = 0
    times = []
    for k, (rows, columns) in enumerate(stored["shape"].tolist()):
        points = stored["X"][at : at + rows * columns].reshape(rows, columns)
        labels = stored["y"][line : line + rows]
        at, line = at + rows * columns, line + rows
        seconds, result = cpu(lambda x=points, y=labels: sepcert.check(x, y, numbers="binary64"))
        times.append(seconds)
        undecided += not result.verified
        right += result.verified and str(result.separation)[0] == stored["truth"][k]
    row: dict[str, object] = {
        "size": "adversarial",
        "right": right,
        "undecided": undecided,
        "of": len(times),
        "mean ms": 1000 * sum(times) / len(times),
        "max ms": 1000 * max(times),
    }
    show(row)
    return [row]


def show(row: dict[str, object]) -> None:
    """Print one line of the table."""
    print("  ".join(f"{k}: {v:.4g}" if isinstance(v, float) else f"{k}: {v}" for k, v in row.items()), flush=True)


PARTS = {"tall": tall, "wide": wide, "csv": csv, "start": start, "adversarial": adversarial, "growth": growth}


def main() -> None:
    """Run the chosen parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: all but growth")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    chosen = arguments.parts or [name for name in PARTS if name != "growth"]
    results = {name: PARTS[name](arguments.seeds) for name in chosen}
    print(f"peak memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
