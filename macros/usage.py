"""Where on the site each figure is printed: read from the pages as built, so that no use is guessed or missed."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from macros.binding import STATEMENT, STATEMENT_END
from macros.locale import locale
from macros.markup import element, text
from macros.vocabulary import LANGUAGES, Language

# Lists that hold every figure by their nature.
LISTS = ("figures", "runs", "corrections")
_PLACEHOLDER = re.compile(r"<!--used ([a-z0-9-]+)-->")
_STATEMENT = re.compile(f"{STATEMENT}[^{STATEMENT_END}]*{STATEMENT_END}")
_SECTION = re.compile(
    r'<h(?P<level>[12])[^>]*\bid="(?P<anchor>[^"]+)"[^>]*>(?P<title>.*?)</h(?P=level)>|data-figure="(?P<figure>[a-z0-9-]+)"',
    re.DOTALL,
)


@dataclass(frozen=True)
class Place:
    """A section of a page, `path` relative to the root of its language."""

    path: str
    anchor: str
    title: str


def placeholder(figure_id: str) -> str:
    """What stands in a figure's entry until the pages are built."""
    return f"<!--used {figure_id}-->"


def fill(site_dir: Path) -> None:
    """Writes the places into the figures page of each language."""
    for language in LANGUAGES:
        root = site_dir if language == "en" else site_dir / language
        page = root / "figures" / "index.html"
        if page.exists():
            page.write_text(_filled(page.read_text("utf-8"), collect(root, language), language), "utf-8")


def _filled(content: str, places: Mapping[str, list[Place]], language: Language) -> str:
    return _PLACEHOLDER.sub(lambda match: _links(places.get(match[1], []), language), content)


def collect(root: Path, language: Language) -> dict[str, list[Place]]:
    """For each figure the sections of one language's pages that print it, in the order of pages and sections."""
    found: dict[str, list[Place]] = {}
    for file in sorted(root.rglob("index.html")):
        path = file.parent.relative_to(root)
        if path.parts and (path.parts[0] in LISTS or (language == "en" and path.parts[0] in LANGUAGES)):
            continue
        for figure_id, place in _printed(file.read_text("utf-8"), "" if path == Path() else f"{path.as_posix()}/"):
            places = found.setdefault(figure_id, [])
            if place not in places:
                places.append(place)
    return found


def _printed(content: str, path: str) -> Iterator[tuple[str, Place]]:
    place = Place(path, "", path)
    for match in _SECTION.finditer(content):
        if match["figure"]:
            yield match["figure"], place
        else:
            title = re.sub(r'<a class="headerlink".*?</a>', "", match["title"], flags=re.DOTALL)
            place = Place(path, match["anchor"], html.unescape(re.sub(r"<[^>]+>", "", title)).strip())
            heading = re.search(r'data-figure="([a-z0-9-]+)"', match["title"])
            if heading:
                yield heading[1], place


def _links(places: list[Place], language: Language) -> str:
    if not places:
        return text(locale(language).word("not_used"))
    return "; ".join(element("a", _title(place), href=f"../{place.path}#{place.anchor}") for place in places)


def _title(place: Place) -> str:
    """The section's title as text; a statement that it is bound to keeps its mark as it was."""
    return _STATEMENT.sub(lambda match: html.unescape(match.group()), text(place.title))
