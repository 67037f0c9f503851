"""The picture of the register: single streams on one axis, sums on another, each mark a link to its entry."""

from __future__ import annotations

from collections.abc import Iterable

from macros import charts, register, shares
from macros.binding import strip
from macros.figures import Figure
from macros.manifests import PublishedFigure
from macros.markup import element, text
from macros.render import Renderer
from macros.strips import MarkKind, StripChart, StripMark, StripRow

NAMES = register.GROUPS[:2]
SUMS = ("aggregate_throughput",)


def html(name: str, page: Renderer) -> str:
    """`pair_stream` or `pair_sum`: both drawings with title, caption and what the marks are."""
    words = page.locale
    chart = build(name, page)
    # The second picture's marks are the first one's.
    caption = element("figcaption", text(words.word("register.chart.caption"))) if name == "pair_stream" else ""
    parts = [
        element("p", text(words.word(f"register.chart.{name}")), class_="chart-title"),
        element("p", text(words.word("register.chart.alternative")), class_="visually-hidden"),
        charts.drawn(chart),
        caption,
    ]
    return f'<figure class="chart strips" id="chart-{chart.id}" data-search-exclude>{"".join(parts)}</figure>'


def build(name: str, page: Renderer) -> StripChart:
    """The drawing's input: rows by class of prompt, others' marks open, own ones filled and labelled."""
    words = page.locale
    chosen = shares.for_all_streams if name == "pair_sum" else shares.for_one_stream
    entries = [e for e in page.site.dataset.published.values() if shares.on_the_pair(e) and chosen(e)]
    entries = [e for e in entries if not e.own_figure]
    own = [f for f in page.site.figures.values() if _belongs(f, name)]
    rows: dict[str, list[StripMark]] = {key: [] for key in (*page.site.profile_classes, "")}
    for figure in own:
        profile = figure.config.get("workload.profile")
        rows[page.site.profiles[profile].group if profile else ""].append(_own_mark(figure, page))
    for entry in sorted(entries, key=lambda e: (e.value or e.low or 0, e.id)):
        profile = entry.workload.profile
        rows[page.site.profiles[profile].group if profile else ""].append(_mark(entry, page))
    key: tuple[tuple[MarkKind, bool, str], ...] = (
        ("client", False, words.word("vantage.client")),
        ("engine", False, words.word("vantage.engine")),
        ("unstated", False, words.word("register.vantage_not_stated")),
        ("client", True, words.word("register.chart.own")),
    )
    used = {mark.kind for marks in rows.values() for mark in marks if not mark.own}
    return StripChart(
        id=f"published-{name.replace('_', '-')}",
        lang=page.language,
        title=words.word(f"register.chart.{name}"),
        axis=words.word(f"register.chart.axis_{name}"),
        rows=tuple(StripRow(_label(group, page), tuple(marks)) for group, marks in rows.items() if marks),
        key=tuple(k for k in key if k[1] or k[0] in used),
    )


def _belongs(figure: Figure, name: str) -> bool:
    measured = figure.kind == "measured" and figure.value is not None and figure.status == "current"
    return measured and figure.unit == "tok/s" and (figure.quantity in SUMS) == (name == "pair_sum")


def _label(group: str, page: Renderer) -> str:
    if not group:
        return page.locale.word("register.class_not_stated")
    return str(getattr(page.site.profile_classes[group].label, page.language))


def _kind(vantage: str | None) -> MarkKind:
    return "client" if vantage == "client" else "engine" if vantage == "engine" else "unstated"


def _own_mark(figure: Figure, page: Renderer) -> StripMark:
    assert figure.value
    low, high = figure.interval or (figure.low, figure.high)
    label = strip(page.plain(figure.id))
    return StripMark(
        figure=figure.id,
        value=float(figure.value.value),
        low=float(low.value) if low else None,
        high=float(high.value) if high else None,
        kind=_kind(figure.config.get("method.vantage")),
        own=True,
        title=strip(f"{getattr(figure.label, page.language)}: {label} tok/s ({page.note(figure)})"),
        href=page.url(figure.id),
        label=label,
    )


def _mark(entry: PublishedFigure, page: Renderer) -> StripMark:
    span = entry.span
    return StripMark(
        figure=entry.id,
        value=float(entry.value) if entry.value is not None else None,
        low=float(span[0]) if span else None,
        high=float(span[1]) if span else None,
        kind=_kind(entry.method.vantage),
        own=entry.own_lab,
        title=strip(", ".join(_title(entry, page))),
        href=f"#{entry.id}",
    )


def _title(entry: PublishedFigure, page: Renderer) -> Iterable[str]:
    words = page.locale
    yield f"{entry.publisher or words.name('evidence', entry.evidence)}: {register.value_text(entry, page)}"
    yield register.unit_text(entry, page)
    quantity = words.name("quantity", entry.quantity) if entry.quantity else words.word("register.quantity_not_stated")
    yield quantity
    if entry.workload.profile:
        yield page.profile(entry.workload.profile)
    if entry.workload.concurrency:
        yield f"c={entry.workload.concurrency}"
    vantage = entry.method.vantage
    yield words.name("vantage", vantage) if vantage else words.word("register.vantage_not_stated")
