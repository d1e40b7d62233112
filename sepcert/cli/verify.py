"""``sepcert verify``: check a certificate without the program that made it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from sepcert.cli import options
from sepcert.cli.guard import complain, deliver, printable
from sepcert.cli.render_json import text
from sepcert.cli.wording import count
from sepcert.config import OutputFormat
from sepcert.status import CheckOutcome, Claim, ExitCode

if TYPE_CHECKING:
    from sepcert.verify.report import Check, Report

_LONGEST = 48

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
        from sepcert.certificate.codec import load
        from sepcert.verify.api import verify as verify_certificate

        filed = load(certificate)
        report = verify_certificate(filed, data)
        claims = filed.evidence.claims
        if output_format is OutputFormat.JSON:
            deliver(_json(report, claims, certificate, data))
        elif report.outcome is CheckOutcome.NOT_CHECKABLE:
            complain(_text(report, claims, certificate, quiet=quiet).rstrip())
        else:
            deliver(_text(report, claims, certificate, quiet=quiet))
        return _STATUS[report.outcome]

    return run


def _text(report: Report, claims: Sequence[Claim], certificate: str, *, quiet: bool) -> str:
    failed = report.failed
    reason = "" if failed is None else f": {failed.name} is {_short(failed.value)}, not {_short(failed.required)}"
    first = {
        CheckOutcome.VERIFIED: f"Verified ({count(len(report.checks), 'check')}): {certificate}",
        CheckOutcome.REJECTED: f"Rejected: {certificate}{reason}",
        CheckOutcome.NOT_CHECKABLE: f"sepcert: {certificate} could not be checked{reason}",
    }[report.outcome]
    lines = [first]
    if not quiet:
        if report.verified:
            lines += [f"  {claim}: {claim.sentence}" for claim in claims]
        lines += [f"  {_line(check)}" for check in report.checks]
    return printable("\n".join(lines)) + "\n"


def _line(check: Check) -> str:
    slack = f", slack {check.slack}" if check.slack else ""
    if check.passed:
        return f"ok      {check.name}: {_short(check.value)}{slack}"
    return f"FAILED  {check.name}: {_short(check.value)}, required {_short(check.required)}{slack}"


def _short(value: str) -> str:
    return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 3]}..."


def _json(report: Report, claims: Sequence[Claim], certificate: str, data: str | None) -> str:
    value = {
        "schema": "sepcert-verification/1",
        "outcome": str(report.outcome),
        "verified": report.verified,
        "certificate": certificate,
        "data": data,
        "claims": [str(claim) for claim in claims],
        "checks": [dataclasses.asdict(check) for check in report.checks],
    }
    return text(value) + "\n"
