"""``sepcert verify``: check a certificate without the program that made it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from sepcert.cli import options
from sepcert.cli.guard import complain, deliver, printable
from sepcert.cli.wording import count
from sepcert.config import OutputFormat
from sepcert.status import CheckOutcome, ExitCode

if TYPE_CHECKING:
    from sepcert.verify.report import Report

_STATUS = {
    CheckOutcome.VERIFIED: ExitCode.HOLDS,
    CheckOutcome.REJECTED: ExitCode.FAILS,
    CheckOutcome.NOT_CHECKABLE: ExitCode.COULD_NOT_RUN,
}


def verify(
    certificate: Annotated[str, typer.Argument(metavar="CERT", help="The certificate (JSON).", show_default=False)],
    data: Annotated[
        str | None,
        typer.Argument(metavar="DATA", help="The data file. Default: the certificate's path.", show_default=False),
    ] = None,
    output_format: options.Format = None,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> Callable[[], int]:
    """Verify a certificate against the data, independently of how it was found.

    Exit status: 0 verified, 1 rejected, 2 it could not be checked.
    """

    def run() -> int:
        from sepcert.verify.certificate import verify_file

        report = verify_file(certificate, data)
        if output_format is OutputFormat.JSON:
            deliver(_json(report, certificate, data))
        elif report.outcome is CheckOutcome.NOT_CHECKABLE:
            complain(_text(report, certificate, quiet=quiet).rstrip())
        else:
            deliver(_text(report, certificate, quiet=quiet))
        return _STATUS[report.outcome]

    return run


def _text(report: Report, certificate: str, *, quiet: bool) -> str:
    failed = report.failed
    reason = "" if failed is None else f": {failed.name} is {failed.value}; required: {failed.required}"
    first = {
        CheckOutcome.VERIFIED: f"Verified ({count(len(report.checks), 'check')}): {certificate}",
        CheckOutcome.REJECTED: f"Rejected: {certificate}{reason}",
        CheckOutcome.NOT_CHECKABLE: f"sepcert: {certificate} could not be checked{reason}",
    }[report.outcome]
    shown = () if quiet else report.checks
    width = max((len(check.name) for check in shown), default=0)
    lines = [
        f"  {'ok' if check.passed else 'FAILED':<6} {check.name:<{width}}  {check.value}"
        + ("" if check.passed else f" (required: {check.required})")
        + (f", slack {check.slack}" if check.slack else "")
        for check in shown
    ]
    return printable("\n".join([first, *lines])) + "\n"


def _json(report: Report, certificate: str, data: str | None) -> str:
    import json

    checks = [
        {"name": c.name, "value": str(c.value), "required": str(c.required), "slack": str(c.slack), "passed": c.passed}
        for c in report.checks
    ]
    value = {
        "schema": "sepcert-verification/1",
        "outcome": str(report.outcome),
        "verified": report.verified,
        "certificate": certificate,
        "data": data,
        "checks": checks,
    }
    return json.dumps(value, allow_nan=False) + "\n"
