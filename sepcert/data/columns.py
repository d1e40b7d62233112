"""Which column of a table is what: label, weight, left out, categorical, numeric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sepcert.data import faults
from sepcert.data.faults import argument, listed, nearest
from sepcert.errors import DataError, Place

LABEL_NAMES = ("label", "y", "target", "class")


@dataclass(frozen=True)
class Request:
    """What the user says of columns: each a name or a 1-based number.

    Attributes
    ----------
    label : str, int or None
        None: found by the rules of :func:`assign`.
    separate_labels : bool
        Whether the labels come from elsewhere, so that there is no label column.
    drop, categorical : tuple of str
    weight : str or None
    """

    label: str | int | None = None
    separate_labels: bool = False
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    weight: str | None = None


@dataclass(frozen=True)
class Columns:
    """Roles of the columns of a table, as 0-based positions.

    Attributes
    ----------
    names : tuple of str
        Of all columns in file order.
    label, weight : int or None
    dropped, categorical, numeric : tuple of int
        In file order; `numeric` are the numeric features.
    """

    names: tuple[str, ...]
    label: int | None
    weight: int | None
    dropped: tuple[int, ...]
    categorical: tuple[int, ...]
    numeric: tuple[int, ...]

    @property
    def features(self) -> tuple[int, ...]:
        """Numeric and categorical columns in file order."""
        return tuple(sorted((*self.numeric, *self.categorical)))

    @property
    def coded(self) -> tuple[int, ...]:
        """Columns whose fields are kept as text: categorical ones and the label."""
        label = () if self.label is None else (self.label,)
        return tuple(sorted((*self.categorical, *label)))

    @property
    def measured(self) -> tuple[int, ...]:
        """Columns whose fields are numbers: numeric features and the weight, in file order."""
        weight = () if self.weight is None else (self.weight,)
        return tuple(sorted((*self.numeric, *weight)))


def numbered_names(count: int) -> tuple[str, ...]:
    """Return x1 ... x`count`, the names of columns without a header."""
    return tuple(f"x{j + 1}" for j in range(count))


def header_names(fields: Sequence[str], path: str, line: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names in a header, and notes.

    An empty name becomes ``x`` with the column's number.

    Raises
    ------
    DataError
        Two columns have the same name.
    """
    names = [field.strip() for field in fields]
    unnamed = [j for j, name in enumerate(names) if not name]
    for j in unnamed:
        names[j] = f"x{j + 1}"
    first: dict[str, int] = {}
    log = faults.FaultLog(path)
    for j, name in enumerate(names):
        if name in first:
            message = f"columns {first[name] + 1} and {j + 1} are both named {name!r}"
            log.add(
                faults.DUPLICATE_NAME, message, line=line, column=j + 1, advice="give each column a name of its own"
            )
        else:
            first[name] = j
    if log:
        log.stop()
    notes = tuple(f"column {j + 1} has no name and is called {names[j]!r}" for j in unnamed)
    return tuple(names), notes


def assign(
    names: tuple[str, ...], request: Request, path: str, *, named: bool = True
) -> tuple[Columns, tuple[str, ...]]:
    """Give every column its role.

    The label is the stated column; else, of ``label``, ``y``, ``target`` and ``class``, the one that exists; else
    the last column.  Where that is found by its name it must not have another role.

    Parameters
    ----------
    names : tuple of str
        All columns in file order.
    request : Request
    path : str
        For messages.
    named : bool
        Whether the names are the file's own.

    Returns
    -------
    Columns
    notes : tuple of str
        What was chosen without being asked for.

    Raises
    ------
    DataError
        An unknown name, several possible labels, roles that exclude each other, a column with the name of a label
        in another role, or no feature left.
    """
    place = Place(path)
    dropped = [_find(name, names, place, "column to drop") for name in request.drop]
    categorical = [_find(name, names, place, "categorical column") for name in request.categorical]
    weight = None if request.weight is None else _find(request.weight, names, place, "weight column")
    label: int | None = None
    notes: tuple[str, ...] = ()
    if not request.separate_labels:
        label, notes = _label(names, request, place, named, {*dropped, *categorical, weight})
    for j, other in (
        *((j, "dropped") for j in dropped),
        *((j, "categorical") for j in categorical),
        *(() if weight is None else ((weight, "the weight"),)),
    ):
        if j == label:
            raise _conflict(names[j], "the label", other, place)
        if other == "categorical" and j in dropped:
            raise _conflict(names[j], "dropped", other, place)
        if other == "the weight" and (j in dropped or j in categorical):
            raise _conflict(names[j], "dropped" if j in dropped else "categorical", other, place)
    taken = {label, weight, *dropped, *categorical}
    columns = Columns(
        names=names,
        label=label,
        weight=weight,
        dropped=tuple(sorted(set(dropped))),
        categorical=tuple(sorted(set(categorical))),
        numeric=tuple(j for j in range(len(names)) if j not in taken),
    )
    if not columns.features:
        raise DataError(
            faults.NO_FEATURES,
            f"no feature is left: the columns are {listed(names)}",
            place=place,
            advice="name another label, drop fewer columns, or set the delimiter",
        )
    return columns, notes


def label_only(names: tuple[str, ...]) -> Columns:
    """Return the columns of a file that has nothing but one label a line."""
    return Columns(names, label=0, weight=None, dropped=(), categorical=(), numeric=())


def _label(
    names: tuple[str, ...], request: Request, place: Place, named: bool, taken: set[int | None]
) -> tuple[int, tuple[str, ...]]:
    if request.label is not None:
        return _find(request.label, names, place, "label column"), ()
    usual = [names.index(name) for name in LABEL_NAMES if named and name in names]
    if not usual and named and len(names) - 1 in taken and names[-1].casefold() in LABEL_NAMES:
        usual = [len(names) - 1]
    lost = [j for j in usual if j in taken]
    usual = sorted(j for j in usual if j not in taken)
    if lost and not usual:
        raise DataError(
            faults.COLUMN_ROLES,
            f"column {names[lost[0]]!r} is named like a label, but is dropped, categorical or the weight",
            place=place,
            advice="name the label with --label",
        )
    if len(usual) > 1:
        raise DataError(
            faults.AMBIGUOUS_LABEL,
            f"several columns could be the label: {listed(names[j] for j in usual)}",
            place=place,
            advice=f"choose one with --label, such as --label {argument(names[usual[0]])}",
        )
    if usual:
        return usual[0], (f"the label is column {names[usual[0]]!r}, by its name",)
    free = [j for j in range(len(names)) if j not in taken]
    last = free[-1] if free else len(names) - 1
    return last, (f"the label is column {names[last]!r}, the last one",)


def _find(wanted: str | int, names: tuple[str, ...], place: Place, what: str) -> int:
    """Return the position of a column given by name or, where no column has that name, by its 1-based number."""
    text = str(wanted).strip()
    if isinstance(wanted, str) and text in names:
        return names.index(text)
    if text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= len(names):
        return int(text) - 1
    raise DataError(faults.UNKNOWN_COLUMN, f"there is no {what} {text!r}", place=place, advice=nearest(text, names))


def _conflict(name: str, one: str, other: str, place: Place) -> DataError:
    return DataError(
        faults.COLUMN_ROLES,
        f"column {name!r} cannot be both {one} and {other}",
        place=place,
        advice="give it one role",
    )


def expanded_names(columns: Columns, levels: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the names of the matrix's columns: a categorical column as ``col=level``, without its first level."""
    found: list[str] = []
    for j in columns.features:
        name = columns.names[j]
        if j in columns.categorical:
            found.extend(f"{name}={level}" for level in levels[name][1:])
        else:
            found.append(name)
    return tuple(found)
