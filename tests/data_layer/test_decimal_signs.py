"""Decimal commas, decimal points and thousands separators that cannot be told apart are errors."""

from __future__ import annotations

from fractions import Fraction

import pytest


@pytest.mark.parametrize("slow", [False, True])
@pytest.mark.parametrize("late", [False, True])
def test_one_decimal_point_among_commas(files, slowly, slow, late):
    if slow:
        slowly()
    rows = [f"{k},5;{k % 2}" for k in range(1, 2001 if late else 4)]
    error = files.error("\n".join(["a;y", *rows, "3.25;1"]))
    assert error.code == "DATA-SEPARATORS"
    assert "'3.25' has a decimal point where other numbers have a decimal comma" in error.message
    assert error.place.line == len(rows) + 2


@pytest.mark.parametrize("late", [False, True])
def test_one_decimal_comma_among_points(files, late):
    rows = [f"{k}.5;{k % 2}" for k in range(1, 2001 if late else 4)]
    error = files.error("\n".join(["a;y", *rows, "3,25;1"]))
    assert error.code == "DATA-SEPARATORS"
    assert "'3,25' has a decimal comma where other numbers have a decimal point" in error.message
    assert error.place.line == len(rows) + 2


def test_out_of_range_stays_out_of_range_with_decimal_commas(files):
    assert files.error("a;y\n1,5;0\n2,5e999;1\n").code == "DATA-RANGE"


@pytest.mark.parametrize("slow", [False, True])
@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("1,234;2;0\n5;6;1\n", 1),
        ("a;b;y\n5;6;1\n1,234;2;0\n", 3),
        ("a;b;y\n5;-12,000;1\n1,234;2;0\n", 2),
        ("a\tb\ty\n 1,234 \t2\t0\n5\t +999,001\t1\n", 2),
        ('a;b;y\n"1,234";2;0\n"5";"6";1\n', 2),
        ("a;b;y\n123,456 ;2;0\n5;6;1\n", 2),
    ],
)
def test_commas_before_three_digits_are_refused(files, slowly, slow, content, line):
    if slow:
        slowly()
    error = files.error(content)
    assert error.code == "DATA-SEPARATORS"
    assert error.place.line == line
    assert "thousands" in error.message
    assert "write decimals with a point" in error.advice


def test_commas_far_below_are_refused_too(files):
    rows = [f"{k};{k % 2}" for k in range(60_000)]
    error = files.error("\n".join(["a;y", *rows, "1,234;1"]))
    assert error.code == "DATA-SEPARATORS"
    assert error.place.line == 60_002


@pytest.mark.parametrize("slow", [False, True])
@pytest.mark.parametrize("certain", ["1,5", "0,234", "-0,234", "1234,567", ",125", "1,2345", "7,", " 2,50 "])
def test_one_certain_comma_is_enough(files, slowly, slow, certain):
    if slow:
        slowly()
    dataset = files.read(f"a;y\n1,234;0\n{certain};1\n")
    assert dataset.description.dialect.decimal_comma
    expected = Fraction(certain.strip().replace(",", ".").rstrip("."))
    assert dataset.points.exact_rows([0, 1]) == [[Fraction(1234, 1000)], [expected]]


def test_commas_of_other_columns_are_no_evidence(files):
    error = files.error("a;note;y\n1,234;1,5;0\n5,678;x;1\n", drop=("note",))
    assert error.code == "DATA-SEPARATORS"
    error = files.error("a;k;y\n1,234;1,5;0\n5,678;x;1\n", categorical=("k",))
    assert error.code == "DATA-SEPARATORS"


def test_a_certificate_states_the_decimal_comma(files):
    from sepcert.data.reader import rebuild_dataset

    dataset = files.read("a;y\n1,234;0\n1,5;1\n")
    path = files.write("a;y\n1,234;0\n1,500;1\n", "same.csv")
    again = rebuild_dataset(dataset.fingerprint(), path)
    assert again.points.values.tolist() == [[1.234], [1.5]]


def test_decimal_signs_of_other_columns_do_not_count(files):
    text = "a;b;c;y\n1.5;1,2;3,4;0\n2.5;5,6;x;1\n"
    assert files.read(text, drop=("b", "c")).points.values.tolist() == [[1.5], [2.5]]
    assert files.read(text, categorical=("b", "c")).points.values[:, 0].tolist() == [1.5, 2.5]
    text = "a;b;c;y\n1,5;1.2;3.4;0\n2,5;5.6;x;1\n"
    assert files.read(text, drop=("b", "c")).points.values.tolist() == [[1.5], [2.5]]
    assert files.read("a;y\n1;0,5\n2;0,50\n3;2\n").description.negative == "0.5"
