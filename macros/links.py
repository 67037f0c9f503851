"""Links to places that are settings; an unset one leaves a sentence, never a dead link."""

from __future__ import annotations

from macros.locale import Locale
from macros.markup import element, text
from macros.settings import Settings


def contact(words: Locale, settings: Settings) -> str:
    """Where to send a conflicting number."""
    if not settings.repository:
        return text(words.word("contact_unset"))
    return element("a", text(words.word("contact_form")), href=f"{settings.repository.rstrip('/')}/issues/new/choose")


def article(words: Locale, settings: Settings) -> str:
    """The lab's long-read."""
    if not settings.article:
        return text(words.word("article_unset"))
    return element("a", text(words.word("article_link")), href=settings.article)
