"""One sentence for each figure that is fit to be quoted: the number never leaves without its caveat.

The texts are marked like everything that prints numbers from data. Words and their order come from the locale.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from string import ascii_uppercase
from typing import Any

from macros import printing
from macros.binding import BOUND, END, bind
from macros.figures import Figure
from macros.markup import NBSP
from macros.render import Renderer
from macros.statements import verdict

# Settings that a quote names where they are known, beside vantage, concurrency and profile.
SHOWN = ("runtime.version", "config.moe_backend_active", "config.kv_cache_dtype", "config.speculative_method")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|#~])")


def permalink(figure: Figure, page: Renderer, address: str) -> str:
    """The figure's absolute address in the page's language."""
    return f"{address}{'' if page.language == 'en' else page.language + '/'}figures/#{figure.id}"


def plain(figure: Figure, page: Renderer, address: str) -> str:
    """The sentence as plain text, with its permalink."""
    return f"{sentence(figure, page)} {permalink(figure, page, address)}"


def markdown(figure: Figure, page: Renderer, address: str) -> str:
    """The sentence as Markdown; the permalink is the link of its last word."""
    escaped = _MARKDOWN.sub(r"\\\1", sentence(figure, page))
    return f"> {escaped} [{page.locale.word('permalink')}]({permalink(figure, page, address)})"


def sentence(figure: Figure, page: Renderer) -> str:
    """Value and range, statistic, what, on what, how, how sure and when, in one marked sentence."""
    words = page.locale
    label = _label(figure, page)
    # Russian closes a subordinate clause before the dash; English has the same words for both.
    form = "head_clause" if "," in label else "head" if figure.status == "current" else "head_past"
    head = words.word(f"quote.{form}").format(label=label, value=_value(figure, page))
    details = "; ".join(_details(figure, page))
    facts = "; ".join(_facts(figure, page))
    text = f"{head} ({details}): {facts}."
    if figure.status != "current":
        text = f"{_status(figure, page)} {_capital(text)}"
    return _capital(text)


def _status(figure: Figure, page: Renderer) -> str:
    """What a figure that is no longer current says first: so, and what replaced it."""
    successor = page.site.figures.get(figure.superseded_by or "")
    if successor is None:
        return page.locale.word(f"quote.{figure.status}")
    now = f"{_label(successor, page)}, {_value(successor, page)}"
    return page.locale.word("quote.superseded_by").format(successor=now)


def _details(figure: Figure, page: Renderer) -> Iterator[str]:
    """What stands in brackets after the value: statistic, spread and number of runs."""
    words = page.locale
    if figure.kind == "derived":
        yield words.word("quote.computed")
        yield from _allowed(figure, page)
        return
    if figure.quantity is None:
        yield words.word("quote.quantity_unstated")
    if figure.statistic:
        yield words.name("statistic", figure.statistic)
    elif figure.value is not None and figure.manifests[0] not in page.site.dataset.comparisons:
        yield words.word("quote.statistic_unstated")
    if figure.value is not None and figure.n != 1:
        yield page.spread(figure)
    yield f"n{NBSP}{bind(str(figure.n)) if figure.n else words.word('not_published')}"


def _allowed(figure: Figure, page: Renderer) -> Iterator[str]:
    """What single runs allow beside a gain between means, and whether its size can be told."""
    words = page.locale
    if figure.formula is None or figure.formula.kind != "gain":
        return
    for other in page.site.figures.values():
        if other.formula and other.formula.kind == "gain_range" and other.formula.of == figure.formula.of:
            yield words.word("quote.runs_allow").format(range=_value(other, page))
            said = verdict("magnitude", *(page.site.figures[name] for name in other.formula.of))
            yield words.word("quote.magnitude").format(verdict=words.name("verdict", said))


def _facts(figure: Figure, page: Renderer) -> Iterator[str]:
    words = page.locale
    if figure.formula:
        yield _formula(figure, page)
        if figure.formula.runs is not None:
            yield words.word("quote.no_measurement")
            return
        if figure.differing:
            keys = ", ".join(words.word(f"key.{key}") for key in figure.differing)
            yield words.word("quote.differ").format(keys=keys)
    elif figure.kind == "published":
        yield words.word("quote.published").format(source=page.source_name(figure.sources[0]))
    yield subject([figure], page)
    yield from _changes(figure, page)
    yield _vantage(figure, page)
    yield _concurrency(figure, page)
    yield _profile(figure, page)
    for key in SHOWN:
        value = figure.config.get(key)
        if value and not any(key in part.differing for part in _leaves(figure, page)):
            yield f"{words.word(f'key.{key}')}: {bind(value)}"
    if figure.evidence:
        key = "weakest_evidence" if figure.kind == "derived" else "evidence"
        yield words.word(f"quote.{key}").format(meaning=words.word(f"quote_evidence.{figure.evidence}"))
    yield _date(figure, page)


def subject(figures: Iterable[Figure], page: Renderer) -> str:
    """The model and the machine that figures are about, in marked words."""
    words = page.locale
    parts = [part for figure in figures for part in _leaves(figure, page)]
    models, _ = _values(parts, "model.name")
    subject = words.word("quote.and").join(bind(str(name)) for name in models)
    checkpoints, complete = _values(parts, "model.checkpoint")
    if checkpoints:
        named = words.word("quote.and").join(bind(str(name)) for name in checkpoints)
        subject += f" ({words.word('quote.checkpoint' if complete else 'quote.checkpoint_partly').format(name=named)})"
    devices, _ = _values(parts, "system.device")
    nodes, _ = _values(parts, "system.nodes")
    if len(devices) != 1 or len(nodes) != 1:
        return f"{subject}, {words.word('quote.machine_unstated')}"
    count = int(nodes[0])
    machine = words.word("quote.machine").format(
        count=bind(str(count)), nodes=words.plural(count, "quote_nodes"), device=bind(str(devices[0]))
    )
    return f"{subject} {machine}"


def _changes(figure: Figure, page: Renderer) -> Iterator[str]:
    """The setting that an effect is about, from → to."""
    for key, sides in figure.differing.items():
        if set(sides) == {"baseline", "variant"} and figure.kind != "derived":
            ends = [page.setting_text(key, sides[side]) for side in ("baseline", "variant")]
            yield f"{page.locale.word(f'key.{key}')}: {' → '.join(ends)}"


def _vantage(figure: Figure, page: Renderer) -> str:
    words = page.locale
    values, complete = _values(_leaves(figure, page), "method.vantage")
    if not values:
        return words.word("quote.vantage_unstated")
    return _listed([words.name("vantage", str(v)) for v in values], complete, page)


def _concurrency(figure: Figure, page: Renderer) -> str:
    words = page.locale
    values, complete = _values(_leaves(figure, page), "workload.concurrency")
    if not values:
        return words.word("quote.concurrency_unstated")
    return _listed([_requests(int(value), page) for value in sorted(values, key=int)], complete, page)


def _requests(count: int, page: Renderer) -> str:
    """How many requests are in flight, in words and as c=…"""
    if count == 1:
        return f"{page.locale.word('quote.one_request')} (c={bind('1')})"
    counted = page.locale.plural(count, "quote_requests")
    return f"{bind(str(count))}{NBSP}{counted} (c={bind(str(count))})"


def _profile(figure: Figure, page: Renderer) -> str:
    values, complete = _values(_leaves(figure, page), "workload.profile")
    if not values:
        return page.locale.word("quote.profile_unstated")
    return _listed([page.profile(str(v)) for v in values], complete, page)


def _listed(values: list[str], complete: bool, page: Renderer) -> str:
    joined = page.locale.word("quote.and").join(values)
    return joined if complete else f"{joined}{page.locale.word('quote.where_stated')}"


def _values(parts: Iterable[Figure], key: str) -> tuple[list[Any], bool]:
    """The known values of a setting in what figures rest on, and whether every part states it."""
    known = [part.config.get(key) for part in parts]
    return list(dict.fromkeys(value for value in known if value is not None)), None not in known


def _leaves(figure: Figure, page: Renderer) -> Iterator[Figure]:
    """The figures that are not computed from others, under a figure."""
    if figure.formula is None or not figure.formula.of:
        yield figure
    else:
        for name in figure.formula.of:
            yield from _leaves(page.site.figures[name], page)


def _date(figure: Figure, page: Renderer) -> str:
    dates = dates_of(_leaves(figure, page))
    return page.locale.word("quote.date").format(date=dates) if dates else page.locale.word("date_not_published")


def dates_of(figures: Iterable[Figure]) -> str | None:
    """The days that figures were measured on, marked; of more than two the first and the last."""
    days = [bind(day.isoformat()) for day in sorted({figure.date for figure in figures if figure.date})]
    return None if not days else ", ".join(days) if len(days) < 3 else f"{days[0]} – {days[-1]}"


def _formula(figure: Figure, page: Renderer) -> str:
    """The formula: over letters that are explained after it, or over its operands where they are a plain list."""
    assert figure.formula
    spec, words = figure.formula, page.locale
    if spec.measurement:
        return printing.formula(spec.kind, [page.counts(spec.measurement)], spec.runs, words)
    operands = [page.site.figures[name] for name in spec.of]
    if len(operands) == 1 or "{all}" in words.word(f"formula.{spec.kind}"):
        said = [
            f"{words.word('quote.open')}{_label(o, page)}{words.word('quote.close')} ({_notes(o, page)})"
            for o in operands
        ]
        return printing.formula(spec.kind, said, spec.runs, words)
    letters = ascii_uppercase[: len(operands)]
    computed = printing.formula(spec.kind, list(letters), spec.runs, words)
    meanings = [
        words.word("quote.letter").format(letter=letter, label=_label(o, page), notes=_notes(o, page))
        for letter, o in zip(letters, operands, strict=True)
    ]
    return words.word("quote.where").format(formula=computed, meanings=", ".join(meanings)) if meanings else computed


def _notes(figure: Figure, page: Renderer) -> str:
    """An operand's value and whatever belongs beside it."""
    notes = [_value(figure, page)]
    beside = page.spread(figure) if figure.value is not None and figure.kind == "measured" else None
    if beside and beside != page.locale.word("spread_unknown"):
        notes.append(beside)
    if figure.status != "current":
        notes.append(page.locale.word(figure.status))
    return ", ".join(notes)


def _label(figure: Figure, page: Renderer) -> str:
    return str(getattr(figure.label, page.language))


def _value(figure: Figure, page: Renderer) -> str:
    """The printed value with its unit, marked."""
    printed = bind(printing.text(figure, page.locale))
    return printed + page.unit(figure)


def _capital(text: str) -> str:
    """The text with its first letter upper case, marks skipped; names that begin with a digit stay."""
    for i, letter in enumerate(text):
        if letter not in (BOUND, END):
            return text[:i] + letter.upper() + text[i + 1 :]
    return text
