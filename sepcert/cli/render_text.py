"""Printing an account: a panel on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Mapping
from typing import TextIO

from sepcert.cli.guard import printable
from sepcert.cli.wording import Account

_NAME_WIDTH = 12
_WIDEST = 100


def is_rich(stream: TextIO | None, environment: Mapping[str, str] | None = None) -> bool:
    """Return whether panels and colours are welcome on the stream.

    Not where it is no terminal, where ``NO_COLOR`` or ``CI`` is set (to anything), or where ``TERM`` is ``dumb``.
    """
    environment = os.environ if environment is None else environment
    if stream is None or not stream.isatty():
        return False
    plain = environment.get("NO_COLOR") or environment.get("CI") or environment.get("TERM") == "dumb"
    return not plain


def plain(account: Account, *, prefix: str = "", quiet: bool = False, wrap: bool = False) -> str:
    """Return the account as lines of text.

    Parameters
    ----------
    account : Account
        What to say.
    prefix : str
        Said before the headline: the file's name where there are several.
    quiet : bool
        Only the headline, and beside it what it would hide.
    wrap : bool
        Whether lines are wrapped at the width of the terminal; not in a pipe, where tools read them.
    """
    width = max(20, min(shutil.get_terminal_size().columns, _WIDEST)) if wrap else None
    said = "; ".join([account.headline, *account.brief]) if quiet else account.headline
    lines = _wrapped(printable(prefix + said), width, "", "  ")
    for name, said in () if quiet else account.facts:
        lines += _wrapped(printable(said), width, f"  {name:<{_NAME_WIDTH}}", " " * (_NAME_WIDTH + 2))
    return "\n".join(lines) + "\n"


def _wrapped(text: str, width: int | None, first: str, later: str) -> list[str]:
    if width is None:
        return [first + text.replace("\n", " ")]
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )


def panel(account: Account, stream: TextIO, *, prefix: str = "", holds: bool | None) -> str:
    """Return the account as a panel with the terminal's escape sequences; data are never read as markup.

    Parameters
    ----------
    account : Account
        What to say.
    stream : TextIO
        The terminal.
    prefix : str
        Said before the headline.
    holds : bool or None
        The gate, for the colour: green, red, or yellow where it is undecided.
    """
    from rich.console import Console, Group
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    colour = {True: "green", False: "red", None: "yellow"}[holds]
    console = Console(file=stream, markup=False, highlight=False, emoji=False)
    facts = Table.grid(padding=(0, 1))
    facts.add_column(style="bold", no_wrap=True)
    facts.add_column(overflow="fold")
    for name, said in account.facts:
        facts.add_row(Text(name), Text(printable(said)))
    headline = Text(printable(prefix + account.headline), style=f"bold {colour}")
    width = min(console.width, _WIDEST)
    with console.capture() as captured:
        console.print(Panel(Group(headline, Text(""), facts), border_style=colour, width=width))
    return captured.get()
