"""The form "Why is my number different?" as it stands on a page, and the decision tables that say the same."""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from macros import deltas, register, your_number
from macros.binding import bind
from macros.deltas import DECIDING, Worth
from macros.issue_forms import fields
from macros.markup import element, table, text
from macros.render import Renderer


def html(page: Renderer) -> str:
    """The form; hidden until its script has the data. Its answer is a live region."""
    words = page.locale
    rows = "".join(_field(name, page) for name in your_number.FIELDS)
    return (
        f'<form class="your-number" hidden data-source="{page.up}data/your-number.json" data-root="{page.root}">'
        f"<fieldset><legend>{text(words.word('form.legend'))}</legend>{rows}</fieldset>"
        f'<p><button type="submit" class="md-button md-button--primary">{text(words.word("form.submit"))}</button></p>'
        f'<section class="answer" role="status" aria-live="polite" aria-label="{text(words.word("form.answer"))}">'
        f"<p>{text(words.word('form.no_value'))}</p></section>"
        f'<section class="report"></section></form>'
        f'<script type="application/json" id="your-number-words">{_json(_words(page))}</script>'
        f'<script defer src="{page.up}assets/javascripts/your-number.js"></script>'
    )


def _field(name: str, page: Renderer) -> str:
    words = page.locale
    label = text(words.word(f"form.{name}"))
    numeric = {"value": "decimal", "streams": "numeric", "nodes": "numeric"}
    if name == "runtime" or name in numeric:
        mode = f' inputmode="{numeric[name]}"' if name in numeric else ""
        help_text = words.word("form.value_help").replace("{range}", bind("33–41")) if name == "value" else ""
        described = f' aria-describedby="help-{name}" required' if help_text else ""
        more = f'<small id="help-{name}">{text(help_text)}</small>' if help_text else ""
        control = f'<input id="f-{name}" name="{name}" maxlength="40" autocomplete="off"{mode}{described}>{more}'
    else:
        options = [("", words.word("form.unknown")), *_options(name, page)]
        listed = "".join(f'<option value="{text(value)}">{text(shown)}</option>' for value, shown in options)
        control = f'<select id="f-{name}" name="{name}">{listed}</select>'
    return f'<p><label for="f-{name}">{label}</label>{control}</p>'


def _options(name: str, page: Renderer) -> list[tuple[str, str]]:
    words = page.locale
    if name == "prompt":
        return [
            (key, str(getattr(page.site.profile_classes[key].label, page.language)))
            for key in your_number.classes(page.site)
        ]
    values: dict[str, Iterable[str]] = {
        "scope": ("stream", "sum"),
        "counted": (key for key in your_number.COUNTED if key),
        "backend": your_number.BACKENDS,
        "checkpoint": your_number.CHECKPOINTS,
        "warm": ("yes", "no"),
    }
    known = words.words["form"]
    return [(value, str(known.get(f"{name}.{value}") or bind(value))) for value in values[name]]


def _words(page: Renderer) -> dict[str, Any]:
    """All that the script says, in the page's language; and what the issue form calls its fields."""
    words = page.locale
    prompt = next(f for f in fields() if f.id == "prompt_class")
    return {
        "language": page.language,
        "words": your_number.words(page),
        "digits": your_number.digits(page.language),
        "classes": dict(zip(prompt.options, prompt.choices(words), strict=True)),
        "report": {field.id: field.label(words) for field in fields()},
        "required": [field.id for field in fields() if field.required],
        "choices": {
            f.id: dict(zip(map(str, f.options or ("true", "false")), f.choices(words), strict=True))
            for f in fields()
            if f.choices(words)
        },
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).replace("</", "<\\/")


# The tables


def figures_table(page: Renderer) -> str:
    """Our figures by the keys that decide."""
    words = page.locale
    head = [words.word("column.value"), *(words.word(f"table.{c}") for c in ("quantity", "prompt"))]
    head += [words.word("key.workload.concurrency"), words.word("key.config.moe_backend_active")]
    head += [words.word("table.counted"), words.word("key.system.nodes")]
    rows = []
    for side in deltas.comparer(page.site).own.values():
        if side.unit != "tok/s":
            continue
        figure = page.get(side.id)
        keys = ("workload.concurrency", "config.moe_backend_active", "method.token_accounting", "system.nodes")
        cells = [_setting(key, side.settings.get(key), page) for key in ("workload.profile", *keys)]
        rows.append([page.linked(figure), text(words.name("quantity", figure.quantity)), *cells])
    return _decision(head, rows, words.word("table.nearest"))


def worths_table(page: Renderer) -> str:
    """What one step of a key that decides was measured to be worth; each pair once, and none that changes nothing."""
    words = page.locale
    grouped: dict[tuple[Any, ...], list[Worth]] = {}
    for worth in deltas.comparer(page.site).worths:
        if worth.key in DECIDING:
            turned = worth.turned
            if _size(worth.before) > _size(worth.after) or _pair(turned) in grouped:
                worth = turned
            grouped.setdefault(_pair(worth), []).append(worth)
    rows = []
    for (key, before, after, quantity), worths in sorted(grouped.items(), key=lambda item: _place(*item[0])):
        change = f"{words.word(f'key.{key}')}: {register.step(key, before, page)} → {register.step(key, after, page)}"
        factor = register.factor_text(min(w.low for w in worths), max(w.high for w in worths), page)
        if factor == register.factor_text(Fraction(1), Fraction(1), page):
            continue
        sources = ", ".join(dict.fromkeys(register.source(w, page) for w in worths))
        rows.append([text(change), text(factor), text(words.name("quantity", quantity)), sources])
    head = [words.word(f"table.{c}") for c in ("difference", "factor", "quantity", "source")]
    summary = f"{text(words.word('table.factors'))} {text(bind(str(len(rows))))}"
    return f"<details><summary>{summary}</summary>{_decision(head, rows, words.word('table.difference'))}</details>"


def _pair(worth: Worth) -> tuple[Any, ...]:
    return worth.key, worth.before, worth.after, worth.quantity


def _size(end: Any) -> int:
    """A count, by which steps run upwards; other settings have no order."""
    return end if isinstance(end, int) else 0


def _place(key: str, before: Any, after: Any, _: str) -> tuple[int, int, int]:
    return DECIDING.index(key), _size(before), _size(after)


def checks_table(page: Renderer) -> str:
    """How to find out what is not known."""
    words = page.locale
    rows = [
        [
            text(words.word(f"key.{key}")),
            _code(str(getattr(check.text, page.language))),
            element("code", text(check.command)),
        ]
        for key, check in your_number.checks(page.site).items()
    ]
    head = [words.word("table.check"), words.word("table.how"), words.word("table.command")]
    return _decision(head, rows, words.word("table.check"))


def _decision(head: list[str], rows: list[list[str]], label: str) -> str:
    return f'<div class="decision">{table([text(h) for h in head], rows, label=label)}</div>'


def _code(words: str) -> str:
    parts = words.split("`")
    return "".join(element("code", text(part)) if i % 2 else text(part) for i, part in enumerate(parts))


def _setting(key: str, value: Any, page: Renderer) -> str:
    return text(page.setting_text(key, value) if value is not None else page.locale.word("not_stated"))
