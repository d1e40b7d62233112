"""The trusted base: what a verdict rests on.  It imports neither the engine nor the exact stage.

``sepcert.verify`` is the public function :func:`sepcert.verify.api.verify` and this package as well: as soon as
anything imports a module of the package, Python binds the name to the package, so the package can be called too.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from sepcert.verify.api import verify
from sepcert.verify.report import Check, Report

__all__ = ["Check", "Report", "verify"]


class _CallablePackage(ModuleType):
    """A package that passes calls on to its function of the same name."""

    def __call__(self, *arguments: Any, **named: Any) -> Report:
        return verify(*arguments, **named)


sys.modules[__name__].__class__ = _CallablePackage
