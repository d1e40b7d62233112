"""NPY and NPZ files."""

from __future__ import annotations

import io
from fractions import Fraction

import numpy as np
import pytest

from sepcert.status import Numbers


def npy(array, **options) -> bytes:
    out = io.BytesIO()
    np.save(out, np.asarray(array), **options)
    return out.getvalue()


def npz(**arrays) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


@pytest.mark.parametrize(
    "dtype", [np.float64, np.float32, np.float16, ">f8", np.int8, np.int64, np.uint8, np.uint64, ">i4"]
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_of_every_type(files, dtype, order):
    dataset = files.read(npy(np.array([[1, 2, 0], [3, 4, 1]], dtype=dtype, order=order)), "d.npy")
    np.testing.assert_array_equal(dataset.points.values, [[1, 2], [3, 4]])
    assert dataset.labels.tolist() == [-1, 1]
    assert dataset.description.format == "npy"
    assert dataset.description.label == "x3"
    assert dataset.description.features == ("x1", "x2")
    assert (dataset.description.positive, dataset.description.negative) == ("1", "0")
    assert dataset.points.numbers is Numbers.BINARY64
    assert dataset.other_reading is None
    assert dataset.line_numbers is None
    assert dataset.points.values.dtype == np.float64
    assert dataset.points.values.flags.c_contiguous


def test_booleans_are_0_and_1(files):
    dataset = files.read(npy([[True, False], [False, True]]), "d.npy")
    assert dataset.points.values.tolist() == [[1.0], [0.0]]
    assert dataset.description.positive == "True"


def test_stored_values_are_exact(files):
    small = np.array([[0.1, 0], [0.2, 1]], dtype=np.float32)
    dataset = files.read(npy(small), "d.npy")
    assert dataset.points.exact_rows([0]) == [[Fraction(float(np.float32(0.1)))]]
    decimal = files.read(npy(np.array([[0.1, 0], [2.0**60, 1]])), "e.npy", numbers=Numbers.DECIMAL)
    assert decimal.points.exact_rows([0, 1]) == [[Fraction(1, 10)], [Fraction("1.152921504606847e18")]]
    assert decimal.description.numbers == "decimal"


@pytest.mark.parametrize("numbers", [None, Numbers.DECIMAL])
def test_large_integers_are_exact(files, numbers):
    table = np.array([[2**53 + 1, 5, 1], [-(2**63), 6, 0], [7, 2**53 - 1, 1]], dtype=np.int64)
    dataset = files.read(npy(table), "d.npy", numbers=numbers)
    assert dataset.points.exact_rows([0, 1, 2]) == [[2**53 + 1, 5], [-(2**63), 6], [7, 2**53 - 1]]
    assert dataset.points.irregular.tolist() == [True, True, False]
    unsigned = files.read(npy(np.array([[2**64 - 1, 0], [3, 1]], dtype=np.uint64)), "u.npy")
    assert unsigned.points.exact_rows([0]) == [[2**64 - 1]]


def test_large_integer_labels_are_told_apart(files):
    table = np.array([[1, 2**53], [2, 2**53 + 1]], dtype=np.int64)
    dataset = files.read(npy(table), "d.npy")
    assert dataset.description.positive == str(2**53 + 1)
    assert dataset.labels.tolist() == [-1, 1]


def test_columns_of_npy(files):
    table = np.array([[1, 0, 7, 5], [2, 1, 8, 0], [3, 1, 9, 5], [2**60, 0, 7, 1]], dtype=np.int64)
    dataset = files.read(npy(table), "d.npy", label="x2", categorical=("x3",), weight="x4")
    assert dataset.description.features == ("x1", "x3=9")
    assert dataset.row_numbers.tolist() == [1, 3, 4]
    assert dataset.points.values.tolist() == [[1.0, 0.0], [3.0, 1.0], [2.0**60, 0.0]]
    assert dataset.points.exact_rows([2, 1]) == [[2**60, 0], [3, 1]]


def test_missing_values_of_npy(files):
    table = np.array([[1, 0], [np.nan, 1], [3, 1], [4, np.nan]])
    dataset = files.read(npy(table), "d.npy", missing="drop-rows")
    assert dataset.row_numbers.tolist() == [1, 3]
    assert any("2 of 4 rows have missing" in note for note in dataset.notes)
    error = files.error(npy(table), "d.npy")
    assert error.code == "DATA-MISSING"
    assert "(row 2, column 'x1')" in str(error)
    assert "2 faults of this kind in all" in str(error)


def test_npz(files):
    X, y = np.array([[1.5, 2], [3, 4], [5, 6]]), np.array(["no", "yes", "no"])
    dataset = files.read(npz(X=X, y=y), "d.npz")
    assert dataset.points.values.tolist() == X.tolist()
    assert dataset.labels.tolist() == [-1, 1, -1]
    assert dataset.description.format == "npz"
    assert dataset.description.label is None
    dropped = files.read(npz(X=X, y=y), "e.npz", drop=("x1",), label="y")
    assert dropped.points.values.tolist() == [[2.0], [4.0], [6.0]]


def test_npz_with_separate_labels(files):
    labels = files.write("u\nv\nu\n", "labels.txt")
    dataset = files.read(npz(X=np.eye(3)), "d.npz", labels_path=labels)
    assert dataset.labels.tolist() == [-1, 1, -1]
    assert dataset.description.labels_path == labels


def test_npz_labels_may_be_missing(files):
    content = npz(X=np.eye(4), y=[0.0, 1.0, np.nan, 1.0])
    assert files.error(content, "d.npz").code == "DATA-MISSING"
    assert files.read(content, "e.npz", missing="drop-rows").row_numbers.tolist() == [1, 2, 4]


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


RECORDS = np.array([(1.0, 0), (2.0, 1)], dtype=[("a", float), ("y", int)])


@pytest.mark.parametrize(
    ("content", "name", "code", "words"),
    [
        (npy(np.array([[Trap(), 0]], dtype=object), allow_pickle=True), "d.npy", "DATA-PICKLE", "never loaded"),
        (npz(X=np.array([[Trap()]], dtype=object), y=[0]), "d.npz", "DATA-PICKLE", "never loaded"),
        (npz(X=np.eye(2), y=np.array([Trap(), 1], dtype=object)), "d.npz", "DATA-PICKLE", "never loaded"),
        (npy(RECORDS), "d.npy", "DATA-ARRAY-TYPE", "structured, with fields 'a', 'y'"),
        (npy([[1j, 0], [2, 1]]), "d.npy", "DATA-ARRAY-TYPE", "complex"),
        (npy([["a", "b"], ["c", "d"]]), "d.npy", "DATA-ARRAY-TYPE", "text"),
        (npy([[b"a", b"b"], [b"c", b"d"]]), "d.npy", "DATA-ARRAY-TYPE", "bytes"),
        (npy(np.zeros((2, 2), dtype=np.longdouble)), "d.npy", "DATA-ARRAY-TYPE", "float64"),
        (npy(np.zeros((2, 2), dtype="M8[s]")), "d.npy", "DATA-ARRAY-TYPE", "dates"),
        (npy(5.0), "d.npy", "DATA-ARRAY-SHAPE", "0 dimensions"),
        (npy([1.0, 2.0]), "d.npy", "DATA-ARRAY-SHAPE", "reshape(-1, 1)"),
        (npy(np.zeros((2, 3, 4))), "d.npy", "DATA-ARRAY-SHAPE", "reshape(len(X), -1)"),
        (npy(np.zeros((0, 3))), "d.npy", "DATA-NO-ROWS", "no rows"),
        (npy(np.zeros((3, 0))), "d.npy", "DATA-NO-FEATURES", "no columns"),
        (npy(np.zeros((3, 1))), "d.npy", "DATA-NO-FEATURES", "no feature"),
        (npy([[1, 0], [2, 0]]), "d.npy", "DATA-ONE-CLASS", "'0'"),
        (npy([[1, 0], [2, 1], [3, 2]]), "d.npy", "DATA-MANY-CLASSES", "'0', '1', '2'"),
        (npy(np.arange(4000.0).reshape(2000, 2)), "d.npy", "DATA-MANY-CLASSES", "2000 values"),
        (npy([[1, 0], [np.inf, 1]]), "d.npy", "DATA-INFINITE", "(row 2, column 'x1')"),
        (npz(X=np.eye(2)), "d.npz", "DATA-ARRAY-KEYS", "'y'"),
        (npz(y=[0, 1]), "d.npz", "DATA-ARRAY-KEYS", "'X'"),
        (npz(a=np.eye(2), b=[0, 1]), "d.npz", "DATA-ARRAY-KEYS", "'a', 'b'"),
        (npz(X=np.eye(2), y=[0, 1, 1]), "d.npz", "DATA-LENGTHS", "3 labels for 2 rows"),
        (npz(X=np.eye(2), y=np.eye(2)), "d.npz", "DATA-ARRAY-SHAPE", "(n,)"),
        (npz(X=np.eye(2), y=[1j, 0]), "d.npz", "DATA-ARRAY-TYPE", "complex"),
        (npz(X=np.eye(2), y=[np.inf, 0]), "d.npz", "DATA-INFINITE", "label of row 1"),
        (npy(np.eye(2))[:-8], "d.npy", "DATA-FORMAT", "cut short"),
        (npy(np.eye(2))[:20], "d.npy", "DATA-FORMAT", "cut short"),
        (npz(X=np.eye(2), y=[0, 1])[:100], "d.npz", "DATA-FORMAT", "cut short"),
        (b"PK\x03\x04 nonsense", "d.csv", "DATA-FORMAT", "damaged"),
        (b"1,2\n", "d.npy", "DATA-FORMAT", "does not begin as its name says"),
        (b"", "d.npy", "DATA-EMPTY", "empty"),
    ],
)
def test_faults(files, content, name, code, words):
    error = files.error(content, name)
    assert error.code == code
    assert words in str(error)
    assert error.advice


def test_a_label_column_makes_no_sense_for_npz(files):
    error = files.error(npz(X=np.eye(2), y=[0, 1]), "d.npz", label="x1")
    assert error.code == "DATA-UNKNOWN-COLUMN"


def test_negative_weights_of_npy(files):
    error = files.error(npy([[1, -1, 0], [2, 1, 1]]), "d.npy", weight="x2")
    assert error.code == "DATA-WEIGHT"
