"""Every line of the table of sample data, and every example configuration."""

import json
import re
import shlex
from pathlib import Path

import pytest

from sepcert.config import resolve

ROOT = Path(__file__).resolve().parents[2]
ROWS = re.findall(
    r"^\| `([^`]+)` \| `sepcert ([^`]+)` \| ([a-z-]+) \| ([a-z-]+) \| (\d+) \|",
    (ROOT / "sample_data" / "README.md").read_text(),
    re.M,
)
CONFIGS = sorted((ROOT / "configs").glob("*.yaml"))


def test_the_table_names_every_file():
    assert {row[0] for row in ROWS} == {path.name for path in (ROOT / "sample_data").glob("*.csv")}


@pytest.mark.parametrize(("name", "command", "verdict", "separation", "rows"), ROWS)
def test_sample(sepcert, monkeypatch, name, command, verdict, separation, rows):
    monkeypatch.chdir(ROOT)
    assert f"sample_data/{name}" in command
    done = sepcert(*shlex.split(command), "--format", "json")
    found = json.loads(done.out)
    assert (found["verdict"], found["separation"], found["data"]["rows"]) == (verdict, separation, int(rows))
    assert found["verified"] is True
    assert done.status == (0 if verdict == "separable" else 1)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_configuration(sepcert, tmp_path, path):
    found = resolve({}, {}, str(path), str(tmp_path / "none.toml"))
    assert found.origins
    done = sepcert("check", ROOT / "sample_data" / "iris_setosa_vs_versicolor.csv", "-c", path)
    assert done.status in {0, 1}
    assert done.out
