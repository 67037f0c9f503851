"""Two manifests side by side: what they share, what differs, and what neither states."""

from __future__ import annotations

from macros.binding import bind
from macros.manifests import COMPARED, setting
from macros.markup import element, table, text
from macros.render import Renderer


def sides(page: Renderer, left: str, right: str) -> str:
    """A table of every stated key, the differing ones first, and one line with the keys that are not published."""
    words = page.locale
    a, b = page.manifest(left), page.manifest(right)
    values = {key: (setting(a, key), setting(b, key)) for key in COMPARED}
    stated = sorted((k for k, pair in values.items() if pair != (None, None)), key=lambda k: values[k][0] == values[k][1])
    rows = [
        [_name(key, page), *(_shown(key, value, values[key][0] != values[key][1], page) for value in values[key])]
        for key in stated
    ]
    missing = text(", ".join(words.word(f"key.{key}") for key in COMPARED if key not in stated))
    head = [text(words.word("column.what")), *(element("code", text(bind(name))) for name in (left, right))]
    note = element("p", f"{text(words.word('not_published_keys'))}: {missing}.", class_="not-published")
    return table(head, rows, words.word("fact.configuration")) + note


def _name(key: str, page: Renderer) -> str:
    return text(page.locale.word(f"key.{key}"))


def _shown(key: str, value: object, differs: bool, page: Renderer) -> str:
    shown = text(page.setting_text(key, value))
    return element("strong", shown) if differs else shown
