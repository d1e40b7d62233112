"""Kernels, one file each, and the registry."""

from sepcert.kernels.base import Kernel, RadialKernel, require_positive
from sepcert.kernels.combined import CombinedKernel, ProductKernel, SumKernel
from sepcert.kernels.gaussian import GaussianKernel
from sepcert.kernels.laplacian import LaplacianKernel
from sepcert.kernels.linear import LinearKernel
from sepcert.kernels.matern import MaternKernel
from sepcert.kernels.polynomial import PolynomialKernel
from sepcert.kernels.precomputed import PrecomputedKernel
from sepcert.kernels.registry import (
    DEFINED,
    KERNELS,
    accepted_parameters,
    check_parameters,
    define_kernel,
    make_kernel,
    parameter_names,
    rebuild_kernel,
    require_built,
)

__all__ = [
    "DEFINED",
    "KERNELS",
    "CombinedKernel",
    "GaussianKernel",
    "Kernel",
    "LaplacianKernel",
    "LinearKernel",
    "MaternKernel",
    "PolynomialKernel",
    "PrecomputedKernel",
    "ProductKernel",
    "RadialKernel",
    "SumKernel",
    "accepted_parameters",
    "check_parameters",
    "define_kernel",
    "make_kernel",
    "parameter_names",
    "rebuild_kernel",
    "require_built",
    "require_positive",
]
