"""Planted problems for the engine's tests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sepcert.engine.rows import FloatRows


def _planted(
    count: int, features: int, margin: float = 0.05, seed: int = 0, noise: float = 0.0, bias: float = 1.0
) -> FloatRows:
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((count, features))
    normal = rng.standard_normal(features)
    normal /= np.linalg.norm(normal)
    side = points @ normal + noise * rng.standard_normal(count)
    labels = np.where(side > 0, 1, -1).astype(np.int8)
    points += np.outer(labels * margin, normal)
    return FloatRows(points, labels, bias)


@pytest.fixture
def planted() -> Callable[..., FloatRows]:
    """Rows with a planted hyperplane; `noise` in the labels makes them overlap."""
    return _planted


@pytest.fixture
def signed() -> Callable[[FloatRows], np.ndarray]:
    """The rows z_i written out in full."""

    def write(rows: FloatRows) -> np.ndarray:
        points = rows.points
        if rows.shift is not None:
            points = points - rows.shift
        if rows.scale is not None:
            points = points * rows.scale
        if rows.bias:
            points = np.column_stack([np.full(len(points), rows.bias), points])
        return rows.labels[:, None] * points

    return write
