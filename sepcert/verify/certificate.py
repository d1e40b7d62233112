"""Check a certificate against data: is it about these data, and does its evidence prove its claims about them?"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any

from sepcert.certificate.filed import FiledCertificate, file_rows, place_rows
from sepcert.certificate.model import Certificate, Evidence, KernelStatement
from sepcert.data.dataset import Dataset
from sepcert.data.description import DataDescription, Dialect
from sepcert.data.faults import NOT_FOUND
from sepcert.errors import CertificateError, DataError, KernelError, register
from sepcert.kernels import KERNELS, rebuild_kernel
from sepcert.problem import Problem
from sepcert.status import CheckOutcome, Numbers
from sepcert.verify.evidence import check_into, uncheckable
from sepcert.verify.report import Findings, Refused, Report, Uncheckable

NO_DATA = register("CERT-NO-DATA", "The data of the certificate are not given, and it does not say where they are.")

_STANDARD_INPUT = "-"
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


def verify_file(
    certificate: FiledCertificate | Certificate,
    data_path: str | os.PathLike[str] | None = None,
    labels_path: str | os.PathLike[str] | None = None,
    *,
    folder: str | os.PathLike[str] | None = None,
) -> Report:
    """Check a certificate against data in files, which are read again in the way that it describes.

    Parameters
    ----------
    certificate : FiledCertificate or Certificate
    data_path, labels_path : path, optional
        Of the data, and of a separate file of labels; default: the paths that the certificate stores.
    folder : path, optional
        Where the certificate itself is: stored paths that lead nowhere are tried from there, too.

    Raises
    ------
    SepcertError
        The data cannot be read.  A file that can be read, but is not as described, makes the report REJECTED.
    """
    from sepcert.data.reader import rebuild_dataset

    stated = certificate.data
    path = stated.path if data_path is None else os.fspath(data_path)
    labels = None if labels_path is None else os.fspath(labels_path)
    if path is None or (path == _STANDARD_INPUT and data_path is None):
        source = "arrays" if path is None else "standard input"
        raise CertificateError(NO_DATA, f"the certificate is about {source}", advice="give the data")
    if data_path is None:
        path = _stored_file(path, folder, "data", "name them: sepcert verify CERT DATA")
    if labels is None and stated.label is None and stated.labels_path is not None:
        labels = _stored_file(stated.labels_path, folder, "labels", "name them with --labels FILE")
    try:
        dataset = rebuild_dataset(stated, path, labels)
    except (DataError, ValueError, LookupError, TypeError) as error:
        return _not_as_described(certificate, path, labels, error)
    return verify_certificate(certificate, dataset)


def _stored_file(path: str, folder: str | os.PathLike[str] | None, what: str, advice: str) -> str:
    """Return where the file is whose path the certificate stores: there, or as seen from the certificate's folder."""
    places = [path]
    if folder is not None:
        places += [os.path.join(folder, path), os.path.join(folder, os.path.basename(path))]
    for place in places:
        if os.path.exists(place):
            return place
    raise DataError(
        NOT_FOUND, f"the certificate says that the {what} are in {path}, but there is no such file", advice=advice
    )


def _not_as_described(
    certificate: FiledCertificate | Certificate, path: str, labels: str | None, error: Exception
) -> Report:
    """Reject a certificate that does not describe its files, unless the files cannot be read at all."""
    findings = Findings()
    stated = certificate.data
    if labels is None and stated.label is None:
        labels = stated.labels_path
    try:
        for name, file, wanted in (("sha256", path, stated.sha256), ("labels_sha256", labels, stated.labels_sha256)):
            if file is not None:
                if not os.path.isfile(file):
                    raise error
                with open(file, "rb") as stream:
                    found = hashlib.file_digest(stream, "sha256").hexdigest()
                findings.require(found == wanted, f"data.{name}", found, wanted)
        findings.require(
            False, "the file is as described", str(getattr(error, "message", error)), "a table as described"
        )
    except OSError:
        raise error from None
    except Refused:
        pass
    return findings.report(CheckOutcome.REJECTED)


def verify_arrays(certificate: FiledCertificate | Certificate, X: Any, y: Any, data_path: object = None) -> Report:
    """Check a certificate against arrays, see :func:`sepcert.data.arrays.dataset_from_arrays`.

    Raises
    ------
    SepcertError
        The arrays are not a table of numbers with labels of two classes.
    """
    from sepcert.data.arrays import dataset_from_arrays

    stated = certificate.data
    if X is None or y is None or data_path is not None:
        raise CertificateError(NO_DATA, "the data are either a file or both X and y", advice="give one of the two")
    dataset = dataset_from_arrays(X, y, numbers=Numbers(stated.numbers))
    found = dataset.description
    if (found.negative, found.positive) == (stated.positive, stated.negative):
        dataset = dataset_from_arrays(X, y, numbers=Numbers(stated.numbers), positive=stated.positive)
    return verify_certificate(certificate, dataset)


def _compare_data(findings: Findings, stated: DataDescription, dataset: Dataset) -> None:
    found = dataset.fingerprint()
    names = _ALWAYS_COMPARED if found.format == "array" else (*_COMPARED_FOR_FILES, *_ALWAYS_COMPARED)
    for name in names:
        seen, wanted = getattr(found, name), getattr(stated, name)
        if name == "dropped":  # left out in whatever order
            seen, wanted = sorted(seen), sorted(wanted)
        findings.require(seen == wanted and type(seen) is type(wanted), f"data.{name}", _short(seen), _short(wanted))
    findings.require(
        len(stated.features) == dataset.points.shape[1],
        "number of features",
        dataset.points.shape[1],
        len(stated.features),
    )
    reading = dataset.points.numbers
    findings.require(reading.value == stated.numbers, "reading of the numbers", reading, stated.numbers)


def _in_words(value: object) -> str:
    """Return a value of the description for people."""
    if isinstance(value, Dialect):
        return ", ".join(f"{name} {_in_words(part)}" for name, part in vars(value).items())
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_in_words(part)}" for name, part in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return repr(value) if value in {"\t", " ", ""} else str(value)


def _short(value: object) -> str:
    text = _in_words(value)
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
    try:
        rebuilt = rebuild_kernel(kernel.name, kernel.parameters)
    except KernelError as error:
        findings.require(False, "kernel.parameters", _short(kernel.parameters), error.message)
        raise
    scale = kernel.bias_scale
    findings.require(scale > 0, "kernel.bias_scale", _short(scale), "positive")
    return Problem(dataset.points, dataset.labels, rebuilt, kernel.bias, scale)
