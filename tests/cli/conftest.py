"""Running the command line inside this process, and small files to run it on."""

import io
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from sepcert.__main__ import main

ROOT = Path(__file__).resolve().parents[2]

SEPARABLE = "x1,x2,y\n0,0,a\n0,1,a\n3,3,b\n4,3,b\n"
OVERLAP = "x1,x2,y\n0,0,0\n1,1,0\n0,1,1\n1,0,1\n"
OTHER = "x1,x2,y\n0,0,0\n1,1,0\n0,1,1\n1,0.5,1\n"
QUASI = "x,y\n1,0\n2,0\n3,0\n3,1\n4,1\n"


@dataclass
class Done:
    status: int
    out: str
    err: str

    @property
    def complaints(self):
        """Standard error without the notes on how the file was read."""
        return "".join(line for line in self.err.splitlines(keepends=True) if not line.startswith("note: "))


@pytest.fixture(autouse=True)
def _clean_surroundings(monkeypatch, tmp_path):
    """An empty folder, no variables that change what is printed, a terminal of 80 columns."""
    monkeypatch.chdir(tmp_path)
    for name in [*(n for n in os.environ if n.startswith("SEPCERT_")), "CI", "NO_COLOR", "TERM"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def sepcert(capsys, monkeypatch):
    """Run the command line in this process."""

    def run(*words, stdin=None):
        if stdin is not None:
            content = stdin.encode() if isinstance(stdin, str) else stdin
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        capsys.readouterr()
        status = main([str(word) for word in words])
        found = capsys.readouterr()
        return Done(status, found.out, found.err)

    return run


@pytest.fixture
def spawn():
    """Run the command line in a process of its own."""

    def run(*words, **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        command = [sys.executable, "-m", "sepcert", *map(str, words)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
        return subprocess.run(command, check=False, text=True, env=environment, timeout=60, **options)

    return run


@pytest.fixture
def files(tmp_path):
    """Files with known verdicts, by name."""
    contents = {"separable": SEPARABLE, "overlap": OVERLAP, "quasi": QUASI, "other": OTHER}
    for name, content in contents.items():
        (tmp_path / f"{name}.csv").write_text(content)
    return {name: str(tmp_path / f"{name}.csv") for name in contents}
