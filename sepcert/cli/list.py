"""``sepcert list``: what there is, from the registries."""

from __future__ import annotations

import dataclasses
import os
import pkgutil
from collections.abc import Callable
from enum import StrEnum
from importlib import import_module
from typing import Annotated, Any

import typer

from sepcert.cli import options
from sepcert.cli.guard import deliver
from sepcert.config import OutputFormat, resolve_one
from sepcert.status import ExitCode


class Registry(StrEnum):
    """The registries that can be listed."""

    ALGORITHMS = "algorithms"
    KERNELS = "kernels"
    CODES = "codes"


def list_registry(
    registry: Annotated[Registry, typer.Argument(help="Which registry.", show_default=False)],
    output_format: options.Format = None,
    debug: options.Debug = False,
) -> Callable[[], int]:
    """List the algorithms, the kernels, or the error codes."""

    def run() -> int:
        wanted = resolve_one("format", output_format, os.environ)
        entries = {
            Registry.ALGORITHMS: algorithms,
            Registry.KERNELS: kernels,
            Registry.CODES: codes,
        }[registry]()
        if wanted is OutputFormat.JSON:
            import json

            deliver(json.dumps({"schema": "sepcert-list/1", registry.value: entries}, indent=1) + "\n")
        else:
            deliver("".join(map(_lines, entries)))
        return ExitCode.HOLDS

    return run


def _lines(entry: dict[str, str]) -> str:
    """Return the name with what it is, and further fields below."""
    (_, name), (_, meaning), *others = entry.items()
    below = [f"    {field}: {value}" for field, value in others if value]
    return "\n".join([f"{name:<26} {meaning}", *below]) + "\n"


def algorithms() -> list[dict[str, str]]:
    """Return `auto`, and what the registry says about every algorithm that can be run alone."""
    from sepcert.engine.registry import ALGORITHMS

    automatic = {"name": "auto", "summary": "chooses by the size of the problem, and says what and why (-v)"}
    return [
        automatic,
        *(
            {
                "name": entry.name,
                "summary": entry.summary,
                "alias": ", ".join(entry.aliases),
                "proves": entry.proves,
                "paper": entry.paper,
                "bound": entry.bound_text,
            }
            for entry in ALGORITHMS.values()
        ),
    ]


def kernels() -> list[dict[str, str]]:
    """Return name, meaning and parameters of every kernel that is built."""
    from sepcert.kernels import KERNELS

    return [
        {"name": name, "meaning": _first_line(kernel), "parameters": _parameters(kernel)}
        for name, kernel in sorted(KERNELS.items())
    ]


_CHOICES = {
    "nu": "1/2, 3/2 or 5/2",
    "degree": "a whole number",
    "of": "a list of kernels, in a configuration file",
    "matrix": "an NPY file",
}


def _parameters(kernel: Any) -> str:
    """Return the kernel's parameters and what each may be."""
    said = []
    for entry in dataclasses.fields(kernel):
        if entry.init:
            words = [_CHOICES.get(entry.name, "a number"), *kernel.heuristics.get(entry.name, ())]
            default = "" if entry.default is dataclasses.MISSING else f"; default {entry.default}"
            said.append(f"{entry.name} ({', '.join(words[:-1])}{' or ' if words[1:] else ''}{words[-1]}{default})")
    return ", ".join(said)


def codes() -> list[dict[str, str]]:
    """Return every error code with its meaning."""
    import_everything()
    from sepcert.errors import CODES

    return [{"code": code, "meaning": meaning} for code, meaning in sorted(CODES.items())]


def import_everything() -> None:
    """Import every module of the package, because codes are registered where they are raised.

    A module that needs an extra which is not installed is passed over.
    """
    import sepcert

    for module in pkgutil.walk_packages(sepcert.__path__, "sepcert."):
        try:
            import_module(module.name)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("sepcert"):
                raise


def _first_line(thing: object) -> str:
    return (thing.__doc__ or "").strip().splitlines()[0]
