"""What the data makes the pages print differently from a revision: figure by figure, sentence by sentence.

Today's pages and code read the data of both sides: changed wording is for git to show. Where the pages do not build,
figures alone are compared, and the report says so.
"""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from macros import joining, pages, printing, reading, site
from macros.figures import Figure
from macros.locale import locale
from macros.pages import Page
from macros.problems import InputError, Problem
from macros.render import Renderer
from macros.site import Site
from macros.vocabulary import EVIDENCE


@dataclass(frozen=True)
class Change:
    """One figure that prints differently, or is sure in another way; None where a side has no such figure."""

    id: str
    old: str | None
    new: str | None
    notes: tuple[str, ...]

    @property
    def words(self) -> tuple[str, str]:
        return self.old or "new", self.new or "gone"


@dataclass(frozen=True)
class Report:
    revision: str
    manifests: tuple[str, ...]  # each that is new, changed or removed, in words
    changes: tuple[Change, ...]
    sentences: tuple[tuple[str, str], ...]  # (file:line, the sentence as it will read)
    flipped: tuple[tuple[str, bool, str], ...]  # (statement, whether it holds now, why)
    trouble: str | None

    @property
    def empty(self) -> bool:
        return not (self.manifests or self.changes or self.sentences or self.flipped)


def report(root: Path, revision: str) -> Report:
    """Compares the working tree with a revision; raises InputError where one side's data does not load."""
    new = site.load(root / "results")
    with tempfile.TemporaryDirectory() as folder:
        _unpack(root, revision, Path(folder))
        old = site.load(Path(folder) / "results")
        names = dict.fromkeys([*new.figures, *old.figures])
        changes = [change for name in names if (change := _change(old.figures.get(name), new.figures.get(name)))]
        flipped = [
            (name, statement.holds, pages.explain(statement))
            for name, statement in new.statements.items()
            if name in old.statements and old.statements[name].holds != statement.holds
        ]
        sources = pages.read(root / "docs")
        problems = [p for p in pages.check(sources, new) if p.field not in new.statements]
        sentences = [] if problems else _sentences(sources, old, new, {change.id for change in changes})
    return Report(
        revision,
        tuple(_manifests(old, new)),
        tuple(changes),
        tuple(sentences),
        tuple(flipped),
        str(problems[0]) if problems else None,
    )


def _unpack(root: Path, revision: str, folder: Path) -> None:
    command = ["git", "-C", str(root), "archive", "--format=tar", revision, "results"]
    result = subprocess.run(command, capture_output=True, check=False)
    if result.returncode:
        why = result.stderr.decode("utf-8", "replace").strip().splitlines()
        found = why[0] if why else "an error of git"
        raise InputError([Problem(revision, 0, 0, "", "a git revision that holds results/", found)])
    with tarfile.open(fileobj=io.BytesIO(result.stdout)) as archive:
        archive.extractall(folder, filter="data")


def _manifests(old: Site, new: Site) -> Iterator[str]:
    """What is new, changed or gone under results/; of a run also which figure it joins, or that it joins none."""
    before, after = old.dataset.manifests, new.dataset.manifests
    notes = {run.id: joining.why(run, new) for run in joining.outside(new)}
    for figure in new.figures.values():
        notes |= dict.fromkeys(figure.manifests if figure.select else (), f"joins {figure.id}")
    for name, manifest in after.items():
        if before.get(name) != manifest:
            state = "changed" if name in before else "new"
            note = f" ({notes[name]})" if name in notes else ""
            yield f"{state}: {new.dataset.files[name]}{note}"
    for name in before:
        if name not in after:
            yield f"removed: {old.dataset.files[name]}"


def _change(before: Figure | None, after: Figure | None) -> Change | None:
    figure = after or before
    assert figure
    old, new = _printed(before), _printed(after)
    notes = tuple(_notes(before, after)) if before and after else ()
    return Change(figure.id, old, new, notes) if old != new or notes else None


def _printed(figure: Figure | None) -> str | None:
    if figure is None:
        return None
    words = locale("en")
    span = printing.span_text(figure, words)
    unit = f" {figure.unit}" if figure.unit and figure.unit not in printing.SIGNS else ""
    return printing.text(figure, words) + unit + (f" ({span})" if span else "")


def _notes(before: Figure, after: Figure) -> Iterator[str]:
    """What changed beside the text: digits, support, number of runs, status."""
    lost = printing.places(before) - printing.places(after)
    if lost > 0:
        yield f"loses {lost} digit{'s' if lost > 1 else ''}"
    measured = after.kind != "derived"
    if measured and before.n != after.n:
        yield f"n {before.n or 'not published'} → {after.n or 'not published'}"
    if before.evidence != after.evidence and before.evidence and after.evidence:
        weaker = EVIDENCE.index(after.evidence) < EVIDENCE.index(before.evidence)
        yield f"{'loses support' if weaker else 'gains support'}: {before.evidence} → {after.evidence}"
    if before.low is not None and after.low is None:
        yield "loses its spread"
    if before.status != after.status:
        yield f"{before.status} → {after.status}"
    if measured and before.manifests != after.manifests:
        yield f"from {', '.join(after.manifests)}"


def _sentences(sources: list[Page], old: Site, new: Site, changed: set[str]) -> list[tuple[str, str]]:
    """Every sentence that today's pages print differently, and every chart that draws or prints a changed figure."""
    pieces = [(page, line, piece) for page in sources for line, piece in reading.sentences(page.source)]
    pieces = [(page, line, piece) for page, line, piece in pieces if reading.MACRO.search(piece)]
    # One side after the other: what a side compares is prepared once.
    before, after = (
        [reading.plain(piece, Renderer(side, page.language, "")) for page, _, piece in pieces] for side in (old, new)
    )
    found = [
        (page.file, line, said) for (page, line, _), was, said in zip(pieces, before, after, strict=True) if was != said
    ]
    for page in sources:
        for call in page.calls:
            if call.name == "chart" and changed.intersection(new.charts[call.argument].printed):
                found.append((page.file, call.line, f"chart {call.argument}"))
    return [(f"{file}:{line}", said) for file, line, said in sorted(found, key=itemgetter(0, 1))]


def text(found: Report) -> str:
    """The report for a terminal."""
    lines = [f"Against {found.revision}:", *(f"  {said}" for said in found.manifests)]
    if found.trouble:
        lines.append(f"  no sentences, since the pages do not build: {found.trouble}")
    for change in found.changes:
        notes = f"  [{'; '.join(change.notes)}]" if change.notes else ""
        lines.append(f"  {change.id}: {' → '.join(dict.fromkeys(change.words))}{notes}")
    lines += [f"  {place}  {sentence}" for place, sentence in found.sentences]
    for name, holds, why in found.flipped:
        lines.append(f"  statement {name}: {'holds again' if holds else 'no longer holds'}: {why}")
    if found.empty:
        lines.append("  the data prints the same.")
    return "\n".join(lines)


def markdown(found: Report) -> str:
    """The report as a comment on a pull request."""
    if found.empty:
        return f"The data prints the same as at `{found.revision}`.\n"
    lines = [f"### What the pages print differently from `{found.revision}`", ""]
    if found.trouble:
        lines += [f"No sentences: the pages do not build (`{_cell(found.trouble)}`).", ""]
    lines += [*(f"- {_cell(said)}" for said in found.manifests), ""] if found.manifests else []
    lines += ["| figure | old | new | |", "| --- | --- | --- | --- |"]
    for change in found.changes:
        notes = "; ".join(change.notes)
        old, new = change.words
        lines.append(f"| `{change.id}` | {_cell(old)} | {_cell(new)} | {_cell(notes)} |")
    lines.append("")
    for name, holds, why in found.flipped:
        lines.append(f"- statement `{name}` {'holds again' if holds else '**no longer holds**'}: {_cell(why)}")
    if found.sentences:
        lines += ["", "<details><summary>In these sentences</summary>", ""]
        lines += [f"- `{place}` {_cell(sentence)}" for place, sentence in found.sentences]
        lines += ["", "</details>"]
    return "\n".join(lines) + "\n"


def _cell(value: str) -> str:
    """Text inside a Markdown table or list: inert."""
    inert = value.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "'")
    return inert.replace("@", "&#64;")
