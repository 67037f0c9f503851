"""Draw a chart: for the page (wide and narrow, following its theme), as a file and as a picture."""

from bisect import bisect_left
from dataclasses import replace
from typing import Literal

from macros.canvas import Canvas, Line, default_settings, wrapped
from macros.curves import CurveChart, CurvePoint, Series, paint_curves
from macros.dots import DotChart, Mark, Row, paint_dots
from macros.marks import FILE, NARROW, WIDE, Sheet
from macros.strips import StripChart, paint_strips
from macros.svg import inline_svg, svg_file

__all__ = [
    "Chart", "CurveChart", "CurvePoint", "DotChart", "Mark", "Row", "Series", "StripChart",
    "Width", "draw_inline", "draw_png", "draw_svg_file",
]  # fmt: skip

Chart = DotChart | CurveChart | StripChart
Width = Literal["wide", "narrow"]

PNG_PIXELS = 1560


def draw_inline(chart: Chart, width: Width = "wide") -> str:
    """Return an SVG fragment for HTML: 700 user units wide, or 340 for a phone.

    It has the page's font, colours as CSS variables and no style attributes; each mark is a link.
    """
    frame = WIDE if width == "wide" else NARROW
    with default_settings():
        sheet = Sheet(Canvas(frame.width, white=False), frame, f"{chart.id}-{width}")
        height = _paint(chart, sheet)
        raw = sheet.canvas.svg(height)
    return inline_svg(raw, sheet.links, name=f"chart-{width}", label=chart.title)


def draw_svg_file(chart: Chart) -> bytes:
    """Return a standalone SVG in light colours, 780 user units wide, with title and footer."""
    with default_settings():
        sheet = Sheet(Canvas(FILE.width), FILE, chart.id)
        height = _paint(chart, sheet)
        raw = sheet.canvas.svg(height)
    return svg_file(raw, sheet.links, title=chart.title, lang=chart.lang)


def draw_png(chart: Chart) -> bytes:
    """Return a white picture 1560 pixels wide, with title and footer."""
    with default_settings():
        sheet = Sheet(Canvas(FILE.width, raster=True), FILE, chart.id)
        height = _paint(chart, sheet)
        return sheet.canvas.png(height, PNG_PIXELS)


def draw_card(chart: Chart, width: int, height: int) -> bytes:
    """Return a white picture of exactly this many pixels, with title and footer, drawn as large as it fits."""

    def painted(units: int) -> tuple[Canvas, bool]:
        sheet = Sheet(Canvas(units, raster=True), replace(FILE, width=units, pad=24), chart.id)
        return sheet.canvas, _paint(chart, sheet) <= units * height / width

    sizes = range(560, 1200, 40)
    with default_settings():
        largest = bisect_left(sizes, True, key=lambda units: painted(units)[1])
        if largest == len(sizes):
            raise ValueError(f"{chart.id} does not fit {width} x {height}")
        canvas, _ = painted(sizes[largest])
        return canvas.png(sizes[largest] * height / width, width)


def _paint(chart: Chart, sheet: Sheet) -> float:
    """Draw a chart with what its frame asks for; return the height in user units."""
    frame, canvas = sheet.frame, sheet.canvas
    top = 4.0
    if frame.framed:
        title = wrapped(Line(chart.title, 20, bold=True), frame.room)
        top = canvas.paragraph(frame.pad, frame.pad - 4, title) + 12
    if isinstance(chart, DotChart):
        bottom = paint_dots(chart, sheet, top)
    elif isinstance(chart, StripChart):
        bottom = paint_strips(chart, sheet, top)
    else:
        bottom = paint_curves(chart, sheet, top)
    if frame.framed and chart.footer:
        lines = [part for text in chart.footer for part in wrapped(Line(text, 11.5, "muted"), frame.room)]
        canvas.line([(frame.pad, bottom + 14), (frame.right, bottom + 14)], "grid")
        bottom = canvas.paragraph(frame.pad, bottom + 24, lines)
    return bottom + frame.pad * 0.8
