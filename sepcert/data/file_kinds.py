"""What kind of file it is: by its first bytes, and by its name for the kinds that are refused."""

from __future__ import annotations

import re
import zlib
from enum import StrEnum

from sepcert.data import faults
from sepcert.data.source import ByteSource
from sepcert.errors import DataError, Place

NPY_MAGIC = b"\x93NUMPY"
GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
_START_BYTES = 1 << 14

_REFUSED_NAMES = {
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".arff": "ARFF",
    ".parquet": "Parquet",
    ".arrow": "Arrow",
    ".feather": "Feather",
    ".xlsx": "Excel",
    ".xls": "Excel",
    ".ods": "OpenDocument",
    ".json": "JSON",
    ".jsonl": "JSON",
    ".mat": "Matlab",
    ".rds": "R",
    ".rdata": "R",
    ".dta": "Stata",
    ".sav": "SPSS",
    ".sas7bdat": "SAS",
    ".pkl": "pickle",
    ".pickle": "pickle",
    ".h5": "HDF5",
    ".hdf5": "HDF5",
}
_REFUSED_MAGIC = {
    b"PAR1\x15": "Parquet",
    b"ARROW1\0\0": "Arrow",
    b"BZh91AY": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x89HDF": "HDF5",
    b"\xd0\xcf\x11\xe0": "Excel",
    b"%PDF": "PDF",
}
_REFUSED_TEXT = {
    "HTML": re.compile(rb"\s*<(?:!doctype|html|head|body|table|!--)", re.IGNORECASE),
    "XML": re.compile(rb"\s*<\?xml", re.IGNORECASE),
    "JSON": re.compile(rb"\s*(?:\{\s*(?:\"|\}|$)|\[\s*(?:[\[{\"\]]|-?[0-9][0-9.eE+-]*\s*,|$))"),
    "ARFF": re.compile(rb"(?:\s*%[^\n]*\n)*\s*@relation\s", re.IGNORECASE),
}
_POINTER = b"version https://git-lfs.github.com/spec/"
_UTF8_MARK = b"\xef\xbb\xbf"


class Kind(StrEnum):
    """Kinds of files that can be read; the values are those of DataDescription.format."""

    TEXT = "text"
    NPY = "npy"
    NPZ = "npz"


def kind_of(source: ByteSource) -> Kind:
    """Return the kind of a file.

    Raises
    ------
    DataError
        It is of a kind that cannot be read.
    """
    name = source.path.lower().removesuffix(".gz")
    for ending, kind in _REFUSED_NAMES.items():
        if name.endswith(ending):
            raise _refused(source, kind)
    with source.open() as stream:
        start = stream.read(_START_BYTES)
    if start.startswith(NPY_MAGIC):
        return Kind.NPY
    if start.startswith(ZIP_MAGICS):
        _require_npz(source)
        return Kind.NPZ
    text = start
    if start.startswith(GZIP_MAGIC):
        text = _decompressed(start)
        if text.startswith((NPY_MAGIC, *ZIP_MAGICS)):
            what = "NPY" if text.startswith(NPY_MAGIC) else "NPZ and other ZIP"
            raise DataError(
                faults.FORMAT,
                f"gzip is supported for text only, not for {what} files",
                place=Place(source.path),
                advice="decompress it with gunzip",
            )
    _refuse_contents(source, text)
    if name.endswith((".npy", ".npz")):
        what = "the file is empty" if not start else "the file is damaged: it does not begin as its name says"
        code = faults.FORMAT if start else faults.EMPTY
        raise DataError(code, what, place=Place(source.path), advice="save it anew with numpy.save or numpy.savez")
    return Kind.TEXT


def _refuse_contents(source: ByteSource, start: bytes) -> None:
    for magic, kind in _REFUSED_MAGIC.items():
        if start.startswith(magic):
            raise _refused(source, kind)
    text = start.removeprefix(_UTF8_MARK)
    if text.startswith(_POINTER):
        raise DataError(
            faults.FORMAT,
            "this is a Git LFS pointer, not the file itself",
            place=Place(source.path),
            advice="fetch the file with git lfs pull",
        )
    for kind, pattern in _REFUSED_TEXT.items():
        if pattern.match(text):
            raise _refused(source, kind)


def _require_npz(source: ByteSource) -> None:
    """Refuse ZIP files without arrays; damaged ones are left to the reader of NPZ."""
    import zipfile

    try:
        with source.open() as stream, zipfile.ZipFile(stream) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError):
        return
    if not names or any(name.endswith(".npy") for name in names):
        return
    if "[Content_Types].xml" in names:
        raise _refused(source, "Excel and other Office")
    if "mimetype" in names:
        raise _refused(source, "OpenDocument")
    raise DataError(
        faults.FORMAT,
        "this is a ZIP archive without NumPy arrays",
        place=Place(source.path),
        advice="unpack it, and name the file in it",
    )


def _decompressed(start: bytes) -> bytes:
    """Return what the first bytes of a gzip file hold, as far as they are sound."""
    try:
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(start, _START_BYTES)
    except zlib.error:
        return b""


def _refused(source: ByteSource, kind: str) -> DataError:
    return DataError(
        faults.FORMAT,
        f"{kind} files cannot be read",
        place=Place(source.path),
        advice="convert it to CSV (also gzipped), NPY or NPZ",
    )
