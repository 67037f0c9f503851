"""The picture of a link preview: the main chart, 1200 × 630 pixels, one for each language."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from macros import charts
from macros.binding import strip
from macros.chart_cache import Drawing
from macros.render import Renderer
from macros.settings import Settings
from macros.site import Site
from macros.vocabulary import LANGUAGES, Language

CHART = "overview"
WIDTH, HEIGHT = 1200, 630


def name(language: Language) -> str:
    return f"social/{CHART}.{language}.png"


def address(language: Language, settings: Settings) -> str:
    return settings.address + name(language)


def alternative(page: Renderer) -> str:
    """The chart's own text alternative."""
    return charts.alternative(page.site.charts[CHART], page)


def files(site: Site, settings: Settings) -> Iterator[tuple[str, Drawing]]:
    """Each language's picture, by name."""
    for language in LANGUAGES:
        page = Renderer(site, language, "")
        chart = charts.build(CHART, site.charts[CHART], page, settings, links=False)
        host = settings.address.removeprefix("https://").removeprefix("http://").rstrip("/")
        whiskers = strip(charts.whisker_note([page.get(name) for name in page.site.charts[CHART].figures], page))
        footer = (whiskers, f"{settings.publisher} · {host}" if settings.publisher else host)
        headline = page.locale.word("social.headline").format(range=page.plain("headline-range"))
        chart = replace(chart, title=strip(headline), footer=footer)
        yield name(language), Drawing(chart, (WIDTH, HEIGHT))
