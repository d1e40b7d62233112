"""What the verifier found: every check with its value, what was required, and by how much it was met."""

from __future__ import annotations

from dataclasses import dataclass

from sepcert.status import CheckOutcome


@dataclass(frozen=True)
class Check:
    """One thing that was checked, in words for people.

    Attributes
    ----------
    name : str
        What was looked at.
    value, required : str
        What was found, and what had to be found.
    slack : str
        By how much the requirement was met; empty where it is an equality or a count.
    passed : bool
    """

    name: str
    value: str
    required: str
    slack: str
    passed: bool


@dataclass(frozen=True)
class Report:
    """The verifier's answer: VERIFIED (every check passed), REJECTED (one failed) or NOT_CHECKABLE."""

    outcome: CheckOutcome
    checks: tuple[Check, ...]

    @property
    def verified(self) -> bool:
        """Whether everything that is claimed was proved."""
        return self.outcome is CheckOutcome.VERIFIED

    @property
    def failed(self) -> Check | None:
        """The check that decided against the certificate; None where it was verified."""
        return next((check for check in self.checks if not check.passed), None)


class Refused(Exception):  # noqa: N818 - it ends a check, it is not an error
    """A requirement was not met: the evidence does not prove the claims."""


class Uncheckable(Exception):  # noqa: N818
    """Whether a requirement is met cannot be found out here."""


class Findings:
    """The checks made so far."""

    def __init__(self) -> None:
        self.checks: list[Check] = []

    def require(self, passed: bool, name: str, value: object, required: object, slack: object = "") -> None:
        """Note a check, and raise `Refused` if it failed."""
        done = bool(passed)
        self.checks.append(Check(name, str(value), str(required), str(slack), done))
        if not done:
            raise Refused(name)

    def report(self, outcome: CheckOutcome) -> Report:
        """Close the list; VERIFIED is given only to a list without a failed check that is not empty."""
        passed = bool(self.checks) and all(check.passed for check in self.checks)
        if outcome is CheckOutcome.VERIFIED and not passed:
            outcome = CheckOutcome.NOT_CHECKABLE
        return Report(outcome, tuple(self.checks))
