"""The reasons why published figures disagree, and what their sources leave open; examples come from the register."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from macros import manifests, register
from macros.binding import bind
from macros.entries import read_entries
from macros.manifests import Https, Line, Model, PublishedFigure, Text
from macros.markup import NBSP, element, text
from macros.render import PageError, Renderer
from macros.vocabulary import LANGUAGES

# {entry}, {entry/0}, {entry/r0}, {entry:key}; `code`; **strong**.
PIECE = re.compile(r"\{([a-z0-9.-]+)(?:/(r?)(\d+)|:([a-z_.]+))?\}|`([^`]+)`|\*\*(.+?)\*\*")


class PublicSource(Model):
    name: Line
    url: Https


class Reason(Model):
    """One reason; `direction` is what it does to a figure that has it."""

    title: Text
    direction: Literal["raises", "lowers", "both", "neither"]
    what: Text
    detect: Text
    example: Text
    sources: Annotated[tuple[PublicSource, ...], Field(min_length=1, strict=False)]

    def entries(self) -> list[str]:
        """The ids of the entries that its example is made of."""
        return list(dict.fromkeys(m[1] for m in PIECE.finditer(self.example.en) if m[1]))


def read(results: Path) -> dict[str, Reason]:
    """All reasons in the order of the page."""
    return read_entries(results / "reasons.yaml", Reason)


def contradictions(results: Path) -> dict[str, Text]:
    """What the sources leave open between them."""
    return read_entries(results / "contradictions.yaml", Text)


def html(page: Renderer) -> str:
    """A list of contents, then each reason in full."""
    found = read(page.site.results)
    contents = "".join(
        f'<li><a href="#{key}">{_say(reason.title, page)}</a> <small>({_direction(reason, page)})</small></li>'
        for key, reason in found.items()
    )
    return f'<ol class="reasons">{contents}</ol>' + "".join(_reason(k, r, page) for k, r in found.items())


def open_questions(page: Renderer) -> str:
    """The contradictions as a list."""
    items = contradictions(page.site.results).items()
    return '<ul class="open">' + "".join(f'<li id="open-{k}">{_say(t, page)}</li>' for k, t in items) + "</ul>"


def published(page: Renderer, entry_id: str) -> str:
    """An entry's value with its unit, linked to the entry."""
    return "".join(_fill(f"{{{entry_id}}}", page))


def _direction(reason: Reason, page: Renderer) -> str:
    return text(page.locale.word(f"reasons.{reason.direction}"))


def _reason(key: str, reason: Reason, page: Renderer) -> str:
    words = page.locale
    link = element("a", "#", class_="headerlink", href=f"#{key}", title=words.word("permalink"))
    sources = ", ".join(element("a", text(bind(s.name)), href=s.url) for s in reason.sources)
    rows = (
        ("direction", _direction(reason, page)),
        ("detect", _say(reason.detect, page)),
        ("example", _say(reason.example, page)),
        ("sources", sources),
    )
    facts = "".join(f"<dt>{text(words.word(f'reasons.{name}'))}</dt><dd>{value}</dd>" for name, value in rows)
    return (
        f'<section class="reason" id="{key}"><h3>{_say(reason.title, page)} {link}</h3>'
        f"<p>{_say(reason.what, page)}</p><dl>{facts}</dl></section>"
    )


def _say(words: Text, page: Renderer) -> str:
    return "".join(_fill(str(getattr(words, page.language)), page))


def _fill(template: str, page: Renderer) -> Iterator[str]:
    """The template's own words as inert text, its placeholders as data."""
    end = 0
    for match in PIECE.finditer(template):
        yield text(template[end : match.start()])
        end = match.end()
        if match[5]:
            yield element("code", text(match[5]))
        elif match[6]:
            yield "<strong>" + "".join(_fill(match[6], page)) + "</strong>"
        else:
            yield _placeholder(match, page)
    yield text(template[end:])


def _placeholder(match: re.Match[str], page: Renderer) -> str:
    entry = page.site.dataset.published.get(match[1])
    if entry is None:
        raise PageError(f"unknown entry {match[1]!r} of the register")
    if match[4] == "publisher":
        return text(bind(entry.publisher or ""))
    if match[4]:
        return text(page.setting_text(match[4], manifests.setting(entry, match[4])))
    value, unit = _value(entry, match, page)
    # The value is an element of its own: others' figures keep the digits of their source.
    shown = element("span", text(bind(value)), class_="value") + (text(NBSP + unit) if unit else "")
    return element("a", shown, class_="figure", href=f"{page.root}published/#{entry.id}", data_note=_note(entry, page))


def _value(entry: PublishedFigure, match: re.Match[str], page: Renderer) -> tuple[str, str]:
    words = page.locale
    unit = register.unit_text(entry, page)
    if match[3] is None:
        return register.value_text(entry, page), unit
    position = int(match[3])
    try:
        if match[2]:
            return register.range_text(entry.readings[position].value, None, None, words), unit
        other = entry.beside[position]
    except IndexError:
        raise PageError(f"entry {entry.id!r} prints no value at {match[0]}") from None
    return register.range_text(other.value, other.low, other.high, words), words.word(f"unit.{other.unit}")


def _note(entry: PublishedFigure, page: Renderer) -> str:
    words = page.locale
    quantity = words.name("quantity", entry.quantity) if entry.quantity else words.word("register.quantity_not_stated")
    profile = entry.workload.profile
    prompt = page.profile(profile) if profile else words.word("register.class_not_stated")
    return " · ".join((bind(entry.publisher) if entry.publisher else "—", quantity, prompt))


def placeholders(texts: Text) -> list[list[str]]:
    """The placeholders of each language, in order: both must print the same."""
    return [sorted(m[0] for m in PIECE.finditer(str(getattr(texts, language))) if m[1]) for language in LANGUAGES]
