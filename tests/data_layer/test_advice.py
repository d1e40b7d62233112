"""Messages that lead on: kinds of files, advice that can be followed, one line each, and what was left out."""

from __future__ import annotations

import gzip
import io
import zipfile

import numpy as np
import pytest

from sepcert.data.dataset import RowCounts
from sepcert.data.reader import read_dataset
from sepcert.errors import DataError


def npy(array) -> bytes:
    out = io.BytesIO()
    np.save(out, np.asarray(array))
    return out.getvalue()


def zipped(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def claiming(shape: str) -> bytes:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(64)


TABLE = npy([[1.0, 0], [2, 1]])


@pytest.mark.parametrize(
    "shape", ["(10**12, 3)", "(1000000000000, 3)", "(4611686018427387904, 16)", "(-1, 2)", "(5, 2)"]
)
def test_an_absurd_shape(files, shape):
    error = files.error(claiming(shape), "d.npy")
    assert error.code == "DATA-FORMAT"
    assert error.place.path.endswith("d.npy")
    archive = zipped(**{"X.npy": claiming(shape), "y.npy": npy([0, 1])})
    assert files.error(archive, "d.npz").code == "DATA-FORMAT"


def test_a_header_nested_too_deeply(files):
    assert files.error(claiming("(" * 500 + ")" * 500), "d.npy").code == "DATA-FORMAT"


def test_bytes_behind_an_array(files):
    error = files.error(TABLE + b"junk", "d.npy")
    assert error.code == "DATA-FORMAT"
    assert "4 bytes follow the array" in error.message
    assert files.error(TABLE + TABLE, "e.npy").code == "DATA-FORMAT"
    archive = zipped(**{"X.npy": npy(np.eye(2)), "y.npy": npy([0, 1]) + b"x"})
    assert "1 bytes follow" in files.error(archive, "d.npz").message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (gzip.compress(TABLE), ["gzip is supported for text only", "gunzip"]),
        (gzip.compress(zipped(a=b"")), ["gzip is supported for text only"]),
        (zipped(**{"data.csv": b"a,y\n1,0\n"}), ["ZIP archive", "unpack"]),
        (zipped(**{"[Content_Types].xml": b"", "xl/workbook.xml": b""}), ["Excel", "convert it to CSV"]),
        (zipped(mimetype=b"", **{"content.xml": b""}), ["OpenDocument"]),
        (b"% by hand\n@RELATION iris\n@attribute a numeric\n", ["ARFF"]),
        (b"\xef\xbb\xbf<!DOCTYPE html>\n<html>", ["HTML"]),
        (b"\n<html lang='en'>", ["HTML"]),
        (b"<?xml version='1.0'?><a/>", ["XML"]),
        (b'{"a": [1, 2]}', ["JSON"]),
        (b'[{"a": 1},\n{"a": 2}]', ["JSON"]),
        (b"[[1, 0], [2, 1]]", ["JSON"]),
        (b"[1.5, 0]\n", ["JSON"]),
        (gzip.compress(b'{\n"a": 1}'), ["JSON"]),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n", ["Git LFS pointer", "git lfs pull"]),
    ],
)
@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
def test_kinds_are_named(files, content, words, name):
    error = files.error(content, name)
    assert error.code == "DATA-FORMAT"
    for word in words:
        assert word in str(error)


@pytest.mark.parametrize("name", ["[a]", "[1]", "{b}", "<c>", "version", "%d", "@e"])
def test_names_of_columns_are_no_signs_of_a_kind(files, name):
    assert files.read(f"{name},y\n1,0\n2,1\n").description.features == (name,)


@pytest.mark.parametrize("role", [{"drop": ("y",)}, {"categorical": ("y",)}, {"weight": "y"}, {"drop": ("3",)}])
@pytest.mark.parametrize("name", ["y", "label", "target", "class", "Class"])
def test_the_label_is_not_taken_away_silently(files, role, name):
    role = {k: v if v in ("3", ("3",)) else (name if k == "weight" else (name,)) for k, v in role.items()}
    content = f"a,b,{name}\n1,0,2\n3,1,1\n"
    error = files.error(content, **role)
    assert error.code == "DATA-COLUMN-ROLES"
    assert "--label" in error.advice
    assert files.read(content, label="b", **role).description.label == "b"


def test_rows_are_counted(files):
    dataset = files.read("a,w,y\n1,1,0\n,1,1\n3,0,1\n4,1,1\n5,0,0\n", weight="w", missing="drop-rows")
    assert dataset.counts == RowCounts(read=5, used=2, missing=1, zero_weight=2)
    assert "1 of 5 rows has missing values and was left out" in dataset.notes
    assert "2 of 5 rows have weight zero and were left out" in dataset.notes
    array = files.read(
        npy([[1, 1, 0], [np.nan, 1, 1], [3, 0, 1], [4, 1, 1]]), "d.npy", weight="x2", missing="drop-rows"
    )
    assert array.counts == RowCounts(read=4, used=2, missing=1, zero_weight=1)
    assert files.read("a,y\n1,0\n2,1\n").counts == RowCounts(2, 2)


def test_advice_for_another_encoding(files):
    for options in ({}, {"encoding": "utf-16-le"}):
        error = files.error(b"a,y\n1,0\n2,\xe9\xd8", **options)
        assert error.code == "DATA-ENCODING"
        assert error.advice == "convert the file to UTF-8"


@pytest.mark.parametrize("value", ["x", "inf", "NA", ""])
def test_faults_of_weights_do_not_advise_to_drop_them(files, value):
    error = files.error(f"a,w,y\n1,1,0\n2,{value},1\n", weight="w")
    assert "--drop w" not in str(error)
    assert error.advice
    number = {"inf": np.inf, "NA": np.nan}.get(value)
    if number is not None:
        error = files.error(npy([[1, 1, 0], [2, number, 1]]), "d.npy", weight="x2")
        assert "--drop x2" not in str(error)


def test_a_missing_label_does_not_advise_to_drop_the_labels(files):
    error = files.error(npy([[1, 1, 0], [2, 3, np.nan]]), "d.npy")
    assert error.advice == "use --missing drop-rows, or fill it in"
    assert files.error(npy([[1, 1, 0], [2, np.nan, 1]]), "e.npy").advice.endswith("--drop x2")


def test_labels_that_are_one_number_are_noted(files):
    notes = files.read("a,y\n1,01234\n2,1234\n3,1.0\n4,1\n5,1\n").notes
    assert "the labels '01234', '1234' are the same number: one class" in notes
    assert "the labels '1.0', '1' are the same number: one class" in notes
    assert not any("same number" in note for note in files.read("a,y\n1,0\n2,1\n").notes)
    assert not any("same number" in note for note in files.read("a,y\n1,01\n2,x\n3,01\n").notes)


def test_closed_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(DataError, match="DATA-UNREADABLE: standard input is closed"):
        read_dataset("-")


@pytest.mark.parametrize("content", ["a,y\n1,0\r2,1\n", "a,y\r1,0\n2,1\n"])
def test_mixed_line_ends(files, content):
    error = files.error(content)
    assert error.code == "DATA-QUOTE"
    assert "mixed line ends" in error.message


def test_messages_stay_in_one_line(files):
    for content, name in (("a,y\n1,0\nx,1\n", "da\nta.csv"), ('"a\nb",y\n1,0\nx,1\n', "data.csv")):
        assert len(str(files.error(content, name)).split("\n")) == 1
    assert "da\\nta.csv:3:1: error" in str(files.error("a,y\n1,0\nx,1\n", "da\nta.csv"))
    assert "--drop 'a b'" in str(files.error("a b,y\n1,0\nx,1\n"))


def test_only_near_files_are_suggested(files):
    (files.folder / "iris").mkdir()
    (files.folder / "irises.csv").mkdir()
    for name in ("iris.tsv", "test.csv"):
        files.write("", name)

    def advice(name):
        with pytest.raises(DataError) as caught:
            read_dataset(str(files.folder / name))
        return caught.value.advice

    assert advice("iris.csv") == f"did you mean {str(files.folder / 'iris.tsv')!r}?"
    assert advice("IRIS.tsv") == f"did you mean {str(files.folder / 'iris.tsv')!r}?"
    assert advice("data.csv") == "check the path"
    assert advice("a.csv") == "check the path"
