"""Parameters of kernels: exact rationals, how they are read, and how a certificate writes them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction

from sepcert.errors import KernelError, register

VALUE = register("KERNEL-VALUE", "A parameter of the kernel has a value that it cannot have.")

LARGEST = Fraction(2) ** 300
"""Parameters lie between 1/LARGEST and LARGEST in size (about 10**90), or are zero: no bound ever overflows."""
LARGEST_DEGREE = 1000

_NUMERAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_RATIO = re.compile(r"[+-]?[0-9]+/[0-9]*[1-9][0-9]*")
_HEX_FLOAT = re.compile(r"-?0x[01](?:\.[0-9a-f]{1,13})?p[+-][0-9]{1,4}")
_HEX_RATIO = re.compile(r"(-?)0x([0-9a-f]{1,600})/0x([0-9a-f]{1,600})")
_LONGEST = 300


def bad_value(kernel: str, parameter: str, given: object, reason: str, advice: str = "") -> KernelError:
    """Return the error for a parameter: ``gamma of the gaussian kernel is 'x', which is not a number``."""
    written = repr(given) if isinstance(given, str) else str(given)
    shown = written if len(written) <= 60 else f"{written[:57]}..."
    return KernelError(VALUE, f"{parameter} of the {kernel} kernel is {shown}, which {reason}", advice=advice)


def rational(kernel: str, parameter: str, given: object) -> Fraction:
    """Return exactly the number that is given.

    Parameters
    ----------
    kernel, parameter : str
        Their names, for the message.
    given : object
        A text is the decimal (``0.1``) or the ratio (``1/3``) that is written; a float is the double itself.

    Raises
    ------
    KernelError
        Not a number, or one beyond the range 1/LARGEST to LARGEST.
    """
    value: Fraction | None = None
    if isinstance(given, str):
        written = given.strip()
        if len(written) <= _LONGEST and (_NUMERAL.fullmatch(written) or _RATIO.fullmatch(written)):
            value = Fraction(written)
    elif isinstance(given, bool):
        value = None
    elif isinstance(given, int | Fraction) or (isinstance(given, float | Decimal) and math.isfinite(given)):
        value = Fraction(given)
    if value is None:
        raise bad_value(
            kernel, parameter, given, "is not a number", "write a decimal such as 0.5 or a ratio such as 1/3"
        )
    if value and not 1 / LARGEST <= abs(value) <= LARGEST:
        raise bad_value(kernel, parameter, given, "is out of range", "scale the columns so that it comes near 1")
    if value.denominator.bit_length() > 2000 or value.numerator.bit_length() > 2000:
        raise bad_value(kernel, parameter, given, "has too many digits", "round it")
    return value


def positive(kernel: str, parameter: str, given: object) -> Fraction:
    """Return the number, which must be above zero."""
    value = rational(kernel, parameter, given)
    if value <= 0:
        raise bad_value(
            kernel, parameter, given, "is not above zero", "the kernel is positive definite only above zero"
        )
    return value


def not_negative(kernel: str, parameter: str, given: object) -> Fraction:
    """Return the number, which must not be below zero."""
    value = rational(kernel, parameter, given)
    if value < 0:
        raise bad_value(
            kernel, parameter, given, "is below zero", "the kernel is positive semidefinite only from zero on"
        )
    return value


def degree(kernel: str, parameter: str, given: object) -> int:
    """Return the number, which must be whole, above zero and at most LARGEST_DEGREE."""
    value = rational(kernel, parameter, given)
    if value.denominator != 1 or value < 1:
        raise bad_value(kernel, parameter, given, "is not a whole number above zero")
    if value > LARGEST_DEGREE:
        raise bad_value(kernel, parameter, given, f"is above {LARGEST_DEGREE}")
    return int(value)


def exact_text(value: Fraction) -> str:
    """Write a number as certificates do: a hex float if it is a double, else a quotient of hex integers.

    `value` is zero or between 1/LARGEST and LARGEST in size.
    """
    if value == 0:
        return "0x0p+0"
    nearest = float(value)
    if Fraction(nearest) == value:
        mantissa, exponent = nearest.hex().split("p")
        return f"{mantissa.rstrip('0').rstrip('.')}p{exponent}"
    return f"{'-' if value < 0 else ''}{abs(value.numerator):#x}/{value.denominator:#x}"


def parse_exact(kernel: str, parameter: str, text: str) -> Fraction:
    """Read what :func:`exact_text` writes; a KernelError for everything else."""
    value: Fraction | None = None
    if _HEX_FLOAT.fullmatch(text):
        exponent = int(text.rsplit("p", 1)[1])
        value = Fraction(float.fromhex(text)) if abs(exponent) <= 301 else None
    elif (match := _HEX_RATIO.fullmatch(text)) and int(match[3], 16):
        value = Fraction(int(match[1] + match[2], 16), int(match[3], 16))
    if value is None or (value and not 1 / LARGEST <= abs(value) <= LARGEST) or exact_text(value) != text:
        raise bad_value(kernel, parameter, text, "is not an exact number in canonical form")
    return value


def nearest(word: str, known: Iterable[str]) -> str:
    """Return advice that names the nearest known word, or else all of them."""
    words = sorted(known)
    near = get_close_matches(word, words, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"known: {', '.join(words)}" if words else "remove it"
