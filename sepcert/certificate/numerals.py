"""The numerals of a certificate: exact, canonical (each number is written in one way only) and free of rounding.

``0x1.8p+3`` is a hex float, as C, Python and IEEE 754 write it: every double is one.  ``-0x1/0x3`` is a rational in
lowest terms, for all other numbers.  ``0x1f`` is an integer.  Nothing here computes with doubles, so the processor's
mode cannot matter, and no decimal conversion, so long numbers cost linear time.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

LONGEST_NUMERAL = 1 << 17
"""Characters that one numeral may have: about 500,000 bits."""

_DIGITS = "0|[1-9a-f][0-9a-f]*"
_INTEGER = re.compile(rf"(-?)0x({_DIGITS})")
_RATIONAL = re.compile(rf"(-?)0x({_DIGITS})/0x({_DIGITS})")
_HEX_FLOAT = re.compile(r"(-?)0x([01])(?:\.([0-9a-f]{1,13}))?p([+-][0-9]{1,4})")

_MANTISSA_BITS = 53
_LOWEST_BIT = -1074
_HIGHEST_BIT = 1023


def format_number(value: Fraction) -> str:
    """Write a rational number: as a hex float if it is a double, else as a quotient of integers."""
    sign = "-" if value < 0 else ""
    size, denominator = abs(value.numerator), value.denominator
    if size == 0:
        return "0x0p+0"
    if denominator & (denominator - 1) == 0:
        lowest = (size & -size).bit_length() - 1
        odd = size >> lowest
        bits = odd.bit_length()
        lowest -= denominator.bit_length() - 1
        highest = lowest + bits - 1
        if bits <= _MANTISSA_BITS and lowest >= _LOWEST_BIT and highest <= _HIGHEST_BIT:
            fraction = f"{(odd << (_MANTISSA_BITS - bits)) & ((1 << 52) - 1):013x}".rstrip("0")
            return f"{sign}0x1{'.' if fraction else ''}{fraction}p{highest:+d}"
    return f"{sign}{size:#x}/{denominator:#x}"


def parse_number(text: str) -> Fraction:
    """Read what :func:`format_number` writes; ValueError, with the reason, for everything else."""
    _check_length(text)
    if match := _HEX_FLOAT.fullmatch(text):
        sign, leading, fraction, exponent = match.groups()
        digits = fraction or ""
        shift = int(exponent) - 4 * len(digits)
        value = Fraction(int(leading + digits, 16) << max(shift, 0), 1 << max(-shift, 0))
    elif match := _RATIONAL.fullmatch(text):
        sign, top, bottom = match.groups()
        if bottom == "0":
            raise ValueError("has a denominator of zero")
        value = Fraction(int(top, 16), int(bottom, 16))
    else:
        raise ValueError("is neither a hex float like 0x1.8p+3 nor a rational like -0x1/0x3")
    value = -value if sign else value
    if format_number(value) != text:
        raise ValueError(f"is not in canonical form, which is {_shortened(format_number(value))}")
    return value


def format_integer(value: int) -> str:
    """Write an integer in hexadecimal."""
    return f"{value:#x}"


def parse_integer(text: str) -> int:
    """Read what :func:`format_integer` writes; ValueError, with the reason, for everything else."""
    _check_length(text)
    match = _INTEGER.fullmatch(text)
    if match is None or text == "-0x0":
        raise ValueError("is not an integer like 0x1f")
    return int(text, 16)


def format_float(value: float) -> str:
    """Write a finite double as a hex float."""
    return format_number(Fraction(value))


def parse_float(text: str) -> float:
    """Read what :func:`format_float` writes; ValueError, with the reason, for everything else."""
    exact = parse_number(text)
    try:
        value = float(exact)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value) or Fraction(value) != exact:
        raise ValueError("is not a double")
    return value


def _check_length(text: str) -> None:
    if len(text) > LONGEST_NUMERAL:
        raise ValueError(f"has {len(text)} characters; at most {LONGEST_NUMERAL} are read")


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:40]}... ({len(text)} characters)"
