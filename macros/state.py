"""The site's input of this build, loaded once for both languages and again when a file under results/ changes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from macros import site
from macros.site import Site
from macros.vocabulary import Language


@dataclass(frozen=True)
class Rendered:
    """A page as it left the macros: marked texts. `path` is relative to its language's root, empty for its home."""

    language: Language
    path: str
    site_name: str
    title: str
    description: str
    markdown: str


# The pages of the build under way, for what is written beside them at its end.
rendered: dict[tuple[Language, str], Rendered] = {}
_loaded: tuple[object, Site] | None = None


def load(root: Path) -> Site:
    """The input under `root`/results; the same object while no file there changes."""
    global _loaded
    results = root / "results"
    key = (results, tuple((p, p.stat().st_mtime_ns, p.stat().st_size) for p in sorted(results.rglob("*.y*ml"))))
    if _loaded is None or _loaded[0] != key:
        _loaded = (key, site.load(results))
    return _loaded[1]


def loaded() -> Site:
    """What `load` loaded last."""
    assert _loaded is not None
    return _loaded[1]
