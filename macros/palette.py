"""The colours of the charts: one name each, with a shade for the light and one for the dark theme.

The hues of the questions are near those of Okabe and Ito, moved until each reaches 4.5:1 on its background,
so that headings and chips may use them for text as well, and colour-blind readers can tell each pair apart.
"""

from typing import Literal, NamedTuple

Question = Literal["backend", "prompt", "vantage", "concurrency", "other"]


class Shade(NamedTuple):
    """One colour as `#rrggbb` in the light and in the dark theme."""

    light: str
    dark: str


# No light shade may occur twice: the drawings are made in light shades and translated back by them.
SHADES: dict[str, Shade] = {
    "paper": Shade("#ffffff", "#1e2129"),
    "ink": Shade("#1b1d23", "#e8eaf0"),
    "muted": Shade("#5b616c", "#a7adba"),
    "grid": Shade("#dfe2e8", "#343946"),
    "pale": Shade("#8d929b", "#6b7180"),
    "backend": Shade("#0a50b0", "#4a97f0"),
    "prompt": Shade("#b9400f", "#f0a045"),
    "vantage": Shade("#0b7f58", "#2fd592"),
    "concurrency": Shade("#b04a92", "#fbb6ea"),
    "other": Shade("#3d4047", "#9a9eaa"),
}

_ROLE_OF = {shade.light: role for role, shade in SHADES.items()}


def as_variable(colour: str) -> str:
    """Return `var(--chart-ROLE)` for a light shade; anything else (`none`) comes back as it is."""
    role = _ROLE_OF.get(colour)
    return f"var(--chart-{role})" if role else colour


def palette_css() -> str:
    """Return the style sheet that defines `--chart-ROLE` for both themes; print is always light."""
    light = "".join(f"  --chart-{role}: {shade.light};\n" for role, shade in SHADES.items())
    dark = "".join(f"  --chart-{role}: {shade.dark};\n" for role, shade in SHADES.items())
    return (
        f':root,\n[data-md-color-scheme="default"] {{\n{light}}}\n'
        f'[data-md-color-scheme="slate"] {{\n{dark}}}\n'
        f"@media print {{\n:root,\n[data-md-color-scheme] {{\n{light}}}\n}}\n"
    )
