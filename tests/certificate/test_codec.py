import json
import os
import stat
import string
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sepcert.certificate.codec import dumps, load, loads, save
from sepcert.certificate.filed import FiledCertificate, file_rows, place_rows
from sepcert.certificate.model import (
    Ball,
    Certificate,
    Combination,
    Evidence,
    KernelStatement,
    Margin,
    Separator,
    Witness,
)
from sepcert.certificate.numerals import LONGEST_NUMERAL
from sepcert.data.description import DataDescription, Dialect
from sepcert.errors import CODES, CertificateError
from sepcert.status import Claim

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NAMES = st.lists(TEXT, max_size=3).map(tuple)
MAYBE_TEXT = st.none() | TEXT
COUNT = st.integers(0, 10**9)
NUMBER = st.fractions() | st.floats(allow_nan=False, allow_infinity=False).map(Fraction)
FLOAT = st.none() | st.floats(allow_nan=False, allow_infinity=False).map(lambda v: v + 0.0)
ROWS = st.sets(st.integers(1, 10**9), max_size=4).map(lambda rows: tuple(sorted(rows)))


def combinations_of(values):
    return ROWS.flatmap(
        lambda rows: st.lists(values, min_size=len(rows), max_size=len(rows)).map(
            lambda numbers: Combination(rows, tuple(numbers))
        )
    )


DOUBLE = st.floats(allow_nan=False, allow_infinity=False).map(lambda v: v + 0.0)
SIDE = st.lists(combinations_of(NUMBER), max_size=2).map(tuple)
EVIDENCE = st.builds(
    Evidence,
    claims=st.lists(st.sampled_from(Claim), unique=True).map(tuple),
    separator=st.none()
    | st.builds(Separator, combinations_of(NUMBER), st.none() | st.lists(NUMBER, max_size=3).map(tuple)),
    witness=st.none() | st.builds(Witness, st.none() | combinations_of(st.integers().map(Fraction)), st.none() | ROWS),
    margin=st.builds(Margin, FLOAT, FLOAT, st.none() | combinations_of(NUMBER)),
    ball=st.none() | st.builds(Ball, DOUBLE, DOUBLE, combinations_of(NUMBER), SIDE, SIDE),
)
DATA = st.builds(
    DataDescription,
    format=st.sampled_from(["text", "npy", "npz", "array"]),
    path=MAYBE_TEXT,
    rows=COUNT,
    rows_read=COUNT,
    features=NAMES,
    columns=NAMES,
    label=MAYBE_TEXT,
    positive=TEXT,
    negative=TEXT,
    numbers=st.sampled_from(["decimal", "binary64"]),
    dialect=st.none() | st.builds(Dialect, TEXT, st.booleans(), TEXT, MAYBE_TEXT, st.booleans()),
    labels_path=MAYBE_TEXT,
    sha256=MAYBE_TEXT,
    labels_sha256=MAYBE_TEXT,
    matrix_sha256=MAYBE_TEXT,
    dropped=NAMES,
    categorical=st.dictionaries(TEXT, NAMES, max_size=2),
    weight=MAYBE_TEXT,
    missing=st.sampled_from(["error", "drop-rows"]),
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
CERTIFICATES = st.builds(
    FiledCertificate,
    DATA,
    st.builds(KernelStatement, TEXT, st.dictionaries(TEXT, TEXT, max_size=2), st.booleans(), NUMBER),
    EVIDENCE,
    st.dictionaries(TEXT, JSON, max_size=2),
)


@pytest.fixture
def certificate():
    data = DataDescription(
        "text",
        "d.csv",
        4,
        5,
        ("a", "c=v"),
        ("a", "c"),
        "y",
        "1",
        "0",
        "decimal",
        Dialect(),
        categorical={"c": ("u", "v")},
    )
    rows = Combination((0, 2), (Fraction(1, 3), Fraction(-5, 4)))
    evidence = Evidence(
        (Claim.QUASI_COMPLETE, Claim.MARGIN_AT_MOST),
        Separator(rows, (Fraction(1), Fraction(0), Fraction(-1, 7))),
        Witness(Combination((1, 3), (Fraction(3), Fraction(31)))),
        Margin(None, 0.25, Combination((0, 1), (Fraction(1), Fraction(2)))),
    )
    numbers = {0: 1, 1: 2, 2: 4, 3: 5}
    return Certificate(data, KernelStatement("linear"), evidence, numbers, {"seed": 7, "options": [1.5, None, True]})


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60)
@given(CERTIFICATES)
def test_round_trip(certificate):
    text = dumps(certificate)
    assert loads(text) == certificate
    assert dumps(loads(text)) == text
    json.loads(text)


def test_rows_are_row_numbers_in_the_file(certificate):
    filed = loads(dumps(certificate))
    assert filed == file_rows(certificate)
    assert filed.evidence.separator.alpha.rows == (1, 4)
    assert filed.evidence.witness.p.rows == (2, 5)
    assert place_rows(filed, np.array([1, 2, 4, 5])) == certificate


@pytest.mark.parametrize("numbers", [[1, 2, 4], [2, 4, 5], [], [1, 2, 3, 4, 6]])
def test_rows_that_the_data_lack_are_an_error(certificate, numbers):
    with pytest.raises(CertificateError) as caught:
        place_rows(loads(dumps(certificate)), np.array(numbers, dtype=np.int64))
    assert caught.value.code == "CERT-ROW"


def test_positions_without_row_number_are_an_error(certificate):
    with pytest.raises(CertificateError) as caught:
        dumps(replace(certificate, row_numbers={0: 1, 1: 2, 2: 4}))
    assert caught.value.code == "CERT-ROW"


def test_weights_that_are_not_integers_are_not_written(certificate):
    halves = Witness(Combination((1,), (Fraction(1, 2),)))
    with pytest.raises(ValueError, match="1/2"):
        dumps(replace(certificate, evidence=replace(certificate.evidence, witness=halves)))


def test_every_truncation_is_an_error(certificate):
    text = dumps(certificate)
    for length in range(len(text)):
        with pytest.raises(CertificateError):
            loads(text[:length])


def test_file_errors_and_atomic_save(certificate, tmp_path):
    path = tmp_path / "c.json"
    certificate.save(path)
    assert load(path) == file_rows(certificate)
    assert [p.name for p in tmp_path.iterdir()] == ["c.json"]
    content = path.read_bytes()
    unwritable = replace(certificate, provenance={"seed": float("nan")})
    with pytest.raises(ValueError, match="JSON"):
        save(unwritable, path)
    assert path.read_bytes() == content
    for name, code in (("none.json", "CERT-READ"), ("", "CERT-READ")):
        with pytest.raises(CertificateError) as caught:
            load(tmp_path / name)
        assert caught.value.code == code
    with pytest.raises(CertificateError) as caught:
        save(certificate, tmp_path / "none" / "c.json")
    assert caught.value.code == "CERT-WRITE"
    path.write_bytes(content + b"\xff")
    with pytest.raises(CertificateError) as caught:
        load(path)
    assert caught.value.code == "CERT-ENCODING"
    assert str(path) in str(caught.value)


def test_save_follows_links_and_keeps_special_files(certificate, tmp_path):
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    save(certificate, link)
    assert link.is_symlink()
    assert load(target) == file_rows(certificate)
    save(certificate, os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def _changed(certificate, *path, value):
    """The JSON with one member replaced."""
    whole = json.loads(dumps(certificate))
    inner = whole
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return json.dumps(whole)


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        (("schema",), "sepcert-certificate/2", "CERT-VERSION"),
        (("schema",), 1, "CERT-VERSION"),
        (("claims",), ["separable", "separable"], "CERT-VALUE"),
        (("claims",), ["separabel"], "CERT-VALUE"),
        (("claims",), "separable", "CERT-TYPE"),
        (("data", "rows"), True, "CERT-TYPE"),
        (("data", "rows"), 4.0, "CERT-TYPE"),
        (("data", "rows"), "4", "CERT-TYPE"),
        (("data", "rows"), None, "CERT-TYPE"),
        (("data", "rows"), 10**18, "CERT-NUMBER"),
        (("data", "numbers"), "binary32", "CERT-VALUE"),
        (("data", "features"), [1], "CERT-TYPE"),
        (("data", "features"), {"0": "a"}, "CERT-TYPE"),
        (("data", "categorical"), ["c"], "CERT-TYPE"),
        (("data", "label"), 3, "CERT-TYPE"),
        (("data", "positive"), "\ud800", "CERT-VALUE"),
        (("data", "extra"), None, "CERT-KEY"),
        (("data", "dialect", "header"), 1, "CERT-TYPE"),
        (("data", "dialect", "extra"), 1, "CERT-KEY"),
        (("kernel", "bias"), 0, "CERT-TYPE"),
        (("kernel", "bias_scale"), 1, "CERT-TYPE"),
        (("kernel", "bias_scale"), "0x1.80p+0", "CERT-NUMBER"),
        (("kernel", "parameters"), {"gamma": 1}, "CERT-TYPE"),
        (("separator", "alpha", 0), [1], "CERT-TYPE"),
        (("separator", "alpha", 0), [1, "0x1p+0", 1], "CERT-TYPE"),
        (("separator", "alpha", 0), [True, "0x1p+0"], "CERT-TYPE"),
        (("separator", "alpha", 0), ["1", "0x1p+0"], "CERT-TYPE"),
        (("separator", "alpha", 0), [1, "0x2/0x6"], "CERT-NUMBER"),
        (("separator", "alpha"), None, "CERT-TYPE"),
        (("separator", "w", 2), "0.5", "CERT-NUMBER"),
        (("separator", "w", 2), 0.5, "CERT-TYPE"),
        (("separator", "w", 2), "0x" + "f" * LONGEST_NUMERAL, "CERT-NUMBER"),
        (("witness", "p", 1), [5, "0x1p+0"], "CERT-NUMBER"),
        (("witness", "support"), [2.0], "CERT-TYPE"),
        (("margin", "upper"), "0x1/0x3", "CERT-NUMBER"),
        (("margin", "upper"), 0.25, "CERT-TYPE"),
        (("margin", "slack"), None, "CERT-KEY"),
        (("provenance",), [], "CERT-TYPE"),
        (("provenance", "seed"), float("nan"), "CERT-NUMBER"),
        (("provenance", "seed"), float("inf"), "CERT-NUMBER"),
        (("extra",), None, "CERT-KEY"),
    ],
)
def test_faults_have_a_code_and_a_path(certificate, path, value, code):
    with pytest.raises(CertificateError) as caught:
        loads(_changed(certificate, *path, value=value))
    assert caught.value.code == code
    assert code in CODES
    assert "$" in caught.value.message
    if len(path) > 1 and code != "CERT-KEY":
        assert path[1] in caught.value.message


def test_missing_keys_are_named(certificate):
    whole = json.loads(dumps(certificate))
    for part in (None, "data", "kernel", "separator", "witness", "margin"):
        for key in whole if part is None else whole[part]:
            cut = json.loads(dumps(certificate))
            del (cut if part is None else cut[part])[key]
            with pytest.raises(CertificateError) as caught:
                loads(json.dumps(cut))
            assert caught.value.code == ("CERT-VERSION" if key == "schema" else "CERT-KEY")


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('"seed": 7', '"seed": 7, "seed": 7', "CERT-DUPLICATE"),
        ('"rows": 4', '"rows": 4, "rows": 4', "CERT-DUPLICATE"),
        ('"schema"', '"claims": [], "schema"', "CERT-DUPLICATE"),
        ('"rows": 4', '"rows": 04', "CERT-JSON"),
        ('"rows": 4', '"rows": 4e0', "CERT-TYPE"),
        ('"seed": 7', '"seed": 1e999', "CERT-NUMBER"),
        ('"seed": 7', '"seed": ' + "9" * 5000, "CERT-NUMBER"),
        ('"seed": 7', '"seed": ' + "[" * 30 + "]" * 30, "CERT-DEPTH"),
        ('"seed": 7', '"seed": ' + "[" * 100_000 + "]" * 100_000, "CERT-DEPTH"),
        ('"seed": 7', '"seed": 7,', "CERT-JSON"),
        ('"seed": 7', "'seed': 7", "CERT-JSON"),
        ('"seed": 7', '"seed": "\n"', "CERT-JSON"),
    ],
)
def test_json_is_read_strictly(certificate, old, new, code):
    text = dumps(certificate)
    assert old in text
    with pytest.raises(CertificateError) as caught:
        loads(text.replace(old, new, 1))
    assert caught.value.code == code


@pytest.mark.parametrize("text", ["", "null", "[]", "7", '"x"', "{}", "{} {}", "\ufeff{}", "\0", '{"schema": null}'])
def test_foreign_text_is_an_error(text):
    with pytest.raises(CertificateError):
        loads(text)


def test_trailing_text_is_an_error(certificate):
    text = dumps(certificate)
    assert loads(text + "\n \n") == file_rows(certificate)
    for tail in ("x", "{}", "]", "\0", text):
        with pytest.raises(CertificateError) as caught:
            loads(text + tail)
        assert caught.value.code == "CERT-JSON"


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_random_edits_give_a_certificate_or_an_error(data):
    evidence = Evidence((Claim.INSEPARABLE,), None, Witness(Combination((3, 4), (Fraction(1), Fraction(2)))))
    description = DataDescription("array", None, 4, 4, ("a",), ("a",), None, "1", "0", "binary64")
    text = dumps(FiledCertificate(description, KernelStatement("linear"), evidence))
    at = data.draw(st.integers(0, len(text) - 1))
    length = data.draw(st.integers(0, 3))
    put = data.draw(st.text(string.printable, max_size=3))
    try:
        read = loads(text[:at] + put + text[at + length :])
    except CertificateError:
        return
    assert loads(dumps(read)) == read
