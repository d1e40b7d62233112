"""Entry point of the command line; answers ``--version`` before anything heavy is imported."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sepcert._version import __version__
from sepcert.cli.guard import deliver, guarded


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after the program's name; default ``sys.argv[1:]``.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)

    def run() -> int:
        if words[:1] in (["--version"], ["-V"]):
            deliver(f"sepcert {__version__}\n")
            return 0
        from sepcert.cli.app import run_command

        return run_command(words)

    return guarded(run, debug="--debug" in words)


if __name__ == "__main__":
    sys.exit(main())
