"""The options, each once, so that a name means the same everywhere.

All are unset by default: the values come from :mod:`sepcert.config`, which knows the other sources.  What is a
number there is a text here, so that every source is checked by the same parser.
"""

from __future__ import annotations

from typing import Annotated

import typer

from sepcert.config import Expect, Missing, OutputFormat
from sepcert.errors import ConfigError, register
from sepcert.status import Numbers

DATA, PROBLEM, ENGINE, GATE, OUTPUT = "Data", "Problem", "Engine", "Gate", "Output"

CONFLICT = register("USAGE-CONFLICT", "Two options exclude each other.")


def refuse_both(*, quiet: bool, verbose: bool) -> None:
    """Refuse to be quiet and verbose at once."""
    if quiet and verbose:
        raise ConfigError(CONFLICT, "--quiet and --verbose exclude each other", advice="leave one of them out")


DataFiles = Annotated[
    list[str] | None,
    typer.Argument(metavar="DATA", help="CSV, TSV, NPY or NPZ files (text also gzipped); - is standard input."),
]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        rich_help_panel=DATA,
        help="Label column: name or 1-based number. Default: label, y, target or class, else the last column.",
    ),
]
Labels = Annotated[
    str | None, typer.Option(metavar="FILE", rich_help_panel=DATA, help="Labels in a file of their own.")
]
Positive = Annotated[
    str | None,
    typer.Option(metavar="VALUE", rich_help_panel=DATA, help="Label of the positive class. Default: the last."),
]
Drop = Annotated[
    list[str] | None, typer.Option(metavar="COL", rich_help_panel=DATA, help="Leave a column out; repeatable.")
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(metavar="COL", rich_help_panel=DATA, help="Turn a column into indicators of its levels; repeatable."),
]
Weight = Annotated[
    str | None,
    typer.Option(metavar="COL", rich_help_panel=DATA, help="Column of weights; a row of weight zero does not count."),
]
MissingValues = Annotated[
    Missing | None,
    typer.Option("--missing", rich_help_panel=DATA, help="What to do with missing values. Default: error."),
]
NumbersReading = Annotated[
    Numbers | None,
    typer.Option(
        "--numbers", rich_help_panel=DATA, help="Read numerals as written or as doubles. Default for text: decimal."
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(metavar="CHAR", rich_help_panel=DATA, help="Field separator (tab for the tab). Default: found out."),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        rich_help_panel=DATA,
        help="Whether the first line names columns. Default: found out.",
    ),
]
Kernel = Annotated[
    str | None, typer.Option(metavar="NAME", rich_help_panel=PROBLEM, help="Kernel; see sepcert list kernels.")
]
Gamma = Annotated[
    str | None,
    typer.Option(
        metavar="G", rich_help_panel=PROBLEM, help="Gaussian, Laplacian: a number; Gaussian also scale, median."
    ),
]
Nu = Annotated[
    str | None, typer.Option(metavar="NU", rich_help_panel=PROBLEM, help="Matern: smoothness, 1/2, 3/2 or 5/2.")
]
LengthScale = Annotated[
    str | None, typer.Option(metavar="L", rich_help_panel=PROBLEM, help="Matern: length scale, a positive number.")
]
Bias = Annotated[
    bool | None,
    typer.Option("--bias/--no-bias", rich_help_panel=PROBLEM, help="With or without an intercept. Default: with."),
]
BiasScale = Annotated[
    str | None,
    typer.Option(metavar="B0", rich_help_panel=PROBLEM, help="Value of the bias feature. Default: 1."),
]
Algorithm = Annotated[
    str | None,
    typer.Option(metavar="NAME", rich_help_panel=ENGINE, help="Algorithm; see sepcert list algorithms. Default: auto."),
]
AlgorithmOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", rich_help_panel=ENGINE, help="An option of the algorithm's own; may recur."),
]
Epsilon = Annotated[
    str | None,
    typer.Option(metavar="E", rich_help_panel=ENGINE, help="Stop when the margin is proved to be at most this."),
]
Gap = Annotated[
    str | None,
    typer.Option(metavar="R", rich_help_panel=ENGINE, help="Go on until (upper - lower) / upper is at most this."),
]
MaxIterations = Annotated[
    str | None, typer.Option(metavar="N", rich_help_panel=ENGINE, help="Stop after so many iterations.")
]
TimeLimit = Annotated[
    str | None,
    typer.Option("--time-limit-seconds", metavar="S", rich_help_panel=ENGINE, help="Stop after so many seconds."),
]
Seed = Annotated[
    str | None, typer.Option(metavar="N", rich_help_panel=ENGINE, help="Seed of random choices. Default: 0.")
]
ConfigFile = Annotated[
    str | None,
    typer.Option("--config", "-c", metavar="FILE", rich_help_panel=ENGINE, help="Settings from a YAML file."),
]
Expectation = Annotated[
    Expect | None,
    typer.Option("--expect", rich_help_panel=GATE, help="What must be proved for exit status 0. Default: separable."),
]
MinMargin = Annotated[
    str | None, typer.Option(metavar="M", rich_help_panel=GATE, help="Demand a margin of at least this, too.")
]
ExitZero = Annotated[
    bool | None,
    typer.Option("--exit-zero", rich_help_panel=GATE, help="Exit status 0 for a gate that fails (not for 2 and 3)."),
]
CertificateFile = Annotated[
    str | None,
    typer.Option("--certificate", metavar="FILE", rich_help_panel=OUTPUT, help="Write the proof to this file (JSON)."),
]
LogFile = Annotated[
    str | None,
    typer.Option(
        "--log", metavar="FILE", rich_help_panel=OUTPUT, help="Write the iterations to this file as JSON Lines."
    ),
]
Format = Annotated[
    OutputFormat | None, typer.Option("--format", rich_help_panel=OUTPUT, help="How to print. Default: text.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", rich_help_panel=OUTPUT, help="Only the verdict; no notes, no progress.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", rich_help_panel=OUTPUT, help="Say what is done and why (standard error).")
]
Progress = Annotated[
    bool | None,
    typer.Option(
        "--progress/--no-progress", rich_help_panel=OUTPUT, help="Progress and iterations on a terminal. Default: yes."
    ),
]
ShowConfig = Annotated[
    bool,
    typer.Option("--show-config", rich_help_panel=OUTPUT, help="Print every setting with its origin, and stop."),
]
Debug = Annotated[
    bool, typer.Option("--debug", rich_help_panel=OUTPUT, help="Show the traceback of an internal error.")
]
