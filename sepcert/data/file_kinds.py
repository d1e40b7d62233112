"""What kind of file it is: by its first bytes, and by its name for the kinds that are refused."""

from __future__ import annotations

from enum import StrEnum

from sepcert.data import faults
from sepcert.data.source import ByteSource
from sepcert.errors import DataError, Place

NPY_MAGIC = b"\x93NUMPY"
ZIP_MAGIC = b"PK\x03\x04"

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
        start = stream.read(8)
    if start.startswith(NPY_MAGIC):
        return Kind.NPY
    if start.startswith(ZIP_MAGIC):
        return Kind.NPZ
    for magic, kind in _REFUSED_MAGIC.items():
        if start.startswith(magic):
            raise _refused(source, kind)
    if name.endswith((".npy", ".npz")):
        what = "the file is empty" if not start else "the file is damaged: it does not begin as its name says"
        code = faults.FORMAT if start else faults.EMPTY
        raise DataError(code, what, place=Place(source.path), advice="save it anew with numpy.save or numpy.savez")
    return Kind.TEXT


def _refused(source: ByteSource, kind: str) -> DataError:
    return DataError(
        faults.FORMAT,
        f"{kind} files cannot be read",
        place=Place(source.path),
        advice="convert it to CSV (also gzipped), NPY or NPZ",
    )
