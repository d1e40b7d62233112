"""What a numeral is, what it stands for exactly, and what is wrong with a field that is none.

The grammar is our own and strict: an optional sign, decimal digits with an optional point, an optional exponent of
bounded size.  Blanks around it are ignored.  Hexadecimal, underscores, thousands separators, NaN and infinity are
not numerals, although Python's ``float`` accepts some of them.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from sepcert.data import faults
from sepcert.data.faults import argument

BLANKS = " \t\r\n\v\f"
MAX_EXPONENT = 9999
EXACT_DIGITS = 15  # a double gives back every decimal of so many significant digits
EXACT_INTEGERS = 2.0**53
SMALLEST_NORMAL = 2.0**-1022

_PATTERN = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?"
NUMERAL = re.compile(_PATTERN)
COMMA_NUMERAL = re.compile(r"[+-]?(?:[0-9]*,[0-9]+|[0-9]+,)(?:[eE][+-]?[0-9]+)?")
POINT_NUMERAL = re.compile(r"[+-]?(?:[0-9]*\.[0-9]+|[0-9]+\.)(?:[eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_INFINITY = re.compile(r"[+-]?(?:inf|infinity|∞|#inf|1\.#inf)", re.IGNORECASE)
_HEXADECIMAL = re.compile(r"[+-]?0[xX][0-9a-fA-F.]+(?:[pP][+-]?[0-9]+)?")
_UNDERSCORES = re.compile(r"[+-]?[0-9][0-9_.]*_[0-9_.eE+-]*")
_THOUSANDS = re.compile(
    r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?|[+-]?[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]*)?"
    r"|[+-]?[0-9]{1,3}(?:[ '\u2019\u00a0\u202f\u2009][0-9]{3})+(?:[.,][0-9]*)?"
)
_MIXED = re.compile(r"[+-]?[0-9.,]*[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?")
_MISSING_NUMBERS = frozenset({"", "na", "n/a", "nan", "+nan", "-nan", "null", "none", "?", ".", "-", "#n/a", "1.#qnan"})
_ONE_SIGN = "write all numbers with the same decimal sign, without thousands separators"
MISSING_TEXTS = frozenset({"", "NA", "N/A", "NaN", "nan"})


def is_numeral(text: str) -> bool:
    """Whether trimmed `text` is a numeral with a sensible exponent and a finite double."""
    match = NUMERAL.fullmatch(text)
    if match is None:
        return False
    exponent = match.group(1)
    return (exponent is None or _small(exponent)) and abs(float(text)) != float("inf")


def _small(exponent: str) -> bool:
    digits = exponent.lstrip("+-").lstrip("0")
    return len(digits) <= 4 and (not digits or int(digits) <= MAX_EXPONENT)


def is_missing(text: str) -> bool:
    """Whether a field of a numeric column says that there is no value."""
    return text.casefold() in _MISSING_NUMBERS


def exact_number(numeral: str) -> Fraction:
    """Return the rational number that a trimmed numeral stands for."""
    return Fraction(Decimal(numeral))


def significant_digits(numeral: str) -> int:
    """Count the digits from the first to the last nonzero one; 0 for zero."""
    mantissa = re.split("[eE]", numeral, maxsplit=1)[0]
    return len(mantissa.lstrip("+-").replace(".", "").strip("0"))


def is_irregular(numeral: str, value: float) -> bool:
    """Whether the shortest decimal of `value` may differ from the numeral that was rounded to it.

    True for more than 15 significant digits (integers below 2**53 excepted, which doubles hold exactly), from
    2**53 on, and for nonzero numerals whose double is zero or subnormal.
    """
    size = abs(value)
    if size >= EXACT_INTEGERS:
        return True
    if size < SMALLEST_NORMAL:
        return significant_digits(numeral) > 0
    if len(numeral) <= EXACT_DIGITS or _INTEGER.fullmatch(numeral):
        return False
    return significant_digits(numeral) > EXACT_DIGITS


def shortest(numeral: str) -> str:
    """Return the shortest way to write the number: ``1.0`` becomes ``1``, ``+.50`` becomes ``0.5``."""
    number = Decimal(numeral)
    if number == 0:
        return "0"
    sign, digits, exponent = number.as_tuple()
    body = "".join(map(str, digits)).lstrip("0")
    power = int(exponent) + len(body)
    body = body.rstrip("0")
    power_of_last = power - len(body)
    if power_of_last >= 0 and power <= 21:
        text = body + "0" * power_of_last
    elif power_of_last < 0 < power:
        text = f"{body[:power]}.{body[power:]}"
    elif -6 < power <= 0:
        text = "0." + "0" * -power + body
    else:
        text = f"{body[0]}{'.' if len(body) > 1 else ''}{body[1:]}e{power - 1}"
    return "-" + text if sign else text


def complaint(text: str, column: str, decimal_comma: bool, *, points: bool = False) -> tuple[str, str, str]:
    """Say what is wrong with a trimmed field that should be a number.

    Parameters
    ----------
    text : str
        The field as it is in the file, without blanks around it.
    column : str
        Name of its column.
    decimal_comma : bool
        Whether numerals of the file have a decimal comma.
    points : bool
        Whether numerals of the file have a decimal point, and commas do not delimit fields.

    Returns
    -------
    code, message, advice : str
    """
    shown = repr(text if len(text) <= 40 else text[:37] + "...")
    where = f"(column {column!r})"
    point = text.replace(",", ".") if decimal_comma and "." not in text else text
    if _INFINITY.fullmatch(text):
        return faults.INFINITE, f"{shown} is infinite {where}", f"replace it, or use --drop {argument(column)}"
    if decimal_comma and POINT_NUMERAL.fullmatch(text):
        message = f"{shown} has a decimal point where other numbers have a decimal comma {where}"
        return faults.SEPARATORS, message, f"this file has decimal commas: {_ONE_SIGN}"
    if points and COMMA_NUMERAL.fullmatch(text):
        message = f"{shown} has a decimal comma where other numbers have a decimal point {where}"
        return faults.SEPARATORS, message, f"this file has decimal points: {_ONE_SIGN}"
    if NUMERAL.fullmatch(point):
        return (
            faults.RANGE,
            f"{shown} is out of range {where}",
            f"numbers must be below 1.8e308 and exponents at most {MAX_EXPONENT}",
        )
    message = f"{shown} is not a number {where}"
    if _THOUSANDS.fullmatch(text) or _MIXED.fullmatch(text):
        if not decimal_comma and COMMA_NUMERAL.fullmatch(text) and not _THOUSANDS.fullmatch(text):
            advice = "write a decimal point, or separate all columns by semicolons or tabs and use decimal commas only"
        elif decimal_comma and "." in text:
            advice = "this file has decimal commas: remove the points"
        else:
            advice = "remove thousands separators and write a decimal point"
        return faults.SEPARATORS, message, advice
    return faults.NUMBER, message, _advice(text, column)


def _advice(text: str, column: str) -> str:
    other = f"use --drop {argument(column)} or --categorical {argument(column)}"
    if _HEXADECIMAL.fullmatch(text):
        return f"write it in decimal; hexadecimal numerals are not read; or {other}"
    if _UNDERSCORES.fullmatch(text):
        return f"remove the underscores, or {other}"
    if text[:1] in {"\u2212", "\u2013"} and NUMERAL.fullmatch(text[1:]):
        return "write the sign as an ASCII hyphen"
    if not text.isascii() and NUMERAL.fullmatch(text.strip()):
        return "remove the blanks that are not ASCII"
    if "#" in text:
        return f"'#' does not begin a comment here; remove it, or {other}"
    if text[-1:] == "%" or text[:1] in "$€£":
        return f"remove the sign, or {other}"
    return other
