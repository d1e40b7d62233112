import re
from pathlib import Path

import numpy as np
import pytest

import sepcert.certificate.codec
from sepcert.certificate.codec import dumps, loads
from sepcert.certificate.model import SCHEMA
from sepcert.status import Claim

PAGE = Path(sepcert.certificate.codec.__file__).with_name("FORMAT.md").read_text(encoding="utf-8")
TABLES = re.findall(r"```csv\n(.*?)```", PAGE, re.S)
CERTIFICATES = re.findall(r"```json\n(.*?)\n```", PAGE, re.S)


def test_page_names_every_key_and_claim():
    assert SCHEMA in PAGE
    for claim in Claim:
        assert f"`{claim}`" in PAGE
    for key in re.findall(r'^ +"(\w+)":', "\n".join(CERTIFICATES), re.M):
        assert f"`{key}`" in PAGE or key in {"program", "algorithm"}


@pytest.mark.parametrize("k", range(2))
def test_examples_are_written_as_the_codec_writes_them(k):
    assert dumps(loads(CERTIFICATES[k])) == CERTIFICATES[k]


@pytest.mark.parametrize("k", range(2))
def test_examples_verify_and_change_of_the_table_is_noticed(k, tmp_path, monkeypatch):
    from sepcert.verify import verify

    monkeypatch.chdir(tmp_path)
    Path("c.json").write_text(CERTIFICATES[k], encoding="utf-8")
    name = loads(CERTIFICATES[k]).data.path
    Path(name).write_text(TABLES[k], encoding="utf-8")
    assert verify("c.json").verified
    assert verify("c.json", name).verified
    Path(name).write_text(TABLES[k].replace("1,1,", "1,2,"), encoding="utf-8")
    assert verify("c.json").failed.name == "data.sha256"


def test_implicit_form_of_the_first_example():
    from sepcert.problem import Points, Problem
    from sepcert.status import Numbers
    from sepcert.verify.positive_solution import has_positive_solution
    from sepcert.verify.rows import SignedRows

    points = Points(np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]]), Numbers.DECIMAL)
    problem = Problem(points, np.array([-1, 1, 1, -1], dtype=np.int8))
    assert has_positive_solution(SignedRows(problem), (0, 1, 2, 3))[0]
