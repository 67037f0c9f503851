"""The last step of a build: files beside the pages, the gate, and the removal of marks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from macros import binding, charts, state, usage
from macros.settings import Settings

MARKED = (".html", ".json", ".xml", ".txt", ".md")


def site(site_dir: Path, root: Path, site_url: str | None, extra: Mapping[str, Any]) -> None:
    """Completes the built site in `site_dir`; raises InputError where the gate finds something."""
    loaded, settings = state.load(root), Settings.of(site_url, extra)
    usage.fill(site_dir)
    folder = site_dir / "charts"
    folder.mkdir(exist_ok=True)
    for name, content in charts.files(loaded, settings):
        (folder / name).write_bytes(content)
    for path in sorted(site_dir.rglob("*")):
        if path.suffix in MARKED:
            marked = path.read_text("utf-8")
            text = binding.strip(marked)
            if text != marked:
                path.write_text(text, "utf-8")
