"""``sepcert.verify``: check a certificate from Python."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from sepcert.verify.report import Report

if TYPE_CHECKING:
    from sepcert.certificate.filed import FiledCertificate
    from sepcert.certificate.model import Certificate


def verify(
    certificate: str | os.PathLike[str] | Certificate | FiledCertificate,
    data: str | os.PathLike[str] | None = None,
    X: Any = None,
    y: Any = None,
    *,
    labels_path: str | os.PathLike[str] | None = None,
) -> Report:
    """Check that a certificate is about the data and that its evidence proves what it claims.

    Parameters
    ----------
    certificate : path, Certificate or FiledCertificate
    data : path, optional
        The data file; default: the path that the certificate stores.
    X, y : array_like, shapes (n, d) and (n,), optional
        The data as arrays, in place of a file.
    labels_path : path, optional
        A separate file of labels, where the certificate's data have one; default: the path that it stores.

    Returns
    -------
    Report
        With `outcome`, `verified` and every check that was made.

    Raises
    ------
    SepcertError
        The certificate or the data cannot be read, so nothing can be said.
    """
    from sepcert.certificate.codec import load
    from sepcert.certificate.filed import FiledCertificate
    from sepcert.certificate.model import Certificate
    from sepcert.verify.certificate import verify_arrays, verify_file

    read = certificate if isinstance(certificate, Certificate | FiledCertificate) else load(certificate)
    if X is None and y is None:
        folder = None if isinstance(certificate, Certificate | FiledCertificate) else os.path.dirname(certificate)
        return verify_file(read, data, labels_path, folder=folder)
    return verify_arrays(read, X, y, data)
