"""An Atom feed in each language: corrections, and runs that landed.

Atom wants a time on every entry. Where the source publishes a date, that day is taken. Where it does not, the
entry says so in its summary and carries the time of the build, which is when the entry reached its readers;
nothing else is known of it, and no `published` is made up.
"""

from __future__ import annotations

import datetime
from typing import Any, cast

from lxml import etree

from macros import corrections, printing
from macros.binding import bind
from macros.figures import Figure
from macros.manifests import Run
from macros.render import Renderer
from macros.settings import Settings
from macros.site import Site
from macros.vocabulary import Language

ATOM = "http://www.w3.org/2005/Atom"


def atom(site: Site, language: Language, settings: Settings, built: datetime.datetime) -> str:
    """The feed as text, marked like a page."""
    page = Renderer(site, language, "")
    home = settings.address + ("" if language == "en" else f"{language}/")
    words = page.locale
    feed = etree.Element(f"{{{ATOM}}}feed", nsmap=cast(Any, {None: ATOM}))
    feed.set("{http://www.w3.org/XML/1998/namespace}lang", language)
    _add(feed, "title", words.word("feed.title"))
    _add(feed, "id", home)
    etree.SubElement(feed, f"{{{ATOM}}}link", href=home)
    etree.SubElement(feed, f"{{{ATOM}}}link", rel="self", href=f"{home}feed.xml")
    _add(feed, "updated", bind(built.isoformat()))
    author = etree.SubElement(feed, f"{{{ATOM}}}author")
    _add(author, "name", settings.publisher or words.word("feed.title"))
    for entry in corrections.entries(site):
        old = ", ".join(_named(f, page) for f in entry.figures) or bind(entry.manifest.id)
        now = _named(entry.successor, page) if entry.successor else words.word(entry.correction.status)
        reason = bind(str(getattr(entry.correction.reason, language)))
        title = words.word("feed.correction").format(old=old, now=now)
        _entry(feed, f"{home}corrections/#{entry.manifest.id}", title, reason, entry.correction.date, built, page)
    for run in site.dataset.runs.values():
        if run.correction is None:
            title = words.word("feed.run").format(values=", ".join(_drawn(run, page)) or bind(run.id))
            summary = words.word("feed.run_is").format(run=bind(run.id))
            _entry(feed, f"{home}runs/#{run.id}", title, summary, run.date, built, page)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + etree.tostring(feed, encoding="unicode", pretty_print=True)


def _drawn(run: Run, page: Renderer) -> list[str]:
    return [_named(f, page) for f in page.site.figures.values() if run.id in f.manifests and f.formula is None]


def _named(figure: Figure, page: Renderer) -> str:
    printed = bind(printing.text(figure, page.locale)) + page.unit(figure)
    return f"{getattr(figure.label, page.language)}, {printed}"


def _entry(
    feed: etree._Element,
    address: str,
    title: str,
    summary: str,
    date: datetime.date | None,
    built: datetime.datetime,
    page: Renderer,
) -> None:
    entry = etree.SubElement(feed, f"{{{ATOM}}}entry")
    _add(entry, "title", title)
    _add(entry, "id", address)
    etree.SubElement(entry, f"{{{ATOM}}}link", href=address)
    if date:
        day = datetime.datetime.combine(date, datetime.time(), datetime.UTC)
        _add(entry, "published", bind(day.isoformat()))
        _add(entry, "updated", bind(day.isoformat()))
        _add(entry, "summary", summary)
    else:
        _add(entry, "updated", bind(built.isoformat()))
        _add(entry, "summary", f"{summary} ({page.locale.word('feed.undated')})")


def _add(parent: etree._Element, name: str, text: str) -> None:
    etree.SubElement(parent, f"{{{ATOM}}}{name}").text = text
