"""Two manifests side by side: what they share, what differs, and what neither states."""

from __future__ import annotations

from macros.binding import bind
from macros.manifests import COMPARED, setting
from macros.markup import element, table, text
from macros.render import Renderer


def sides(page: Renderer, left: str, right: str) -> str:
    """A table of the keys that differ; below it, what both sides share and what is published for neither."""
    words = page.locale
    a, b = page.manifest(left), page.manifest(right)
    values = {key: (setting(a, key), setting(b, key)) for key in COMPARED}
    rows = [
        [_name(key, page), *(text(page.setting_text(key, value)) for value in pair)]
        for key, pair in values.items()
        if pair[0] != pair[1]
    ]
    shared = [
        f"{_name(key, page)}: {text(page.setting_text(key, one))}"
        for key, (one, other) in values.items()
        if one == other and one is not None
    ]
    missing = [_name(key, page) for key, pair in values.items() if pair == (None, None)]
    head = [text(words.word("column.what")), *(element("code", text(bind(name))) for name in (left, right))]
    return table(head, rows, words.word("fact.configuration")) + "".join(
        element("p", f"<strong>{text(words.word(title))}:</strong> {'; '.join(entries)}.")
        for title, entries in (("shared_keys", shared), ("not_published_keys", missing))
    )


def _name(key: str, page: Renderer) -> str:
    return text(page.locale.word(f"key.{key}"))
