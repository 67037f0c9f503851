"""Russian typography of a finished page: what no author should have to type by hand."""

from __future__ import annotations

import re

NBSP = "\u00a0"
# Text between tags; code, scripts and styles are left alone.
_PIECES = re.compile(r"(<(?:code|pre|script|style|math)\b.*?</(?:code|pre|script|style|math)>|<[^>]*>)", re.DOTALL)
_SHORT = re.compile(r"(?<![\w-])([авикосуяжбАВИКОСУЯ]|[Нн]а|[Нн]е|[Пп]о|[Зз]а|[Оо]т|[Дд]о|[Ии]з|[Нн]о) (?=\S)")
_DASH = re.compile(r" —(?=\s|$)")
_UNIT = re.compile(r"(?<=\d) (?=(?:tok/s|шаг\w*/с|токен\w*|прогон\w*|запрос\w*|раз[а]?\b|с\b|мс\b))")


def russian(html: str) -> str:
    """No-break spaces after short words, before dashes, and between number and unit, in text only."""
    pieces = _PIECES.split(html)
    # Most pieces are a number or a line break: without a space there is nothing to do.
    return "".join(text(piece) if not index % 2 and " " in piece else piece for index, piece in enumerate(pieces))


def text(piece: str) -> str:
    """The same for plain text."""
    # Twice, since two short words in a row share the space between them.
    for _ in range(2):
        piece = _SHORT.sub(rf"\1{NBSP}", piece)
    return _UNIT.sub(NBSP, _DASH.sub(f"{NBSP}—", piece))
