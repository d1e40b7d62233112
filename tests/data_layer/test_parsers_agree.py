"""The fast parser and the slow parser give the same, and what the numerals say."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from sepcert.data import text_numbers
from sepcert.data.blocks import Levels
from sepcert.data.columns import Columns
from sepcert.data.numerals import exact_number, is_irregular
from sepcert.data.text_fast import FastParser, Refused


def columns(width: int) -> Columns:
    return Columns(tuple(f"c{j}" for j in range(width)), None, None, (), (), tuple(range(width)))


def parse(lines: list[str], width: int, delimiter: str = ","):
    text = "".join(line + "\n" for line in lines).encode()
    return FastParser(columns(width), [], delimiter=delimiter, decimal_comma=False).parse(text, 0, 1)


def random_numeral(rng: random.Random) -> str:
    kind = rng.randrange(12)
    if kind == 0:
        return rng.choice(["0", "-0", "0.0", "+0.", ".0", "-.5", "+5.", "1", "0e5", "0.0e-5"])
    if kind == 1:
        return repr(rng.uniform(-1, 1) * 10.0 ** rng.randrange(-30, 30))
    if kind == 2:
        return f"{rng.gauss(0, 1):.17g}"
    if kind == 3:
        return f"{rng.gauss(0, 1):.18e}"
    if kind == 4:
        return str(rng.randrange(-(10**18), 10**18))
    if kind == 5:
        return str(rng.choice([2**53, 2**53 - 1, 2**53 + 1, -(2**53), 1600000000000000, 9007199254740993]))
    if kind == 6:
        return rng.choice(["1e-320", "4.9e-324", "1e-400", "-1e-330", "2.2250738585072014e-308", "1.7e308", "1e23"])
    if kind == 7:
        digits = "".join(rng.choice("0123456789") for _ in range(rng.randrange(1, 26)))
        at = rng.randrange(len(digits) + 1)
        return rng.choice(["", "-", "+"]) + digits[:at] + "." + digits[at:]
    return f"{rng.gauss(0, 10):.{rng.randrange(0, 16)}f}"


@pytest.mark.parametrize("seed", range(12))
def test_values_and_irregular_rows_are_those_of_python(seed):
    rng = random.Random(seed)
    plain = seed % 3 == 0  # nothing but short fields, as the division by powers of ten wants them
    width = rng.randrange(1, 5)
    table = [[random_numeral(rng) for _ in range(width)] for _ in range(300)]
    if plain:
        table = [[f"{rng.gauss(0, 5):.{rng.randrange(0, 9)}f}"[:15] for _ in range(width)] for _ in range(300)]
    block = parse([",".join(row) for row in table], width)
    np.testing.assert_array_equal(block.values, [[float(x) for x in row] for row in table])
    expected = [any(is_irregular(x, float(x)) for x in row) for row in table]
    found = [False] * len(table) if block.irregular is None else block.irregular.tolist()
    assert found == expected


@pytest.mark.parametrize("pattern", ["%.17g", "%.16g", "%.12f", "%.6f", "%d", "%.18e"])
def test_every_way_of_conversion_rounds_correctly(pattern):
    rng = np.random.default_rng(7)
    numbers = rng.normal(size=(5000, 4)) * 10.0 ** rng.integers(-3, 4, size=(5000, 4))
    lines = [",".join(pattern % x for x in row) for row in numbers.tolist()]
    block = parse(lines, 4)
    np.testing.assert_array_equal(block.values, [[float(x) for x in line.split(",")] for line in lines])


def test_numbers_halfway_between_doubles_are_rounded_to_even():
    odd, even = 2**53 + 1, 2**53 + 3
    lines = [f"{odd}.0,{even}.0,0.{odd * 5**20:037d}"[:60] for _ in range(4)]
    halves = [f"{(2 * k + 1) * 2**52 // 2**52 + 2**53}.000" for k in range(64)]  # 2**53 + 1, + 3, ...
    lines = [f"{h},{h[:-1]}" for h in halves]
    block = parse(lines, 2)
    np.testing.assert_array_equal(block.values, [[float(x) for x in line.split(",")] for line in lines])


def test_without_long_doubles_the_values_are_the_same(monkeypatch):
    rng = np.random.default_rng(3)
    lines = [",".join(f"{x:.17g}" for x in row) for row in rng.normal(size=(2000, 3)).tolist()]
    with_them = parse(lines, 3)
    monkeypatch.setattr(text_numbers, "_LONG_DOUBLES", False)
    without = parse(lines, 3)
    np.testing.assert_array_equal(with_them.values, without.values)


NO_NUMERALS = [
    "", " ", "-", "+", ".", "-.", "--1", "+-1", "1-2", "1+2", "1.2.3", ".-5", "1.-5", "1e", "e5", "1e+", "1e5.0",
    "1e5e5", "nan", "inf", "-Infinity", "1e309", "-1e400", "0x10", "0x1p3", "1_000", "1 2", "1\t2", "1,5", "abc",
    "#", "1#", "0e12345", "0e999999999", "1e-99999", "١", "1\x0b2", "é", "5 -", "1d5", "1f", "True", "NA",
]  # fmt: skip


@pytest.mark.parametrize("text", NO_NUMERALS)
@pytest.mark.parametrize("others", ["12.5", "0.12345678901234567", "1.5e300"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_fast_parser_refuses_what_is_no_numeral(text, others, place):
    rows = [[others] * 3 for _ in range(5)]
    rows[2][place] = text
    with pytest.raises(Refused):
        parse(["\t".join(row) for row in rows] if "\t" not in text else [",".join(row) for row in rows], 3,
              "\t" if "\t" not in text else ",")  # fmt: skip


@pytest.mark.parametrize(
    "lines",
    [["1,2", "3"], ["1,2", "3,4,5"], ["1,2,3", "4"], ["1", "2"], ["1,2", "", "3,4"], ["1,2", "", "", "3,4"], [""]],
)
def test_the_fast_parser_refuses_ragged_lines(lines):
    with pytest.raises(Refused):
        parse(lines, 2)


def random_field(rng: random.Random, comma: bool) -> str:
    numeral = random_numeral(rng)
    if comma:
        numeral = numeral.replace(".", ",")
    return rng.choice(["", "", "", " "]) + numeral + rng.choice(["", "", "", " "])


@pytest.mark.parametrize("seed", range(40))
def test_files_read_the_same_by_both_parsers(seed, files, slowly, assert_same):
    rng = random.Random(seed)
    delimiter = rng.choice([",", ";", "\t", "|"])
    comma = delimiter != "," and rng.random() < 0.4
    end = rng.choice(["\n", "\r\n"])
    quote = rng.choice(["", "", '"'])
    number_of_rows = rng.randrange(5, 400)
    kinds = [rng.choice(["number", "number", "level", "free", "weight"]) for _ in range(rng.randrange(2, 7))]
    kinds = ["number", *["number" if k == "weight" and "weight" in kinds[:j] else k for j, k in enumerate(kinds)]]
    kinds.insert(rng.randrange(len(kinds) + 1), "label")
    labels = rng.choice(
        [
            ["yes", "no"],
            ["0", "1"],
            ["1.0", "0"] if not comma else ["1,0", "0"],
            [" a ", "b"],
            ["-1", "+1"],
            ["x" * 70, "y"],
        ]
    )
    levels = rng.choice([["red", "green", "blue"], ["a", "é"], ["0", "1", "2"], ["only"]])
    names = [f"{kind}{j}" for j, kind in enumerate(kinds)]

    def field(kind: str, i: int) -> str:
        if kind == "label":
            return quote + labels[i % 2] + quote
        if kind == "level":
            return quote + rng.choice(levels) + quote
        if kind == "free":
            return quote + "".join(rng.choice("abcé #'x") for _ in range(rng.choice([0, 3, 40]))) + quote
        if kind == "weight":
            return rng.choice(["0", "1", "00", "2", "1e-400", "0e3"])
        return quote + random_field(rng, comma) + quote

    lines = [delimiter.join(names)]
    for i in range(number_of_rows):
        lines.append(delimiter.join(field(kind, i) for kind in kinds))
        if rng.random() < 0.01:
            lines.append("")
    text = end.join(lines) + rng.choice(["", end, end * 3])
    options = {
        "label": names[kinds.index("label")],
        "categorical": tuple(n for n, k in zip(names, kinds, strict=True) if k == "level"),
        "drop": tuple(n for n, k in zip(names, kinds, strict=True) if k == "free"),
        "weight": next((n for n, k in zip(names, kinds, strict=True) if k == "weight"), None),
    }
    one = files.read(text, **options)
    slowly()
    other = files.read(text, "again.csv", **options)
    assert_same(one, other)


def test_many_blocks_read_the_same_by_both_parsers(files, slowly, assert_same, monkeypatch):
    from sepcert.data import text_stream

    monkeypatch.setattr(text_stream, "BLOCK_BYTES", 1000)
    rng = random.Random(1)
    lines = ["a,b,kind,y"]
    for i in range(500):
        kind = rng.choice(["u", "v", '"u"', '"v"', '"with, comma"', '"two\nlines"'] if i % 50 > 30 else ["u", "v"])
        lines.append(f"{random_numeral(rng)},{random_numeral(rng)},{kind},{i % 2}")
        if i % 97 == 0:
            lines.append("")
    one = files.read("\n".join(lines), categorical=("kind",))
    slowly()
    other = files.read("\n".join(lines), "again.csv", categorical=("kind",))
    assert_same(one, other)
    assert one.description.features == ("a", "b", "kind=u", "kind=v", "kind=with, comma")
    wanted = [line.split(",")[:2] for line in "\n".join(lines).replace('"two\nlines"', "t").split("\n")[1:] if line]
    exact = one.points.exact_rows(range(500))
    assert [row[:2] for row in exact] == [[exact_number(x) for x in row] for row in wanted]
    assert all(isinstance(x, Fraction) for row in exact for x in row)


def test_codes_of_many_levels_are_right():
    texts = [f"level{k % 37}" for k in range(1000)]
    table = Columns(("a", "b"), None, None, (), (0,), (1,))
    levels = Levels()
    parser = FastParser(table, [levels], delimiter=",", decimal_comma=False)
    block = parser.parse("".join(f"{t},1\n" for t in texts).encode(), 0, 1)
    assert [levels.texts[c] for c in block.codes[0]] == texts
