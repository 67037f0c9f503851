"""The generated parts of the method and reproduce pages: tool labels, numbers of repeats, rules, and the checklist."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from macros import repeats
from macros.binding import bind
from macros.manifests import COMPARED
from macros.markup import element, table, text
from macros.render import Renderer
from macros.site import Label
from macros.statements import RESOLVED_RUNS
from macros.statistics import FEW
from macros.vocabulary import METHODOLOGY_V1_REPEATS, QUESTIONS

# Beside the compared keys: what a measurement needs.
MEASURED = ("value", "n", "samples", "acceptance")


# Numbers of the method that the code keeps, by the name that a page asks for.
RULES = {
    "few": str(FEW),
    "methodology_repeats": str(METHODOLOGY_V1_REPEATS),
    "resolved_runs": str(RESOLVED_RUNS),
    "interval": "95%",
    "factor": f"{float(repeats.FACTOR):g}",
}


def rule(name: str) -> str:
    """A number that the method fixes."""
    return bind(RULES[name])


def tools(page: Renderer) -> str:
    """One table for each tool; a row is a label."""
    words = page.locale
    head = [text(words.word(f"tools.{name}")) for name in ("label", "means", "note")]
    parts = []
    for tool in page.site.tools.values():
        rows = [
            [
                _label(label),
                text(words.name("quantity", label.means) if label.means else words.word("no_quantity")),
                text(str(getattr(label.note, page.language))),
            ]
            for label in tool.labels
        ]
        name = bind(tool.name)
        parts.append(element("p", f"<strong>{text(name)}</strong>", class_="tool") + table(head, rows, name))
    return "".join(parts)


def _label(label: Label) -> str:
    names = (element("code", text(bind(name)).replace("&#95;", "&#95;<wbr>")) for name in label.label.split(", "))
    return " ".join(names) + (f" <small>{text(bind(label.versions))}</small>" if label.versions else "")


def needed_table(page: Renderer) -> str:
    """Differences by deviations."""
    given = page.site.repeats
    head = [text(page.locale.word("repeats.difference")), *(_per_cent(cv, "CV ") for cv in given.deviations)]
    rows = [
        [_per_cent(delta), *(bind(str(repeats.needed(Fraction(cv), Fraction(delta)))) for cv in given.deviations)]
        for delta in given.differences
    ]
    return table(head, rows, page.locale.word("repeats.needed"))


def assumed_table(page: Renderer, *figure_ids: str) -> str:
    """The deviation of each figure's runs for each assumed number of runs."""
    assumed = page.site.repeats.assumed
    head = [text(page.locale.word("column.what")), *(f"n = {bind(str(one.runs))}" for one in assumed)]
    rows = [
        [
            text(str(getattr(page.get(name).label, page.language))),
            *(bind(f"{repeats.deviation(page.get(name), one.span_factor)}%") for one in assumed),
        ]
        for name in figure_ids
    ]
    return table(head, rows, page.locale.word("repeats.assumed"))


def _per_cent(value: Decimal, before: str = "") -> str:
    return f"{before}{bind(f'{value}%')}"


def checklist(page: Renderer) -> str:
    """The compared keys, grouped by the page's questions, then what is written down of each measurement."""
    words = page.locale
    parts = []
    for question in QUESTIONS:
        keys = [key for key, asked in COMPARED.items() if asked == question]
        items = "".join(f"<li>{text(words.word(f'key.{key}'))}</li>" for key in keys)
        parts.append(_group(words.word(f"question.{question}"), items, f"q-{question}"))
    items = "".join(f"<li>{text(words.word(f'record.{name}'))}</li>" for name in MEASURED)
    parts.append(_group(words.word("record.title"), items, ""))
    return f'<div class="checklist">{"".join(parts)}</div>'


def _group(title: str, items: str, css: str) -> str:
    return element("div", f"<p><strong>{text(title)}</strong></p><ul>{items}</ul>", class_=f"checks {css}".strip())
