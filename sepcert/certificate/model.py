"""The parts of a certificate as frozen dataclasses; FORMAT.md beside this file is their JSON.

Row indices here are 0-based positions among the rows used; the codec writes them as 1-based row numbers of the
file.  All numbers are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike

from sepcert.data.description import DataDescription
from sepcert.status import Claim

SCHEMA = "sepcert-certificate/1"


@dataclass(frozen=True)
class Combination:
    """A sparse vector over the rows: `values[k]` belongs to row `rows[k]`; rows increase, no value is zero."""

    rows: tuple[int, ...]
    values: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if len(self.rows) != len(self.values):
            raise ValueError("rows and values differ in length")


@dataclass(frozen=True)
class Separator:
    """A classifier f = sum_i alpha_i y_i K(x_i, .).

    Attributes
    ----------
    alpha : Combination
        Over the raw rows z_i = y_i phi(x_i).
    weights : tuple of Fraction, or None
        For the linear kernel w = sum_i alpha_i z_i exactly, the bias coefficient first if there is a bias.  None
        where D is so large that only `alpha` is kept.
    """

    alpha: Combination
    weights: tuple[Fraction, ...] | None


@dataclass(frozen=True)
class Witness:
    """Proof that nothing separates: p >= 0, p != 0, sum_i p_i z_i = 0 over the raw rows.

    Attributes
    ----------
    p : Combination or None
        Positive integer weights, without a common factor (p divided by its sum lies in the simplex).  None: the
        witness is implicit.
    support : tuple of int or None
        Implicit witness: D + 1 rows for which the system sum p_i z_i = 0, sum p_i = 1 is nonsingular and whose
        solution is positive.
    """

    p: Combination | None
    support: tuple[int, ...] | None = None

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows that carry weight."""
        if self.p is not None:
            return self.p.rows
        return self.support or ()


@dataclass(frozen=True)
class Margin:
    """A bracket on the normalised margin rho, and the weights that prove its upper end.

    The lower end is proved by the separator.  The upper end is |sum q_i z_i| / sum q_i sqrt(K_ii) for the
    nonnegative `upper_weights` q over the raw rows; where there is an exact witness it is 0 and needs no weights.
    """

    lower: float | None
    upper: float | None
    upper_weights: Combination | None = None


@dataclass(frozen=True)
class Ball:
    """A bracket on the size of a negative normalised margin: -outer <= rho <= -inner.

    |rho| is the radius of the largest ball around 0, within the span of the rows, inside the hull of the rows z_i/|z_i|
    (Ramdas and Pena 2014, Theorem 3).

    Attributes
    ----------
    inner, outer : float
        0 < inner <= outer.
    alpha : Combination
        Proves `outer`: w = sum alpha_i z_i has z_i'w >= -outer |z_i| |w| for every row.
    forward, backward : tuple of Combination
        Prove `inner`: r positive combinations of the raw rows each, r the rank of the rows; the k-th of `backward` is
        nearly the negative of the k-th of `forward`, which are nearly orthonormal.
    """

    inner: float
    outer: float
    alpha: Combination
    forward: tuple[Combination, ...]
    backward: tuple[Combination, ...]

    @property
    def combinations(self) -> tuple[Combination, ...]:
        """All combinations of rows in it."""
        return (self.alpha, *self.forward, *self.backward)


@dataclass(frozen=True)
class Evidence:
    """Claims, and all that is needed to check them.

    Which part proves what: `separable` and `complete`: the separator; `inseparable`: the witness; `overlap`: a
    witness whose support spans all rows; `quasi-complete`: separator and witness as a strictly complementary pair
    (each row has z_i'w > 0 and p_i = 0, or z_i'w = 0 and p_i > 0; both kinds occur); `margin-at-least` and
    `margin-at-most`: the margin; `negative-margin`: the ball.
    """

    claims: tuple[Claim, ...]
    separator: Separator | None = None
    witness: Witness | None = None
    margin: Margin = Margin(None, None)
    ball: Ball | None = None


@dataclass(frozen=True)
class KernelStatement:
    """The kernel with every parameter as an exact rational, and the bias."""

    name: str
    parameters: dict[str, str] = field(default_factory=dict)
    bias: bool = True
    bias_scale: Fraction = Fraction(1)


@dataclass(frozen=True)
class Certificate:
    """A statement about data with its evidence.

    Attributes
    ----------
    data : DataDescription
        With fingerprints.
    kernel : KernelStatement
    evidence : Evidence
        Row indices are positions among the rows used.
    row_numbers : dict of int to int
        For each row that the evidence names, its 1-based number in the file.
    provenance : dict
        Algorithm, options, seed, version, time; the verifier never reads it.
    """

    data: DataDescription
    kernel: KernelStatement
    evidence: Evidence
    row_numbers: dict[int, int]
    provenance: dict[str, object] = field(default_factory=dict)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the certificate to a file; see :func:`sepcert.certificate.codec.save`."""
        from sepcert.certificate.codec import save

        save(self, path)
