"""Drawings that are not kept are made in a process of their own while pages are rendered, which takes as long."""

from collections.abc import Iterator

from macros import charts, register_chart, social
from macros.chart_cache import Drawing
from macros.render import Renderer
from macros.settings import Settings
from macros.site import Site
from macros.vocabulary import LANGUAGES


def start(site: Site, settings: Settings) -> None:
    """Start to draw what this build will ask for and no earlier one has kept."""
    files = (wanted for _, wanted in (*charts.files(site, settings), *social.files(site, settings)))
    charts.CACHE.draw_ahead([*_on_pages(site, settings), *files])


def _on_pages(site: Site, settings: Settings) -> Iterator[Drawing]:
    for language in LANGUAGES:
        for chart_id, spec in site.charts.items():
            page = Renderer(site, language, "../" * spec.page.count("/"))
            chart = charts.build(chart_id, spec, page, settings, links=True)
            yield from (Drawing(chart, width) for width in charts.WIDTHS)
        for name in register_chart.NAMES:
            chart = register_chart.build(name, Renderer(site, language, "../"))
            yield from (Drawing(chart, width) for width in charts.WIDTHS)
