"""JSON read strictly: what the format does not name is an error, and every error says where it is.

Python's decoder keeps the last of two equal keys, takes ``NaN``, turns 1e999 into infinity and reads integers of any
length.  Here such a value becomes a `Fault` in its place, which is raised, with its path, when the value is read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from sepcert.errors import CertificateError, Place, register

JSON = register("CERT-JSON", "The certificate is not one complete JSON object (cut short, or something else).")
DUPLICATE = register("CERT-DUPLICATE", "A key occurs twice in one object of the certificate.")
KEY = register("CERT-KEY", "The certificate has an unknown key, or lacks one.")
TYPE = register("CERT-TYPE", "A value of the certificate has the wrong type.")
NUMBER = register("CERT-NUMBER", "A number of the certificate is not a canonical numeral.")
VALUE = register("CERT-VALUE", "A value of the certificate is not one of those that are known.")
DEPTH = register("CERT-DEPTH", "The certificate is nested too deeply.")

DEEPEST = 20
_LONGEST_INTEGER = 18
_TYPE_NAMES = {dict: "an object", list: "an array", str: "a string", int: "an integer", bool: "a boolean"}

T = TypeVar("T")


@dataclass(frozen=True)
class Fault:
    """A value that must not be there."""

    code: str
    message: str


class Node:
    """A JSON value with its path, such as ``$.data.features[3]``."""

    def __init__(self, value: object, path: str = "$", file: str | None = None) -> None:
        self.value = value
        self.path = path
        self.file = file
        if isinstance(value, Fault):
            self.fail(value.code, value.message)

    def fail(self, code: str, message: str, advice: str = "") -> NoReturn:
        """Raise a CertificateError at this place."""
        place = Place(self.file) if self.file is not None else None
        raise CertificateError(code, f"{self.path} {message}", place=place, advice=advice)

    def _typed(self, wanted: type[T]) -> T:
        if not isinstance(self.value, wanted) or (wanted is int and isinstance(self.value, bool)):
            seen = "null" if self.value is None else _TYPE_NAMES.get(type(self.value), "a decimal number")
            self.fail(TYPE, f"is {seen}, not {_TYPE_NAMES[wanted]}")
        return self.value

    def fields(self, *names: str) -> dict[str, Node]:
        """Return the members of an object that has exactly these keys."""
        members = self.members()
        unknown = [repr(k) for k in members if k not in names]
        if unknown:
            self.fail(KEY, f"has {len(unknown)} unknown key(s): {', '.join(unknown[:5])}"[:400])
        missing = [repr(k) for k in names if k not in members]
        if missing:
            self.fail(KEY, f"lacks {', '.join(missing)}")
        return members

    def members(self) -> dict[str, Node]:
        """Return the members of an object with any keys."""
        found = self._typed(dict)
        for key in found:
            _check_text(self, key)
        return {k: Node(v, f"{self.path}.{k}", self.file) for k, v in found.items()}

    def items(self) -> list[Node]:
        """Return the elements of an array."""
        return [Node(v, f"{self.path}[{k}]", self.file) for k, v in enumerate(self._typed(list))]

    def text(self) -> str:
        """Return a string."""
        return _check_text(self, self._typed(str))

    def choice(self, *known: str) -> str:
        """Return a string that is one of `known`."""
        value = self.text()
        if value not in known:
            self.fail(VALUE, f"is {value[:80]!r}; known: {', '.join(known)}")
        return value

    def integer(self) -> int:
        """Return an integer of at most 18 digits."""
        return self._typed(int)

    def flag(self) -> bool:
        """Return a boolean."""
        return self._typed(bool)

    def numeral(self, parse: Callable[[str], T]) -> T:
        """Return the number that a string stands for; `parse` raises ValueError with what is wrong."""
        value = self.text()
        try:
            return parse(value)
        except ValueError as error:
            self.fail(NUMBER, f"= {value[:60]!r} {error}")

    def optional(self, read: Callable[[Node], T]) -> T | None:
        """Return None for null, else what `read` makes of this node."""
        return None if self.value is None else read(self)

    def plain(self, depth: int = 0) -> object:
        """Return the value as it is, after a look at everything inside it."""
        if depth > DEEPEST:
            self.fail(DEPTH, f"is nested more than {DEEPEST} deep")
        if isinstance(self.value, dict):
            return {k: v.plain(depth + 1) for k, v in self.members().items()}
        if isinstance(self.value, list):
            return [v.plain(depth + 1) for v in self.items()]
        return self.text() if isinstance(self.value, str) else self.value


def parse_json(text: str, file: str | None = None) -> Node:
    """Decode one JSON text.

    Raises
    ------
    CertificateError
        CERT-JSON where it is no JSON, CERT-DEPTH where it is nested too deeply for the decoder.
    """
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=lambda name: Fault(NUMBER, f"is {name}, which is not a number"),
            parse_int=_integer,
            parse_float=_decimal,
        )
    except RecursionError:
        Node(None, file=file).fail(DEPTH, f"is nested more than {DEEPEST} deep")
    except ValueError as error:
        Node(None, file=file).fail(JSON, f"is not one complete JSON object: {error}", "is the file cut short?")
    return Node(value, file=file)


def _object(pairs: list[tuple[str, object]]) -> object:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                return Fault(DUPLICATE, f"has the key {key[:80]!r} twice")
            seen.add(key)
    return found


def _integer(digits: str) -> object:
    if len(digits.lstrip("-")) > _LONGEST_INTEGER:
        return Fault(NUMBER, f"is an integer of more than {_LONGEST_INTEGER} digits")
    return int(digits)


def _decimal(digits: str) -> object:
    value = float(digits)
    return value if math.isfinite(value) else Fault(NUMBER, "is too large a number")


def _check_text(node: Node, value: str) -> str:
    if not value.isascii() and any(0xD800 <= ord(c) <= 0xDFFF for c in value):
        node.fail(VALUE, "has half of a surrogate pair, which is not text")
    return value
