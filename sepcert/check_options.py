"""The options of a check."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from fractions import Fraction

from sepcert.errors import ConfigError, register

OPTION = register("CONFIG-OPTION", "An option of the check has a value that it cannot have.")


class _Wanted(ValueError):  # noqa: N818 - it ends a reader, its message is the advice
    """What an option asks for."""


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _Wanted("a name")
    return str(value)


def _flag(value: object) -> bool:
    if isinstance(value, bool) or type(value).__name__ in {"bool_", "bool"}:
        return bool(value)
    raise _Wanted("True or False")


def _number(value: object) -> float:
    if isinstance(value, str | bytes | bool) or not hasattr(value, "__float__"):
        raise _Wanted("a number")
    number = float(value)
    if not math.isfinite(number):
        raise _Wanted("a finite number")
    return number


def _positive(value: object) -> float:
    number = _number(value)
    if not number > 0:
        raise _Wanted("a positive number")
    return number


def _whole(value: object) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise _Wanted("a whole number, 0 or more")
    number = operator.index(value)
    if number < 0:
        raise _Wanted("a whole number, 0 or more")
    return number


def _scale(value: object) -> Fraction:
    if isinstance(value, Fraction | Decimal | str):
        exponent = value.adjusted() if isinstance(value, Decimal) and value.is_finite() else 0
        exact = Fraction(value) if abs(exponent) < 1000 else Fraction(0)
    else:
        exact = Fraction(_number(value))
    if not _LEAST_SCALE <= exact <= 1 / _LEAST_SCALE:
        raise _Wanted("a positive number between 1e-300 and 1e300")
    return exact


_LEAST_SCALE = Fraction(1, 10**300)
_READERS: dict[str, Callable[[object], object]] = {
    "kernel": _text,
    "bias": _flag,
    "bias_scale": _scale,
    "algorithm": _text,
    "epsilon": _positive,
    "gap": _positive,
    "max_iterations": _whole,
    "time_limit_seconds": _positive,
    "seed": _whole,
    "min_margin": _number,
}
_MAY_BE_NONE = {"epsilon", "gap", "max_iterations", "time_limit_seconds", "min_margin"}


@dataclass(frozen=True)
class CheckOptions:
    """What is asked, how hard to try.

    Attributes
    ----------
    kernel : str
    kernel_parameters : dict
    bias : bool
    bias_scale : Fraction or float
        b0 > 0, taken exactly; kept as a Fraction.
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
        for name, read in _READERS.items():
            value = getattr(self, name)
            if value is None and name in _MAY_BE_NONE:
                continue
            try:
                object.__setattr__(self, name, read(value))
            except (TypeError, ValueError, OverflowError) as error:
                wanted = str(error) if isinstance(error, _Wanted) else "a value of another kind"
                raise ConfigError(OPTION, f"{name} is {value!r}"[:200], advice=f"give {wanted}") from None
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
