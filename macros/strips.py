"""The strip chart: many figures in labelled rows on one axis, packed so that no mark hides another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from macros.canvas import Box, Line, wrapped
from macros.marks import Frame, Sheet

MarkKind = Literal["client", "engine", "unstated"]
# From values to user units.
Scale = Callable[[float], float]

# Shape, size and colour of a mark: the colour is that of the vantage question, or neutral where it is not stated.
_SHAPES: dict[MarkKind, tuple[str, float, str]] = {
    "client": ("o", 9.0, "vantage"),
    "engine": ("D", 7.0, "vantage"),
    "unstated": ("s", 7.5, "other"),
}
_HALF = 6.5  # half the room of a mark, in user units
_LANE = {True: 24.0, False: 17.0}  # the height of a lane in a narrow and in a wide drawing: fingers need more


@dataclass(frozen=True)
class StripMark:
    """One figure; `low` and `high` are the ends of its whisker. Only labelled marks print their value."""

    figure: str
    value: float | None
    low: float | None
    high: float | None
    kind: MarkKind
    own: bool
    title: str
    href: str
    label: str | None = None

    @property
    def span(self) -> tuple[float, float]:
        """The lowest and highest value that is drawn."""
        values = [value for value in (self.low, self.value, self.high) if value is not None]
        return min(values), max(values)


@dataclass(frozen=True)
class StripRow:
    """One labelled row."""

    label: str
    marks: tuple[StripMark, ...]


@dataclass(frozen=True)
class StripChart:
    """A chart as its caller wants it, all texts in its language; `key` explains the marks: (kind, own, text)."""

    id: str
    lang: str
    title: str
    axis: str
    rows: tuple[StripRow, ...]
    key: tuple[tuple[MarkKind, bool, str], ...]
    footer: tuple[str, ...] = ()


def paint_strips(chart: StripChart, sheet: Sheet, top: float) -> float:
    """Draw key, rows and axis from `top` downwards; return the lower end in user units."""
    from matplotlib.ticker import MaxNLocator

    frame, canvas = sheet.frame, sheet.canvas
    top = _paint_key(chart, sheet, top)
    column = 0.0 if frame.narrow else 0.27 * frame.room
    left, right = frame.pad + column + _HALF, frame.right - 16
    highest = max(mark.span[1] for row in chart.rows for mark in row.marks)
    ticks = [float(t) for t in MaxNLocator(4 if frame.narrow else 6, steps=[1, 2, 5, 10]).tick_values(0, highest)]

    def x(value: float) -> float:
        return left + value / ticks[-1] * (right - left)

    y = top
    for row in chart.rows:
        canvas.line([(frame.pad, y), (frame.right, y)], "grid", layer=1)
        y = _paint_row(row, sheet, x, y + 4, column) + 4
    for tick in ticks:
        canvas.line([(x(tick), top), (x(tick), y)], "grid", layer=1)
        canvas.line([(x(tick), y), (x(tick), y + 4)], "muted")
        canvas.text(x(tick), y + 6, Line(f"{tick:g}", frame.small, "muted"), "center")
    canvas.line([(left, y), (right, y)], "muted")
    lines = wrapped(Line(chart.axis, frame.small), frame.right - frame.pad - column)
    return canvas.paragraph(frame.pad + column, y + 8 + frame.small * 1.25, lines) + 4


def _paint_key(chart: StripChart, sheet: Sheet, top: float) -> float:
    """What the marks mean, in a line or several."""
    frame = sheet.frame
    left, high = frame.pad, frame.small * 1.4
    for kind, own, words in chart.key:
        line = Line(words, frame.small, "muted")
        if left > frame.pad and left + 18 + line.width > frame.right:
            left, top = frame.pad, top + high
        _glyph(sheet, kind, own, left + 7, top + high / 2 - 1)
        sheet.canvas.text(left + 18, top, line)
        left += 18 + line.width + 14
    return top + high + 6


def _paint_row(row: StripRow, sheet: Sheet, x: Scale, top: float, column: float) -> float:
    frame, canvas = sheet.frame, sheet.canvas
    lines = wrapped(Line(row.label, frame.small, bold=True), column - 10 if column else frame.room)
    label_bottom = canvas.paragraph(frame.pad, top, lines)
    if frame.narrow:
        top = label_bottom + 2
    lane_height = _LANE[frame.narrow]
    lanes = _packed(row.marks, frame, x)
    count = max(lanes) + 1
    high = max(count * lane_height, 0.0 if frame.narrow else label_bottom - top)
    middle_first = sorted(range(count), key=lambda lane: abs(lane - (count - 1) / 2))
    first = top + (high - count * lane_height) / 2
    for mark, lane in zip(row.marks, lanes, strict=True):
        _paint_mark(mark, sheet, x, first + (middle_first[lane] + 0.5) * lane_height)
    return top + high


def _packed(marks: Iterable[StripMark], frame: Frame, x: Scale) -> list[int]:
    """The lane of each mark: the first in which it hits no other, taken in the order given."""
    lanes: list[list[tuple[float, float]]] = []
    found = []
    for mark in marks:
        low, high = x(mark.span[0]) - _HALF, x(mark.span[1]) + _HALF
        if mark.label:
            high += 3 + Line(mark.label, frame.small, bold=True).width
        lane = next((i for i, taken in enumerate(lanes) if all(high <= a or b <= low for a, b in taken)), len(lanes))
        if lane == len(lanes):
            lanes.append([])
        lanes[lane].append((low, high))
        found.append(lane)
    return found


def _paint_mark(mark: StripMark, sheet: Sheet, x: Scale, y: float) -> None:
    low, high = x(mark.span[0]), x(mark.span[1])
    half = _LANE[sheet.frame.narrow] / 2
    number = sheet.link(mark.figure, mark.href, mark.title, Box(low - _HALF, y - half, high + _HALF, y + half))
    colour = _SHAPES[mark.kind][2]
    if high > low:
        sheet.canvas.line([(low, y), (high, y)], colour, 1.4, mark=number, layer=3)
        for end in (low, high):
            sheet.canvas.line([(end, y - 4), (end, y + 4)], colour, 1.4, mark=number, layer=3)
    if mark.value is not None:
        _glyph(sheet, mark.kind, mark.own, x(mark.value), y, number)
    if mark.label:
        line = Line(mark.label, sheet.frame.small, bold=True)
        sheet.canvas.text(high + _HALF + 2, y - line.height / 2, line, mark=number)


def _glyph(sheet: Sheet, kind: MarkKind, own: bool, x: float, y: float, number: int | None = None) -> None:
    shape, size, colour = _SHAPES[kind]
    sheet.canvas.shape(shape, x, y, size, fill=colour if own else "paper", edge=colour, mark=number)
