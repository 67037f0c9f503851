"""The face to mkdocs-macros: names the macros that pages may use, and what happens around them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from macros import (
    blocks,
    charts,
    citation,
    corrections,
    examples,
    exports,
    foot,
    glossary,
    inline,
    links,
    listings,
    metadata,
    method,
    points,
    register_macros,
    sides,
    state,
    timeline,
)
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
    root = Path(env.conf.config_file_path).parent
    try:
        site = state.load(root)
    except InputError as error:
        raise click.ClickException(str(error)) from None

    def page() -> Renderer:
        language = _language(env)
        depth = env.page.url.count("/") - (1 if language == "ru" else 0)
        return Renderer(site, language, "../" * depth)

    def macro(name: str) -> Callable[[Callable[..., str]], None]:
        def register(function: Callable[..., str]) -> None:
            env.macro(function, name)

        return register

    for name, function in (inline.macros(page) | register_macros.of(page, settings)).items():
        macro(name)(function)
    macro("timeline")(lambda: blocks.keep(timeline.html(page().locale), unread=True))
    macro("contact")(lambda: links.contact(page().locale, settings))
    macro("article")(lambda: links.article(page().locale, settings))
    macro("chart")(lambda chart_id: blocks.keep(charts.html(chart_id, page(), settings), unread=True))
    macro("points")(lambda *runs: points.points(page(), *runs))
    macro("sides")(lambda *manifests: sides.sides(page(), *manifests))
    macro("glossary_list")(lambda: blocks.keep(glossary.listing(site.glossary, page().locale)))
    macro("tools")(lambda: method.tools(page()))
    macro("repeats_needed")(lambda: method.needed_table(page()))
    macro("repeats_assumed")(lambda *figures: method.assumed_table(page(), *figures))
    macro("rule")(lambda name: method.rule(name))
    macro("checklist")(lambda: method.checklist(page()))
    macro("figures_list")(lambda: blocks.keep(listings.figures(page(), settings)))
    macro("runs_list")(lambda: blocks.keep(listings.runs(page(), settings)))

    macro("corrections_list")(lambda: blocks.keep(corrections.html(page())))
    macro("bibtex")(lambda: citation.bibtex(page().locale, settings))
    macro("format_version")(lambda: exports.version(page().locale))
    macro("address")(lambda path: settings.address + path)
    macro("feed_address")(lambda: metadata.address(settings, page().language, "feed.xml"))
    macro("example")(lambda name: examples.block(root, name))

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
    """Appends the statements that a page rests on, hands the page to the exports and writes its head."""
    language = _language(env)
    whole = blocks.fill(env.markdown)
    foot_note = foot.statements(whole, state.loaded(), language)
    env.markdown += foot_note
    path = env.page.url.removeprefix("./").removeprefix("" if language == "en" else f"{language}/")
    title, description = (str(env.page.meta.get(key, "")) for key in RENDERED_META)
    page = state.Rendered(language, path, env.conf["site_name"], title, description, whole + foot_note)
    state.rendered[language, path] = page
    settings = Settings.of(env.conf["site_url"], env.conf["extra"])
    env.page.meta["head"] = metadata.head(page, Renderer(state.loaded(), language, ""), settings)


def _language(env: Any) -> Language:
    return "ru" if env.page.file.src_uri.startswith("ru/") else "en"
