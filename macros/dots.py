"""The dot-and-whisker chart: labelled rows on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from macros.canvas import Align, Box, Line, wrapped
from macros.marks import (
    GAP,
    GLYPH,
    Frame,
    Label,
    Sheet,
    Style,
    beside,
    first_free,
    glyph,
    mark_label,
    shade,
    stacked,
    whisker,
)
from macros.palette import Question

_KEY = 20.0  # room for the mark of the question before a row's label, in user units
_ARROW = 26.0  # length of the arrow at the right edge, in user units


@dataclass(frozen=True)
class Mark:
    """One figure on the axis; `low` and `high` are the ends of its whisker, in the unit of the axis.

    `label` is the printed value with its unit, `note` a small line below it, `title` the accessible name
    (without one: the row's label and the mark's). A mark without `value` is a bare range. An `edge` mark lies
    off the axis and becomes an arrow at the right edge.
    """

    figure: str
    value: float | None
    low: float | None
    high: float | None
    label: str
    note: str | None = None
    style: Style = "own"
    href: str | None = None
    edge: bool = False
    title: str | None = None

    @property
    def span(self) -> tuple[float, float]:
        """Return the lowest and highest value that is drawn."""
        values = [value for value in (self.low, self.value, self.high) if value is not None]
        return min(values), max(values)


@dataclass(frozen=True)
class Row:
    """One labelled line of the chart; a row without marks shows its note in their place."""

    label: str
    note: str | None
    question: Question
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class DotChart:
    """A chart as its caller wants it, all texts in its language.

    `axis` is the axis label with the unit, `axis_note` says that the axis does not start at zero when
    `from_zero` is false, `footer` are the last lines of the file and the picture, and `tick_format` prints a
    tick: `{:g}`, `{:g} %`.
    """

    id: str
    lang: str
    title: str
    axis: str
    axis_note: str | None
    rows: tuple[Row, ...]
    from_zero: bool = True
    footer: tuple[str, ...] = ()
    tick_format: str = "{:g}"


@dataclass(frozen=True)
class _Placed:
    """A mark with its glyph's and its label's boxes, y counted from the middle of its row."""

    mark: Mark
    around: Box
    label: Label
    box: Box
    align: Align


@dataclass(frozen=True)
class _Axis:
    """A linear scale from values to user units."""

    ticks: tuple[float, ...]
    left: float
    right: float

    def x(self, value: float) -> float:
        """Return the place of a value."""
        low, high = self.ticks[0], self.ticks[-1]
        return self.left + (value - low) / (high - low) * (self.right - self.left)


def paint_dots(chart: DotChart, sheet: Sheet, top: float) -> float:
    """Draw the rows and the axis from `top` downwards; return the lower end in user units."""
    frame, canvas = sheet.frame, sheet.canvas
    keyed = len({row.question for row in chart.rows}) > 1
    column = 0.0 if frame.narrow else _label_column(chart, frame, keyed)
    axis = _axis(chart, frame, column)
    y = top
    for row in chart.rows:
        y = _paint_row(row, sheet, axis, y, column, keyed)
    for tick in axis.ticks:
        canvas.line([(axis.x(tick), top), (axis.x(tick), y)], "grid", layer=1)
    canvas.line([(axis.left, y), (axis.right, y)], "muted")
    return _paint_axis(chart, sheet, axis, y)


def _label_column(chart: DotChart, frame: Frame, keyed: bool) -> float:
    """Return the width of the row labels at the left: about a third of the drawing at most."""
    lines = [line for row in chart.rows for line in _row_lines(row, frame, 0.36 * frame.room, keyed)]
    return max(line.width for line in lines) + _KEY * keyed


def _row_lines(row: Row, frame: Frame, room: float, keyed: bool) -> list[Line]:
    """Return the label and the note of a row, broken to `room` less the key's width."""
    room -= _KEY * keyed
    lines = wrapped(Line(row.label, frame.text, bold=keyed), room)
    if row.note and (row.marks or frame.narrow):
        lines += wrapped(Line(row.note, frame.small, "muted"), room)
    return lines


def _axis(chart: DotChart, frame: Frame, column: float) -> _Axis:
    """Return the scale: its right end leaves room for the label of the last mark of each row."""
    from matplotlib.ticker import MaxNLocator

    rows = [[mark for mark in row.marks if not mark.edge] for row in chart.rows]
    spans = [mark.span for mark in chain.from_iterable(rows)]
    lowest = 0.0 if chart.from_zero else min(low for low, _ in spans)
    highest = max(high for _, high in spans)
    ticks = MaxNLocator(4 if frame.narrow else 6, steps=[1, 2, 5, 10]).tick_values(lowest, highest)
    ticks = tuple(float(tick) for tick in ticks if not chart.from_zero or tick >= 0)
    left = frame.pad + (GLYPH + 1 if frame.narrow else column + 24)
    right = frame.right - GLYPH - 8
    for marks in rows:
        if marks:
            last = max(marks, key=lambda mark: mark.span[1])
            label = mark_label(frame, last.label, last.note, last.style)
            share = (last.span[1] - ticks[0]) / (ticks[-1] - ticks[0])
            right = min(right, left + (frame.right - 1 - GLYPH - GAP - label.width - left) / share)
    return _Axis(ticks, left, right)


def _place(row: Row, frame: Frame, axis: _Axis) -> list[_Placed]:
    """Find a place for the label of each mark of a row: beside it if that is free, else above or below."""
    marks = sorted(row.marks, key=lambda mark: (not mark.edge, mark.span))  # the edge leaves least choice
    arounds = [_around(mark, frame, axis) for mark in marks]
    taken = list(arounds)
    limits = (axis.left - GLYPH, frame.right)
    placed = []
    lowest = min((mark for mark in marks if not mark.edge), key=lambda mark: mark.span, default=None)
    for mark, around in zip(marks, arounds, strict=True):
        label = _fitting_label(mark, frame, limits)
        left_first = mark.edge or (mark is lowest and len(marks) > 1)
        sides = beside(around, label, ("left", "right") if left_first else ("right", "left"))
        away = stacked(around, label, "right" if mark.edge else "center", limits)
        box, align = first_free(chain(sides, away), taken, limits)
        taken.append(box)
        placed.append(_Placed(mark, around, label, box, align))
    return placed


def _around(mark: Mark, frame: Frame, axis: _Axis) -> Box:
    if mark.edge:
        return Box(frame.right - _ARROW, -GLYPH, frame.right, GLYPH)
    low, high = mark.span
    return Box(axis.x(low) - GLYPH, -GLYPH - 1, axis.x(high) + GLYPH, GLYPH + 1)


def _fitting_label(mark: Mark, frame: Frame, limits: tuple[float, float]) -> Label:
    label = mark_label(frame, mark.label, mark.note, mark.style)
    return Label(tuple(chain.from_iterable(wrapped(line, limits[1] - limits[0]) for line in label.lines)))


def _paint_row(row: Row, sheet: Sheet, axis: _Axis, top: float, column: float, keyed: bool) -> float:
    """Draw one row below `top` and return its lower end."""
    frame, canvas = sheet.frame, sheet.canvas
    placed = _place(row, frame, axis)
    boxes = [box for mark in placed for box in (mark.around, mark.box)]
    above = max([12.0, *(-box.top for box in boxes)])
    below = max([12.0, *(box.bottom for box in boxes)])
    lines = _row_lines(row, frame, frame.room if frame.narrow else column + 0.1, keyed)
    high = sum(line.height for line in lines)

    if frame.narrow:
        text_top = top + 8
        middle = text_top + high + above
        end = middle + below + 6 if placed else text_top + high + 8
    else:
        middle = top + 9 + max(above, high / 2)
        text_top = middle - high / 2
        end = middle + max(below, high / 2) + 9

    canvas.paragraph(frame.pad + _KEY * keyed, text_top, lines)
    if keyed:
        glyph(canvas, row.question, "own", frame.pad + 7, text_top + lines[0].height / 2)
    if placed:
        canvas.line([(axis.left, middle), (axis.right, middle)], "grid", layer=1)
    elif row.note and not frame.narrow:
        notes = wrapped(Line(row.note, frame.small, "muted"), frame.right - axis.left - 8)
        notes_high = sum(line.height for line in notes)
        canvas.paragraph(axis.left + 8, middle - notes_high / 2, notes)
    for item in placed:
        _paint_mark(row, item, sheet, axis, middle)
    return end


def _paint_mark(row: Row, item: _Placed, sheet: Sheet, axis: _Axis, y: float) -> None:
    mark, canvas = item.mark, sheet.canvas
    title = mark.title or f"{row.label}: {mark.label}"
    number = sheet.link(mark.figure, mark.href, title, item.around.moved(0, y))
    colour = shade(row.question, mark.style)
    if mark.edge:
        tip = item.around.right
        canvas.line([(tip - _ARROW, y), (tip - 1, y)], colour, 2.4, mark=number)
        canvas.line([(tip - 8, y - 6), (tip - 1, y), (tip - 8, y + 6)], colour, 2.4, mark=number)
    if mark.low is not None and mark.high is not None and not mark.edge:
        ends = (axis.x(mark.low), axis.x(mark.high))
        whisker(canvas, colour, ends, y, thick=mark.value is None, mark=number)
    if mark.value is not None and not mark.edge:
        glyph(canvas, row.question, mark.style, axis.x(mark.value), y, mark=number)
    around, box = item.around, item.box
    gap = (box.bottom, around.top) if box.bottom < around.top else (around.bottom, box.top)
    if gap[1] - gap[0] > GAP:  # the label had to go far: a leader on the lowest layer, under other labels
        x = (around.left + around.right) / 2
        canvas.line([(x, y + gap[0]), (x, y + gap[1])], "muted", layer=1)
    item.label.draw(canvas, item.box.moved(0, y), item.align, number)


def _paint_axis(chart: DotChart, sheet: Sheet, axis: _Axis, y: float) -> float:
    """Write the ticks, the axis label and its note below the axis; return the lower end."""
    frame, canvas = sheet.frame, sheet.canvas
    for tick in axis.ticks:
        canvas.line([(axis.x(tick), y), (axis.x(tick), y + 4)], "muted")
        canvas.text(axis.x(tick), y + 6, Line(chart.tick_format.format(tick), frame.small, "muted"), "center")
    left = frame.pad if frame.narrow else axis.left
    lines: Sequence[Line] = wrapped(Line(chart.axis, frame.small), frame.right - left)
    if chart.axis_note:
        lines = [*lines, *wrapped(Line(chart.axis_note, frame.small, "muted"), frame.right - left)]
    return canvas.paragraph(left, y + 8 + Line("", frame.small).height, lines) + 4
