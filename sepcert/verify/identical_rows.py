"""Groups of identical rows, exactly: what decides strictly positive definite kernels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sepcert.problem import IntArray, Problem


def groups_of_identical_rows(problem: Problem, among: IntArray | None = None) -> Iterator[IntArray]:
    """Yield the groups of at least two rows that are the same point.

    Two regular rows are the same exactly when their doubles are; irregular ones (see
    :class:`sepcert.problem.Points`) are compared as rationals.

    Parameters
    ----------
    problem : Problem
    among : ndarray of int64, optional
        Rows to look at; default all.
    """
    points = problem.points
    rows = np.arange(problem.rows) if among is None else among
    values = points.values[rows] + 0.0  # -0.0 is 0.0
    if not len(rows):
        return
    order = np.lexsort(values.T[::-1]) if values.shape[1] else np.arange(len(rows))
    ordered = values[order]
    new = np.ones(len(rows), dtype=np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    starts = np.append(np.flatnonzero(new), len(rows))
    for at in np.flatnonzero(np.diff(starts) > 1).tolist():
        group = np.sort(rows[order[starts[at] : starts[at + 1]]])
        if points.irregular is None or not points.irregular[group].any():
            yield group
            continue
        same: dict[tuple[object, ...], list[int]] = {}
        for row, exact in zip(group.tolist(), points.exact_rows(group.tolist()), strict=True):
            same.setdefault(tuple(exact), []).append(row)
        for members in same.values():
            if len(members) > 1:
                yield np.array(members)


def conflicting_rows(problem: Problem) -> tuple[int, int] | None:
    """Return the first two identical rows of opposite classes (positive, negative), or None."""
    best: tuple[int, int] | None = None
    for group in groups_of_identical_rows(problem):
        labels = problem.labels[group]
        if (labels > 0).any() and (labels < 0).any():
            pair = int(group[labels > 0][0]), int(group[labels < 0][0])
            best = pair if best is None or min(pair) < min(best) else best
    return best
