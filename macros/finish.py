"""The last step of a build: files beside the pages, the gate, and the removal of marks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from macros import binding, charts, pages, state, typography
from macros.gate import Gate
from macros.problems import InputError
from macros.settings import Settings

MARKED = (".html", ".json", ".xml", ".txt", ".md")


def site(site_dir: Path, root: Path, site_url: str | None, extra: Mapping[str, Any]) -> None:
    """Completes the built site in `site_dir`; raises InputError where the gate finds something."""
    loaded, settings = state.load(root), Settings.of(site_url, extra)
    folder = site_dir / "charts"
    folder.mkdir(exist_ok=True)
    for name, content in charts.files(loaded, settings):
        (folder / name).write_bytes(content)
    gate = Gate(loaded, pages.read(root / "docs"), root)
    gate.site_folder(site_dir)
    if gate.problems:
        raise InputError(gate.problems)
    clean(site_dir)


def clean(site_dir: Path) -> None:
    """Takes the marks out of every file and sets the Russian pages' spaces."""
    for path in sorted(site_dir.rglob("*")):
        if path.suffix not in MARKED:
            continue
        marked = path.read_text("utf-8")
        # JSON writes the marks as escapes.
        text = re.sub(r"\\(ue00[0-3])", lambda m: chr(int(m[1][1:], 16)), marked) if path.suffix == ".json" else marked
        text = binding.strip(text)
        if path.suffix == ".html" and path.relative_to(site_dir).parts[0] == "ru":
            text = typography.russian(text)
        if text != marked:
            path.write_text(text, "utf-8")
