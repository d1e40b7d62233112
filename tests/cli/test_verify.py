"""``sepcert verify``: outcomes, where the data are looked for, and variables outside ``check``."""

import json
from pathlib import Path

import pytest


def test_certificate_goes_through_verify(sepcert, files, tmp_path):
    done = sepcert("check", files["overlap"], "--certificate", "c.json")
    assert "certificate c.json" in " ".join(done.out.split())
    verified = sepcert("verify", "c.json", files["overlap"])
    assert verified.status == 0
    assert verified.out.startswith("Verified (")
    assert "overlap: Every hyperplane" in verified.out
    assert sepcert("verify", "c.json").status == 0
    assert sepcert("verify", "c.json", files["other"]).status == 1
    assert sepcert("verify", "c.json", files["quasi"]).status in {1, 2}
    (tmp_path / "cut.json").write_text((tmp_path / "c.json").read_text()[:-20])
    cut = sepcert("verify", "cut.json", files["overlap"])
    assert (cut.status, cut.out) == (2, "")


def test_verify_as_json_also_where_nothing_can_be_checked(sepcert, files, tmp_path):
    sepcert("check", files["overlap"], "--certificate", "c.json")
    kernel = (tmp_path / "c.json").read_text().replace('"name": "linear"', '"name": "no-such-kernel"')
    (tmp_path / "kernel.json").write_text(kernel)
    (tmp_path / "cut.json").write_text(kernel[:-20])
    for words, code in [
        (["kernel.json"], None),
        (["cut.json"], "CERT-JSON"),
        (["absent.json"], "CERT-READ"),
        (["c.json", "absent.csv"], "DATA-NOT-FOUND"),
    ]:
        done = sepcert("verify", *words, "--format", "json")
        found = json.loads(done.out)
        assert (done.status, found["outcome"], found["verified"]) == (2, "not-checkable", False)
        assert found["certificate"] == words[0]
        if code is not None:
            assert found["error"]["code"] == code
            assert code in done.err
            assert sepcert("verify", *words).out == ""


def test_data_that_moved_with_their_certificate_or_without(sepcert, files, tmp_path, monkeypatch):
    work, moved = tmp_path / "work", tmp_path / "moved"
    (work / "data").mkdir(parents=True)
    moved.mkdir()
    (work / "data" / "d.csv").write_text(Path(files["overlap"]).read_text())
    monkeypatch.chdir(work)
    sepcert("check", "data/d.csv", "--certificate", "c.json")
    monkeypatch.chdir(tmp_path)
    assert sepcert("verify", "work/c.json").status == 0
    (work / "c.json").rename(moved / "c.json")
    lost = sepcert("verify", "moved/c.json")
    assert (lost.status, lost.out) == (2, "")
    assert "the certificate says that the data are in data/d.csv" in lost.err
    assert "sepcert verify CERT DATA" in lost.err
    assert sepcert("verify", "moved/c.json", "work/data/d.csv").status == 0
    (work / "data" / "d.csv").rename(moved / "d.csv")
    assert sepcert("verify", "moved/c.json").status == 0
    (moved / "d.csv").write_text(Path(files["other"]).read_text())
    assert sepcert("verify", "moved/c.json").status == 1


def test_labels_that_moved(sepcert, tmp_path, monkeypatch):
    (tmp_path / "d.csv").write_text("x\n1\n2\n")
    (tmp_path / "labels.csv").write_text("y\n0\n1\n")
    assert sepcert("check", "d.csv", "--labels", "labels.csv", "--certificate", "c.json").status == 0
    (tmp_path / "labels.csv").rename(tmp_path / "other.csv")
    lost = sepcert("verify", "c.json")
    assert lost.status == 2
    assert "the certificate says that the labels are in labels.csv" in lost.err
    assert sepcert("verify", "c.json", "--labels", "other.csv").status == 0


def test_the_list_of_checks_is_short_and_in_words(sepcert, files):
    sepcert("check", files["overlap"], "--certificate", "c.json")
    for data in ["overlap", "other"]:
        said = sepcert("verify", "c.json", files[data]).out
        assert not any(word in said for word in ("None", "Dialect(", "('", "[]", "{}")), said
    lines = sepcert("verify", "c.json").out.splitlines()
    assert sum("data as described" in line for line in lines) == 1
    assert any("components of sum p_i z_i that are not 0: 0" in line for line in lines)
    assert len(lines) < 12
    assert "FAILED" in sepcert("verify", "c.json", files["other"]).out


@pytest.mark.parametrize(
    "command", [["verify", "c.json"], ["list", "codes"], ["generate", "wedge"], ["check", "d.csv"]]
)
def test_unknown_variables_are_errors_everywhere(sepcert, monkeypatch, command):
    monkeypatch.setenv("SEPCERT_SEDE", "1")
    done = sepcert(*command)
    assert (done.status, done.out) == (2, "")
    assert "CONFIG-KEY" in done.err
    assert "SEPCERT_SEED" in done.err


def test_variables_count_everywhere(sepcert, files, monkeypatch):
    sepcert("check", files["overlap"], "--certificate", "c.json")
    seeded = sepcert("generate", "noisy", "-n", "5", "--seed", "3").out
    monkeypatch.setenv("SEPCERT_FORMAT", "json")
    monkeypatch.setenv("SEPCERT_SEED", "3")
    assert json.loads(sepcert("verify", "c.json").out)["verified"] is True
    assert json.loads(sepcert("list", "kernels").out)["schema"] == "sepcert-list/1"
    assert sepcert("list", "kernels", "--format", "text").out.startswith("gaussian")
    assert sepcert("generate", "noisy", "-n", "5").out == seeded


def test_verify_as_json(sepcert, files):
    sepcert("check", files["overlap"], "--certificate", "c.json")
    for data, outcome in [("overlap", "verified"), ("other", "rejected")]:
        found = json.loads(sepcert("verify", "c.json", files[data], "--format", "json").out)
        assert found["schema"] == "sepcert-verification/1"
        assert found["outcome"] == outcome
        assert found["claims"][:2] == ["inseparable", "overlap"]
        assert found["verified"] is (outcome == "verified")
        assert all(check["passed"] for check in found["checks"]) is (outcome == "verified")
