"""All checks that need no built page: manifests, figures, statements and the sources of all pages."""

from __future__ import annotations

from pathlib import Path

from macros import pages, state
from macros.problems import InputError
from macros.site import Site


def checked(root: Path) -> tuple[Site, list[pages.Page]]:
    """The site's input and pages, when nothing is wrong with them; else InputError with all problems."""
    site = state.load(root)
    sources = pages.read(root / "docs")
    problems = pages.check(sources, site)
    if problems:
        raise InputError(problems)
    return site, sources
