"""Check a certificate against data: is it about these data, and does its evidence prove its claims about them?"""

from __future__ import annotations

import os

from sepcert.certificate.codec import load
from sepcert.certificate.filed import FiledCertificate, file_rows, place_rows
from sepcert.certificate.model import Certificate, Evidence, KernelStatement
from sepcert.data.dataset import Dataset
from sepcert.data.description import DataDescription
from sepcert.errors import CertificateError, register
from sepcert.kernels import KERNELS, make_kernel
from sepcert.problem import Problem
from sepcert.status import CheckOutcome
from sepcert.verify.evidence import check_into, uncheckable
from sepcert.verify.report import Findings, Refused, Report, Uncheckable

NO_DATA = register("CERT-NO-DATA", "The certificate does not say where its data are, so they must be given.")

_ALWAYS_COMPARED = ("rows", "rows_read", "positive", "negative", "numbers", "missing", "matrix_sha256")
_COMPARED_FOR_FILES = (
    *("format", "sha256", "labels_sha256", "dialect", "features", "columns"),
    *("label", "weight", "dropped", "categorical"),
)


def verify_certificate(certificate: Certificate | FiledCertificate, dataset: Dataset) -> Report:
    """Check a certificate against a data set in memory.

    Everything that the data determine is compared: hashes, rows, names, label map and reading of the numbers (only
    paths may differ; arrays have neither names nor raw bytes).  The kernel and the bias are part of the statement,
    which is then proved for the data's own numbers.  The provenance is not looked at.

    Returns
    -------
    Report
        REJECTED also where the certificate is about other data; NOT_CHECKABLE where its kernel is not built here.
    """
    filed = file_rows(certificate) if isinstance(certificate, Certificate) else certificate
    findings = Findings()
    try:
        _compare_data(findings, filed.data, dataset)
        evidence = _placed(findings, filed, dataset)
        check_into(findings, _problem(findings, filed.kernel, dataset), evidence)
    except Refused:
        return findings.report(CheckOutcome.REJECTED)
    except Exception as error:
        return uncheckable(findings, error)
    return findings.report(CheckOutcome.VERIFIED)


def verify_file(path: str | os.PathLike[str], data_path: str | os.PathLike[str] | None = None) -> Report:
    """Check a certificate in a file against the data in a file.

    Parameters
    ----------
    path : path
        Of the certificate.
    data_path : path, optional
        Of the data; default: the path that the certificate stores.

    Raises
    ------
    SepcertError
        The certificate or the data cannot be read.
    """
    filed = load(path)
    return verify_certificate(filed, read_data(filed.data, data_path))


def read_data(description: DataDescription, data_path: str | os.PathLike[str] | None) -> Dataset:
    """Read the data of a certificate again, in the way that it describes."""
    from sepcert.data.reader import rebuild_dataset

    if data_path is None and description.path in {None, "-"}:
        source = "arrays" if description.path is None else "the standard input"
        raise CertificateError(NO_DATA, f"the certificate is about {source}", advice="give the data")
    return rebuild_dataset(description, None if data_path is None else os.fspath(data_path))


def _compare_data(findings: Findings, stated: DataDescription, dataset: Dataset) -> None:
    found = dataset.fingerprint()
    names = _ALWAYS_COMPARED if found.format == "array" else (*_COMPARED_FOR_FILES, *_ALWAYS_COMPARED)
    for name in names:
        seen, wanted = getattr(found, name), getattr(stated, name)
        findings.require(seen == wanted and type(seen) is type(wanted), f"data.{name}", _short(seen), _short(wanted))
    findings.require(
        len(stated.features) == dataset.points.shape[1],
        "number of features",
        dataset.points.shape[1],
        len(stated.features),
    )
    reading = dataset.points.numbers
    findings.require(reading.value == stated.numbers, "reading of the numbers", reading, stated.numbers)


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text)} characters)"


def _placed(findings: Findings, filed: FiledCertificate, dataset: Dataset) -> Evidence:
    try:
        evidence = place_rows(filed, dataset.row_numbers).evidence
    except CertificateError as error:
        findings.require(False, "rows that the evidence names", error.message, "rows of the data")
        raise
    return evidence


def _problem(findings: Findings, kernel: KernelStatement, dataset: Dataset) -> Problem:
    if kernel.name not in KERNELS:
        raise Uncheckable(f"the kernel {kernel.name[:80]!r} is not built; built kernels: {', '.join(sorted(KERNELS))}")
    known = KERNELS[kernel.name]().parameters()
    findings.require(kernel.parameters == known, "kernel.parameters", _short(kernel.parameters), known)
    scale = kernel.bias_scale
    findings.require(scale > 0, "kernel.bias_scale", _short(scale), "positive")
    return Problem(dataset.points, dataset.labels, make_kernel(kernel.name), kernel.bias, scale)
