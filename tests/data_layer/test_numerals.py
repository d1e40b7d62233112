"""The grammar of numerals, and their shortest form."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sepcert.data.numerals import complaint, exact_number, is_irregular, is_numeral, shortest, significant_digits
from sepcert.problem import exact_value
from sepcert.status import Numbers


@pytest.mark.parametrize(
    "text", ["0", "-0", "+7", "007", "1.", ".5", "-.5", "1.50", "1e5", "1E-05", "+1.e+2", "1e308", "1e-9999", "0e9999"]
)
def test_numerals(text):
    assert is_numeral(text)
    assert exact_number(text) == Fraction(text.replace("1.e", "1.0e").rstrip(".") if text != "1." else "1")


@pytest.mark.parametrize(
    "text",
    ["", "-", ".", "e5", "1e", "1e+", "--1", "1 2", " 1", "1_0", "0x1", "nan", "inf", "1,5", "1e10000", "0e10000",
     "1e999999999", "1.8e308", "-1e309", "١", "²", "1e1.5", "1\n", "True"],
)  # fmt: skip
def test_not_numerals(text):
    assert not is_numeral(text)


@pytest.mark.parametrize(
    ("text", "digits"),
    [("0", 0), ("0.000", 0), ("100", 1), ("0.001", 1), ("1.500", 2), ("-12.0e5", 2), ("1234567890123456", 16)],
)
def test_significant_digits(text, digits):
    assert significant_digits(text) == digits


@pytest.mark.parametrize(
    ("text", "short"),
    [("1.0", "1"), ("+.50", "0.5"), ("1e3", "1000"), ("-0.0", "0"), ("1E-3", "0.001"), ("1e30", "1e30"),
     ("12300e28", "1.23e32"), ("-2.50", "-2.5"), ("0.00000001", "1e-8"), ("9007199254740993", "9007199254740993")],
)  # fmt: skip
def test_shortest(text, short):
    assert shortest(text) == short
    assert exact_number(short) == exact_number(text)


NUMERALS = st.builds(
    lambda sign, whole, part, exponent: f"{sign}{whole}{part}{exponent}",
    st.sampled_from(["", "-", "+"]),
    st.integers(0, 10**20).map(str),
    st.one_of(st.just(""), st.integers(0, 10**9).map(lambda k: f".{k}"), st.just("."), st.just(".000")),
    st.one_of(st.just(""), st.integers(-330, 280).map(lambda k: f"e{k}")),
)


@given(NUMERALS)
def test_a_regular_numeral_is_what_the_rule_makes_of_its_double(text):
    assert is_numeral(text)
    assert exact_number(shortest(text)) == exact_number(text)
    if not is_irregular(text, float(text)):
        assert exact_value(float(text), Numbers.DECIMAL) == exact_number(text)


@pytest.mark.parametrize(
    ("text", "code", "advice"),
    [
        ("oops", "DATA-NUMBER", "use --drop age or --categorical age"),
        ("0x1F", "DATA-NUMBER", "hexadecimal"),
        ("1_000", "DATA-NUMBER", "underscores"),
        ("#4", "DATA-NUMBER", "'#'"),
        ("12%", "DATA-NUMBER", "remove the sign"),
        ("−3", "DATA-NUMBER", "hyphen"),
        ("1\u00a0", "DATA-NUMBER", "blanks"),
        ("TRUE", "DATA-NUMBER", "--categorical age"),
        ("inf", "DATA-INFINITE", "replace"),
        ("-Infinity", "DATA-INFINITE", "replace"),
        ("1e999999999", "DATA-RANGE", "exponents"),
        ("1e309", "DATA-RANGE", "below"),
        ("1,234", "DATA-SEPARATORS", "thousands"),
        ("1,234,567.8", "DATA-SEPARATORS", "thousands"),
        ("1 234", "DATA-SEPARATORS", "thousands"),
        ("1'234", "DATA-SEPARATORS", "thousands"),
        ("1,5", "DATA-SEPARATORS", "decimal point"),
    ],
)
def test_complaints(text, code, advice):
    found, message, help_ = complaint(text, "age", False)
    assert found == code
    assert repr(text) in message or text in message
    assert "'age'" in message
    assert advice in help_
