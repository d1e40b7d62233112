"""The application: Typer reads the words, then the work starts.

A command function only returns what is to be done.  The work runs after Typer has returned, so that no error,
interrupt or closed pipe of ours passes through its handlers (which would end in exit status 1).
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from typing import Any, cast

import typer
from typer.main import get_command

from sepcert._version import __version__
from sepcert.cli.check import check
from sepcert.cli.generate import generate
from sepcert.cli.guard import OutputError, complain, deliver
from sepcert.cli.list import list_registry
from sepcert.cli.margin import margin
from sepcert.cli.race import race
from sepcert.cli.render_text import is_rich
from sepcert.cli.verify import verify
from sepcert.errors import register
from sepcert.status import ExitCode

USAGE = register("USAGE", "The command line itself is wrong: an unknown command or option, or a missing argument.")

NARROW = 60
COMPLETION = "_SEPCERT_COMPLETE"

CHECK_EXAMPLES = """Examples:

sepcert check data.csv

sepcert check data.csv --label y --categorical race --certificate proof.json

sepcert check data.csv --format json | jq .verdict

sepcert check train.csv --expect any --exit-zero -c run.yaml"""

MARGIN_EXAMPLES = """Examples:

sepcert margin data.csv

sepcert margin data.csv --gap 1e-6 --no-bias --certificate proof.json

sepcert margin data.csv --format json | jq .rho_2"""

RACE_EXAMPLES = """Examples:

sepcert race data.csv

sepcert race data.csv --algorithms snkp,nvn,winnow --gap 0.01 --plot race.svg"""

GENERATE_EXAMPLES = """Examples:

sepcert generate separable --rho 0.01 -n 1000 -d 10 -o data.csv

sepcert generate wedge --r 1000 --truth truth.json -o wedge.npz"""

app = typer.Typer(
    context_settings={"help_option_names": ["--help", "-h"]},
    name="sepcert",
    help="Decide whether labelled data are linearly separable, and prove it either way.",
    epilog="Example: sepcert check data.csv --label y",
    rich_markup_mode="rich",
    no_args_is_help=False,
    pretty_exceptions_enable=False,
)
app.command("check", epilog=CHECK_EXAMPLES)(check)
app.command("margin", epilog=MARGIN_EXAMPLES)(margin)
app.command("race", epilog=RACE_EXAMPLES)(race)
app.command("generate", epilog=GENERATE_EXAMPLES)(generate)
app.command("verify", epilog="Example: sepcert verify proof.json data.csv")(verify)
app.command("list", epilog="Example: sepcert list codes")(list_registry)


def _print_version(wanted: bool) -> None:
    if wanted:
        deliver(f"sepcert {__version__}\n")
        raise typer.Exit


@app.callback()
def _program(
    version: bool = typer.Option(
        False, "--version", "-V", is_eager=True, callback=_print_version, help="Print the version and stop."
    ),
) -> None:
    """Decide whether labelled data are linearly separable, and prove it either way."""


def run_command(words: list[str]) -> int:
    """Parse `words`, do what they say, return the exit status."""
    bare = not words and COMPLETION not in os.environ
    parsed = _parse(["--help"] if bare else words)
    if isinstance(parsed, int):
        return ExitCode.COULD_NOT_RUN if bare else parsed
    return parsed()


def _parse(words: list[str]) -> int | Callable[[], int]:
    """Return the work to do, or the exit status where Typer has answered already (help, completion, a mistake)."""
    try:
        app.rich_markup_mode = "rich" if is_rich(sys.stdout) and shutil.get_terminal_size().columns >= NARROW else None
        parsed = _program_command().main(args=words, prog_name="sepcert", standalone_mode=False)
    except SystemExit as stop:
        return _status_of_help(stop)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error.strerror or str(error)) from None
    except Exception as error:
        explain = getattr(error, "format_message", None)
        if explain is None:
            raise
        message = " ".join(explain().replace("Value error, ", "").split())
        complain(f"sepcert: error {USAGE}: {message}")
        context = getattr(error, "ctx", None)
        complain(f"help: {context.command_path if context is not None else 'sepcert'} --help")
        return ExitCode.COULD_NOT_RUN
    return cast("int | Callable[[], int]", parsed)


def _program_command() -> Any:
    """Return the program with help that names arguments without the types of Python: ``DATA``, and ``DATA ...``."""
    program: Any = get_command(app)
    for command in program.commands.values():
        for parameter in command.params:
            if parameter.param_type_name == "argument" and parameter.metavar is not None:
                shown = None if parameter.nargs == 1 else "..."
                parameter.display_type_rich = lambda ctx, shown=shown: shown
    return program


def _status_of_help(stop: SystemExit) -> int:
    """Typer ends completion by SystemExit, and also a help page that nobody reads to its end."""
    if stop.code in (None, 0):
        return ExitCode.HOLDS
    return ExitCode.COULD_NOT_RUN if COMPLETION in os.environ else ExitCode.CLOSED_PIPE
