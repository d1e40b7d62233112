"""``sepcert check``: the verdict with its proof, and the gate."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from sepcert.cli import options
from sepcert.cli.guard import complain, deliver, explain_failure
from sepcert.cli.output_files import refuse_outputs, refuse_standard_input_twice
from sepcert.cli.progress import Display, IterationLog, cannot_write
from sepcert.cli.render_json import JsonPrinter, text
from sepcert.cli.render_text import is_rich, panel, plain
from sepcert.cli.wording import account, margin_sentence
from sepcert.config import Configuration, OutputFormat, resolve, show, show_as_object
from sepcert.errors import ConfigError, register
from sepcert.status import ExitCode, Termination

if TYPE_CHECKING:
    from sepcert.check_options import CheckOptions
    from sepcert.data.dataset import Dataset
    from sepcert.data.reader import ReadOptions
    from sepcert.findings import Gate
    from sepcert.result import Result

NO_DATA = register("USAGE-DATA", "No data file was named.")
ONE_CERTIFICATE = register("USAGE-CERTIFICATE", "One certificate file cannot hold the proofs of several data files.")

WORST_FIRST = (ExitCode.COULD_NOT_RUN, ExitCode.UNDECIDED, ExitCode.FAILS, ExitCode.HOLDS)


@dataclass(frozen=True)
class Request:
    """What one call of the command asks for."""

    paths: tuple[str, ...]
    configuration: Configuration
    quiet: bool
    verbose: bool
    debug: bool

    @property
    def several(self) -> bool:
        """Whether there is more than one data file."""
        return len(self.paths) > 1


def check(
    data: options.DataFiles = None,
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
    gamma: options.Gamma = None,
    nu: options.Nu = None,
    length_scale: options.LengthScale = None,
    bias: options.Bias = None,
    bias_scale: options.BiasScale = None,
    algorithm: options.Algorithm = None,
    algorithm_option: options.AlgorithmOption = None,
    epsilon: options.Epsilon = None,
    gap: options.Gap = None,
    max_iterations: options.MaxIterations = None,
    time_limit_seconds: options.TimeLimit = None,
    seed: options.Seed = None,
    config: options.ConfigFile = None,
    expect: options.Expectation = None,
    min_margin: options.MinMargin = None,
    exit_zero: options.ExitZero = None,
    certificate: options.CertificateFile = None,
    log: options.LogFile = None,
    format: options.Format = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    progress: options.Progress = None,
    show_config: options.ShowConfig = False,
    debug: options.Debug = False,
) -> Callable[[], int]:
    """Decide whether the classes are linearly separable, with a proof either way.

    Exit status: 0 the gate holds, 1 it fails, 2 it could not run, 3 undecided within the limits.
    """
    flags = dict(locals())

    def run() -> int:
        configuration = resolve(flags, os.environ, config)
        if show_config:
            as_json = configuration.output.format is OutputFormat.JSON
            deliver((text(show_as_object(configuration)) if as_json else show(configuration)) + "\n")
            return ExitCode.HOLDS
        return run_check(Request(tuple(data or ()), configuration, quiet, verbose, debug))

    return run


def run_check(request: Request) -> int:
    """Check every file and return the worst exit status.

    Raises
    ------
    ConfigError
        No file, or an output file that cannot be written (found out before the work).
    """
    options.refuse_both(quiet=request.quiet, verbose=request.verbose)
    if not request.paths:
        raise ConfigError(NO_DATA, "no data file was named", advice="sepcert check FILE, or - for standard input")
    _refuse_files(request)
    output = request.configuration.output
    json_printer = JsonPrinter(request.several) if output.format is OutputFormat.JSON else None
    statuses: list[int] = []
    with _iteration_log(request) as log:
        try:
            for path in request.paths:
                statuses.append(_check_or_explain(path, request, log, json_printer, first=not statuses))
                if statuses[-1] == ExitCode.INTERRUPTED:
                    break
        finally:
            if json_printer is not None:
                json_printer.close()
    if ExitCode.INTERRUPTED in statuses:
        return ExitCode.INTERRUPTED
    return next(status for status in WORST_FIRST if status in statuses)


def _refuse_files(request: Request) -> None:
    """Find out before the work whether the files can be what they are to be; never write over the data."""
    output, labels = request.configuration.output, request.configuration.data.labels
    refuse_standard_input_twice(request.paths, labels)
    if output.certificate is not None and request.several:
        message = "--certificate names one file, but there are several data files"
        raise ConfigError(ONE_CERTIFICATE, message, advice="check them one by one")
    refuse_outputs([output.certificate, output.log], [*request.paths, labels])


@contextlib.contextmanager
def _iteration_log(request: Request) -> Iterator[IterationLog | None]:
    path = request.configuration.output.log
    if path is None:
        yield None
        return
    log = IterationLog(path, request.several)
    try:
        yield log
    finally:
        log.close()


def _check_or_explain(
    path: str, request: Request, log: IterationLog | None, json_printer: JsonPrinter | None, *, first: bool
) -> int:
    try:
        return _check_one(path, request, log, json_printer, first=first)
    except BrokenPipeError:
        raise
    except Exception as error:
        explain_failure(error, debug=request.debug)
        if json_printer is not None:
            json_printer.add_failure(path, error)
        return ExitCode.COULD_NOT_RUN


def _check_one(
    path: str, request: Request, log: IterationLog | None, json_printer: JsonPrinter | None, *, first: bool
) -> int:
    from sepcert.certify import check_dataset
    from sepcert.data.reader import read_dataset

    configuration = request.configuration
    options_of_check = check_options(configuration)
    live = configuration.output.progress and not request.quiet
    with Display(live=live, verbose=request.verbose and not request.quiet) as display:
        observers = [display.record]
        if log is not None:
            log.data = path
            observers.append(log)
        try:
            dataset = read_dataset(path, read_options(configuration), progress=display.loading)
            display.about = path if request.several else ""
            for note in () if request.quiet else dataset.notes:
                display.note(note)
            result = check_dataset(dataset, options_of_check, observers=observers, say=display.say)
        except KeyboardInterrupt:
            complain(_so_far(path, display))
            return ExitCode.INTERRUPTED
    gate = result.gate(configuration.gate.expect, configuration.gate.min_margin)
    return _report(_Outcome(path, dataset, result, gate), request, json_printer, first=first)


@dataclass(frozen=True)
class _Outcome:
    path: str
    dataset: Dataset
    result: Result
    gate: Gate


def _report(outcome: _Outcome, request: Request, json_printer: JsonPrinter | None, *, first: bool) -> int:
    configuration, gate, result = request.configuration, outcome.gate, outcome.result
    certificate = _save_certificate(outcome, request)
    if result.termination == Termination.INTERRUPTED:
        complain(_text(outcome, request, certificate, stream=sys.stderr).rstrip())
        return ExitCode.INTERRUPTED
    if json_printer is not None:
        json_printer.add(result.to_dict(gate=gate))
    else:
        blank = "" if first or request.quiet else "\n"
        deliver(blank + _text(outcome, request, certificate, stream=sys.stdout))
    if gate.exit_code == ExitCode.FAILS and configuration.gate.exit_zero:
        return ExitCode.HOLDS
    return int(gate.exit_code)


def _text(outcome: _Outcome, request: Request, certificate: str | None, *, stream: TextIO | None) -> str:
    said = account(outcome.result, outcome.dataset, request.configuration, outcome.gate, outcome.path, certificate)
    prefix = f"{outcome.path}: " if request.several else ""
    if stream is not None and is_rich(stream) and not request.quiet:
        return panel(said, stream, prefix=prefix, holds=outcome.gate.holds)
    on_terminal = stream is not None and stream.isatty()
    return plain(said, prefix=prefix, quiet=request.quiet, wrap=on_terminal)


def _save_certificate(outcome: _Outcome, request: Request) -> str | None:
    path = request.configuration.output.certificate
    if path is None:
        return None
    if not outcome.result.verified:
        if not request.quiet:
            complain(f"note: {path} was not written, because no verdict was proved")
        return None
    try:
        outcome.result.certificate.save(path)
    except OSError as error:
        raise cannot_write(path, error.strerror or str(error)) from None
    return path


def _so_far(path: str, display: Display) -> str:
    record = display.last
    if record is None:
        return f"{path}: interrupted before the first iteration"
    bracket = margin_sentence(record.margin_lower, record.margin_upper)
    return f"{path}: interrupted after iteration {record.iteration}; margin so far: {bracket}"


def read_options(configuration: Configuration) -> ReadOptions:
    """Return what the reader needs to know."""
    from sepcert.data.reader import ReadOptions

    data = configuration.data
    return ReadOptions(
        label=data.label,
        labels_path=data.labels,
        positive=data.positive,
        drop=data.drop,
        categorical=data.categorical,
        weight=data.weight,
        missing=data.missing,
        numbers=data.numbers,
        delimiter=data.delimiter,
        header=data.header,
    )


def check_options(configuration: Configuration) -> CheckOptions:
    """Return what the check needs to know."""
    from sepcert.check_options import CheckOptions

    kernel, engine = configuration.kernel, configuration.engine
    return CheckOptions(
        kernel=kernel.name,
        kernel_parameters=dict(configuration.kernel_parameters),
        bias=kernel.bias,
        bias_scale=kernel.bias_scale,
        algorithm=engine.algorithm,
        algorithm_options=dict(pair.split("=", 1) for pair in engine.algorithm_options),
        epsilon=engine.epsilon,
        gap=engine.gap,
        max_iterations=engine.max_iterations,
        time_limit_seconds=engine.time_limit_seconds,
        seed=engine.seed,
        min_margin=configuration.gate.min_margin,
    )
