"""Commas that may be decimal commas or thousands separators: ``1,234``.

A comma is a decimal comma for certain unless one to three digits, the first not zero, stand before it and exactly
three behind it.  Where a decimal comma was only inferred and no comma of the file is certain, nothing is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from sepcert.data import faults
from sepcert.data.numerals import BLANKS
from sepcert.data.text_numbers import COMMA, MINUS, PLUS, ZERO, Fields
from sepcert.errors import DataError, Place

_UNCERTAIN = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")


class CommaWatch:
    """Looks at the commas of numeric fields until one is certain.

    Attributes
    ----------
    certain : bool
        Whether to look no further.
    first : (str, int) or None
        The first uncertain numeral and its line.
    """

    def __init__(self, *, certain: bool) -> None:
        self.certain = certain
        self.first: tuple[str, int] | None = None

    def look(self, texts: Sequence[str], line: int) -> None:
        """Look at the numeric fields of one record."""
        for text in texts:
            text = text.strip(BLANKS)
            if "," not in text:
                continue
            if _UNCERTAIN.fullmatch(text) is None:
                self.certain = True
            elif self.first is None:
                self.first = text, line

    def look_at_fields(self, fields: Fields, line: int) -> None:
        """Look at numeric fields, one record a line from `line` on."""
        if not fields.ends.size:
            return
        ends, starts = fields.ends.reshape(-1), fields.starts.reshape(-1)
        commas = np.flatnonzero(fields.buffer[: ends[-1]] == COMMA)
        at = np.searchsorted(ends, commas)
        inside = (commas >= starts[at]) & (commas < ends[at])
        commas, at = commas[inside], at[inside]
        if not commas.size:
            return
        start = starts[at]
        lead = fields.buffer[start]
        start = start + ((lead == MINUS) | (lead == PLUS))
        before = commas - start
        uncertain = (ends[at] - commas == 4) & (before >= 1) & (before <= 3)
        uncertain &= (fields.buffer[start] - (ZERO + 1)) < 9
        for k in (1, 2, 3):
            uncertain &= (fields.buffer[np.minimum(commas + k, ends[at])] - ZERO) < 10
        # A numeral with blanks around it is none of these, and yet may be uncertain: they are looked at one by one.
        for k in (*np.unique(at[~uncertain]).tolist(), *at[uncertain][:1].tolist()):
            text = fields.buffer[starts[k] : ends[k]].tobytes().decode("utf-8", "replace")
            self.look([text], line + k // fields.ends.shape[1])
            if self.certain:
                return

    def require_certainty(self, path: str) -> None:
        """Raise a DataError if there were commas and all of them are uncertain."""
        if self.certain or self.first is None:
            return
        text, line = self.first
        raise DataError(
            faults.SEPARATORS,
            f"{text!r} is a decimal or has a thousands separator: every comma of the file has three digits behind it",
            place=Place(path, line),
            advice="write decimals with a point, or remove the thousands separators",
        )
