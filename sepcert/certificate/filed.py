"""A certificate as it stands in a file, where rows go by their numbers, and the way from and to positions.

The parts of :mod:`sepcert.certificate.model` speak of positions among the rows used.  A file speaks of 1-based row
numbers, and only the data tell which position a row number has, so decoding and placing are two steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from sepcert.certificate.model import Certificate, Combination, Evidence, KernelStatement, Witness
from sepcert.data.description import DataDescription
from sepcert.errors import CertificateError, register
from sepcert.problem import IntArray

ROW = register("CERT-ROW", "The evidence names a row that the data do not have.")


@dataclass(frozen=True)
class FiledCertificate:
    """A certificate whose evidence names rows by their 1-based numbers in the file, as the JSON does.

    Attributes
    ----------
    data, kernel, provenance
        As in :class:`sepcert.certificate.model.Certificate`.
    evidence : Evidence
        Its `rows` and `support` are row numbers, not positions.
    """

    data: DataDescription
    kernel: KernelStatement
    evidence: Evidence
    provenance: dict[str, object] = field(default_factory=dict)


def file_rows(certificate: Certificate) -> FiledCertificate:
    """Turn positions into row numbers.

    Raises
    ------
    CertificateError
        CERT-ROW where `row_numbers` lacks a position that the evidence names.
    """
    numbers = certificate.row_numbers
    missing = sorted(evidence_rows(certificate.evidence) - numbers.keys())
    if missing:
        raise CertificateError(ROW, f"{len(missing)} position(s) have no row number, the first is {missing[0]}")
    evidence = _renumbered(certificate.evidence, numbers.__getitem__)
    return FiledCertificate(certificate.data, certificate.kernel, evidence, certificate.provenance)


def place_rows(filed: FiledCertificate, row_numbers: IntArray) -> Certificate:
    """Turn row numbers into positions.

    Parameters
    ----------
    filed : FiledCertificate
    row_numbers : ndarray of int64, shape (n,)
        Increasing; the row number of each position, as in :class:`sepcert.data.dataset.Dataset`.

    Raises
    ------
    CertificateError
        CERT-ROW where the evidence names a row that is not among them.
    """
    wanted = np.array(sorted(evidence_rows(filed.evidence)), dtype=np.int64)
    at = np.searchsorted(row_numbers, wanted)
    found = at < len(row_numbers)
    found[found] = row_numbers[at[found]] == wanted[found]
    if not found.all():
        lost = wanted[~found]
        raise CertificateError(ROW, f"{len(lost)} row(s) are not among the rows used, the first is {lost[0]}")
    positions = dict(zip(wanted.tolist(), at.tolist(), strict=True))
    evidence = _renumbered(filed.evidence, positions.__getitem__)
    numbers = {position: number for number, position in positions.items()}
    return Certificate(filed.data, filed.kernel, evidence, numbers, filed.provenance)


def evidence_rows(evidence: Evidence) -> set[int]:
    """Return every row that the evidence names."""
    named: set[int] = set()
    if evidence.separator is not None:
        named.update(evidence.separator.alpha.rows)
    if evidence.witness is not None:
        named.update(evidence.witness.p.rows if evidence.witness.p is not None else ())
        named.update(evidence.witness.support or ())
    if evidence.margin.upper_weights is not None:
        named.update(evidence.margin.upper_weights.rows)
    if evidence.ball is not None:
        named.update(*(combination.rows for combination in evidence.ball.combinations))
    return named


def _renumbered(evidence: Evidence, name: Callable[[int], int]) -> Evidence:
    def moved(combination: Combination) -> Combination:
        return Combination(tuple(map(name, combination.rows)), combination.values)

    separator, witness, margin = evidence.separator, evidence.witness, evidence.margin
    if separator is not None:
        separator = replace(separator, alpha=moved(separator.alpha))
    if witness is not None:
        p = None if witness.p is None else moved(witness.p)
        support = None if witness.support is None else tuple(map(name, witness.support))
        witness = Witness(p, support)
    if margin.upper_weights is not None:
        margin = replace(margin, upper_weights=moved(margin.upper_weights))
    ball = evidence.ball
    if ball is not None:
        forward, backward = tuple(map(moved, ball.forward)), tuple(map(moved, ball.backward))
        ball = replace(ball, alpha=moved(ball.alpha), forward=forward, backward=backward)
    return replace(evidence, separator=separator, witness=witness, margin=margin, ball=ball)
