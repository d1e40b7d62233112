"""Certificates as strict JSON; FORMAT.md beside this file describes it."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Mapping
from fractions import Fraction

from sepcert.certificate.filed import FiledCertificate, file_rows
from sepcert.certificate.model import (
    SCHEMA,
    Ball,
    Certificate,
    Combination,
    Evidence,
    KernelStatement,
    Margin,
    Separator,
    Witness,
)
from sepcert.certificate.numerals import (
    format_float,
    format_integer,
    format_number,
    parse_float,
    parse_integer,
    parse_number,
)
from sepcert.certificate.strict_json import TYPE, VALUE, Node, parse_json
from sepcert.data.description import DataDescription, Dialect
from sepcert.errors import CertificateError, Place, register
from sepcert.status import Claim, Numbers

READ = register("CERT-READ", "The certificate cannot be read from its file.")
WRITE = register("CERT-WRITE", "The certificate cannot be written to its file.")
ENCODING = register("CERT-ENCODING", "The certificate is not UTF-8 text.")
SIZE = register("CERT-SIZE", "The certificate is larger than this program reads.")
VERSION = register("CERT-VERSION", "Not a sepcert certificate, or one of another version.")

LARGEST_FILE = 1 << 30
"""Bytes that a certificate may have."""

_FORMATS = ("text", "npy", "npz", "array")


def dumps(certificate: Certificate | FiledCertificate) -> str:
    """Write a certificate as JSON; equal certificates give equal text.

    Raises
    ------
    CertificateError
        CERT-ROW where a row that the evidence names has no row number.
    """
    filed = file_rows(certificate) if isinstance(certificate, Certificate) else certificate
    evidence, data, kernel = filed.evidence, filed.data, filed.kernel
    statement = {
        "schema": SCHEMA,
        "claims": [claim.value for claim in evidence.claims],
        "data": {**vars(data), "dialect": None if data.dialect is None else vars(data.dialect)},
        "kernel": {
            "name": kernel.name,
            "parameters": kernel.parameters,
            "bias": kernel.bias,
            "bias_scale": format_number(kernel.bias_scale),
        },
        "separator": None if evidence.separator is None else _separator_members(evidence.separator),
        "witness": None if evidence.witness is None else _witness_members(evidence.witness),
        "margin": _margin_members(evidence.margin),
        "ball": None if evidence.ball is None else _ball_members(evidence.ball),
        "provenance": filed.provenance,
    }
    return _laid_out(statement)


def loads(text: str, file: str | None = None) -> FiledCertificate:
    """Read a certificate from JSON.

    Parameters
    ----------
    text : str
    file : str, optional
        The name to show in errors.

    Returns
    -------
    FiledCertificate
        Its evidence names rows by their numbers in the file; :func:`sepcert.certificate.filed.place_rows` turns
        them into positions once the data are known.

    Raises
    ------
    CertificateError
        With a code CERT-... and the path of the fault.
    """
    root = parse_json(text, file)
    schema = root.value.get("schema") if isinstance(root.value, dict) else None
    if schema != SCHEMA:
        seen = "no schema" if schema is None else f"the schema {str(schema)[:80]!r}"
        root.fail(VERSION, f"has {seen}", f"this program reads {SCHEMA}")
    top = root.fields("schema", "claims", "data", "kernel", "separator", "witness", "margin", "ball", "provenance")
    margin = top["margin"].fields("lower", "upper", "upper_weights")
    evidence = Evidence(
        _claims(top["claims"]),
        top["separator"].optional(_separator),
        top["witness"].optional(_witness),
        Margin(
            margin["lower"].optional(lambda node: node.numeral(parse_float)),
            margin["upper"].optional(lambda node: node.numeral(parse_float)),
            margin["upper_weights"].optional(lambda node: _combination(node, parse_number)),
        ),
        top["ball"].optional(_ball),
    )
    provenance = {key: node.plain() for key, node in top["provenance"].members().items()}
    return FiledCertificate(_description(top["data"]), _kernel(top["kernel"]), evidence, provenance)


def save(certificate: Certificate | FiledCertificate, path: str | os.PathLike[str]) -> None:
    """Write a certificate to a file, which afterwards is complete or as it was before.

    Raises
    ------
    CertificateError
        CERT-WRITE where the file cannot be written.
    """
    content = dumps(certificate).encode("utf-8")
    target = os.path.realpath(os.fspath(path))
    try:
        if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
            with open(target, "wb") as stream:
                stream.write(content)
            return
        draft = f"{target}.{os.getpid()}.part"
        try:
            with open(draft, "xb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(draft, target)
        except BaseException:
            if os.path.exists(draft):
                os.unlink(draft)
            raise
    except OSError as error:
        raise CertificateError(WRITE, f"cannot write: {error.strerror}", place=Place(os.fspath(path))) from error


def load(path: str | os.PathLike[str]) -> FiledCertificate:
    """Read a certificate from a file; see :func:`loads`.

    Raises
    ------
    CertificateError
        CERT-READ, CERT-SIZE or CERT-ENCODING for the file, and all that :func:`loads` raises.
    """
    name = os.fspath(path)
    place = Place(name)
    try:
        with open(name, "rb") as stream:
            content = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise CertificateError(READ, f"cannot read: {error.strerror}", place=place) from error
    if len(content) > LARGEST_FILE:
        raise CertificateError(SIZE, f"has more than {LARGEST_FILE} bytes", place=place)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CertificateError(ENCODING, f"byte {error.start} is not UTF-8", place=place) from error
    return loads(text, name)


def _separator_members(separator: Separator) -> dict[str, object]:
    weights = separator.weights
    return {
        "alpha": _pairs(separator.alpha, format_number),
        "w": None if weights is None else [format_number(value) for value in weights],
    }


def _witness_members(witness: Witness) -> dict[str, object]:
    return {
        "p": None if witness.p is None else _pairs(witness.p, _whole),
        "support": None if witness.support is None else list(witness.support),
    }


def _whole(value: Fraction) -> str:
    if value.denominator != 1:
        raise ValueError(f"the witness weight {value} is not an integer")
    return format_integer(value.numerator)


def _margin_members(margin: Margin) -> dict[str, object]:
    weights = margin.upper_weights
    return {
        "lower": None if margin.lower is None else format_float(margin.lower),
        "upper": None if margin.upper is None else format_float(margin.upper),
        "upper_weights": None if weights is None else _pairs(weights, format_number),
    }


def _ball_members(ball: Ball) -> dict[str, object]:
    return {
        "inner": format_float(ball.inner),
        "outer": format_float(ball.outer),
        "alpha": _pairs(ball.alpha, format_number),
        "forward": [_pairs(one, format_number) for one in ball.forward],
        "backward": [_pairs(one, format_number) for one in ball.backward],
    }


def _pairs(combination: Combination, write: Callable[[Fraction], str]) -> list[list[object]]:
    return [[row, write(value)] for row, value in zip(combination.rows, combination.values, strict=True)]


def _laid_out(statement: Mapping[str, object]) -> str:
    """Objects at the first two levels get a line a member, so that a reader and a diff see the parts."""
    lines: list[str] = []
    for key, value in statement.items():
        if isinstance(value, dict) and value:
            inner = ",\n".join(f"  {_json(k)}: {_json(v)}" for k, v in value.items())
            lines.append(f" {_json(key)}: {{\n{inner}\n }}")
        else:
            lines.append(f" {_json(key)}: {_json(value)}")
    return "{\n" + ",\n".join(lines) + "\n}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _claims(node: Node) -> tuple[Claim, ...]:
    known = tuple(claim.value for claim in Claim)
    claims = tuple(Claim(item.choice(*known)) for item in node.items())
    if len(set(claims)) < len(claims):
        node.fail(VALUE, "states a claim twice")
    return claims


def _combination(node: Node, parse: Callable[[str], Fraction]) -> Combination:
    """Read [[row, numeral], ...]; numerals that recur are parsed once, for there may be a million."""
    rows: list[int] = []
    values: list[Fraction] = []
    known: dict[str, Fraction] = {}
    if not isinstance(node.value, list):
        node.items()
    for at, pair in enumerate(node.value if isinstance(node.value, list) else ()):
        simple = type(pair) is list and len(pair) == 2 and type(pair[0]) is int
        if not simple or not isinstance(pair[1], str) or pair[1] not in known:
            here = Node(pair, f"{node.path}[{at}]", node.file)
            items = here.items()
            if len(items) != 2:
                here.fail(TYPE, "is not a pair of a row number and a numeral")
            items[0].integer()
            known[items[1].text()] = items[1].numeral(parse)
        rows.append(pair[0])
        values.append(known[pair[1]])
    return Combination(tuple(rows), tuple(values))


def _separator(node: Node) -> Separator:
    fields = node.fields("alpha", "w")
    weights = fields["w"].optional(lambda w: tuple(item.numeral(parse_number) for item in w.items()))
    return Separator(_combination(fields["alpha"], parse_number), weights)


def _witness(node: Node) -> Witness:
    fields = node.fields("p", "support")
    return Witness(
        fields["p"].optional(lambda p: _combination(p, lambda text: Fraction(parse_integer(text)))),
        fields["support"].optional(lambda rows: tuple(item.integer() for item in rows.items())),
    )


def _ball(node: Node) -> Ball:
    fields = node.fields("inner", "outer", "alpha", "forward", "backward")
    forward, backward = (
        tuple(_combination(item, parse_number) for item in fields[name].items()) for name in ("forward", "backward")
    )
    return Ball(
        fields["inner"].numeral(parse_float),
        fields["outer"].numeral(parse_float),
        _combination(fields["alpha"], parse_number),
        forward,
        backward,
    )


def _kernel(node: Node) -> KernelStatement:
    fields = node.fields("name", "parameters", "bias", "bias_scale")
    return KernelStatement(
        fields["name"].text(),
        {name: value.text() for name, value in fields["parameters"].members().items()},
        fields["bias"].flag(),
        fields["bias_scale"].numeral(parse_number),
    )


def _texts(node: Node) -> tuple[str, ...]:
    return tuple(item.text() for item in node.items())


def _dialect(node: Node) -> Dialect:
    fields = node.fields(*Dialect.__dataclass_fields__)
    return Dialect(
        delimiter=fields["delimiter"].text(),
        header=fields["header"].flag(),
        encoding=fields["encoding"].text(),
        compression=fields["compression"].optional(Node.text),
        decimal_comma=fields["decimal_comma"].flag(),
    )


def _description(node: Node) -> DataDescription:
    fields = node.fields(*DataDescription.__dataclass_fields__)
    return DataDescription(
        format=fields["format"].choice(*_FORMATS),
        path=fields["path"].optional(Node.text),
        rows=fields["rows"].integer(),
        rows_read=fields["rows_read"].integer(),
        features=_texts(fields["features"]),
        columns=_texts(fields["columns"]),
        label=fields["label"].optional(Node.text),
        positive=fields["positive"].text(),
        negative=fields["negative"].text(),
        numbers=fields["numbers"].choice(*(numbers.value for numbers in Numbers)),
        dialect=fields["dialect"].optional(_dialect),
        labels_path=fields["labels_path"].optional(Node.text),
        sha256=fields["sha256"].optional(Node.text),
        labels_sha256=fields["labels_sha256"].optional(Node.text),
        matrix_sha256=fields["matrix_sha256"].optional(Node.text),
        dropped=_texts(fields["dropped"]),
        categorical={name: _texts(levels) for name, levels in fields["categorical"].members().items()},
        weight=fields["weight"].optional(Node.text),
        missing=fields["missing"].choice("error", "drop-rows"),
    )
