"""``sepcert verify``: check a certificate without the program that made it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from sepcert.cli import options
from sepcert.cli.guard import OutputError, complain, deliver, explain_failure, printable
from sepcert.cli.render_json import error_object, text
from sepcert.cli.wording import READINGS, count
from sepcert.config import OutputFormat, resolve_one
from sepcert.status import CheckOutcome, Claim, ExitCode, Numbers

if TYPE_CHECKING:
    from sepcert.certificate.filed import FiledCertificate
    from sepcert.verify.report import Check, Report

_LONGEST = 48

_STATUS = {
    CheckOutcome.VERIFIED: ExitCode.HOLDS,
    CheckOutcome.REJECTED: ExitCode.FAILS,
    CheckOutcome.NOT_CHECKABLE: ExitCode.COULD_NOT_RUN,
}

_ABOUT_DATA = ("data.", "number of features", "reading of the numbers")
_ABOUT_FORM = (
    *("claims", "margin", "kernel.", "parts", "rows of the ", "numbers of the ", "form of the ", "weights of the "),
    *("coefficients of w", "radii of ", "rows that the evidence names"),
)
_OF_THE_MATTER = ("margin at most 0",)


def verify(
    certificate: Annotated[str, typer.Argument(metavar="CERT", help="The certificate (JSON).", show_default=False)],
    data: Annotated[
        str | None,
        typer.Argument(metavar="DATA", help="The data file. Default: the certificate's path.", show_default=False),
    ] = None,
    labels: options.Labels = None,
    output_format: options.Format = None,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> Callable[[], int]:
    """Verify a certificate against the data, independently of how it was found.

    Exit status: 0 verified, 1 rejected, 2 it could not be checked.
    """

    def run() -> int:
        as_json = resolve_one("format", output_format, os.environ) is OutputFormat.JSON
        try:
            filed, report = _verified(certificate, data, labels)
        except (BrokenPipeError, OutputError):
            raise
        except Exception as error:
            if as_json:
                deliver(_json(None, (), certificate, data, error))
            explain_failure(error, debug=debug)
            return ExitCode.COULD_NOT_RUN
        if as_json:
            deliver(_json(report, filed.evidence.claims, certificate, data))
        elif report.outcome is CheckOutcome.NOT_CHECKABLE:
            complain(_text(report, filed, certificate, data, quiet=quiet).rstrip())
        else:
            deliver(_text(report, filed, certificate, data, quiet=quiet))
        return _STATUS[report.outcome]

    return run


def _verified(certificate: str, data: str | None, labels: str | None) -> tuple[FiledCertificate, Report]:
    from sepcert.certificate.codec import load
    from sepcert.verify.certificate import verify_file

    filed = load(certificate)
    return filed, verify_file(filed, data, labels, folder=os.path.dirname(certificate))


def _text(report: Report, filed: FiledCertificate, certificate: str, data: str | None, *, quiet: bool) -> str:
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
            lines += [f"  {claim}: {claim.sentence}" for claim in filed.evidence.claims]
        lines += [f"  {line}" for line in _list(report.checks, filed, data)]
    return "\n".join(printable(line.replace("\n", " ")) for line in lines) + "\n"


def _list(checks: Sequence[Check], filed: FiledCertificate, data: str | None) -> list[str]:
    """Return a line for the data, one for the form of the evidence, and one for every other check and every failure."""
    passed = [check for check in checks if check.passed]
    about_data = [check for check in passed if check.name.startswith(_ABOUT_DATA)]
    about_form = [
        check for check in passed if check.name.startswith(_ABOUT_FORM) and not check.name.startswith(_OF_THE_MATTER)
    ]
    lines = []
    if about_data:
        lines.append(f"ok      data as described ({count(len(about_data), 'check')}): {_described(filed, data)}")
    if about_form:
        lines.append(f"ok      evidence complete and well formed ({count(len(about_form), 'check')})")
    return lines + [_line(check) for check in checks if check not in about_data and check not in about_form]


def _described(filed: FiledCertificate, data: str | None) -> str:
    about = filed.data
    name = data or about.path or "arrays"
    reading = READINGS[Numbers(about.numbers)]
    return f"{name}, {count(about.rows, 'row')}, {count(len(about.features), 'feature')}, numbers as {reading}"


def _line(check: Check) -> str:
    slack = f", slack {check.slack}" if check.slack else ""
    if check.passed:
        return f"ok      {check.name}: {_short(check.value)}{slack}"
    return f"FAILED  {check.name}: {_short(check.value)}, required {_short(check.required)}{slack}"


def _short(value: str) -> str:
    return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 3]}..."


def _json(
    report: Report | None, claims: Sequence[Claim], certificate: str, data: str | None, error: Exception | None = None
) -> str:
    """Return the object; without a report it is `not-checkable`, and the error says why."""
    value: dict[str, object] = {
        "schema": "sepcert-verification/1",
        "outcome": str(CheckOutcome.NOT_CHECKABLE if report is None else report.outcome),
        "verified": report is not None and report.verified,
        "certificate": certificate,
        "data": data,
        "claims": [str(claim) for claim in claims],
        "checks": [] if report is None else [dataclasses.asdict(check) for check in report.checks],
        "error": None if error is None else error_object(error),
    }
    return text(value) + "\n"
