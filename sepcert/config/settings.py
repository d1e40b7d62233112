"""Every setting: where it lives, how its text is read, what it means by default."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from enum import StrEnum
from fractions import Fraction
from typing import Any

from sepcert.config import parsers
from sepcert.status import Expect, Numbers


class Missing(StrEnum):
    """What to do with a row that has a missing value."""

    ERROR = "error"
    DROP_ROWS = "drop-rows"


class OutputFormat(StrEnum):
    """How the result is printed."""

    TEXT = "text"
    JSON = "json"


def _setting(default: object, parse: Callable[[str], object], *, flag: str | None = None, several: bool = False) -> Any:
    return field(default=default, metadata={"parse": parse, "flag": flag, "several": several})


@dataclass(frozen=True)
class KernelSettings:
    """The `kernel` section; `parameters` holds what a kernel takes beyond the fixed keys."""

    name: str = _setting("linear", parsers.text, flag="kernel")
    bias: bool = _setting(True, parsers.boolean)
    bias_scale: Fraction = _setting(Fraction(1), parsers.positive_rational)


@dataclass(frozen=True)
class DataSettings:
    """The `data` section."""

    label: str | None = _setting(None, parsers.text)
    labels: str | None = _setting(None, parsers.text)
    positive: str | None = _setting(None, parsers.text)
    drop: tuple[str, ...] = _setting((), parsers.text, several=True)
    categorical: tuple[str, ...] = _setting((), parsers.text, several=True)
    weight: str | None = _setting(None, parsers.text)
    missing: Missing = _setting(Missing.ERROR, parsers.one_of(Missing))
    numbers: Numbers | None = _setting(None, parsers.one_of(Numbers))
    delimiter: str | None = _setting(None, parsers.delimiter)
    header: bool | None = _setting(None, parsers.boolean)


@dataclass(frozen=True)
class EngineSettings:
    """The `engine` section."""

    algorithm: str = _setting("auto", parsers.text)
    algorithm_options: tuple[str, ...] = _setting((), parsers.assignment, flag="algorithm_option", several=True)
    epsilon: float | None = _setting(None, parsers.positive_number)
    gap: float | None = _setting(None, parsers.positive_number)
    max_iterations: int | None = _setting(None, parsers.positive_whole_number)
    time_limit_seconds: float | None = _setting(None, parsers.positive_number)
    seed: int = _setting(0, parsers.whole_number)


@dataclass(frozen=True)
class GateSettings:
    """The `gate` section."""

    expect: Expect = _setting(Expect.SEPARABLE, parsers.one_of(Expect))
    min_margin: float | None = _setting(None, parsers.least_margin)
    exit_zero: bool = _setting(False, parsers.boolean)


@dataclass(frozen=True)
class OutputSettings:
    """The `output` section."""

    format: OutputFormat = _setting(OutputFormat.TEXT, parsers.one_of(OutputFormat))
    certificate: str | None = _setting(None, parsers.text)
    log: str | None = _setting(None, parsers.text)
    progress: bool = _setting(True, parsers.boolean)


SECTIONS: dict[str, type] = {
    "kernel": KernelSettings,
    "data": DataSettings,
    "engine": EngineSettings,
    "gate": GateSettings,
    "output": OutputSettings,
}


@dataclass(frozen=True)
class Setting:
    """One key of the configuration.

    Attributes
    ----------
    section, name : str
        The nested key, such as `data` and `label`.
    parse : callable
        From text to value; of one item where the setting takes several.
    several : bool
        Whether it is a list.
    default : object
        The value where no source gives one.
    option : str
        The name of the flag without its dashes, as an identifier.
    """

    section: str
    name: str
    parse: Callable[[str], object]
    several: bool
    default: object
    option: str

    @property
    def key(self) -> str:
        """The key as a user writes it: ``data.label``."""
        return f"{self.section}.{self.name}"

    @property
    def variable(self) -> str:
        """The environment variable: ``SEPCERT_LABEL``."""
        return f"SEPCERT_{self.option.upper()}"

    @property
    def flag(self) -> str:
        """The option of the command line: ``--label``."""
        return "--" + self.option.replace("_", "-")


def _all_settings() -> Iterator[Setting]:
    for section, owner in SECTIONS.items():
        for entry in fields(owner):
            known = entry.metadata
            option = known["flag"] or entry.name
            yield Setting(section, entry.name, known["parse"], known["several"], entry.default, option)


SETTINGS: tuple[Setting, ...] = tuple(_all_settings())
