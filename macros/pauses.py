"""Pauses in long pages, so that a phone can paint and answer while it still reads.

Chromium hands the thread back every 10 ms of reading, but after a few times only every 500 ms. Reading on behind an
inline script, it is back at 10 ms. An empty one will do, and an empty one is nothing for the policy to refuse.
"""

from __future__ import annotations

import re
from pathlib import Path

# Elements between two pauses: a few milliseconds on a phone.
EVERY = 100
PAUSE = "<script></script>"
# At the end of links and code, which stand everywhere and whose children no rule of the styles counts.
_TAG = re.compile(r"<(?:script\b.*?</script>|/(?:a|code)>|[a-z])", re.DOTALL | re.IGNORECASE)


def put_in(site_dir: Path) -> None:
    """Puts them into every page."""
    for path in sorted(site_dir.rglob("*.html")):
        path.write_text(with_pauses(path.read_text("utf-8")), "utf-8")


def with_pauses(page: str) -> str:
    """A page with a pause after every so many elements of its article, at the next such end."""
    before, article, text = page.partition("<article")
    elements = 0

    def pause(tag: re.Match[str]) -> str:
        nonlocal elements
        if tag[0] not in ("</a>", "</code>"):
            elements += 1
            return tag[0]
        if elements < EVERY:
            return tag[0]
        elements = 0
        return PAUSE + tag[0]

    return before + article + _TAG.sub(pause, text)
