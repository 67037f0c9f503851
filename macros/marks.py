"""What every chart shares: the sizes of a drawing, the marks, and labels that keep clear of each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from macros.canvas import Align, Box, Canvas, Line
from macros.palette import Question
from macros.svg import Link

Style = Literal["own", "others", "superseded"]

# One shape a question; the sizes make them look equally heavy.
_SHAPES: dict[str, tuple[str, float]] = {
    "backend": ("o", 10.5),
    "prompt": ("s", 9.2),
    "vantage": ("D", 7.8),
    "concurrency": ("^", 10.5),
    "other": ("P", 10.5),
}
GLYPH = 7.0  # half the room of a mark, in user units
GAP = 5.0  # between a mark and its label


@dataclass(frozen=True)
class Frame:
    """The sizes of one kind of drawing in user units; `framed` ones carry their title and footer."""

    width: float
    text: float
    small: float
    narrow: bool = False
    framed: bool = False
    pad: float = 0.0

    @property
    def room(self) -> float:
        """Return the width between the paddings."""
        return self.width - 2 * self.pad

    @property
    def right(self) -> float:
        """Return the right edge of what may be drawn on."""
        return self.width - self.pad


# A padding of 2 keeps the letters' overhang inside.
WIDE = Frame(width=700, text=13, small=12, pad=2)
NARROW = Frame(width=344, text=13, small=13, narrow=True, pad=2)
FILE = Frame(width=780, text=13.5, small=12, framed=True, pad=28)


@dataclass
class Sheet:
    """A canvas with the frame it is drawn in and the links collected so far; ids begin with `name`."""

    canvas: Canvas
    frame: Frame
    name: str
    links: list[Link] = field(default_factory=list)

    def link(self, figure: str, href: str | None, title: str, area: Box) -> int:
        """Add a link for a mark and return the mark's number; its area grows to a finger's size."""
        wide, high = max(area.right - area.left, 24.0), max(area.bottom - area.top, 24.0)
        x, y = (area.left + area.right) / 2, (area.top + area.bottom) / 2
        taken = sum(link.figure == figure for link in self.links)
        self.links.append(
            Link(
                id=f"{self.name}-{figure}{f'-{taken + 1}' if taken else ''}",
                figure=figure,
                href=href,
                title=title,
                area=(round(x - wide / 2, 1), round(y - high / 2, 1), round(wide, 1), round(high, 1)),
            )
        )
        return len(self.links) - 1


def glyph(
    canvas: Canvas,
    question: Question,
    style: Style,
    x: float,
    y: float,
    *,
    mark: int | None = None,
    rim: bool = False,
) -> None:
    """Draw the shape of a question: filled for own figures, open for others', pale for superseded ones.

    A rim of paper keeps filled neighbours apart.
    """
    kind, size = _SHAPES[question]
    colour = shade(question, style)
    fill = "paper" if style == "others" else colour
    if rim and fill == colour:
        canvas.shape(kind, x, y, size + 1.6, fill=fill, edge="paper", width=1, mark=mark)
    else:
        canvas.shape(kind, x, y, size, fill=fill, edge=colour, mark=mark)


def whisker(
    canvas: Canvas, colour: str, ends: tuple[float, float], y: float, *, thick: bool, mark: int | None = None
) -> None:
    """Draw a horizontal whisker with wide caps at height y; a thick one is a range of its own."""
    left, right = ends
    cap = 9.0
    canvas.line([(left, y), (right, y)], colour, 6.0 if thick else 1.8, mark=mark, layer=3)
    for x in ends:
        canvas.line([(x, y - cap), (x, y + cap)], colour, 2.2 if thick else 1.8, mark=mark, layer=3)


def shade(question: Question, style: Style) -> str:
    """Return the role in the palette that a mark is drawn in."""
    return "pale" if style == "superseded" else question


@dataclass(frozen=True)
class Label:
    """Lines of text as one block."""

    lines: tuple[Line, ...]

    @property
    def width(self) -> float:
        """Return the width to keep free, in user units."""
        return max(line.width for line in self.lines)

    @property
    def height(self) -> float:
        """Return the height of the block in user units."""
        return sum(line.height for line in self.lines)

    def draw(self, canvas: Canvas, box: Box, align: Align, mark: int | None = None) -> None:
        """Write the block into its box."""
        x = {"left": box.left, "center": (box.left + box.right) / 2, "right": box.right}[align]
        top = box.top
        for line in self.lines:
            canvas.text(x, top, line, align, mark=mark)
            top += line.height


def mark_label(frame: Frame, text: str, note: str | None, style: Style) -> Label:
    """Return the printed value of a mark, with what it is in small below."""
    struck = style == "superseded"
    colour = "muted" if struck else "ink"
    value = Line(text, frame.text, colour, bold=not struck, struck=struck)
    return Label((value, Line(note, frame.small, "muted")) if note else (value,))


Spot = tuple[Box, Align]


def beside(around: Box, label: Label, sides: Iterable[Literal["left", "right"]]) -> Iterator[Spot]:
    """Yield the places at the sides of a mark, on its height."""
    middle = (around.top + around.bottom) / 2
    top, bottom = middle - label.height / 2, middle + label.height / 2
    for side in sides:
        if side == "left":
            yield Box(around.left - GAP - label.width, top, around.left - GAP, bottom), "right"
        else:
            yield Box(around.right + GAP, top, around.right + GAP + label.width, bottom), "left"


def stacked(around: Box, label: Label, align: Align, limits: tuple[float, float]) -> Iterator[Spot]:
    """Yield the places above and below a mark, farther and farther off, moved to stay within the limits."""
    left = {
        "left": around.left,
        "center": (around.left + around.right - label.width) / 2,
        "right": around.right - label.width,
    }[align]
    left = max(limits[0], min(left, limits[1] - label.width))
    for step in range(12):
        away = 1 + step * label.height
        yield Box(left, around.top - away - label.height, left + label.width, around.top - away), align
        yield Box(left, around.bottom + away, left + label.width, around.bottom + away + label.height), align


def first_free(spots: Iterable[Spot], taken: Sequence[Box], limits: tuple[float, float]) -> Spot:
    """Return the first place that lies between the left and right limit and hits nothing."""
    for box, align in spots:
        inside = limits[0] <= box.left and box.right <= limits[1]
        if inside and not any(box.hits(other) for other in taken):
            return box, align
    raise ValueError("a chart has no room for a label: shorten it or give the chart fewer marks")
