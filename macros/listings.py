"""The generated lists: every figure with its entry, every manifest readable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Literal
from urllib.parse import quote as url_quote

from macros import blocks, manifests, printing, quotes, usage
from macros.binding import bind
from macros.figures import Figure
from macros.manifests import COMPARED, Comparison, Manifest, Measurement, PublishedFigure, Run, Source
from macros.markup import NBSP, element, text
from macros.render import Renderer
from macros.settings import Settings
from macros.vocabulary import QUESTIONS

Facts = Iterable[tuple[str, str]]


def figures(page: Renderer, settings: Settings) -> str:
    """One anchored entry for each figure, grouped by the page's questions, after a list to jump from."""
    groups = {question: [f for f in page.site.figures.values() if f.question == question] for question in QUESTIONS}
    jump, parts = [], []
    for question, group in groups.items():
        if not group:
            continue
        title = text(page.locale.word(f"question.{question}"))
        items = "".join(
            f"<li>{element('a', text(_label(f, page)), href=f'#{f.id}')}: {_printed(f, page)}</li>" for f in group
        )
        jump.append((f"question-{question}", title, len(group), items))
        parts.append(f'<h2 id="question-{question}" class="q-{question}">{title}</h2>')
        parts += [_entry(figure, page, settings) for figure in group]
    return "\n".join([_jump_list(jump, page), *parts])


def _jump_list(groups: Iterable[tuple[str, str, int, str]], page: Renderer) -> str:
    """Links to the groups, each with its members behind a disclosure."""
    rows = "".join(
        f'<li><a href="#{anchor}">{title}</a>'
        + blocks.keep(
            f"<details><summary>{text(page.locale.word('entries'))} {text(bind(str(count)))}</summary>"
            f"<ul>{items}</ul></details>",
            unread=True,
        )
        + "</li>"
        for anchor, title, count, items in groups
    )
    return f'<nav class="jump" aria-label="{text(page.locale.word("jump"))}"><ul>{rows}</ul></nav>'


def _label(figure: Figure, page: Renderer) -> str:
    return str(getattr(figure.label, page.language))


def _printed(figure: Figure, page: Renderer) -> str:
    """The value with its unit, struck through and labelled where it is not current."""
    value = page.data(figure) + page.unit(figure)
    if figure.status == "current":
        return value
    return f'<s>{value}</s> <small class="status">({text(page.locale.word(figure.status))})</small>'


def _anchor(target: str, page: Renderer) -> str:
    return element("a", "#", class_="headerlink", href=f"#{target}", title=page.locale.word("permalink"))


def _entry(figure: Figure, page: Renderer, settings: Settings) -> str:
    words = page.locale
    details = (
        f"<details><summary>{text(words.word('more'))}</summary>{_list(_facts(figure, page))}"
        f"<p>{text(words.word('as_markdown'))}</p>"
        f"{copyable(quotes.markdown(figure, page, settings.address), 'markdown', page)}"
        f"</details>"
    )
    return (
        f'<section class="entry q-{figure.question}" id="{figure.id}">'
        f"<h3>{text(_label(figure, page))}: {_printed(figure, page)} {_anchor(figure.id, page)}</h3>"
        f"{_correction(figure, page)}"
        f"{copyable(quotes.plain(figure, page, settings.address), 'quote', page)}"
        f"{blocks.keep(details, unread=True)}</section>"
    )


def copyable(marked: str, kind: Literal["quote", "markdown", "snippet"], page: Renderer) -> str:
    """A text to select, and a button that copies it; the button is shown by the script that serves it."""
    words = page.locale
    button = element(
        "button", text(words.word("copy")), type="button", class_="copy", hidden="", data_done=words.word("copied")
    )
    content = text(marked) if kind == "quote" else f"<code>{text(marked)}</code>"
    return f'<div class="copyable {kind}"><p>{content}</p>{button}</div>'


def _list(facts: Facts) -> str:
    return "<dl>" + "".join(f"<dt>{text(name)}</dt><dd>{content}</dd>" for name, content in facts) + "</dl>"


def _correction(figure: Figure, page: Renderer) -> str:
    """Why a figure is no longer current and what replaced it, or what this one replaced."""
    words = page.locale
    lines = []
    if figure.correction:
        now = page.site.figures.get(figure.superseded_by or "")
        status = f"{text(words.word('replaced_by'))} {page.linked(now)}" if now else text(words.word(figure.status))
        reason = text(bind(str(getattr(figure.correction.reason, page.language))))
        lines.append(f"{status}. {reason} ({text(correction_date(figure, page))})")
    for old in page.site.figures.values():
        if old.superseded_by == figure.id:
            lines.append(f"{text(words.word('replaces'))} {page.linked(old)}")
    return "".join(f'<p class="correction">{line}</p>' for line in lines)


def correction_date(figure: Figure, page: Renderer) -> str:
    date = figure.correction.date if figure.correction else None
    return bind(date.isoformat()) if date else page.locale.word("date_not_published")


def _facts(figure: Figure, page: Renderer) -> Iterator[tuple[str, str]]:
    words = page.locale
    derived = figure.kind == "derived"
    yield words.word("fact.kind"), text(words.name("kind", figure.kind))
    if figure.formula:
        yield words.word("fact.formula"), formula(figure, page)
    if not derived:
        for group, value in (
            ("quantity", figure.quantity),
            ("statistic", figure.statistic),
            ("vantage", figure.config.get("method.vantage")),
            ("window", figure.config.get("method.window")),
            ("token_accounting", figure.config.get("method.token_accounting")),
        ):
            yield words.word(f"fact.{group}"), text(words.name(group, value))
        length = figure.acceptance_length
        yield (
            words.word("fact.acceptance"),
            text(bind(printing.number(length, words)) if length else words.word("not_published")),
        )
    if figure.value is not None and not derived:
        yield words.word("fact.spread"), text(page.spread(figure))
    if figure.interval:
        ends = f"{bind(printing.interval_text(figure, words) or '')}{page.unit(figure)}"
        yield words.word("fact.interval"), text(ends)
    if not derived:
        yield words.word("fact.n"), text(bind(str(figure.n)) if figure.n else words.word("not_published"))
    if figure.evidence:
        yield words.word("fact.evidence"), page.evidence(figure.evidence)
    if not derived:
        date = bind(figure.date.isoformat()) if figure.date else words.word("not_published")
        yield words.word("fact.date"), text(date)
    yield from _settings(figure, page)
    if figure.sources:
        yield words.word("fact.source"), "<br>".join(source(s, page) for s in figure.sources)
    if figure.manifests:
        links = [manifest_link(name, page) for name in figure.manifests]
        yield words.word("fact.manifests"), ", ".join(links)
    yield words.word("fact.status"), text(words.word(f"status.{figure.status}"))
    yield words.word("fact.history"), _history(figure, page)
    yield words.word("fact.used"), usage.placeholder(figure.id)


def manifest_link(manifest_id: str, page: Renderer) -> str:
    return element("a", f"<code>{text(bind(manifest_id))}</code>", href=f"{page.root}runs/#{manifest_id}")


def _history(figure: Figure, page: Renderer) -> str:
    """The values that a figure had before, or that there were none."""
    words = page.locale
    past = []
    for old in figure.history:
        ends = [old.value] if old.value else [old.low, old.high]
        value = printing.EN_DASH.join(
            printing.recorded(Decimal(printing.machine(e)), figure.unit, words) for e in ends if e
        )
        if old.value and old.low and old.high:
            span = [printing.recorded(Decimal(printing.machine(e)), figure.unit, words) for e in (old.low, old.high)]
            value += f" ({printing.EN_DASH.join(span)})"
        reason = words.word(f"past.{old.reason}")
        past.append(
            f"<s>{text(bind(value))}</s>{page.unit(figure)} ({manifest_link(old.manifest, page)}, {text(reason)})"
        )
    past += [page.linked(old) for old in page.site.figures.values() if old.superseded_by == figure.id]
    return "; ".join(past) or text(words.word("past.none"))


def source(found: Source, page: Renderer) -> str:
    """Where a value can be looked up: name, repository, file and commit; what is not known is said."""
    words = page.locale
    name = text(page.source_name(found))
    parts = [element("a", name, href=found.url) if found.url else name]
    if found.repository:
        parts.append(f"<code>{text(bind(found.repository))}</code>")
    for field in ("path", "commit", "sha256"):
        value = getattr(found, field)
        if value:
            parts.append(f"{text(bind(words.word(f'source.{field}')))} {_located(found, field, value)}")
    missing = [words.word(f"source.{field}") for field in ("url", "path", "commit") if not getattr(found, field)]
    if missing:
        parts.append(f"{text(words.word('not_published_here'))}: {text(', '.join(missing))}")
    if found.retrieved:
        parts.append(f"{text(words.word('source.retrieved'))} {text(bind(found.retrieved.isoformat()))}")
    return ", ".join(parts)


def _located(found: Source, field: str, value: str) -> str:
    """A file or commit, linked where the source is a repository on GitHub."""
    shown = f"<code>{text(bind(value))}</code>"
    home = f"https://github.com/{found.repository}"
    if found.commit is None or found.url is None or not found.url.startswith(home) or field == "sha256":
        return shown
    path = f"blob/{found.commit}/{url_quote(found.path)}" if field == "path" and found.path else f"tree/{found.commit}"
    return element("a", shown, href=f"{home}/{path}")


def _settings(figure: Figure, page: Renderer) -> Iterator[tuple[str, str]]:
    words = page.locale
    known = [(key, figure.config.get(key)) for key in COMPARED if figure.config.get(key) is not None]
    if known:
        shown = [f"{text(words.word(f'key.{key}'))}: {text(page.setting_text(key, value))}" for key, value in known]
        yield words.word("fact.configuration"), "; ".join(shown)
    if figure.differing:
        yield (
            words.word("fact.differing"),
            "; ".join(_difference(key, sides, page) for key, sides in figure.differing.items()),
        )
    if figure.unstated:
        yield words.word("fact.unstated"), text(", ".join(words.word(f"key.{key}") for key in figure.unstated))


def _difference(key: str, sides: Mapping[str, Any], page: Renderer) -> str:
    values = dict.fromkeys(page.setting_text(key, value) for value in sides.values())
    return f"{text(page.locale.word(f'key.{key}'))}: {text(' / '.join(values))}"


def formula(figure: Figure, page: Renderer) -> str:
    """The formula in words, with its operands linked."""
    assert figure.formula
    if figure.formula.measurement:
        counts = [text(page.counts(figure.formula.measurement))]
        return printing.formula(figure.formula.kind, counts, figure.formula.runs, page.locale)
    links = [
        f"{text(_label(operand, page))} ({page.linked(operand)})"
        for operand in (page.get(name, superseded=True) for name in figure.formula.of)
    ]
    return printing.formula(figure.formula.kind, links, figure.formula.runs, page.locale)


# Manifests


def runs(page: Renderer, settings: Settings) -> str:
    """Every manifest, readable, with what is not published said plainly."""
    used = {name for figure in page.site.figures.values() for name in figure.manifests}
    data = page.site.dataset
    groups: dict[str, list[Manifest]] = {
        "runs": list(data.runs.values()),
        "comparisons": list(data.comparisons.values()),
        "published": [m for m in data.published.values() if m.id in used],
    }
    jump, parts = [], []
    for name, group in groups.items():
        if not group:
            continue
        title = text(page.locale.word(f"manifests.{name}"))
        items = "".join(f"<li>{element('a', f'<code>{text(bind(m.id))}</code>', href=f'#{m.id}')}</li>" for m in group)
        jump.append((f"group-{name}", title, len(group), items))
        parts.append(f'<h2 id="group-{name}">{title}</h2><p>{text(page.locale.word(f"manifests.{name}_are"))}</p>')
        parts += [_manifest(manifest, page, settings) for manifest in group]
    return "\n".join([_jump_list(jump, page), *parts])


def _manifest(manifest: Manifest, page: Renderer, settings: Settings) -> str:
    drawn = [f for f in page.site.figures.values() if manifest.id in f.manifests and f.kind != "derived"]
    label = f"{text(_label(drawn[0], page))} " if drawn else ""
    gone = (
        ""
        if manifest.status == "current"
        else f' <small class="status">({text(page.locale.word(manifest.status))})</small>'
    )
    return (
        f'<section class="entry{f" q-{drawn[0].question}" if drawn else ""}" id="{manifest.id}">'
        f"<h3>{label}<code>{text(bind(manifest.id))}</code>{gone} {_anchor(manifest.id, page)}</h3>"
        f"{_list(_manifest_facts(manifest, drawn, page, settings))}</section>"
    )


def _manifest_facts(
    manifest: Manifest, drawn: list[Figure], page: Renderer, settings: Settings
) -> Iterator[tuple[str, str]]:
    words = page.locale
    yield words.word("fact.measured"), "<br>".join(text(line) for line in _values(manifest, page))
    yield (
        words.word("fact.figures"),
        "; ".join(f"{text(_label(f, page))}: {page.linked(f)}" for f in drawn) or text(words.word("no_figures")),
    )
    correction = manifest.correction
    if correction:
        date = bind(correction.date.isoformat()) if correction.date else words.word("date_not_published")
        reason = bind(str(getattr(correction.reason, page.language)))
        successor = f" → {manifest_link(correction.successor, page)}" if correction.successor else ""
        yield (
            words.word("fact.status"),
            f"{text(words.word(correction.status))}{successor}. {text(reason)} ({text(date)})",
        )
    yield words.word("fact.evidence"), page.evidence(manifest.evidence)
    date = bind(manifest.date.isoformat()) if manifest.date else words.word("not_published")
    yield words.word("fact.date"), text(date)
    settings_known = [(key, manifests.setting(manifest, key)) for key in COMPARED]
    for key, value in settings_known:
        if value is not None:
            yield words.word(f"key.{key}"), text(page.setting_text(key, value))
    if isinstance(manifest, Run):
        for shared in manifest.same_as:
            keys = ", ".join(words.word(f"key.{key}") for key in shared.keys)
            yield words.word("fact.same_as"), f"{text(keys)}: {manifest_link(shared.run, page)}"
    missing = [words.word(f"key.{key}") for key, value in settings_known if value is None]
    if missing:
        yield words.word("fact.not_published"), text(", ".join(missing))
    for note in manifest.notes:
        yield words.word("fact.note"), f'<span lang="en">{text(bind(note))}</span>'
    yield words.word("fact.source"), "<br>".join(source(s, page) for s in manifest.sources)
    file = element("a", f"{manifest.id}.yaml", href=f"{page.up}data/manifests/{manifest.id}.yaml")
    if settings.repository:
        address = f"{settings.repository.rstrip('/')}/blob/HEAD/{page.site.dataset.files[manifest.id]}"
        file += f" · {element('a', text(words.word('in_repository')), href=address)}"
    yield words.word("fact.file"), file


def _values(manifest: Manifest, page: Renderer) -> Iterator[str]:
    """What a manifest records, one marked line each."""
    if isinstance(manifest, Run):
        if manifest.missing:
            yield bind(str(getattr(manifest.missing, page.language)))
        for m in manifest.measurements:
            yield from _measurement(m, page)
    elif isinstance(manifest, PublishedFigure):
        yield _measured(manifest, page)
    elif isinstance(manifest, Comparison):
        yield from _effect(manifest, page)


def _measurement(m: Measurement, page: Renderer) -> Iterator[str]:
    words = page.locale
    yield _measured(m, page)
    if m.relative_spread:
        ends = _range(m.relative_spread.low, m.relative_spread.high, m.unit, page)
        computed = m.relative_spread.computed
        yield f"{words.word('spread_word')} {ends}% ({bind(computed) if computed else words.word('computed_unstated')})"
    counts = {
        "output_tokens": m.tokens,
        "seconds": m.seconds,
        "drafts": f"{m.accepted} / {m.drafts}" if m.drafts is not None else None,
        "finish": words.word(f"finish.{m.finish_reason}") if m.finish_reason else None,
    }
    yield from (f"{words.word(f'column.{name}')}: {bind(str(count))}" for name, count in counts.items() if count)
    if m.quantity != "acceptance_length":
        length = m.acceptance_length
        shown = bind(printing.number(length, words)) if length else words.word("not_published")
        yield f"{words.word('fact.acceptance')}: {shown}"


def _measured(found: Measurement | PublishedFigure, page: Renderer) -> str:
    """Quantity and value with statistic, span and number of runs."""
    words = page.locale
    name = words.name("quantity", found.quantity) if found.quantity else words.word("quote.quantity_unstated")
    span = _range(found.low, found.high, found.unit, page) if found.low is not None else ""
    shown = _range(found.value, None, found.unit, page) if found.value is not None else span
    details = [words.name("statistic", found.statistic) if found.statistic else words.word("quote.statistic_unstated")]
    if found.value is not None and found.n != 1:
        details.append(f"{words.word('span_word')} {span}" if span else words.word("spread_unknown"))
    details.append(f"n{NBSP}{bind(str(found.n)) if found.n else words.word('not_published')}")
    return f"{name}: {shown}{NBSP}{words.word(f'unit.{found.unit}')} ({', '.join(details)})"


def _range(low: Decimal | None, high: Decimal | None, unit: str, page: Renderer) -> str:
    """One or two recorded numbers, marked; a rate has one decimal at most, here as everywhere."""
    ends = dict.fromkeys(printing.recorded(end, unit, page.locale) for end in (low, high) if end is not None)
    return bind(printing.EN_DASH.join(ends))


def _effect(comparison: Comparison, page: Renderer) -> Iterator[str]:
    words = page.locale
    effect, change = comparison.effect, comparison.change
    name = words.name("quantity", effect.quantity) if effect.quantity else words.word("quote.quantity_unstated")
    ends = [bind(v) if v else words.word("not_stated") for v in (change.baseline, change.variant)]
    yield f"{words.word(f'key.{change.key}')}: {' → '.join(ends)}"
    if effect.low is not None:
        yield f"{words.word('gain_of')} ({name}): {_range(effect.low, effect.high, effect.unit, page)}%"
    if effect.before is not None and effect.after is not None:
        before, after = (bind(printing.number(v, words)) for v in (effect.before, effect.after))
        yield f"{name}: {before} → {after}"
    n = bind(str(effect.n)) if effect.n else words.word("not_published")
    yield f"n{NBSP}{n}; {words.word('operands_not_published')}"
