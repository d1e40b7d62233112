"""Every algorithm side by side on one problem, with the same limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sepcert.check_options import OPTION, CheckOptions
from sepcert.data.arrays import dataset_from_arrays
from sepcert.data.dataset import Dataset
from sepcert.engine.bounds import BoundInputs
from sepcert.engine.protocol import IterationRecord
from sepcert.engine.registry import ALGORITHMS, UNKNOWN, Entry, find
from sepcert.engine.rows import FloatRows
from sepcert.errors import ConfigError
from sepcert.findings import Margin
from sepcert.kernels import make_kernel
from sepcert.problem import Problem
from sepcert.search.proposals import Say
from sepcert.status import Claim, Numbers, Separation, Termination, Verdict
from sepcert.workflows.contest import Finish, TracePoint, products_of, run_alone
from sepcert.workflows.theorem_bounds import RowSizes, bound_inputs, bound_of

SCHEMA = "sepcert-race/1"
DEFAULT_ITERATIONS, DEFAULT_SECONDS = 10_000, 10.0
"""For each algorithm, where the user sets no limit at all: some of them never end on data that are not separable."""

INTERRUPTED = "the race was interrupted"

RaceWatcher = Callable[[str, IterationRecord], None]


@dataclass(frozen=True)
class RaceRun:
    """One algorithm in the race.

    Attributes
    ----------
    algorithm : str
    alias : str
        Its short name; the name itself where it has none.
    verdict : Verdict
        What its proposal alone proves; ``undecided``: nothing.
    separation : Separation or None
    verified : bool
        Whether the verifier has accepted the evidence for the verdict.
    termination : Termination
        Why it stopped.
    iterations : int
    products, passes : float
        Products with G, and passes over the rows.
    cpu_seconds, proof_cpu_seconds : float
        Of the algorithm, and of the exact stage with the verifier.
    margin : Margin
        The proved bracket on the normalised margin from what it proposed; None: it proposed no such end.
    counts : str
        What the theorem bounds: ``iterations`` or ``mistakes``.
    counted : int or None
        How many of them it took to the first separator, or in all where it found none.
    bound : float or None
        The theorem's bound on the count at the best margin that is proved by any algorithm.
    bound_formula : str
    trace : tuple of TracePoint
        The bracket against the products, in doubles.
    """

    algorithm: str
    alias: str
    verdict: Verdict
    separation: Separation | None
    verified: bool
    termination: Termination
    iterations: int
    products: float
    passes: float
    cpu_seconds: float
    proof_cpu_seconds: float
    margin: Margin
    counts: str
    counted: int | None
    bound: float | None
    bound_formula: str
    trace: tuple[TracePoint, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the object of the JSON."""
        return {
            "algorithm": self.algorithm,
            "alias": self.alias,
            "verdict": self.verdict.value,
            "separation": None if self.separation is None else self.separation.value,
            "verified": self.verified,
            "termination": self.termination.value,
            "iterations": self.iterations,
            "products": round(self.products, 6),
            "passes": round(self.passes, 6),
            "cpu_seconds": round(self.cpu_seconds, 6),
            "proof_cpu_seconds": round(self.proof_cpu_seconds, 6),
            "margin": {"lower": self.margin.lower, "upper": self.margin.upper},
            "counts": self.counts,
            "counted": self.counted,
            "bound": self.bound,
            "bound_formula": self.bound_formula,
        }


@dataclass(frozen=True)
class Absent:
    """An algorithm that did not run, and why."""

    algorithm: str
    reason: str


@dataclass(frozen=True, eq=False)
class RaceResult:
    """What a race found.

    Attributes
    ----------
    dataset : Dataset
    options : CheckOptions
        With the limits that held for each algorithm.
    runs : tuple of RaceRun
        In the order of the registry, or the one that was asked for.
    absent : tuple of Absent
        Algorithms that do not apply, or were not reached.
    interrupted : bool
    """

    dataset: Dataset
    options: CheckOptions
    runs: tuple[RaceRun, ...]
    absent: tuple[Absent, ...]
    interrupted: bool

    @property
    def answered(self) -> bool:
        """Whether some algorithm proved a verdict."""
        return any(run.verified for run in self.runs)

    @property
    def verdict(self) -> Verdict:
        """The strongest verdict proved by any algorithm."""
        proved = {run.verdict for run in self.runs if run.verified}
        strongest = (Verdict.SEPARABLE, Verdict.INSEPARABLE, Verdict.MARGIN_AT_MOST)
        return next((verdict for verdict in strongest if verdict in proved), Verdict.UNDECIDED)

    @property
    def margin(self) -> Margin:
        """The bracket that all of them together prove."""
        lower = [run.margin.lower for run in self.runs if run.margin.lower is not None]
        upper = [run.margin.upper for run in self.runs if run.margin.upper is not None]
        return Margin(max(lower, default=None), min(upper, default=None))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of ``sepcert race --format json``."""
        about, options = self.dataset.fingerprint(), self.options
        return {
            "schema": SCHEMA,
            "data": {
                "path": about.path,
                "sha256": about.sha256,
                "rows": about.rows,
                "features": list(about.features),
                "label": about.label,
                "positive": about.positive,
                "negative": about.negative,
                "numbers": about.numbers,
            },
            "kernel": {"name": options.kernel, "bias": options.bias, "bias_scale": float(options.bias_scale)},
            "limits": {
                "max_iterations": options.max_iterations,
                "time_limit_seconds": options.time_limit_seconds,
                "epsilon": options.epsilon,
                "gap": options.gap,
            },
            "seed": options.seed,
            "verdict": self.verdict.value,
            "margin": {"lower": self.margin.lower, "upper": self.margin.upper},
            "runs": [run.to_dict() for run in self.runs],
            "not_applicable": [{"algorithm": one.algorithm, "reason": one.reason} for one in self.absent],
        }


def race(
    X: ArrayLike,
    y: ArrayLike,
    *,
    algorithms: Sequence[str] | None = None,
    numbers: str = "binary64",
    positive: Any = None,
    feature_names: Sequence[str] | None = None,
    **options: Any,
) -> RaceResult:
    """Run every algorithm on the same arrays with the same limits.

    Parameters
    ----------
    X : array_like, shape (n, d)
    y : array_like, shape (n,)
        Labels, exactly two different ones.
    algorithms : sequence of str, optional
        Names or aliases; default: all of the registry.
    numbers : str
        ``binary64`` or ``decimal``.
    positive : object, optional
        The label of the positive class; default: the last in sorted order.
    feature_names : sequence of str, optional
    **options
        Of :class:`~sepcert.check_options.CheckOptions`: bias, bias_scale, epsilon, gap, max_iterations,
        time_limit_seconds (for each algorithm), seed.

    Returns
    -------
    RaceResult

    Raises
    ------
    DataError, KernelError, ConfigError
    """
    try:
        reading = Numbers(numbers)
    except ValueError:
        raise ConfigError(OPTION, f"numbers is {numbers!r}", advice=f"one of {', '.join(Numbers)}") from None
    dataset = dataset_from_arrays(X, y, numbers=reading, positive=positive, feature_names=feature_names)
    return race_dataset(dataset, CheckOptions(**options), algorithms)


def race_dataset(
    dataset: Dataset,
    options: CheckOptions | None = None,
    algorithms: Sequence[str] | None = None,
    *,
    watch: RaceWatcher | None = None,
    say: Say | None = None,
) -> RaceResult:
    """Run every algorithm on the same problem with the same limits.

    Parameters
    ----------
    dataset : Dataset
    options : CheckOptions, optional
        The limits hold for each algorithm; without any, 10,000 iterations and 10 seconds.
    algorithms : sequence of str, optional
        Names or aliases; default: all of the registry.
    watch : callable, optional
        Given the name of the algorithm and every iteration.
    say : callable, optional
        Given log messages.

    Returns
    -------
    RaceResult

    Raises
    ------
    ConfigError
        An algorithm that is not built.
    """
    entries = contestants(algorithms)
    options = _limited(options or CheckOptions())
    if options.kernel != "linear":
        raise ConfigError(
            OPTION,
            f"race compares algorithms on the linear kernel, not on {options.kernel!r}",
            advice="use sepcert check --kernel ... --algorithm NAME for one algorithm",
        )
    kernel = make_kernel(options.kernel)
    problem = Problem(dataset.points, dataset.labels, kernel, options.bias, Fraction(options.bias_scale))
    rows = FloatRows(problem.points.values, problem.labels, float(problem.bias_scale) if problem.bias else 0.0)
    sizes = RowSizes.of(rows)
    finished: list[Finish] = []
    absent: list[Absent] = []
    interrupted = False
    for entry in entries:
        reason = INTERRUPTED if interrupted else _obstacle(entry, dataset, problem, sizes)
        if reason:
            absent.append(Absent(entry.name, reason))
            continue
        finish = run_alone(entry, problem, options, _named(watch, entry.name), say or _silent)
        interrupted = finish.stopped
        if finish.outcome is None:
            absent.append(Absent(entry.name, INTERRUPTED if interrupted else finish.refused))
        else:
            finished.append(finish)
    given = _inputs(rows, sizes, finished, options)
    runs = tuple(_account(finish, given) for finish in finished)
    return RaceResult(dataset, options, runs, tuple(absent), interrupted)


def _silent(line: str) -> None:
    """Say nothing."""


def _named(watch: RaceWatcher | None, name: str) -> Callable[[IterationRecord], None]:
    def watch_one(record: IterationRecord) -> None:
        if watch is not None:
            watch(name, record)

    return watch_one


def contestants(algorithms: Sequence[str] | None) -> list[Entry]:
    """Return the entries of these names or aliases, each once; the whole registry without any.

    Raises
    ------
    ConfigError
        A name that is not in the registry.
    """
    if algorithms is None:
        return list(ALGORITHMS.values())
    if "auto" in algorithms:
        message = "auto chooses among the algorithms and is none of them"
        raise ConfigError(UNKNOWN, message, advice="sepcert check runs it; see sepcert list algorithms")
    return list({entry.name: entry for entry in map(find, algorithms)}.values())


def _limited(options: CheckOptions) -> CheckOptions:
    if options.max_iterations is None and options.time_limit_seconds is None:
        return replace(options, max_iterations=DEFAULT_ITERATIONS, time_limit_seconds=DEFAULT_SECONDS)
    return options


def _obstacle(entry: Entry, dataset: Dataset, problem: Problem, sizes: RowSizes) -> str:
    """Return why an algorithm does not apply to a problem, or nothing."""
    if entry.needs not in {"rows", "gram"}:
        return f"it needs {entry.needs}"
    zero = np.flatnonzero(sizes.euclidean == 0.0)
    if len(zero):
        others = f" and {len(zero) - 1} more" if len(zero) > 1 else ""
        which = f"row {dataset.row_numbers[zero[0]]}{others}"
        return f"{which} has norm zero in doubles, and so no normalised form (sepcert check decides)"
    if not np.all(np.isfinite(sizes.euclidean)):
        return "the square of a row's norm is beyond the range of doubles (sepcert check decides)"
    return ""


def _inputs(rows: FloatRows, sizes: RowSizes, finished: Sequence[Finish], options: CheckOptions) -> BoundInputs:
    proved = [f.certified.evidence for f in finished if Claim.SEPARABLE in f.certified.evidence.claims]
    lower = max((evidence.margin.lower or 0.0 for evidence in proved), default=None)
    linear = options.kernel == "linear"
    separators = [evidence.separator for evidence in proved if linear and evidence.separator is not None]
    with np.errstate(all="ignore"):
        return bound_inputs(rows, sizes, lower, separators, options.epsilon)


def _account(finish: Finish, given: BoundInputs) -> RaceRun:
    entry, outcome, certified = finish.entry, finish.outcome, finish.certified
    if outcome is None:
        raise ValueError(f"{entry.name} did not run")
    verified = certified.verdict is not Verdict.UNDECIDED and certified.report.verified
    margin = certified.evidence.margin
    keep_upper = finish.own_upper or certified.verdict is not Verdict.SEPARABLE
    return RaceRun(
        algorithm=entry.name,
        alias=entry.aliases[0] if entry.aliases else entry.name,
        verdict=certified.verdict,
        separation=certified.separation,
        verified=verified,
        termination=outcome.termination,
        iterations=outcome.iterations,
        products=products_of(outcome.products, outcome.passes),
        passes=outcome.passes,
        cpu_seconds=finish.cpu_seconds,
        proof_cpu_seconds=finish.proof_cpu_seconds,
        margin=Margin(margin.lower, margin.upper if keep_upper else None),
        counts=entry.counts,
        counted=finish.trace.counted,
        bound=bound_of(entry, given),
        bound_formula=entry.bound_text,
        trace=finish.trace.points,
    )
