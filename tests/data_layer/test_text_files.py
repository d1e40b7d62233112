"""Text files that are read: dialects, headers, labels, columns."""

from __future__ import annotations

import gzip
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sepcert.data.description import Dialect
from sepcert.status import Numbers

PLAIN = "a,b,y\n1,2.5,0\n3,-4e1,1\n"
VALUES = [[1, 2.5], [3, -40]]


def check_plain(dataset):
    np.testing.assert_array_equal(dataset.points.values, VALUES)
    assert dataset.labels.tolist() == [-1, 1]
    assert dataset.labels.dtype == np.int8
    assert dataset.row_numbers.tolist() == [1, 2]
    assert dataset.description.features == ("a", "b")
    assert dataset.description.label == "y"
    assert (dataset.description.positive, dataset.description.negative) == ("1", "0")
    assert dataset.points.values.flags.c_contiguous
    assert dataset.points.values.dtype == np.float64


@pytest.mark.parametrize(
    ("content", "delimiter"),
    [
        (PLAIN, ","),
        (PLAIN.rstrip("\n"), ","),
        (PLAIN.replace(",", "\t"), "\t"),
        (PLAIN.replace(",", ";"), ";"),
        (PLAIN.replace(",", "|"), "|"),
        (PLAIN.replace(",", " "), " "),
        (PLAIN.replace(",", "   ").replace("\n", "  \n  "), " "),
        (PLAIN.replace(",", " , "), ","),
        (PLAIN.replace("\n", "\r\n"), ","),
        (PLAIN.replace("\n", "\r"), ","),
        ("\ufeff" + PLAIN, ","),
        ("\n\n" + PLAIN.replace("\n", "\n\n"), ","),
        ("\r\n" + PLAIN.replace("\n", "\r\n  \r\n"), ","),
        ('"a","b","y"\n"1","2.5","0"\n"3","-4e1","1"\n', ","),
        ('"a";"b";"y"\n1;"2.5";0\n3;"-4e1";1', ";"),
        ("a;b;y\n1;2,5;0\n3;-4e1;1\n", ";"),
        ("a\tb\ty\n1\t2,5\t0\n3\t-40,0\t1\n", "\t"),
        ("a b y\n1,0 2,5 0\n3,0 -40 1\n", " "),
    ],
)
def test_dialects(files, content, delimiter):
    dataset = files.read(content)
    check_plain(dataset)
    assert dataset.description.dialect.delimiter == delimiter
    assert dataset.description.dialect.header
    assert dataset.description.dialect.encoding == "utf-8"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1", "cp1252", "utf-8-sig", "ascii"])
def test_encodings(files, encoding):
    dataset = files.read(PLAIN.encode(encoding), encoding=None if encoding == "utf-16" else encoding)
    check_plain(dataset)
    assert dataset.description.dialect.encoding == encoding


def test_text_in_another_encoding_is_kept(files):
    dataset = files.read("x,y\n1,ja\n2,nö\n".encode("latin-1"), encoding="latin-1")
    assert dataset.description.positive == "nö"


def test_gzip_is_known_by_its_first_bytes(files):
    dataset = files.read(gzip.compress(PLAIN.encode()), "data.txt")
    check_plain(dataset)
    assert dataset.description.dialect.compression == "gzip"


def test_decimal_commas_are_recorded(files):
    dataset = files.read("a;y\n1,25;0\n-,5;1\n")
    assert dataset.description.dialect == Dialect(";", True, "utf-8", None, True)
    assert dataset.points.exact_rows([0, 1]) == [[Fraction(5, 4)], [Fraction(-1, 2)]]
    assert any("decimal comma" in note for note in dataset.notes)


def test_a_decimal_comma_after_the_first_lines_is_found(files):
    lines = ["a;y", *(f"{k};{k % 2}" for k in range(60_000)), "0,5;1"]
    dataset = files.read("\n".join(lines))
    assert dataset.points.values[-1, 0] == 0.5
    assert dataset.description.dialect.decimal_comma


def test_labels_with_a_decimal_comma_are_numbers(files):
    dataset = files.read("a;y\n1,5;0,50\n2,5;0,5\n3;10,0\n")
    assert (dataset.description.positive, dataset.description.negative) == ("10", "0.5")


def test_quoted_fields(files):
    text = 'a,"the ""b"" column",kind,y\n1,2,"x, or ""x""",no\n3,4,"two\nlines",yes\n5,6,plain,yes\n'
    dataset = files.read(text, categorical=("kind",))
    assert dataset.description.features == ("a", 'the "b" column', "kind=two\nlines", 'kind=x, or "x"')
    np.testing.assert_array_equal(dataset.points.values, [[1, 2, 0, 1], [3, 4, 1, 0], [5, 6, 0, 0]])
    assert dataset.line_numbers(range(3)) == [2, 3, 5]


def test_a_newline_within_quotes_in_the_header(files):
    dataset = files.read('"a\nb",y\n1,0\n2,1\n')
    assert dataset.description.features == ("a\nb",)
    assert dataset.line_numbers([0, 1]) == [3, 4]


def test_a_hash_is_an_ordinary_character(files):
    dataset = files.read("a,kind,y\n1,#1,0\n2,no # 2,1\n#3,,\n".replace("#3,,\n", ""), categorical=("kind",))
    assert dataset.description.categorical == {"kind": ("#1", "no # 2")}


@pytest.mark.parametrize(
    ("content", "header", "features"),
    [
        ("1,2,0\n3,4,1\n", False, ("x1", "x2")),
        ("5.1,3.5,setosa\n6.2,2.9,virginica\n", False, ("x1", "x2")),
        ("x,z,species\n5.1,3.5,setosa\n6.2,2.9,virginica\n", True, ("x", "z")),
        ("sodium,Na,y\n5.1,3.5,0\n6.2,2.9,1\n", True, ("sodium", "Na")),
        (",a,y\n1,5,0\n2,6,1\n", True, ("x1", "a")),
        ("a,y\n1,0\n2,1\n", True, ("a",)),
    ],
)
def test_header_is_found(files, content, header, features):
    dataset = files.read(content)
    assert dataset.description.dialect.header is header
    assert dataset.description.features == features


def test_all_text_needs_names_that_are_no_values(files):
    with_header = files.read("colour,kind\nred,u\nblue,v\n", categorical=("colour",))
    assert with_header.description.dialect.header
    assert with_header.description.features == ("colour=red",)
    without = files.read("red,u\nblue,v\nred,v\n", categorical=("x1",))
    assert not without.description.dialect.header
    assert without.description.rows == 3


def test_what_was_guessed_of_the_header_is_noted(files):
    assert not any("header" in note for note in files.read(PLAIN).notes)
    assert any("no header: the columns are called 'x1', 'x2'" in note for note in files.read("1,0\n2,1\n").notes)
    assert not any("header" in note for note in files.read("1,0\n2,1\n", header=False).notes)
    guessed = files.read("red,y\nblue,0\ngreen,0\n".replace("0", "u") + "pink,v\n", categorical=("red",))
    assert "the first line is taken for a header: 'red', 'y'" in guessed.notes


def test_header_can_be_stated(files):
    text = "7,8,9\n1,2,0\n3,4,1\n"
    assert files.read(text, header=True).description.features == ("7", "8")
    assert files.read("a,b\nu,c\nu,b\n", header=False, categorical=("1",)).description.rows_read == 3


def test_numbers_of_columns_without_header_count_all_columns(files):
    dataset = files.read("1,0,2\n3,1,4\n", label=2)
    assert dataset.description.features == ("x1", "x3")
    assert dataset.description.label == "x2"


@pytest.mark.parametrize("name", ["label", "y", "target", "class"])
def test_label_by_its_usual_name(files, name):
    dataset = files.read(f"a,{name},b\n1,0,2\n3,1,4\n")
    assert dataset.description.label == name
    assert any(name in note for note in dataset.notes)


def test_label_is_the_last_column_otherwise(files):
    dataset = files.read("a,b,Y\n1,0,0\n3,1,1\n")
    assert dataset.description.label == "Y"
    assert any("last" in note for note in dataset.notes)
    assert files.read("a,b,out\n1,0,0\n3,1,1\n", drop=("out",)).description.label == "b"
    assert files.read("a,b,y\n1,0,0\n3,1,1\n", drop=("y",), label="b").description.label == "b"
    assert files.read("a,y,class\n1,0,0\n3,1,1\n", drop=("y",)).description.label == "class"


@pytest.mark.parametrize("label", ["b", 2, "2"])
def test_label_by_name_or_number(files, label):
    dataset = files.read("a,b,c\n1,0,5\n3,1,6\n", label=label)
    assert dataset.description.label == "b"
    assert not dataset.notes


def test_a_name_goes_before_a_number(files):
    assert files.read("3,a,b\n0,1,5\n1,3,6\n", header=True, label="3").description.label == "3"


@pytest.mark.parametrize(
    ("labels", "positive", "negative"),
    [
        (["1.0", "1", "0", "00"], "1", "0"),
        (["2", "10"], "10", "2"),
        (["-1", "+1.0"], "1", "-1"),
        (["1e3", "999"], "1000", "999"),
        (["yes", " no "], "yes", "no"),
        (["TRUE", "FALSE"], "TRUE", "FALSE"),
        (["10", "9", "9 "], "10", "9"),
        (["10", "a"], "a", "10"),
        (["9007199254740993", "9007199254740992"], "9007199254740993", "9007199254740992"),
        (["0.1", "0.10000000000000000001"], "0.10000000000000000001", "0.1"),
    ],
)
def test_label_map(files, labels, positive, negative):
    dataset = files.read("a,y\n" + "".join(f"{k},{label}\n" for k, label in enumerate(labels)))
    assert (dataset.description.positive, dataset.description.negative) == (positive, negative)
    assert set(dataset.labels.tolist()) == {-1, 1}


@pytest.mark.parametrize("positive", ["0", "0.0", " 0 "])
def test_positive_is_compared_as_the_labels_are(files, positive):
    dataset = files.read(PLAIN, positive=positive)
    assert dataset.labels.tolist() == [1, -1]
    assert (dataset.description.positive, dataset.description.negative) == ("0", "1")


def test_categorical_columns_stay_in_their_place(files):
    text = "a,kind,b,size,y\n1,v,2,9,0\n3,u,4,10,1\n5, w ,6,9,1\n"
    dataset = files.read(text, categorical=("size", "kind"))
    assert dataset.description.features == ("a", "kind=v", "kind=w", "b", "size=9")
    assert dataset.description.columns == ("a", "kind", "b", "size")
    assert dataset.description.categorical == {"kind": ("u", "v", "w"), "size": ("10", "9")}
    np.testing.assert_array_equal(dataset.points.values, [[1, 1, 0, 2, 1], [3, 0, 0, 4, 0], [5, 0, 1, 6, 1]])


def test_weight_zero_removes_rows_before_levels_and_classes_are_taken(files):
    text = "a,kind,w,y\n1,u,1,0\n2,v,0,2\n3,w,0.5,1\n4,x,0e0,0\n5,u,1e-400,1\n"
    dataset = files.read(text, weight="w", categorical=("kind",))
    assert dataset.row_numbers.tolist() == [1, 3, 5]
    assert dataset.description.rows == 3
    assert dataset.description.rows_read == 5
    assert dataset.description.features == ("a", "kind=w")
    assert dataset.line_numbers([0, 1, 2]) == [2, 4, 6]
    assert any("2 of 5 rows have weight zero" in note for note in dataset.notes)


def test_missing_values_can_be_dropped_and_are_counted(files):
    text = "a,kind,y\n1,u,0\n,u,1\n3,NA,1\n4,v,\nNaN,v,1\n6,v,1\nnull,u,0\n"
    dataset = files.read(text, missing="drop-rows", categorical=("kind",))
    assert dataset.row_numbers.tolist() == [1, 6]
    assert dataset.description.missing == "drop-rows"
    assert any("5 of 7 rows have missing values" in note for note in dataset.notes)
    assert dataset.line_numbers([0, 1]) == [2, 7]


def test_dropped_columns_may_hold_anything(files):
    dataset = files.read('id,a,note,y\nx1,1,,0\n,2,"one, two",1\n', drop=("id", "note"))
    assert dataset.description.features == ("a",)
    assert dataset.description.dropped == ("id", "note")


def test_a_constant_column_and_a_row_of_zeros_are_fine(files):
    dataset = files.read("a,b,y\n0,7,0\n0,7,1\n")
    np.testing.assert_array_equal(dataset.points.values, [[0, 7], [0, 7]])


def test_more_columns_than_rows(files):
    width = 5000
    row = ",".join(str(k) for k in range(width))
    dataset = files.read(f"{row},0\n{row},1\n")
    assert dataset.points.shape == (2, width)


def test_separate_labels(files):
    labels = files.write("outcome\ncat\ndog\ncat\n", "labels.txt")
    dataset = files.read("a,b\n1,2\n3,4\n5,6\n", labels_path=labels)
    assert dataset.labels.tolist() == [-1, 1, -1]
    assert dataset.description.label is None
    assert dataset.description.labels_path == labels
    assert dataset.description.features == ("a", "b")
    assert dataset.points.shape == (3, 2)


@pytest.mark.parametrize("content", ["no way\nyes, sir\n", "0\n1\n", "1,5\n2,5\n", "no\r\nyes\r\n"])
def test_separate_labels_are_whole_lines_without_header(files, content):
    labels = files.write(content, "labels.txt")
    # Two lines of text that differ could be a header and one label; three lines tell.
    labels = files.write(content + content, "labels.txt")
    dataset = files.read("1\n3\n4\n9\n", labels_path=labels)
    assert dataset.labels.tolist() == [-1, 1, -1, 1]


def test_separate_labels_may_be_missing(files):
    labels = files.write("u\n\nv\nNA\nu\nv\n".replace("\n\n", "\nNaN\n"), "labels.txt")
    dataset = files.read("1\n2\n3\n4\n5\n6\n", labels_path=labels, missing="drop-rows")
    assert dataset.row_numbers.tolist() == [1, 3, 5, 6]
    assert any("2 of 6 rows have missing values" in note for note in dataset.notes)


def test_separate_labels_in_npy(files, tmp_path):
    np.save(tmp_path / "y.npy", np.array([True, False, True]))
    dataset = files.read("a,b\n1,2\n3,4\n5,6\n", labels_path=str(tmp_path / "y.npy"))
    assert dataset.labels.tolist() == [1, -1, 1]
    assert dataset.description.positive == "True"


def test_text_means_decimals_unless_told_otherwise(files):
    text = "a,y\n0.1,0\n0.12345678901234567890,1\n"
    dataset = files.read(text)
    assert dataset.points.numbers is Numbers.DECIMAL
    assert dataset.description.numbers == "decimal"
    assert dataset.points.exact_rows([0, 1]) == [[Fraction(1, 10)], [Fraction("0.12345678901234567890")]]
    assert dataset.other_reading.exact_rows([0, 1]) == [[Fraction(0.1)], [Fraction(0.12345678901234567890)]]
    assert dataset.other_reading.values is dataset.points.values
    other = files.read(text, "other.csv", numbers=Numbers.BINARY64)
    assert other.points.exact_rows([0]) == [[Fraction(0.1)]]
    assert other.other_reading.exact_rows([1]) == [[Fraction("0.12345678901234567890")]]
    assert other.description.numbers == "binary64"


def test_progress_is_told(files):
    seen = []
    from sepcert.data.reader import read_dataset

    path = Path(files.write(PLAIN))
    read_dataset(path, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(PLAIN), len(PLAIN))


def test_line_numbers_survive_blank_lines(files):
    lines = ["a,y"]
    expected = []
    for k in range(1000):
        if k % 7 == 3:
            lines.append("")
        lines.append(f"{k},{k % 2}")
        expected.append(len(lines))
    dataset = files.read("\n".join(lines))
    assert dataset.line_numbers(range(1000)) == expected


@pytest.mark.parametrize("delimiter", ["tab", "\\t", "\t"])
def test_delimiters_have_names(files, delimiter):
    check_plain(files.read(PLAIN.replace(",", "\t"), delimiter=delimiter))


def test_a_stated_delimiter_is_not_guessed(files):
    dataset = files.read("a;b,y\n1,0\n2,1\n", delimiter=",")
    assert dataset.description.features == ("a;b",)


def test_names_that_look_like_other_formats(files):
    for start in ("PK", "PAR1", "ARROW1"):
        assert files.read(f"{start},y\n1,0\n2,1\n").description.features == (start,)


@pytest.mark.usefixtures("only_fast")
@pytest.mark.parametrize("pattern", ["%.18e", "%.17g", "%.6f", "%d"])
@pytest.mark.parametrize("delimiter", [" ", ",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_savetxt_writes_takes_the_fast_way(files, tmp_path, pattern, delimiter, end):
    table = np.random.default_rng(5).normal(size=(500, 4)) * 100
    table[:, 3] = np.arange(500) % 2
    np.savetxt(tmp_path / "t.txt", table, fmt=pattern, delimiter=delimiter, newline=end)
    expected = np.loadtxt(tmp_path / "t.txt", delimiter=None if delimiter == " " else delimiter)
    dataset = files.read((tmp_path / "t.txt").read_bytes())
    np.testing.assert_array_equal(dataset.points.values, expected[:, :3])


@pytest.mark.usefixtures("only_fast")
@pytest.mark.parametrize(
    "content",
    [
        "a,b,y\n1,2,no\n3,4,yes\n",
        "y,a,b\nno,1,2\nyes,3,4\n",
        'a,y,b\n1,"no",2\n3,"yes",4\n',
        "a\tb\ty\r\n1\t2\tno\r\n3\t4\tyes\r\n\r\n",
        "a;b;y\n1,0;2,0;no\n3,0;4,0;yes\n",
        "  a   b  y\n  1   2  no\n  3   4  yes\n",
    ],
)
def test_plain_files_take_the_fast_way(files, content):
    dataset = files.read(content)
    np.testing.assert_array_equal(dataset.points.values, [[1, 2], [3, 4]])
    assert dataset.labels.tolist() == [-1, 1]
