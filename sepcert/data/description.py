"""Where a labelled table comes from, in enough detail to rebuild it exactly."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Dialect:
    """How a text file is cut into fields.

    Attributes
    ----------
    delimiter : str
        One character.
    header : bool
        Whether the first non-blank line names the columns.
    encoding : str
        A Python codec name; a byte-order mark is skipped.
    compression : str or None
        ``"gzip"`` or None.
    decimal_comma : bool
        Whether ``1,5`` means one and a half (only where the delimiter is not a comma).
    """

    delimiter: str = ","
    header: bool = True
    encoding: str = "utf-8"
    compression: str | None = None
    decimal_comma: bool = False


@dataclass(frozen=True)
class DataDescription:
    """The `data` object of a certificate.

    Attributes
    ----------
    format : str
        ``"text"``, ``"npy"``, ``"npz"`` or ``"array"``.
    path : str or None
        As the user gave it; ``"-"`` for standard input, None for arrays.
    labels_path : str or None
        A separate file of labels, if one was given.
    sha256, labels_sha256 : str or None
        Of the raw bytes of the files; None for arrays, and until a fingerprint is asked for.
    matrix_sha256 : str or None
        Of the canonical matrix, see :func:`sepcert.data.fingerprint.matrix_sha256`; None until asked for.
    rows : int
        Rows used: rows read less those of weight zero and those dropped for missing values.
    rows_read : int
        Data rows in the file.
    dialect : Dialect or None
        For text only.
    features : tuple of str
        Names of the columns of the matrix in order, without the bias; levels as ``col=level``.
    columns : tuple of str
        The columns of the file that make the features, in order (a categorical column once).
    dropped : tuple of str
        Columns that were left out on request.
    categorical : dict of str to tuple of str
        Declared categorical columns with their levels, sorted as text; the first is the baseline.
    label, weight : str or None
        Names of the label column and of the weight column; None where there is none.
    positive, negative : str
        The label value of each class, in its shortest form.
    missing : str
        ``"error"`` or ``"drop-rows"``.
    numbers : str
        ``"decimal"`` or ``"binary64"``.
    """

    format: str
    path: str | None
    rows: int
    rows_read: int
    features: tuple[str, ...]
    columns: tuple[str, ...]
    label: str | None
    positive: str
    negative: str
    numbers: str
    dialect: Dialect | None = None
    labels_path: str | None = None
    sha256: str | None = None
    labels_sha256: str | None = None
    matrix_sha256: str | None = None
    dropped: tuple[str, ...] = ()
    categorical: dict[str, tuple[str, ...]] = field(default_factory=dict)
    weight: str | None = None
    missing: str = "error"
