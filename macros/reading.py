"""What a reader reads of a page's source: its sentences as text, without a build."""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Callable, Iterator

import jinja2

from macros import binding, inline
from macros.render import PageError, Renderer

# Stands for what is no sentence: a list, a table, an address.
GAP = "…"
CODE = re.compile(r"^(```+|~~~+)[^\n]*\n.*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
MACRO = re.compile(r"\{\{.*?\}\}", re.DOTALL)
# A sentence ends with its closing marks, or where a paragraph, heading, entry of a list or of the front matter does.
_END = re.compile(r"[.!?][*»”)]*(?=[\s<]|$)|\n[ \t]*\n|(?<=>)\n|\n(?=[ \t]*(?:[-*>] |---|[|#<]|\d+\. |[a-z_]+: ))")
_MARKDOWN = (
    (re.compile(r"<[^>]*>|\*\*|^\s*(?:#{1,6}|-|>|\d+\.) +| *\{:? ?[#.][^}\n]*\}"), ""),
    (re.compile(r"!?\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"^(\w+): >-"), r"\1:"),
)


class _Gap(jinja2.ChainableUndefined):
    """A macro or a setting that prints no words of the data."""

    def __call__(self, *_: object, **__: object) -> str:  # type: ignore[override]
        return GAP

    def __str__(self) -> str:
        return GAP


_ENVIRONMENT = jinja2.Environment(autoescape=False, undefined=_Gap)


def sentences(source: str) -> Iterator[tuple[int, str]]:
    """Each sentence, heading and entry of the front matter outside code, as source text with its line."""
    blank = MACRO.sub(lambda m: "x" * len(m.group()), CODE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), source))
    start = 0
    for end in [*(match.end() for match in _END.finditer(blank)), len(source)]:
        if blank[start:end].strip():
            first = start + len(blank[start:end]) - len(blank[start:end].lstrip())
            yield source.count("\n", 0, first) + 1, source[first:end].rstrip()
        start = end


def plain(source: str, page: Renderer) -> str:
    """A piece of a page as its reader reads it; code keeps its marks."""
    macros = {name: _or_gap(macro) for name, macro in inline.macros(lambda: page).items()}
    said = _template(source).render(macros, states=lambda _: "")
    for pattern, instead in _MARKDOWN:
        said = pattern.sub(instead, said)
    return " ".join(binding.strip(html.unescape(said)).split())


@functools.cache
def _template(source: str) -> jinja2.Template:
    return _ENVIRONMENT.from_string(source)


def _or_gap(macro: Callable[..., str]) -> Callable[..., str]:
    """The macro, or a gap where the data lacks what it asks for: a build says so, and this is none."""

    def call(*args: object, **flags: object) -> str:
        try:
            return macro(*args, **flags)
        except (PageError, KeyError, TypeError, ValueError):
            return GAP

    return call
