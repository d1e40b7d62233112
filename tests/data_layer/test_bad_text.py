"""Every fault of a text file has its code, its place and advice."""

from __future__ import annotations

import gzip
import os
import re

import pytest

from sepcert.data import faults, text_stream
from sepcert.data.reader import ReadOptions, read_dataset
from sepcert.errors import CODES, DataError

ROWS = "a,b,y\n1,2,0\n3,4,1\n"


@pytest.mark.parametrize(
    ("content", "options", "code", "line", "column", "words"),
    [
        # The file.
        ("", {}, "DATA-EMPTY", None, None, ["empty"]),
        ("\n \n", {}, "DATA-EMPTY", None, None, ["blank lines"]),
        ("\ufeff", {}, "DATA-EMPTY", None, None, []),
        ("a,b,y\n", {}, "DATA-NO-ROWS", None, None, ["header"]),
        ("a,b,y", {}, "DATA-NO-ROWS", None, None, ["header"]),
        ("a,b,y\n\n\n", {}, "DATA-NO-ROWS", None, None, ["header"]),
        (b"a,y\n1,0\n\x002,1\n", {}, "DATA-NUL", 3, None, ["byte 8"]),
        (ROWS.encode("utf-16-le"), {}, "DATA-NUL", 1, None, ["UTF-16"]),
        (b"a,y\n1,0\n2,\xe9\n", {}, "DATA-ENCODING", 3, None, ["0xe9", "byte 10", "UTF-8"]),
        (b"a,name,y\n1,\xe9,0\n2,x,1\n", {"drop": ("name",)}, "DATA-ENCODING", 2, None, ["0xe9"]),
        # Its shape.
        ("a,b,y\n1,2,0\n3,4\n", {}, "DATA-RAGGED", 3, None, ["2 fields", "3 columns"]),
        ("a,b,y\n1,2,0\n\n3,4,1,5\n", {}, "DATA-RAGGED", 4, None, ["4 fields"]),
        ("a,b,y\n1,2,5,0\n3,4,5,1\n", {}, "DATA-RAGGED", 2, None, ["decimal commas"]),
        ("1,2,0\n3,4,1\n5,0\n", {}, "DATA-RAGGED", 3, None, ["2 fields", "3 columns"]),
        ('a,y\n"1"2,0\n3,1\n', {}, "DATA-QUOTE", 2, None, ["closing quote"]),
        ('a,y\n1,0\n"3,1\n', {}, "DATA-QUOTE", 3, None, ["never closed"]),
        ("a,y\n1,0\n3\r5,1\n", {}, "DATA-QUOTE", 3, None, ["carriage return"]),
        ('a,y\n1,0\n"' + "x" * 140_000 + '",1\n', {}, "DATA-LONG-LINE", 3, None, ["131072"]),
        # Its columns.
        ("a,b,a\n1,2,0\n3,4,1\n", {}, "DATA-DUPLICATE-NAME", 1, 3, ["'a'", "1 and 3"]),
        (ROWS, {"label": "yy"}, "DATA-UNKNOWN-COLUMN", None, None, ["'yy'", "did you mean 'y'"]),
        (ROWS, {"label": 4}, "DATA-UNKNOWN-COLUMN", None, None, ["'4'", "'a', 'b', 'y'"]),
        (ROWS, {"label": 0}, "DATA-UNKNOWN-COLUMN", None, None, []),
        ("age,b,y\n1,2,0\n3,4,1\n", {"drop": ("Age",)}, "DATA-UNKNOWN-COLUMN", None, None, ["did you mean 'age'"]),
        ("age,b,y\n1,2,0\n3,4,1\n", {"categorical": ("agee",)}, "DATA-UNKNOWN-COLUMN", None, None, ["'age'"]),
        ("age,b,y\n1,2,0\n3,4,1\n", {"weight": "weight"}, "DATA-UNKNOWN-COLUMN", None, None, ["weight column"]),
        ("a,y,class\n1,0,0\n2,1,1\n", {}, "DATA-AMBIGUOUS-LABEL", None, None, ["'y', 'class'", "--label y"]),
        (ROWS, {"label": "y", "drop": ("y",)}, "DATA-COLUMN-ROLES", None, None, ["label", "dropped"]),
        (ROWS, {"label": "y", "weight": "y"}, "DATA-COLUMN-ROLES", None, None, ["label", "weight"]),
        (ROWS, {"label": "y", "categorical": ("y",)}, "DATA-COLUMN-ROLES", None, None, ["categorical"]),
        (ROWS, {"drop": ("a",), "categorical": ("a",)}, "DATA-COLUMN-ROLES", None, None, ["dropped"]),
        (ROWS, {"drop": ("a",), "weight": "a"}, "DATA-COLUMN-ROLES", None, None, ["weight"]),
        (ROWS, {"drop": ("a", "b")}, "DATA-NO-FEATURES", None, None, ["'a', 'b', 'y'"]),
        ("y\n0\n1\n", {}, "DATA-NO-FEATURES", None, None, ["delimiter"]),
        ("k,y\nu,0\nu,1\n", {"categorical": ("k",)}, "DATA-NO-FEATURES", None, None, ["single level"]),
        ("a=v,a,y\n1,u,0\n2,v,1\n", {"categorical": ("a",)}, "DATA-DUPLICATE-NAME", None, None, ["'a=v'"]),
        # Its fields.
        ("age,y\n1,0\noops,1\n", {}, "DATA-NUMBER", 3, 1, ["'oops' is not a number (column 'age')",
                                                            "use --drop age or --categorical age"]),
        ("a,b,y\n1,x,0\n3,z,1\n", {}, "DATA-NUMBER", 2, 2, ["--categorical b"]),
        ("a,b,y\n1,0x10,0\n3,4,1\n", {}, "DATA-NUMBER", 2, 2, ["hexadecimal"]),
        ("a,b,y\n1,1_000,0\n3,4,1\n", {}, "DATA-NUMBER", 2, 2, ["underscores"]),
        ("a,b,y\n1,2#3,0\n3,4,1\n", {}, "DATA-NUMBER", 2, 2, ["'2#3'", "comment"]),
        ("a,b,y\n1,1e999999999,0\n3,4,1\n", {}, "DATA-RANGE", 2, 2, ["1e999999999"]),
        ("a,b,y\n1,1e-999999999,0\n3,4,1\n", {}, "DATA-RANGE", 2, 2, ["exponents"]),
        ("a,b,y\n1,-1e309,0\n3,4,1\n", {}, "DATA-RANGE", 2, 2, ["1.8e308"]),
        ("a,b,y\n1,2,0\n3,inf,1\n", {}, "DATA-INFINITE", 3, 2, ["'inf'"]),
        ("a,b,y\n1,2,0\n3,NaN,1\n", {}, "DATA-MISSING", 3, 2, ["'NaN'", "--missing drop-rows"]),
        ("a,b,y\n1,2,0\n3,NA,1\n", {}, "DATA-MISSING", 3, 2, ["'NA'", "--drop b"]),
        ("a,b,y\n1,2,0\n3,,1\n", {}, "DATA-MISSING", 3, 2, ["missing"]),
        ("a,b,y\n1,2,0\n3,4,\n", {}, "DATA-MISSING", 3, 3, ["column 'y'"]),
        ("a,b,y\n1,2,0\n3,4,NA\n", {}, "DATA-MISSING", 3, 3, ["'NA'"]),
        ("a,b,y\n1,,0\n3,u,1\n", {"categorical": ("b",)}, "DATA-MISSING", 2, 2, ["column 'b'"]),
        ('a,b,y\n1,"1,234",0\n3,4,1\n', {}, "DATA-SEPARATORS", 2, 2, ["thousands"]),
        ('a,b,y\n1,"2,5",0\n3,4,1\n', {}, "DATA-SEPARATORS", 2, 2, ["semicolons"]),
        ("a;b;y\n1.5;2,5;0\n3;4;1\n", {}, "DATA-SEPARATORS", 2, 2, ["'2,5'"]),
        ("a;b;y\n1,5;1.234,5;0\n3;4;1\n", {}, "DATA-SEPARATORS", 2, 2, ["remove the points"]),
        ("a,w,y\n1,1,0\n2,-1,1\n", {"weight": "w"}, "DATA-WEIGHT", 3, 2, ["'-1'", "negative"]),
        ("a,w,y\n1,1,0\n2,inf,1\n", {"weight": "w"}, "DATA-INFINITE", 3, 2, []),
        ("a,w,y\n1,1,0\n2,nan,1\n", {"weight": "w"}, "DATA-MISSING", 3, 2, []),
        ("a,w,y\nx,0,0\n2,1,1\n2,1,0\n", {"weight": "w"}, "DATA-NUMBER", 2, 1, ["'x'"]),
        # Its classes.
        ("a,y\n1,0\n2,0.0\n", {}, "DATA-ONE-CLASS", None, None, ["class '0'"]),
        ("a,y\n1,0\n2,1\n3,2\n", {}, "DATA-MANY-CLASSES", None, None, ["3 classes: '0', '1', '2'", "--label",
                                                                        "--multiclass"]),
        ("a,w,y\n1,1,0\n2,0,1\n", {"weight": "w"}, "DATA-ONE-CLASS", None, None, []),
        ("a,w,y\n1,0,0\n2,0,1\n", {"weight": "w"}, "DATA-NO-ROWS", None, None, ["2 of weight zero"]),
        ("a,y\nNA,0\n,1\n", {"missing": "drop-rows"}, "DATA-NO-ROWS", None, None, ["2 with missing values"]),
        (ROWS, {"positive": "2"}, "DATA-POSITIVE", None, None, ["'2'", "'0', '1'"]),
        (ROWS, {"positive": "x"}, "DATA-POSITIVE", None, None, ["'x'"]),
        # Options.
        (ROWS, {"missing": "drop"}, "DATA-OPTION", None, None, ["drop-rows"]),
        (ROWS, {"encoding": "klingon"}, "DATA-OPTION", None, None, ["klingon"]),
        (ROWS, {"encoding": "base64"}, "DATA-OPTION", None, None, ["base64"]),
        (ROWS, {"delimiter": ",,"}, "DATA-DELIMITER", None, None, ["',,'"]),
        (ROWS, {"delimiter": "1"}, "DATA-DELIMITER", None, None, []),
        (ROWS, {"delimiter": '"'}, "DATA-DELIMITER", None, None, []),
    ],
)  # fmt: skip
def test_faults(files, content, options, code, line, column, words):
    error = files.error(content, **options)
    assert error.code == code
    assert code in CODES
    if error.place is not None:
        assert (error.place.line, error.place.column) == (line, column)
        assert error.place.path == str(files.folder / "data.csv")
    assert error.advice
    for word in words:
        assert word in str(error)
    assert "\n" not in error.message


def test_the_form_of_a_message(files):
    error = files.error("age,y\n1,0\noops,1\n")
    path = files.folder / "data.csv"
    assert str(error) == (
        f"{path}:3:1: error DATA-NUMBER: 'oops' is not a number (column 'age'); use --drop age or --categorical age"
    )


def test_faults_of_one_kind_are_counted_and_five_are_shown(files):
    lines = ["a,b,y", *(f"1,{'x' if k % 2 else k},{k % 2}" for k in range(40)), "1", "2,NA,0"]
    error = files.error("\n".join(lines))
    assert error.code == "DATA-NUMBER"
    assert error.place.line == 3
    shown = str(error).split("\n")
    path = re.escape(str(files.folder / "data.csv"))
    assert [
        bool(re.match(rf"{path}:{line}:2: 'x' is not", text))
        for line, text in zip((5, 7, 9, 11), shown[1:5], strict=True)
    ]
    assert shown[5:] == [
        "20 faults of this kind in all",
        f"also 1 of DATA-RAGGED, the first at {files.folder / 'data.csv'}:42: 1 field where the table has 3 columns",
        f"also 1 of DATA-MISSING, the first at {files.folder / 'data.csv'}:43:2: 'NA' is no value (column 'b')",
    ]


def test_faults_in_several_blocks_are_counted(files, monkeypatch):
    monkeypatch.setattr(text_stream, "BLOCK_BYTES", 100)
    lines = ["a,y", *(f"{'x' if k in (50, 500, 900) else k},{k % 2}" for k in range(1000))]
    error = files.error("\n".join(lines))
    assert error.place.line == 52
    assert "3 faults of this kind in all" in str(error)
    assert ":502:1:" in str(error)
    assert ":902:1:" in str(error)


def test_counting_stops_at_very_many_faults(files, monkeypatch):
    monkeypatch.setattr(faults, "MOST_COUNTED", 30)
    error = files.error("a,y\n" + "x,0\nz,1\n" * 50)
    assert "at least 30 faults" in str(error)


def test_very_many_classes_stop_the_reading(files):
    error = files.error("a,b\n" + "".join(f"{k},{k}.5\n" for k in range(3000)))
    assert error.code == "DATA-MANY-CLASSES"
    assert "more than 1000 values in the label column 'b'" in str(error)


def test_absurdly_long_lines(files, monkeypatch):
    monkeypatch.setattr(text_stream, "LONGEST_LINE", 1 << 18)
    error = files.error("a,y\n1,0\n" + "2" * (3 << 20) + ",1\n")
    assert error.code == "DATA-LONG-LINE"


def test_a_directory(tmp_path):
    with pytest.raises(DataError, match="DATA-DIRECTORY: this is a directory"):
        read_dataset(str(tmp_path))


def test_no_such_file(files):
    files.write(ROWS, "iris.csv")
    with pytest.raises(DataError, match=r"DATA-NOT-FOUND.*did you mean '.*iris.csv'"):
        read_dataset(str(files.folder / "irs.csv"))


@pytest.mark.parametrize("path", ["a\0b", "", "iris.csv/more"])
def test_impossible_paths(files, path, monkeypatch):
    monkeypatch.chdir(files.folder)
    files.write(ROWS, "iris.csv")
    with pytest.raises(DataError) as caught:
        read_dataset(path)
    assert caught.value.code in {"DATA-NOT-FOUND", "DATA-UNREADABLE"}


def test_no_permission(files, monkeypatch):
    path = files.write(ROWS)
    os.chmod(path, 0)
    if os.access(path, os.R_OK):  # for root nothing is forbidden

        def forbidden(*_args, **_options):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("builtins.open", forbidden)
    with pytest.raises(DataError, match="DATA-PERMISSION"):
        read_dataset(path)


def test_a_device_is_refused():
    with pytest.raises(DataError, match=r"DATA-UNREADABLE.*regular file"):
        read_dataset(os.devnull)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("d.svm", "svmlight"), ("d.libsvm.gz", "svmlight"), ("d.ARFF", "ARFF"), ("d.parquet", "Parquet"),
     ("d.xlsx", "Excel"), ("d.feather", "Feather"), ("d.json", "JSON")],
)  # fmt: skip
def test_other_formats_are_refused_by_name(files, name, kind):
    error = files.error("+1 1:2 2:3\n", name)
    assert error.code == "DATA-FORMAT"
    assert kind in str(error)
    assert "CSV" in str(error)


@pytest.mark.parametrize("start", [b"PAR1\x15", b"ARROW1\0\0", b"BZh91AY", b"\xfd7zXZ\0", b"%PDF-1.7"])
def test_other_formats_are_refused_by_their_first_bytes(files, start):
    assert files.error(start + b"\n1,2\n").code == "DATA-FORMAT"


def test_damaged_gzip(files):
    whole = gzip.compress(("a,y\n" + "1,0\n2,1\n" * 10_000).encode())
    assert files.error(whole[: len(whole) // 2], "d.csv.gz").code == "DATA-GZIP"
    broken = bytearray(whole)
    broken[len(whole) // 2] ^= 0xFF
    assert files.error(bytes(broken), "e.csv.gz").code in {"DATA-GZIP", "DATA-ENCODING", "DATA-NUL"}
    assert files.error(b"\x1f\x8bnonsense", "f.csv.gz").code == "DATA-GZIP"


def test_bytes_that_are_not_in_the_stated_encoding(files):
    error = files.error("a,y\n1,ж\n".encode("utf-16-le")[:-1], encoding="utf-16-le")
    assert error.code == "DATA-ENCODING"
    assert "utf-16" in str(error)


@pytest.mark.parametrize("labels", ["0\n1\n0\n", "0\n"])
def test_labels_of_another_length(files, labels):
    path = files.write(labels, "labels.txt")
    error = files.error("1,2\n3,4\n", labels_path=path)
    assert error.code == "DATA-LENGTHS"
    assert "for 2 rows" in str(error)


def test_missing_separate_labels(files):
    path = files.write("0\nNA\n1\n", "labels.txt")
    error = files.error("1,2\n3,4\n5,6\n", labels_path=path)
    assert error.code == "DATA-MISSING"
    assert error.place.path == path
    assert error.place.line == 2


def test_labels_cannot_be_column_and_file(files):
    path = files.write("0\n1\n", "labels.txt")
    assert files.error(ROWS, labels_path=path, label="y").code == "DATA-OPTION"


def test_labels_cannot_be_npz(files):
    path = files.write(b"PK\x03\x04", "labels.npz")
    assert files.error(ROWS, labels_path=path).code == "DATA-FORMAT"


def test_options_are_frozen():
    with pytest.raises(AttributeError):
        ReadOptions().label = "y"
