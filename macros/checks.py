"""All checks that need no built page: manifests, figures, statements and the sources of all pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from macros import pages, state, strict_yaml, word_lists
from macros.problems import InputError, Problem
from macros.site import Site


def checked(root: Path) -> tuple[Site, list[pages.Page]]:
    """The site's input and pages, when nothing is wrong with them; else InputError with all problems."""
    site = state.load(root)
    sources = pages.read(root / "docs")
    word_lists.read(site.results)
    problems = [*_marked(root), *pages.check(sources, site)]
    if problems:
        raise InputError(problems)
    return site, sources


def _marked(root: Path) -> Iterator[Problem]:
    """Characters that nobody sees in what else is printed: the gate's marks could be forged with them."""
    for path in [root / "mkdocs.yml", *sorted((root / "overrides").rglob("*.html"))]:
        file = path.relative_to(root).as_posix()
        raw, problems = strict_yaml.read_bytes(path, file)
        text, more = strict_yaml.decode(raw, file) if raw is not None else (None, [])
        yield from problems + more
        yield from strict_yaml.escapes(text or "", file)
