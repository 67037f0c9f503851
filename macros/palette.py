"""The colours of the charts: one name each, with a shade for the light and one for the dark theme.

The hues of the questions come from Okabe and Ito's set, moved in lightness until each reaches 4.5:1 against
its background, so that headings and chips may use them for text as well.
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
    "grid": Shade("#dfe2e8", "#373c48"),
    "pale": Shade("#8d929b", "#7c8391"),
    "backend": Shade("#0068a8", "#5cb8f0"),
    "prompt": Shade("#b34700", "#f5a04e"),
    "vantage": Shade("#007a5a", "#2ec79d"),
    "concurrency": Shade("#a3307c", "#ef93cb"),
    "other": Shade("#4d535e", "#b9bfcb"),
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
