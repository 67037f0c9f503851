"""What must happen once, around both languages' builds: thin, since mkdocs serve never reloads this file."""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

# The address of links while the site's own is not set.
LOCALHOST = "http://127.0.0.1:8000/"
_serving = False


def on_startup(command: str, dirty: bool) -> None:
    """Remembers whether this is a preview. Where that was asked for, only warnings and errors are printed."""
    global _serving
    _serving = command == "serve"
    # Nearly all that a build makes stays until its end: looking through it for garbage every 700 objects took 0.3 s.
    gc.set_threshold(100_000)
    if os.environ.get("SITE_QUIET"):
        # Not mkdocs's own --quiet: it keeps warnings from being printed, and from stopping a strict build.
        logging.getLogger("mkdocs").setLevel(logging.WARNING)


def on_config(config: Any) -> Any:
    """Settles address and time, checks all input. Under `mkdocs serve` edits count, since the package is forgotten."""
    config.site_url = config.site_url or LOCALHOST
    if not config.plugins["i18n"].building:
        for name in [n for n in sys.modules if n == "macros" or n.startswith("macros.")]:
            del sys.modules[name]
        _stop_at(_checked, config)
    return config


def _checked(config: Any) -> None:
    from macros import clock, draw_ahead
    from macros.checks import checked
    from macros.settings import Settings

    settings = Settings.of(config.site_url, config.extra)
    settings.check()
    root = Path(config.config_file_path).parent
    site, _ = checked(root)
    # The theme and the site map take their dates from it.
    os.environ["SOURCE_DATE_EPOCH"] = str(int(clock.built(root, site).timestamp()))
    draw_ahead.start(site, settings)


def _finished(config: Any) -> None:
    from macros import finish

    root = Path(config.config_file_path).parent
    finish.site(Path(config.site_dir), root, config.site_url, config.extra, _serving)


def _stop_at(step: Callable[[Any], None], config: Any) -> None:
    """Runs a step; its problems end the build with their own text instead of a traceback."""
    try:
        step(config)
    except Exception as error:
        # By name: the class of the error is another one after the package was forgotten.
        if type(error).__name__ != "InputError":
            raise
        raise click.ClickException(str(error)) from None


on_config.mkdocs_priority = 100  # type: ignore[attr-defined]  # before the plugins see the configuration


def on_env(env: Any, config: Any, files: Any) -> Any:
    """Keeps the theme's compiled templates between builds; jinja compares their sources."""
    from macros.template_cache import TemplateCache

    env.bytecode_cache = TemplateCache(Path(config.config_file_path).parent / ".cache" / "templates")
    return env


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Puts in what Markdown need not read, and explains each term of the glossary at its first use."""
    from macros import blocks, glossary, state

    return glossary.of_page(blocks.fill_read(html), state.loaded().glossary, page.file.src_uri, page.url)


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Puts in the rest: charts and details."""
    from macros import blocks, early_scripts

    return blocks.finish(early_scripts.first(output))


def on_post_build(config: Any) -> None:
    """Writes the files beside the pages, then reads the whole site as its readers will."""
    if not config.plugins["i18n"].building:
        _stop_at(_finished, config)
        if config.site_url == LOCALHOST:
            click.echo(f"site_url is not set in mkdocs.yml: absolute links lead to {LOCALHOST}", err=True)


on_post_build.mkdocs_priority = -200  # type: ignore[attr-defined]  # after static-i18n (-100) built both
