import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sepcert.certificate.numerals import (
    LONGEST_NUMERAL,
    format_float,
    format_integer,
    format_number,
    parse_float,
    parse_integer,
    parse_number,
)

DOUBLES = st.floats(allow_nan=False, allow_infinity=False)


@given(DOUBLES)
def test_doubles_are_hex_floats_that_python_reads(value):
    text = format_float(value)
    assert "/" not in text
    assert float.fromhex(text) == value
    assert parse_float(text) == value
    assert parse_number(text) == Fraction(value)


@given(st.fractions())
def test_rationals_round_trip(value):
    assert parse_number(format_number(value)) == value


@given(st.integers(), st.integers(-3000, 3000))
def test_dyadic_numbers_round_trip(size, exponent):
    value = Fraction(size) * Fraction(2) ** exponent
    text = format_number(value)
    assert parse_number(text) == value
    try:
        is_double = Fraction(float(value)) == value
    except OverflowError:
        is_double = False
    assert ("/" not in text) == is_double


@given(st.integers())
def test_integers_round_trip(value):
    assert parse_integer(format_integer(value)) == value
    assert int(format_integer(value), 16) == value


def test_spelling():
    assert format_number(Fraction(12)) == "0x1.8p+3"
    assert format_number(Fraction(-1, 3)) == "-0x1/0x3"
    assert format_float(5e-324) == "0x1p-1074"
    assert format_float(-0.0) == "0x0p+0"
    assert format_float(1.7976931348623157e308) == "0x1.fffffffffffffp+1023"
    assert format_number(Fraction(2**53 + 1)) == "0x20000000000001/0x1"
    assert format_integer(31) == "0x1f"


@pytest.mark.parametrize(
    "text",
    [
        *("", "1", "0x", "1.5", "0x1", "0x1p3", "0x1.p+3", "0x1.0p+3", "0x1.80p+3", "0x1P+3", "0X1p+3", "0x1.8p+03"),
        *("0x2p+3", "-0x0p+0", "0x0p+1", "+0x1p+0", " 0x1p+0", "0x1p+0\n", "0x1p+1024", "0x1p-1075", "0x1.8p-1074"),
        *("0x1/0x0", "0x2/0x4", "0x1/0x1", "0x1/0x2", "0x1/-0x3", "-0x0/0x3", "0x01/0x3", "0xA/0x3", "0x1 /0x3"),
        *("0x1_0p+0", "nan", "inf", "0x1.8p+9999", "0x1.8p+99999", "0x1.00000000000001p+0", "٠x1p+0", "0x1p+٣"),
    ],
)
def test_everything_else_is_refused(text):
    with pytest.raises(ValueError, match=r"is n|has "):
        parse_number(text)


@pytest.mark.parametrize("text", ["", "1", "0x", "-0x0", "0x01", "0xF", "0x1p+0", "0x1/0x1", " 0x1", "0x1\n", "0x_1"])
def test_integers_have_one_spelling(text):
    with pytest.raises(ValueError, match="is not an integer"):
        parse_integer(text)


def test_length_is_capped():
    digits = "f" * (LONGEST_NUMERAL - 2)
    assert parse_integer(f"0x{digits}") == 16 ** len(digits) - 1
    for parse in (parse_integer, parse_number):
        with pytest.raises(ValueError, match="at most"):
            parse(f"0x{digits}f")


def test_floats_must_be_doubles():
    for value in (Fraction(1, 3), Fraction(2**60 + 1), Fraction(2) ** 2000):
        with pytest.raises(ValueError, match="is not a double"):
            parse_float(format_number(value))
    assert math.copysign(1, parse_float("0x0p+0")) == 1
