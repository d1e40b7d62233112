"""What only a process of its own shows: closed pipes, interrupts, a full disk, other locales."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_data"


@pytest.mark.parametrize(
    "words",
    [
        ["check", SAMPLES / "xor.csv"],
        ["check", SAMPLES / "xor.csv", "--format", "json"],
        ["list", "codes"],
        ["--version"],
        ["check", "--help"],
    ],
)
def test_a_closed_pipe_is_141_and_silent(spawn, words):
    reader, writer = os.pipe()
    os.close(reader)
    done = spawn(*words, stdout=writer)
    os.close(writer)
    assert done.returncode == 141
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_standard_output_closed_from_the_start():
    command = f'"{sys.executable}" -m sepcert check "{SAMPLES / "xor.csv"}" >&-'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 141
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["check", SAMPLES / "xor.csv"], ["--version"], ["--help"]])
def test_a_full_disk_is_2(spawn, words):
    with open("/dev/full", "w") as full:
        done = spawn(*words, stdout=full)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] + "\n" == (
        "sepcert: error OUTPUT-RESULT: cannot write the result: No space left on device\n"
    )


def test_a_log_on_a_full_disk_is_2(spawn):
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    done = spawn("check", SAMPLES / "iris_setosa_vs_versicolor.csv", "--log", "/dev/full")
    assert done.returncode == 2
    assert "OUTPUT-FILE" in done.stderr


def test_closed_standard_error_does_not_hurt():
    command = f'"{sys.executable}" -m sepcert check -v "{SAMPLES / "xor.csv"}" 2>&-'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 1
    assert done.stdout.startswith("Not linearly separable")


def test_interrupt():
    child = subprocess.Popen(
        [sys.executable, "-m", "sepcert", "check", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )
    child.stdin.write("x,y\n" + "1,0\n" * 100_000)  # more than a pipe holds: the child reads when this returns
    child.stdin.flush()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert out == ""
    assert "interrupted" in err
    assert "Traceback" not in err


def test_other_locales(spawn, tmp_path):
    (tmp_path / "d.csv").write_text("gr\u00f6\u00dfe,y\n1,ja\n2,n\u00e9\n", encoding="utf-8")
    done = spawn("check", "d.csv", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"})
    assert done.returncode == 0
    assert "gr\\xf6\\xdfe" in done.stdout


def test_python_with_optimisation_says_the_same():
    for flag in ["-O", "-OO"]:
        command = [sys.executable, flag, "-m", "sepcert", "check", str(SAMPLES / "xor.csv")]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 1
        assert done.stdout.startswith("Not linearly separable: 4 rows conflict (lines 2, 3, 4, 5)")
