"""The drawn timeline of the client's bias: why a late first chunk makes a rate read too high.

A schematic without numbers, so it is drawn here rather than by matplotlib: one size fits phone and desk.
"""

from __future__ import annotations

from macros.locale import Locale
from macros.markup import text

# User units; the drawing is 340 wide, like the narrow charts, and its text 12.5.
LEFT, RIGHT, FIRST, ARRIVAL = 8, 332, 78, 148
CHUNKS = (168, 190, 212, 234, 256, 278, 300, 322)


def html(words: Locale) -> str:
    """The drawing as a figure with its caption."""

    def word(name: str) -> str:
        return text(words.word(f"timeline.{name}"))

    def label(x: float, y: float, name: str, anchor: str = "start", role: str = "ink") -> str:
        fill = f"var(--chart-{role})"
        return f'<text x="{x}" y="{y}" font-size="12.5" text-anchor="{anchor}" fill="{fill}">{word(name)}</text>'

    def bar(x: float, width: float, y: float, role: str, opacity: str = "1") -> str:
        return (
            f'<rect x="{x}" y="{y}" width="{width}" height="16" rx="3" fill="var(--chart-{role})" '
            f'fill-opacity="{opacity}"/>'
        )

    def bracket(x: float, end: float, y: float, name: str) -> str:
        path = f"M{x} {y}v6H{end}v-6"
        return (
            f'<path d="{path}" fill="none" stroke="var(--chart-muted)"/>'
            f"{label((x + end) / 2, y + 21, name, anchor='middle')}"
        )

    dots = "".join(f'<circle cx="{x}" cy="130" r="3.5" fill="var(--chart-paper)"/>' for x in CHUNKS)
    late = "".join(
        f'<circle cx="{ARRIVAL + 6}" cy="{y}" r="3.5" fill="var(--chart-vantage)" stroke="var(--chart-paper)"/>'
        for y in (116, 125, 134, 143)
    )
    parts = [
        label(LEFT, 18, "engine"),
        bar(FIRST, RIGHT - FIRST, 28, "vantage", "0.35"),
        f'<path d="M{FIRST} 24v26" stroke="var(--chart-vantage)" stroke-width="2"/>',
        bracket(FIRST, RIGHT, 50, "window"),
        label(LEFT, 106, "client"),
        f'<path d="M{FIRST} 130H{ARRIVAL}" stroke="var(--chart-muted)" stroke-dasharray="3 3"/>',
        bar(ARRIVAL, RIGHT - ARRIVAL, 122, "vantage"),
        dots,
        late,
        bracket(FIRST, ARRIVAL - 2, 148, "lag"),
        bracket(ARRIVAL + 2, RIGHT, 148, "shorter_window"),
    ]
    return (
        f'<figure class="chart timeline" data-search-exclude><svg viewBox="0 0 340 176" role="img" '
        f'aria-label="{word("alternative")}">{"".join(parts)}</svg><figcaption>{word("caption")}</figcaption></figure>'
    )
