r"""The canonical hash of a matrix with its labels.

It is the SHA-256 of the ASCII line ``sepcert-matrix/1\n``, then n and d as little-endian unsigned 64-bit integers,
then the n labels as signed bytes (+1 or -1), then the n x d values row by row as little-endian binary64, each -0.0
replaced by 0.0.  It depends neither on the file format nor on names.
"""

from __future__ import annotations

import hashlib
import struct

import numpy as np

from sepcert.problem import Points, SignArray

HEADER = b"sepcert-matrix/1\n"
_BLOCK_BYTES = 1 << 20


def matrix_sha256(points: Points, labels: SignArray) -> str:
    """Return the canonical hash in hexadecimal.

    Parameters
    ----------
    points : Points
        n rows of d values.  Only the doubles count; how numerals were read is not part of the hash.
    labels : ndarray of int8, shape (n,)
        +1 or -1.
    """
    n, d = points.shape
    digest = hashlib.sha256(HEADER + struct.pack("<QQ", n, d))
    digest.update(np.ascontiguousarray(labels, dtype=np.int8).tobytes())
    step = max(1, _BLOCK_BYTES // max(8 * d, 1))
    for at in range(0, n, step):
        block = points.values[at : at + step] + 0.0  # turns -0.0 into 0.0
        digest.update(block.astype("<f8", copy=False).tobytes())
    return digest.hexdigest()
