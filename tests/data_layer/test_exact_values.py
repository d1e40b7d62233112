"""Exact rows are what the file says, whatever the dialect; the file must not change meanwhile."""

from __future__ import annotations

import csv
import gzip
import io
import os
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sepcert.data import text_stream
from sepcert.data.numerals import exact_number
from sepcert.data.reader import ReadOptions, read_dataset, rebuild_dataset
from sepcert.errors import DataError
from sepcert.status import Numbers

DECIMALS = st.one_of(
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**6), max_value=10**6).map(
        lambda x: format(x, "f")
    ),
    st.integers(-(10**25), 10**25).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-10, 10).map(lambda x: f"{x:.3f}"),
    st.floats(-10, 10).map(lambda x: f"{x:.18e}"),
    st.integers(-9, 9).map(str),
    st.builds(lambda m, e: f"{m}e{e}", st.integers(-999, 999), st.integers(-340, 300)),
)


@st.composite
def tables(draw):
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(DECIMALS, min_size=width, max_size=width), min_size=2, max_size=12))
    dialect = {
        "delimiter": draw(st.sampled_from([",", ";", "\t", "|"])),
        "quoting": draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        "lineterminator": draw(st.sampled_from(["\n", "\r\n", "\r"])),
    }
    layout = {
        "comma": dialect["delimiter"] != "," and draw(st.booleans()),
        "header": draw(st.booleans()),
        "blank_lines": draw(st.booleans()),
        "mark": draw(st.booleans()),
        "gzip": draw(st.booleans()),
        "block": draw(st.sampled_from([16, 64, 1 << 20])),
    }
    if layout["comma"]:
        rows.append(["0.5"] * width)  # for 1,234 alone might have a thousands separator
    return rows, dialect, layout


def written(rows, dialect, layout) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, **dialect)
    if layout["header"]:
        writer.writerow([*(f"col{j}" for j in range(len(rows[0]))), "y"])
    for i, row in enumerate(rows):
        fields = [x.replace(".", ",") for x in row] if layout["comma"] else row
        writer.writerow([*fields, i % 2])
        if layout["blank_lines"] and i % 3 == 1:
            out.write(dialect["lineterminator"])
    data = ("\ufeff" if layout["mark"] else "").encode() + out.getvalue().encode()
    return gzip.compress(data) if layout["gzip"] else data


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables())
def test_what_the_csv_module_writes_is_read_exactly(shared_files, table):
    rows, dialect, layout = table
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_stream, "BLOCK_BYTES", layout["block"])
        dataset = shared_files.read(written(rows, dialect, layout), delimiter=dialect["delimiter"])
        truth = [[Fraction(Decimal(x)) for x in row] for row in rows]
        assert dataset.points.exact_rows(range(len(rows))) == truth
        np.testing.assert_array_equal(dataset.points.values, [[float(x) for x in row] for row in rows])
        doubles = [[Fraction(float(x)) for x in row] for row in rows]
        assert dataset.other_reading.exact_rows(range(len(rows))) == doubles
        assert dataset.labels.tolist() == [1 if i % 2 else -1 for i in range(len(rows))]
        again = rebuild_dataset(dataset.fingerprint())
        assert again.fingerprint() == dataset.fingerprint()
        assert again.points.exact_rows([len(rows) - 1]) == truth[-1:]


@pytest.mark.parametrize(("suffix", "encoding"), [("", "utf-8"), (".gz", "utf-8"), ("", "utf-16")])
def test_rows_from_many_places(files, suffix, encoding):
    rng = np.random.default_rng(0)
    numerals = [[f"{x:.19f}" for x in row] for row in rng.normal(size=(3000, 3))]
    text = "".join(f"{','.join(row)},{i % 2}\n" for i, row in enumerate(numerals)).encode(encoding)
    dataset = files.read(gzip.compress(text) if suffix else text, "d.csv" + suffix)
    assert dataset.points.irregular.all()
    wanted = [2999, 0, 64, 63, 65, 1500, 0, 1501]
    truth = [[exact_number(x) for x in numerals[i]] for i in wanted]
    assert dataset.points.exact_rows(wanted) == truth
    assert dataset.points.exact_source(wanted) == truth


def test_levels_and_left_out_rows_in_exact_rows(files):
    long = "0.1234567890123456789"
    text = f"a,k,w,b,y\n9,u,0,9,0\n{long},u,1,1,0\n2,v,1,{long},1\nNA,v,1,3,1\n{long},w,2,4,1\n"
    dataset = files.read(text, categorical=("k",), weight="w", missing="drop-rows")
    exact = exact_number(long)
    assert dataset.points.irregular.tolist() == [True, True, True]
    assert dataset.points.exact_rows([0, 1, 2]) == [[exact, 0, 0, 1], [2, 1, 0, exact], [exact, 0, 1, 4]]


@pytest.mark.parametrize(
    ("numeral", "irregular"),
    [("0.123456789012345", False), ("0.1234567890123456", True), ("000000000000000000.5", False),
     ("1.50000000000000000000", False), ("9007199254740991", False), ("9007199254740993", True), ("1e23", True),
     ("1e-320", True), ("1e-400", True), ("0e-400", False), ("1600000000000000", False), ("1e22", True)],
)  # fmt: skip
def test_irregular_rows(files, numeral, irregular, slowly):
    for name in ("one.csv", "two.csv"):
        dataset = files.read(f"1,0\n{numeral},1\n", name)
        found = dataset.points.irregular is not None and bool(dataset.points.irregular[1])
        assert found == irregular
        assert dataset.points.exact_rows([1]) == [[exact_number(numeral)]]
        slowly()


LONG = "a,y\n0.12345678901234567,0\n0.22345678901234567,1\n"


def test_a_file_that_changed_is_noticed(files):
    dataset = files.read(LONG)
    files.write(LONG.replace("22", "23"))
    with pytest.raises(DataError, match=r"DATA-CHANGED.*changed while"):
        dataset.points.exact_rows([1])


def test_a_file_that_changed_behind_its_back_is_noticed(files):
    dataset = files.read(LONG)
    path = files.folder / "data.csv"
    before = path.stat()
    path.write_text(LONG.replace("22", "23"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(DataError, match="DATA-CHANGED"):
        dataset.points.exact_rows([1])


def test_a_file_that_vanished(files):
    dataset = files.read(LONG)
    (files.folder / "data.csv").unlink()
    with pytest.raises(DataError, match=r"DATA-CHANGED.*vanished"):
        dataset.points.exact_rows([0])


def test_a_hash_is_kept_from_the_reading(files):
    dataset = files.read(LONG)
    before = dataset.fingerprint().sha256
    (files.folder / "data.csv").unlink()
    assert dataset.fingerprint().sha256 == before


def test_regular_rows_need_no_file(files):
    dataset = files.read("a,y\n0.1,0\n0.12345678901234567,1\n")
    (files.folder / "data.csv").unlink()
    assert dataset.points.exact_rows([0]) == [[Fraction(1, 10)]]


def test_numbers_of_text_as_binary64(files):
    dataset = read_dataset(files.write(LONG), ReadOptions(numbers=Numbers.BINARY64))
    assert dataset.points.irregular is None
    assert dataset.points.exact_rows([0]) == [[Fraction(0.12345678901234567)]]
