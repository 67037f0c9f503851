"""Finished markup that Markdown need not read: a macro leaves a comment, and the page gets the markup after Markdown.

Charts and generated lists are most of a page's bytes, and Markdown's parser would take longer over them than all else.
"""

from __future__ import annotations

import hashlib
import re

_PLACEHOLDER = re.compile(r"<!--block ([0-9a-f]{16})-->")
_kept: dict[str, str] = {}


def keep(markup: str) -> str:
    """A comment, on lines of its own as far as Markdown sees, that stands for this markup."""
    key = hashlib.sha256(markup.encode()).hexdigest()[:16]
    _kept[key] = markup
    return f"<!--block {key}-->"


def fill(text: str) -> str:
    """The text with the markup in the place of its comments."""
    return _PLACEHOLDER.sub(lambda match: _kept[match[1]], text)
