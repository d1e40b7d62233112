"""``sepcert race``: every algorithm side by side on one problem."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sepcert.cli import options
from sepcert.cli.check import check_options, read_options
from sepcert.cli.guard import complain, deliver
from sepcert.cli.output_files import refuse_outputs, refuse_standard_input_twice, write_file
from sepcert.cli.progress import Display, IterationLog
from sepcert.cli.race_text import race_text
from sepcert.cli.render_json import text
from sepcert.config import Configuration, OutputFormat, resolve
from sepcert.status import ExitCode

if TYPE_CHECKING:
    from sepcert.engine.protocol import IterationRecord
    from sepcert.workflows.race import RaceResult

_WIDTH_IN_A_PIPE = 80

DataFile = Annotated[
    str, typer.Argument(metavar="DATA", help="A CSV, TSV, NPY or NPZ file; - is standard input.", show_default=False)
]
Algorithms = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAMES", rich_help_panel=options.ENGINE, help="Which, separated by commas; repeatable. Default: all."
    ),
]
PlotFile = Annotated[
    str | None,
    typer.Option(
        "--plot", metavar="FILE.svg", rich_help_panel=options.OUTPUT, help="Draw the brackets against the products."
    ),
]


def race(
    data: DataFile,
    algorithms: Algorithms = None,
    label: options.Label = None,
    labels: options.Labels = None,
    positive: options.Positive = None,
    drop: options.Drop = None,
    categorical: options.Categorical = None,
    weight: options.Weight = None,
    missing: options.MissingValues = None,
    numbers: options.NumbersReading = None,
    delimiter: options.Delimiter = None,
    header: options.Header = None,
    kernel: options.Kernel = None,
    bias: options.Bias = None,
    bias_scale: options.BiasScale = None,
    epsilon: options.Epsilon = None,
    gap: options.Gap = None,
    max_iterations: options.MaxIterations = None,
    time_limit_seconds: options.TimeLimit = None,
    seed: options.Seed = None,
    config: options.ConfigFile = None,
    plot: PlotFile = None,
    log: options.LogFile = None,
    format: options.Format = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    progress: options.Progress = None,
    debug: options.Debug = False,
) -> Callable[[], int]:
    """Run every algorithm on the same data with the same limits, and compare what each costs and proves.

    Limits hold for each algorithm; without any: 10,000 iterations and 10 seconds.

    Exit status: 0 some algorithm proved a verdict, 2 it could not run, 3 none proved anything.
    """
    flags = {name: value for name, value in locals().items() if name not in {"algorithms", "plot", "data"}}
    names = None if not algorithms else [part.strip() for words in algorithms for part in words.split(",")]

    def run() -> int:
        configuration = resolve(flags, os.environ, config)
        return run_race(data, configuration, names, plot, quiet=quiet, verbose=verbose)

    return run


def run_race(
    path: str,
    configuration: Configuration,
    names: Sequence[str] | None,
    plot: str | None,
    *,
    quiet: bool,
    verbose: bool,
) -> int:
    """Race on one file, print the account and return the exit status.

    Raises
    ------
    ConfigError
        An algorithm that is not built, or an output file that cannot be written (both before the work).
    DataError
        The data cannot be read.
    """
    from sepcert.data.reader import read_dataset
    from sepcert.workflows.race import contestants, race_dataset

    output = configuration.output
    contestants(names)
    options.refuse_both(quiet=quiet, verbose=verbose)
    refuse_standard_input_twice([path], configuration.data.labels)
    refuse_outputs([output.log, plot], [path, configuration.data.labels])
    live = output.progress and not quiet
    with _iteration_log(output.log) as log, Display(live=live, verbose=verbose and not quiet) as display:

        def watch(name: str, record: IterationRecord) -> None:
            display.record(record)
            if log is not None:
                log(replace(record, extra={"algorithm": name, **record.extra}))

        dataset = read_dataset(path, read_options(configuration), progress=display.loading)
        for note in () if quiet else dataset.notes:
            display.note(note)
        result = race_dataset(dataset, check_options(configuration), names, watch=watch, say=display.say)
    if plot is not None:
        write_file(plot, picture(result, path))
    written = [(name, file) for name, file in (("picture", plot), ("log", output.log)) if file is not None]
    return _report(result, path, output.format, written, quiet=quiet)


@contextlib.contextmanager
def _iteration_log(path: str | None) -> Iterator[IterationLog | None]:
    if path is None:
        yield None
        return
    log = IterationLog(path, several=False)
    try:
        yield log
    finally:
        log.close()


def _report(
    result: RaceResult, path: str, output_format: OutputFormat, written: Sequence[tuple[str, str]], *, quiet: bool
) -> int:
    wrap = sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size((_WIDTH_IN_A_PIPE, 24)).columns if wrap else _pipe_width()
    said = race_text(result, path, width, quiet=quiet, written=written, wrap=wrap)
    if result.interrupted:
        complain(said.rstrip())
        return ExitCode.INTERRUPTED
    deliver(text(result.to_dict()) + "\n" if output_format is OutputFormat.JSON else said)
    return ExitCode.HOLDS if result.answered else ExitCode.UNDECIDED


def _pipe_width() -> int:
    """Return the width where nobody's terminal is written to: COLUMNS, else 80."""
    written = os.environ.get("COLUMNS", "")
    return int(written) if written.isdigit() and int(written) else _WIDTH_IN_A_PIPE


def picture(result: RaceResult, path: str) -> str:
    """Return the brackets of a race against the products with G, as SVG."""
    from sepcert.report.brackets import Course, bracket_chart

    about = result.dataset.description
    courses = [
        Course(
            f"{run.algorithm} ({run.verdict.value if run.verified else 'nothing proved'})",
            [point.products for point in run.trace],
            [point.lower for point in run.trace],
            [point.upper for point in run.trace],
        )
        for run in result.runs
    ]
    name = "standard input" if path == "-" else Path(path).name
    bias = "with a bias" if result.options.bias else "without a bias"
    return bracket_chart(
        courses,
        title=f"Brackets on the normalised margin: {name}",
        note=f"{about.rows:,} rows, {len(about.features):,} features, {result.options.kernel} kernel {bias}; "
        "brackets in doubles, as the algorithms went",
        work="products with G",
        value="normalised margin",
        proved=(result.margin.lower, result.margin.upper),
    )
