"""Certificates against data: what must match, and that no change of a certificate makes an untrue one pass."""

import gzip
import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sepcert.certificate.codec import dumps, load, loads, save
from sepcert.certificate.filed import FiledCertificate, place_rows
from sepcert.certificate.model import Combination, Evidence, KernelStatement, Margin, Separator, Witness
from sepcert.certificate.numerals import format_integer, format_number, parse_integer, parse_number
from sepcert.data.arrays import dataset_from_arrays
from sepcert.data.reader import ReadOptions, read_dataset, rebuild_dataset
from sepcert.errors import CertificateError, DataError
from sepcert.problem import Problem
from sepcert.status import CheckOutcome, Claim, Numbers
from sepcert.verify import verify
from sepcert.verify.certificate import verify_certificate
from sepcert.verify.margin import margin_lower, margin_upper
from sepcert.verify.rows import SignedRows

ONE = Fraction(1)
AND = "x1,x2,class\n0,0,0\n0,1,0\n1,0,0\n1,1,1\n"
XOR = "x1,x2,class\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n"
DECIMAL = "a;y\n0.1;1\n0.3;1\n0.2;-1\n-0.4;1\n"
ALIASED = "a,b,c,d,class\n0,0,0,2,0\n0,1,1,2,1\n1,0,1,2,1\n1,1,2,2,0\n"
MIXED = """id,level,w,x,y
1,u,1,0,no
2,u,0,9,yes
3,u,1,0,yes
4,v,2,1,yes
5,v,1,2.5,yes
6,u,1,0,no
"""


def over(*rows):
    return Combination(tuple(rows), (ONE,) * len(rows))


def certificate_of(dataset, evidence, bias=True, bias_scale=ONE):
    kernel = KernelStatement("linear", {}, bias, bias_scale)
    return FiledCertificate(dataset.fingerprint(), kernel, evidence, {"seed": 1, "options": {"epsilon": 0.5}})


def conjunction(dataset):
    alpha = Combination((1, 2, 3, 4), (Fraction(3, 2), ONE, ONE, 2 * ONE))
    separator = Separator(alpha, (Fraction(-3, 2), ONE, ONE))
    problem = Problem(dataset.points, dataset.labels)
    at = Separator(Combination((0, 1, 2, 3), alpha.values), separator.weights)
    q = Combination((1, 2, 3), (ONE, ONE, 2 * ONE))
    margin = Margin(margin_lower(SignedRows(problem), at), margin_upper(SignedRows(problem), q))
    margin = replace(margin, upper_weights=Combination((2, 3, 4), q.values))
    return Evidence(
        (Claim.SEPARABLE, Claim.COMPLETE, Claim.MARGIN_AT_LEAST, Claim.MARGIN_AT_MOST), separator, None, margin
    )


def xor(dataset):
    claims = (Claim.INSEPARABLE, Claim.OVERLAP, Claim.MARGIN_AT_MOST)
    return Evidence(claims, None, Witness(over(1, 2, 3, 4)), Margin(None, 0.0))


def implicit(dataset):
    return Evidence((Claim.INSEPARABLE, Claim.OVERLAP), None, Witness(None, (1, 2, 3, 4)))


def decimals(dataset):
    return Evidence((Claim.OVERLAP,), None, Witness(Combination((1, 2, 3), (ONE, ONE, 2 * ONE))))


def mixed(dataset):
    """Rows 1, 3, 6 meet at level u; rows 4, 5 are off it: w is the coefficient of level=v."""
    alpha = Combination((1, 3, 4, 5), (Fraction(5), Fraction(4), Fraction(5, 3), Fraction(-2, 3)))
    separator = Separator(alpha, (Fraction(0), ONE, Fraction(0)))
    witness = Witness(Combination((1, 3, 6), (ONE, 2 * ONE, ONE)))
    return Evidence((Claim.INSEPARABLE, Claim.QUASI_COMPLETE), separator, witness)


def zero_row(dataset):
    return Evidence((Claim.INSEPARABLE,), None, Witness(over(2)))


FILES = {
    "separable": (AND, {}, conjunction, True),
    "overlap": (XOR, {}, xor, True),
    "implicit": (XOR, {"numbers": Numbers.BINARY64}, implicit, True),
    "decimal": (DECIMAL, {}, decimals, True),
    "aliased": (ALIASED, {}, xor, True),
    "unbiased": ("a,b,y\n1,2,0\n0,0,1\n3,4,1\n", {}, zero_row, False),
    "mixed": (MIXED, {"drop": ("id",), "categorical": ("level",), "weight": "w", "label": "y"}, mixed, True),
}


@pytest.fixture
def filed(tmp_path, monkeypatch):
    """Write the table of a name and return its certificate."""
    monkeypatch.chdir(tmp_path)

    def make(name):
        text, options, evidence, bias = FILES[name]
        Path("data.csv").write_text(text, encoding="utf-8")
        dataset = read_dataset("data.csv", ReadOptions(**options))
        return certificate_of(dataset, evidence(dataset), bias)

    return make


@pytest.mark.parametrize("name", FILES)
def test_true_certificates_verify(filed, name):
    certificate = filed(name)
    save(certificate, "c.json")
    report = verify("c.json")
    assert report.outcome is CheckOutcome.VERIFIED, report.failed
    assert verify("c.json", "data.csv").verified
    assert verify(certificate).verified
    dataset = rebuild_dataset(certificate.data)
    assert verify(place_rows(certificate, dataset.row_numbers)).verified
    assert verify_certificate(replace(certificate, provenance={}), dataset).verified
    Path("data.csv").rename("moved.csv")
    with pytest.raises(DataError):
        verify("c.json")
    assert verify("c.json", "moved.csv").verified


def mutations(value, key):
    """Other values of the same JSON type, and some of other types."""
    if isinstance(value, bool):
        return [not value]
    if value is None:
        return ["x", 0, []]
    if isinstance(value, float):
        return [0.0]
    if isinstance(value, int):
        return [value + 1, value - 1, 0, -value, 10**17]
    if isinstance(value, list):
        return [value[1:], [*value, *value[-1:]], value[::-1], None]
    if isinstance(value, dict):
        return [None, {}]
    numbers = []
    for parse, write in ((parse_number, format_number), (parse_integer, format_integer)):
        try:
            number = parse(value)
        except (ValueError, TypeError):
            continue
        tiny = Fraction(1, 2**60)
        numbers = [number + 1, number - 1, -number, number * 2, 0 * number]
        numbers += [number + tiny, number - tiny] if write is format_number else []
        return [write(v) for v in numbers] + ["0x", value + "0"]
    if key == "claims":
        return [str(claim) for claim in Claim if claim != value]
    flipped = ("0" if value[:1] != "0" else "1") + value[1:]
    return [None, value + "x", flipped, "", "1", "0", "linear", "decimal", "binary64", "drop-rows", "\\ud800"]


def changes(value, path=()):
    """Every change of one value: the path, and the new value."""
    key = next((p for p in reversed(path) if isinstance(p, str)), "")
    for new in mutations(value, key):
        if new != value or type(new) is not type(value):
            yield path, new
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        yield from changes(part, (*path, name))


def applied(whole, path, new):
    copy = json.loads(json.dumps(whole))
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = new
    return json.dumps(copy)


def truth(certificate, dataset, plain_checker):
    """Whether a certificate is about the data, and true."""
    same = replace(dataset.fingerprint(), path=certificate.data.path, labels_path=certificate.data.labels_path)
    kernel = certificate.kernel
    if certificate.data != same or kernel.name != "linear" or kernel.parameters or kernel.bias_scale <= 0:
        return False
    try:
        evidence = place_rows(certificate, dataset.row_numbers).evidence
    except CertificateError:
        return False
    problem = Problem(dataset.points, dataset.labels, bias=kernel.bias, bias_scale=kernel.bias_scale)
    return plain_checker.holds(problem, evidence)


@pytest.mark.parametrize("name", FILES)
def test_every_change_of_one_value(filed, name, plain_checker):
    certificate = filed(name)
    whole = json.loads(dumps(certificate))
    counts = {"refused": 0, "rejected": 0, "still true": 0}
    for path, new in changes(whole):
        if not path or (path[0] == "provenance" and len(path) > 1):
            continue
        try:
            changed = loads(applied(whole, path, new))
        except CertificateError:
            counts["refused"] += 1
            continue
        if path[:2] == ("data", "path"):
            continue
        try:
            dataset = rebuild_dataset(changed.data)
            expected = truth(changed, dataset, plain_checker)
        except (DataError, ValueError):
            expected = False
        try:
            report = verify_report(changed)
        except CertificateError:
            assert path[:2] == ("data", "format")
            continue
        assert expected is not None
        assert report.verified is expected, (path, new, report.failed)
        if path != ("kernel", "name"):
            assert report.outcome is not CheckOutcome.NOT_CHECKABLE, (path, new, report.failed)
        counts["still true" if expected else "rejected"] += 1
    assert counts["refused"] > 30
    assert counts["rejected"] > 30
    assert 0 < counts["still true"] < 40


def verify_report(changed):
    return verify(changed, "data.csv")


def test_kernel_that_is_not_built_cannot_be_checked(filed):
    certificate = filed("overlap")
    other = replace(certificate, kernel=replace(certificate.kernel, name="polynomial", parameters={"degree": "0x2"}))
    report = verify(other)
    assert report.outcome is CheckOutcome.NOT_CHECKABLE
    assert "linear" in report.failed.value
    stray = replace(certificate, kernel=replace(certificate.kernel, parameters={"gamma": "0x1p-1"}))
    assert verify(stray).outcome is CheckOutcome.REJECTED


@pytest.mark.parametrize("name", FILES)
def test_other_data_are_rejected(filed, name):
    certificate = filed(name)
    text = Path("data.csv").read_text()
    for other in (text + text.splitlines()[-1] + "\n", text[:-1], text.replace("1", "2", 1), "oops", "", AND + "\n"):
        Path("other.csv").write_text(other)
        assert verify(certificate, "other.csv").outcome is CheckOutcome.REJECTED
    for missing in ("none.csv", "."):
        with pytest.raises(DataError):
            verify(certificate, missing)


def test_same_matrix_in_another_file_is_rejected_by_its_hash(filed):
    certificate = filed("overlap")
    Path("other.csv").write_text(XOR.replace("1,1,0", "1.0,1,0"))
    assert verify(certificate, "other.csv").failed.name == "data.sha256"


def formats(folder):
    """The same conflict (rows 1 and 3 are equal, their labels differ) in every format."""
    x, y = np.array([[0.5, 1], [2, 3], [0.5, 1]]), np.array([1, 0, 0])
    lines = ["a;b;y", "0,5;1;1", "2;3;0", "0,5;1;0"]
    (folder / "comma.csv").write_text("\n".join(lines) + "\n")
    (folder / "tabs.tsv").write_text("a\tb\ty\n0.5\t1\t1\n2\t3\t0\n0.5\t1\t0\n")
    (folder / "bare.csv").write_text("0.5,1,1\n2,3,0\n0.5,1,0\n")
    (folder / "marked.csv").write_bytes("\ufeffa,b,y\r\n0.5,1,1\r\n2,3,0\r\n0.5,1,0\r\n".encode())
    (folder / "packed.csv.gz").write_bytes(gzip.compress(b"a,b,y\n0.5,1,1\n2,3,0\n0.5,1,0\n"))
    np.save(folder / "whole.npy", np.column_stack([x, y]))
    np.savez(folder / "pair.npz", X=x, y=y)
    np.save(folder / "points.npy", x)
    np.save(folder / "labels.npy", y)
    names = ("comma.csv", "tabs.tsv", "bare.csv", "marked.csv", "packed.csv.gz", "whole.npy", "pair.npz")
    yield from ((name, ReadOptions()) for name in names)
    yield "points.npy", ReadOptions(labels_path="labels.npy")
    yield "tabs.tsv", ReadOptions(positive="0", drop=("b",))


def test_every_format_of_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, options in formats(tmp_path):
        dataset = read_dataset(name, options)
        witness = Witness(over(1, 3))
        certificate = certificate_of(dataset, Evidence((Claim.INSEPARABLE,), None, witness), bias=len(name) % 2 == 0)
        save(certificate, "c.json")
        assert load("c.json") == certificate
        report = verify("c.json")
        assert report.verified, (name, report.failed)
        wrong = replace(certificate, evidence=replace(certificate.evidence, witness=Witness(over(1, 2))))
        assert verify(wrong).outcome is CheckOutcome.REJECTED


def test_arrays():
    x, y = np.array([[0.1, 1.0], [2.0, 3.0], [0.1, 1.0]]), np.array(["b", "a", "a"])
    witness = Evidence((Claim.INSEPARABLE,), None, Witness(over(1, 3)))
    for numbers in Numbers:
        for positive in ("a", "b"):
            dataset = dataset_from_arrays(x, y, numbers=numbers, positive=positive, feature_names=["p", "q"])
            certificate = certificate_of(dataset, witness, bias=False)
            assert verify(certificate, X=x, y=y).verified
            assert verify(certificate, X=x.tolist(), y=y.tolist()).verified
            assert verify(certificate, X=x, y=y[::-1]).failed.name == "data.matrix_sha256"
            assert verify(certificate, X=x[:2], y=y[:2]).failed.name == "data.rows"
            assert verify(certificate, X=x, y=np.array([1, 0, 0])).failed.name == "data.positive"
            assert not verify(certificate, X=x[:, :1], y=y).verified
    for arguments in ({}, {"X": x}, {"y": y}, {"X": x, "y": y, "data": "d.csv"}):
        with pytest.raises(CertificateError) as caught:
            verify(certificate, **arguments)
        assert caught.value.code == "CERT-NO-DATA"


def test_rows_keep_their_numbers_when_rows_are_left_out(filed):
    certificate = filed("mixed")
    assert certificate.data.rows == 5
    assert certificate.data.rows_read == 6
    wrong = replace(certificate.evidence.witness, p=Combination((1, 2, 6), (ONE, 2 * ONE, ONE)))
    report = verify(replace(certificate, evidence=replace(certificate.evidence, witness=wrong)))
    assert report.failed.name == "rows that the evidence names"


PROGRAM = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.startswith(("sepcert.engine", "sepcert.exact", "sepcert.certify", "scipy")):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Blocked())
import sepcert.verify.evidence
from sepcert.verify import verify
from sepcert.errors import SepcertError
for path in sys.argv[1:]:
    try:
        print(verify(path).outcome)
    except SepcertError as error:
        print(error.code)
"""


@pytest.mark.parametrize("flags", [[], ["-O"], ["-OO"]])
def test_without_engine_and_without_assertions(filed, flags):
    certificate = filed("mixed")
    save(certificate, "true.json")
    p = Combination((1, 3, 6), (ONE, ONE, ONE))
    save(replace(certificate, evidence=replace(certificate.evidence, witness=Witness(p))), "false.json")
    Path("cut.json").write_text(Path("true.json").read_text()[:-1])
    command = [sys.executable, *flags, "-c", PROGRAM, "true.json", "false.json", "cut.json"]
    environment = {"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": ""}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.stdout.split() == ["verified", "rejected", "CERT-JSON"], done.stderr


def test_public_name_is_callable_whatever_was_imported(filed):
    save(filed("overlap"), "c.json")
    program = "import sepcert{0}; print(sepcert.verify('c.json').verified, sepcert.verify('c.json').verified)"
    for first in ("", ".verify", ".verify.evidence", "; sepcert.verify"):
        command = [sys.executable, "-c", program.format(first)]
        environment = {"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": ""}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert done.stdout.split() == ["True", "True"], done.stderr
