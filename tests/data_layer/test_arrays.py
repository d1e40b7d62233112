"""Arrays, lists and frames of the library."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from sepcert.data.arrays import dataset_from_arrays
from sepcert.errors import DataError
from sepcert.status import Numbers

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
Y = [0, 1, 1]


def test_float64_is_not_copied():
    dataset = dataset_from_arrays(X, Y)
    assert dataset.points.values is X
    assert dataset.labels.tolist() == [-1, 1, 1]
    assert dataset.labels.dtype == np.int8
    assert dataset.row_numbers.tolist() == [1, 2, 3]
    assert dataset.description.format == "array"
    assert dataset.description.path is None
    assert dataset.description.features == ("x1", "x2")
    assert dataset.points.numbers is Numbers.BINARY64
    assert dataset.points.irregular is None
    assert dataset.other_reading is None
    assert dataset.line_numbers is None


def test_fingerprint_is_made_on_request():
    dataset = dataset_from_arrays(X, Y)
    assert dataset.description.matrix_sha256 is None
    described = dataset.fingerprint()
    assert described.sha256 is None
    assert described.matrix_sha256 == dataset_from_arrays(X.tolist(), ["a", "b", "b"]).fingerprint().matrix_sha256


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ">f8", np.int8, np.int64, np.uint16, np.uint64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_other_types(dtype, order):
    dataset = dataset_from_arrays(np.array(X, dtype=dtype, order=order), Y)
    np.testing.assert_array_equal(dataset.points.values, X)
    assert dataset.points.values.flags.c_contiguous
    assert dataset.points.values.dtype == np.float64


@pytest.mark.parametrize("values", [X[::-1], X[:, ::-1], np.asfortranarray(X), X.tolist(), tuple(map(tuple, X))])
def test_layouts_and_lists(values):
    dataset = dataset_from_arrays(values, Y)
    np.testing.assert_array_equal(dataset.points.values, np.array(values))


@pytest.mark.parametrize(
    ("y", "labels", "positive", "negative"),
    [
        ([0, 1, 1], [-1, 1, 1], "1", "0"),
        ([-1, 1, -1], [-1, 1, -1], "1", "-1"),
        ([1.0, 0.5, 1.0], [1, -1, 1], "1", "0.5"),
        (np.array([1, 2, 2], dtype=np.float32), [-1, 1, 1], "2", "1"),
        ([2, 10, 2], [-1, 1, -1], "10", "2"),
        (["2", "10", "2.0"], [-1, 1, -1], "10", "2"),
        (np.array(["no", "yes ", "no"]), [-1, 1, -1], "yes", "no"),
        (["no", "yes", "no"], [-1, 1, -1], "yes", "no"),
        ([b"no", b"yes", b"no"], [-1, 1, -1], "yes", "no"),
        ([True, False, True], [1, -1, 1], "True", "False"),
        (np.array([True, False, True], dtype=object), [1, -1, 1], "True", "False"),
        (["a", 1, "a"], [1, -1, 1], "a", "1"),
        (np.array([[0], [1], [1]]), [-1, 1, 1], "1", "0"),
        ([2**53, 2**53 + 1, 2**53], [-1, 1, -1], "9007199254740993", "9007199254740992"),
    ],
)
def test_labels(y, labels, positive, negative):
    dataset = dataset_from_arrays(X, y)
    assert dataset.labels.tolist() == labels
    assert (dataset.description.positive, dataset.description.negative) == (positive, negative)


@pytest.mark.parametrize(
    ("y", "positive"),
    [([0, 1, 1], 0), ([0, 1, 1], "0"), ([0, 1, 1], 0.0), ([True, False, False], True), (["a", "b", "b"], "a")],
)
def test_stated_positive(y, positive):
    assert dataset_from_arrays(X, y, positive=positive).labels.tolist() == [1, -1, -1]


def test_many_distinct_texts_of_one_number():
    texts = [f"1.{'0' * k}" for k in range(12)] + ["2"]
    dataset = dataset_from_arrays(np.zeros((13, 1)), np.array(texts))
    assert dataset.labels.tolist() == [-1] * 12 + [1]


@pytest.mark.parametrize("numbers", list(Numbers))
def test_integers_beyond_doubles(numbers):
    dataset = dataset_from_arrays(np.array([[2**53 + 1, 1], [2, 3], [4, 2**62]]), Y, numbers=numbers)
    assert dataset.points.exact_rows([0, 1, 2]) == [[2**53 + 1, 1], [2, 3], [4, 2**62]]
    assert dataset.points.irregular.tolist() == [True, False, True]
    lists = dataset_from_arrays([[2**70 + 1, 1], [2, 3], [4, 5]], Y, numbers=numbers)
    assert lists.points.exact_rows([0, 1]) == [[2**70 + 1, 1], [2, 3]]
    beside_floats = dataset_from_arrays([[2**53 + 1, 0.5], [2, 3], [4, 5]], Y, numbers=numbers)
    assert beside_floats.points.exact_rows([0]) == [[2**53 + 1, Fraction(1, 2)]]


def test_python_numbers():
    values = np.array([[Fraction(1, 3), 1], [Decimal("0.1"), 0.1], [2, 3]], dtype=object)
    dataset = dataset_from_arrays(values, Y)
    assert dataset.points.exact_rows([0, 1, 2]) == [[Fraction(1, 3), 1], [Fraction(1, 10), Fraction(0.1)], [2, 3]]
    decimal = dataset_from_arrays(values, Y, numbers=Numbers.DECIMAL)
    assert decimal.points.exact_rows([1]) == [[Fraction(1, 10), Fraction(1, 10)]]


def test_decimal_reading_of_floats():
    values = np.array([[0.1], [1e23], [5e-324]])
    dataset = dataset_from_arrays(values, Y, numbers=Numbers.DECIMAL)
    assert dataset.points.exact_rows([0, 1, 2]) == [[Fraction(1, 10)], [10**23], [Fraction(5, 10**324)]]
    assert dataset.points.irregular.tolist() == [False, True, True]
    assert dataset.description.numbers == "decimal"


class Column:
    def __init__(self, values):
        self._values = values

    def to_numpy(self):
        return np.asarray(self._values)


class Frame:
    def __init__(self, **columns):
        self._columns = columns
        self.columns = list(columns)

    def __getitem__(self, name):
        return Column(self._columns[name])

    def to_numpy(self):
        raise AssertionError("a common type would lose digits")


def test_frames():
    frame = Frame(big=np.array([2**53 + 1, 2, 3]), small=np.array([0.5, 1.5, 2.5], dtype=np.float32))
    dataset = dataset_from_arrays(frame, Column(["u", "v", "u"]))
    assert dataset.description.features == ("big", "small")
    assert dataset.points.exact_rows([0, 1]) == [[2**53 + 1, Fraction(1, 2)], [2, Fraction(3, 2)]]
    assert dataset.points.values.flags.c_contiguous
    same = dataset_from_arrays(Frame(a=[1.0, 2.0, 3.0], b=[4.0, 5.0, 6.0]), Y)
    assert same.points.values.tolist() == [[1, 4], [2, 5], [3, 6]]
    mixed = dataset_from_arrays(Frame(a=[True, False, True], b=[4.0, 5.0, 6.0]), Y)
    assert mixed.points.values.tolist() == [[1, 4], [0, 5], [1, 6]]


def test_objects_with_the_array_protocol():
    class Array:
        def __array__(self, dtype=None, copy=None):
            return X

    assert dataset_from_arrays(Array(), Y).points.values.tolist() == X.tolist()


def test_feature_names():
    assert dataset_from_arrays(X, Y, feature_names=["u", "v"]).description.features == ("u", "v")
    with pytest.raises(DataError, match="DATA-LENGTHS"):
        dataset_from_arrays(X, Y, feature_names=["u"])
    with pytest.raises(DataError, match="DATA-DUPLICATE-NAME"):
        dataset_from_arrays(X, Y, feature_names=["u", "u"])


def test_masked_arrays():
    masked = np.ma.array(X, mask=np.zeros_like(X, dtype=bool))
    assert dataset_from_arrays(masked, Y).points.values.tolist() == X.tolist()
    masked[1, 0] = np.ma.masked
    with pytest.raises(DataError, match=r"X: error DATA-MISSING: a value is masked \(row 2, column 1\)"):
        dataset_from_arrays(masked, Y)


class Sparse:
    nnz = 3

    def toarray(self):
        return X


def with_entry(value) -> np.ndarray:
    copy = X.copy()
    copy[1, 0] = value
    return copy


@pytest.mark.parametrize(
    ("values", "y", "code", "words"),
    [
        (with_entry(np.nan), Y, "DATA-MISSING", "(row 2, column 'x1')"),
        (with_entry(-np.inf), Y, "DATA-INFINITE", "(row 2, column 'x1')"),
        (Frame(a=[1.0, np.nan, 2.0]), Y, "DATA-MISSING", "(row 2, column 'a')"),
        (Frame(a=np.array([1.0, None, 2.0], dtype=object)), Y, "DATA-MISSING", "(row 2, column 'a')"),
        (Frame(a=["u", "v", "w"]), Y, "DATA-ARRAY-TYPE", "column 'a'"),
        (Frame(a=np.array(["u", 1, 2], dtype=object)), Y, "DATA-NUMBER", "'u'"),
        (Sparse(), Y, "DATA-SPARSE", "toarray"),
        ([1.0, 2.0, 3.0], Y, "DATA-ARRAY-SHAPE", "reshape(-1, 1)"),
        (5.0, Y, "DATA-ARRAY-SHAPE", "0 dimensions"),
        (np.zeros((3, 2, 2)), Y, "DATA-ARRAY-SHAPE", "3 dimensions"),
        ([[1.0, 2.0], [3.0]], [0, 1], "DATA-ARRAY-SHAPE", "equally long"),
        (np.zeros((0, 2)), [], "DATA-NO-ROWS", "no rows"),
        (np.zeros((3, 0)), Y, "DATA-NO-FEATURES", "no columns"),
        (X * 1j, Y, "DATA-ARRAY-TYPE", "complex"),
        (X.astype(str), Y, "DATA-ARRAY-TYPE", "text"),
        ([["1", "2"], ["3", "4"]], [0, 1], "DATA-NUMBER", "'1'"),
        ([[10**400, 1], [1, 2]], [0, 1], "DATA-RANGE", "row 1, column 1"),
        (X, [0, 1], "DATA-LENGTHS", "2 labels for 3 rows"),
        (X, [0, 1, 2], "DATA-MANY-CLASSES", "'0', '1', '2'"),
        (X, [1, 1, 1], "DATA-ONE-CLASS", "'1'"),
        (X, ["a", "a", " a"], "DATA-ONE-CLASS", "'a'"),
        (X, [0, np.nan, 1], "DATA-MISSING", "label of row 2"),
        (X, [np.nan, np.nan, np.nan], "DATA-MISSING", "3 in all"),
        (X, ["a", None, "b"], "DATA-MISSING", "label of row 2"),
        (X, [0, np.inf, 1], "DATA-INFINITE", "row 2"),
        (X, X, "DATA-ARRAY-SHAPE", "(n,)"),
        (X, [1j, 0, 0], "DATA-ARRAY-TYPE", "complex"),
        (X, 3, "DATA-ARRAY-SHAPE", "(n,)"),
    ],
)
def test_faults(values, y, code, words):
    with pytest.raises(DataError) as caught:
        dataset_from_arrays(values, y)
    assert caught.value.code == code
    assert words in str(caught.value)


def test_large_finite_values_are_no_fault():
    values = np.full((10, 2), 1.7e308)
    assert dataset_from_arrays(values, [0, 1] * 5).points.values is values


def test_a_positive_class_that_does_not_occur():
    with pytest.raises(DataError, match="DATA-POSITIVE"):
        dataset_from_arrays(X, Y, positive=7)
