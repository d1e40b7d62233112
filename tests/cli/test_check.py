"""``sepcert check``: exit statuses, output, gate, files, and what goes wrong."""

import dataclasses
import json
from itertools import pairwise
from pathlib import Path

import pytest

from sepcert import certify
from sepcert.status import ExitCode, Termination, Verdict

KEYS = {
    "schema": str,
    "verdict": str,
    "separation": (str, type(None)),
    "margin": dict,
    "gate": dict,
    "data": dict,
    "kernel": dict,
    "separator": (dict, type(None)),
    "witness": (dict, type(None)),
    "conflicts": list,
    "other_numbers": (dict, type(None)),
    "algorithm": str,
    "iterations": int,
    "passes": int,
    "seconds": float,
    "verified": bool,
}


@pytest.fixture
def pretend(monkeypatch):
    """Let the check do something else: change its result, or raise."""
    genuine = certify.check_dataset

    def install(change):
        def instead(*arguments, **keywords):
            if isinstance(change, BaseException):
                raise change
            return change(genuine(*arguments, **keywords))

        monkeypatch.setattr(certify, "check_dataset", instead)

    return install


def undecided(result, termination=Termination.TIME_LIMIT):
    run = dataclasses.replace(result.run, termination=termination)
    return dataclasses.replace(result, verdict=Verdict.UNDECIDED, separation=None, run=run)


EXPECTATIONS = {
    "separable": {"separable": 0, "inseparable": 1, "complete": 0, "quasi-complete": 1, "overlap": 1, "any": 0},
    "quasi": {"separable": 1, "inseparable": 0, "complete": 1, "quasi-complete": 0, "overlap": 1, "any": 0},
    "overlap": {"separable": 1, "inseparable": 0, "complete": 1, "quasi-complete": 1, "overlap": 0, "any": 0},
}


@pytest.mark.parametrize(
    ("name", "expect", "status"),
    [(name, expect, status) for name, row in EXPECTATIONS.items() for expect, status in row.items()],
)
def test_expect(sepcert, files, name, expect, status):
    assert sepcert("check", files[name], "--expect", expect).status == status


@pytest.mark.parametrize(
    ("name", "words", "status"),
    [
        ("separable", [], 0),
        ("overlap", [], 1),
        ("overlap", ["--exit-zero"], 0),
        ("separable", ["--expect", "overlap", "--exit-zero"], 0),
        ("separable", ["--min-margin", "0.0001"], 0),
        ("separable", ["--min-margin", "0.99"], 1),
        ("separable", ["--min-margin", "0.99", "--exit-zero"], 0),
        ("overlap", ["--expect", "any", "--min-margin", "0.5"], 1),
    ],
)
def test_gate(sepcert, files, name, words, status):
    assert sepcert("check", files[name], *words).status == status


def test_undecided_is_3_whatever_is_asked(sepcert, files, pretend):
    pretend(undecided)
    for words in [[], ["--exit-zero"], ["--expect", "any"], ["--expect", "any", "--exit-zero"]]:
        done = sepcert("check", files["separable"], *words)
        assert done.status == ExitCode.UNDECIDED
        assert done.out.startswith("Undecided within the limits (time limit)")
        assert "no verdict was proved" in done.out


def test_quiet_tells_that_the_gate_is_undecided(sepcert, files, pretend):
    def without_lower_end(result):
        margin = dataclasses.replace(result.evidence.margin, lower=None)
        return dataclasses.replace(result, evidence=dataclasses.replace(result.evidence, margin=margin))

    pretend(without_lower_end)
    done = sepcert("check", files["separable"], "-q", "--min-margin", "0.0001")
    assert done.status == ExitCode.UNDECIDED
    assert done.out.endswith("; expected separable, margin at least 0.0001: undecided\n")


def test_undecided_writes_no_certificate_and_says_so(sepcert, files, pretend, tmp_path):
    pretend(undecided)
    done = sepcert("check", files["separable"], "--certificate", "c.json")
    assert done.status == ExitCode.UNDECIDED
    assert "c.json was not written" in done.err
    assert not (tmp_path / "c.json").exists()


def test_interrupted_inside_the_engine(sepcert, files, pretend):
    pretend(lambda result: undecided(result, Termination.INTERRUPTED))
    done = sepcert("check", files["separable"])
    assert (done.status, done.out) == (130, "")
    assert done.complaints.startswith("Undecided within the limits (interrupted)")


@pytest.mark.parametrize("words", [[], ["--format", "json"]])
def test_interrupted_elsewhere(sepcert, files, pretend, words):
    pretend(KeyboardInterrupt())
    done = sepcert("check", files["separable"], *words)
    assert (done.status, done.out) == (130, "")
    assert "interrupted before the first iteration" in done.err
    assert "Traceback" not in done.err


def test_out_of_memory(sepcert, files, pretend):
    pretend(MemoryError())
    done = sepcert("check", files["separable"])
    assert (done.status, done.out) == (2, "")
    said = "sepcert: error MEMORY: out of memory; use fewer rows or columns, or a machine with more memory\n"
    assert done.complaints == said


def test_a_crash_is_2_and_one_line(sepcert, files, pretend):
    pretend(ZeroDivisionError("one\ntwo"))
    done = sepcert("check", files["separable"])
    assert (done.status, done.out) == (2, "")
    said = "sepcert: error INTERNAL: internal error: ZeroDivisionError: one two; run again with --debug\n"
    assert done.complaints == said


def test_debug_shows_the_traceback(sepcert, files, pretend):
    pretend(ZeroDivisionError("one"))
    done = sepcert("check", files["separable"], "--debug")
    assert done.status == 2
    assert "Traceback" in done.err
    assert "run again" not in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check"], "USAGE-DATA"),
        (["check", "absent.csv"], "absent.csv"),
        (["check", "."], "error"),
        (["check", "{overlap}", "--lable", "y"], "--label"),
        (["check", "{overlap}", "--gamma", "2"], "takes no parameter 'gamma'"),
        (["check", "{overlap}", "--expect", "seperable"], "separable"),
        (["check", "{overlap}", "--format", "xml"], "json"),
        (
            ["check", "{overlap}", "--kernel", "polynomial"],
            "built kernels: gaussian, laplacian, linear, matern, product, sum",
        ),
        (["check", "{overlap}", "--algorithm", "no-such-thing"], "no-such-thing"),
        (["check", "{overlap}", "--label", "z"], "z"),
        (["check", "{overlap}", "--epsilon", "nan"], "CONFIG-VALUE"),
        (["check", "{overlap}", "--bias-scale", "0"], "CONFIG-VALUE"),
        (["check", "{overlap}", "--no-bias", "--bias-scale", "2"], "CONFIG-CONFLICT"),
        (["margin", "{overlap}", "--no-bias", "--bias-scale", "1/2"], "CONFIG-CONFLICT"),
        (["race", "{overlap}", "--no-bias", "--bias-scale", "2"], "CONFIG-CONFLICT"),
        (["check", "{overlap}", "-q", "-v"], "USAGE-CONFLICT"),
        (["margin", "{overlap}", "-q", "-v"], "USAGE-CONFLICT"),
        (["race", "{overlap}", "-q", "-v"], "USAGE-CONFLICT"),
        (["check", "-", "-"], "USAGE-INPUT"),
        (["check", "-", "--labels", "-"], "USAGE-INPUT"),
        (["check", "{overlap}", "{separable}", "--labels", "-"], "USAGE-INPUT"),
        (["margin", "-", "--labels", "-"], "USAGE-INPUT"),
        (["race", "-", "--labels", "-"], "USAGE-INPUT"),
        (["check", "{overlap}", "--certificate", "-"], "OUTPUT-FILE"),
        (["check", "{overlap}", "--log", "-"], "OUTPUT-FILE"),
        (["margin", "{overlap}", "--certificate", "-"], "OUTPUT-FILE"),
        (["race", "{overlap}", "--plot", "-"], "OUTPUT-FILE"),
        (["race", "{overlap}", "--log", "-"], "OUTPUT-FILE"),
        (["generate", "wedge", "--output", "-"], "OUTPUT-FILE"),
        (["generate", "wedge", "--truth", "-"], "OUTPUT-FILE"),
        (["check", "{overlap}", "--min-margin", "0"], "leave it out and expect separable"),
        (["check", "{overlap}", "--min-margin", "-0.1"], "is not above zero"),
        (["check", "{overlap}", "--seed", "-1"], "--seed: '-1' is below zero"),
        (["generate", "wedge", "--seed", "-1"], "--seed: '-1' is below zero"),
        (["check", "{overlap}", "--seed", "1.5"], "is not a whole number"),
        (["check", "{overlap}", "--seed", "9999999999999999999"], "is too large"),
        (["check", "{overlap}", "--max-iterations", "-3"], "'-3' is not above zero"),
        (["check", "{overlap}", "-c", "absent.yaml"], "CONFIG-FILE"),
        (["check", "{overlap}", "--certificate", "absent/c.json"], "OUTPUT-FILE"),
        (["check", "{overlap}", "--certificate", "."], "OUTPUT-FILE"),
        (["check", "{overlap}", "--log", "absent/log"], "OUTPUT-FILE"),
        (["check", "{overlap}", "{separable}", "--certificate", "c.json"], "USAGE-CERTIFICATE"),
        (["chek"], "Did you mean 'check'"),
        (["list"], "algorithms"),
        (["list", "everything"], "algorithms"),
        (["verify"], "CERT"),
        (["verify", "absent.json"], "absent.json"),
    ],
)
def test_what_could_not_run_is_2(sepcert, files, words, said):
    done = sepcert(*(word.format(**files) for word in words))
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert "Traceback" not in done.err
    assert "internal error" not in done.err


@pytest.mark.parametrize("name", ["separable", "quasi", "overlap"])
def test_json_is_the_contract(sepcert, files, name):
    done = sepcert("check", files[name], "--format", "json")
    assert done.out.count("\n") == 1
    found = json.loads(done.out)
    for key, kind in KEYS.items():
        assert isinstance(found[key], kind), key
    assert found["schema"] == "sepcert-result/1"
    assert found["verified"] is True
    assert found["data"]["rows"] == Path(files[name]).read_text().count("\n") - 1
    assert len(found["data"]["sha256"]) == 64
    assert found["gate"] == {"expect": "separable", "min_margin": None, "holds": name == "separable"}
    assert (found["separator"] is None) == (name == "overlap")
    assert (found["witness"] is None) == (name == "separable")
    assert (found["margin"]["lower"] is None) == (name != "separable")
    assert done.complaints == ""


def test_json_of_known_data(sepcert, files):
    found = json.loads(sepcert("check", files["overlap"], "--format", "json").out)
    assert found["witness"] == {"rows": [1, 2, 3, 4], "p": [0.25] * 4, "g_norm": 0.0, "exact": True}
    assert found["conflicts"] == [{"rows": [1, 2, 3, 4], "p": [0.25] * 4}]
    assert found["margin"]["upper"] == 0.0
    quasi = json.loads(sepcert("check", files["quasi"], "--format", "json").out)
    weights = quasi["separator"]["weights"]
    assert weights["x"] > 0
    assert weights["(bias)"] == pytest.approx(-3 * weights["x"])
    assert quasi["witness"]["rows"] == [3, 4]


def test_several_files_text(sepcert, files):
    done = sepcert("check", files["separable"], files["overlap"])
    assert done.status == 1
    first, second = done.out.split("\n\n")
    assert first.startswith(f"{files['separable']}: Linearly separable")
    assert second.startswith(f"{files['overlap']}: Not linearly separable")


def test_several_files_json(sepcert, files):
    done = sepcert("check", files["separable"], "absent.csv", files["overlap"], "--format", "json")
    assert done.status == 2
    one, failure, two = json.loads(done.out)
    assert (one["verdict"], two["verdict"]) == ("separable", "inseparable")
    assert failure["schema"] == "sepcert-error/1"
    assert failure["data"] == {"path": "absent.csv"}
    assert failure["error"]["code"].startswith("DATA-")
    assert "absent.csv" in done.err


def test_the_worst_of_several_files(sepcert, files, monkeypatch):
    genuine = certify.check_dataset

    def instead(dataset, *arguments, **keywords):
        result = genuine(dataset, *arguments, **keywords)
        return undecided(result) if "quasi" in dataset.description.path else result

    monkeypatch.setattr(certify, "check_dataset", instead)
    separable, quasi, overlap = files["separable"], files["quasi"], files["overlap"]
    assert sepcert("check", separable, separable).status == 0
    assert sepcert("check", separable, overlap).status == 1
    assert sepcert("check", quasi, overlap, separable).status == 3
    assert sepcert("check", "absent.csv", quasi, overlap).status == 2


def test_one_failure_does_not_stop_the_others(sepcert, files, pretend):
    pretend(ZeroDivisionError("x"))
    done = sepcert("check", files["separable"], files["overlap"], "--format", "json")
    assert [entry["error"]["internal"] for entry in json.loads(done.out)] == [True, True]


def test_standard_input(sepcert):
    done = sepcert("check", "-", "--format", "json", stdin="x,y\n1,0\n2,1\n")
    assert done.status == 0
    assert json.loads(done.out)["data"]["path"] == "-"


@pytest.mark.parametrize(
    "words",
    [
        ["--certificate", "overlap.csv"],
        ["--log", "./overlap.csv"],
        ["--labels", "labels.csv", "--certificate", "labels.csv"],
        ["--certificate", "c.json", "--log", "c.json"],
    ],
)
def test_outputs_never_replace_inputs(sepcert, files, tmp_path, words):
    before = (tmp_path / "overlap.csv").read_text()
    done = sepcert("check", files["overlap"], *words)
    assert (done.status, done.out) == (2, "")
    assert "another use for this file" in done.err
    assert (tmp_path / "overlap.csv").read_text() == before


def test_notes_of_several_files_name_their_file(sepcert, files):
    done = sepcert("check", files["separable"], files["overlap"], "-v")
    lines = done.err.splitlines()
    assert all(any(files[name] in line for name in ("separable", "overlap")) for line in lines), done.err
    assert files["overlap"] not in sepcert("check", files["overlap"]).err


def test_the_log_holds_iterations(sepcert, tmp_path):
    points = [(i % 7, i * i % 11) for i in range(60)]
    rows = "".join(f"{a},{b},{int(3 * a > 2 * b + 1)}\n" for a, b in points)
    (tmp_path / "d.csv").write_text("x1,x2,y\n" + rows)
    done = sepcert("check", "d.csv", "--algorithm", "perceptron", "--log", "log.jsonl", "--format", "json")
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert lines
    assert json.loads(done.out)["iterations"] >= lines[-1]["iteration"]
    assert {"iteration", "step", "margin_lower", "margin_upper", "gap", "seconds"} <= set(lines[0])
    numbers = [line["iteration"] for line in lines]
    assert numbers[0] == 0
    assert all(later in {0, sooner + 1} for sooner, later in pairwise(numbers))


def test_show_config_as_json(sepcert, tmp_path):
    (tmp_path / "run.yaml").write_text("kernel: {name: gaussian, gamma: 1/2}\noutput: {format: json}\n")
    found = json.loads(sepcert("check", "--show-config", "-c", "run.yaml", "--seed", "3").out)
    assert found["schema"] == "sepcert-configuration/1"
    assert found["engine"]["seed"] == {"value": 3, "origin": "--seed"}
    assert found["kernel"]["gamma"] == {"value": "1/2", "origin": "run.yaml:1"}
    assert found["kernel"]["bias_scale"] == {"value": "1", "origin": "default"}
    assert found["data"]["drop"] == {"value": [], "origin": "default"}


def test_show_config_needs_no_data_and_runs_nothing(sepcert, tmp_path):
    (tmp_path / "run.yaml").write_text("engine: {seed: 3}")
    done = sepcert("check", "--show-config", "-c", "run.yaml", "--label", "y")
    assert done.status == 0
    assert "seed: 3" in done.out
    assert "# run.yaml:1" in done.out


def test_settings_from_a_file_and_from_variables_are_used(sepcert, files, tmp_path, monkeypatch):
    (tmp_path / "run.yaml").write_text("gate: {expect: overlap}\noutput: {format: json}\n")
    done = sepcert("check", files["overlap"], "-c", "run.yaml")
    assert done.status == 0
    assert json.loads(done.out)["gate"]["expect"] == "overlap"
    monkeypatch.setenv("SEPCERT_EXPECT", "separable")
    assert sepcert("check", files["overlap"], "-c", "run.yaml").status == 1
    assert sepcert("check", files["overlap"], "-c", "run.yaml", "--expect", "any").status == 0


def test_options_of_the_data_are_used(sepcert, tmp_path):
    (tmp_path / "d.csv").write_text("id;colour;w;kind\n1;red;1;u\n2;red;0;v\n3;blue;1;v\n4;blue;2;v\n")
    words = ["--label", "kind", "--drop", "id", "--categorical", "colour", "--weight", "w", "--positive", "u"]
    found = json.loads(sepcert("check", "d.csv", *words, "--no-bias", "--format", "json").out)
    assert found["data"]["rows"] == 3
    assert found["data"]["features"] == ["colour=red"]
    assert (found["data"]["positive"], found["data"]["negative"]) == ("u", "v")
    assert found["kernel"]["bias"] is False


def test_deterministic(sepcert, files):
    def without_time():
        found = json.loads(sepcert("check", files["separable"], "--format", "json", "--seed", "7").out)
        del found["seconds"]
        return found

    assert without_time() == without_time()
