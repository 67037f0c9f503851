"""Everything under `results/`, read and validated together."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

from macros import manifests, places, strict_yaml
from macros.manifest_cache import ManifestCache
from macros.manifests import Comparison, Manifest, Model, PublishedFigure, Run
from macros.problems import InputError, Problem, nearest

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
        return placed(self.results, self.files[manifest_id], path, expected, found)


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
                other = f"{manifest.id}, as in {files[manifest.id]}"
                problems.append(placed(results, file, ("id",), "an id that no other manifest has", other))
            found[manifest.id], files[manifest.id] = manifest, file
    # A manifest with mistakes is not there to be referred to, which is no mistake of the others.
    if not problems:
        problems += _references(results, found, files)
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


def placed(results: Path, file: str, path: tuple[str | int, ...], expected: str, found: str) -> Problem:
    """A mistake in a file under `results`, which messages name `file`, with its place."""
    line, column, _ = places.place((results.parent / file).read_text("utf-8"), path)
    return Problem(file, line, column, manifests.dotted(path), expected, found)


def _references(results: Path, found: Mapping[str, Manifest], files: Mapping[str, str]) -> list[Problem]:
    """Successors must exist and may not lead back; keys named in a manifest must exist and fit its blocks."""
    problems = []
    runs = {name for name, manifest in found.items() if isinstance(manifest, Run)}

    def report(manifest: Manifest, path: tuple[str | int, ...], expected: str, got: str) -> None:
        problems.append(placed(results, files[manifest.id], path, expected, got))

    for manifest in found.values():
        seen = [manifest.id]
        current = manifest
        while current.correction and current.correction.successor:
            successor = current.correction.successor
            path = ("correction", "successor")
            if successor not in found:
                if current is manifest:
                    report(manifest, path, f"the id of a manifest{nearest(successor, found)}", successor)
                break
            if successor in seen:
                report(manifest, path, "no circle of successors", " → ".join([*seen, successor]))
                break
            seen.append(successor)
            current = found[successor]
        if isinstance(manifest, Comparison):
            change, key = manifest.change, manifest.change.key
            if key not in manifests.COMPARED:
                expected = f"a key that is compared{nearest(key, manifests.COMPARED)}"
                report(manifest, ("change", "key"), expected, key)
            elif (stated := manifests.setting(manifest, key)) != change.baseline:
                report(manifest, ("change", "baseline"), f"the baseline's {key}, {stated}", str(change.baseline))
        if isinstance(manifest, Run):
            for index, shared in enumerate(manifest.same_as):
                if shared.run not in runs:
                    expected = f"the id of a run{nearest(shared.run, runs)}"
                    report(manifest, ("same_as", index, "run"), expected, shared.run)
                for place, key in enumerate(shared.keys):
                    if key not in manifests.COMPARED:
                        expected = f"a key that is compared{nearest(key, manifests.COMPARED)}"
                        report(manifest, ("same_as", index, "keys", place), expected, key)
    return problems
