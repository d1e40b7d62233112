"""Arrays as tables: the same columns, missing values and weights as in text, and labels of any type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepcert.data import faults
from sepcert.data.blocks import MISSING_CODE, CodeArray, Levels, Table
from sepcert.data.columns import Columns
from sepcert.data.faults import FaultLog, argument
from sepcert.data.labels import MOST_CLASSES, too_many
from sepcert.data.numerals import shortest
from sepcert.data.stored_numbers import StoredNumbers, wrong_type
from sepcert.errors import DataError, Place
from sepcert.problem import BoolArray, FloatArray, IntArray

AnyArray = NDArray[Any]


@dataclass(frozen=True)
class CodedLabels:
    """Labels as codes of distinct texts; -1 for a missing one.

    Attributes
    ----------
    codes : ndarray of int64, shape (n,)
    texts : tuple of str
    """

    codes: IntArray
    texts: tuple[str, ...]


def number_text(x: Any) -> str:
    """Return the text of a label of any type: ``1`` for 1.0, ``True``, or what str makes of it."""
    if isinstance(x, np.generic):
        x = x.item()
    if isinstance(x, bytes):
        return x.decode("utf-8", "replace").strip()
    if isinstance(x, float) and np.isfinite(x):
        return shortest(repr(x))
    return str(x).strip()


def code_labels(array: AnyArray, place: Place | None) -> CodedLabels:
    """Code an array of labels.

    Parameters
    ----------
    array : ndarray, shape (n,) or (n, 1)
        Numbers, booleans or text.
    place : Place, optional
        For messages.

    Raises
    ------
    DataError
        The shape or the type is wrong, or a number is infinite.
    """
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(
            faults.ARRAY_SHAPE,
            f"the labels have shape {array.shape}, not (n,)",
            place=place,
            advice="give one label a row",
        )
    kind = array.dtype.kind
    if kind in "biuf" and array.size:
        return _numeric_labels(array, place)
    if kind in "US" and array.size:
        return _text_labels(array)
    if kind == "O" or not array.size:
        levels = Levels()
        texts = [number_text(x) if x is not None else "" for x in array.tolist()]
        missing = {"None", "<NA>", "NaT"}
        coded = np.array([MISSING_CODE if t in missing else levels.code(t) for t in texts], dtype=np.int64)
        return CodedLabels(coded, levels.texts)
    raise wrong_type(array, place)


def _numeric_labels(array: AnyArray, place: Place | None) -> CodedLabels:
    low, high = array.min(), array.max()
    if array.dtype.kind == "f" and not (np.isfinite(low) and np.isfinite(high)):
        if np.isinf(array).any():
            row = int(np.argmax(np.isinf(array))) + 1
            raise DataError(faults.INFINITE, f"the label of row {row} is infinite", place=place, advice="replace it")
        known = ~np.isnan(array)
        codes = np.full(len(array), MISSING_CODE, dtype=np.int64)
        if not known.any():
            return CodedLabels(codes, ())
        inner = _numeric_labels(array[known], place)
        codes[known] = inner.codes
        return CodedLabels(codes, inner.texts)
    is_high = array == high
    if bool((is_high | (array == low)).all()):
        if low == high:
            return CodedLabels(np.zeros(len(array), dtype=np.int64), (number_text(low),))
        return CodedLabels(is_high.astype(np.int64), (number_text(low), number_text(high)))
    distinct, codes = np.unique(array, return_inverse=True)
    return CodedLabels(codes.astype(np.int64), tuple(number_text(x) for x in distinct))


def _text_labels(array: AnyArray) -> CodedLabels:
    levels = Levels()
    codes = np.full(len(array), MISSING_CODE, dtype=np.int64)
    left = np.ones(len(array), dtype=np.bool_)
    for _ in range(8):
        text = array[int(np.argmax(left))]
        same = array == text
        codes[same] = levels.code(number_text(text))
        left &= ~same
        if not left.any():
            return CodedLabels(codes, levels.texts)
    coded = np.array([levels.code(number_text(text)) for text in array.tolist()], dtype=np.int64)
    return CodedLabels(coded, levels.texts)


def table_of_array(stored: StoredNumbers, columns: Columns, path: str, *, drop_missing: bool) -> tuple[Table, IntArray]:
    """Make a table of a two-dimensional array.

    Parameters
    ----------
    stored : StoredNumbers
        All columns of the file.
    columns : Columns
    path : str
        For messages.
    drop_missing : bool
        Whether rows with NaN are left out.

    Returns
    -------
    Table
    rows : ndarray of int64, shape (n,)
        Which rows of the array are in it.

    Raises
    ------
    DataError
        NaN, infinity or a negative weight.
    """
    values = stored.values
    total = len(values)
    used = [*columns.features, *(() if columns.weight is None else (columns.weight,))]
    if columns.label is not None:
        used.append(columns.label)
    missing = find_faults(
        values,
        sorted(used),
        columns.names,
        path,
        drop_missing=drop_missing,
        weight=columns.weight,
        label=columns.label,
    )
    keep = np.ones(total, dtype=np.bool_) if missing is None else ~missing
    light = np.zeros(total, dtype=np.bool_) if columns.weight is None else values[:, columns.weight] == 0.0
    weightless = int((keep & light).sum())
    keep &= ~light
    rows = np.flatnonzero(keep)
    numeric = list(columns.numeric)
    everything = len(rows) == total
    if everything and numeric == list(range(values.shape[1])):
        chosen = values
    else:
        chosen = np.ascontiguousarray(values[:, numeric] if everything else values[rows][:, numeric])
    irregular = None
    if stored.irregular is not None:
        irregular = stored.irregular[rows]
    codes, levels = [], []
    for j in columns.coded:
        coded, found = _levels_of(stored.original[rows, j], columns, j, path)
        codes.append(coded)
        levels.append(found)
    table = Table(
        columns=columns,
        values=chosen,
        codes=codes,
        levels=levels,
        irregular=irregular,
        record_numbers=rows,
        records=total,
        missing=0 if missing is None else int(missing.sum()),
        weightless=weightless,
    )
    return table, rows


def _levels_of(column: AnyArray, columns: Columns, j: int, path: str) -> tuple[CodeArray, Levels]:
    distinct, inverse = np.unique(column, return_inverse=True)
    if len(distinct) > MOST_CLASSES and j == columns.label:
        texts = [number_text(x) for x in distinct[:20]]
        count = f"{len(distinct)} values in the label column {columns.names[j]!r}, too many"
        raise too_many(texts, count, Place(path))
    levels = Levels()
    coded = np.array([levels.code(number_text(x)) for x in distinct], dtype=np.int32)
    return coded[inverse], levels


def find_faults(
    values: FloatArray,
    used: Sequence[int],
    names: Sequence[str],
    path: str,
    *,
    drop_missing: bool = False,
    weight: int | None = None,
    label: int | None = None,
) -> BoolArray | None:
    """Look for NaN, infinity and negative weights in the columns used.

    Returns
    -------
    ndarray of bool, shape (n,), or None
        Rows with missing values, when they are to be left out.

    Raises
    ------
    DataError
        With the row (1-based) and the column of the first faults.
    """
    if values.size == 0:
        return None
    with np.errstate(all="ignore"):
        total = float(values.sum()) if len(used) == values.shape[1] else float("nan")
    if np.isfinite(total) and weight is None:
        return None
    part = values[:, list(used)]
    log = FaultLog(path)
    bad = np.isinf(part)
    if not drop_missing:
        bad |= np.isnan(part)
    if weight is not None:
        at = list(used).index(weight)
        bad[:, at] |= part[:, at] < 0.0
    for i, k in np.argwhere(bad):
        x, name = part[i, k], names[used[k]]
        where = f"(row {i + 1}, column {name!r})"
        kept = used[k] in (weight, label)
        if np.isnan(x):
            advice = f"use --missing drop-rows, or {'fill it in' if kept else f'--drop {argument(name)}'}"
            log.add(faults.MISSING, f"a value is missing: nan {where}", advice=advice)
        elif np.isinf(x):
            advice = "replace it" if kept else f"replace it, or use --drop {argument(name)}"
            log.add(faults.INFINITE, f"{x} is infinite {where}", advice=advice)
        else:
            log.add(faults.WEIGHT, f"the weight {x} is negative {where}", advice="weights are zero or positive")
    if log:
        log.stop()
    if not drop_missing:
        return None
    missing = np.asarray(np.isnan(part).any(axis=1))
    return missing if missing.any() else None
