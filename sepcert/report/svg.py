"""Pictures of lines and bands over two axes, as SVG text: no scripts, no links, the same bytes for the same data.

A chart collects what is drawn in the units of its axes; :meth:`Chart.render` returns one self-contained document.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

NAMESPACE = "http://www.w3.org/2000/svg"
PALETTE = (
    "#1f77b4",
    "#d62728",
    "#2ca02c",
    "#ff7f0e",
    "#9467bd",
    "#17becf",
    "#e377c2",
    "#8c564b",
    "#7f7f7f",
    "#bcbd22",
    "#1a2f80",
    "#006b4f",
)
"""Colours that differ on white; after the last one the first comes again."""

_INK, _FAINT = "#222222", "#dddddd"
_CHARACTER = 6.6
"""Width of a character of the legend in units of the picture, on the safe side for most fonts."""
_LEGEND_STEP = 19.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 76.0, 20.0, 56.0, 52.0

Point = tuple[float, float]


def escaped(text: str) -> str:
    """Return `text` as the content of an element or of an attribute; what XML cannot hold becomes U+FFFD."""
    for character, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(character, name)
    return "".join(c if _in_xml(ord(c)) else "\ufffd" for c in text)


def _in_xml(code: int) -> bool:
    return code in {0x9, 0xA, 0xD} or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000


def number(value: float) -> str:
    """Return a coordinate with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text


@dataclass(frozen=True)
class Axis:
    """One axis.

    Attributes
    ----------
    label : str
    low, high : float
        Its ends, low < high; both positive where it is logarithmic.
    log : bool
    """

    label: str
    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError(f"an axis cannot go from {self.low} to {self.high}")
        if self.log and self.low <= 0.0:
            raise ValueError(f"a logarithmic axis cannot begin at {self.low}")

    @classmethod
    def around(cls, label: str, values: Iterable[float], *, log: bool = False, decades: float = 12.0) -> Axis:
        """Return an axis that holds the values, with a little space around them.

        Parameters
        ----------
        label : str
        values : iterable of float
            Where it is logarithmic, those that are not positive are left out.
        log : bool
        decades : float
            A logarithmic axis begins at most so many decades below its end.
        """
        known = [v for v in values if math.isfinite(v) and (v > 0.0 or not log)]
        if not known:
            return cls(label, 0.1 if log else 0.0, 1.0, log)
        low, high = min(known), max(known)
        if log:
            top = math.log10(high)
            bottom = max(math.log10(low), top - decades)
            room = max(0.04 * (top - bottom), 0.05)
            return cls(label, 10.0 ** max(bottom - room, -307.0), 10.0 ** min(top + room, 308.0), log)
        room = 0.04 * (high - low) or 0.5 * abs(high) or 0.5
        return cls(label, low - room, high + room, log)

    def place(self, value: float) -> float:
        """Return where a value lies, from 0 (low) to 1 (high); what is beyond an end lies on it."""
        if self.log:
            if value <= self.low:
                return 0.0
            low = math.log(self.low)
            share = (math.log(value) - low) / (math.log(self.high) - low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, share))

    def ticks(self) -> list[float]:
        """Return about four to nine round values inside the axis, increasing."""
        return self._log_ticks() if self.log else self._linear_ticks()

    def _linear_ticks(self) -> list[float]:
        rough = (self.high - self.low) / 6.0
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= rough * (1.0 - 1e-9))
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        digits = max(0, 1 - math.floor(math.log10(step)))
        return [round(k * step, digits) for k in range(first, last + 1)]

    def _log_ticks(self) -> list[float]:
        low, high = math.log10(self.low), math.log10(self.high)
        first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
        if high - low < 0.7:
            return [v for v in self._linear_ticks() if v > 0.0]
        if last - first < 2:
            inside = (m * 10.0**k for k in range(first - 1, last + 1) for m in (1.0, 2.0, 5.0))
            return [float(f"{v:.1g}") for v in inside if self.low <= v <= self.high]
        step = 1 + (last - first) // 9
        return [float(f"1e{k}") for k in range(first, last + 1) if k % step == 0]


def tick_text(value: float) -> str:
    """Return a tick's value as people write it."""
    if value == 0.0:
        return "0"
    exponent = math.floor(math.log10(abs(value)) + 1e-9)
    if -4 <= exponent < 6:
        return f"{value:.10g}"
    mantissa, power = f"{value:.9e}".split("e")
    return f"{float(mantissa):g}e{int(power)}"


@dataclass(frozen=True)
class LegendEntry:
    """One line of the legend.

    Attributes
    ----------
    text : str
    colour : str or None
        None: no sample is drawn.
    dash : str
        The pattern of the sample line, empty for a full one.
    """

    text: str
    colour: str | None = None
    dash: str = ""


def as_steps(points: Sequence[Point]) -> list[Point]:
    """Return the corners of a curve that keeps each value until the next one comes."""
    corners: list[Point] = list(points[:1])
    for (_, before), (x, y) in pairwise(points):
        if y != before:
            corners.append((x, before))
        corners.append((x, y))
    return corners


class Chart:
    """Lines, bands and marks over two axes, with a legend on the right.

    Parameters
    ----------
    title : str
    x, y : Axis
    note : str
        Said below the title in small letters.
    width, height : float
        Of the area inside the axes.
    """

    def __init__(
        self, title: str, x: Axis, y: Axis, *, note: str = "", width: float = 560.0, height: float = 400.0
    ) -> None:
        self.title, self.note, self.x, self.y = title, note, x, y
        self.width, self.height = width, height
        self._shapes: list[str] = []
        self._legend: list[LegendEntry] = []

    def line(self, points: Sequence[Point], colour: str, *, dash: str = "", width: float = 1.8) -> None:
        """Draw a line through the points; nothing where there are none."""
        if not points:
            return
        pattern = f' stroke-dasharray="{escaped(dash)}"' if dash else ""
        self._shapes.append(
            f'<path d="{self._path(points)}" fill="none" stroke="{escaped(colour)}" stroke-width="{number(width)}"'
            f' stroke-linejoin="round"{pattern}/>'
        )

    def band(self, lower: Sequence[Point], upper: Sequence[Point], colour: str, *, opacity: float = 0.12) -> None:
        """Fill what lies between two lines; nothing where one of them has no points."""
        if lower and upper:
            outline = self._path([*upper, *reversed(lower)])
            self._shapes.append(
                f'<path d="{outline} Z" fill="{escaped(colour)}" fill-opacity="{number(opacity)}" stroke="none"/>'
            )

    def mark(self, point: Point, colour: str, *, radius: float = 3.5) -> None:
        """Draw a dot."""
        x, y = self._at(point)
        self._shapes.append(
            f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{escaped(colour)}"'
            ' stroke="#ffffff"/>'
        )

    def level(self, value: float, colour: str, *, dash: str = "2 2") -> None:
        """Draw a line across the whole width."""
        self.line([(self.x.low, value), (self.x.high, value)], colour, dash=dash, width=1.0)

    def legend(self, text: str, colour: str | None = None, *, dash: str = "") -> None:
        """Add a line to the legend."""
        self._legend.append(LegendEntry(text, colour, dash))

    def _at(self, point: Point) -> Point:
        x, y = point
        return _LEFT + self.width * self.x.place(x), _TOP + self.height * (1.0 - self.y.place(y))

    def _path(self, points: Iterable[Point]) -> str:
        places = [" ".join(map(number, self._at(point))) for point in points]
        kept = [place for k, place in enumerate(places) if k == 0 or place != places[k - 1]]
        return "M" + " L".join(kept if len(kept) > 1 else kept * 2)

    def render(self) -> str:
        """Return the picture as one SVG document."""
        longest = max((len(entry.text) for entry in self._legend), default=0)
        room = 44.0 + _CHARACTER * longest if self._legend else 0.0
        heading = max(7.8 * len(self.title), 6.0 * len(self.note)) + 20.0
        width = max(_LEFT + self.width + _RIGHT + room, heading)
        height = max(_TOP + self.height + _BOTTOM, _TOP + _LEGEND_STEP * len(self._legend) + 10.0)
        size = f"{number(width)} {number(height)}"
        parts = [
            f'<svg xmlns="{NAMESPACE}" viewBox="0 0 {size}" width="{number(width)}" height="{number(height)}"'
            ' role="img" font-family="Helvetica, Arial, sans-serif" font-size="12">',
            f"<title>{escaped(self.title)}</title>",
            f'<rect width="{number(width)}" height="{number(height)}" fill="#ffffff"/>',
            _text(12.0, 22.0, self.title, size=15, weight="bold"),
            _text(12.0, 40.0, self.note, size=11) if self.note else "",
            *self._grid(),
            *self._shapes,
            f'<rect x="{number(_LEFT)}" y="{number(_TOP)}" width="{number(self.width)}"'
            f' height="{number(self.height)}" fill="none" stroke="{_INK}"/>',
            *self._legend_parts(),
            "</svg>",
        ]
        return "\n".join(part for part in parts if part) + "\n"

    def _grid(self) -> Iterable[str]:
        bottom, right = _TOP + self.height, _LEFT + self.width
        for value in self.x.ticks():
            x = _LEFT + self.width * self.x.place(value)
            yield _rule(x, _TOP, x, bottom)
            yield _text(x, bottom + 16.0, tick_text(value), anchor="middle")
        for value in self.y.ticks():
            y = _TOP + self.height * (1.0 - self.y.place(value))
            yield _rule(_LEFT, y, right, y)
            yield _text(_LEFT - 6.0, y + 4.0, tick_text(value), anchor="end")
        yield _text(_LEFT + self.width / 2.0, bottom + 38.0, self.x.label, anchor="middle")
        middle = number(_TOP + self.height / 2.0)
        yield (
            f'<text x="16" y="{middle}" text-anchor="middle" fill="{_INK}"'
            f' transform="rotate(-90 16 {middle})">{escaped(self.y.label)}</text>'
        )

    def _legend_parts(self) -> Iterable[str]:
        left = _LEFT + self.width + 16.0
        for k, entry in enumerate(self._legend):
            y = _TOP + 10.0 + _LEGEND_STEP * k
            start = left
            if entry.colour is not None:
                pattern = f' stroke-dasharray="{escaped(entry.dash)}"' if entry.dash else ""
                start = left + 28.0
                yield (
                    f'<path d="M{number(left)} {number(y)} L{number(left + 22.0)} {number(y)}"'
                    f' stroke="{escaped(entry.colour)}" stroke-width="2.5"{pattern}/>'
                )
            yield _text(start, y + 4.0, entry.text)


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{number(x1)} {number(y1)} L{number(x2)} {number(y2)}" stroke="{_FAINT}"/>'


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, weight: str = "normal") -> str:
    return (
        f'<text x="{number(x)}" y="{number(y)}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}"'
        f' fill="{_INK}">{escaped(text)}</text>'
    )
