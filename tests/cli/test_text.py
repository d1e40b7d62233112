"""What is said in words: sentences, widths, plain or panel, and what data may not do to a terminal."""

import os
import pty
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from sepcert.cli.guard import printable
from sepcert.cli.render_text import is_rich
from sepcert.cli.wording import count, margin_sentence, outward, shortened

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_data"


def test_first_lines(sepcert, files):
    assert sepcert("check", files["overlap"]).out.startswith(
        "Not linearly separable: 4 rows conflict (lines 2, 3, 4, 5)\n"
    )
    assert sepcert("check", files["separable"]).out.startswith(
        "Linearly separable (complete separation): a hyperplane has all 4 rows strictly on the right side\n"
    )
    assert sepcert("check", files["quasi"]).out.startswith(
        "Quasi-complete separation: a hyperplane has no row on the wrong side, but 2 of 5 rows lie on it\n"
    )


def test_what_to_do_next(sepcert, files):
    for name in ["separable", "quasi"]:
        said = " ".join(sepcert("check", files[name]).out.split())
        assert "estimates of a logistic or probit model do not exist" in said
        assert "Firth" in said
        assert "one-sided intervals" in said
    assert "exist and are finite" in " ".join(sepcert("check", files["overlap"]).out.split())


def test_the_two_readings_are_told_in_one_line(sepcert):
    done = sepcert("check", SAMPLES / "three_collinear_decimal.csv")
    said = " ".join(done.out.split())
    assert (
        "about the numbers as decimals as written; as binary64 doubles it is linearly separable (complete separation)"
        in said
    )
    assert "as binary64" not in sepcert("check", SAMPLES / "xor.csv").out


def test_quiet_is_the_verdict_alone(sepcert, files):
    done = sepcert("check", files["overlap"], "-q")
    assert done.out == "Not linearly separable: 4 rows conflict (lines 2, 3, 4, 5)\n"
    assert done.err == ""


@pytest.mark.parametrize(
    ("name", "words", "added"),
    [
        ("separable", ["--min-margin", "0.99"], "; expected separable, margin at least 0.99: fails"),
        ("separable", ["--expect", "overlap"], "; expected overlap: fails"),
        ("separable", ["--expect", "overlap", "--exit-zero"], "; expected overlap: fails (exit status 0 on request)"),
        ("separable", ["--min-margin", "0.001"], ""),
        ("quasi", [], "; expected separable: fails"),
        ("overlap", ["--expect", "overlap"], ""),
        ("overlap", ["--expect", "quasi-complete"], "; expected quasi-complete: fails"),
        ("overlap", ["--expect", "any", "--min-margin", "0.1"], "; expected any, margin at least 0.1: fails"),
    ],
)
def test_quiet_does_not_hide_a_gate_that_the_verdict_does_not_tell(sepcert, files, name, words, added):
    verdict = sepcert("check", files[name]).out.splitlines()[0]
    assert sepcert("check", files[name], "-q", *words).out == f"{verdict}{added}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--missing", "drop-rows"], "1 row left out for missing values"),
        (["--missing", "drop-rows", "--weight", "w"], "1 row left out for missing values, 2 of weight zero"),
        (["--missing", "drop-rows", "--weight", "v"], "1 row left out for missing values"),
    ],
)
def test_rows_that_were_left_out_are_told(sepcert, tmp_path, words, said):
    (tmp_path / "d.csv").write_text("x,v,w,y\n1,1,1,0\n2,1,0,0\n,1,1,1\n4,1,1,1\n5,2,0,1\n")
    assert f" rows ({said})" in sepcert("check", "d.csv", *words).out
    for command in ["check", "margin"]:
        assert sepcert(command, "d.csv", "-q", *words).out.endswith(f"; {said}\n")
    assert said in sepcert("race", "d.csv", "-q", "--algorithms", "nvn", *words).out.splitlines()[0]


def test_weight_zero_is_told(sepcert, tmp_path):
    (tmp_path / "d.csv").write_text("x,w,y\n1,1,0\n2,0,0\n3,0,1\n4,1,1\n")
    assert "2 rows (2 rows left out of weight zero)" in sepcert("check", "d.csv", "--weight", "w").out
    assert "left out" not in sepcert("check", "d.csv").out
    assert "left out" not in sepcert("check", "d.csv", "-q").out


def fact(done, name):
    """Return what is said under a name; nothing is wrapped in a pipe."""
    return next((line[14:] for line in done.out.splitlines() if line[2:14].strip() == name), None)


def test_the_separator_is_named(sepcert, files, tmp_path):
    assert fact(sepcert("check", SAMPLES / "endometrial.csv"), "separator") == "NV 1 (others 0)"
    assert fact(sepcert("check", files["quasi"]), "separator") == "x 1, (bias) -3"
    assert fact(sepcert("check", files["overlap"]), "separator") is None
    words = ["--label", "low", "--categorical", "race"]
    assert fact(sepcert("check", SAMPLES / "birthwt.csv", *words), "separator").startswith("bwt -1, ")
    (tmp_path / "wide.csv").write_text(
        "".join(
            f"{','.join(map(str, row))}\n" for row in [[*(f"c{j}" for j in range(9)), "y"], [1] * 10, [-1] * 9 + [0]]
        )
    )
    done = sepcert("check", "wide.csv", "--no-bias")
    assert fact(done, "separator") == ", ".join(f"c{j} 1" for j in range(6)) + " and 3 more"


def test_more_rows_in_the_proof_than_in_the_conflict_are_explained(sepcert, files):
    words = ["--label", "low", "--categorical", "race", "--drop", "bwt"]
    done = sepcert("check", SAMPLES / "birthwt.csv", *words)
    assert "10 rows conflict" in done.out
    assert "exact weights on 12 rows" in fact(done, "proof")
    assert "the 10 rows in conflict are minimal" in fact(done, "proof")
    assert "minimal" not in fact(sepcert("check", files["overlap"]), "proof")


def test_proofs_with_kernels_are_told_as_they_are(sepcert, files, tmp_path):
    done = sepcert("check", files["overlap"], "--kernel", "gaussian", "--gamma", "1")
    assert "with proved error bounds" in fact(done, "proof")
    assert fact(done, "kernel") == "gaussian, gamma = 1"
    scaled = sepcert("check", files["overlap"], "--kernel", "gaussian", "--gamma", "scale")
    assert fact(scaled, "kernel") == "gaussian, gamma = 2 (scale)"
    assert fact(sepcert("check", files["overlap"]), "kernel") is None
    assert "exact arithmetic" not in done.out
    (tmp_path / "near.csv").write_text("x,y\n0,0\n1e-9,1\n1,1\n2,0\n3,1\n")
    done = sepcert("check", "near.csv", "--kernel", "gaussian", "--gamma", "0.00001")
    assert "strictly positive definite kernel separates" in fact(done, "proof")
    assert "no separator with a provable margin was found" in fact(done, "proof")
    assert "exact arithmetic" not in done.out


def test_verbose_says_what_is_done_on_standard_error(sepcert, files):
    silent, verbose = sepcert("check", files["overlap"]), sepcert("check", files["overlap"], "-v")
    assert verbose.out == silent.out
    assert len(verbose.err) > len(silent.err)


@pytest.mark.parametrize("columns", [80, 40])
@pytest.mark.parametrize("name", ["separable", "quasi", "overlap"])
def test_nothing_is_wrapped_in_a_pipe(sepcert, files, monkeypatch, columns, name):
    monkeypatch.setenv("COLUMNS", str(columns))
    for command in ["check", "margin"]:
        done = sepcert(command, f"{name}.csv")
        first, *others = done.out.splitlines()
        assert first[0] != " "
        assert all(line.startswith("  ") and line[2] != " " for line in others if line[2:14].strip()), done.out
        assert max(map(len, others)) > 80
        assert not any("\x1b" in line or "\u2500" in line for line in [first, *others])


def test_long_lists_are_shortened(sepcert, tmp_path):
    rows = "".join(f"{i},{i * i},0\n{i},{i * i},1\n" for i in range(40))
    (tmp_path / "d.csv").write_text("a,b,y\n" + rows + "0,-1,1\n")
    done = sepcert("check", "d.csv")
    assert max(map(len, done.out.splitlines()[:3])) <= 120
    assert shortened(range(1, 31), 6) == "1, 2, 3, 4, 5, 6 and 24 more"
    assert shortened([1, 2, 3], 6) == "1, 2, 3"
    assert shortened(range(7), 6) == "0, 1, 2, 3, 4, 5, 6"


def test_data_cannot_command_the_terminal(sepcert, tmp_path):
    (tmp_path / "d.csv").write_text("[red]x[/red],\x1b[31mz,y\n1,2,[bold]\n2,3,[/]\n")
    done = sepcert("check", "d.csv")
    assert done.status == 0
    assert "\x1b" not in done.out + done.err
    assert "[red]x[/red], \\x1b[31mz" in " ".join(done.out.split())
    assert printable("a\x1b[31m\r\u202e\n\u00e9") == "a\\x1b[31m\\r\\u202e\n\u00e9"


@pytest.mark.parametrize("value", [0.1, 1 / 3, 2 / 3, 1e-300, 123456789.123, 5e-324, 0.0, -0.7, 1.0])
def test_bounds_are_rounded_outward(value):
    assert Fraction(outward(value, up=False)) <= Fraction(value) <= Fraction(outward(value, up=True))
    assert float(outward(value, up=True)) == pytest.approx(value, rel=1e-4)


def test_small_words():
    assert count(1, "row") == "1 row"
    assert count(1234, "row") == "1,234 rows"
    assert margin_sentence(None, None) == "no bound proved"
    assert margin_sentence(None, 0.0) == "not positive"
    assert margin_sentence(0.125, 0.25) == "between 0.125 and 0.25 (normalised)"
    assert margin_sentence(None, 0.25) == "at most 0.25 (normalised)"
    assert margin_sentence(0.125, None) == "at least 0.125 (normalised)"


class Terminal:
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("environment", "rich"),
    [
        ({}, True),
        ({"TERM": "xterm"}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),
        ({"CI": "true"}, False),
        ({"TERM": "dumb"}, False),
    ],
)
def test_where_panels_are_welcome(environment, rich):
    assert is_rich(Terminal(), environment) is rich
    assert is_rich(None, environment) is False


def on_a_terminal(columns, *words, **environment):
    """Run the command with standard output on a pseudo-terminal and return what it shows."""
    leader, follower = pty.openpty()
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": str(columns), "TERM": "xterm", **environment}
    command = [sys.executable, "-m", "sepcert", "check", *map(str, words)]
    child = subprocess.Popen(command, stdout=follower, stderr=subprocess.PIPE, env=variables)
    os.close(follower)
    shown = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    os.close(leader)
    child.communicate(timeout=60)
    return child.returncode, shown.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [80, 40])
def test_a_panel_on_a_terminal(columns):
    status, shown = on_a_terminal(columns, SAMPLES / "xor.csv")
    assert status == 1
    assert "\x1b[" in shown
    text = "".join(part.split("m", 1)[1] if i else part for i, part in enumerate(shown.split("\x1b[")))
    assert all(len(line) <= columns for line in text.splitlines())
    assert text.splitlines()[0].startswith("\u256d")
    assert "Not linearly separable" in text


@pytest.mark.parametrize("columns", [80, 40])
def test_plain_lines_on_a_terminal_without_colour(columns):
    Path("xor.csv").write_bytes((SAMPLES / "xor.csv").read_bytes())
    status, shown = on_a_terminal(columns, "xor.csv", NO_COLOR="1")
    assert status == 1
    assert "\x1b" not in shown
    assert "\u256d" not in shown
    assert shown.startswith("Not linearly separable")
    assert all(len(line) <= columns for line in shown.splitlines())
