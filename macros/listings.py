"""The generated lists: every figure with its entry, every manifest readable."""

from __future__ import annotations

import re
from collections.abc import Iterable

from macros.binding import bind
from macros.figures import Figure
from macros.manifests import COMPARED, Manifest, Run, setting
from macros.markup import NBSP, element, text
from macros.render import Renderer
from macros.vocabulary import QUESTIONS


def figures(page: Renderer) -> str:
    """One anchored entry for each figure, grouped by the page's questions."""
    parts = []
    for question in QUESTIONS:
        group = [figure for figure in page.site.figures.values() if figure.question == question]
        if group:
            title = text(page.locale.word(f"question.{question}"))
            parts.append(f'<h2 id="question-{question}" class="q-{question}">{title}</h2>')
            parts += [_entry(figure, page) for figure in group]
    return "\n".join(parts)


def _entry(figure: Figure, page: Renderer) -> str:
    words = page.locale
    value = page.data(figure) + page.unit(figure)
    if figure.status != "current":
        value = f'<s>{value}</s> <small class="status">({words.word(figure.status)})</small>'
    rows = list(_facts(figure, page))
    facts = "".join(f"<dt>{text(name)}</dt><dd>{content}</dd>" for name, content in rows)
    label = text(str(getattr(figure.label, page.language)))
    link = element("a", "#", class_="headerlink", href=f"#{figure.id}", title=words.word("permalink"))
    return (
        f'<section class="entry q-{figure.question}" id="{figure.id}">'
        f"<h3>{label}: {value} {link}</h3>"
        f"<dl>{facts}</dl></section>"
    )


def _facts(figure: Figure, page: Renderer) -> Iterable[tuple[str, str]]:
    words = page.locale
    yield words.word("fact.kind"), text(words.name("kind", figure.kind))
    if figure.kind != "derived":
        for group, value in (
            ("quantity", figure.quantity),
            ("statistic", figure.statistic),
            ("vantage", figure.config.get("method.vantage")),
            ("window", figure.config.get("method.window")),
        ):
            yield words.word(f"fact.{group}"), text(words.name(group, value))
    if figure.value is not None and figure.kind != "derived":
        yield words.word("fact.spread"), text(page.spread(figure))
    if figure.kind != "derived":
        yield words.word("fact.n"), text(bind(str(figure.n)) if figure.n else words.word("not_published"))
    if figure.formula:
        yield words.word("fact.formula"), formula(figure, page)
    if figure.evidence:
        meaning = text(words.name("evidence_meaning", figure.evidence))
        yield words.word("fact.evidence"), f"{text(words.name('evidence', figure.evidence))}: {meaning}"
    date = bind(figure.date.isoformat()) if figure.date else words.word("not_published")
    if figure.kind != "derived":
        yield words.word("fact.date"), text(date)
    yield from _settings(figure, page)
    links = [
        element("a", f"<code>{text(bind(name))}</code>", href=f"{page.root}runs/#{name}") for name in figure.manifests
    ]
    if links:
        yield words.word("fact.manifests"), ", ".join(links)


def _settings(figure: Figure, page: Renderer) -> Iterable[tuple[str, str]]:
    words = page.locale
    known = [(key, figure.config.get(key)) for key in COMPARED if figure.config.get(key) is not None]
    if known:
        shown = [f"{text(words.word(f'key.{key}'))}: {text(page.setting_text(key, value))}" for key, value in known]
        yield words.word("fact.configuration"), "; ".join(shown)
    if figure.differing:
        differing = [text(words.word(f"key.{key}")) for key in figure.differing]
        yield words.word("fact.differing"), ", ".join(differing)
    if figure.unstated:
        yield words.word("fact.unstated"), text(", ".join(words.word(f"key.{key}") for key in figure.unstated))


def formula(figure: Figure, page: Renderer) -> str:
    """The formula in words, with its operands linked."""
    assert figure.formula
    if figure.formula.measurement:
        run_id, _, name = figure.formula.measurement.partition("/")
        m = next(m for m in page.site.dataset.runs[run_id].measurements if m.id == name)
        counts = bind(f"{m.drafts} / {m.seconds}") + NBSP + page.locale.word("unit.s")
        return text(page.locale.word(f"formula.{figure.formula.kind}").replace("{0}", counts))
    links = [
        f"{text(str(getattr(operand.label, page.language)))} ({page.linked(operand)})"
        for operand in (page.get(name, superseded=True) for name in figure.formula.of)
    ]
    # The digits of a formula are part of its definition.
    pattern = text(re.sub(r"\d+(?!\})", lambda m: bind(m[0]), page.locale.word(f"formula.{figure.formula.kind}")))
    # The pattern's braces were made inert with the rest of its text.
    pattern = pattern.replace("&#123;", "{").replace("&#125;", "}")
    return pattern.format(*links, all="; ".join(links), rest=" · ".join(links[2:]))


def runs(page: Renderer) -> str:
    """Every manifest, readable, with what is not published said plainly."""
    return "\n".join(_manifest(manifest, page) for manifest in page.site.dataset.manifests.values())


def _manifest(manifest: Manifest, page: Renderer) -> str:
    words = page.locale
    facts = "".join(
        f"<dt>{text(words.word(f'key.{key}'))}</dt><dd>{text(page.setting_text(key, setting(manifest, key)))}</dd>"
        for key in COMPARED
    )
    drawn = [f for f in page.site.figures.values() if manifest.id in f.manifests and f.kind != "derived"]
    figures_drawn = ", ".join(f"{text(str(getattr(f.label, page.language)))} {page.linked(f)}" for f in drawn)
    if isinstance(manifest, Run) and manifest.missing:
        figures_drawn = text(str(getattr(manifest.missing, page.language)))
    return (
        f'<section class="entry" id="{manifest.id}"><h2><code>{text(bind(manifest.id))}</code></h2>'
        f"<p>{figures_drawn}</p><dl>{facts}</dl></section>"
    )
