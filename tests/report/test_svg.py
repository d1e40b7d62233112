"""Pictures: well-formed XML, places, ticks, escaping, and nothing that runs or is fetched."""

import math
import re
import xml.etree.ElementTree as ET

import pytest

from sepcert.report.brackets import Course, bracket_chart
from sepcert.report.svg import NAMESPACE, PALETTE, Axis, Chart, as_steps, escaped, tick_text

TAG = f"{{{NAMESPACE}}}"


def numbers(path):
    """Return the points of a path's outline."""
    found = [float(v) for v in re.findall(r"-?[0-9.]+", path.attrib["d"])]
    return list(zip(found[::2], found[1::2], strict=True))


def drawn(text):
    return ET.fromstring(text)


def texts(root):
    return [element.text or "" for element in root.iter(f"{TAG}text")]


def coloured(root, colour):
    return [p for p in root.iter(f"{TAG}path") if colour in {p.attrib.get("stroke"), p.attrib.get("fill")}]


def frame(root):
    """Return left, top, right and bottom of the area inside the axes."""
    box = list(root.iter(f"{TAG}rect"))[1].attrib
    left, top, width, height = (float(box[name]) for name in ("x", "y", "width", "height"))
    return left, top, left + width, top + height


@pytest.fixture
def chart():
    return Chart("A & B <title>", Axis("x", 0.0, 10.0), Axis("y", 0.01, 100.0, log=True), note='said "below"')


def test_a_line_goes_through_its_points(chart):
    chart.line([(0.0, 0.01), (5.0, 1.0), (10.0, 100.0)], "#123456")
    root = drawn(chart.render())
    left, top, right, bottom = frame(root)
    (path,) = coloured(root, "#123456")
    assert numbers(path) == [(left, bottom), ((left + right) / 2, (top + bottom) / 2), (right, top)]


def test_what_lies_outside_is_drawn_on_the_border(chart):
    chart.line([(-5.0, 0.0), (20.0, 1e9)], "#123456")
    root = drawn(chart.render())
    left, top, right, bottom = frame(root)
    assert numbers(coloured(root, "#123456")[0]) == [(left, bottom), (right, top)]


def test_a_band_is_closed_and_lies_between_its_lines(chart):
    chart.band([(0.0, 0.1), (10.0, 0.1)], [(0.0, 10.0), (10.0, 1.0)], "#123456")
    chart.band([], [(0.0, 1.0)], "#654321")
    root = drawn(chart.render())
    (path,) = coloured(root, "#123456")
    assert path.attrib["d"].endswith("Z")
    assert len(numbers(path)) == 4
    assert not coloured(root, "#654321")


def test_text_is_escaped(chart):
    chart.legend('<script>alert("1")</script> & \x00\x1b', "#000000")
    root = drawn(chart.render())
    assert "A & B <title>" in texts(root)
    assert 'said "below"' in texts(root)
    assert '<script>alert("1")</script> & \ufffd\ufffd' in texts(root)
    assert escaped("a\ud800b") == "a\ufffdb"


def test_nothing_runs_and_nothing_is_fetched(chart):
    chart.line([(0.0, 1.0)], "#123456", dash="1 2")
    chart.mark((1.0, 1.0), "#123456")
    chart.legend("name", "#123456")
    text = chart.render()
    for word in ["<script", "href", "url(", "onload", "@import", "<image", "<style", "<foreignObject"]:
        assert word not in text
    assert text.count("://") == text.count(NAMESPACE) == 1
    assert text.endswith("</svg>\n")


def test_the_same_data_give_the_same_bytes():
    def made():
        chart = Chart("t", Axis("x", 1e-3, 1e3, log=True), Axis("y", -1.0, 1.0))
        chart.line([(0.01, 0.5), (1 / 3, -2 / 3)], PALETTE[0])
        return chart.render()

    assert made() == made()
    assert "nan" not in made()


def test_the_picture_holds_its_legend():
    chart = Chart("t", Axis("x", 0.0, 1.0), Axis("y", 0.0, 1.0))
    for k in range(40):
        chart.legend(f"a rather long name of an entry {k}", PALETTE[k % len(PALETTE)])
    root = drawn(chart.render())
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for element in root.iter(f"{TAG}text"):
        if "rather" in (element.text or ""):
            assert float(element.attrib["y"]) < height
            assert float(element.attrib["x"]) + 6.0 * len(element.text) < width


@pytest.mark.parametrize(
    ("low", "high", "log", "expected"),
    [
        (0.0, 10.0, False, [0, 2, 4, 6, 8, 10]),
        (-0.3, 0.31, False, [-0.2, 0.0, 0.2]),
        (0.5, 2000.0, True, [1, 10, 100, 1000]),
        (1.0, 1e20, True, [1, 1e3, 1e6, 1e9, 1e12, 1e15, 1e18]),
        (0.9, 30.0, True, [1, 2, 5, 10, 20]),
    ],
)
def test_ticks(low, high, log, expected):
    found = Axis("v", low, high, log).ticks()
    assert found == pytest.approx(expected)
    assert all(low <= v <= high for v in found)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("values", [[1.0], [1e-300, 1e300], [5.0, 5.0000001], [], [0.0], [3e-17, 1.0], [123456.0, 7e8]])
def test_every_axis_holds_its_values_and_has_ticks(log, values):
    axis = Axis.around("v", [*values, math.inf, math.nan], log=log, decades=700)
    assert len(axis.ticks()) >= 1
    assert len(axis.ticks()) <= 14
    assert axis.ticks() == sorted(set(axis.ticks()))
    for value in values:
        if value > 0.0 or not log:
            assert axis.low < value < axis.high
            assert 0.0 < axis.place(value) < 1.0


def test_axes_that_cannot_be():
    for low, high, log in [(1.0, 1.0, False), (2.0, 1.0, False), (0.0, 1.0, True), (math.nan, 1.0, False)]:
        with pytest.raises(ValueError, match="axis"):
            Axis("v", low, high, log)


def test_tick_texts():
    said = [tick_text(v) for v in [0.0, 1.0, 0.001, 1e-7, 2e9, 0.30000000000000004, -250.0, 1e5, 1e6]]
    assert said == ["0", "1", "0.001", "1e-7", "2e9", "0.3", "-250", "100000", "1e6"]


def test_steps_keep_each_value_until_the_next():
    assert as_steps([(1, 5), (2, 5), (4, 3)]) == [(1, 5), (2, 5), (4, 5), (4, 3)]
    assert as_steps([]) == []


COURSES = [
    Course("both", [0.0, 2.0, 4.0], [-1.0, 0.1, 0.2], [1.0, 0.5, 0.3]),
    Course("only lower", [0.0, 1.0, 8.0], [None, None, 0.01], [None, None, None]),
    Course("to zero", [1.0, 3.0], [None, None], [0.5, 0.0]),
    Course("nothing", [0.0, 9.0], [None, -0.5], [None, None]),
]


def test_brackets():
    text = bracket_chart(COURSES, title="t", work="products", value="margin", proved=(0.2, 0.3))
    root = drawn(text)
    said = texts(root)
    assert {"both", "only lower", "to zero", "nothing, no bracket", "products", "margin"} <= set(said)
    assert "on the lower edge: less, or 0" in said
    assert "proved, by all together" in said
    colours = dict(zip([course.name for course in COURSES], PALETTE, strict=False))
    strokes = {name: [p for p in coloured(root, c) if p.attrib.get("fill") == "none"] for name, c in colours.items()}
    assert [len(strokes[name]) for name in colours] == [2, 1, 1, 0]
    assert len([p for p in coloured(root, colours["both"]) if p.attrib.get("fill") == colours["both"]]) == 1
    _, top, _, bottom = frame(root)
    assert numbers(strokes["to zero"][0])[-1][1] == bottom
    for path in (p for ps in strokes.values() for p in ps):
        assert all(top <= y <= bottom for _, y in numbers(path))
    lower, upper = sorted(strokes["both"], key=lambda p: "stroke-dasharray" not in p.attrib)
    assert min(y for _, y in numbers(lower)) > max(y for _, y in numbers(upper))


def test_no_brackets_at_all():
    root = drawn(bracket_chart(COURSES[3:], title="t", work="w", value="v"))
    assert "nothing, no bracket" in texts(root)
    assert drawn(bracket_chart([], title="t", work="w", value="v")) is not None
