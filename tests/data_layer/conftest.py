"""Writing files and reading them by both parsers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from sepcert.data import text_table
from sepcert.data.dataset import Dataset
from sepcert.data.reader import ReadOptions, read_dataset
from sepcert.data.text_fast import Refused
from sepcert.errors import DataError


@dataclass
class Files:
    """A folder of test files."""

    folder: Path

    def write(self, content: str | bytes, name: str = "data.csv") -> str:
        path = self.folder / name
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return str(path)

    def read(self, content: str | bytes, name: str = "data.csv", **options) -> Dataset:
        return read_dataset(self.write(content, name), ReadOptions(**options))

    def error(self, content: str | bytes, name: str = "data.csv", **options) -> DataError:
        with pytest.raises(DataError) as caught:
            self.read(content, name, **options)
        return caught.value


@pytest.fixture
def files(tmp_path) -> Files:
    return Files(tmp_path)


@pytest.fixture(scope="session")
def shared_files(tmp_path_factory) -> Files:
    """The same folder for all examples of a property."""
    return Files(tmp_path_factory.mktemp("property"))


@pytest.fixture
def slowly(monkeypatch):
    """Have the fast parser refuse everything from now on."""

    def switch() -> None:
        def refuse(*_args):
            raise Refused

        monkeypatch.setattr(text_table.FastParser, "parse", refuse)

    return switch


@pytest.fixture
def only_fast(monkeypatch):
    """Make it an error that the slow parser is asked."""

    def forbidden(*_args):
        raise AssertionError("the slow parser was asked")

    monkeypatch.setattr(text_table.SlowParser, "parse", forbidden)


def same(one: Dataset, other: Dataset) -> None:
    """Both data sets are equal in everything that can be seen."""
    np.testing.assert_array_equal(one.points.values, other.points.values)
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.row_numbers, other.row_numbers)
    assert replace(one.description, path=None) == replace(other.description, path=None)
    rows = range(len(one.labels))
    for a, b in ((one.points, other.points), (one.other_reading, other.other_reading)):
        assert (a is None) == (b is None)
        if a is not None and b is not None:
            np.testing.assert_array_equal(_mask(a), _mask(b))
            assert a.exact_rows(rows) == b.exact_rows(rows)
    assert (one.line_numbers is None) == (other.line_numbers is None)
    if one.line_numbers is not None and other.line_numbers is not None:
        assert one.line_numbers(rows) == other.line_numbers(rows)


def _mask(points):
    return np.zeros(len(points.values), bool) if points.irregular is None else points.irregular


@pytest.fixture
def assert_same():
    return same
