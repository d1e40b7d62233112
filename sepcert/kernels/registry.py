"""Which kernels there are, and how they are made from specifications and from certificates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepcert.errors import KernelError, register
from sepcert.kernels.base import Kernel
from sepcert.kernels.combined import CombinedKernel, ProductKernel, SumKernel
from sepcert.kernels.gaussian import GaussianKernel
from sepcert.kernels.laplacian import LaplacianKernel
from sepcert.kernels.linear import LinearKernel
from sepcert.kernels.matern import MaternKernel
from sepcert.kernels.parameters import bad_value, nearest, parse_exact
from sepcert.kernels.polynomial import PolynomialKernel
from sepcert.kernels.precomputed import INDEFINITE, MATRIX, PrecomputedKernel

UNKNOWN = register("KERNEL-UNKNOWN", "The kernel is not one of those that are built.")
PARAMETER = register("KERNEL-PARAMETER", "The kernel does not take this parameter.")
MISSING_PARAMETER = register("KERNEL-MISSING", "The kernel lacks a parameter that it needs.")

DEFINED: dict[str, type[Kernel]] = {
    entry.name: entry
    for entry in (
        LinearKernel,
        PolynomialKernel,
        GaussianKernel,
        LaplacianKernel,
        MaternKernel,
        PrecomputedKernel,
        SumKernel,
        ProductKernel,
    )
}
"""Every kernel that there is."""

_CERTIFIED = ("linear", "gaussian", "laplacian", "matern", "sum", "product")
KERNELS: dict[str, type[Kernel]] = {name: DEFINED[name] for name in _CERTIFIED}
"""Those about which statements can be certified."""

_INDEFINITE = dict.fromkeys(("sigmoid", "tanh"), "tanh(gamma x'z + coef0) is not positive semidefinite")
_OTHER_NAMES = {"rbf": "gaussian", "poly": "polynomial", "laplace": "laplacian", "squared-exponential": "gaussian"}
_DEEPEST = 8
_MEMBER = re.compile(r"of\.([1-9][0-9]{0,3})\.(.+)")


def accepted_parameters(name: str) -> list[str]:
    """Return the names of the parameters of a kernel of :data:`DEFINED`, in the order of its fields."""
    owner: Any = DEFINED[name]
    return [entry.name for entry in fields(owner) if entry.init]


def parameter_names() -> list[str]:
    """Return the names of all parameters that are single values, over all kernels."""
    found = {name for kernel in DEFINED for name in accepted_parameters(kernel)}
    return sorted(found - {"of"})


def make_kernel(
    name: str, parameters: Mapping[str, object] | None = None, points: NDArray[np.float64] | None = None
) -> Kernel:
    """Return the kernel of that name, about which statements can be certified.

    Parameters
    ----------
    name : str
        A key of :data:`KERNELS`.
    parameters : mapping, optional
        The kernel's parameters; texts are exact decimals (``0.5``) or ratios (``1/3``), floats the doubles themselves.
        For sums and products ``of`` is a list of mappings with a name and parameters.
    points : ndarray of float64, shape (n, d), optional
        The data, for parameters such as ``gamma: scale``.

    Raises
    ------
    KernelError
        An unknown name (the message lists those that are built), a parameter that the kernel does not take, that is
        missing, or that has a value which it cannot have.
    """
    require_built(name)
    kernel = define_kernel(name, parameters, points)
    if not (kernel.strictly_positive_definite or isinstance(kernel, LinearKernel)):
        raise KernelError(
            UNKNOWN,
            f"this {name} is not strictly positive definite, and statements about such kernels are not built",
            advice="let a gaussian, laplacian or matern kernel be a term of the sum, or every factor of the product",
        )
    return kernel


def require_built(name: str) -> None:
    """Refuse the name of a kernel that is not in :data:`KERNELS`."""
    if name in _INDEFINITE:
        raise KernelError(
            INDEFINITE,
            f"the kernel {name!r} cannot be used: {_INDEFINITE[name]}, so that it has no feature space and no margin",
            advice=f"use one of {', '.join(sorted(KERNELS))}",
        )
    if name not in KERNELS:
        near = _OTHER_NAMES.get(name)
        hint = f"did you mean {near!r}? " if near in KERNELS else ""
        if not hint and nearest(name, KERNELS).startswith("did you mean"):
            hint = f"{nearest(name, KERNELS)} "
        raise KernelError(
            UNKNOWN, f"kernel {name!r} is not built", advice=f"{hint}built kernels: {', '.join(sorted(KERNELS))}"
        )


def define_kernel(
    name: str, parameters: Mapping[str, object] | None = None, points: NDArray[np.float64] | None = None
) -> Kernel:
    """Return a kernel of :data:`DEFINED`; otherwise as :func:`make_kernel`."""
    if name not in DEFINED:
        require_built(name)
    return _defined(name, dict(parameters or {}), points, 0)


def check_parameters(name: str, parameters: Mapping[str, object]) -> None:
    """Refuse what :func:`make_kernel` would refuse for any data, without data and without reading files."""
    require_built(name)
    _defined(name, dict(parameters), None, 0, dry=True)


def _defined(
    name: str, given: dict[str, object], points: NDArray[np.float64] | None, depth: int, dry: bool = False
) -> Kernel:
    owner: Any = DEFINED[name]
    accepted = {entry.name: entry for entry in fields(owner) if entry.init}
    for parameter in given:
        if parameter not in accepted:
            advice = nearest(parameter, accepted)
            raise KernelError(PARAMETER, f"the {name} kernel takes no parameter {parameter!r}", advice=advice)
    for parameter, entry in accepted.items():
        if given.get(parameter) is None:
            given.pop(parameter, None)
            if entry.default is MISSING:
                words = [*owner.heuristics.get(parameter, ())]
                choice = f" (a number, {' or '.join(words)})" if words else ""
                raise KernelError(
                    MISSING_PARAMETER, f"the {name} kernel needs {parameter}{choice}", advice=f"add {parameter}"
                )
    for parameter, words in owner.heuristics.items():
        word = given.get(parameter)
        if isinstance(word, str) and word in words:
            if points is None and not dry:
                raise bad_value(name, parameter, word, "needs the data", "give a number")
            given[parameter] = words[word](points) if points is not None else 1
        elif isinstance(word, str) and word.strip()[:1].isalpha():
            raise bad_value(name, parameter, word, f"is neither a number nor one of {', '.join(words)}")
    if issubclass(owner, CombinedKernel):
        given["of"] = _members(name, given["of"], points, depth, dry)
    elif owner is PrecomputedKernel and dry:
        given["matrix"] = np.ones((1, 1))
    made: Kernel = owner(**given)
    return made


def _members(name: str, given: object, points: NDArray[np.float64] | None, depth: int, dry: bool) -> tuple[object, ...]:
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence):
        raise bad_value(name, "of", given, "is not a list of kernels", "write of: [{name: linear}, {name: ...}]")
    if depth >= _DEEPEST:
        raise bad_value(name, "of", "nested kernels", f"is deeper than {_DEEPEST}")
    members: list[object] = []
    for item in given:
        if isinstance(item, Kernel):
            members.append(item)
            continue
        specification = {"name": item} if isinstance(item, str) else item
        if not isinstance(specification, Mapping) or not isinstance(specification.get("name"), str):
            raise bad_value(name, "of", item, "is not a kernel", "write {name: gaussian, gamma: 0.5}")
        kind = str(specification["name"])
        if kind not in DEFINED:
            require_built(kind)
        rest = {str(key): value for key, value in specification.items() if key != "name"}
        members.append(_defined(kind, rest, points, depth + 1, dry))
    return tuple(members)


def rebuild_kernel(name: str, parameters: Mapping[str, str], matrix: object = None) -> Kernel:
    """Return the kernel that has exactly this name and these :meth:`~sepcert.kernels.base.Kernel.parameters`.

    Parameters
    ----------
    name : str
        A key of :data:`DEFINED`.
    parameters : mapping of str to str
        As a certificate holds them: every parameter, as an exact number in canonical form.
    matrix : str or ndarray, optional
        Path or array, for a precomputed kernel; its fingerprint must agree.

    Raises
    ------
    KernelError
        Anything else than what ``parameters()`` of such a kernel gives.
    """
    made = _rebuilt(name, dict(parameters), matrix, 0)
    if made.parameters() != dict(parameters):
        raise bad_value(name, "parameters", sorted(parameters), "are not in canonical form")
    return made


def _rebuilt(name: str, given: dict[str, str], matrix: object, depth: int) -> Kernel:
    if name not in DEFINED:
        require_built(name)
    owner: Any = DEFINED[name]
    if issubclass(owner, CombinedKernel):
        made: Kernel = owner(of=_rebuilt_members(name, given, depth))
        return made
    if owner is PrecomputedKernel:
        return _rebuilt_matrix(given, matrix)
    known = accepted_parameters(name)
    for parameter in given:
        if parameter not in known:
            raise KernelError(PARAMETER, f"the {name} kernel takes no parameter {parameter!r}")
    for parameter in known:
        if parameter not in given:
            raise KernelError(MISSING_PARAMETER, f"the {name} kernel needs {parameter}")
    exact: dict[str, Fraction] = {key: parse_exact(name, key, text) for key, text in given.items()}
    rebuilt: Kernel = owner(**exact)
    return rebuilt


def _rebuilt_members(name: str, given: dict[str, str], depth: int) -> tuple[Kernel, ...]:
    if depth >= _DEEPEST:
        raise bad_value(name, "of", "nested kernels", f"is deeper than {_DEEPEST}")
    parts: dict[int, dict[str, str]] = {}
    for key, text in given.items():
        match = _MEMBER.fullmatch(key)
        if match is None:
            raise KernelError(PARAMETER, f"the {name} kernel takes no parameter {key!r}")
        parts.setdefault(int(match[1]), {})[match[2]] = text
    if sorted(parts) != list(range(1, len(parts) + 1)) or any("name" not in part for part in parts.values()):
        raise KernelError(MISSING_PARAMETER, f"the {name} kernel lacks a member")
    return tuple(_rebuilt(parts[i].pop("name"), parts[i], None, depth + 1) for i in sorted(parts))


def _rebuilt_matrix(given: dict[str, str], matrix: object) -> Kernel:
    if matrix is None:
        raise KernelError(MATRIX, "the matrix of the precomputed kernel is not given", advice="name its NPY file")
    made = PrecomputedKernel(matrix)  # type: ignore[arg-type]
    if given != made.parameters():
        raise KernelError(MATRIX, "the matrix is not the one that the certificate is about", advice="find the original")
    return made
