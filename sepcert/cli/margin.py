"""``sepcert margin``: certified brackets on the margins of one data set."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from sepcert.cli import options
from sepcert.cli.check import check_options, read_options
from sepcert.cli.guard import complain, deliver
from sepcert.cli.output_files import refuse_outputs, refuse_standard_input_twice
from sepcert.cli.progress import Display, cannot_write
from sepcert.cli.race import DataFile
from sepcert.cli.render_json import text
from sepcert.cli.render_text import is_rich, panel, plain
from sepcert.cli.wording import Account, count, left_out, outward
from sepcert.config import Configuration, OutputFormat, resolve
from sepcert.status import Separation, Termination

if TYPE_CHECKING:
    from sepcert.findings import Margin
    from sepcert.workflows.margin_result import MarginResult

_KINDS = {
    Separation.COMPLETE: "linearly separable (complete separation), all margins are positive",
    Separation.QUASI_COMPLETE: "quasi-complete separation, all margins are 0",
    Separation.OVERLAP: "not linearly separable (overlap), the margins are not positive",
    None: "the kind of separation was not decided within the limits",
}


def margin(
    data: DataFile,
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
    bias: options.Bias = None,
    bias_scale: options.BiasScale = None,
    gap: options.Gap = None,
    time_limit_seconds: options.TimeLimit = None,
    seed: options.Seed = None,
    config: options.ConfigFile = None,
    certificate: options.CertificateFile = None,
    format: options.Format = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    progress: options.Progress = None,
    debug: options.Debug = False,
) -> Callable[[], int]:
    """Bracket the margins: rho of the rows as they are, rho_2, rho_1 and rho_K of normalised rows; all proved.

    Goes on to the relative gap, by default 0.001, where a margin is positive.

    Exit status: 0 answered, 2 it could not run, 3 a bracket did not reach the gap within the limits.
    """
    flags = {name: value for name, value in locals().items() if name != "data"}

    def run() -> int:
        configuration = resolve(flags, os.environ, config)
        return run_margin(data, configuration, quiet=quiet, verbose=verbose)

    return run


def run_margin(path: str, configuration: Configuration, *, quiet: bool, verbose: bool) -> int:
    """Bracket the margins of one file, print them and return the exit status.

    Raises
    ------
    ConfigError
        A certificate that cannot be written (found out before the work).
    DataError
        The data cannot be read.
    """
    from sepcert.data.reader import read_dataset
    from sepcert.workflows.margin import margin_dataset, margin_options

    output = configuration.output
    options.refuse_both(quiet=quiet, verbose=verbose)
    refuse_standard_input_twice([path], configuration.data.labels)
    refuse_outputs([output.certificate], [path, configuration.data.labels])
    with Display(live=output.progress and not quiet, verbose=verbose and not quiet) as display:
        dataset = read_dataset(path, read_options(configuration), progress=display.loading)
        for note in () if quiet else dataset.notes:
            display.note(note)
        chosen = margin_options(check_options(configuration))
        result = margin_dataset(dataset, chosen, observers=[display.record], say=display.say)
    written = _save_certificate(result, output.certificate, quiet=quiet)
    if result.result.termination == Termination.INTERRUPTED:
        said = account(result, path, written)
        complain(plain(said, quiet=quiet, wrap=sys.stderr is not None and sys.stderr.isatty()).rstrip())
    elif output.format is OutputFormat.JSON:
        deliver(text(result.to_dict()) + "\n")
    else:
        said = account(result, path, written)
        if is_rich(sys.stdout) and not quiet:
            deliver(panel(said, sys.stdout, holds=True if result.answered else None))
        else:
            deliver(plain(said, quiet=quiet, wrap=sys.stdout.isatty()))
    return int(result.exit_code)


def _save_certificate(result: MarginResult, path: str | None, *, quiet: bool) -> str | None:
    if path is None:
        return None
    if not result.verified:
        if not quiet:
            complain(f"note: {path} was not written, because no verdict was proved")
        return None
    try:
        result.certificate.save(path)
    except OSError as error:
        raise cannot_write(path, error.strerror or str(error)) from None
    return path


def account(result: MarginResult, path: str, certificate: str | None) -> Account:
    """Return what is said about the margins of one file."""
    name = "standard input" if path == "-" else path
    largest = result.largest_norm
    facts = [
        ("data", left_out(result.result.dataset)),
        ("rho", _sentence(result, "rho", "rows as they are")),
        ("", _scaled(result.normalised_rho, largest)),
        ("rho_2", _sentence(result, "rho_2", "rows of length 1")),
        ("rho_1", _sentence(result, "rho_1", "rows of largest entry 1, |w|_1 <= 1")),
        ("", _sentence(result, "rho_1_nonnegative", "the same with w >= 0")),
        ("rho_K", _sentence(result, "rho_K", "points of length 1 in the kernel's space; rho_2 for the linear kernel")),
        ("proof", _proof(result)),
        ("certificate", certificate or "not written (--certificate FILE)"),
        ("next", "" if result.answered else "To decide it: allow more time, or a larger --gap."),
    ]
    kind = _KINDS[result.result.separation] if largest is not None else result.result.verdict.value
    said = tuple((key, sentence) for key, sentence in facts if sentence)
    without = left_out(result.result.dataset)
    return Account(f"Margins of {name}: {kind}", said, (without,) if without else ())


def _sentence(result: MarginResult, name: str, meaning: str) -> str:
    bracket: Margin | None = getattr(result, name)
    reason = f"; {result.why[name]}" if name in result.why else ""
    return f"{_bracket(bracket)} ({meaning}){reason}"


def _bracket(bracket: Margin | None) -> str:
    if bracket is None or (bracket.lower is None and bracket.upper is None):
        return "no bound proved"
    lower, upper = bracket.lower, bracket.upper
    if lower == upper:
        return f"exactly {outward(lower, up=False, digits=17)}" if lower is not None else ""
    if lower is None or upper is None:
        return f"at most {outward(upper, up=True)}" if upper is not None else f"at least {_low(lower)}"
    digits = _digits(lower, upper)
    return f"between {outward(lower, up=False, digits=digits)} and {outward(upper, up=True, digits=digits)}"


def _low(lower: float | None) -> str:
    return "" if lower is None else outward(lower, up=False)


def _digits(lower: float, upper: float) -> int:
    """Return six digits, or more where the ends would otherwise look further apart than they are."""
    size = max(abs(lower), abs(upper))
    digits = 6
    while digits < 12 and upper - lower < 10.0 ** (2 - digits) * size:
        digits += 1
    return digits


def _scaled(quotient: Margin | None, largest: Margin | None) -> str:
    if quotient is None or largest is None:
        return ""
    return f"rho / max|z_i|: {_bracket(quotient)}; max|z_i|: {_bracket(largest)}"


def _proof(result: MarginResult) -> str:
    if not result.verified:
        return "no verdict was proved; every number above was, in exact arithmetic or rounded outward"
    checks = count(len(result.result.report.checks), "check")
    return f"every end in exact arithmetic or rounded outward; rho_2 and the separation verified ({checks})"
