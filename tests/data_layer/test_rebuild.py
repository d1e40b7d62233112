"""Reading again what a certificate describes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sepcert.data.description import DataDescription, Dialect
from sepcert.data.reader import rebuild_dataset
from sepcert.errors import DataError
from sepcert.status import Numbers

TEXT = "id;a;kind;w;y\nq;1,5;u;1;no\nr;2,5;v;0;no\ns;3,5;v;2;yes\nt;;u;1;yes\nz;0,12345678901234567;w;1;no\n"


@pytest.fixture
def described(files) -> DataDescription:
    dataset = files.read(TEXT, drop=("id",), categorical=("kind",), weight="w", missing="drop-rows", positive="no")
    return dataset.fingerprint()


def test_the_same_again(described, assert_same, files):
    first = files.read(
        TEXT, "first.csv", drop=("id",), categorical=("kind",), weight="w", missing="drop-rows", positive="no"
    )
    again = rebuild_dataset(described)
    assert_same(first, again)
    assert again.fingerprint() == described
    assert described.rows == 3
    assert described.rows_read == 5


def test_nothing_is_guessed(files):
    """A file whose dialect and label would be guessed otherwise."""
    text = "1,2,0\n3,4,1\n5,6,1\n"
    described = files.read(text, header=True, label="2", numbers=Numbers.BINARY64, delimiter=",").fingerprint()
    assert described.features == ("1", "0")
    again = rebuild_dataset(described)
    assert again.fingerprint() == described
    without = files.read("x,y\nu,0\nx,1\n", "u.csv", header=False, label="1", categorical=("2",))
    assert rebuild_dataset(without.fingerprint()).fingerprint() == without.fingerprint()


def test_a_delimiter_inside_one_column(files):
    described = files.read("a;b,y\n1,0\n2,1\n", delimiter=",").fingerprint()
    assert rebuild_dataset(described).fingerprint() == described


def test_other_rows_are_left_to_the_verifier(described, files):
    other = files.write(TEXT.replace("1,5", "1,6") + "k;9;u;1;yes\n", "other.csv")
    again = rebuild_dataset(described, other).fingerprint()
    assert again.rows == described.rows + 1
    assert again.sha256 != described.sha256
    assert again.matrix_sha256 != described.matrix_sha256


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("id;a;", "id;b;"),
        ("kind;w;y", "kind;w;z"),
        ("s;3,5;v", "s;3,5;x"),
        ("2;yes", "2;maybe"),
        ("a;kind", "kind;a"),
        (";y\n", ";y;extra\n"),
        (";", ","),
        ("z;0,12", "z;0.12"),
    ],
)
def test_other_files_cannot_be_rebuilt(described, files, old, new):
    other = files.write(TEXT.replace(old, new), "other.csv")
    with pytest.raises(DataError):
        rebuild_dataset(described, other)


@pytest.mark.parametrize(
    "change",
    [
        {"format": "npy"},
        {"format": "array"},
        {"format": "nonsense"},
        {"missing": "maybe"},
        {"missing": "error"},
        {"numbers": "octal"},
        {"label": "nowhere"},
        {"label": None},
        {"label": None, "columns": ("a", "kind", "y")},
        {"weight": None},
        {"weight": "nowhere"},
        {"dropped": ()},
        {"dropped": ("id", "a")},
        {"columns": ("kind", "a")},
        {"features": ("a", "kind=v", "kind=x")},
        {"categorical": {}},
        {"categorical": {"kind": ("u", "v")}},
        {"categorical": {"kind": ("w", "u")}},
        {"positive": "maybe"},
        {"negative": "maybe"},
        {"positive": "yes"},
        {"dialect": Dialect(",", True, "utf-8", None, False)},
        {"dialect": Dialect(";", False, "utf-8", None, True)},
        {"dialect": Dialect(";", True, "utf-8", None, False)},
        {"dialect": Dialect(";", True, "utf-16", None, True)},
        {"dialect": Dialect(";", True, "no-such", None, True)},
        {"dialect": Dialect(";", True, "utf-8", "gzip", True)},
        {"dialect": Dialect("\n", True, "utf-8", None, True)},
        {"dialect": Dialect("", True, "utf-8", None, True)},
        {"labels_path": "nowhere.txt"},
        {"path": "nowhere.csv"},
        {"path": None},
    ],
    ids=str,
)
def test_descriptions_that_do_not_fit_are_errors(described, change):
    with pytest.raises(DataError):
        rebuild_dataset(replace(described, **change))


def test_separate_labels(files):
    labels = files.write("u\nv\nu\n", "labels.txt")
    described = files.read("1\n2\n3\n", labels_path=labels).fingerprint()
    assert described.labels_sha256 is not None
    assert rebuild_dataset(described).fingerprint() == described
    moved = files.write("u\nv\nu\n", "moved.txt")
    again = rebuild_dataset(described, labels_path=moved).fingerprint()
    assert again.labels_sha256 == described.labels_sha256
    assert again.labels_path == moved


def test_binary_files(files, tmp_path):
    table = np.array([[1.5, 0.0, 7.0], [2.5, 1.0, 8.0], [3.5, 1.0, 7.0]])
    np.save(tmp_path / "t.npy", table)
    described = files.read((tmp_path / "t.npy").read_bytes(), "u.npy", label="x2", categorical=("3",)).fingerprint()
    assert described.features == ("x1", "x3=8")
    assert rebuild_dataset(described).fingerprint() == described
    np.savez(tmp_path / "t.npz", X=table, y=["a", "b", "b"])
    described = files.read((tmp_path / "t.npz").read_bytes(), "u.npz", drop=("x3",)).fingerprint()
    again = rebuild_dataset(described)
    assert again.fingerprint() == described
    assert described.label is None
