"""The matrix is never held twice."""

from __future__ import annotations

import gzip
import tracemalloc

import numpy as np
import pytest

from sepcert.data import text_stream
from sepcert.data.blocks import Matrix


@pytest.mark.parametrize(("compressed", "most"), [(False, 1.35), (True, 1.6)])
@pytest.mark.parametrize("numeral", ["%.4f", "%.17f"])
def test_peak_while_reading(files, monkeypatch, compressed, most, numeral):
    monkeypatch.setattr(text_stream, "BLOCK_BYTES", 1 << 16)
    monkeypatch.setattr("sepcert.data.text_table._KEPT_BYTES", 1)
    line = ",".join([numeral % 1.2345678] * 20)
    content = "".join(f"{line},{k % 2}\n" for k in range(40_000)).encode()
    content = gzip.compress(content, 1) if compressed else content
    path = files.write(content)
    del content
    from sepcert.data.reader import read_dataset

    tracemalloc.start()
    dataset = read_dataset(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert dataset.points.shape == (40_000, 20)
    assert peak <= most * dataset.points.values.nbytes + (1 << 20)


def test_a_growing_matrix_keeps_its_rows():
    matrix = Matrix(3, 1)
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(k, 3)) for k in (1, 0, 7, 100, 2, 1000)]
    for part in parts:
        matrix.append(part)
    np.testing.assert_array_equal(matrix.finish(), np.concatenate(parts))
