"""The face to mkdocs-macros: names the macros that pages may use, and nothing more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from macros import charts, foot, glossary, links, listings, method, points, sides, state, timeline
from macros.binding import statement
from macros.problems import InputError
from macros.render import PageError, Renderer
from macros.settings import Settings
from macros.vocabulary import Language

# Front matter that templates print: the macros plugin renders the title in the text only.
RENDERED_META = ("title", "description")


def define_env(env: Any) -> None:
    """Registers the macros. The language is asked for when a macro is called: here it is still the last one's."""
    settings = Settings.of(env.conf["site_url"], env.conf["extra"])
    try:
        site = state.load(Path(env.conf.config_file_path).parent)
    except InputError as error:
        raise click.ClickException(str(error)) from None

    def page() -> Renderer:
        language: Language = "ru" if env.page.file.src_uri.startswith("ru/") else "en"
        depth = env.page.url.count("/") - (1 if language == "ru" else 0)
        return Renderer(site, language, "../" * depth)

    def macro(name: str) -> Callable[[Callable[..., str]], None]:
        def register(function: Callable[..., str]) -> None:
            env.macro(function, name)

        return register

    macro("figure")(lambda *a, **k: page().figure(*a, **k))
    macro("heading")(lambda *a, **k: page().heading(*a, **k))
    macro("plain")(lambda *a, **k: page().plain(*a, **k))
    macro("setting")(lambda *a, **k: page().setting(*a, **k))
    macro("evidence")(lambda *a, **k: page().evidence(*a, **k))
    macro("verdict")(lambda *a, **k: page().verdict(*a, **k))
    macro("times")(lambda *a, **k: page().times(*a, **k))
    macro("changed")(lambda comparison_id: page().changed(comparison_id))
    macro("timeline")(lambda: timeline.html(page().locale))
    macro("contact")(lambda: links.contact(page().locale, settings))
    macro("article")(lambda: links.article(page().locale, settings))
    macro("chart")(lambda chart_id: charts.html(chart_id, page(), settings))
    macro("points")(lambda *runs: points.points(page(), *runs))
    macro("sides")(lambda *manifests: sides.sides(page(), *manifests))
    macro("glossary_list")(lambda: glossary.listing(site.glossary, page().locale))
    macro("tools")(lambda: method.tools(page()))
    macro("repeats_needed")(lambda: method.needed_table(page()))
    macro("repeats_assumed")(lambda *figures: method.assumed_table(page(), *figures))
    macro("rule")(lambda name: method.rule(name))
    macro("checklist")(lambda: method.checklist(page()))
    macro("figures_list")(lambda: listings.figures(page()))
    macro("runs_list")(lambda: listings.runs(page()))

    @env.macro  # type: ignore[untyped-decorator]
    def states(statement_id: str) -> str:
        if statement_id not in site.statements:
            raise PageError(f"unknown statement {statement_id!r}")
        return statement(statement_id)


def on_pre_page_macros(env: Any) -> None:
    """Fills figures into the front matter."""
    for key in RENDERED_META:
        if key in env.page.meta:
            env.page.meta[key] = env.render(env.page.meta[key], force_rendering=True)


def on_post_page_macros(env: Any) -> None:
    """Appends the list of the statements that this page rests on."""
    language: Language = "ru" if env.page.file.src_uri.startswith("ru/") else "en"
    env.markdown += foot.statements(env.markdown, state.loaded(), language)
