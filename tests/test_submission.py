"""Issue forms and submissions: forms are current, good bodies become entries, hostile ones stay text or are refused."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import pytest
import yaml

from macros import cli, issue_forms, manifests, strict_yaml, submission
from macros.issue_forms import fields
from macros.locale import locale
from macros.manifests import COMPARED, PublishedFigure
from macros.problems import InputError
from macros.vocabulary import Language
from tests.conftest import ROOT

RESULTS = ROOT / "results"
GOOD_EN = """### Value

57.5

### Unit

tok/s

### What it measures

decode rate

### One stream or the sum

one stream

### Kind of prompt

code

### Who measured it

some-reader

### Address where it can be looked up

https://github.com/example/notes/issues/12

### Date

2026-09-01

### MoE backend in the log

B12X_MXFP4

### nodes

2

### concurrency (c)

1

### warmed up

yes

### client or engine we do not know

nonsense under a heading that no form has

### Anything else

_No response_
"""
GOOD_RU = """### Значение

33–41

### Кто измерил

читатель

### Адрес, где это можно посмотреть

https://example.org/замеры
"""


def problems_of(text: str) -> dict[str, str]:
    with pytest.raises(InputError) as caught:
        submission.entry(submission.read(text, "issue.md"), "issue.md", RESULTS)
    return {p.field: f"{p.expected}; {p.found}" for p in caught.value.problems}


def body(**answers: str) -> str:
    labels = {field.id: field.label(locale("en")) for field in fields()}
    base = {"value": "57", "publisher": "some-reader", "url": "https://example.org/a"} | answers
    return "\n".join(f"### {labels[name]}\n\n{value}\n" for name, value in base.items())


# Forms


@pytest.mark.parametrize(("path", "content"), list(issue_forms.files()))
def test_forms_are_current(path: Path, content: str) -> None:
    assert (ROOT / path).read_text("utf-8") == content, "run `results forms`"


@pytest.mark.parametrize("language", ["en", "ru"])
def test_forms_ask_for_each_compared_key_under_a_label_of_its_own(language: Language) -> None:
    asked = {field.key for field in fields() if field.key}
    assert asked == set(COMPARED) - set(issue_forms.NOT_ASKED)
    labels = [field.label(locale(language)).casefold() for field in fields()]
    assert len(set(labels)) == len(labels)
    form = yaml.safe_load((ROOT / issue_forms.FOLDER / f"figure.{language}.yml").read_text("utf-8"))
    assert {"name", "description", "body"} <= set(form)
    ids = [entry["id"] for entry in form["body"] if entry["type"] != "markdown"]
    assert len(set(ids)) == len(ids)
    for entry in form["body"]:
        if entry["type"] == "dropdown":
            options = entry["attributes"]["options"]
            assert len(set(options)) == len(options)
            assert "None" not in options  # GitHub adds its own


def test_labels_of_both_languages_lead_to_one_field_each() -> None:
    found: dict[str, str] = {}
    for language in ("en", "ru"):
        for field in fields():
            label = field.label(locale(language)).casefold()  # type: ignore[arg-type]
            assert found.setdefault(label, field.id) == field.id


# Good ones


def test_a_good_body_becomes_a_valid_entry(tmp_path: Path) -> None:
    model = submission.entry(submission.read(GOOD_EN, "issue.md"), "issue.md", RESULTS)
    assert model.id == "some-reader-57.5"
    assert (str(model.value), model.unit, model.quantity, model.scope) == ("57.5", "tok/s", "decode_rate", "stream")
    assert model.workload.profile == "code-unstated"
    assert (model.config.moe_backend_active, model.system.nodes, model.method.warm) == ("B12X_MXFP4", 2, True)
    assert model.sources[0].repository == "example/notes"
    # What is written reads back as the same entry.
    path = tmp_path / f"{model.id}.yaml"
    path.write_text(submission.written(model), "utf-8")
    again, problems = manifests.read(path, path.name, PublishedFigure)
    assert not problems
    assert again == model


def test_russian_labels_and_a_range() -> None:
    text = GOOD_RU.replace("https://example.org/замеры", "https://example.org/a")
    model = submission.entry(submission.read(text, "issue.md"), "issue.md", RESULTS)
    assert (str(model.low), str(model.high), model.value) == ("33", "41", None)
    assert model.publisher == "читатель"
    assert model.id.startswith("reader-")


def test_json_is_the_same_as_the_body() -> None:
    sent = {"value": 57.5, "publisher": "some-reader", "url": "https://example.org/a", "system-nodes": 2}
    model = submission.entry(submission.read(json.dumps(sent), "x.json"), "x.json", RESULTS)
    assert (str(model.value), model.system.nodes) == ("57.5", 2)


def test_what_is_missing_is_named_all_at_once() -> None:
    assert set(problems_of("### Unit\n\ntok/s\n")) == {"value", "publisher", "url"}


def test_an_id_that_is_taken_gets_a_number() -> None:
    first = submission.entry(submission.read(body(publisher="hazyumps"), "i"), "i", RESULTS)
    assert first.id == "hazyumps-57"


def test_the_command_prints_an_entry_or_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    issue = tmp_path / "issue.md"
    issue.write_text(GOOD_EN, "utf-8")
    assert cli.main(["submission", "--root", str(ROOT), str(issue)]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["id"] == "some-reader-57.5"
    issue.write_text("### Unit\n\ntok/s\n", "utf-8")
    assert cli.main(["submission", "--root", str(ROOT), str(issue)]) == 1
    assert "publisher" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "found"), [("gone.md", "No such file or directory"), (".", "Is a directory")])
def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, found: str
) -> None:
    path = str(tmp_path / name)
    assert cli.main(["submission", "--root", str(ROOT), path]) == 1
    assert f"{path}: expected a readable file; found {found}" in capsys.readouterr().err


def test_an_entry_is_written_once_and_another_of_its_id_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, issue = tmp_path / "project", tmp_path / "issue.md"
    shutil.copytree(RESULTS, root / "results", ignore=shutil.ignore_patterns("drafts"))
    published = root / "results/published"
    before = set(published.iterdir())
    words = ["submission", "--root", str(root), "--write", str(issue)]
    issue.write_text(body(entry="mine"), "utf-8")
    assert cli.main(words) == 0
    path = published / "mine.yaml"
    first = path.read_text("utf-8")
    assert "value: 57\n" in first
    assert cli.main(words) == 0
    issue.write_text(body(entry="mine", value="58"), "utf-8")
    assert cli.main(words) == 1
    assert "mine.yaml: expected no entry of this id; found another one; it was kept" in capsys.readouterr().err
    assert path.read_text("utf-8") == first
    assert set(published.iterdir()) == before | {path}


def test_an_entry_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, issue = tmp_path / "project", tmp_path / "issue.md"
    shutil.copytree(RESULTS, root / "results", ignore=shutil.ignore_patterns("drafts"))
    issue.write_text(body(entry="mine"), "utf-8")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert cli.main(["submission", "--root", str(root), "--write", str(issue)]) == 1
    assert not (root / "results/published/mine.yaml").exists()


# Hostile ones


@pytest.mark.parametrize(
    ("answers", "field"),
    [
        ({"value": "=1+1"}, "value"),
        ({"value": "{{ 7*7 }}"}, "value"),
        ({"value": "1e999"}, "value"),
        ({"value": "-5"}, "value"),
        ({"value": "NaN"}, "value"),
        ({"value": "٥٧"}, "value"),
        ({"value": "9" * 40}, "value"),
        ({"url": "javascript:alert(1)"}, "sources.0.url"),
        ({"url": "http://example.org/a"}, "sources.0.url"),
        ({"url": "https://example.org/ a"}, "sources.0.url"),
        ({"url": 'https://example.org/"><script>'}, "sources.0.url"),
        ({"url": "https://user:pw@example.org/"}, "sources.0.url"),
        ({"url": "https://еxample.org/"}, "url"),  # a Cyrillic е
        ({"publisher": "tоnyd2wild"}, "publisher"),  # a Cyrillic о
        ({"publisher": "nepenth\u202egnp"}, "publisher"),
        ({"publisher": "a\u200bb"}, "publisher"),
        ({"publisher": "a\ue000b"}, "publisher"),
        ({"notes": "x" * 5000}, "notes"),
        ({"date": "01.09.2026"}, "date"),
        ({"quantity": "speed"}, "quantity"),
        ({"entry": "../../etc/passwd"}, "id"),
        ({"system-nodes": "two"}, "system-nodes"),
        ({"system-nodes": "²"}, "system-nodes"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_field(answers: dict[str, str], field: str) -> None:
    assert field in problems_of(body(**answers))


HARMLESS = (
    "<script>alert(1)</script>",
    "{{ 7*7 }}{% raw %}",
    "=HYPERLINK(1)",
    "!!python/object:os.system",
    "&a *a",
    "a: b # c",
)


@pytest.mark.parametrize("text", HARMLESS)
def test_markup_and_formulas_are_kept_as_plain_text(text: str) -> None:
    model = submission.entry(submission.read(body(notes=text, publisher="x"), "i"), "i", RESULTS)
    content = submission.written(model)
    assert model.notes[-1] == text
    data, problems = strict_yaml.parse(content, "x.yaml")
    assert not problems
    assert data["notes"][-1] == text


@pytest.mark.parametrize(
    "text",
    [
        "x" * 70_000,
        "",
        "no form at all",
        '{"value": {"a": 1}}',
        '{"evil": "1", "value": "5"}',
        "{" * 5000,
        '{"value": ' + "9" * 5000 + "}",
        "### Value\n\n" + "9" * 5000,
        '["value"]',
    ],
)
def test_what_cannot_be_read_at_all_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        submission.read(text, "issue.md")


def test_a_heading_inside_an_answer_cannot_overwrite_another_field_silently() -> None:
    """A second heading of the same name adds to the first answer, which then fits no field."""
    text = body() + "\n### Value\n\n999\n"
    assert "value" in problems_of(text)
