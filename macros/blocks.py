"""Finished markup that the steps after a macro need not read: the macro leaves a comment in its place.

Charts and generated lists are most of a page's bytes, and Markdown's parser would take longer over them than all else.
So Markdown reads none of them; the search and the glossary read lists, and no charts or details (`unread`). Drawings
are asked for only when the page is finished (`keep_late`): they are made while pages are rendered.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

_PLACEHOLDER = re.compile(r"<!--(block|unread) ([0-9a-f]{16})-->")
_LATE = re.compile(r"<!--late (\d+)-->")
_kept: dict[str, str] = {}
_late: list[Callable[[], str]] = []


def keep(markup: str, unread: bool = False) -> str:
    """A comment, on lines of its own as far as Markdown sees, that stands for this markup."""
    key = hashlib.sha256(markup.encode()).hexdigest()[:16]
    _kept[key] = markup
    return f"<!--{'unread' if unread else 'block'} {key}-->"


def fill_read(text: str) -> str:
    """The text with the markup that search and glossary read in the place of its comments."""
    return _PLACEHOLDER.sub(lambda match: match[0] if match[1] == "unread" else _kept.get(match[2], match[0]), text)


def fill(text: str) -> str:
    """The text with all markup in the place of its comments; what is kept unread stands in no other such markup."""
    return _PLACEHOLDER.sub(lambda match: _kept.get(match[2], match[0]), fill_read(text))


def keep_late(make: Callable[[], str]) -> str:
    """A comment that stands for markup which is made when `finish` wants it."""
    _late.append(make)
    return f"<!--late {len(_late) - 1}-->"


def finish(text: str) -> str:
    """The text with everything in the place of its comments."""
    late = range(len(_late))
    return _LATE.sub(lambda match: _late[int(match[1])]() if int(match[1]) in late else match[0], fill(text))
