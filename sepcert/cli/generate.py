"""``sepcert generate``: data of which the truth is known."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sepcert.cli import options
from sepcert.cli.guard import complain, deliver
from sepcert.cli.output_files import refuse_outputs, write_file
from sepcert.cli.render_json import text
from sepcert.cli.wording import margin_sentence
from sepcert.config import parsers, resolve_one
from sepcert.config.sources import VALUE
from sepcert.errors import ConfigError, register
from sepcert.status import ExitCode

if TYPE_CHECKING:
    from sepcert.workflows.generate import Generated

OUTPUT_KIND = register("OUTPUT-KIND", "A file of this kind cannot be written.")

_TEXT_ENDINGS = {"", ".csv", ".txt"}
_BLOCK = 4096
"""Rows that are written together."""

MADE, SHAPE = "Data", "What is planted"

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="wedge, separable, infeasible, sphere, noisy or midpoints.", show_default=False
    ),
]
Rows = Annotated[
    str | None,
    typer.Option("--rows", "-n", metavar="N", rich_help_panel=MADE, help="Rows. Default: 200 (midpoints: 12)."),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns", "-d", metavar="D", rich_help_panel=MADE, help="Features. Default: 5 (wedge: 2, midpoints: 10)."
    ),
]
Rho = Annotated[
    str | None,
    typer.Option(
        metavar="RHO",
        rich_help_panel=SHAPE,
        help="Size of the normalised margin (separable, infeasible). Default: 0.05.",
    ),
]
Spread = Annotated[
    str | None,
    typer.Option("--r", metavar="R", rich_help_panel=SHAPE, help="Sizes go from 1/R to R (wedge). Default: 10."),
]
Noise = Annotated[
    str | None,
    typer.Option(metavar="P", rich_help_panel=SHAPE, help="Probability of a flipped label (noisy). Default: 0.1."),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        rich_help_panel=options.OUTPUT,
        help="CSV, NPY (label last) or NPZ (X, y), by its ending. Default: CSV on standard output.",
    ),
]
TruthFile = Annotated[
    str | None,
    typer.Option(
        "--truth", metavar="FILE", rich_help_panel=options.OUTPUT, help="Write the truth to this file (JSON)."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", rich_help_panel=options.OUTPUT, help="Do not print the truth.")]


def generate(
    name: Name,
    rows: Rows = None,
    columns: Columns = None,
    seed: options.Seed = None,
    rho: Rho = None,
    r: Spread = None,
    noise: Noise = None,
    output: Output = None,
    truth: TruthFile = None,
    quiet: Quiet = False,
    debug: options.Debug = False,
) -> Callable[[], int]:
    """Make data with a known verdict and margin; the truth goes to standard error.

    The same seed gives the same data.
    """
    given = {
        "rows": _parsed("--rows", rows, parsers.positive_whole_number),
        "columns": _parsed("--columns", columns, parsers.positive_whole_number),
        "rho": _parsed("--rho", rho, parsers.number),
        "r": _parsed("--r", r, parsers.number),
        "noise": _parsed("--noise", noise, parsers.number),
    }

    def run() -> int:
        from sepcert.workflows.generate import generate as make

        _refuse_kind(output)
        refuse_outputs([output, truth], [])
        chosen = resolve_one("seed", seed, os.environ)
        wanted = {option: value() for option, value in given.items() if value is not None}
        made = make(name, seed=chosen, **wanted)
        if output is None:
            for block in _csv(made):
                deliver(block)
        else:
            _save(made, output)
        if truth is not None:
            write_file(truth, text(made.to_dict()) + "\n")
        if not quiet:
            complain(_said(made, output))
        return ExitCode.HOLDS

    return run


def _parsed(flag: str, written: str | None, parse: Callable[[str], Any]) -> Callable[[], Any] | None:
    """Return what reads the option's text, so that a mistake is met while the command runs."""
    if written is None:
        return None

    def read() -> Any:
        try:
            return parse(written)
        except ValueError as error:
            raise ConfigError(VALUE, f"{flag}: {written!r} {error}") from None

    return read


def _refuse_kind(output: str | None) -> None:
    ending = "" if output is None else Path(output).suffix.lower()
    if ending not in _TEXT_ENDINGS | {".npy", ".npz"}:
        advice = "let the name end in .csv, .npy or .npz"
        raise ConfigError(OUTPUT_KIND, f"{output}: files ending in {ending} are not written", advice=advice)


def _csv(made: Generated) -> Iterator[str]:
    """Yield the table as CSV in blocks; each number as the shortest decimal that gives it."""
    yield ",".join([*(f"x{j + 1}" for j in range(made.X.shape[1])), "y"]) + "\n"
    for start in range(0, len(made.X), _BLOCK):
        points = made.X[start : start + _BLOCK].tolist()
        labels = made.y[start : start + _BLOCK].tolist()
        yield "".join(",".join([*map(repr, row), str(label)]) + "\n" for row, label in zip(points, labels, strict=True))


def _save(made: Generated, output: str) -> None:
    import numpy as np

    ending = Path(output).suffix.lower()
    if ending in _TEXT_ENDINGS:
        write_file(output, "".join(_csv(made)))
        return
    stream = io.BytesIO()
    if ending == ".npy":
        np.save(stream, np.column_stack([made.X, made.y]), allow_pickle=False)
    else:
        np.savez(stream, X=made.X, y=made.y)
    write_file(output, stream.getvalue())


def _said(made: Generated, output: str | None) -> str:
    """Return the truth in words, and the command that checks it."""
    truth = made.truth
    n, d = made.X.shape
    bias = "with a bias" if truth.bias else "without a bias"
    lower, upper = truth.margin_lower, truth.margin_upper
    if upper is not None and upper < 0.0 and lower is not None:
        margin = f"{(lower + upper) / 2.0:.6g} (normalised, the ball around 0 in the hull)"
    else:
        margin = margin_sentence(lower, upper)
    words = ["sepcert check", output or "FILE"]
    words += [] if truth.bias else ["--no-bias"]
    binary = output is not None and Path(output).suffix.lower() in {".npy", ".npz"}
    words += ["--numbers decimal"] if truth.numbers is not None and binary else []
    words += [] if truth.verdict == "separable" else [f"--expect {truth.separation}"]
    return "\n".join(
        [
            f"truth: {truth.verdict} ({truth.separation}), {bias}; {n:,} rows, {d:,} features",
            f"margin: {margin}",
            f"why: {truth.because}",
            f"check: {' '.join(words)}",
        ]
    )
