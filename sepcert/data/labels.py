"""Two classes from the texts of a label column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepcert.data import faults
from sepcert.data.faults import listed
from sepcert.data.numerals import exact_number, is_numeral, shortest
from sepcert.errors import DataError, Place
from sepcert.problem import SignArray

MOST_CLASSES = 1000  # reading stops when a label column has more values


@dataclass(frozen=True)
class LabelMap:
    """The sign of each label text.

    Attributes
    ----------
    positive, negative : str
        The classes in their shortest form.
    signs : ndarray of int8, shape (k,)
        For each of the k texts given +1 or -1; 0 for a text that does not occur.
    notes : tuple of str
        Which labels are the same number although they are written differently.
    """

    positive: str
    negative: str
    signs: SignArray
    notes: tuple[str, ...] = ()


def map_labels(
    texts: Sequence[str], occurs: Sequence[bool], positive: str | None, place: Place, decimal_comma: bool = False
) -> LabelMap:
    """Order the classes and choose the positive one.

    Labels are compared as numbers when all of them are numerals, as text otherwise.  The positive class is the last
    in sorted order unless it is stated.

    Parameters
    ----------
    texts : sequence of str
        Distinct trimmed texts.
    occurs : sequence of bool
        Which of them occur in the rows used.
    positive : str or None
        Stated positive class.
    place : Place
        For messages.
    decimal_comma : bool
        Whether numerals have a decimal comma.

    Raises
    ------
    DataError
        Not exactly two classes, or the stated class does not occur.
    """
    present = [text for text, here in zip(texts, occurs, strict=True) if here]
    numerals = {t: t.replace(",", ".") if decimal_comma and "." not in t else t for t in present}
    numeric = all(is_numeral(n) for n in numerals.values())
    keys: dict[str, Fraction | str] = {t: exact_number(numerals[t]) if numeric else t for t in present}
    classes = sorted(set(keys.values()))
    names: dict[Fraction | str, str] = {}
    for text in present:
        names.setdefault(keys[text], shortest(numerals[text]) if numeric else text)
    _require_two([names[c] for c in classes], place)
    chosen = classes[-1]
    if positive is not None:
        chosen = _stated(positive, classes, names, numeric, place)
    other = classes[0] if chosen == classes[1] else classes[1]
    signs = np.array([(0 if t not in keys else 1 if keys[t] == chosen else -1) for t in texts], dtype=np.int8)
    merged = [[t for t in present if keys[t] == c] for c in (other, chosen)] if numeric else []
    notes = tuple(f"the labels {listed(same)} are the same number: one class" for same in merged if len(same) > 1)
    return LabelMap(names[chosen], names[other], signs, notes)


def _stated(
    positive: str,
    classes: Sequence[Fraction | str],
    names: dict[Fraction | str, str],
    numeric: bool,
    place: Place,
) -> Fraction | str:
    wanted = positive.strip()
    key: Fraction | str | None = wanted
    if numeric:
        key = exact_number(wanted) if is_numeral(wanted) else None
    if key not in classes or key is None:
        raise DataError(
            faults.POSITIVE,
            f"no row is of the positive class {wanted!r}",
            place=place,
            advice=f"the classes are {listed(names[c] for c in classes)}",
        )
    return key


def _require_two(names: Sequence[str], place: Place) -> None:
    if len(names) == 1:
        raise DataError(
            faults.ONE_CLASS,
            f"all rows are of class {names[0]!r}",
            place=place,
            advice="two classes are needed; is this the right label column (--label)?",
        )
    if len(names) > 2:
        raise too_many(names, str(len(names)), place)


def too_many(names: Sequence[str], count: str, place: Place) -> DataError:
    """Return the error that lists the classes where there are more than two."""
    return DataError(
        faults.MANY_CLASSES,
        f"there are {count} classes: {listed(names)}",
        place=place,
        advice=_header_hint(names)
        + "choose another column with --label, or keep two classes (--multiclass is not built yet)",
    )


def _header_hint(names: Sequence[str]) -> str:
    """Ask for the header where one class alone is text."""
    texts = [name for name in names if not is_numeral(name)]
    if len(texts) != 1:
        return ""
    return f"if {texts[0]!r} is the name of a column, use --header; else "


def used_codes(codes: NDArray[np.signedinteger[Any]], count: int) -> list[bool]:
    """Return for each of `count` codes whether it occurs."""
    found: list[bool] = (np.bincount(codes, minlength=count) > 0).tolist()
    return found
