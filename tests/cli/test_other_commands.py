"""``sepcert list``, ``--version``, help."""

import json

import pytest

from sepcert._version import __version__


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version(sepcert, flag):
    done = sepcert(flag)
    assert (done.status, done.out, done.err) == (0, f"sepcert {__version__}\n", "")


@pytest.mark.parametrize("words", [["--help"], ["check", "--help"], ["verify", "--help"], ["list", "--help"]])
def test_help_has_an_example(sepcert, words):
    done = sepcert(*words)
    assert done.status == 0
    assert "Example" in done.out
    assert "sepcert " in done.out.split("Example")[1]
    assert done.err == ""


def test_shell_completion(sepcert, monkeypatch):
    monkeypatch.setenv("_SEPCERT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "sepcert ch")
    monkeypatch.setenv("COMP_CWORD", "1")
    done = sepcert()
    assert (done.status, done.out.split()) == (0, ["check"])


def test_no_words_show_the_help_but_are_not_success(sepcert):
    done = sepcert()
    assert done.status == 2
    assert "check" in done.out


@pytest.mark.parametrize(
    ("registry", "expected"), [("algorithms", "perceptron"), ("kernels", "linear"), ("codes", "CONFIG-KEY")]
)
def test_list(sepcert, registry, expected):
    done = sepcert("list", registry)
    assert done.status == 0
    names = [line.split()[0] for line in done.out.splitlines() if not line.startswith(" ")]
    assert expected in names
    found = json.loads(sepcert("list", registry, "--format", "json").out)
    assert found["schema"] == "sepcert-list/1"
    assert [next(iter(entry.values())) for entry in found[registry]] == names


def test_kernels_with_their_parameters(sepcert):
    kernels = {
        one["name"]: one["parameters"]
        for one in json.loads(sepcert("list", "kernels", "--format", "json").out)["kernels"]
    }
    assert kernels["linear"] == ""
    assert kernels["gaussian"] == "gamma (a number, scale or median)"
    assert kernels["matern"] == "nu (1/2, 3/2 or 5/2), length_scale (a number)"
    assert "parameters: gamma" in sepcert("list", "kernels").out


@pytest.mark.parametrize("command", [[], ["check"], ["margin"], ["race"], ["generate"], ["verify"], ["list"]])
def test_the_short_flag_of_the_help(sepcert, command):
    done = sepcert(*command, "-h")
    assert (done.status, done.err) == (0, "")
    assert done.out == sepcert(*command, "--help").out
    assert not any(word in done.out for word in ("list[", "<str>"))


def test_codes_have_one_sentence_each(sepcert):
    for entry in json.loads(sepcert("list", "codes", "--format", "json").out)["codes"]:
        assert entry["meaning"].endswith("."), entry
        assert entry["code"] == entry["code"].upper()
