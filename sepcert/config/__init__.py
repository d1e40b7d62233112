"""Settings of a run: flag, then `SEPCERT_*` variable, then file, then default."""

from sepcert.config.resolve import Configuration, resolve, resolve_one, show, show_as_object
from sepcert.config.settings import (
    DataSettings,
    EngineSettings,
    GateSettings,
    KernelSettings,
    Missing,
    OutputFormat,
    OutputSettings,
)
from sepcert.status import Expect

__all__ = [
    "Configuration",
    "DataSettings",
    "EngineSettings",
    "Expect",
    "GateSettings",
    "KernelSettings",
    "Missing",
    "OutputFormat",
    "OutputSettings",
    "resolve",
    "resolve_one",
    "show",
    "show_as_object",
]
