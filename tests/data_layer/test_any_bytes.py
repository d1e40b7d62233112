"""Whatever the file holds, there is a data set or a DataError, and both parsers agree on which."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sepcert.data import text_stream, text_table
from sepcert.data.reader import ReadOptions, read_dataset, rebuild_dataset
from sepcert.data.text_fast import Refused
from sepcert.errors import DataError

PIECES = [
    "0", "1", "-2.5", "1e5", "1,5", "0.1234567890123456789", "a", "b", "NA", "", " ", "\t", '"', '""', ",", ";", "|",
    "\n", "\n", "\r\n", "\r", "#", "nan", "inf", "-", ".", "é", "\u00a0", "1 000", "x y", "'", "\\", "\v", "1e-400",
]  # fmt: skip
SEEDS = ["a,b,y\n1,2,0\n3,4,1\n5,6,1\n", "1;2,5;u\n3;4,5;v\n", "1 2 0\n3 4 1\n", '"a","y"\n"1","no"\n"2","yes"\n']


def outcome(content: bytes, path, refuse: bool, **options):
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_stream, "BLOCK_BYTES", 24)
        if refuse:

            def never(*_args):
                raise Refused

            patch.setattr(text_table.FastParser, "parse", never)
        try:
            dataset = read_dataset(str(path), ReadOptions(**options))
        except DataError as error:
            return error.code, str(error.place), error.message
        exact = dataset.points.exact_rows(range(len(dataset.labels)))
        described = dataset.fingerprint()
        assert rebuild_dataset(described).fingerprint() == described
        return described, exact, dataset.labels.tolist(), dataset.line_numbers(range(len(exact)))


@st.composite
def contents(draw) -> bytes:
    if draw(st.integers(0, 4)) == 0:
        return draw(st.binary(max_size=80))
    text = draw(st.sampled_from([*SEEDS, ""]))
    rng = random.Random(draw(st.integers(0, 2**32)))
    for _ in range(rng.randrange(0, 5)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(PIECES) + text[at + rng.randrange(0, 3) :]
    return text.encode()


@settings(max_examples=400, deadline=None)
@given(contents(), st.sampled_from(["error", "drop-rows"]), st.booleans())
def test_there_is_an_answer_and_both_parsers_give_it(tmp_path_factory, content, missing, last_is_text):
    folder = tmp_path_factory.getbasetemp()
    options = {"missing": missing, "categorical": ("1",) if last_is_text else ()}
    fast = outcome(content, folder / "any.csv", False, **options)
    slow = outcome(content, folder / "any.csv", True, **options)
    assert fast == slow


def test_reading_needs_no_heavy_imports():
    code = (
        "import sys, sepcert.data.reader, sepcert.data.arrays\n"
        "print({'scipy', 'pandas', 'typer', 'rich', 'yaml', 'zipfile', 'flint'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"
