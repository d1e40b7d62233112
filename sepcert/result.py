"""What a check returns: the verdict with its evidence, in the user's terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sepcert.certificate.model import Certificate, Evidence, KernelStatement
from sepcert.certificate.model import Witness as ExactWitness
from sepcert.data.dataset import Dataset
from sepcert.findings import Gate, Margin, Run, Separator, Witness, shares
from sepcert.problem import Problem
from sepcert.status import Expect, Separation, Verdict
from sepcert.verify.report import Report

SCHEMA = "sepcert-result/1"


@dataclass(frozen=True, eq=False)
class Result:
    """A verdict that the verifier has accepted, or `undecided` with what was proved so far.

    Attributes
    ----------
    verdict : Verdict
        ``separable``, ``inseparable``, ``margin-at-most`` or ``undecided``.
    separation : Separation or None
        ``complete``, ``quasi-complete`` or ``overlap`` where the kernel has a finite feature map and it was decided.
    evidence : Evidence
        Exact; what the certificate holds.
    report : Report
        Every check of the verifier.
    conflict : dict of int to Fraction
        A minimal conflict (position -> weight): every proper subset of its rows is separable; empty if none.
    other_numbers : dict or None
        The verdict for the other reading of the numbers, where the evidence does not prove it as well.
    """

    problem: Problem
    dataset: Dataset
    verdict: Verdict
    separation: Separation | None
    evidence: Evidence
    report: Report
    run: Run
    conflict: Mapping[int, Fraction]
    other_numbers: dict[str, str | None] | None = None

    @property
    def verified(self) -> bool:
        """Whether the verifier has accepted evidence for the verdict; False only for `undecided`."""
        return self.verdict is not Verdict.UNDECIDED and self.report.verified

    @property
    def algorithm(self) -> str:
        """The algorithm that was asked for."""
        return self.run.algorithm

    @property
    def iterations(self) -> int:
        """Iterations of the engine."""
        return self.run.iterations

    @property
    def passes(self) -> int:
        """Passes over all rows by the engine."""
        return self.run.passes

    @property
    def seconds(self) -> float:
        """Seconds from the matrix in memory to the verified evidence."""
        return self.run.seconds

    @property
    def termination(self) -> str | None:
        """Why the search ended; None where none was needed."""
        return self.run.termination

    @property
    def notes(self) -> tuple[str, ...]:
        """What was chosen and why."""
        return self.run.notes

    @property
    def margin(self) -> Margin:
        """The certified bracket on the normalised margin."""
        return Margin(self.evidence.margin.lower, self.evidence.margin.upper)

    @property
    def column_names(self) -> list[str]:
        """Names of the columns of z, ``(bias)`` first if there is one."""
        names = list(self.dataset.description.features)
        return ["(bias)", *names] if self.problem.bias else names

    def _numbers(self, index: Iterable[int]) -> list[int]:
        numbers: list[int] = self.dataset.row_numbers[np.array(list(index), dtype=np.int64)].tolist()
        return numbers

    @cached_property
    def separator(self) -> Separator | None:
        """The classifier; for quasi-complete separation the w of the strictly complementary pair."""
        exact = self.evidence.separator
        if exact is None or self.verdict not in {Verdict.SEPARABLE, Verdict.INSEPARABLE}:
            return None
        strict = self.verdict is Verdict.SEPARABLE
        return Separator(self.problem, exact, self.column_names, self._numbers(exact.alpha.rows), strict)

    @cached_property
    def witness(self) -> Witness | None:
        """The dual witness; inexact for `margin-at-most`."""
        if self.verdict is Verdict.MARGIN_AT_MOST:
            weights, upper = self.evidence.margin.upper_weights, self.evidence.margin.upper
            if weights is None or upper is None:
                return None
            return Witness(weights.rows, shares(weights.values), self._numbers(weights.rows), upper)
        exact = self.evidence.witness
        if exact is None or self.verdict is not Verdict.INSEPARABLE:
            return None
        p = shares(exact.p.values) if exact.p is not None else self._implicit_shares(exact)
        return Witness(exact.rows, p, self._numbers(exact.rows), 0.0)

    def _implicit_shares(self, exact: ExactWitness) -> list[float]:
        """Return the weights of an implicit witness (its proof needs no values)."""
        from sepcert.exact.implicit import implicit_weights
        from sepcert.verify.rows import SignedRows

        return shares(implicit_weights(SignedRows(self.problem), exact.rows))

    @property
    def conflicts(self) -> list[dict[str, Any]]:
        """Minimal conflicts: rows of which every proper subset is separable, with their weights."""
        if self.verdict is not Verdict.INSEPARABLE or self.evidence.witness is None:
            return []
        if not self.conflict:
            witness = self.witness
            return [] if witness is None else [{"rows": witness.rows, "p": witness.p}]
        index = sorted(self.conflict)
        return [{"rows": self._numbers(index), "p": shares([self.conflict[i] for i in index])}]

    @cached_property
    def aliased(self) -> list[str]:
        """Columns that depend linearly on earlier ones, exactly."""
        from sepcert.exact.evidence import aliased_columns
        from sepcert.verify.rows import SignedRows

        named = self.evidence.witness.rows if self.evidence.witness is not None else ()
        support = self.evidence.separator.alpha.rows if self.evidence.separator is not None else ()
        names = self.column_names
        return [names[j] for j in aliased_columns(SignedRows(self.problem), [*named, *support])]

    @cached_property
    def certificate(self) -> Certificate:
        """The certificate, with fingerprints of the data; made on first use."""
        from datetime import UTC, datetime

        from sepcert._version import __version__
        from sepcert.certificate.filed import evidence_rows

        named = sorted(evidence_rows(self.evidence))
        return Certificate(
            data=self.dataset.fingerprint(),
            kernel=KernelStatement(
                self.problem.kernel.name,
                dict(self.problem.kernel.parameters()),
                self.problem.bias,
                self.problem.bias_scale,
            ),
            evidence=self.evidence,
            row_numbers=dict(zip(named, self._numbers(named), strict=True)),
            provenance={
                "program": "sepcert",
                "version": __version__,
                "algorithm": self.algorithm,
                "options": self.run.options,
                "time": datetime.now(UTC).isoformat(timespec="seconds"),
            },
        )

    def gate(self, expect: str = "separable", min_margin: float | None = None) -> Gate:
        """Compare the verdict with what was expected; one refuted part refutes the gate."""
        if expect not in set(Expect):
            raise ValueError(f"expect {expect!r} is none of {', '.join(Expect)}")
        parts = [self._meets(expect)]
        if min_margin is not None:
            reached = self._reaches(min_margin)
            parts = [reached] if self.verdict is Verdict.MARGIN_AT_MOST else [*parts, reached]
        holds = False if False in parts else None if None in parts else True
        return Gate(expect, min_margin, holds)

    def _meets(self, expect: str) -> bool | None:
        if self.verdict is Verdict.UNDECIDED:
            return None
        if expect == "any":
            return True
        if self.verdict is Verdict.MARGIN_AT_MOST:
            return None
        if expect in {"separable", "inseparable"}:
            return self.verdict.value == expect
        if self.separation is None:
            impossible = (self.verdict is Verdict.SEPARABLE) != (expect == "complete")
            return False if impossible else None
        return self.separation.value == expect

    def _reaches(self, min_margin: float) -> bool | None:
        lower, upper = self.margin.lower, self.margin.upper
        if lower is not None and lower >= min_margin:
            return True
        return False if upper is not None and upper < min_margin else None

    def to_dict(self, gate: Gate | None = None) -> dict[str, Any]:
        """Return the JSON object of ``sepcert check --format json``; see docs/cli.md."""
        gate = self.gate() if gate is None else gate
        about = self.dataset.fingerprint()
        separator, witness = self.separator, self.witness
        return {
            "schema": SCHEMA,
            "verdict": self.verdict.value,
            "separation": None if self.separation is None else self.separation.value,
            "margin": {"lower": self.margin.lower, "upper": self.margin.upper},
            "gate": {"expect": gate.expect, "min_margin": gate.min_margin, "holds": gate.holds},
            "data": {
                "path": about.path,
                "sha256": about.sha256,
                "rows": about.rows,
                "rows_read": about.rows_read,
                "rows_dropped": self.dataset.counts.missing,
                "rows_weight_zero": self.dataset.counts.zero_weight,
                "features": list(about.features),
                "label": about.label,
                "positive": about.positive,
                "negative": about.negative,
                "numbers": about.numbers,
                "aliased": self.aliased,
            },
            "kernel": {
                "name": self.problem.kernel.name,
                "parameters": dict(self.problem.kernel.parameters()),
                "bias": self.problem.bias,
                "bias_scale": float(self.problem.bias_scale),
            },
            "separator": None
            if separator is None
            else {
                "weights": separator.weights,
                "rows": separator.rows,
                "alpha": separator.alpha,
                "support": separator.support,
                "holds_in_doubles": separator.holds_in_doubles,
            },
            "witness": None if witness is None else witness.to_dict(),
            "conflicts": self.conflicts,
            "other_numbers": self.other_numbers,
            "algorithm": self.algorithm,
            "iterations": self.iterations,
            "passes": self.passes,
            "seconds": round(self.seconds, 6),
            "termination": self.termination,
            "notes": list(self.dataset.notes),
            "verified": self.verified,
        }
