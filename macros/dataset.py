"""Everything under `results/`, read and validated together."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

from macros import manifests, strict_yaml
from macros.manifest_cache import ManifestCache
from macros.manifests import Comparison, Manifest, Model, PublishedFigure, Run
from macros.problems import InputError, Problem

FOLDERS: dict[str, type[Manifest]] = {"runs": Run, "comparisons": Comparison, "published": PublishedFigure}
M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class Dataset:
    """All manifests by id. `files` names each manifest's file as messages print it."""

    runs: Mapping[str, Run]
    comparisons: Mapping[str, Comparison]
    published: Mapping[str, PublishedFigure]
    files: Mapping[str, str]
    results: Path

    @property
    def manifests(self) -> dict[str, Manifest]:
        return {**self.runs, **self.comparisons, **self.published}

    def problem(self, manifest_id: str, path: tuple[str | int, ...], expected: str, found: str) -> Problem:
        """A mistake in a manifest, with its place in the file."""
        return _placed(self.results, self.files[manifest_id], path, expected, found)


def load(results: Path) -> Dataset:
    """Reads every manifest; raises InputError with the problems of all of them.

    What is read is kept in `.cache/manifests` beside `results`, for the next time.
    """
    problems: list[Problem] = []
    found: dict[str, Manifest] = {}
    files: dict[str, str] = {}
    with _uncollected():
        for file, manifest, more in _all(results):
            problems += more
            if manifest is None:
                continue
            if manifest.id in found:
                expected = "an id that no other manifest has"
                problems.append(Problem(file, 1, 1, "id", expected, f"{manifest.id}, as in {files[manifest.id]}"))
            found[manifest.id], files[manifest.id] = manifest, file
    # A manifest with mistakes is not there to be referred to, which is no mistake of the others.
    if not problems:
        problems += _references(found, files)
    if problems:
        raise InputError(problems)
    return Dataset(
        runs={k: m for k, m in found.items() if isinstance(m, Run)},
        comparisons={k: m for k, m in found.items() if isinstance(m, Comparison)},
        published={k: m for k, m in found.items() if isinstance(m, PublishedFigure)},
        files=files,
        results=results,
    )


def _all(results: Path) -> Iterator[tuple[str, Manifest | None, list[Problem]]]:
    """Every manifest's file as messages print it, the manifest or None, and its problems."""
    paths = [
        (path, f"{results.name}/{folder}/{path.name}", kind)
        for folder, kind in FOLDERS.items()
        for path in sorted((results / folder).glob("*.y*ml"), key=attrgetter("name"))
    ]
    # All are read before any is checked: taking turns took a quarter longer.
    contents = [strict_yaml.read_bytes(path, file) for path, file, _ in paths]
    cache = ManifestCache(results.parent / ".cache" / "manifests")
    for (path, file, kind), (raw, problems) in zip(paths, contents, strict=True):
        if raw is None:
            yield file, None, problems
        else:
            yield file, *cache.of_bytes(raw, file, path.stem, kind)
    cache.save()


@contextmanager
def _uncollected() -> Iterator[None]:
    """Makes no search for garbage: all that is read stays, and walking through it again and again takes a fifth."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _placed(results: Path, file: str, path: tuple[str | int, ...], expected: str, found: str) -> Problem:
    line, column, _ = strict_yaml.place((results.parent / file).read_text("utf-8"), path)
    return Problem(file, line, column, manifests.dotted(path), expected, found)


def _references(found: Mapping[str, Manifest], files: Mapping[str, str]) -> list[Problem]:
    """Successors must exist and may not lead back; keys named in a manifest must exist and fit its blocks."""
    problems = []

    def report(manifest: Manifest, field: str, expected: str, got: str) -> None:
        problems.append(Problem(files[manifest.id], 0, 0, field, expected, got))

    for manifest in found.values():
        seen = [manifest.id]
        current = manifest
        while current.correction and current.correction.successor:
            successor = current.correction.successor
            if successor not in found:
                if current is manifest:
                    report(manifest, "correction.successor", "the id of a manifest", successor)
                break
            if successor in seen:
                report(manifest, "correction.successor", "no circle of successors", " → ".join([*seen, successor]))
                break
            seen.append(successor)
            current = found[successor]
        if isinstance(manifest, Comparison):
            problems += _change_problems(manifest, files[manifest.id])
        if isinstance(manifest, Run):
            for shared in manifest.same_as:
                if not isinstance(found.get(shared.run), Run):
                    report(manifest, "same_as.run", "the id of a run", shared.run)
                for key in shared.keys:
                    if key not in manifests.COMPARED:
                        report(manifest, "same_as.keys", "a key that is compared", key)
    return problems


def _change_problems(comparison: Comparison, file: str) -> list[Problem]:
    key = comparison.change.key
    if key not in manifests.COMPARED:
        return [Problem(file, 0, 0, "change.key", "a key that is compared", key)]
    stated = manifests.setting(comparison, key)
    if stated != comparison.change.baseline:
        expected = f"the baseline's {key}, {stated}"
        return [Problem(file, 0, 0, "change.baseline", expected, str(comparison.change.baseline))]
    return []
