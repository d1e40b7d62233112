"""The linear kernel K(x, z) = x'z; its feature map is the identity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class LinearKernel:
    """K(x, z) = x'z, without parameters.

    A statement about it is a statement about hyperplanes: with a bias b0 the raw rows are
    z_i = y_i (b0, x_i), and K_ii = |x_i|**2 + b0**2.
    """

    name: ClassVar[str] = "linear"

    def parameters(self) -> dict[str, str]:
        """Return every parameter as an exact rational string; the linear kernel has none."""
        return {}
