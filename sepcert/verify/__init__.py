"""The trusted base: what a verdict rests on.  It imports neither the engine nor the exact stage."""

from sepcert.verify.api import verify
from sepcert.verify.report import Check, Report

__all__ = ["Check", "Report", "verify"]
