"""Manifests kept between builds: the same objects as from their files, never an error's place, never an error."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from macros import dataset, manifest_cache, manifests, strict_yaml
from macros.dataset import Dataset
from macros.manifests import Manifest, Model, Ruled
from macros.problems import InputError
from tests.conftest import ROOT
from tests.example_manifests import run


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder with two runs that were read once, so that they are kept."""
    runs = tmp_path / "results" / "runs"
    runs.mkdir(parents=True)
    for name in ("a", "b"):
        (runs / f"{name}.yaml").write_text(run(name, value="59.70"), "utf-8")
    dataset.load(tmp_path / "results")
    return tmp_path / "results"


def kept(results: Path) -> Path:
    return results.parent / ".cache" / "manifests"


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were parsed, in order, from here on."""
    files: list[str] = []
    parse = strict_yaml.parse

    def noting(text: str, file: str) -> tuple[Any, list[Any]]:
        files.append(file)
        return parse(text, file)

    monkeypatch.setattr(strict_yaml, "parse", noting)
    return files


def content(value: Any) -> Any:
    """Everything that tells two objects apart: types, recorded digits, and which fields the manifest set."""
    if isinstance(value, BaseModel):
        fields = [(name, content(inner)) for name, inner in value]
        return type(value).__name__, fields, sorted(value.model_fields_set)
    if isinstance(value, Mapping):
        return [(key, content(inner)) for key, inner in value.items()]
    if isinstance(value, tuple):
        return [content(inner) for inner in value]
    return type(value).__name__, str(value)


def contents(data: Dataset) -> dict[str, Any]:
    return {name: content(manifest) for name, manifest in data.manifests.items()}


def test_nothing_is_parsed_again_while_nothing_changes(results: Path, parsed: list[str]) -> None:
    before = kept(results).read_bytes(), kept(results).stat().st_mtime_ns
    data = dataset.load(results)
    assert parsed == []
    assert str(data.runs["a"].measurements[0].value) == "59.70"
    assert (kept(results).read_bytes(), kept(results).stat().st_mtime_ns) == before


def test_a_manifest_that_changed_is_read_again_and_no_other(results: Path, parsed: list[str]) -> None:
    (results / "runs/a.yaml").write_text(run("a", value="59.9"), "utf-8")
    assert str(dataset.load(results).runs["a"].measurements[0].value) == "59.9"
    assert parsed == ["results/runs/a.yaml"]
    dataset.load(results)
    assert parsed == ["results/runs/a.yaml"]


def test_what_is_gone_is_not_kept(results: Path) -> None:
    (results / "runs/a.yaml").unlink()
    assert set(dataset.load(results).runs) == {"b"}
    assert b'"a"' not in kept(results).read_bytes()


def test_the_same_bytes_under_another_name_are_another_manifest(results: Path) -> None:
    (results / "runs/a.yaml").rename(results / "runs/c.yaml")
    with pytest.raises(InputError, match=r"results/runs/c.yaml:1:1: id: expected c, like the file's name; found a"):
        dataset.load(results)


def test_the_same_bytes_in_another_folder_are_another_manifest(results: Path) -> None:
    (results / "comparisons").mkdir()
    (results / "runs/a.yaml").rename(results / "comparisons/a.yaml")
    with pytest.raises(InputError, match=r"results/comparisons/a.yaml:.* change: expected this key"):
        dataset.load(results)


def test_a_mistake_keeps_its_place_however_often_it_is_read(results: Path, parsed: list[str]) -> None:
    text = run("a", value="fast")
    (results / "runs/a.yaml").write_text(text, "utf-8")
    line = text[: text.index("value: fast")].count("\n") + 1
    for _ in range(2):
        with pytest.raises(InputError, match=f"results/runs/a.yaml:{line}:5: measurements.0.value: expected a number"):
            dataset.load(results)
    assert parsed == ["results/runs/a.yaml"] * 2


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"\n",
        b"\xff\x00 no text\n" * 9,
        b"cos\nsystem\n(S'touch x'\ntR.",
        lambda whole: whole[:-9],
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole + whole,
        lambda whole: whole.replace(b"59.70", b"95.70"),
        lambda whole: b"0" * 64 + whole[64:],
    ],
)
def test_a_file_that_is_not_as_written_is_ignored_and_replaced(results: Path, parsed: list[str], broken: Any) -> None:
    whole = kept(results).read_bytes()
    kept(results).write_bytes(broken(whole) if callable(broken) else broken)
    assert str(dataset.load(results).runs["a"].measurements[0].value) == "59.70"
    assert parsed == ["results/runs/a.yaml", "results/runs/b.yaml"]
    assert kept(results).read_bytes() == whole


def test_an_entry_that_fits_no_model_is_read_from_its_manifest(
    results: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if someone had also forged the hash of the whole."""
    entries = manifest_cache._entries
    monkeypatch.setattr(
        manifest_cache, "_entries", lambda f: {k: v.replace(b'"59.70"', b'"fast"') for k, v in entries(f).items()}
    )
    assert str(dataset.load(results).runs["a"].measurements[0].value) == "59.70"
    assert len(parsed) == 2


@pytest.mark.parametrize("place", [".cache", ".cache/manifests"])
def test_where_nothing_can_be_kept_everything_is_read(tmp_path: Path, parsed: list[str], place: str) -> None:
    """A file where the folder should be, or a folder where the file should be, cannot be written even by root."""
    (tmp_path / "results/runs").mkdir(parents=True)
    (tmp_path / "results/runs/a.yaml").write_text(run("a"), "utf-8")
    if place == ".cache":
        (tmp_path / place).write_text("in the way", "utf-8")
    else:
        (tmp_path / place / "full").mkdir(parents=True)
    for _ in range(2):
        assert set(dataset.load(tmp_path / "results").runs) == {"a"}
    assert len(parsed) == 2
    assert place == ".cache" or [path.name for path in (tmp_path / ".cache").iterdir()] == ["manifests"]


def test_other_code_does_not_use_what_this_code_kept(
    results: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest_cache, "_reading_state", lambda: b"another state")
    dataset.load(results)
    assert len(parsed) == 2
    dataset.load(results)
    assert len(parsed) == 2
    monkeypatch.undo()
    dataset.load(results)
    # Here nobody counts any more; the file is again that of this code.
    assert manifest_cache._entries(kept(results))


def imported(name: str) -> Iterator[str]:
    """The modules of the package that one of them imports."""
    for node in ast.walk(ast.parse((ROOT / "macros" / f"{name}.py").read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "macros":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("macros."):
            yield str(node.module).removeprefix("macros.")


def test_the_state_covers_all_code_that_reads_manifests() -> None:
    found, new = set(), {"manifest_cache"}
    while new:
        found |= new
        new = {other for name in new for other in imported(name)} - found
    assert found == set(manifest_cache.SOURCES)


def test_every_real_manifest_comes_back_as_it_was_read(tmp_path: Path) -> None:
    (tmp_path / "results").symlink_to(ROOT / "results")
    read = contents(dataset.load(tmp_path / "results"))
    assert read
    assert contents(dataset.load(tmp_path / "results")) == read


SCALARS = (
    st.decimals("0.001", "99999", places=3)
    | st.decimals("0.1", "99", places=1)
    | st.integers(1, 10**9)
    | st.booleans()
    | st.none()
    | st.sampled_from(["4.80", "true", "[1]", "2026-01-01", '["4.80"]', "д\u00a0\n"])
)


@given(value=SCALARS, temperature=st.decimals("0", "2", places=2))
def test_values_of_any_kind_keep_kind_and_digits(value: Any, temperature: Decimal) -> None:
    """The settings of a reading may be text or number: "4.80" and 4.80 must not become one another."""
    reading = manifests.Reading(value=temperature + 1, settings={"workload.temperature": value})
    again = manifests.Reading.model_validate_json(reading.model_dump_json(exclude_unset=True))
    assert content(again) == content(reading)


@given(
    value=st.decimals("0.001", "99999", places=4) | st.integers(1, 10**12) | st.decimals("1", "9", places=1),
    date=st.dates() | st.none(),
    count=st.integers(1, 10**9) | st.none(),
)
def test_generated_manifests_come_back_as_they_were_read(
    tmp_path_factory: pytest.TempPathFactory, value: Any, date: Any, count: Any
) -> None:
    folder = tmp_path_factory.mktemp("kept")
    changes = {"value": f"{value:f}" if isinstance(value, Decimal) else str(value), "low": "null", "high": "null"}
    changes |= {"date": str(date or "null"), "nodes": str(count or "null")}
    (folder / "results/runs").mkdir(parents=True)
    (folder / "results/runs/a.yaml").write_text(run("a", **changes), "utf-8")
    read = contents(dataset.load(folder / "results"))
    assert contents(dataset.load(folder / "results")) == read


def below(kind: type[Model]) -> Iterator[type[Model]]:
    for inner in kind.__subclasses__():
        yield inner
        yield from below(inner)


def test_no_model_has_rules_that_nobody_asks_for() -> None:
    kinds = [kind for kind in below(Model) if kind.__module__.startswith("macros.")]
    assert Manifest in kinds
    assert [kind for kind in kinds if hasattr(kind, "rules") and not issubclass(kind, Ruled)] == []
