"""``sepcert generate``: formats, truth, and its own commands checked by ``sepcert check``."""

import json
import shlex

import numpy as np
import pytest

from sepcert.workflows.generate import GENERATORS


def said_by(done):
    return dict(line.split(": ", 1) for line in done.err.splitlines())


@pytest.mark.parametrize("ending", ["csv", "npy", "npz"])
@pytest.mark.parametrize("name", sorted(GENERATORS))
def test_the_command_that_it_names_holds(sepcert, tmp_path, name, ending):
    made = sepcert("generate", name, "-n", 25, "-o", f"d.{ending}", "--truth", "t.json")
    assert (made.status, made.out) == (0, "")
    truth = json.loads((tmp_path / "t.json").read_text())
    words = shlex.split(said_by(made)["check"])
    assert words[:3] == ["sepcert", "check", f"d.{ending}"]
    done = sepcert(*words[1:], "--format", "json")
    assert done.status == 0, done.out
    found = json.loads(done.out)
    assert (found["verdict"], found["separation"]) == (truth["verdict"], truth["separation"])
    assert found["kernel"]["bias"] == truth["bias"]
    assert (found["data"]["rows"], len(found["data"]["features"])) == (truth["rows"], truth["columns"])
    if truth["margin"]["lower"] is not None and truth["margin"]["lower"] > 0:
        assert truth["margin"]["lower"] <= found["margin"]["upper"]
        assert found["margin"]["lower"] <= truth["margin"]["upper"]


def test_all_forms_hold_the_same(sepcert, tmp_path):
    words = ["generate", "separable", "-n", "9", "-d", "3", "--seed", "7"]
    on_output = sepcert(*words)
    assert on_output.out.startswith("x1,x2,x3,y\n")
    assert on_output.out.count("\n") == 10
    for ending in ["csv", "npy", "npz"]:
        sepcert(*words, "-o", f"d.{ending}")
    assert (tmp_path / "d.csv").read_text() == on_output.out
    table = np.loadtxt(tmp_path / "d.csv", delimiter=",", skiprows=1)
    assert np.array_equal(np.load(tmp_path / "d.npy"), table)
    archive = np.load(tmp_path / "d.npz")
    assert np.array_equal(np.column_stack([archive["X"], archive["y"]]), table)
    assert sepcert(*words).out == on_output.out
    assert sepcert(*words[:-1], "8").out != on_output.out


def test_truth(sepcert, tmp_path):
    done = sepcert("generate", "wedge", "--r", "3", "-n", "50", "--truth", "t.json")
    truth = json.loads((tmp_path / "t.json").read_text())
    assert truth["schema"] == "sepcert-truth/1"
    assert truth["generator"] == "wedge"
    assert truth["options"] == {"rows": 50, "columns": 2, "r": 3.0, "seed": 0}
    assert (truth["verdict"], truth["bias"], truth["numbers"]) == ("separable", False, None)
    assert said_by(done)["truth"] == "separable (complete), without a bias; 50 rows, 2 features"
    assert said_by(sepcert("generate", "infeasible", "--rho", "0.1"))["margin"].startswith("-0.1 (normalised")
    assert sepcert("generate", "wedge", "-q", "-o", "w.csv").err == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["wedg"], "GENERATE-NAME"),
        (["wedge", "--noise", "0.1"], "GENERATE-OPTION: wedge takes no noise; it takes rows, columns, r"),
        (["wedge", "-n", "x"], "CONFIG-VALUE: --rows: 'x' is not a whole number"),
        (["wedge", "-n", "0"], "CONFIG-VALUE"),
        (["separable", "--rho", "nan"], "CONFIG-VALUE"),
        (["separable", "--rho", "2"], "GENERATE-OPTION"),
        (["separable", "--seed", "-1"], "CONFIG-VALUE"),
        (["separable", "-o", "d.xlsx"], "OUTPUT-KIND"),
        (["separable", "-o", "d.csv", "--truth", "d.csv"], "OUTPUT-FILE"),
        (["separable", "-o", "nowhere/d.csv"], "OUTPUT-FILE"),
        ([], "USAGE"),
    ],
)
def test_what_cannot_be_made_is_2(sepcert, tmp_path, words, said):
    done = sepcert("generate", *words)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert list(tmp_path.iterdir()) == []


def test_the_help_names_every_generator(sepcert):
    said = sepcert("generate", "--help").out
    for name in GENERATORS:
        assert name in said


def test_a_closed_pipe(spawn):
    import os

    reader, writer = os.pipe()
    os.close(reader)
    done = spawn("generate", "sphere", "-n", "20000", stdout=writer)
    os.close(writer)
    assert done.returncode == 141
