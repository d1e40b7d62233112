"""A picture of how brackets close: the ends of each against the work done, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sepcert.report.svg import PALETTE, Axis, Chart, Point, as_steps

DECADES = 9.0
"""How far below the largest value the picture reaches."""
WIDTHS = (1.6, 3.6)
"""Of lines, in turn; the thin ones lie on the wide ones, so that of two equal courses both can be seen."""
_GREY = "#444444"


@dataclass(frozen=True)
class Course:
    """How one bracket went.

    Attributes
    ----------
    name : str
        For the legend.
    work : sequence of float
        Increasing.
    lower, upper : sequence of float or None
        The ends after that work; only positive ones can be seen.
    """

    name: str
    work: Sequence[float]
    lower: Sequence[float | None]
    upper: Sequence[float | None]

    def positive(self, ends: Sequence[float | None], floor: float) -> list[Point]:
        """Return the points of one side from its first positive value on; work below `floor` counts as `floor`."""
        points = zip(self.work, ends, strict=True)
        known = [(max(x, floor), y) for x, y in points if y is not None]
        first = next((k for k, (_, y) in enumerate(known) if y > 0.0), len(known))
        return known[first:]


def bracket_chart(
    courses: Sequence[Course],
    *,
    title: str,
    work: str,
    value: str,
    note: str = "",
    proved: tuple[float | None, float | None] = (None, None),
) -> str:
    """Return the picture of several brackets as SVG.

    Parameters
    ----------
    courses : sequence of Course
        One colour each.
    title, work, value : str
        Of the picture, of the horizontal axis, of the vertical one.
    note : str
        In small letters.
    proved : pair of float or None
        Ends that are drawn across the picture.
    """
    floor = _least_work(courses)
    lowers = [course.positive(course.lower, floor) for course in courses]
    uppers = [course.positive(course.upper, floor) for course in courses]
    drawn = [point for side in (*lowers, *uppers) for point in side]
    ends = [end for end in proved if end is not None and end > 0.0]
    across = Axis.around(work, [x for x, _ in drawn], log=True)
    upwards = Axis.around(value, [y for _, y in drawn] + ends, log=True, decades=DECADES)
    chart = Chart(title, across, upwards, note=note)
    colours = [PALETTE[k % len(PALETTE)] for k in range(len(courses))]
    for colour, lower, upper in zip(colours, lowers, uppers, strict=True):
        _fill(chart, colour, as_steps(lower), as_steps(upper))
    for end in ends:
        chart.level(end, _GREY)
    for k in sorted(range(len(courses)), key=lambda k: -WIDTHS[k % 2]):
        chart.line(as_steps(uppers[k]), colours[k], width=WIDTHS[k % 2])
        chart.line(as_steps(lowers[k]), colours[k], dash="6 3", width=WIDTHS[k % 2])
        if lowers[k] or len(uppers[k]) == 1:
            chart.mark((lowers[k] or uppers[k])[-1], colours[k])
    for course, colour, lower, upper in zip(courses, colours, lowers, uppers, strict=True):
        chart.legend(course.name if lower or upper else f"{course.name}, no bracket", colour)
    chart.legend("")
    chart.legend("upper end", _GREY)
    chart.legend("lower end, once positive", _GREY, dash="6 3")
    if ends:
        chart.legend("proved, by all together", _GREY, dash="2 2")
    if any(y < upwards.low for _, y in drawn):
        chart.legend("on the lower edge: less, or 0")
    return chart.render()


def _least_work(courses: Sequence[Course]) -> float:
    """Return the least work above 0 at which an end is known; work of 0 has no place on a logarithmic axis."""
    known = (
        x
        for course in courses
        for x, *ends in zip(course.work, course.lower, course.upper, strict=True)
        if x > 0.0 and any(end is not None and end > 0.0 for end in ends)
    )
    return min(known, default=1.0)


def _fill(chart: Chart, colour: str, lower: list[Point], upper: list[Point]) -> None:
    """Fill the bracket from where both of its ends are positive."""
    if not lower or not upper:
        return
    start = lower[0][0]
    before = [y for x, y in upper if x <= start]
    clipped = [(start, before[-1] if before else upper[0][1]), *((x, y) for x, y in upper if x > start)]
    chart.band(lower, clipped, colour, opacity=0.07)
