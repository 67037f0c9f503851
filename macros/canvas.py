"""A sheet that matplotlib draws on, in user units: 1/72 inch, x to the right and y downwards from the top.

A chart is laid out in these units before it is drawn, so that the same code serves the page, the file and the
picture. matplotlib is imported only when a sheet is made.
"""

from __future__ import annotations

import io
import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from macros.palette import SHADES

if TYPE_CHECKING:
    from matplotlib.font_manager import FontProperties

Align = Literal["left", "center", "right"]

# Browsers set the text in a font that we do not know; it may be this much wider than DejaVu Sans.
SLACK = 1.1
LINE = 1.25  # line height in font sizes


class Box(NamedTuple):
    """A rectangle in user units, y downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def hits(self, other: Box) -> bool:
        """Say whether two rectangles share an area."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def moved(self, dx: float, dy: float) -> Box:
        """Return the rectangle moved by (dx, dy)."""
        return Box(self.left + dx, self.top + dy, self.right + dx, self.bottom + dy)


class Line(NamedTuple):
    """One line of text: font size in user units, colour by its role in the palette."""

    text: str
    size: float
    colour: str = "ink"
    bold: bool = False
    struck: bool = False

    @property
    def height(self) -> float:
        """Return the line height in user units."""
        return self.size * LINE

    @property
    def width(self) -> float:
        """Return the width to keep free for it, in user units."""
        return _width(self.text, self.size, self.bold) * SLACK


def wrapped(line: Line, width: float) -> list[Line]:
    """Break a line at its spaces into parts of about one width, none wider than `width` user units."""
    lines = _broken(line, width)
    # A wider column never needs more lines: the narrowest that needs no more than these.
    widths = range(int(width / len(lines)), int(width), 4)
    narrowest = bisect_left(widths, -len(lines), key=lambda narrower: -len(_broken(line, narrower)))
    return _broken(line, widths[narrowest]) if narrowest < len(widths) else lines


def _broken(line: Line, width: float) -> list[Line]:
    """Put as many words on each line as it holds."""
    lines: list[Line] = []
    rest = ""
    for word in line.text.split(" "):
        longer = f"{rest} {word}" if rest else word
        if rest and line._replace(text=longer).width > width:
            lines.append(line._replace(text=rest))
            longer = word
        rest = longer
    return [*lines, line._replace(text=rest)]


@lru_cache(maxsize=2)
def _font(bold: bool) -> FontProperties:
    """Return the DejaVu Sans that comes with matplotlib: a system's own copy may differ."""
    import matplotlib
    from matplotlib.font_manager import FontProperties

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return FontProperties(fname=f"{matplotlib.get_data_path()}/fonts/ttf/{name}")


def _width(text: str, size: float, bold: bool) -> float:
    """The sum of the letters' advances: asking matplotlib for whole texts takes longer than all else in a layout."""
    return size * sum(_advance(letter, bold) for letter in text)


@cache
def _advance(letter: str, bold: bool) -> float:
    """How far a letter moves the pen, in font sizes."""
    from matplotlib.textpath import text_to_path

    font = _font(bold).copy()
    font.set_size(1)
    width = text_to_path.get_text_width_height_descent
    # Between two others, since the width of a text ends with the ink of its last letter.
    return float(width(f"|{letter}|", font, ismath=False)[0] - width("||", font, ismath=False)[0])


@contextmanager
def default_settings() -> Iterator[None]:
    """Draw with matplotlib's own defaults, whatever a matplotlibrc says, and leave text as text."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "charts", "text.hinting": "none"})
        yield


class Canvas:
    """Collects lines, shapes and texts; its height is given last, in `svg` or `png`.

    Use it within `default_settings`.
    """

    def __init__(self, width: float, *, raster: bool = False, white: bool = True) -> None:
        """Start a sheet `width` user units wide, white or clear; `raster` when it becomes a picture."""
        from matplotlib.figure import Figure
        from matplotlib.transforms import Affine2D

        self.width = width
        self._raster = raster
        self._figure = Figure(facecolor=SHADES["paper"].light if white else "none")
        self._downwards = Affine2D()
        self._units = self._downwards + self._figure.dpi_scale_trans

    def line(
        self,
        points: Sequence[tuple[float, float]],
        colour: str,
        width: float = 1.0,
        *,
        dashes: tuple[float, float] | None = None,
        mark: int | None = None,
        layer: int = 3,
    ) -> None:
        """Draw a polyline; `mark` is the number of the mark that it belongs to."""
        from matplotlib.lines import Line2D

        xs, ys = zip(*points, strict=True)
        style: Any = (0, tuple(dash / width for dash in dashes)) if dashes else "solid"
        self._add(
            Line2D(xs, ys, color=SHADES[colour].light, linewidth=width, linestyle=style, solid_capstyle="butt"),
            layer,
            _gid(mark),
        )

    def shape(
        self,
        kind: str,
        x: float,
        y: float,
        size: float,
        *,
        fill: str,
        edge: str,
        width: float = 1.6,
        dashed: bool = False,
        mark: int | None = None,
    ) -> None:
        """Draw a marker of matplotlib (`o`, `s`, `D` …) about `size` user units across, centred on (x, y)."""
        from matplotlib.markers import MarkerStyle
        from matplotlib.patches import PathPatch
        from matplotlib.transforms import Affine2D

        marker = MarkerStyle(kind)
        # y grows downwards here, so a triangle would stand on its head.
        place = marker.get_transform() + Affine2D().scale(size, -size).translate(x, y)
        path = place.transform_path(marker.get_path())
        patch = PathPatch(
            path,
            facecolor=SHADES[fill].light,
            edgecolor=SHADES[edge].light,
            linewidth=width,
            linestyle=(0, (2 / width, 2 / width)) if dashed else "solid",
        )
        self._add(patch, 4, _gid(mark))

    def text(self, x: float, top: float, line: Line, align: Align = "left", *, mark: int | None = None) -> None:
        """Write one line whose line box begins at `top`."""
        from matplotlib.patches import Rectangle

        font = _font(line.bold).copy()
        font.set_size(line.size)
        base = top + line.height / 2 + line.size * 0.36
        text = self._figure.text(
            x, base, line.text, ha=align, va="baseline", color=SHADES[line.colour].light, fontproperties=font
        )
        text.set_fontweight("bold" if line.bold else "normal")  # a font given by its file names no weight
        text.set_parse_math(False)
        text.set(transform=self._units, zorder=5, gid=_gid(mark, struck=line.struck))
        wide = _width(line.text, line.size, line.bold)
        left = x - {"left": 0.0, "center": wide / 2, "right": wide}[align]
        # A strip of paper keeps the grid lines off the text.
        strip = Rectangle((left - 2, top), wide + 4, line.height, color=SHADES["paper"].light, linewidth=0)
        self._add(strip, 2, None)
        if line.struck and self._raster:  # matplotlib cannot strike a text through
            middle = base - line.size * 0.28
            self.line([(left, middle), (left + wide, middle)], line.colour, layer=6)

    def paragraph(self, x: float, top: float, lines: Iterable[Line], align: Align = "left") -> float:
        """Write lines below each other and return where the next one would begin."""
        for line in lines:
            self.text(x, top, line, align)
            top += line.height
        return top

    def svg(self, height: float) -> bytes:
        """Return matplotlib's SVG with real text, without dates."""
        from matplotlib.backends.backend_svg import FigureCanvasSVG

        FigureCanvasSVG(self._figure)
        return self._save(height, format="svg", metadata={"Date": None, "Creator": None})

    def png(self, height: float, pixels: int) -> bytes:
        """Return a picture `pixels` wide, without dates."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        FigureCanvasAgg(self._figure)
        return self._save(height, format="png", dpi=72 * pixels / self.width, metadata={"Software": None})

    def _add(self, artist: Any, layer: int, gid: str | None) -> None:
        artist.set(transform=self._units, zorder=layer, gid=gid)
        self._figure.add_artist(artist)

    def _save(self, height: float, **options: Any) -> bytes:
        height = math.ceil(height)
        self._figure.set_size_inches(self.width / 72, height / 72)
        self._downwards.clear().scale(1 / 72, -1 / 72).translate(0, height / 72)
        file = io.BytesIO()
        self._figure.savefig(file, **options)
        return file.getvalue()


def _gid(mark: int | None, *, struck: bool = False) -> str | None:
    """Return the name by which `svg.py` finds the pieces of a mark again."""
    return None if mark is None else f"{'struck' if struck else 'mark'}-{mark}"
