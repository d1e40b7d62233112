"""Planted linear problems for the benchmarks."""

from __future__ import annotations

import numpy as np

KINDS = ("margin 0.05", "none enforced", "one flipped label", "overlap")


def make(kind: str, rows: int, columns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return standard normal points and labels -1, +1 of a random hyperplane, disturbed as `kind` says."""
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((rows, columns))
    normal = rng.standard_normal(columns)
    normal /= np.linalg.norm(normal)
    side = points @ normal
    labels = np.where(side > 0, 1, -1)
    if kind == "margin 0.05":
        points += 0.05 * labels[:, None] * normal
    elif kind == "one flipped label":
        labels[rng.integers(rows)] *= -1
    elif kind == "overlap":
        labels = np.where(side + rng.standard_normal(rows) > 0, 1, -1)
    return points, labels
