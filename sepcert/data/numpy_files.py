"""NPY and NPZ files.  Pickles are never loaded."""

from __future__ import annotations

import math
import warnings
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sepcert.data import faults
from sepcert.data.faults import listed
from sepcert.data.source import ByteSource
from sepcert.errors import DataError, Place

AnyArray = NDArray[Any]


def load_npy(source: ByteSource) -> AnyArray:
    """Return the array of an NPY file.

    Raises
    ------
    DataError
        The file is damaged, or holds Python objects.
    """
    with source.open() as stream:
        try:
            _require_size(stream, source.size, source.path)
        except _signs_of_damage() as error:
            raise _damaged(error, source.path) from error
        stream.seek(0)
        array: AnyArray = _load(stream, source.path)
        return array


def load_npz(source: ByteSource) -> tuple[AnyArray, AnyArray | None]:
    """Return the arrays X and y of an NPZ file; None where y is missing.

    Raises
    ------
    DataError
        The file is damaged, holds Python objects, or has no array X.
    """
    place = Place(source.path)
    with source.open() as stream:
        archive = _load(stream, source.path)
        try:
            names = list(archive.files)
            if "X" not in names:
                raise DataError(
                    faults.ARRAY_KEYS,
                    f"there is no array 'X' in the file; it has {listed(names) if names else 'none'}",
                    place=place,
                    advice="save it with numpy.savez(path, X=..., y=...)",
                )
            for info in archive.zip.infolist():
                if info.filename in ("X.npy", "y.npy"):
                    with archive.zip.open(info) as member:
                        _require_size(member, info.file_size, source.path)
            return archive["X"], archive["y"] if "y" in names else None
        except _signs_of_damage() as error:
            raise _damaged(error, source.path) from error


def _load(stream: Any, path: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.load(stream, allow_pickle=False)
    except _signs_of_damage() as error:
        raise _damaged(error, path) from error


def _require_size(stream: IO[bytes], size: int, path: str) -> None:
    """Raise unless an array in NPY format fills exactly `size` bytes; nothing is reserved for it.

    The header is read by NumPy, which raises ValueError for a malformed one.
    """
    version = np.lib.format.read_magic(stream)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in readers:
        return  # names of fields beyond Latin-1: no plain table, which is said later
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shape, _, dtype = readers[version](stream)
    if dtype.hasobject:
        return
    expected = stream.tell() + math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or expected > size:
        raise DataError(
            faults.FORMAT,
            f"the file is damaged or cut short: an array of shape {shape} does not fit into its {size} bytes",
            place=Place(path),
            advice="save it anew",
        )
    if expected < size:
        raise DataError(
            faults.FORMAT,
            f"{size - expected} bytes follow the array",
            place=Place(path),
            advice="save it anew, one array a file",
        )


def _signs_of_damage() -> tuple[type[Exception], ...]:
    import tokenize
    import zipfile
    import zlib

    # A header may also be nested too deeply, and a member of a ZIP file be encrypted (RuntimeError).
    numpy_and_python = ValueError, TypeError, KeyError, SyntaxError, OverflowError, MemoryError, RuntimeError
    return *numpy_and_python, OSError, EOFError, tokenize.TokenError, zlib.error, zipfile.BadZipFile


def _damaged(error: Exception, path: str) -> DataError:
    if "Object arrays" in str(error) or "allow_pickle" in str(error):
        return DataError(
            faults.PICKLE,
            "the array holds Python objects, and pickles are never loaded",
            place=Place(path),
            advice="save an array of numbers, such as X.astype(float)",
        )
    return DataError(faults.FORMAT, "the file is damaged or cut short", place=Place(path), advice="save it anew")


def require_table(array: AnyArray, path: str) -> AnyArray:
    """Return the array if it has two dimensions and holds something.

    Raises
    ------
    DataError
        With advice that depends on the shape.
    """
    place = Place(path)
    if array.dtype.names is not None:
        raise DataError(
            faults.ARRAY_TYPE,
            f"the array is structured, with fields {listed(array.dtype.names)}",
            place=place,
            advice="use numpy.lib.recfunctions.structured_to_unstructured",
        )
    if array.ndim != 2:
        advice = {0: "save a table", 1: "use X.reshape(-1, 1) for one feature, or X.reshape(1, -1) for one row"}
        raise DataError(
            faults.ARRAY_SHAPE,
            f"the array has {array.ndim} dimension{'s' * (array.ndim != 1)}, not 2 (shape {array.shape})",
            place=place,
            advice=advice.get(array.ndim, "use X.reshape(len(X), -1)"),
        )
    if array.shape[0] == 0:
        raise DataError(faults.NO_ROWS, "the array has no rows", place=place, advice="is it the right file?")
    if array.shape[1] == 0:
        raise DataError(faults.NO_FEATURES, "the array has no columns", place=place, advice="is it the right file?")
    return array
