"""The options of a check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction

from sepcert.errors import ConfigError, register

OPTION = register("CONFIG-OPTION", "An option of the check has a value that it cannot have.")


@dataclass(frozen=True)
class CheckOptions:
    """What is asked, how hard to try.

    Attributes
    ----------
    kernel : str
    kernel_parameters : dict
    bias : bool
    bias_scale : Fraction or float
        b0 > 0, taken exactly.
    algorithm : str
        ``auto``, or one algorithm that runs alone.
    algorithm_options : dict
        Its own options, such as ``{"gamma": 2}``; ``auto`` has none.
    epsilon : float or None
        Target for |p|_G of a witness that is not exact.
    gap : float or None
        Go on until (upper - lower)/upper <= gap; None: 0.01 where it comes cheaply.
    max_iterations : int or None
        Of the floating-point engine.
    time_limit_seconds : float or None
    seed : int
    min_margin : float or None
        Go on until the bracket lies on one side of it.
    """

    kernel: str = "linear"
    kernel_parameters: Mapping[str, object] = field(default_factory=dict)
    bias: bool = True
    bias_scale: Fraction | float = Fraction(1)
    algorithm: str = "auto"
    algorithm_options: Mapping[str, object] = field(default_factory=dict)
    epsilon: float | None = None
    gap: float | None = None
    max_iterations: int | None = None
    time_limit_seconds: float | None = None
    seed: int = 0
    min_margin: float | None = None

    def __post_init__(self) -> None:
        for name in ("epsilon", "gap", "time_limit_seconds", "bias_scale"):
            value = getattr(self, name)
            if value is not None and not (0 < value < float("inf")):
                raise ConfigError(OPTION, f"{name} is {value!r}", advice="give a positive number")
        if self.max_iterations is not None and self.max_iterations < 0:
            raise ConfigError(OPTION, f"max_iterations is {self.max_iterations}", advice="give 0 or more")
        if self.algorithm_options and self.algorithm == "auto":
            named = ", ".join(self.algorithm_options)
            raise ConfigError(OPTION, f"auto takes no options ({named})", advice="name an algorithm")

    def changed(self) -> dict[str, object]:
        """Return the options that differ from the defaults, as plain values."""
        default = CheckOptions()
        pairs = ((f.name, getattr(self, f.name)) for f in fields(self))
        return {
            name: str(value) if isinstance(value, Fraction) else dict(value) if isinstance(value, Mapping) else value
            for name, value in pairs
            if value != getattr(default, name)
        }
