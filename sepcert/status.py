"""The words that are the same everywhere, each kind an enum.

`Termination` says why a search stopped, `Claim` what a piece of evidence proves, `CheckOutcome` what the verifier
made of it: three questions that are never mixed.  A user is told a `Verdict` and a `Separation` by
:mod:`sepcert.certify` alone, and only for evidence that is VERIFIED.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Verdict(StrEnum):
    """The answer for one problem; the values are the strings of the JSON."""

    SEPARABLE = "separable"
    INSEPARABLE = "inseparable"
    MARGIN_AT_MOST = "margin-at-most"
    UNDECIDED = "undecided"


class Separation(StrEnum):
    """The trichotomy of Albert and Anderson (1984) for finite-dimensional feature maps."""

    COMPLETE = "complete"
    QUASI_COMPLETE = "quasi-complete"
    OVERLAP = "overlap"


class Claim(StrEnum):
    """What a certificate states and its evidence proves; `sentence` says it in words."""

    SEPARABLE = "separable"
    INSEPARABLE = "inseparable"
    COMPLETE = "complete"
    QUASI_COMPLETE = "quasi-complete"
    OVERLAP = "overlap"
    MARGIN_AT_LEAST = "margin-at-least"
    MARGIN_AT_MOST = "margin-at-most"
    NEGATIVE_MARGIN = "negative-margin"

    @property
    def sentence(self) -> str:
        """One sentence that says what was proved."""
        return _CLAIM_SENTENCES[self]


_CLAIM_SENTENCES = {
    Claim.SEPARABLE: "A classifier exists that puts every row strictly on the side of its class.",
    Claim.INSEPARABLE: "No classifier puts every row strictly on the side of its class.",
    Claim.COMPLETE: "A hyperplane has every row strictly on the side of its class.",
    Claim.QUASI_COMPLETE: "A hyperplane has no row on the wrong side, some strictly right and some always on it.",
    Claim.OVERLAP: "Every hyperplane that is not constant on the data has a row strictly on the wrong side.",
    Claim.MARGIN_AT_LEAST: "The normalised margin is at least the stated number.",
    Claim.MARGIN_AT_MOST: "The normalised margin is at most the stated number.",
    Claim.NEGATIVE_MARGIN: "The normalised margin is negative, and its size is between the two stated radii.",
}


class CheckOutcome(StrEnum):
    """What the verifier says about a certificate."""

    VERIFIED = "verified"
    REJECTED = "rejected"
    NOT_CHECKABLE = "not-checkable"


class Termination(StrEnum):
    """Why the driver's loop stopped; the order is the order in which the driver asks."""

    NON_FINITE = "non-finite"
    CLAIM_REACHED = "claim-reached"
    INTERRUPTED = "interrupted"
    ITERATION_LIMIT = "iteration-limit"
    TIME_LIMIT = "time-limit"
    NO_PROGRESS = "no-progress"


class Numbers(StrEnum):
    """How numerals are read: as the decimals that are written, or as the nearest binary64 numbers."""

    DECIMAL = "decimal"
    BINARY64 = "binary64"


class Expect(StrEnum):
    """What the gate demands."""

    SEPARABLE = "separable"
    INSEPARABLE = "inseparable"
    COMPLETE = "complete"
    QUASI_COMPLETE = "quasi-complete"
    OVERLAP = "overlap"
    ANY = "any"


class ExitCode(IntEnum):
    """Exit statuses of the command line, the same for every command."""

    HOLDS = 0
    FAILS = 1
    COULD_NOT_RUN = 2
    UNDECIDED = 3
    INTERRUPTED = 130
    CLOSED_PIPE = 141
