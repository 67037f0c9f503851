"""The curve chart: points over a linear or logarithmic x axis."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, groupby, islice, pairwise

from macros.canvas import Align, Box, Line, wrapped
from macros.marks import (
    GAP,
    GLYPH,
    Frame,
    Label,
    Sheet,
    Spot,
    Style,
    beside,
    first_free,
    glyph,
    mark_label,
    shade,
    stacked,
)
from macros.palette import Question

_CORNERS: tuple[Align, ...] = ("left", "right")


@dataclass(frozen=True)
class CurvePoint:
    """One figure at x; several may share an x. `y` None: nothing was measured or published there.

    `label` is the printed value (may be empty), `title` the accessible name (without one: the labels of series and
    point).
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
    axis (`x_log`) takes no x below or at zero. `y_axis` is written above the drawing. `names_first` writes the
    names of the series before their first points, where the lines part, instead of near their last.
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
    names_first: bool = False


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
    end = chart.x_ticks[-1][0]
    last = [mark_label(frame, point.label, None, "own") for point in points if point.x == end]
    if len(chart.series) > 1:  # a series that is only there at the end has its name there too
        last += [_name(series, frame) for series in chart.series if all(point.x == end for point in series.points)]
    margin = max([20.0, *(2 * GLYPH + GAP + label.width for label in last)])
    names = max(_name(series, frame).width for series in chart.series) + GAP if chart.names_first else 0.0
    plot = box._replace(left=left + 14 + names, right=box.right - margin)
    axes = _Axes(plot, (chart.x_ticks[0][0], chart.x_ticks[-1][0]), (ticks[0], ticks[-1]), chart.x_log)

    for tick, line in zip(ticks, tick_lines, strict=True):
        y = axes.y(tick)
        canvas.line([(box.left, y), (box.right, y)], "grid", layer=1)
        canvas.text(left - 6, y - line.height / 2, line, "right")
    canvas.line([(box.left, box.bottom), (box.right, box.bottom)], "muted")
    written: list[Box] = []
    for place, text in sorted(chart.x_ticks, key=lambda tick: tick[0] not in axes.x_ends):
        x, line = axes.x(place), Line(text, frame.small, "muted")
        canvas.line([(x, box.bottom), (x, box.bottom + 4)], "muted")
        space = Box(x - line.width / 2 - 3, 0, x + line.width / 2 + 3, 1)
        if not any(space.hits(other) for other in written):  # a tick without room keeps its line only
            written.append(space)
            canvas.text(x, box.bottom + 6, line, "center")

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
    dots = [dot for series in chart.series for dot in _dots(series, axes, box)]
    for series in chart.series:
        line = _means(series, axes) if series.joined else []
        if len(line) > 1:
            sheet.canvas.line(line, shade(series.question, series.style), 1.8)
        taken += _steps(line)
    for dot in dots:
        taken.append(dot.around)
        if dot.y is None:
            taken.append(Box(dot.x - 2, box.top, dot.x + 2, _missing_end(box)))
    for dot in dots:
        _paint_dot(dot, sheet, axes, box, taken)
    if len(chart.series) > 1:
        for series in chart.series:
            ends = [dot.around for dot in reversed(dots) if dot.series is series and dot.y is not None]
            if chart.names_first and ends:
                spot, align = next(beside(ends[-1], _name(series, sheet.frame), ("left",)))
                _name(series, sheet.frame).draw(sheet.canvas, spot, align)
            else:
                _paint_name(series, ends, sheet, box, taken)


@dataclass(frozen=True)
class _Dot:
    """A point with its place in user units; `around` holds its glyph and whisker."""

    series: Series
    point: CurvePoint
    x: float
    y: float | None
    around: Box


def _dots(series: Series, axes: _Axes, box: Box) -> list[_Dot]:
    """Place the points of a series; those that would cover each other stand side by side."""
    dots = []
    points = sorted(series.points, key=lambda point: (point.x, -(point.y or 0)))
    for place, same in groupby(points, key=lambda point: point.x):
        group = list(same)
        ys = [axes.y(point.y) for point in group if point.y is not None]
        near = any(low - high < 1.6 * GLYPH for high, low in pairwise(ys))
        for number, point in enumerate(group):
            x = axes.x(place) + (2 * number - len(group) + 1) * 0.8 * GLYPH * near
            if point.y is None:
                dots.append(_Dot(series, point, x, None, Box(x - GLYPH, box.top, x + GLYPH, box.top + 2 * GLYPH)))
                continue
            high, low = (axes.y(point.y if end is None else end) for end in (point.high, point.low))
            around = Box(x - GLYPH, high - GLYPH, x + GLYPH, low + GLYPH)
            dots.append(_Dot(series, point, x, axes.y(point.y), around))
    return dots


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
    for (x0, y0), (x1, y1) in pairwise(line):
        number = math.ceil(math.hypot(x1 - x0, y1 - y0) / 6)
        for step in range(number + 1):
            x, y = x0 + (x1 - x0) * step / number, y0 + (y1 - y0) * step / number
            boxes.append(Box(x - 2, y - 2, x + 2, y + 2))
    return boxes


def _paint_dot(dot: _Dot, sheet: Sheet, axes: _Axes, box: Box, taken: list[Box]) -> None:
    canvas, series, point, x = sheet.canvas, dot.series, dot.point, dot.x
    title = point.title or f"{series.label}: {point.label}"
    number = sheet.link(point.figure, point.href, title, dot.around)
    if point.low is not None and point.high is not None:
        colour, ends = shade(series.question, series.style), (axes.y(point.low), axes.y(point.high))
        canvas.line([(x, ends[0]), (x, ends[1])], colour, 1.8, mark=number)
        for y in ends:
            canvas.line([(x - 7, y), (x + 7, y)], colour, 1.8, mark=number)
    if dot.y is None:
        # At the top of a dashed line, so that it cannot be read as a value on the axis.
        y = box.top + GLYPH
        canvas.line([(x, y + GLYPH), (x, _missing_end(box))], "muted", dashes=(3, 4), mark=number)
        canvas.shape("o", x, y, 11, fill="paper", edge="muted", width=1.4, dashed=True, mark=number)
        label = Label(tuple(wrapped(Line(point.label, sheet.frame.small, "muted"), 0.3 * sheet.frame.width)))
    else:
        glyph(canvas, series.question, series.style, x, dot.y, mark=number, rim=True)
        label = mark_label(sheet.frame, point.label, None, series.style)
    if not point.label:
        return
    spot, align = first_free(_label_spots(dot, label, (box.left, box.right)), taken, (box.left, box.right))
    taken.append(spot)
    label.draw(canvas, spot, align, number)


def _missing_end(box: Box) -> float:
    """Return where the dashed line of a missing point ends: above the values that stand close to it."""
    return box.top + 0.4 * (box.bottom - box.top)


def _label_spots(dot: _Dot, label: Label, limits: tuple[float, float]) -> Iterator[Spot]:
    if dot.y is None:
        for spot, align in beside(dot.around, label, ("left", "right")):
            yield spot.moved(0, max(0, dot.around.top - spot.top)), align
    else:
        yield from islice(stacked(dot.around, label, "center", limits), 2)
        yield from beside(dot.around, label, ("right",))
        for align in _CORNERS:
            yield from islice(stacked(dot.around, label, align, limits), 2)
    yield from stacked(dot.around, label, "center", limits)


def _name(series: Series, frame: Frame) -> Label:
    colour = "muted" if series.style == "superseded" else series.question
    return Label((Line(series.label, frame.text, colour, bold=True),))


def _paint_name(series: Series, ends: list[Box], sheet: Sheet, box: Box, taken: list[Box]) -> None:
    """Write the name of a series near its last point that has room."""
    if not ends:
        return
    name, limits = _name(series, sheet.frame), (box.left, box.right)
    spots = chain(
        chain.from_iterable(beside(end, name, ("right", "left")) for end in ends),
        chain.from_iterable(stacked(end, name, align, limits) for align in ("center", "left") for end in ends),
    )
    spot, align = first_free(spots, taken, limits)
    taken.append(spot)
    name.draw(sheet.canvas, spot, align)
