"""The register of published figures as a page shows it: tables whose rows are entries, with delta and verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from macros import blocks, deltas, links, printing, shares
from macros.binding import bind
from macros.deltas import DECIDING, VERDICTS, Delta, Factor, Worth
from macros.locale import Locale
from macros.manifests import Beside, PublishedFigure, Reading, setting
from macros.markup import NBSP, attrs, element, text
from macros.numbers import places_of_one_digit, rounded
from macros.render import Renderer
from macros.settings import Settings
from macros.vocabulary import QUESTIONS

# What the configuration column prints, in this order; the rest is in data/published.json.
SHOWN = (
    "workload.profile",
    "workload.concurrency",
    "workload.depth_tokens",
    "workload.output_tokens",
    "config.moe_backend_requested",
    "config.moe_backend_active",
    "system.nodes",
    "model.checkpoint",
    "runtime.version",
    "runtime.image",
    "config.kv_cache_dtype",
    "config.speculative_method",
    "config.draft_tokens",
    "method.warm",
    "workload.thinking",
)
GROUPS = ("pair_stream", "pair_sum", "elsewhere")
FACTOR_DIGITS = 2


def group(entry: PublishedFigure) -> str:
    """The table that an entry stands in."""
    if shares.on_the_pair(entry) and shares.for_one_stream(entry):
        return "pair_stream"
    return "pair_sum" if shares.on_the_pair(entry) and shares.for_all_streams(entry) else "elsewhere"


def table(name: str, page: Renderer, settings: Settings) -> str:
    """One group of the register, highest value first."""
    words = page.locale
    entries = [e for e in page.site.dataset.published.values() if group(e) == name]
    entries.sort(key=lambda e: (-_middle(e), e.id))
    columns = [words.word(f"register.column.{c}") for c in ("figure", "what", "configuration", "delta", "verdict")]
    head = "".join(f'<th scope="col">{text(c)}</th>' for c in columns)
    body = "".join(_row(e, page, settings, columns) for e in entries)
    label = text(words.word(f"register.group.{name}"))
    return (
        f'<div class="table register" role="region" tabindex="0" aria-label="{label}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def controls(page: Renderer) -> str:
    """Filter and order; hidden until a script is there to work them."""
    words = page.locale
    site = page.site
    used = {_class(e, page) for e in site.dataset.published.values()}
    classes = [
        (c, str(getattr(site.profile_classes[c].label, page.language))) for c in site.profile_classes if c in used
    ]
    choices: dict[str, list[tuple[str, str]]] = {
        "class": [*classes, ("", words.word("register.class_not_stated"))],
        "vantage": [(v, words.name("vantage", v)) for v in ("client", "engine")] + [("", words.word("not_stated"))],
        "verdict": [(v, words.word(f"delta_verdict.{v}")) for v in VERDICTS],
    }
    fields = [_labelled("q", words.word("register.search"), '<input type="search" id="register-q" data-filter="q">')]
    for key, options in choices.items():
        listed = f'<option value="*">{text(words.word("register.all"))}</option>' + "".join(
            f'<option value="{text(value)}">{text(name)}</option>' for value, name in options
        )
        select = f'<select id="register-{key}" data-filter="{key}">{listed}</select>'
        fields.append(_labelled(key, words.word(f"register.filter.{key}"), select))
    orders = "".join(
        f'<option value="{key}">{text(words.word(f"register.order.{key}"))}</option>'
        for key in ("value", "date", "publisher", "class", "verdict")
    )
    select = f'<select id="register-order">{orders}</select>'
    fields.append(_labelled("order", words.word("register.filter.order"), select))
    shown = text(words.word("register.shown"))
    return (
        f'<form class="register-controls" hidden>{"".join(fields)}'
        f'<p role="status" data-shown="{shown}"></p></form>'
        f'<script defer src="{page.up}assets/javascripts/register.js"></script>'
    )


def _labelled(key: str, label: str, field: str) -> str:
    return f'<p><label for="register-{key}">{text(label)}</label>{field}</p>'


def count(name: str, page: Renderer) -> str:
    """A number about the register: `all`, `single`, `below-card`, or a verdict's name."""
    entries = page.site.dataset.published.values()
    card = page.get("model-card-claim").value
    assert card
    low, total = shares.below(entries, card.value)
    numbers = {"all": len(entries), "single": total, "below-card": low, **verdicts(page)}
    return text(bind(printing.number(Decimal(numbers[name]), page.locale)))


def verdicts(page: Renderer) -> dict[str, int]:
    """How many of the compared entries have which verdict; `compared` is how many there are."""
    found = [d.verdict for e in page.site.dataset.published.values() if (d := delta_of(e, page))]
    return {v: found.count(v) for v in VERDICTS} | {"compared": len(found)}


def delta_of(entry: PublishedFigure, page: Renderer) -> Delta | None:
    """The delta to the nearest own figure; the lab's own entries are not compared."""
    comparer = deltas.comparer(page.site)
    return None if entry.own_lab else comparer.nearest_own[entry.id]


# One row


def _row(entry: PublishedFigure, page: Renderer, settings: Settings, columns: list[str]) -> str:
    delta = delta_of(entry, page)
    data: dict[str, str | None] = {
        "id": entry.id,
        "data_value": str(_middle(entry)),
        "data_date": entry.date.isoformat() if entry.date else "",
        "data_publisher": (entry.publisher or "").lower(),
        "data_class": _class(entry, page),
        "data_vantage": entry.method.vantage or "",
        "data_verdict": delta.verdict if delta else "",
    }
    cells = [
        "".join(_what(entry, page)),
        _configuration(entry, page),
        _delta(delta, entry, page),
        _verdict(delta, entry, page, settings),
    ]
    body = "".join(f'<td data-head="{text(h)}">{cell}</td>' for h, cell in zip(columns[1:], cells, strict=True))
    return f'<tr{attrs(data)}><th scope="row">{_figure(entry, page)}</th>{body}</tr>'


def _figure(entry: PublishedFigure, page: Renderer) -> str:
    """The value as published, whose it is, when, and where."""
    words = page.locale
    shown = f'<span class="value">{text(bind(value_text(entry, page)))}</span> {text(unit_text(entry, page))}'
    if entry.status != "current":
        shown = f'<s>{shown}</s> <small class="status">({text(words.word(entry.status))})</small>'
    link = element("a", "#", class_="headerlink", href=f"#{entry.id}", title=words.word("permalink"))
    parts = [f"{shown} {link}", _source(entry, page)]
    if entry.date:
        name = words.word(f"register.date_of.{entry.date_of or 'publication'}")
        parts.append(f"<small>{text(name)} {text(bind(entry.date.isoformat()))}</small>")
    if entry.correction:
        parts.append(f"<small>{text(bind(str(getattr(entry.correction.reason, page.language))))}</small>")
    return parts[0] + "<br>" + "".join(parts[1:])


def _source(entry: PublishedFigure, page: Renderer) -> str:
    source = entry.sources[0]
    name = entry.publisher or page.locale.name("evidence", entry.evidence)
    name = text(bind(name) if entry.publisher else name)
    return element("a", name, href=source.url, title=bind(source.name)) if source.url else name


def value_text(entry: PublishedFigure, page: Renderer) -> str:
    """The value as published; a range with an en dash."""
    words = page.locale
    if entry.value is None:
        return range_text(None, entry.low, entry.high, words)
    about = "≈" if entry.approximate else ""
    more = f" ± {printing.number(entry.plus_minus, words)}" if entry.plus_minus else ""
    return about + printing.number(entry.value, words) + more


def range_text(value: Decimal | None, low: Decimal | None, high: Decimal | None, words: Locale) -> str:
    """A value, or a range with an en dash where there is none."""
    ends = (value,) if value is not None else (low, high)
    return printing.EN_DASH.join(printing.number(end, words) for end in ends if end is not None)


def unit_text(entry: PublishedFigure, page: Renderer) -> str:
    """The unit as printed by the source."""
    printed = entry.unit_printed or entry.unit
    known = page.locale.words["unit"]
    return str(known[printed]) if printed in known else bind(printed)


def _what(entry: PublishedFigure, page: Renderer) -> Iterator[str]:
    """Quantity, statistic, vantage and counting."""
    words = page.locale
    if entry.quantity:
        yield f"<b>{text(words.name('quantity', entry.quantity))}</b>"
    else:
        called = f", {words.word('register.called')} «{words.name('quantity', entry.called)}»" if entry.called else ""
        called = called if page.language == "ru" else called.replace("«", "“").replace("»", "”")
        yield f"<b>{text(words.word('register.quantity_not_stated'))}</b>{text(called)}"
    facts = []
    if entry.scope:
        facts.append(words.word(f"register.scope.{entry.scope}"))
    if entry.statistic:
        facts.append(words.name("statistic", entry.statistic))
    span = entry.span
    if span and entry.value is not None:
        ends = printing.EN_DASH.join(printing.number(end, words) for end in span)
        facts.append(f"{words.word('span_word')}{NBSP}{bind(ends)}")
    if entry.n:
        facts.append(f"n{NBSP}{bind(str(entry.n))}")
    vantage = entry.method.vantage
    facts.append(words.name("vantage", vantage) if vantage else words.word("register.vantage_not_stated"))
    counting = entry.method.token_accounting
    if counting:
        facts.append(f"{words.word('key.method.token_accounting')}: {words.name('token_accounting', counting)}")
    if entry.acceptance_length:
        length = bind(printing.number(entry.acceptance_length, words))
        facts.append(f"{words.name('quantity', 'acceptance_length')}: {length}")
    yield f"<small>{text('; '.join(facts))}</small>"


def _configuration(entry: PublishedFigure, page: Renderer) -> str:
    words = page.locale
    facts = [
        f"{words.word(f'key.{key}')}: {page.setting_text(key, setting(entry, key))}"
        for key in SHOWN
        if setting(entry, key) is not None and key != "workload.profile"
    ]
    profile = entry.workload.profile
    title = page.profile(profile) if profile else words.word("register.class_not_stated")
    return f"<b>{text(title)}</b><small>{text('; '.join(facts))}</small>{_beside(entry, page)}"


def _beside(entry: PublishedFigure, page: Renderer) -> str:
    """The other values that the source prints, each with what it differs in, behind a disclosure."""
    printed = [
        *(_reading(entry, reading, page) for reading in entry.readings),
        *(_other(entry, other, page) for other in entry.beside),
    ]
    if not printed:
        return ""
    items = "".join(f"<li>{text('; '.join(facts))}</li>" for facts in printed)
    summary = text(page.locale.word("register.beside"))
    return blocks.keep(f"<details><summary>{summary}</summary><ul>{items}</ul></details>", unread=True)


def _reading(entry: PublishedFigure, reading: Reading, page: Renderer) -> Iterator[str]:
    """One of the values behind the figure."""
    words = page.locale
    yield f"{bind(range_text(reading.value, None, None, words))}{NBSP}{unit_text(entry, page)}"
    yield from _settings(reading.settings, page)


def _settings(settings: Mapping[str, Any], page: Renderer) -> Iterator[str]:
    for key, value in settings.items():
        if not key.endswith("_approximate"):
            name = page.locale.words["key"].get(key) or bind(key)
            yield f"{name}: {page.setting_text(key, value)}"


def _other(entry: PublishedFigure, other: Beside, page: Renderer) -> Iterator[str]:
    words = page.locale
    value = range_text(other.value, other.low, other.high, words)
    yield f"{bind(value)}{NBSP}{words.word(f'unit.{other.unit}')}"
    if other.quantity and other.quantity != entry.quantity:
        yield words.name("quantity", other.quantity)
    if other.statistic and other.statistic != entry.statistic:
        yield words.name("statistic", other.statistic)
    if other.scope and other.scope != entry.scope:
        yield words.word(f"register.scope.{other.scope}")
    yield from _settings(other.differs, page)
    if other.acceptance_length:
        length = bind(printing.number(other.acceptance_length, words))
        yield f"{words.name('quantity', 'acceptance_length')}: {length}"


def _delta(delta: Delta | None, entry: PublishedFigure, page: Renderer) -> str:
    words = page.locale
    if delta is None:
        same = f": {page.figure(entry.own_figure)}" if entry.own_figure else ""
        return f"<small>{text(words.word('register.own_lab'))}{same}</small>"
    own = page.get(delta.b.id)
    nearest = f"{text(str(getattr(own.label, page.language)))}: {page.linked(own)}"
    marks = "".join(
        f'<li class="q-{q} is-{delta.questions[q]}">{text(words.word(f"question_short.{q}"))}: '
        f"{text(words.word(f'delta_status.{delta.questions[q]}'))}</li>"
        for q in QUESTIONS
    )
    more = "".join(f"<dt>{text(name)}</dt><dd>{value}</dd>" for name, value in _keys(delta, page))
    summary = text(words.word("register.which_keys"))
    details = f"<details><summary>{summary}</summary><dl>{more}</dl></details>"
    return f'<small>{nearest}</small><ul class="delta">{marks}</ul>{blocks.keep(details, unread=True)}'


def _keys(delta: Delta, page: Renderer) -> Iterator[tuple[str, str]]:
    words = page.locale
    if differing := delta.with_status("differs"):
        shown = (
            f"{text(words.word(f'key.{key}'))}: {text(step(key, delta.a.settings[key], page))} "
            f"{text(words.word('register.against'))} {text(step(key, delta.b.settings[key], page))}"
            for key in differing
        )
        yield words.word("delta_status.differs"), "; ".join(shown)
    for status in ("not_stated", "varies"):
        if keys := delta.with_status(status):
            yield words.word(f"delta_status.{status}"), text(", ".join(words.word(f"key.{key}") for key in keys))


def step(key: str, value: Any, page: Renderer) -> str:
    """One end of a difference; a profile class is named by its label."""
    if key == "workload.profile" and value in page.site.profile_classes:
        return bind(str(getattr(page.site.profile_classes[value].label, page.language)))
    return page.setting_text(key, value)


def _verdict(delta: Delta | None, entry: PublishedFigure, page: Renderer, settings: Settings) -> str:
    words = page.locale
    correct = (
        f'<small class="correct">{text(words.word("register.is_it_yours"))} '
        f"{links.correction(words, settings, entry.id)}</small>"
    )
    if delta is None:
        return correct
    word = text(words.word(f"delta_verdict.{delta.verdict}"))
    return f'<b class="verdict is-{delta.verdict}">{word}</b>{_why(delta, page)}{correct}'


def _why(delta: Delta, page: Renderer) -> str:
    """What the verdict rests on: the quantities, the deciding keys not stated, the factors."""
    words = page.locale
    parts = []
    if delta.verdict == "not_comparable":
        names = (words.name("quantity", side.quantity) for side in (delta.a, delta.b))
        parts.append(text(f" {words.word('register.against')} ".join(names)))
    else:
        unstated = [words.word(f"key.{k}") for k in DECIDING if delta.keys[k] in ("not_stated", "varies")]
        if delta.a.quantity is None:
            unstated.insert(0, words.word("fact.quantity").lower())
        if unstated:
            parts.append(text(f"{words.word('register.deciding_not_stated')}: {', '.join(unstated)}"))
        factors_known = delta.factors and delta.a.quantity
        parts += [_factor(factor, delta, page) for factor in delta.factors] if factors_known else []
        if factors_known and delta.expected:
            low, high = delta.expected
            expected = bind(f"{_rate(low, page)}{printing.EN_DASH}{_rate(high, page)}")
            unit = words.word(f"unit.{delta.b.unit}")
            parts.append(text(f"{words.word('register.expected')}: {expected}{NBSP}{unit}"))
    return "".join(f"<small>{part}</small>" for part in parts)


def _factor(factor: Factor, delta: Delta, page: Renderer) -> str:
    words = page.locale
    before, after = (step(factor.key, side.settings[factor.key], page) for side in (delta.b, delta.a))
    sources = ", ".join(source(worth, page) for worth in _distinct(factor.worths))
    change = text(f"{words.word(f'key.{factor.key}')} {before} → {after}: {factor_text(factor.low, factor.high, page)}")
    return f"{change} ({sources})"


def _distinct(worths: Iterable[Worth]) -> list[Worth]:
    return list({worth.source: worth for worth in worths}.values())


def source(worth: Worth, page: Renderer) -> str:
    """A link to the figure that a factor comes from, named by its own value or its publisher."""
    if worth.own:
        return page.linked(page.get(worth.source))
    entry = page.site.dataset.published[worth.source]
    return element("a", text(bind(entry.publisher or entry.id)), href=f"{page.root}published/#{entry.id}")


def factor_text(low: Fraction, high: Fraction, page: Renderer) -> str:
    """A factor's range in two significant digits."""
    ends = dict.fromkeys(
        printing.number(rounded(end, places_of_one_digit(end) + FACTOR_DIGITS - 1), page.locale) for end in (low, high)
    )
    return bind("×" + printing.EN_DASH.join(ends))


def _rate(value: Fraction, page: Renderer) -> str:
    return printing.number(rounded(value, 0), page.locale)


def _middle(entry: PublishedFigure) -> Decimal:
    if entry.value is not None:
        return entry.value
    assert entry.low is not None
    assert entry.high is not None
    return (entry.low + entry.high) / 2


def _class(entry: PublishedFigure, page: Renderer) -> str:
    profile = entry.workload.profile
    return page.site.profiles[profile].group if profile else ""
