"""The live display and the iteration log."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from sepcert.cli.progress import Display, IterationLog
from sepcert.engine.protocol import IterationRecord
from sepcert.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]

SCRIPT = """
from sepcert.cli import progress
from sepcert.engine.protocol import IterationRecord

progress._DELAY_SECONDS = progress._REFRESH_SECONDS = 0.0
with progress.Display(live=True, verbose=True) as display:
    display.loading(30, 100)
    display.loading(30, None)
    display.say("searching [bold]hard")
    for k in range(20):
        display.record(IterationRecord(k, 0.5, None, 0.25, None, 0.1, 1.0, 1.0, {"worst": k}))
    assert display.last.iteration == 19
"""


def record(iteration, **extra):
    return IterationRecord(iteration, 0.5, -0.125, 0.25, None, 0.1, 1.0, 2.0, extra)


def on_a_terminal(**environment):
    leader, follower = pty.openpty()
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", **environment}
    child = subprocess.Popen([sys.executable, "-c", SCRIPT], stderr=follower, stdout=subprocess.PIPE, env=variables)
    os.close(follower)
    shown = b""
    try:
        while chunk := os.read(leader, 65536):
            shown += chunk
    except OSError:
        pass
    os.close(leader)
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 0
    assert out == b""
    return shown.decode()


def test_live_on_a_terminal():
    shown = on_a_terminal()
    for word in ["reading", "searching [bold]hard", "iteration", "margin lower", "worst", "19", "0.25"]:
        assert word in shown


def test_no_live_display_without_colour():
    shown = on_a_terminal(NO_COLOR="1")
    assert shown.split() == ["searching", "[bold]hard"]


def test_silent_where_it_is_no_terminal(capsys):
    with Display(live=True, verbose=False) as display:
        display.loading(1, 2)
        display.say("stage")
        display.record(record(1))
        display.note("something to know")
        assert display.last.iteration == 1
    assert capsys.readouterr() == ("", "note: something to know\n")


def test_the_log(tmp_path):
    log = IterationLog(str(tmp_path / "log"), several=False)
    log(record(1, worst=3))
    log(record(2, worst=4))
    log.close()
    first, second = (json.loads(line) for line in (tmp_path / "log").read_text().splitlines())
    assert (first["iteration"], second["iteration"], second["worst"]) == (1, 2, 4)
    assert (first["margin_lower"], first["margin_upper"], first["gap"]) == (-0.125, 0.25, None)
    assert "path" not in first


def test_the_log_of_several_files_names_them(tmp_path):
    log = IterationLog(str(tmp_path / "log"), several=True)
    for log.data in ["a.csv", "b.csv"]:
        log(record(1))
    log.close()
    assert [json.loads(line)["path"] for line in (tmp_path / "log").read_text().splitlines()] == ["a.csv", "b.csv"]


def test_a_log_that_cannot_be_written(tmp_path):
    with pytest.raises(ConfigError) as caught:
        IterationLog(str(tmp_path), several=False)
    assert caught.value.code == "OUTPUT-FILE"
