"""Kernels, one file each, and the registry of those that are built."""

from __future__ import annotations

import difflib

from sepcert.errors import KernelError, register
from sepcert.kernels.linear import LinearKernel

UNKNOWN = register("KERNEL-UNKNOWN", "The kernel is not one of those that are built.")
PARAMETER = register("KERNEL-PARAMETER", "The kernel does not take this parameter.")

KERNELS: dict[str, type[LinearKernel]] = {LinearKernel.name: LinearKernel}


def make_kernel(name: str, parameters: dict[str, object] | None = None) -> LinearKernel:
    """Return the kernel of that name.

    Parameters
    ----------
    name : str
        A key of :data:`KERNELS`.
    parameters : dict, optional
        The kernel's parameters (the linear kernel has none).

    Raises
    ------
    KernelError
        Unknown name (the message lists those that are built), or a parameter that the kernel does not take.
    """
    if name not in KERNELS:
        near = difflib.get_close_matches(name, KERNELS, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise KernelError(
            UNKNOWN, f"kernel {name!r} is not built", advice=f"{hint}built kernels: {', '.join(sorted(KERNELS))}"
        )
    for parameter in parameters or {}:
        raise KernelError(PARAMETER, f"the {name} kernel takes no parameter {parameter!r}", advice="remove it")
    return KERNELS[name]()
