"""``sepcert race``: table, JSON, picture, log, exit statuses."""

import dataclasses
import json
import os
import pty
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from sepcert.cli.race_text import race_text, short_number, whole
from sepcert.engine.registry import ALGORITHMS
from sepcert.status import Verdict
from sepcert.workflows.race import race

ROOT = Path(__file__).resolve().parents[2]
RUN_KEYS = {
    "algorithm": str,
    "verdict": str,
    "iterations": int,
    "products": (int, float),
    "cpu_seconds": float,
    "margin": dict,
    "bound": (float, type(None)),
    "verified": bool,
}


def test_json(sepcert, files):
    done = sepcert("race", files["separable"], "--format", "json")
    assert done.status == 0
    assert done.out.count("\n") == 1
    found = json.loads(done.out)
    assert found["schema"] == "sepcert-race/1"
    assert [run["algorithm"] for run in found["runs"]] == list(ALGORITHMS)
    for run in found["runs"]:
        for key, kind in RUN_KEYS.items():
            assert isinstance(run[key], kind), key
        assert set(run["margin"]) == {"lower", "upper"}
        assert run["verdict"] == "separable"
    assert found["not_applicable"] == []
    assert found["data"]["rows"] == 4
    assert found["limits"] == {"max_iterations": 10_000, "time_limit_seconds": 10.0, "epsilon": None, "gap": None}


@pytest.mark.parametrize("columns", [80, 200, 40])
@pytest.mark.parametrize("name", ["separable", "overlap"])
def test_the_table_fits(sepcert, files, monkeypatch, columns, name):
    monkeypatch.setenv("COLUMNS", str(columns))
    done = sepcert("race", f"{name}.csv", "--max-iterations", 200)
    _, *others = done.out.split("\ndata ")[0].splitlines()
    assert done.status == 0
    assert all(len(line) <= columns for line in others), done.out
    names = [entry.name if columns == 200 else (entry.aliases or (entry.name,))[0] for entry in ALGORITHMS.values()]
    assert set(names) <= {line.split()[0] for line in others if line}


def test_sentences_are_not_wrapped_in_a_pipe(sepcert, files):
    done = sepcert("race", files["overlap"], "--max-iterations", 200)
    below = done.out.split("\n\n")[2]
    assert all(line[0] != " " for line in below.splitlines())
    assert max(map(len, below.splitlines())) > 80


def test_first_lines(sepcert, files):
    words = ["--max-iterations", "100", "--algorithms", "snkp,nvn"]
    assert sepcert("race", files["separable"], *words).out.startswith(
        "Linearly separable: proved by 2 of 2 algorithms\n"
    )
    assert sepcert("race", files["overlap"], *words, "-q").out.startswith("Not linearly separable: proved by 2 of 2")
    said = sepcert("race", files["separable"], "--no-bias", *words).out
    assert said.startswith("Linearly separable, without a bias: proved by") or "zero" in said


def test_undecided_is_3(sepcert, files):
    done = sepcert("race", files["overlap"], "--algorithms", "perceptron,winnow", "--max-iterations", "5")
    assert done.status == 3
    assert done.out.startswith("Undecided within the limits: 2 algorithms ran, and none of them proved anything\n")
    assert "stopped   iteration limit: perceptron, winnow" in done.out
    assert json.loads(
        sepcert("race", files["overlap"], "--algorithms", "winnow", "--max-iterations", "5", "--format", "json").out
    )["runs"][0]["margin"] == {"lower": None, "upper": None}


def test_no_algorithm_applies(sepcert, tmp_path):
    (tmp_path / "zero.csv").write_text("a,b,y\n1,2,0\n0,0,1\n2,1,1\n")
    done = sepcert("race", "zero.csv", "--no-bias")
    assert done.status == 3
    assert done.out.startswith("Undecided: no algorithm could run\n")
    assert "left out  perceptron, normalized-perceptron" in done.out
    assert "row 2 has norm zero" in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.csv"], "DATA-NOT-FOUND"),
        ([], "USAGE"),
        (["separable.csv", "--algorithms", "nonsense"], "CONFIG-ALGORITHM"),
        (["separable.csv", "--algorithms", "auto"], "auto chooses among the algorithms"),
        (["separable.csv", "--gap", "x"], "CONFIG-VALUE"),
        (["separable.csv", "--plot", "separable.csv"], "OUTPUT-FILE"),
        (["separable.csv", "--plot", "nowhere/p.svg"], "OUTPUT-FILE"),
        (["separable.csv", "--plot", "."], "OUTPUT-FILE"),
        (["separable.csv", "--plot", "p.svg", "--log", "p.svg"], "OUTPUT-FILE"),
        (["separable.csv", "--kernel", "nonsense"], "KERNEL-UNKNOWN"),
    ],
)
def test_what_cannot_run_is_2(sepcert, files, words, said):
    content = Path(files["separable"]).read_text()
    done = sepcert("race", *words)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert Path(files["separable"]).read_text() == content


def test_picture(sepcert, files, tmp_path):
    done = sepcert("race", files["separable"], "--plot", "p.svg")
    text = (tmp_path / "p.svg").read_text()
    root = ET.fromstring(text)
    said = [element.text for element in root.iter() if element.tag.endswith("text")]
    for name in ALGORITHMS:
        assert f"{name} (separable)" in said
    assert "products with G" in said
    assert "Brackets on the normalised margin: separable.csv" in said
    assert "script" not in text
    assert "href" not in text
    assert "picture   p.svg" in done.out


def test_log(sepcert, files, tmp_path):
    done = sepcert("race", files["overlap"], "--log", "l.jsonl", "--max-iterations", "30", "--format", "json")
    lines = [json.loads(line) for line in (tmp_path / "l.jsonl").read_text().splitlines()]
    common = {"event", "iteration", "step", "margin_lower", "margin_upper", "gap", "seconds", "products", "passes"}
    assert all(common | {"algorithm"} <= set(line) for line in lines)
    for run in json.loads(done.out)["runs"]:
        mine = [line["iteration"] for line in lines if line["algorithm"] == run["algorithm"]]
        assert mine == list(range(run["iterations"] + 1))


def test_the_same_seed_gives_the_same_answer(sepcert, files):
    def answer():
        found = json.loads(sepcert("race", files["overlap"], "--max-iterations", "50", "--format", "json").out)
        for run in found["runs"]:
            del run["cpu_seconds"], run["proof_cpu_seconds"]
        return found

    assert answer() == answer()


def test_options_from_everywhere(sepcert, files, monkeypatch, tmp_path):
    monkeypatch.setenv("SEPCERT_MAX_ITERATIONS", "3")
    (tmp_path / "run.yaml").write_text("kernel: {bias_scale: 1/2}\nengine: {epsilon: 0.25}\n")
    done = sepcert("race", files["overlap"], "-c", "run.yaml", "--format", "json", "--algorithms", "nkp", "--seed", "4")
    found = json.loads(done.out)
    assert found["limits"] == {"max_iterations": 3, "time_limit_seconds": None, "epsilon": 0.25, "gap": None}
    assert found["kernel"]["bias_scale"] == 0.5
    assert found["seed"] == 4
    assert found["runs"][0]["bound"] == 16.0


def test_standard_input(sepcert):
    done = sepcert("race", "-", "--algorithms", "nvn", stdin="x,y\n1,0\n2,0\n3,1\n")
    assert done.status == 0
    assert "standard input: 3 rows, 1 feature" in done.out


def test_interrupted(sepcert, files, monkeypatch):
    from sepcert.workflows import contest

    genuine = contest.Trace.__call__

    def interrupted(self, record):
        genuine(self, record)
        if record.iteration == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(contest.Trace, "__call__", interrupted)
    done = sepcert("race", files["overlap"], "--algorithms", "perceptron,nkp")
    assert (done.status, done.out) == (130, "")
    assert "left out  normalized-kernel-perceptron: the race was interrupted" in done.err


def test_wide_on_a_wide_terminal_and_no_colours():
    leader, follower = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "170", "TERM": "xterm"}
    command = [sys.executable, "-m", "sepcert", "race", str(ROOT / "sample_data" / "xor.csv"), "--max-iterations", "9"]
    child = subprocess.Popen(command, stdout=follower, stderr=subprocess.PIPE, env=environment)
    os.close(follower)
    shown = b""
    try:
        while chunk := os.read(leader, 65536):
            shown += chunk
    except OSError:
        pass
    os.close(leader)
    child.communicate(timeout=60)
    assert child.returncode == 0
    assert b"iterated-smoothed-kernel-perceptron-von-neumann" in shown
    assert b"\x1b" not in shown


@pytest.mark.parametrize(
    ("value", "up", "said"),
    [
        (None, None, "-"),
        (0.0, True, "0"),
        (0.0123456, False, "0.0123"),
        (0.0123456, True, "0.0124"),
        (1.5, None, "1.5"),
        (895.5, None, "896"),
        (123456.0, None, "123000"),
        (1.23456e-7, True, "1.24e-7"),
        (-0.5, False, "-0.5"),
        (2.5e9, None, "2.5e9"),
    ],
)
def test_short_numbers(value, up, said):
    assert short_number(value, up=up) == said


def test_counts():
    assert [whole(v) for v in [None, 0, 10_000.7, 999_999, 1e6, 23_456_789]] == [
        "-",
        "0",
        "10000",
        "999999",
        "1e6",
        "2.35e7",
    ]


def test_a_claim_that_was_not_proved_is_told():
    result = race([[0.0], [1.0]], [0, 1], algorithms=["snkp"])
    (run,) = result.runs
    unproved = dataclasses.replace(run, verdict=Verdict.UNDECIDED, verified=False)
    said = race_text(dataclasses.replace(result, runs=(unproved,)), "d.csv", 100)
    assert "claimed in doubles, but not proved within the limits: snkp" in said
    assert "claimed" not in race_text(result, "d.csv", 100)
