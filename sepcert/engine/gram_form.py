"""Dense or lazy: the form of a kernel's Gram operator, chosen by the memory there is, and told before it is taken."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from math import isqrt
from pathlib import Path

from sepcert.engine.gram import DenseGram, GramOperator
from sepcert.engine.gram_kernel import BLOCK_ENTRIES, KernelRows
from sepcert.engine.gram_lazy import LazyGram
from sepcert.errors import ConfigError, KernelError, register

MEMORY = register("KERNEL-MEMORY", "A run with this kernel needs more memory than there is or than is allowed.")
FORM = register("CONFIG-GRAM-FORM", "The form of the Gram operator is auto, dense or lazy.")

SHARE = 0.5
"""Part of the available memory that a run takes at most."""
LAZY_BYTES = 1_600_000_000
"""What the lazy form takes at most unless a limit allows more."""
VECTORS = 40
"""Vectors of length n that an algorithm and its candidates hold."""
TEMPORARY = 10 * 8 * BLOCK_ENTRIES
"""Temporary arrays while a block of kernel values is computed."""
LEAST_COLUMNS = 32
LEAST_SUPPORT = 256
"""Without so many columns in the cache, and rows in the support's block, a run makes no sense."""


@dataclass(frozen=True)
class GramForm:
    """The form of the Gram operator, and what it takes.

    Attributes
    ----------
    form : str
        ``"dense"`` or ``"lazy"``.
    reason : str
        One line for the log, with the memory a run needs.
    memory : int
        Bytes that a run takes at its peak, beyond the data.
    cache : int
        Bytes for columns; 0 for the dense form.
    support : int
        Rows whose block fits as well: the support limit of block principal pivoting.
    """

    form: str
    reason: str
    memory: int
    cache: int
    support: int

    def make(self, kernel_rows: KernelRows) -> GramOperator:
        """Return the operator."""
        if self.form == "dense":
            return DenseGram.of_kernel(kernel_rows)
        return LazyGram(kernel_rows, self.cache)


def available_memory(root: Path = Path("/")) -> int | None:
    """Return the bytes of memory that can be taken without swapping, or None where the system does not tell.

    MemAvailable of /proc/meminfo and, where there is one, what the control group has left; else free pages.
    """
    found: list[int] = []
    with suppress(OSError, ValueError, IndexError):
        for line in (root / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                found.append(1024 * int(line.split()[1]))
    group = root / "sys/fs/cgroup"
    with suppress(OSError, ValueError):  # there is no group, or no limit: "max"
        found.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    if not found:
        try:
            found.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        except (OSError, ValueError, AttributeError):
            return None
    return max(0, min(found))


def choose_form(
    n: int,
    d: int,
    available: int | None = None,
    *,
    limit: int | None = None,
    form: str = "auto",
    products: bool = False,
) -> GramForm:
    """Choose the form of G for n rows.

    Parameters
    ----------
    n, d : int
        Rows and columns of the data.
    available : int, optional
        Bytes of memory available; asked of the system when not given.
    limit : int, optional
        Bytes that a run may take; half of the available memory when not given (at most 1.6 GB for the lazy form).
    form : str
        ``"auto"``, or ``"dense"`` or ``"lazy"`` where the user wants that one.
    products : bool
        Whether the algorithm multiplies with all of G in every iteration (the smoothed ones), so that a dense G is
        worth its memory; the others ask for columns of the support only.

    Raises
    ------
    KernelError
        KERNEL-MEMORY: it does not fit; the message says what would.
    ConfigError
        CONFIG-GRAM-FORM: unknown form.
    """
    if form not in ("auto", "dense", "lazy"):
        raise ConfigError(FORM, f"there is no form {form!r} of the Gram operator", advice="auto, dense or lazy")
    there = available_memory() if available is None else available
    allowed = limit if limit is not None else None if there is None else int(SHARE * there)
    if there is not None and allowed is not None:
        allowed = min(allowed, there)
    where = f"{size_text(allowed)} allowed" if allowed is not None else "no limit known"
    base = 8 * VECTORS * n + TEMPORARY
    matrix = 8 * n * n
    if form == "dense" or (form == "auto" and products and (allowed is None or base + matrix <= allowed)):
        return _dense(n, base + matrix, allowed, where)
    budget = LAZY_BYTES if allowed is None or limit is None else allowed
    budget = budget if allowed is None else min(budget, allowed)
    least = base + 8 * LEAST_COLUMNS * n + 8 * min(n, LEAST_SUPPORT) ** 2
    if budget < least:
        raise KernelError(
            MEMORY,
            f"{n} x {d} data need at least {size_text(least)} beside the data, and {size_text(budget)} may be taken",
            advice="allow more memory, use fewer rows, or use the linear kernel, which needs no Gram matrix",
        )
    room = budget - base
    cache = min(matrix, max(8 * LEAST_COLUMNS * n, room // 3))
    support = min(n, isqrt((room - cache) // 8))
    memory = base + cache + 8 * support**2
    reason = (
        f"lazy Gram operator for {n} rows: columns on demand, {size_text(cache)} of them kept, supports of up to "
        f"{support} rows; at most {size_text(memory)} of {where}; the whole matrix would take {size_text(matrix)}"
    )
    return GramForm("lazy", reason, memory, cache, support)


def _dense(n: int, memory: int, allowed: int | None, where: str) -> GramForm:
    if allowed is not None and memory > allowed:
        raise KernelError(
            MEMORY,
            f"the Gram matrix of {n} rows takes {size_text(memory)}, and {size_text(allowed)} may be taken",
            advice="use the lazy form with block-principal-pivoting, allow more memory, or use fewer rows",
        )
    support = n if allowed is None else min(n, isqrt((allowed - memory) // 8))
    reason = f"dense Gram matrix for {n} rows: {size_text(memory)} of {where}"
    return GramForm("dense", reason, memory, 0, max(support, 1))


def size_text(size: int) -> str:
    """Return a number of bytes as a person reads it."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size / 1e3:.3g} kB"
