"""Standard input, pipes, and hashes of raw bytes."""

from __future__ import annotations

import hashlib
import io
import os
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from sepcert.data import source, text_stream
from sepcert.data.reader import ReadOptions, read_dataset, rebuild_dataset
from sepcert.errors import DataError

TEXT = b"a,y\n0.12345678901234567,0\n0.22345678901234567,1\n"


@pytest.fixture
def stdin(monkeypatch):
    def give(content: bytes) -> None:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))

    return give


@pytest.mark.parametrize("in_memory", [0, 10, 1 << 20])
def test_standard_input_can_be_read_again(stdin, monkeypatch, in_memory):
    monkeypatch.setattr(source, "KEPT_IN_MEMORY", in_memory)
    stdin(TEXT)
    dataset = read_dataset("-")
    assert dataset.points.irregular.all()
    assert float(dataset.points.exact_rows([1])[0][0]) == 0.22345678901234567
    assert dataset.points.exact_rows([1])[0][0].denominator == 10**17
    assert dataset.description.path == "-"
    assert dataset.fingerprint().sha256 == hashlib.sha256(TEXT).hexdigest()


def test_large_standard_input_goes_to_a_file(stdin, monkeypatch):
    monkeypatch.setattr(source, "KEPT_IN_MEMORY", 1 << 20)
    content = b"".join(b"%d.12345678901234567,%d\n" % (k, k % 2) for k in range(100_000))
    stdin(content)
    dataset = read_dataset("-")
    assert dataset.points.exact_rows([99_999])[0][0] * 10**17 == 99_999 * 10**17 + 12345678901234567
    assert dataset.fingerprint().sha256 == hashlib.sha256(content).hexdigest()


def test_binary_standard_input(stdin):
    out = io.BytesIO()
    np.save(out, np.array([[1.0, 0.0], [2.0, 1.0]]))
    stdin(out.getvalue())
    assert read_dataset("-").points.values.tolist() == [[1.0], [2.0]]


def test_empty_standard_input(stdin):
    stdin(b"")
    with pytest.raises(DataError, match="-: error DATA-EMPTY"):
        read_dataset("-")


def test_data_and_labels_cannot_share_standard_input(stdin):
    stdin(TEXT)
    with pytest.raises(DataError, match="DATA-OPTION"):
        read_dataset("-", ReadOptions(labels_path="-"))


def test_a_named_pipe(tmp_path):
    path = str(tmp_path / "pipe")
    os.mkfifo(path)

    def feed() -> None:
        with open(path, "wb") as stream:
            stream.write(TEXT)

    writer = threading.Thread(target=feed)
    writer.start()
    dataset = read_dataset(path)
    writer.join()
    assert dataset.points.exact_rows([0])[0][0].denominator == 10**17
    assert dataset.fingerprint().sha256 == hashlib.sha256(TEXT).hexdigest()


@pytest.mark.parametrize("block", [7, 64, 1 << 20])
def test_raw_hash_of_a_file(files, monkeypatch, block):
    monkeypatch.setattr(text_stream, "BLOCK_BYTES", block)
    dataset = files.read(b"\xef\xbb\xbf" + TEXT + b"\n\n")
    assert dataset.fingerprint().sha256 == hashlib.sha256(b"\xef\xbb\xbf" + TEXT + b"\n\n").hexdigest()
    assert dataset.description.sha256 is None


def test_standard_input_can_be_verified_from_a_file(stdin, files):
    stdin(TEXT)
    description = read_dataset("-").fingerprint()
    again = rebuild_dataset(description, files.write(TEXT))
    assert again.fingerprint().matrix_sha256 == description.matrix_sha256
    assert again.fingerprint().sha256 == description.sha256
