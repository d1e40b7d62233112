"""Certified separability: does some linear classifier separate the classes, with a proof either way."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sepcert._version import __version__

if TYPE_CHECKING:
    from sepcert.certificate.model import Certificate
    from sepcert.certify import check
    from sepcert.errors import CertificateError, ConfigError, DataError, KernelError, SepcertError
    from sepcert.problem import Problem
    from sepcert.result import Result
    from sepcert.status import CheckOutcome, Claim, Numbers, Separation, Termination, Verdict
    from sepcert.verify.api import verify
    from sepcert.workflows.generate import generate
    from sepcert.workflows.margin import margin
    from sepcert.workflows.margin_result import MarginResult
    from sepcert.workflows.race import race

_HOMES = {
    "check": "sepcert.certify",
    "verify": "sepcert.verify.api",
    "margin": "sepcert.workflows.margin",
    "MarginResult": "sepcert.workflows.margin_result",
    "race": "sepcert.workflows.race",
    "generate": "sepcert.workflows.generate",
    "Problem": "sepcert.problem",
    "Result": "sepcert.result",
    "Certificate": "sepcert.certificate.model",
    **dict.fromkeys(["SepcertError", "DataError", "ConfigError", "KernelError", "CertificateError"], "sepcert.errors"),
    **dict.fromkeys(["Verdict", "Separation", "Claim", "CheckOutcome", "Termination", "Numbers"], "sepcert.status"),
}

__all__ = [
    "Certificate",
    "CertificateError",
    "CheckOutcome",
    "Claim",
    "ConfigError",
    "DataError",
    "KernelError",
    "MarginResult",
    "Numbers",
    "Problem",
    "Result",
    "Separation",
    "SepcertError",
    "Termination",
    "Verdict",
    "__version__",
    "check",
    "generate",
    "margin",
    "race",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Import public names on first use, so that ``import sepcert`` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'sepcert' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
