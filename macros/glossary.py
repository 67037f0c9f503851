"""The glossary: one page of entries, and a note at the first use of each term in the prose of every other page.

A note is a link to the entry, so that it also serves where there is no pointer: it shows on hover and on focus,
and a tap leads to the entry.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Literal

from pydantic import Field

from macros.binding import bind
from macros.locale import Locale
from macros.manifests import Line, Model, Text
from macros.markup import element, text
from macros.vocabulary import Language

PAGE = "glossary/"
# Prose is everything but these; generated lists explain themselves.
NO_PROSE = re.compile(r"a|button|code|dt|figure|h[1-6]|label|legend|math|option|pre|script|style|summary|svg|td|th")
NO_PROSE_CLASSES = re.compile(r'class="[^"]*\b(checklist|entry|not-found|statements|tool)\b')
VOID = frozenset(["br", "hr", "img", "input", "link", "meta", "path", "wbr"])
_TAG = re.compile(r"(<[^>]*>)")
_NAME = re.compile(r"</?([a-zA-Z0-9]+)")
_MARKS = re.compile("\ue000[^\ue001]*\ue001|\ue002[^\ue003]*\ue003")


class Entry(Model):
    """One term. `match` lists patterns for whole words of the prose; `only` says that these pages do not use it."""

    term: Text
    stands_for: Line | None = None
    text: Text
    match: Mapping[Language, Annotated[tuple[Line, ...], Field(strict=False)]]
    only: Literal["long_read"] | None = None


def explanation(entry: Entry, language: Language) -> str:
    """What the letters stand for and what it means, as marked plain text."""
    said = str(getattr(entry.text, language))
    words = entry.stands_for
    return f"{bind(words[0].upper() + words[1:])}. {said}" if words else said


def listing(entries: Mapping[str, Entry], words: Locale) -> str:
    """All entries as a definition list, in the order of the language's alphabet."""
    language = words.language
    items = []
    for entry_id, entry in sorted(entries.items(), key=lambda item: getattr(item[1].term, language).casefold()):
        term = text(bind(str(getattr(entry.term, language))))
        term += " " + element("a", "#", class_="headerlink", href=f"#{entry_id}", title=words.word("permalink"))
        if entry.stands_for:
            term += f" <small>{text(bind(entry.stands_for))}</small>"
        meaning = text(str(getattr(entry.text, language)))
        if entry.only:
            meaning += f" <small>({text(words.word(f'only.{entry.only}'))})</small>"
        items.append(f'<dt id="{entry_id}">{term}</dt><dd>{meaning}</dd>')
    return f'<dl class="glossary">{"".join(items)}</dl>'


def explain(html: str, entries: Mapping[str, Entry], language: Language, root: str) -> str:
    """The page's HTML with a note at the first use of each term in its prose."""
    pattern = _pattern(entries, language)
    ids = [entry_id for entry_id, entry in entries.items() if entry.match[language]]
    open_tags: list[tuple[str, bool]] = []
    seen: set[str] = set()

    def note(match: re.Match[str]) -> str:
        entry_id = ids[(match.lastindex or 1) - 1]
        if entry_id in seen:
            return match.group()
        seen.add(entry_id)
        attributes = {"href": f"{root}{PAGE}#{entry_id}", "data_note": explanation(entries[entry_id], language)}
        return element("a", match.group(), class_="term", **attributes)

    pieces = _TAG.split(html)
    for index, piece in enumerate(pieces):
        if index % 2:
            _follow(piece, open_tags)
        elif not (open_tags and open_tags[-1][1]) and piece.strip():
            pieces[index] = _replaced(piece, pattern, note)
    return "".join(pieces)


def _pattern(entries: Mapping[str, Entry], language: Language) -> re.Pattern[str]:
    groups = (f"({'|'.join(entry.match[language])})" for entry in entries.values() if entry.match[language])
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(groups)})(?!\w)")


def _replaced(piece: str, pattern: re.Pattern[str], note: Callable[[re.Match[str]], str]) -> str:
    """The text with notes; what is bound to data stays whole."""
    blank = _MARKS.sub(lambda m: "\0" * len(m.group()), piece)
    result, last = [], 0
    for match in pattern.finditer(blank):
        result += [piece[last : match.start()], note(match)]
        last = match.end()
    return "".join([*result, piece[last:]])


def _follow(tag: str, open_tags: list[tuple[str, bool]]) -> None:
    """Keeps the stack of open elements, with whether text inside them is no prose: theirs or that of one around it."""
    name, closes, silent = _parts(tag)
    if closes:
        for index in range(len(open_tags) - 1, -1, -1):
            if open_tags[index][0] == name:
                del open_tags[index:]
                return
    elif name and name not in VOID and not tag.endswith("/>"):
        open_tags.append((name, silent or (bool(open_tags) and open_tags[-1][1])))


@functools.lru_cache(maxsize=10_000)  # a page has the same few tags over and over
def _parts(tag: str) -> tuple[str, bool, bool]:
    """The name of a tag's element, whether the tag ends it, and whether text inside it is no prose."""
    found = _NAME.match(tag)
    name = found[1].lower() if found else ""
    return name, tag.startswith("</"), bool(NO_PROSE.fullmatch(name)) or bool(NO_PROSE_CLASSES.search(tag))


def of_page(html: str, entries: Mapping[str, Entry], src_uri: str, url: str) -> str:
    """The same, for a page named as the generator names it; the glossary itself needs no notes."""
    language: Language = "ru" if src_uri.startswith("ru/") else "en"
    if src_uri.removeprefix("ru/") == "glossary.md":
        return html
    depth = url.count("/") - (1 if language == "ru" else 0)
    return explain(html, entries, language, "../" * depth)
