"""Links to places that are settings; an unset one leaves a sentence, never a dead link."""

from __future__ import annotations

from macros.locale import Locale
from macros.markup import element, text
from macros.render import Renderer
from macros.settings import Settings


def contact(words: Locale, settings: Settings) -> str:
    """Where to send a conflicting number: to this site's repository; until there is one, to that of the runs."""
    if meanwhile := run_issue(settings):
        link = element("a", text(words.word("contact_run")), href=meanwhile)
        return f"{text(words.word('contact_until'))} {link}."
    if not settings.repository:
        return text(words.word("contact_unset"))
    return element("a", text(words.word("contact_form")), href=f"{settings.repository.rstrip('/')}/issues/new/choose")


def run_issue(settings: Settings) -> str:
    """The address of a new issue in the repository of the runs, while this site has none of its own; else nothing."""
    if settings.repository or not settings.run_repository:
        return ""
    return f"{settings.run_repository.rstrip('/')}/issues/new"


def article(words: Locale, settings: Settings) -> str:
    """The lab's long-read."""
    if not settings.article:
        return text(words.word("article_unset"))
    return element("a", text(words.word("article_link")), href=settings.article)


def correction(words: Locale, settings: Settings, entry_id: str) -> str:
    """Where the publisher of an entry can correct it; while no repository is set, the place that says how."""
    if not settings.repository:
        return element("a", text(words.word("register.correct")), href="#conflicting-number")
    query = f"template=figure.{words.language}.yml&entry={entry_id}"
    address = f"{settings.repository.rstrip('/')}/issues/new?{query}"
    return element("a", text(words.word("register.correct")), href=address)


def data(page: Renderer, name: str) -> str:
    """A file of `data/`, which is written beside the pages."""
    return element("a", f"<code>data/{text(name)}</code>", href=f"{page.up}data/{name}")
