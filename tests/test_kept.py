"""What builds keep for the next one: damage is noticed and made good, and where nothing can be kept nothing stops."""

from __future__ import annotations

import dataclasses
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import jinja2
import pytest

from macros import chart_cache, drawing, exports, hooks, kept
from macros.chart_cache import ChartCache, Drawing
from macros.template_cache import TemplateCache
from tests.example_charts import arms

Damage = Callable[[bytes], bytes]
DAMAGES = [
    pytest.param(lambda whole: b"", id="emptied"),
    pytest.param(lambda whole: whole[:40], id="cut in its hash"),
    pytest.param(lambda whole: whole[:66], id="cut behind its hash"),
    pytest.param(lambda whole: whole[:-1], id="a byte short"),
    pytest.param(lambda whole: whole + b"\n", id="a byte long"),
    pytest.param(lambda whole: whole[:-9] + bytes(b ^ 1 for b in whole[-9:-8]) + whole[-8:], id="a bit turned"),
    pytest.param(lambda whole: whole[65:], id="without its hash"),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_not_as_written_is_none(tmp_path: Path, damage: Damage) -> None:
    path = tmp_path / "new" / "a"
    content = b"\x89PNG\r\n of\nseveral\nlines"
    kept.write(path, content)
    assert kept.read(path) == content
    assert [file.name for file in path.parent.iterdir()] == ["a"]
    path.write_bytes(damage(path.read_bytes()))
    assert kept.read(path) is None
    kept.write(path, content)
    assert kept.read(path) == content


def test_another_name_or_state_is_another_file(tmp_path: Path) -> None:
    kept.write(tmp_path / "a", b"content", b"state")
    shutil.copy(tmp_path / "a", tmp_path / "b")
    assert kept.read(tmp_path / "a", b"state") == b"content"
    assert kept.read(tmp_path / "a") is None
    assert kept.read(tmp_path / "b", b"state") is None


def in_the_way(tmp_path: Path, place: str) -> Path:
    """The folder `.cache/kept` with a file where it or its parent should be, which not even root can write into."""
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    path.write_text("in the way", "utf-8")
    return tmp_path / ".cache/kept"


@pytest.mark.parametrize("place", [".cache", ".cache/kept"])
def test_where_nothing_can_be_kept_nothing_stops(tmp_path: Path, place: str) -> None:
    folder = in_the_way(tmp_path, place)
    kept.write(folder / "a", b"content")
    assert kept.read(folder / "a") is None
    assert (tmp_path / place).read_text("utf-8") == "in the way"


def test_a_folder_where_the_file_should_be_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a" / "full").mkdir(parents=True)
    kept.write(tmp_path / "a", b"content")
    assert kept.read(tmp_path / "a") is None
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


# --- drawings --------------------------------------------------------------------------------------------


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The drawings that were made, in order."""
    made: list[str] = []
    monkeypatch.setattr(drawing, "draw_png", lambda chart: made.append("png") or b"\x89PNG of it")
    monkeypatch.setattr(drawing, "draw_inline", lambda chart, width: made.append(width) or "<svg/>")
    return made


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_drawing_is_made_and_kept_again(tmp_path: Path, drawn: list[str], damage: Damage) -> None:
    cache, chart = ChartCache(tmp_path), arms("en")
    for _ in range(2):
        assert [cache.get(Drawing(chart, form)) for form in ("png", "wide")] == [b"\x89PNG of it", b"<svg/>"]
    assert drawn == ["png", "wide"]
    for path in tmp_path.iterdir():
        path.write_bytes(damage(path.read_bytes()))
    for _ in range(2):
        assert [cache.get(Drawing(chart, form)) for form in ("png", "wide")] == [b"\x89PNG of it", b"<svg/>"]
    assert drawn == ["png", "wide"] * 2


@pytest.mark.parametrize("place", [".cache", ".cache/kept"])
def test_where_no_drawing_can_be_kept_all_are_made(tmp_path: Path, drawn: list[str], place: str) -> None:
    cache, chart = ChartCache(in_the_way(tmp_path, place)), arms("en")
    assert cache.get(Drawing(chart, "png")) == cache.get(Drawing(chart, "png")) == b"\x89PNG of it"
    assert drawn == ["png", "png"]


def test_drawings_that_no_build_used_for_longest_are_removed(
    tmp_path: Path, drawn: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chart_cache, "_OTHERS", 2)
    charts = [dataclasses.replace(arms("en"), id=f"chart-{number}") for number in range(5)]
    for age, chart in enumerate(charts):
        ChartCache(tmp_path).get(Drawing(chart, "png"))
        for path in tmp_path.iterdir():
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 10 * (age + 1)))
    ChartCache(tmp_path).get(Drawing(charts[1], "png"))  # kept in an older build, used in a later one
    last = ChartCache(tmp_path)
    last.get(Drawing(charts[0], "png"))
    last.tidy()
    assert len(list(tmp_path.iterdir())) == 3
    del drawn[:]
    for chart in (charts[0], charts[1], charts[4]):
        last.get(Drawing(chart, "png"))
    assert not drawn


def test_what_is_drawn_ahead_is_awaited_and_not_drawn_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(chart: object) -> bytes:
        time.sleep(0.3)
        return b"from process %d" % os.getpid()

    monkeypatch.setattr(drawing, "draw_png", slow)
    cache, drawings = ChartCache(tmp_path), [Drawing(arms(language), "png") for language in ("en", "ru")]
    cache.draw_ahead(drawings)
    texts = {cache.get(wanted) for wanted in drawings}
    assert len(texts) == 1
    assert texts != {b"from process %d" % os.getpid()}


def test_a_process_that_dies_costs_no_drawing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = os.getpid()
    monkeypatch.setattr(drawing, "draw_png", lambda chart: b"drawn" if os.getpid() == here else os._exit(9))
    cache, wanted = ChartCache(tmp_path), Drawing(arms("en"), "png")
    cache.draw_ahead([wanted])
    assert cache.get(wanted) == b"drawn"


def test_nothing_is_drawn_ahead_that_is_kept_or_cannot_be(tmp_path: Path, drawn: list[str]) -> None:
    cache, wanted = ChartCache(tmp_path / "new"), Drawing(arms("en"), "png")
    cache.get(wanted)
    cache.draw_ahead([wanted])
    nowhere = ChartCache(in_the_way(tmp_path, ".cache"))
    nowhere.draw_ahead([wanted])
    assert not cache._ahead
    assert not nowhere._ahead


# --- schemas ---------------------------------------------------------------------------------------------


def test_a_schema_is_made_once_and_again_for_other_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    monkeypatch.setattr(exports, "schema", lambda model: made.append(model) or {"number": len(made)})
    assert exports._schema_text("run", tmp_path) == exports._schema_text("run", tmp_path) == '{\n  "number": 1\n}\n'
    monkeypatch.setattr(exports, "_code", lambda: b"other code")
    assert exports._schema_text("run", tmp_path) == '{\n  "number": 2\n}\n'


# --- templates -------------------------------------------------------------------------------------------


class Environment(jinja2.Environment):
    """Notes whenever a template is compiled."""

    compiled = 0

    def compile(self, *arguments, **settings):  # type: ignore[no-untyped-def]
        self.compiled += 1
        return super().compile(*arguments, **settings)


def rendered(folder: Path, source: str = "{{ 6 * 7 }}") -> tuple[str, int]:
    """What the template prints in a new environment, and how many were compiled for it."""
    environment = Environment(loader=jinja2.DictLoader({"a.html": source}), bytecode_cache=TemplateCache(folder))
    return environment.get_template("a.html").render(), environment.compiled


def test_a_template_is_compiled_once(tmp_path: Path) -> None:
    assert rendered(tmp_path / "new") == ("42", 1)
    assert rendered(tmp_path / "new") == ("42", 0)
    assert rendered(tmp_path / "new", "{{ 6 + 7 }}") == ("13", 1)


@pytest.mark.parametrize("damage", [*DAMAGES, pytest.param(lambda whole: whole.replace(b"\x06", b"\x08"), id="code")])
def test_a_damaged_template_is_compiled_again(tmp_path: Path, damage: Damage) -> None:
    rendered(tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    assert rendered(tmp_path) == ("42", 1)
    assert rendered(tmp_path) == ("42", 0)


def test_what_jinja_itself_kept_is_not_run(tmp_path: Path) -> None:
    """The same template with foreign bytecode, in the form that jinja's own cache writes and would load."""
    rendered(tmp_path)
    (path,) = tmp_path.iterdir()
    environment = jinja2.Environment()
    bucket = TemplateCache(tmp_path / "other").get_bucket(environment, "a.html", None, "{{ 6 * 7 }}")
    bucket.code = environment.compile("foreign", "a.html", "a.html")
    path.write_bytes(bucket.bytecode_to_string())
    assert rendered(tmp_path) == ("42", 1)


@pytest.mark.parametrize("place", [".cache", ".cache/templates"])
def test_the_hook_goes_on_where_no_template_can_be_kept(tmp_path: Path, place: str) -> None:
    in_the_way(tmp_path, place)
    environment = Environment(loader=jinja2.DictLoader({"a.html": "{{ 6 * 7 }}"}))
    config = SimpleNamespace(config_file_path=str(tmp_path / "mkdocs.yml"))
    assert hooks.on_env(environment, config, None) is environment
    assert environment.get_template("a.html").render() == "42"
