"""``sepcert margin``: output, exit statuses, certificate, errors."""

import json
import re

import pytest

KEYS = {"rho", "rho_2", "rho_1", "rho_K", "rho_1_nonnegative", "largest_norm", "rho_over_largest_norm"}


def margins(done):
    return json.loads(done.out)


@pytest.mark.parametrize(
    ("name", "separation"), [("separable", "complete"), ("overlap", "overlap"), ("quasi", "quasi-complete")]
)
def test_json(sepcert, files, name, separation):
    done = sepcert("margin", files[name], "--format", "json", "--quiet")
    assert (done.status, done.err) == (0, "")
    found = margins(done)
    assert found["schema"] == "sepcert-margin/1"
    assert found["separation"] == separation
    assert found["verified"] is found["answered"] is True
    assert found["rho_K"] == found["rho_2"]
    assert found["kernel"] == {**found["kernel"], "name": "linear", "bias": True}
    assert found["data"]["path"] == files[name]
    assert found["gap"] == 1e-3
    for key in KEYS:
        assert found[key]["lower"] <= found[key]["upper"], key
    if name == "separable":
        for key in ("rho", "rho_2", "rho_1"):
            assert found[key]["upper"] - found[key]["lower"] + 1e-300 > 0
            assert found[key]["lower"] >= found[key]["upper"] * (1 - 1e-3) > 0
    elif name == "overlap":
        assert found["rho"]["upper"] < 0
        assert found["rho_2"]["upper"] < 0
        assert found["rho_1"] == {"lower": 0.0, "upper": 0.0}
        assert "negative-margin" in found["claims"]
    else:
        for key in ("rho", "rho_2", "rho_1"):
            assert found[key] == {"lower": 0.0, "upper": 0.0}


@pytest.mark.parametrize("name", ["separable", "overlap", "quasi"])
def test_certificates_verify(sepcert, files, name, tmp_path):
    proof = tmp_path / "proof.json"
    done = sepcert("margin", files[name], "--certificate", proof)
    assert done.status == 0
    assert str(proof) in done.out
    checked = sepcert("verify", proof)
    assert checked.status == 0
    assert ("negative-margin" in checked.out) == (name == "overlap")
    text = proof.read_text()
    assert sepcert("verify", proof, files["other"]).status == 1
    if name == "overlap":
        inner = json.loads(text)["ball"]["inner"]
        proof.write_text(text.replace(f'"inner": "{inner}"', '"inner": "0x1p-1"'))
        done = sepcert("verify", proof)
        assert done.status == 1
        assert "radii of the ball" in done.out


def test_text(sepcert, files):
    done = sepcert("margin", files["separable"])
    first, *rest = done.out.splitlines()
    assert first.startswith("Margins of ")
    assert "complete separation" in first
    for name in ("rho", "rho_2", "rho_1", "rho_K", "proof", "certificate"):
        assert re.search(rf"^  {name} ", done.out, re.M), name
    assert "max|z_i|" in done.out
    assert "between" in done.out
    assert rest
    assert sepcert("margin", files["separable"], "--quiet").out == first + "\n"
    overlap = " ".join(sepcert("margin", files["overlap"]).out.split())
    assert "not linearly separable" in overlap
    assert "rho_1 exactly 0" in overlap


def test_options_of_data_and_problem(sepcert, tmp_path):
    path = tmp_path / "rays.csv"
    path.write_text("id,a,b,side\n1,0.6,0.8,u\n2,6,8,u\n3,0.8,0.6,v\n4,0.08,0.06,v\n")
    words = ("--label", "side", "--drop", "id", "--positive", "u", "--no-bias", "--gap", "1e-9", "--format", "json")
    done = sepcert("margin", path, *words)
    found = margins(done)
    assert done.status == 0
    assert found["data"]["positive"] == "u"
    assert found["kernel"]["bias"] is False
    assert found["rho_2"]["lower"] ** 2 == pytest.approx(0.02, rel=1e-9)
    assert found["rho"]["upper"] < 0.1415
    assert found["largest_norm"] == {"lower": 10.0, "upper": 10.0}
    biased = margins(sepcert("margin", path, *words[:6], "--bias", "--bias-scale", "1/3", "--format", "json"))
    assert biased["kernel"]["bias_scale"] == pytest.approx(1 / 3)


def test_a_limit_that_is_too_short_is_undecided(sepcert, tmp_path):
    import numpy as np

    rng = np.random.default_rng(0)
    x = rng.standard_normal((500, 15))
    np.save(tmp_path / "d.npy", np.column_stack([x, x @ rng.standard_normal(15) > 0]))
    proof = tmp_path / "proof.json"
    words = ("--time-limit-seconds", "1e-9", "--format", "json", "--certificate", proof)
    done = sepcert("margin", tmp_path / "d.npy", *words)
    assert done.status == 3
    found = margins(done)
    assert found["answered"] is False
    assert found["why"]
    assert "not written" in done.err or proof.exists()
    assert sepcert("margin", tmp_path / "d.npy", "--time-limit-seconds", "1e-9").status == 3


def test_seed_makes_no_difference_to_repeated_runs(sepcert, files):
    one, other = (margins(sepcert("margin", files["overlap"], "--seed", 3, "--format", "json")) for _ in range(2))
    assert {**one, "seconds": 0} == {**other, "seconds": 0}


@pytest.mark.parametrize("words", [["--gap", "0"], ["--gap", "x"], ["--bias-scale", "-1"], ["--kernel", "linear"]])
def test_mistakes_are_2(sepcert, files, words):
    done = sepcert("margin", files["separable"], *words)
    assert (done.status, done.out) == (2, "")
    assert done.complaints


def test_what_cannot_run_is_2(sepcert, files, tmp_path):
    assert sepcert("margin", tmp_path / "none.csv").status == 2
    assert sepcert("margin").status == 2
    assert sepcert("margin", files["separable"], "--certificate", tmp_path).status == 2
    done = sepcert("margin", files["separable"], "--certificate", files["separable"])
    assert done.status == 2
    assert "another use" in done.err


def test_standard_input_and_settings_from_a_file(sepcert, tmp_path):
    (tmp_path / "run.yaml").write_text("kernel: {bias: false}\nengine: {gap: 0.5}\n")
    done = sepcert("margin", "-", "-c", tmp_path / "run.yaml", "--format", "json", stdin="a,y\n1,0\n-2,1\n")
    found = margins(done)
    assert done.status == 0
    assert found["gap"] == 0.5
    assert found["rho"] == {"lower": 1.0, "upper": 1.0}


def test_help_has_an_example(sepcert):
    done = sepcert("margin", "--help")
    assert done.status == 0
    assert "sepcert margin" in done.out.split("Example")[1]
