"""What must happen once, around both languages' builds: thin, since mkdocs serve never reloads this file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Under `mkdocs serve`, lets edited code count: forgets the package before each build."""
    if not config.plugins["i18n"].building:
        for name in [n for n in sys.modules if n == "macros" or n.startswith("macros.")]:
            del sys.modules[name]
    return config


on_config.mkdocs_priority = 100  # type: ignore[attr-defined]  # before the plugins see the configuration


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Explains each term of the glossary at its first use."""
    from macros import glossary, state

    return glossary.of_page(html, state.loaded().glossary, page.file.src_uri, page.url)


def on_post_build(config: Any) -> None:
    """Writes the files beside the pages, then reads the whole site as its readers will."""
    if config.plugins["i18n"].building:
        return
    from macros import finish  # here, since on_config forgets it

    root = Path(config.config_file_path).parent
    if problems := finish.site(Path(config.site_dir), root, config.site_url, config.extra):
        raise SystemExit(f"\n{problems}")


on_post_build.mkdocs_priority = -200  # type: ignore[attr-defined]  # after static-i18n (-100) built both
