"""The curve chart: points over a linear or logarithmic x axis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain, groupby, islice

from macros.canvas import Box, Line, wrapped
from macros.marks import GLYPH, Frame, Label, Sheet, Style, beside, first_free, glyph, mark_label, shade, stacked
from macros.palette import Question


@dataclass(frozen=True)
class CurvePoint:
    """One figure at x; several may share an x. `y` None: nothing was measured or published there.

    `label` is the printed value, `title` the accessible name (without one: the series' and the point's label).
    """

    figure: str
    x: float
    y: float | None
    label: str
    low: float | None = None
    high: float | None = None
    href: str | None = None
    title: str | None = None


@dataclass(frozen=True)
class Series:
    """Points in one colour and shape; `joined` ones by a line through the mean of the points at each x."""

    label: str
    question: Question
    points: tuple[CurvePoint, ...]
    joined: bool = True
    style: Style = "own"


@dataclass(frozen=True)
class CurveChart:
    """A chart as its caller wants it, all texts in its language.

    `x_ticks` are the places and texts of the x axis, its ends included in the order of size; a logarithmic
    axis (`x_log`) takes no x below or at zero. `y_axis` is written above the drawing.
    """

    id: str
    lang: str
    title: str
    x_axis: str
    y_axis: str
    axis_note: str | None
    series: tuple[Series, ...]
    x_ticks: tuple[tuple[float, str], ...]
    x_log: bool = False
    from_zero: bool = True
    footer: tuple[str, ...] = ()
    tick_format: str = "{:g}"


@dataclass(frozen=True)
class _Axes:
    """Scales from values to user units; the box is the plot."""

    box: Box
    x_ends: tuple[float, float]
    y_ends: tuple[float, float]
    log: bool

    def x(self, value: float) -> float:
        """Return the place of an x value."""
        low, high, value = (math.log(v) if self.log else v for v in (*self.x_ends, value))
        return self.box.left + (value - low) / (high - low) * (self.box.right - self.box.left)

    def y(self, value: float) -> float:
        """Return the height of a y value."""
        low, high = self.y_ends
        return self.box.bottom - (value - low) / (high - low) * (self.box.bottom - self.box.top)


def paint_curves(chart: CurveChart, sheet: Sheet, top: float) -> float:
    """Draw the plot and its axes from `top` downwards; return the lower end in user units."""
    from matplotlib.ticker import MaxNLocator

    frame, canvas = sheet.frame, sheet.canvas
    heads = wrapped(Line(chart.y_axis, frame.small), frame.room)
    if chart.axis_note:
        heads += wrapped(Line(chart.axis_note, frame.small, "muted"), frame.room)
    top = canvas.paragraph(frame.pad, top, heads) + 10
    points = [point for series in chart.series for point in series.points]
    values = [value for point in points for value in (point.low, point.y, point.high) if value is not None]
    locator = MaxNLocator(4 if frame.narrow else 6, steps=[1, 2, 5, 10])
    ticks = locator.tick_values(0 if chart.from_zero else min(values), max(values))
    ticks = [float(tick) for tick in ticks if not chart.from_zero or tick >= 0]
    tick_lines = [Line(chart.tick_format.format(tick), frame.small, "muted") for tick in ticks]
    left = frame.pad + max(line.width for line in tick_lines) + 6
    box = Box(left, top, frame.right, top + (230.0 if frame.narrow else 290.0))
    margin = max(Line(chart.x_ticks[-1][1], frame.small).width / 2, 36.0)
    plot = box._replace(left=left + 14, right=box.right - margin)
    axes = _Axes(plot, (chart.x_ticks[0][0], chart.x_ticks[-1][0]), (ticks[0], ticks[-1]), chart.x_log)

    for tick, line in zip(ticks, tick_lines, strict=True):
        y = axes.y(tick)
        canvas.line([(box.left, y), (box.right, y)], "grid", layer=1)
        canvas.text(left - 6, y - line.height / 2, line, "right")
    canvas.line([(box.left, box.bottom), (box.right, box.bottom)], "muted")
    for place, text in chart.x_ticks:
        canvas.line([(axes.x(place), box.bottom), (axes.x(place), box.bottom + 4)], "muted")
        canvas.text(axes.x(place), box.bottom + 6, Line(text, frame.small, "muted"), "center")

    _paint_series(chart, sheet, axes, box)
    labels = wrapped(Line(chart.x_axis, frame.small), frame.right - left)
    return canvas.paragraph(left, box.bottom + 8 + Line("", frame.small).height, labels) + 4


def _paint_series(chart: CurveChart, sheet: Sheet, axes: _Axes, box: Box) -> None:
    """Draw the points, then the labels where they hit neither a point nor a line nor each other."""
    # Labels stay between the heading and the axis.
    taken = [
        Box(0, -math.inf, sheet.frame.width, box.top - 10),
        Box(0, box.bottom, sheet.frame.width, math.inf),
    ]
    for series in chart.series:
        line = _means(series, axes) if series.joined else []
        if len(line) > 1:
            sheet.canvas.line(line, shade(series.question, series.style), 1.8)
        taken += _steps(line) + [_around(point, axes, box) for point in series.points]
    limits = (box.left, box.right)
    for series in chart.series:
        for point in sorted(series.points, key=lambda point: (point.x, -(point.y or 0))):
            _paint_point(series, point, sheet, axes, box, taken)
        name = Label((Line(series.label, sheet.frame.text, bold=True),))
        known = [point for point in series.points if point.y is not None]
        if len(chart.series) > 1 and known:
            ends = [_around(point, axes, box) for point in reversed(known)]
            spots = chain(
                chain.from_iterable(beside(end, name, ("right", "left")) for end in ends),
                stacked(ends[0], name, "right", limits),
            )
            spot, align = first_free(spots, taken, limits)
            taken.append(spot)
            name.draw(sheet.canvas, spot, align)


def _means(series: Series, axes: _Axes) -> list[tuple[float, float]]:
    """Return the line of a series in user units: the mean of the points at each x."""
    known = sorted((point.x, point.y) for point in series.points if point.y is not None)
    line = []
    for x, same in groupby(known, key=lambda point: point[0]):
        ys = [y for _, y in same]
        line.append((axes.x(x), axes.y(sum(ys) / len(ys))))
    return line


def _steps(line: list[tuple[float, float]]) -> list[Box]:
    """Return small boxes along a line, so that labels keep clear of it."""
    boxes = []
    for (x0, y0), (x1, y1) in zip(line, line[1:], strict=False):
        number = max(1, math.ceil(math.hypot(x1 - x0, y1 - y0) / 6))
        for step in range(number + 1):
            x, y = x0 + (x1 - x0) * step / number, y0 + (y1 - y0) * step / number
            boxes.append(Box(x - 2, y - 2, x + 2, y + 2))
    return boxes


def _around(point: CurvePoint, axes: _Axes, box: Box) -> Box:
    x = axes.x(point.x)
    if point.y is None:
        return Box(x - GLYPH, box.top, x + GLYPH, box.top + 2 * GLYPH)
    high, low = (axes.y(point.y if end is None else end) for end in (point.high, point.low))
    return Box(x - GLYPH, high - GLYPH, x + GLYPH, low + GLYPH)


def _paint_point(series: Series, point: CurvePoint, sheet: Sheet, axes: _Axes, box: Box, taken: list[Box]) -> None:
    canvas, around = sheet.canvas, _around(point, axes, box)
    title = point.title or f"{series.label}: {point.label}"
    number = sheet.link(point.figure, point.href, title, around)
    colour, x = shade(series.question, series.style), axes.x(point.x)
    if point.low is not None and point.high is not None:
        ends = (axes.y(point.low), axes.y(point.high))
        canvas.line([(x, ends[0]), (x, ends[1])], colour, 1.8, mark=number, layer=3)
        for y in ends:
            canvas.line([(x - 6, y), (x + 6, y)], colour, 1.8, mark=number, layer=3)
    if point.y is None:
        # At the top of a dashed line, so that it cannot be read as a value on the axis.
        y = box.top + GLYPH
        canvas.line([(x, y + GLYPH), (x, box.bottom)], "muted", dashes=(3, 4), mark=number)
        canvas.shape("o", x, y, 11, fill="paper", edge="muted", width=1.4, dashed=True, mark=number)
    else:
        glyph(canvas, series.question, series.style, x, axes.y(point.y), number)
    limits = (box.left, box.right)
    label = mark_label(sheet.frame, point.label, None, series.style)
    if point.y is None:
        label = Label(tuple(wrapped(Line(point.label, sheet.frame.small, "muted"), 0.3 * sheet.frame.width)))
        spots = chain(beside(around, label, ("left", "right")), stacked(around, label, "center", limits))
    else:
        above_below = stacked(around, label, "center", limits)
        spots = chain(islice(above_below, 2), beside(around, label, ("right", "left")), above_below)
    spot, align = first_free(spots, taken, limits)
    taken.append(spot)
    label.draw(canvas, spot, align, number)
