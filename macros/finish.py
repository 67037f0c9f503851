"""The last step of a build: files beside the pages, the gate, and the removal of marks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from macros import (
    binding,
    charts,
    clock,
    csp,
    explainer,
    exports,
    feeds,
    markup,
    pages,
    pauses,
    register_data,
    social,
    state,
    typography,
    usage,
    used_styles,
)
from macros.gate import Gate
from macros.problems import InputError
from macros.settings import Settings
from macros.site import Site
from macros.vocabulary import LANGUAGES

# What `sha256sum --check` reads.
CHECKSUMS = "checksums.txt"
MARKED = (".html", ".json", ".csv", ".xml", ".txt", ".md")


def site(site_dir: Path, root: Path, site_url: str | None, extra: Mapping[str, Any], serving: bool = False) -> None:
    """Completes the built site in `site_dir`; raises InputError where the gate finds something.

    A preview (`serving`) gets a script that reloads it, so it gets no policy.
    """
    loaded, settings = state.load(root), Settings.of(site_url, extra)
    usage.fill(site_dir)
    folder = site_dir / "charts"
    folder.mkdir(exist_ok=True)
    for name, wanted in charts.files(loaded, settings):
        (folder / name).write_bytes(charts.CACHE.get(wanted))
    for name, wanted in social.files(loaded, settings):
        _write(site_dir / name, charts.CACHE.get(wanted))
    charts.CACHE.tidy()
    for name, text in _texts(loaded, settings, clock.built(root, loaded)):
        _write(site_dir / name, text.encode())
    for manifest_id, file in loaded.dataset.files.items():
        _write(site_dir / "data" / "manifests" / f"{manifest_id}.yaml", (root / file).read_bytes())
    gate = Gate(loaded, pages.read(root / "docs"), root)
    gate.site_folder(site_dir)
    if gate.problems:
        raise InputError(gate.problems)
    clean(site_dir)
    used_styles.put_in(site_dir, root / ".cache" / "styles")
    pauses.put_in(site_dir)
    if not serving:
        csp.add(site_dir)
    _write(site_dir / CHECKSUMS, _checksums(site_dir).encode())


def _texts(loaded: Site, settings: Settings, built: datetime) -> Iterator[tuple[str, str]]:
    """The text files beside the pages, marked like them."""
    yield from exports.files(loaded, settings)
    yield from register_data.files(loaded, settings)
    yield "llms.txt", explainer.llms(state.rendered.values(), loaded, settings)
    yield "robots.txt", explainer.robots(settings)
    for language in LANGUAGES:
        folder = "" if language == "en" else f"{language}/"
        yield f"{folder}feed.xml", feeds.atom(loaded, language, settings, built)
        if home := state.rendered.get((language, "")):
            yield f"{folder}index.md", explainer.markdown(home, settings)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _checksums(site_dir: Path) -> str:
    files = {p.relative_to(site_dir).as_posix(): p for p in site_dir.rglob("*") if p.is_file()}
    files.pop(CHECKSUMS, None)
    return "".join(f"{hashlib.sha256(files[name].read_bytes()).hexdigest()}  {name}\n" for name in sorted(files))


def _unindented(page: str) -> str:
    """A page without the templates' indentation, which no reader sees; code and scripts stay as they are."""
    pieces = re.split(r"(<(?:pre|script|textarea)\b.*?</(?:pre|script|textarea)>)", page, flags=re.DOTALL)
    return "".join(piece if index % 2 else re.sub(r"\n[ \t\n]+", "\n", piece) for index, piece in enumerate(pieces))


def clean(site_dir: Path) -> None:
    """Takes the marks out of every file, and what no reader needs out of pages; sets the Russian pages' spaces."""
    for path in sorted(site_dir.rglob("*")):
        if path.suffix not in MARKED:
            continue
        marked = path.read_text("utf-8")
        # JSON writes the marks as escapes.
        text = re.sub(r"\\(ue00[0-3])", lambda m: chr(int(m[1][1:], 16)), marked) if path.suffix == ".json" else marked
        text = binding.strip(text)
        if path.suffix == ".html":
            text = markup.written_out(text)
            if path.relative_to(site_dir).parts[0] == "ru":
                text = typography.russian(text)
            text = _unindented(text)
        if text != marked:
            path.write_text(text, "utf-8")
