"""Charts: specifications of `results/charts.yaml` filled with figures, drawn, and placed on pages and in files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from macros import drawing, printing
from macros.binding import bind, strip
from macros.dots import DotChart, Mark, Row
from macros.figures import Figure
from macros.manifests import Text
from macros.marks import Style
from macros.markup import element, table, text
from macros.render import PageError, Renderer
from macros.settings import Settings
from macros.site import ChartRow, ChartSpec, Site
from macros.vocabulary import LANGUAGES

CACHE = Path(".cache/charts")
WIDTHS: tuple[drawing.Width, ...] = ("wide", "narrow")


def html(chart_id: str, page: Renderer, settings: Settings) -> str:
    """The chart as it stands on a page: both drawings, caption, text alternative, data table, links to its files."""
    spec = page.site.charts.get(chart_id)
    if spec is None:
        raise PageError(f"unknown chart {chart_id!r}")
    chart = build(chart_id, spec, page, settings, links=True)
    wide, narrow = (_rebound(drawing.draw_inline(chart, width)) for width in WIDTHS)
    words = page.locale
    caption = f"{_say(spec.caption, page)} {whisker_note(_figures(spec, page), page)}"
    files = " · ".join(
        element("a", kind.upper(), href=f"{page.up}charts/{chart_id}.{page.language}.{kind}") for kind in ("svg", "png")
    )
    parts = [
        element("p", text(_say(spec.title, page)), class_="chart-title"),
        element("p", text(_say(spec.alternative, page)), class_="visually-hidden"),
        f'<div class="chart-wide">{wide}</div><div class="chart-narrow">{narrow}</div>',
        element("figcaption", f"{text(caption)} {files}"),
        f"<details><summary>{text(words.word('data_table'))}</summary>{_data_table(spec, page)}</details>",
    ]
    return f'<figure class="chart" id="chart-{chart_id}" data-search-exclude>{"".join(parts)}</figure>'


def files(site: Site, settings: Settings) -> Iterator[tuple[str, bytes]]:
    """Every chart's files, as (name, content): `ID.LANG.svg` and `ID.LANG.png`."""
    for chart_id, spec in site.charts.items():
        for language in LANGUAGES:
            page = Renderer(site, language, settings.address + ("" if language == "en" else f"{language}/"))
            chart = build(chart_id, spec, page, settings, links=True)
            yield f"{chart_id}.{language}.svg", drawing.draw_svg_file(chart)
            yield f"{chart_id}.{language}.png", drawing.draw_png(chart)


def build(chart_id: str, spec: ChartSpec, page: Renderer, settings: Settings, links: bool) -> DotChart:
    """The drawing's input: all texts filled, in one language, and checked for typed numbers."""
    figures = _figures(spec, page)
    words = page.locale
    permalink = f"{settings.address}{'' if page.language == 'en' else 'ru/'}#chart-{chart_id}"
    unit = "%" if all(f.unit == "%" for f in figures) else ""
    return DotChart(
        id=chart_id,
        lang=page.language,
        title=_say(spec.title, page, plain=True),
        axis=_say(spec.axis, page, plain=True),
        axis_note=None if spec.from_zero else words.word("axis_not_from_zero"),
        rows=tuple(_row(row, page, links) for row in spec.rows),
        from_zero=spec.from_zero,
        footer=(
            strip(whisker_note(figures, page)),
            strip(_provenance(figures, page)),
            f"{settings.publisher} · {permalink}" if settings.publisher else permalink,
        ),
        tick_format="{:g}" + unit,
    )


def _figures(spec: ChartSpec, page: Renderer) -> list[Figure]:
    return [page.get(name, superseded=True) for name in spec.figures]


def _say(template: Text, page: Renderer, plain: bool = False) -> str:
    """A text of charts.yaml with its figures filled in; that no number is typed in it was checked on loading."""
    filled = page.fill(str(getattr(template, page.language)))
    return strip(filled) if plain else filled


def _row(row: ChartRow, page: Renderer, links: bool) -> Row:
    marks = [_mark(page.get(name, superseded=True), page, edge=False) for name in row.figures]
    if row.edge:
        marks.append(_mark(page.get(row.edge), page, edge=True))
    note = _say(row.note, page, plain=True) if row.note else None
    return Row(_say(row.label, page, plain=True), note, row.question, tuple(marks))


def _mark(figure: Figure, page: Renderer, edge: bool) -> Mark:
    label = printing.text(figure, page.locale) + page.unit(figure)
    low, high = figure.interval or (figure.low, figure.high)
    style: Style = "superseded" if figure.status != "current" else "others" if _by_others(figure) else "own"
    return Mark(
        figure=figure.id,
        value=float(figure.value.value) if figure.value else None,
        low=float(low.value) if low else None,
        high=float(high.value) if high else None,
        label=label,
        note=page.locale.word(figure.status) if figure.status != "current" else None,
        style=style,
        href=page.url(figure.id),
        edge=edge,
        title=strip(f"{getattr(figure.label, page.language)}: {label} ({page.note(figure)})"),
    )


def _by_others(figure: Figure) -> bool:
    return figure.evidence in ("model_card", "community_report")


def whisker_note(figures: list[Figure], page: Renderer) -> str:
    """What the whiskers are, from the figures that have them; marked text."""
    words = page.locale
    measured = [f for f in figures if f.value is not None]
    notes = []
    if any(f.interval for f in measured):
        notes.append(words.word("whiskers.interval"))
    if any(f.low is not None and f.interval is None for f in measured):
        notes.append(words.word("whiskers.span"))
    if any(f.value is None for f in figures):
        notes.append(words.word("whiskers.range"))
    if any(f.low is None for f in measured):
        notes.append(words.word("whiskers.none"))
    return " ".join(notes)


def _provenance(figures: list[Figure], page: Renderer) -> str:
    """n, evidence and date of the data behind a chart, in one line of marked text."""
    words = page.locale
    counts = sorted({f.n for f in figures if f.n})
    n = ", ".join(bind(str(c)) for c in counts) if counts else words.word("not_published")
    labels = dict.fromkeys(words.name("evidence", f.evidence) for f in figures if f.evidence)
    dates = sorted({f.date for f in figures if f.date})
    date = bind(dates[-1].isoformat()) if dates else words.word("date_not_published")
    return f"n: {n} · {words.word('evidence_word')}: {', '.join(labels)} · {date}"


def _data_table(spec: ChartSpec, page: Renderer) -> str:
    words = page.locale
    head = [words.word(f"column.{name}") for name in ("what", "value", "spread", "n", "evidence")]
    rows = [
        [
            text(str(getattr(figure.label, page.language))),
            page.linked(figure),
            text(page.spread(figure)) if figure.value is not None else "—",
            text(bind(str(figure.n)) if figure.n else words.word("not_published")),
            text(words.name("evidence", figure.evidence)),
        ]
        for figure in _figures(spec, page)
    ]
    return table([text(h) for h in head], rows, label=words.word("data_table"))


def _rebound(svg: str) -> str:
    """Marks the texts of a drawing, which were checked before they were drawn."""
    svg = re.sub(r"(<(?:text|tspan|title)[^>]*>)([^<]*\d[^<]*)(?=<)", lambda m: m[1] + bind(m[2]), svg)
    return re.sub(r'(aria-label=")([^"]*\d[^"]*)(?=")', lambda m: m[1] + bind(m[2]), svg)
