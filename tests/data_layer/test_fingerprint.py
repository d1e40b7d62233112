"""The canonical hash of a matrix."""

from __future__ import annotations

import hashlib
import struct

import numpy as np
import pytest

from sepcert.data import fingerprint
from sepcert.data.fingerprint import matrix_sha256
from sepcert.problem import Points
from sepcert.status import Numbers


def naive(rows, labels) -> str:
    digest = hashlib.sha256(b"sepcert-matrix/1\n" + struct.pack("<QQ", len(rows), len(rows[0])))
    digest.update(struct.pack(f"<{len(labels)}b", *labels))
    for row in rows:
        for x in row:
            digest.update(struct.pack("<d", 0.0 if x == 0 else x))
    return digest.hexdigest()


@pytest.mark.parametrize("block", [1, 100, 1 << 20])
def test_hash_is_the_documented_one(monkeypatch, block):
    monkeypatch.setattr(fingerprint, "_BLOCK_BYTES", block)
    values = np.random.default_rng(0).normal(size=(57, 3))
    values[3, 1] = -0.0
    values[4, 1] = 0.0
    labels = np.where(np.arange(57) % 3 == 0, 1, -1).astype(np.int8)
    assert matrix_sha256(Points(values, Numbers.DECIMAL), labels) == naive(values.tolist(), labels.tolist())


def test_hash_sees_everything():
    values = np.arange(6.0).reshape(2, 3)
    labels = np.array([1, -1], dtype=np.int8)
    hashes = {
        matrix_sha256(Points(values, Numbers.DECIMAL), labels),
        matrix_sha256(Points(values.reshape(3, 2), Numbers.DECIMAL), np.array([1, -1, 1], dtype=np.int8)),
        matrix_sha256(Points(values, Numbers.DECIMAL), -labels),
        matrix_sha256(Points(np.nextafter(values, 9.0), Numbers.DECIMAL), labels),
        matrix_sha256(Points(values[::-1].copy(), Numbers.DECIMAL), labels),
    }
    assert len(hashes) == 5
    assert matrix_sha256(Points(values, Numbers.BINARY64), labels) in hashes
