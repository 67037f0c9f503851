"""How to cite the site: BibTeX for the page, CITATION.cff for the repository. Nothing that is not set is made up."""

from __future__ import annotations

from macros.locale import Locale, locale
from macros.settings import Settings


def bibtex(words: Locale, settings: Settings) -> str:
    """A BibTeX entry as a block of code; without a year, since none is published."""
    fields = {
        "title": "{" + words.word("dataset.name") + "}",
        "author": "{" + settings.publisher + "}" if settings.publisher else "",
        "howpublished": rf"\url{{{settings.address}}}",
        "note": words.word("date_not_published"),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join(["```bibtex", f"@misc{{{_key(settings)},", *lines, "}", "```"])


def _key(settings: Settings) -> str:
    return f"{settings.publisher.lower() or 'site'}-figures"


def cff(settings: Settings) -> str:
    """The content of CITATION.cff, which a test compares with the file."""
    words = locale("en")
    lines = [
        "cff-version: 1.2.0",
        f"title: {_quoted(words.word('dataset.name'))}",
        f"message: {_quoted(words.word('dataset.cite'))}",
        "type: dataset",
        "authors:",
        f"  - name: {_quoted(settings.publisher or words.word('dataset.name'))}",
    ]
    if settings.licence_data:
        lines.append(f"license: {settings.licence_data}")
    if settings.has_address:
        lines.append(f"url: {_quoted(settings.address)}")
    if settings.repository:
        lines.append(f"repository-code: {_quoted(settings.repository)}")
    return "\n".join(lines) + "\n"


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
