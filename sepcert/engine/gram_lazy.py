"""The Gram operator of a kernel that never holds G: columns on demand, the most recently used ones kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sepcert.engine.gram import CANCELLED, Evaluation, GramOperator
from sepcert.engine.gram_kernel import KernelRows
from sepcert.errors import KernelError, register
from sepcert.problem import FloatArray, IntArray

NO_FEATURES = register(
    "KERNEL-NO-FEATURES", "The algorithm needs feature vectors, which this form of the Gram operator has not."
)


@dataclass
class _Columns:
    """A table of columns in slots; the slot used longest ago is taken first.

    Attributes
    ----------
    table : ndarray, shape (slots, n)
        Memory of unused slots is not touched, and so not taken from the system.
    slot : ndarray of int, shape (n,)
        Where column j is; -1: nowhere.
    owner : ndarray of int, shape (slots,)
        Which column a slot has; -1: none.
    used : ndarray of int, shape (slots,)
        When it was last asked for.
    time : int
        Columns asked for so far.
    filled : int
        Slots that have been used: the first ones.
    """

    table: FloatArray
    slot: IntArray
    owner: IntArray
    used: IntArray
    time: int = 0
    filled: int = 0

    @classmethod
    def of(cls, slots: int, count: int) -> _Columns:
        return cls(
            np.zeros((slots, count)),
            np.full(count, -1, dtype=np.int64),
            np.full(slots, -1, dtype=np.int64),
            np.zeros(slots, dtype=np.int64),
        )

    def touch(self, slots: IntArray) -> None:
        """Say that these slots were asked for now, in this order."""
        self.used[slots] = np.arange(self.time + 1, self.time + len(slots) + 1)
        self.time += len(slots)

    def free(self, k: int) -> IntArray:
        """Return k slots, new ones first, then the ones used longest ago, whose columns are forgotten."""
        slots = np.arange(self.filled, min(self.filled + k, len(self.used)))
        self.filled += len(slots)
        if len(slots) < k:
            more = k - len(slots)
            old = np.argpartition(self.used[: self.filled - len(slots)], more - 1)[:more]
            slots = np.concatenate([slots, np.sort(old)])
        gone = self.owner[slots]
        self.slot[gone[gone >= 0]] = -1
        self.owner[slots] = -1
        return slots

    def enter(self, index: IntArray, slots: IntArray) -> None:
        """Register columns that have been written into these slots."""
        self.touch(slots)
        self.owner[slots] = index
        self.slot[index] = slots


class LazyGram(GramOperator):
    """G of a kernel by columns; nothing of size n^2 is ever held.

    Columns that are asked for are kept in a cache of limited size.  A product with weights whose support fits into the
    cache is made of its columns; one with a larger support is computed in blocks that are thrown away, and leaves
    the cache alone.

    Parameters
    ----------
    kernel_rows : KernelRows
    cache_bytes : int
        At most so much is kept; two columns are the least.

    Attributes
    ----------
    columns_computed : int
        Columns computed into the cache or for a product, including those computed again.
    cache_hits : int
        Columns that were asked for and were there.
    """

    def __init__(self, kernel_rows: KernelRows, cache_bytes: int) -> None:
        super().__init__()
        self.rows = None
        self.kernel_rows = kernel_rows
        n = kernel_rows.count
        self.capacity = min(n, max(2, cache_bytes // (8 * n)))
        self.columns_computed = 0
        self.cache_hits = 0
        self._columns = _Columns.of(self.capacity, n)

    @property
    def count(self) -> int:
        """Number of rows n."""
        return self.kernel_rows.count

    @property
    def diagonal(self) -> FloatArray:
        """G_ii, which is 1; shape (n,)."""
        return np.ones(self.count)

    @property
    def cached_bytes(self) -> int:
        """Size of the columns that are kept now."""
        return 8 * self.count * int(np.count_nonzero(self._columns.owner >= 0))

    @property
    def feature_dimension(self) -> int:
        """There are no feature vectors; see :meth:`features`."""
        raise _no_features()

    def features(self, index: IntArray) -> FloatArray:
        """Raise a KernelError (KERNEL-NO-FEATURES): vectors with these products would be as large as G."""
        raise _no_features()

    def image_of(self, w: FloatArray) -> FloatArray:
        """Raise a KernelError; see :meth:`features`."""
        raise _no_features()

    def row_direction(self, a: FloatArray) -> FloatArray | None:
        """Return None: there is no direction outside the kernel's space."""
        return None

    def _slots(self, index: IntArray) -> IntArray:
        """Return the slots of these columns (at most `capacity`, without repeats), computing those that are missing."""
        columns = self._columns
        slots = columns.slot[index]
        missing = index[slots < 0]
        self.cache_hits += len(index) - len(missing)
        columns.touch(slots[slots >= 0])
        if not len(missing):
            return slots
        self.columns_computed += len(missing)
        self.passes += 1.0
        new = columns.free(len(missing))
        self.kernel_rows.write_columns(missing, columns.table, new)
        columns.enter(missing, new)  # after the writing: an interrupt leaves no column that is wrong
        return columns.slot[index]

    def holds(self, j: int) -> bool:
        """Say whether column j is kept."""
        return bool(self._columns.slot[j] >= 0)

    def prepare(self, index: IntArray) -> bool:
        """Compute these columns together, which is cheaper than one by one, if they fit; say whether they do."""
        fits = len(index) <= self.capacity // 2
        if fits:
            self._slots(index)
        return fits

    def column(self, j: int) -> FloatArray:
        """Return G e_j, shape (n,); 1/n of a product."""
        self.products += 1.0 / self.count
        slot = int(self._columns.slot[j])
        if slot < 0:
            slot = int(self._slots(np.array([j]))[0])
        else:
            self.cache_hits += 1
            self._columns.touch(np.array([slot]))
        return np.array(self._columns.table[slot])

    def block(self, index: IntArray) -> FloatArray:
        """Return a new array with G for these rows and columns, shape (k, k)."""
        if len(index) <= self.capacity:
            return np.asarray(self._columns.table[np.ix_(self._slots(index), index)])
        return self.kernel_rows.square(index)

    def combine(self, index: IntArray, coefficients: FloatArray) -> FloatArray:
        """Return sum_j c_j G e_j over these j (without repeats), shape (n,); one product."""
        self.products += 1.0
        if len(index) > self.capacity:
            self.columns_computed += len(index)
            self.passes += 1.0
            return self.kernel_rows.combine(index, coefficients)
        slots = self._slots(index)
        weights = np.zeros(int(slots.max(initial=-1)) + 1)
        weights[slots] = coefficients
        if len(index) * 3 < len(weights):
            return _gathered(self._columns.table, slots, coefficients)
        return np.asarray(weights @ self._columns.table[: len(weights)])

    def times(self, p: FloatArray) -> FloatArray:
        """Return G p, shape (n,), from the columns of p's support; one product."""
        support = np.flatnonzero(p)
        return self.combine(support, p[support])

    def evaluate(self, a: FloatArray) -> Evaluation:
        """Return G a and |a|_G; one product, and a second one among the rows of the support where |a|_G is small."""
        image = self.times(a)
        square = float(a @ image)
        norm = self.norm(a) if square < CANCELLED**2 else float(np.sqrt(square))
        return Evaluation(image, norm, None)

    def norm(self, a: FloatArray) -> float:
        """Return |a|_G from scratch; equal points are taken together, so that their weights cancel exactly."""
        return self.kernel_rows.norm(a)


def _gathered(table: FloatArray, slots: IntArray, coefficients: FloatArray) -> FloatArray:
    """Combine lines that are few among the used ones, some at a time, so that the copies stay small."""
    image = np.zeros(table.shape[1])
    step = max(1, (1 << 20) // table.shape[1])
    for start in range(0, len(slots), step):
        part = slots[start : start + step]
        image += coefficients[start : start + step] @ table[part]
    return image


def _no_features() -> KernelError:
    return KernelError(
        NO_FEATURES,
        "a Gram operator that computes columns on demand has no feature vectors",
        advice="use block-principal-pivoting, which needs columns only, or the dense form",
    )
