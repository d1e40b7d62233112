"""Labelled tables: reading them, and describing them so that they can be read again.

`read_dataset` and `rebuild_dataset` read files, `dataset_from_arrays` takes arrays; all give a `Dataset`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sepcert.data.arrays import dataset_from_arrays
    from sepcert.data.dataset import Dataset, RowCounts
    from sepcert.data.description import DataDescription, Dialect
    from sepcert.data.fingerprint import matrix_sha256
    from sepcert.data.reader import ReadOptions, read_dataset, rebuild_dataset

__all__ = [
    "DataDescription",
    "Dataset",
    "Dialect",
    "ReadOptions",
    "RowCounts",
    "dataset_from_arrays",
    "matrix_sha256",
    "read_dataset",
    "rebuild_dataset",
]

_HOMES = {
    "DataDescription": "description",
    "Dataset": "dataset",
    "Dialect": "description",
    "ReadOptions": "reader",
    "RowCounts": "dataset",
    "dataset_from_arrays": "arrays",
    "matrix_sha256": "fingerprint",
    "read_dataset": "reader",
    "rebuild_dataset": "reader",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
