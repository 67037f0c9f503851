"""Charts: specifications of `results/charts.yaml` filled with figures, drawn, and placed on pages and in files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from macros import blocks, drawing, printing, quotes, snippets
from macros.binding import bind, strip
from macros.chart_cache import ChartCache, Drawing
from macros.curves import CurveChart, CurvePoint, Series
from macros.dots import DotChart, Mark, Row
from macros.figures import Figure
from macros.manifests import Text
from macros.marks import Style
from macros.markup import element, table, text
from macros.numbers import short_count
from macros.render import PageError, Renderer
from macros.settings import Settings
from macros.site import ChartRow, ChartSeries, ChartSpec, Site
from macros.vocabulary import LANGUAGES

CACHE = ChartCache(Path(".cache/charts"))
WIDTHS: tuple[drawing.Width, ...] = ("wide", "narrow")


def html(chart_id: str, page: Renderer, settings: Settings) -> str:
    """The chart as it stands on a page: both drawings, caption, text alternative, data table, links to its files."""
    spec = page.site.charts.get(chart_id)
    if spec is None:
        raise PageError(f"unknown chart {chart_id!r}")
    chart = build(chart_id, spec, page, settings, links=True)
    words = page.locale
    caption = f"{_say(spec.caption, page)} {whisker_note(_figures(spec, page), page)}"
    files = " · ".join(
        element("a", kind.upper(), href=f"{page.up}charts/{chart_id}.{page.language}.{kind}") for kind in ("svg", "png")
    )
    parts = [
        element("p", text(_say(spec.title, page)), class_="chart-title"),
        element("p", text(alternative(spec, page)), class_="visually-hidden"),
        drawn(chart),
        element("figcaption", f"{text(caption)} {files}"),
        f"<details><summary>{text(words.word('data_table'))}</summary>{_data_table(spec, page)}</details>",
        _snippets(chart_id, spec, page, settings),
    ]
    return f'<figure class="chart" id="chart-{chart_id}" data-search-exclude>{"".join(parts)}</figure>'


def _snippets(chart_id: str, spec: ChartSpec, page: Renderer, settings: Settings) -> str:
    picture = f"{settings.address}charts/{chart_id}.{page.language}.png"
    return snippets.html(address(chart_id, spec, page, settings), picture, alternative(spec, page), page)


def address(chart_id: str, spec: ChartSpec, page: Renderer, settings: Settings) -> str:
    """The absolute address of the chart on its page."""
    return f"{settings.address}{'' if page.language == 'en' else 'ru/'}{spec.page}#chart-{chart_id}"


def alternative(spec: ChartSpec, page: Renderer) -> str:
    """The chart in words, marked."""
    return _say(spec.alternative, page)


def drawn(chart: drawing.Chart) -> str:
    """The wide and the narrow drawing, of which a page shows one; they are waited for when the page is finished."""
    return blocks.keep_late(lambda: "".join(rebound(CACHE.get(Drawing(chart, width)).decode()) for width in WIDTHS))


def files(site: Site, settings: Settings) -> Iterator[tuple[str, Drawing]]:
    """Every chart's files, by name: `ID.LANG.svg` and `ID.LANG.png`."""
    for chart_id, spec in site.charts.items():
        for language in LANGUAGES:
            page = Renderer(site, language, settings.address + ("" if language == "en" else f"{language}/"))
            chart = build(chart_id, spec, page, settings, links=True)
            yield f"{chart_id}.{language}.svg", Drawing(chart, "svg")
            yield f"{chart_id}.{language}.png", Drawing(chart, "png")


def build(chart_id: str, spec: ChartSpec, page: Renderer, settings: Settings, links: bool) -> drawing.Chart:
    """The drawing's input: all texts filled, in one language, and checked for typed numbers."""
    figures = _figures(spec, page)
    words = page.locale
    permalink = address(chart_id, spec, page, settings)
    unit = "%" if all(f.unit == "%" for f in figures) else ""
    note = None if spec.from_zero else words.word("axis_not_from_zero")
    common: dict[str, Any] = {
        "id": chart_id,
        "lang": page.language,
        "title": _say(spec.title, page, plain=True),
        "axis_note": note,
        "from_zero": spec.from_zero,
        "footer": (
            strip(quotes.subject(figures, page)),
            strip(f"{_say(spec.caption, page)} {whisker_note(figures, page)}"),
            strip(_provenance(figures, page)),
            f"{settings.publisher} · {permalink}" if settings.publisher else permalink,
        ),
        "tick_format": "{:g}" + unit,
    }
    axis = _say(spec.axis, page, plain=True)
    if not spec.series:
        return DotChart(**common, axis=axis, rows=tuple(_row(row, page, links) for row in spec.rows))
    assert spec.x_axis
    series = tuple(_series(one, spec, page) for one in spec.series)
    return CurveChart(
        **common,
        y_axis=axis,
        x_axis=_say(spec.x_axis, page, plain=True),
        series=series,
        x_ticks=_ticks(series, spec),
        x_log=spec.x == "prompt_tokens",
        names_first=spec.x == "position",
    )


def _series(series: ChartSeries, spec: ChartSpec, page: Renderer) -> Series:
    points = [point for name in series.figures for point in _points(page.get(name), spec, page)]
    for run_id in series.missing:
        run = page.site.dataset.runs[run_id]
        tokens = run.workload.prompt_tokens or 0
        label = f"{short_count(tokens)}: {page.locale.word('no_result')}"
        points.append(CurvePoint(run_id, tokens, None, label, href=f"{page.root}runs/#{run_id}"))
    label = _say(series.label, page, plain=True) if spec.x != "position" else _depth(page.get(series.figures[0]))
    return Series(label, series.question, tuple(points), series.joined)


def _points(figure: Figure, spec: ChartSpec, page: Renderer) -> list[CurvePoint]:
    """The figure at its prompt tokens, or the acceptance at each position behind it, as the data table lists it."""
    link = page.url(figure.id)
    if spec.x == "position":
        return [
            CurvePoint(figure.id, place, float(share), "", href=link,
                       title=f"{_depth(figure)}, {place}: {share}")
            for place, share in enumerate(by_position(figure, page), 1)
        ]  # fmt: skip
    assert figure.value
    mark = _mark(figure, page, edge=False)
    tokens = figure.config["workload.prompt_tokens"]
    label = printing.text(figure, page.locale)  # the axis names the unit
    return [CurvePoint(figure.id, tokens, mark.value, label, mark.low, mark.high, link, mark.title)]


def by_position(figure: Figure, page: Renderer) -> tuple[Decimal, ...]:
    """The acceptance at each drafted position, from the measurement of the figure's run that lists it."""
    run = page.site.dataset.runs[figure.manifests[0]]
    return next((m.acceptance_by_position for m in run.measurements if m.acceptance_by_position), ())


def _depth(figure: Figure) -> str:
    return short_count(figure.config["workload.prompt_tokens"])


def _ticks(series: tuple[Series, ...], spec: ChartSpec) -> tuple[tuple[float, str], ...]:
    """A tick for each place where there is a value."""
    places = sorted({point.x for one in series for point in one.points if point.y is not None})
    return tuple((x, short_count(int(x)) if spec.x == "prompt_tokens" else f"{x:g}") for x in places)


def _figures(spec: ChartSpec, page: Renderer) -> list[Figure]:
    return [page.get(name, superseded=True) for name in spec.figures]


def _say(template: Text, page: Renderer, plain: bool = False) -> str:
    """A text of charts.yaml with its figures filled in; that no number is typed in it was checked on loading."""
    filled = page.fill(str(getattr(template, page.language)))
    return strip(filled) if plain else filled


def _row(row: ChartRow, page: Renderer, links: bool) -> Row:
    marks = [_mark(page.get(name, superseded=True), page, edge=False) for name in row.figures]
    if row.edge:
        beside = _say(row.edge_note, page, plain=True) if row.edge_note else None
        marks.append(replace(_mark(page.get(row.edge), page, edge=True), note=beside))
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
    date = quotes.dates_of(figures) or words.word("date_not_published")
    return f"n: {n} · {words.word('evidence_word')}: {', '.join(labels)} · {date}"


def _data_table(spec: ChartSpec, page: Renderer) -> str:
    words = page.locale
    # A page has several tables: each is named after its chart.
    label = f"{words.word('data_table')}: {_say(spec.title, page)}"
    if spec.x == "position":
        shares = [(figure, by_position(figure, page)) for figure in _figures(spec, page)]
        places = range(1, max(len(values) for _, values in shares) + 1)
        return table(
            [text(words.word("column.prompt_tokens")), *(bind(str(place)) for place in places)],
            [[bind(_depth(figure)), *(bind(str(share)) for share in values)] for figure, values in shares],
            label=label,
        )
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
    return table([text(h) for h in head], rows, label=label)


def rebound(svg: str) -> str:
    """Marks the texts of a drawing, which were checked before they were drawn."""
    svg = re.sub(r"(<(?:text|tspan|title)[^>]*>)([^<]*\d[^<]*)(?=<)", lambda m: m[1] + bind(m[2]), svg)
    return re.sub(r'(aria-label=")([^"]*\d[^"]*)(?=")', lambda m: m[1] + bind(m[2]), svg)
