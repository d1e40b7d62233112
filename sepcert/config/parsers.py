"""From the text of a setting to its value; every source (flag, variable, file) goes through these.

A parser raises :class:`ValueError` with the end of a sentence that begins with the text: ``is not a whole number``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from enum import StrEnum
from fractions import Fraction
from typing import TypeVar

Choice = TypeVar("Choice", bound=StrEnum)

_NUMERAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_RATIO = re.compile(r"\+?([0-9]{1,300})/([0-9]{1,300})")


def text(given: str) -> str:
    """Return the text itself; it must not be empty."""
    if not given:
        raise ValueError("is empty")
    return given


def assignment(given: str) -> str:
    """Return a text of the form ``name=value`` without blanks around its parts."""
    name, sign, value = (part.strip() for part in given.partition("="))
    if not (name and sign and value):
        raise ValueError("is not of the form NAME=VALUE")
    return f"{name}={value}"


def boolean(given: str) -> bool:
    """Return the truth value of ``true``/``false``, ``yes``/``no``, ``on``/``off`` or ``1``/``0``."""
    word = given.strip().lower()
    if word in {"true", "yes", "on", "1"}:
        return True
    if word in {"false", "no", "off", "0"}:
        return False
    raise ValueError("is neither true nor false")


def number(given: str) -> float:
    """Return a finite number."""
    if not _NUMERAL.fullmatch(given.strip()):
        raise ValueError("is not a number")
    value = float(given)
    if not math.isfinite(value):
        raise ValueError("is too large")
    return value


def positive_number(given: str) -> float:
    """Return a finite number above zero."""
    value = number(given)
    if value <= 0:
        raise ValueError("is not above zero")
    return value


def least_margin(given: str) -> float:
    """Return a finite number above zero; zero would ask for nothing that `expect` does not."""
    value = number(given)
    if value <= 0:
        raise ValueError("is not above zero; to demand just a positive margin, leave it out and expect separable")
    return value


def positive_rational(given: str) -> Fraction:
    """Return exactly the decimal (``0.1``) or the ratio (``1/3``) that is written; it must be above zero."""
    written = given.strip()
    ratio = _RATIO.fullmatch(written)
    if ratio and int(ratio[2]):
        value = Fraction(int(ratio[1]), int(ratio[2]))
    elif _NUMERAL.fullmatch(written) and len(written) <= 300:
        value = Fraction(written)
    else:
        raise ValueError("is not a number")
    if value <= 0:
        raise ValueError("is not above zero")
    return value


def whole_number(given: str) -> int:
    """Return an integer that is not negative."""
    written = given.strip()
    if re.fullmatch(r"-0*[1-9][0-9]*", written):
        raise ValueError("is below zero")
    if not re.fullmatch(r"[+-]?[0-9]+", written):
        raise ValueError("is not a whole number")
    if not re.fullmatch(r"[+-]?0*[0-9]{1,18}", written):
        raise ValueError("is too large")
    return int(written)


def positive_whole_number(given: str) -> int:
    """Return an integer above zero."""
    if re.fullmatch(r"-[0-9]+", given.strip()) or (value := whole_number(given)) == 0:
        raise ValueError("is not above zero")
    return value


def delimiter(given: str) -> str:
    r"""Return the one character that separates fields; ``tab`` and ``\t`` mean the tab."""
    if given in {"tab", "\\t"}:
        return "\t"
    if len(given) != 1 or given in '"\r\n':
        raise ValueError("is not one character (write tab for the tab)")
    return given


def one_of(choices: type[Choice]) -> Callable[[str], Choice]:
    """Return a parser that accepts the values of an enum."""

    def parse(given: str) -> Choice:
        try:
            return choices(given)
        except ValueError:
            raise ValueError(f"is none of {', '.join(choices)}") from None

    return parse
