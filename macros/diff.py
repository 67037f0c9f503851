"""What the built pages would print differently from a revision: figure by figure, sentence by sentence.

Both sides are rendered by today's code, each on its own data and pages. Where the old pages do not build, figures
alone are compared, and the report says so.
"""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from macros import joining, pages, printing, site
from macros.figures import Figure
from macros.locale import locale
from macros.pages import Page
from macros.problems import InputError, Problem
from macros.site import Site
from macros.vocabulary import EVIDENCE


@dataclass(frozen=True)
class Side:
    """One side of the comparison. `pages` is empty where they do not fit today's code; `trouble` says why."""

    site: Site
    pages: list[Page]
    trouble: str | None


@dataclass(frozen=True)
class Change:
    """One figure that prints differently, or is sure in another way; None where a side has no such figure."""

    id: str
    old: str | None
    new: str | None
    notes: tuple[str, ...]
    sentences: tuple[tuple[str, str], ...]  # (file:line, the sentence as it will read)


@dataclass(frozen=True)
class Report:
    revision: str
    manifests: tuple[str, ...]  # each that is new, changed or removed, in words
    changes: tuple[Change, ...]
    flipped: tuple[tuple[str, bool, str], ...]  # (statement, whether it holds now, why)
    trouble: str | None

    @property
    def empty(self) -> bool:
        return not self.manifests and not self.changes and not self.flipped


def report(root: Path, revision: str) -> Report:
    """Compares the working tree with a revision; raises InputError where one side's data does not load."""
    new = _side(root)
    with tempfile.TemporaryDirectory() as folder:
        _unpack(root, revision, Path(folder))
        old = _side(Path(folder))
    names = dict.fromkeys([*new.site.figures, *old.site.figures])
    changes = [change for name in names if (change := _change(name, old, new))]
    flipped = [
        (name, statement.holds, pages.explain(statement))
        for name, statement in new.site.statements.items()
        if name in old.site.statements and old.site.statements[name].holds != statement.holds
    ]
    manifests = tuple(_manifests(old.site, new.site))
    return Report(revision, manifests, tuple(changes), tuple(flipped), old.trouble or new.trouble)


def _unpack(root: Path, revision: str, folder: Path) -> None:
    command = ["git", "-C", str(root), "archive", "--format=tar", revision, "results", "docs"]
    result = subprocess.run(command, capture_output=True, check=False)
    if result.returncode:
        why = result.stderr.decode("utf-8", "replace").strip().splitlines()
        found = why[0] if why else "an error of git"
        raise InputError([Problem(revision, 0, 0, "", "a git revision that holds results/ and docs/", found)])
    with tarfile.open(fileobj=io.BytesIO(result.stdout)) as archive:
        archive.extractall(folder, filter="data")


def _side(root: Path) -> Side:
    loaded = site.load(root / "results")
    sources = pages.read(root / "docs")
    problems = [p for p in pages.check(sources, loaded) if p.field not in loaded.statements]
    if problems:
        return Side(loaded, [], str(problems[0]))
    return Side(loaded, sources, None)


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


def _change(name: str, old: Side, new: Side) -> Change | None:
    before, after = old.site.figures.get(name), new.site.figures.get(name)
    old_text, new_text = _printed(before, old.site), _printed(after, new.site)
    notes = tuple(_notes(before, after)) if before and after else ()
    if old_text == new_text and not notes:
        return None
    return Change(name, old_text, new_text, notes, tuple(_sentences(name, new)))


def _printed(figure: Figure | None, of: Site) -> str | None:
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
    if before.n != after.n:
        yield f"n {before.n or 'not published'} → {after.n or 'not published'}"
    if before.evidence != after.evidence and before.evidence and after.evidence:
        weaker = EVIDENCE.index(after.evidence) < EVIDENCE.index(before.evidence)
        yield f"{'loses support' if weaker else 'gains support'}: {before.evidence} → {after.evidence}"
    if before.low is not None and after.low is None:
        yield "loses its spread"
    if before.status != after.status:
        yield f"{before.status} → {after.status}"
    if before.manifests != after.manifests:
        yield f"from {', '.join(after.manifests)}"


def _sentences(name: str, side: Side) -> Iterator[tuple[str, str]]:
    for page in side.pages:
        for call in page.calls:
            if call.name in pages.FIGURE_MACROS and call.argument == name:
                sentence = pages.readable(page.sentence_around(call), side.site, page.language)
                yield f"{page.file}:{call.line}", sentence
            elif call.name == "chart" and name in side.site.charts[call.argument].printed:
                yield f"{page.file}:{call.line}", f"chart {call.argument}"


def text(found: Report) -> str:
    """The report for a terminal."""
    lines = [f"Against {found.revision}:"]
    if found.trouble:
        lines.append(f"  figures only, since the pages of one side do not build: {found.trouble}")
    lines += [f"  {said}" for said in found.manifests]
    for change in found.changes:
        notes = f"  [{'; '.join(change.notes)}]" if change.notes else ""
        lines.append(f"  {change.id}: {change.old or 'new'} → {change.new or 'gone'}{notes}")
        lines += [f"      {place}  {sentence}" for place, sentence in change.sentences]
    for name, holds, why in found.flipped:
        lines.append(f"  statement {name}: {'holds again' if holds else 'no longer holds'}: {why}")
    if found.empty:
        lines.append("  the pages print the same.")
    return "\n".join(lines)


def markdown(found: Report) -> str:
    """The report as a comment on a pull request."""
    if found.empty:
        return f"The pages print the same as at `{found.revision}`.\n"
    lines = [f"### What the pages print differently from `{found.revision}`", ""]
    if found.trouble:
        lines += [f"Figures only: the pages of one side do not build (`{_cell(found.trouble)}`).", ""]
    lines += [*(f"- {_cell(said)}" for said in found.manifests), ""] if found.manifests else []
    lines += ["| figure | old | new | |", "| --- | --- | --- | --- |"]
    for change in found.changes:
        notes = "; ".join(change.notes)
        old, new = change.old or "new", change.new or "gone"
        lines.append(f"| `{change.id}` | {_cell(old)} | {_cell(new)} | {_cell(notes)} |")
    lines.append("")
    for name, holds, why in found.flipped:
        lines.append(f"- statement `{name}` {'holds again' if holds else '**no longer holds**'}: {_cell(why)}")
    places = [(place, sentence) for change in found.changes for place, sentence in change.sentences]
    if places:
        lines += ["", "<details><summary>In these sentences</summary>", ""]
        lines += [f"- `{place}` {_cell(sentence)}" for place, sentence in dict.fromkeys(places)]
        lines += ["", "</details>"]
    return "\n".join(lines) + "\n"


def _cell(value: str) -> str:
    """Text inside a Markdown table or list: inert."""
    inert = value.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "'")
    return inert.replace("@", "&#64;")
