"""The foot of a page: which statements its prose rests on, checked in this build, with their values."""

from __future__ import annotations

import re

from macros import binding, printing
from macros.binding import STATEMENT, STATEMENT_END, bind
from macros.locale import locale
from macros.markup import text
from macros.site import Site
from macros.vocabulary import Language


def statements(markdown: str, site: Site, language: Language) -> str:
    """Markdown to append to a page that carries statement marks; empty for others."""
    used = dict.fromkeys(re.findall(f"{STATEMENT}([a-z0-9-]+){STATEMENT_END}", markdown))
    if not used:
        return ""
    words = locale(language)
    items = []
    for statement_id in used:
        statement = site.statements[statement_id]
        values = ", ".join(
            f"{text(str(getattr(figure.label, language)))}: {bind(printing.text(figure, words))}"
            for figure in statement.figures
        )
        # Its own sentence is bound to it, like the page's.
        said = binding.statement(statement_id) + text(str(getattr(statement.text, language)))
        items.append(f'<li><span class="statement">{said}</span> <span class="values">({values})</span></li>')
    summary = text(words.word("statements_checked"))
    return f'\n\n<details class="statements"><summary>{summary}</summary><ul>{"".join(items)}</ul></details>\n'
