"""Another library may leave the processor flushing subnormals to zero: no verdict may depend on it."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from sepcert.verify.evidence import subnormals_are_lost

PROGRAM = """
import ctypes, mmap, sys
from fractions import Fraction
import numpy as np
sys.path.insert(0, sys.argv[1])
from planted_evidence import planted, problem_of, spoiled
from sepcert.certificate.model import Combination, Evidence, Margin, Separator, Witness
from sepcert.status import Claim
from sepcert.verify.evidence import check_evidence, subnormals_are_lost

def load_mxcsr(value):
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex("0fae17c3"))  # ldmxcsr [rdi]; ret
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    word = ctypes.c_uint32(value)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(ctypes.addressof(word))

rng = np.random.default_rng(11)
cases = [planted(rng) for _ in range(120)]
cases += [(problem, spoiled(rng, evidence, problem.rows)) for problem, evidence in cases for _ in range(3)]
numbers = [[v for v in (e.margin.lower, e.margin.upper) if v] for _, e in cases]
cases = [case for case, ends in zip(cases, numbers) if not any(0 < abs(v) < 2.0**-1022 for v in ends)]
scaled = Combination((0, 1), (Fraction(1), Fraction(1)))
for power in (-500, -540, -900, -1000):
    x = np.ldexp(np.array([[3.0, 1.0], [-1.0, 2.0]]), power)
    margin = Margin(2.0**-30, None)
    evidence = Evidence((Claim.SEPARABLE, Claim.MARGIN_AT_LEAST), Separator(scaled, None), margin=margin)
    cases.append((problem_of(x, [1, -1], bias=False), evidence))
    cases.append((problem_of(x, [1, 1], bias=False), evidence))
before = [check_evidence(*case).outcome for case in cases]

tiny = np.array([1], dtype=np.int64).view(np.float64)[0]
subnormal = problem_of([[1.0, tiny], [-1.0, 0.0]], [1, 1], bias=False)
conflict = Evidence((Claim.INSEPARABLE,), None, Witness(scaled))
plain = problem_of([[1.0, 0.0], [1.0, 0.0]], [1, -1])
at_least = Evidence((Claim.SEPARABLE, Claim.MARGIN_AT_LEAST), Separator(scaled, None), margin=Margin(float(tiny), None))
same_side = problem_of([[1.0, 0.0], [1.0, 0.0]], [1, 1], bias=False)
special = (subnormal, conflict), (same_side, at_least)
print(subnormals_are_lost(), *(check_evidence(*case).outcome for case in special))
load_mxcsr(0x1F80 | 0x8040)
print(subnormals_are_lost(), *(check_evidence(*case).outcome for case in special))
print(check_evidence(plain, conflict).outcome)
after = [check_evidence(*case).outcome for case in cases]
print(before == after, len(set(before)))
"""


def test_this_process_keeps_subnormals():
    assert not subnormals_are_lost()


@pytest.mark.skipif(
    platform.machine() not in {"x86_64", "AMD64"} or sys.platform == "win32", reason="sets a register of x86-64"
)
def test_same_answers_with_flushing():
    command = [sys.executable, "-c", PROGRAM, str(Path(__file__).parent)]
    environment = {"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": "", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if "PermissionError" in done.stderr:
        pytest.skip("the system does not allow pages that can be written and executed")
    assert done.stdout.splitlines() == [
        "False rejected verified",
        "True not-checkable not-checkable",
        "verified",
        "True 2",
    ], done.stderr
