"""The forms of a kernel's Gram operator against the matrix written out, the cache, and the memory that is told."""

from __future__ import annotations

import tracemalloc
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sepcert.engine import gram_kernel
from sepcert.engine.dispatch import choose_for_kernel
from sepcert.engine.gram import DenseGram, FactoredGram
from sepcert.engine.gram_block import SupportBlock
from sepcert.engine.gram_form import available_memory, choose_form
from sepcert.engine.gram_kernel import KernelRows
from sepcert.engine.gram_lazy import LazyGram
from sepcert.engine.rows import FloatRows
from sepcert.errors import ConfigError, KernelError
from sepcert.kernels.base import Kernel


@dataclass(frozen=True)
class PlainGaussian(Kernel):
    """exp(-gamma |x - z|^2) by differences; keeps the shapes of the blocks it was asked for."""

    gamma: float = 0.4
    shapes: list = None

    name = "gaussian"
    rational = False
    strictly_positive_definite = True

    def values(self, left, right):
        if self.shapes is not None:
            self.shapes.append((len(left), len(right)))
        return np.exp(-self.gamma * ((left[:, None, :] - right[None]) ** 2).sum(axis=2))

    def diagonal(self, points):
        return np.ones(len(points))


@dataclass(frozen=True)
class Quadratic(PlainGaussian):
    """(x'z + coef0)^2: a diagonal that is not 1."""

    coef0: float = 0.5

    def values(self, left, right):
        return (left @ right.T + self.coef0) ** 2

    def diagonal(self, points):
        return ((points * points).sum(axis=1) + self.coef0) ** 2


@dataclass(frozen=True)
class Flat(Quadratic):
    """Of finite rank and said to be so."""

    strictly_positive_definite = False


def rows_of(count=37, features=3, kernel=None, bias=0.0, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(count) < 0.5, -1, 1).astype(np.int8)
    return KernelRows(rng.standard_normal((count, features)), labels, kernel or PlainGaussian(), bias)


def written_out(rows):
    """G entry by entry."""
    n = rows.count
    k = np.array([[float(rows.kernel.values(x[None], z[None])[0, 0]) for z in rows.points] for x in rows.points])
    k += rows.bias**2
    s = [float(k[i, i]) ** 0.5 for i in range(n)]
    return np.array(
        [[int(rows.labels[i]) * int(rows.labels[j]) * k[i, j] / (s[i] * s[j]) for j in range(n)] for i in range(n)]
    )


VARIANTS = {
    "gaussian": rows_of,
    "gaussian with bias": lambda: rows_of(bias=1.5, seed=1),
    "quadratic": lambda: rows_of(kernel=Quadratic(), seed=2),
    "quadratic with bias": lambda: rows_of(kernel=Quadratic(), bias=0.7, seed=3),
}
FORMS = {
    "dense": DenseGram.of_kernel,
    "lazy": lambda rows: LazyGram(rows, 1 << 20),
    "lazy, 5 columns": lambda rows: LazyGram(rows, 5 * 8 * rows.count),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("entries", [1, 60, 1 << 16])
def test_every_form_is_the_matrix_written_out(variant, form, entries, monkeypatch):
    monkeypatch.setattr(gram_kernel, "BLOCK_ENTRIES", entries)
    rows = VARIANTS[variant]()
    g, n = written_out(rows), rows.count
    gram = FORMS[form](rows)
    rng = np.random.default_rng(5)
    sparse = np.zeros(n)
    sparse[[2, 30, 11]] = [0.5, -2.0, 1.0]
    for a in (sparse, rng.standard_normal(n), np.zeros(n)):
        norm = np.sqrt(max(a @ g @ a, 0.0))
        np.testing.assert_allclose(gram.times(a), g @ a, atol=1e-12)
        found = gram.evaluate(a)
        np.testing.assert_allclose(found.image, g @ a, atol=1e-12)
        assert found.norm == pytest.approx(norm, abs=1e-12)
        assert gram.norm(a) == pytest.approx(norm, abs=1e-12)
        assert rows.norm(a) == pytest.approx(norm, abs=1e-12)
    for j in (0, 7, 0, 36, 12, 3, 4, 7):
        np.testing.assert_allclose(gram.column(j), g[:, j], atol=1e-13)
    for chosen in (np.array([4]), np.array([9, 1, 30]), rng.permutation(n)[:12], np.arange(n)):
        np.testing.assert_allclose(gram.block(chosen), g[np.ix_(chosen, chosen)], atol=1e-13)
        c = rng.standard_normal(len(chosen))
        np.testing.assert_allclose(gram.combine(chosen, c), g[:, chosen] @ c, atol=1e-12)
    np.testing.assert_array_equal(np.diagonal(gram.block(np.arange(n))), 1.0)
    np.testing.assert_array_equal(gram.diagonal, 1.0)
    assert gram.count == n
    assert gram.row_direction(sparse) is None


def test_blocks_of_the_linear_forms_too(planted, signed):
    rows = planted(30, 4)
    z = signed(rows)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    chosen, c = np.array([3, 29, 0]), np.array([1.0, -2.0, 0.25])
    for gram in (FactoredGram(rows), DenseGram.of_rows(rows)):
        np.testing.assert_allclose(gram.block(chosen), z[chosen] @ z[chosen].T, atol=1e-13)
        np.testing.assert_allclose(gram.combine(chosen, c), z @ (c @ z[chosen]), atol=1e-13)
        assert gram.holds(3)
        assert not gram.prepare(chosen)


def test_what_is_returned_may_be_written_to():
    rows = rows_of()
    for gram in (form(rows) for form in FORMS.values()):
        before = gram.column(4).copy()
        gram.column(4)[:] = 7.0
        gram.block(np.arange(4))[:] = 7.0
        np.testing.assert_array_equal(gram.column(4), before)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.integers(0, 11), st.lists(st.integers(0, 11), unique=True, max_size=6)), max_size=30),
    st.integers(2, 6),
)
def test_the_cache_forgets_what_was_used_longest_ago(requests, slots):
    rows = rows_of(12, 2)
    g = written_out(rows)
    gram = LazyGram(rows, slots * 8 * 12)
    model: OrderedDict[int, None] = OrderedDict()
    hits = computed = 0
    for request in requests:
        wanted = [request] if isinstance(request, int) else request
        if isinstance(request, int):
            np.testing.assert_allclose(gram.column(request), g[:, request], atol=1e-13)
        else:
            ones = np.ones(len(wanted))
            image = gram.combine(np.array(wanted, dtype=np.int64), ones)
            np.testing.assert_allclose(image, g[:, wanted].sum(axis=1), atol=1e-12)
        if len(wanted) > slots:
            computed += len(wanted)
            continue
        present = [j for j in wanted if j in model]
        hits += len(present)
        computed += len(wanted) - len(present)
        for j in present:
            model.move_to_end(j)
        for j in wanted:
            if j not in model:
                if len(model) == slots:
                    model.popitem(last=False)
                model[j] = None
        assert gram.cached_bytes <= slots * 8 * 12
        assert gram.cached_bytes == len(model) * 8 * 12
    assert (gram.cache_hits, gram.columns_computed) == (hits, computed)


def test_an_interrupt_leaves_no_wrong_column():
    class Interrupted(PlainGaussian):
        def values(self, left, right):
            if self.shapes:
                raise KeyboardInterrupt
            return super().values(left, right)

    shapes: list = []
    rows = rows_of(kernel=Interrupted(shapes=shapes))
    gram = LazyGram(rows, 3 * 8 * 37)
    shapes.append("now")
    for wanted in ([0, 1, 2], [3]):
        with pytest.raises(KeyboardInterrupt):
            gram.combine(np.array(wanted), np.ones(len(wanted)))
    shapes.clear()
    g = written_out(rows_of())
    for j in (3, 0, 1, 2, 3):
        np.testing.assert_allclose(gram.column(j), g[:, j], atol=1e-13)
        shapes.clear()


def test_products_and_columns_are_counted():
    rows = rows_of(40, 2)
    gram = LazyGram(rows, 10 * 8 * 40)
    gram.column(3)
    gram.column(3)
    assert (gram.products, gram.columns_computed, gram.cache_hits) == (0.05, 1, 1)
    p = np.zeros(40)
    p[[3, 5, 6]] = 1 / 3
    gram.times(p)
    assert (gram.products, gram.columns_computed, gram.cache_hits) == (1.05, 3, 2)
    assert gram.holds(5)
    assert not gram.holds(7)
    assert not gram.prepare(np.arange(6))
    assert gram.prepare(np.array([7, 5]))
    assert gram.holds(7)
    gram.times(np.ones(40))  # more than fit: the cache stays as it is
    assert gram.cached_bytes == 4 * 8 * 40


def test_only_the_columns_of_the_support_are_computed():
    shapes: list = []
    rows = rows_of(50, 2, kernel=PlainGaussian(shapes=shapes))
    p = np.zeros(50)
    p[[1, 2, 3]] = 1.0
    LazyGram(rows, 1 << 20).times(p)
    assert sum(m * k for m, k in shapes) == 3 * 50
    shapes.clear()
    LazyGram(rows, 0).times(p)  # two columns are the least, so these three are not kept
    assert sum(m * k for m, k in shapes) == 3 * 3 + 3 * 47


def test_nothing_of_size_n_squared():
    n = 3000
    shapes: list = []

    class Cheap(PlainGaussian):
        def values(self, left, right):
            shapes.append(len(left) * len(right))
            return np.exp(-np.abs(left - right[:, 0]))

    rows = rows_of(n, 1, kernel=Cheap())
    gram = LazyGram(rows, 100 * 8 * n)
    rng = np.random.default_rng(0)
    tracemalloc.start()
    try:
        gram.times(rng.random(n))
        gram.norm(rng.random(n))
        gram.combine(np.arange(60), np.ones(60))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert max(shapes) <= max(gram_kernel.BLOCK_ENTRIES, n)
    assert peak < 8 * n * n / 8  # 9 MB, of 72 for the matrix
    half = n * n / 2
    assert sum(shapes) < 2 * half * 1.1 + 60 * n  # symmetry: each product takes half of the values


def test_equal_points_cancel_exactly():
    points = np.array([[0.1, 0.2], [0.1, 0.2], [1.0, -0.0], [1.0, 0.0], [3.0, 3.0]])
    labels = np.array([1, -1, 1, -1, 1], dtype=np.int8)
    for bias in (0.0, 1.0):
        for rows in (KernelRows(points, labels, PlainGaussian(), bias), KernelRows(points, labels, Quadratic(), bias)):
            for gram in (LazyGram(rows, 1 << 20), DenseGram.of_kernel(rows)):
                p = np.array([0.3, 0.3, 0.2, 0.2, 0.0])
                assert rows.norm(p) == 0.0
                assert gram.evaluate(p).norm == 0.0
                assert gram.norm_from(p, gram.times(p)) == 0.0


def test_a_norm_that_is_only_rounding():
    """Three points of rank 2, and two points 1e-9 apart: 0 where that is possible, else what rounding may be."""
    labels = np.array([1, -1, 1], dtype=np.int8)
    line = KernelRows(np.array([[1.0], [2.0], [3.0]]), labels, Quadratic(coef0=1.0))
    z = labels[:, None] * np.array([[1.0, 2.0**0.5 * x, x * x] for x in (1.0, 2.0, 3.0)])
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    for a in np.eye(3):
        assert line.norm(a) == pytest.approx(1.0)
    assert line.norm(np.array([1.0, 1.0, 1.0])) == pytest.approx(np.linalg.norm(z.sum(axis=0)))
    flat = KernelRows(np.array([[1.0], [2.0], [4.0]]), np.array([1, -1, 1], dtype=np.int8), Flat(coef0=0.0))
    assert flat.norm(np.array([0.25, 0.5, 0.25])) == 0.0
    near = KernelRows(np.array([[0.0], [1e-9]]), np.array([1, -1], dtype=np.int8), PlainGaussian())
    assert 1e-9 <= near.norm(np.array([0.5, 0.5])) < 1e-7
    assert near.norm(np.array([0.5, 0.4])) == pytest.approx(0.1, rel=1e-6)


def test_rows_without_a_normalised_form():
    zero = KernelRows(np.zeros((3, 2)), np.array([1, -1, 1], dtype=np.int8), Quadratic(coef0=0.0))
    with pytest.raises(KernelError, match="row 1, 2, 3") as caught:
        LazyGram(zero, 1000).column(0)
    assert caught.value.code == "KERNEL-ZERO"
    large = KernelRows(np.full((2, 2), 1e200), np.array([1, -1], dtype=np.int8), Quadratic())
    with pytest.raises(KernelError) as caught:
        DenseGram.of_kernel(large)
    assert caught.value.code == "KERNEL-OVERFLOW"


def test_the_lazy_form_has_no_features():
    gram = LazyGram(rows_of(), 1 << 16)
    for ask in (
        lambda: gram.features(np.array([0])),
        lambda: gram.image_of(np.ones(3)),
        lambda: gram.feature_dimension,
    ):
        with pytest.raises(KernelError, match="block-principal-pivoting") as caught:
            ask()
        assert caught.value.code == "KERNEL-NO-FEATURES"


# --- the support's block ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 127, 128, 129, 300])
def test_systems_with_the_block(size):
    rng = np.random.default_rng(size)
    z = rng.standard_normal((size, size + 30))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    a, right, x = z @ z.T, rng.standard_normal(size), rng.standard_normal(size)
    block = SupportBlock(a.copy())
    np.testing.assert_allclose(block.times(x), a @ x, atol=1e-12)
    for shift in (0.0, 0.3, 0.01):
        assert block.factor(shift, 1.0)
        assert block.shift == shift
        np.testing.assert_allclose(block.solve(right), np.linalg.solve(a + shift * np.eye(size), right), rtol=1e-7)
        np.testing.assert_allclose(block.times(x), a @ x, atol=1e-12)


def test_a_singular_block_is_shifted_and_the_shift_is_told():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((200, 5))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    a = z @ z.T
    block = SupportBlock(a.copy())
    assert block.factor()
    assert 0.0 < block.shift < 1e-9
    right = a @ rng.random(200)
    np.testing.assert_allclose(a @ block.solve(right), right, atol=1e-6)
    indefinite = SupportBlock(np.array([[1.0, 3.0], [3.0, 1.0]]))
    assert not indefinite.factor(largest=1e-2)


# --- which form, and what it takes ----------------------------------------------------------------------------

GB = 10**9


@pytest.mark.parametrize(
    ("n", "available", "options", "form"),
    [
        (5_000, 16 * GB, {}, "lazy"),
        (5_000, 16 * GB, {"products": True}, "dense"),
        (5_000, 16 * GB, {"form": "dense"}, "dense"),
        (50_000, 16 * GB, {"products": True}, "lazy"),
        (50_000, 64 * GB, {"products": True}, "dense"),
        (50_000, 64 * GB, {"products": True, "limit": 2 * GB}, "lazy"),
        (50_000, 16 * GB, {}, "lazy"),
        (300, 10**8, {"products": True}, "dense"),
    ],
)
def test_form_by_memory(n, available, options, form):
    found = choose_form(n, 10, available, **options)
    assert found.form == form
    assert str(n) in found.reason
    assert form in found.reason
    assert found.memory <= options.get("limit", available / 2)
    if form == "lazy":
        assert found.cache + 8 * found.support**2 <= found.memory
        assert "limit" in options or found.memory <= 2 * GB
        assert found.support >= 200
        assert found.cache >= 2 * 8 * n
    else:
        assert found.memory >= 8 * n * n


def test_beyond_the_limit_it_refuses_and_says_what_to_do():
    with pytest.raises(KernelError, match="120000 rows takes 115 GB") as caught:
        choose_form(120_000, 10, 16 * GB, form="dense")
    assert caught.value.code == "KERNEL-MEMORY"
    assert "lazy form" in caught.value.advice
    with pytest.raises(KernelError, match="2000000 x 10") as caught:
        choose_form(2_000_000, 10, GB)
    assert caught.value.code == "KERNEL-MEMORY"
    assert "linear kernel" in caught.value.advice
    with pytest.raises(KernelError):
        choose_form(50_000, 10, 64 * GB, limit=10**6)
    with pytest.raises(ConfigError, match="auto, dense or lazy") as config:
        choose_form(100, 1, GB, form="sparse")
    assert config.value.code == "CONFIG-GRAM-FORM"


def test_forms_are_made():
    rows = rows_of()
    assert isinstance(choose_form(37, 3, GB).make(rows), LazyGram)
    dense = choose_form(37, 3, GB, form="dense").make(rows)
    assert isinstance(dense, DenseGram)
    np.testing.assert_allclose(dense.matrix, written_out(rows), atol=1e-14)


def test_dispatch_says_why():
    choice, form = choose_for_kernel(5_000, 10, 16 * GB)
    assert (choice.algorithm, choice.form, choice.then) == (
        "block-principal-pivoting",
        "lazy",
        "smoothed-kernel-perceptron",
    )
    assert form.reason in choice.reason
    assert all(seconds > 0 for seconds in choice.seconds.values())
    assert choose_for_kernel(5_000, 10, 16 * GB, form="dense")[0].form == "dense"


def test_available_memory(tmp_path):
    proc, group = tmp_path / "proc", tmp_path / "sys/fs/cgroup"
    proc.mkdir()
    group.mkdir(parents=True)
    (proc / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:    4000 kB\n")
    assert available_memory(tmp_path) == 4000 * 1024
    (group / "memory.max").write_text("max\n")
    (group / "memory.current").write_text("1000\n")
    assert available_memory(tmp_path) == 4000 * 1024
    (group / "memory.max").write_text("50000\n")
    assert available_memory(tmp_path) == 49000
    (group / "memory.current").write_text("60000\n")
    assert available_memory(tmp_path) == 0
    nothing = available_memory(tmp_path / "no")
    assert nothing is None or nothing > 0


def test_unknown_memory_is_no_reason_to_refuse(monkeypatch):
    monkeypatch.setattr("sepcert.engine.gram_form.available_memory", lambda: None)
    assert choose_form(50_000, 10).form == "lazy"
    assert "no limit known" in choose_form(100, 10, form="dense").reason


def test_linear_rows_are_those_of_the_factored_form(planted):
    class Linear(PlainGaussian):
        def values(self, left, right):
            return left @ right.T

        def diagonal(self, points):
            return (points * points).sum(axis=1)

    rows = planted(25, 3, bias=2.0)
    kernel_rows = KernelRows(rows.points, rows.labels, Linear(), 2.0)
    p = np.random.default_rng(0).random(25)
    factored = FactoredGram(FloatRows(rows.points, rows.labels, 2.0))
    np.testing.assert_allclose(LazyGram(kernel_rows, 0).times(p), factored.times(p), atol=1e-13)
    np.testing.assert_allclose(kernel_rows.lengths, factored.norms, rtol=1e-14)
