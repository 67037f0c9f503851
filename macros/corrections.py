"""Corrections: what was superseded or withdrawn, by what, why and when. Nothing is deleted."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from macros.binding import bind
from macros.figures import Figure
from macros.listings import manifest_link
from macros.manifests import Correction, Manifest, PublishedFigure
from macros.markup import element, table, text
from macros.render import Renderer
from macros.site import Site


@dataclass(frozen=True)
class Entry:
    """One corrected manifest, the figures that were drawn from it, and what replaced it."""

    manifest: Manifest
    correction: Correction
    figures: tuple[Figure, ...]
    successor: Figure | None


def entries(site: Site) -> list[Entry]:
    """All corrections, the newest first and those without a published date last."""
    found = []
    for manifest in site.dataset.manifests.values():
        if manifest.correction is None:
            continue
        drawn = tuple(f for f in site.figures.values() if f.manifests == (manifest.id,) and f.formula is None)
        # What others withdrew is told in the register; here only where these pages used it.
        if isinstance(manifest, PublishedFigure) and not drawn:
            continue
        by = manifest.correction.successor
        successor = next((f for f in site.figures.values() if by in f.manifests and f.formula is None), None)
        found.append(Entry(manifest, manifest.correction, drawn, successor))
    return sorted(found, key=lambda entry: entry.correction.date or datetime.date.min, reverse=True)


def html(page: Renderer) -> str:
    """The table of corrections, old → new."""
    words = page.locale
    head = [text(words.word(f"correction.{name}")) for name in ("what", "before", "now", "reason", "date")]
    rows = []
    for entry in entries(page.site):
        date = entry.correction.date
        rows.append(
            [
                f'<span id="{entry.manifest.id}">{_what(entry, page)}</span>',
                ", ".join(page.linked(figure) for figure in entry.figures) or manifest_link(entry.manifest.id, page),
                _now(entry, page),
                text(bind(str(getattr(entry.correction.reason, page.language)))),
                text(bind(date.isoformat()) if date else words.word("not_published")),
            ]
        )
    if not rows:
        return element("p", text(words.word("correction.none")))
    return table(head, rows, label=words.word("correction.table"))


def _what(entry: Entry, page: Renderer) -> str:
    if entry.figures:
        return text(", ".join(str(getattr(figure.label, page.language)) for figure in entry.figures))
    return f"<code>{text(bind(entry.manifest.id))}</code>"


def _now(entry: Entry, page: Renderer) -> str:
    if entry.successor:
        return page.linked(entry.successor)
    if entry.correction.successor:
        return manifest_link(entry.correction.successor, page)
    return text(page.locale.word("correction.withdrawn"))
