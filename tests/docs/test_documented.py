"""Every command, option, error code and algorithm is documented, and the README's commands have their form."""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command

from sepcert.cli.app import app
from sepcert.cli.list import algorithms, codes, kernels
from sepcert.config.settings import SETTINGS

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = (ROOT / "docs" / "cli.md").read_text()
README = (ROOT / "README.md").read_text()
EVERYTHING = README + "".join(path.read_text() for path in sorted((ROOT / "docs").glob("*.md")))
COMMANDS = get_command(app).commands


def documented(word):
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", REFERENCE) is not None


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_commands_are_documented_with_an_example(name):
    assert f"sepcert {name}" in REFERENCE
    assert f"sepcert {name}" in COMMANDS[name].epilog
    assert COMMANDS[name].help


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_options_are_documented(name):
    for parameter in COMMANDS[name].params:
        for spelling in [*parameter.opts, *parameter.secondary_opts]:
            if spelling.startswith("-"):
                assert documented(spelling), spelling
                assert parameter.help, spelling


def test_settings_are_documented():
    for setting in SETTINGS:
        assert f"`{setting.key}`" in REFERENCE, setting.key
        assert documented(setting.flag), setting.flag


def test_no_option_is_documented_that_does_not_exist():
    known = {"--help", "--version", "--install-completion", "--show-completion"}
    for command in COMMANDS.values():
        known.update(o for p in command.params for o in [*p.opts, *p.secondary_opts])
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", REFERENCE)) <= known


def test_error_codes_are_documented_and_no_others():
    table = dict(re.findall(r"^\| `([A-Z][A-Z0-9-]+)` \| (.+) \|$", REFERENCE, re.M))
    assert table == {entry["code"]: entry["meaning"] for entry in codes()}


def test_algorithms_and_kernels_are_documented():
    for entry in [*algorithms(), *kernels()]:
        assert f"`{entry['name']}`" in EVERYTHING, entry["name"]


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def readme_commands():
    return re.findall(r"^```(?:bash|sh|shell|console)\n(.*?)\n```$", README, re.M | re.S)


def test_the_readme_has_two_commands_of_one_line_each():
    commands = readme_commands()
    assert len(commands) == 2
    for command in commands:
        assert "\n" not in command
        first, second, third = command.split(" && ")
        assert first == "python3 -m venv .venv"
        assert shlex.split(second)[:-1] == [".venv/bin/python", "-m", "pip", "install", "--quiet"]
        assert shlex.split(second)[-1] in {".", ".[test]"}
        assert third.startswith(".venv/bin/")
    assert commands[0].endswith("sepcert check sample_data/iris_setosa_vs_versicolor.csv")
    assert commands[1].endswith("-m pytest")


def test_ci_runs_the_commands_of_the_readme():
    script = (ROOT / ".ci" / "run").read_text()
    assert "set -euo pipefail" in script
    assert "README.md" in script
    assert 'bash -euo pipefail -c "$(readme_command 0)"' in script
    assert 'bash -euo pipefail -c "$(readme_command 1)"' in script
    subprocess.run(["bash", "-n", str(ROOT / ".ci" / "run")], check=True)
    assert "bash .ci/run" in (ROOT / ".github" / "workflows" / "ci.yml").read_text()


def test_the_json_of_the_readme_is_true():
    import json

    shown = json.loads(re.search(r"```json\n(.*?)\n```", README, re.S)[1])
    done = subprocess.run(
        [sys.executable, "-m", "sepcert", "check", "sample_data/xor.csv", "--format", "json"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    found = json.loads(done.stdout)
    assert {key: found[key] for key in shown} == shown


def test_the_changelog_names_the_version_or_what_is_unreleased():
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert "## [Unreleased]" in changelog


def test_yaml_files_of_the_project_are_well_formed():
    import yaml

    for name in [".pre-commit-config.yaml", ".pre-commit-hooks.yaml", ".github/workflows/ci.yml"]:
        assert yaml.safe_load((ROOT / name).read_text())
    hook = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())[0]
    assert hook["id"] == "sepcert"
    assert re.search(hook["files"], "data/train.csv")


def test_the_entry_point_exists():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"sepcert": "sepcert.__main__:main"}


def test_the_python_example_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"X": [[0, 0], [1, 1], [0, 1], [1, 0]], "y": [0, 0, 1, 1]}
    exec(re.search(r"```python\n(.*?)\n```", README, re.S)[1], names)
    assert names["result"].separation == "overlap"
    assert (tmp_path / "proof.json").exists()
