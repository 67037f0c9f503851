"""The issue forms by which readers send or correct a figure, made from the schema of a register entry.

`.github/ISSUE_TEMPLATE/figure.LANG.yml` is written by `results forms`; a test checks that the files are current.
Each compared key of a manifest is a field, so that a new key appears in the forms and in `results submission` alike.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args

import yaml

from macros.entries import read_entries
from macros.files import atomically, project
from macros.locale import Locale, locale
from macros.manifests import COMPARED, Configuration, PublishedFigure
from macros.site import ProfileClass
from macros.vocabulary import LANGUAGES, Language

FOLDER = Path(".github/ISSUE_TEMPLATE")
# Fields of an entry beside its configuration: name → whether it is required.
OWN_FIELDS = {
    "value": True,
    "unit": False,
    "quantity": False,
    "scope": False,
    "statistic": False,
    "n": False,
    "acceptance_length": False,
    "prompt_class": False,
    "prompt": False,
    "publisher": True,
    "url": True,
    "date": False,
    "entry": False,
    "notes": False,
}
# Asked for otherwise, or the same for every figure of the register.
NOT_ASKED = ("workload.profile", "model.name")


@dataclass(frozen=True)
class FormField:
    """One field: its id, the dotted key that it fills (None where the parser decides), and its choices, if any."""

    id: str
    key: str | None
    options: tuple[str, ...] = ()
    boolean: bool = False
    required: bool = False

    def label(self, words: Locale) -> str:
        """What the form calls it."""
        return words.word(f"key.{self.key}") if self.key in COMPARED else words.word(f"issue.{self.id}")

    def choices(self, words: Locale) -> list[str]:
        """Its choices as the form prints them, in the order of `options`."""
        if self.boolean:
            return [words.word("true_word"), words.word("false_word")]
        return [_option(self, option, words) for option in self.options]


def _option(field: FormField, option: str, words: Locale) -> str:
    if field.id == "prompt_class":
        return str(getattr(_classes()[option].label, words.language))
    group = {"scope": "register.scope", "unit": "unit"}.get(field.id, field.id.split("-")[-1])
    return option if group == "unit" else words.word(f"{group}.{option}")


@cache
def _classes() -> dict[str, ProfileClass]:
    return read_entries(Path(__file__).parents[1] / "results" / "profile-classes.yaml", ProfileClass)


@cache
def fields() -> tuple[FormField, ...]:
    """All fields in the order of the form."""
    return tuple(_fields())


def _fields() -> Iterator[FormField]:
    for name, required in OWN_FIELDS.items():
        options: tuple[str, ...] = tuple(_classes()) if name == "prompt_class" else ()
        if name in PublishedFigure.model_fields and name not in ("value", "n"):
            options = _literals(PublishedFigure.model_fields[name].annotation)
        yield FormField(name, None, options, required=required)
    for key in COMPARED:
        if key not in NOT_ASKED:
            block, _, name = key.partition(".")
            model = Configuration.model_fields[block].annotation
            assert model is not None
            annotation = model.model_fields[name].annotation
            boolean = bool in get_args(annotation)
            yield FormField(key.replace(".", "-"), key, _literals(annotation), boolean)


def _literals(annotation: Any) -> tuple[str, ...]:
    """The values of a vocabulary inside an annotation such as `Vantage | None`."""
    if isinstance(annotation, str):
        return (annotation,)
    return tuple(value for part in get_args(annotation) for value in _literals(part))


def form(language: Language) -> dict[str, Any]:
    """One issue form as GitHub reads it."""
    words = locale(language)
    body: list[dict[str, Any]] = [{"type": "markdown", "attributes": {"value": words.word("issue.intro")}}]
    for field in fields():
        attributes: dict[str, Any] = {"label": field.label(words)}
        help_text = words.words["issue"].get(f"help.{field.id}")
        if help_text:
            attributes["description"] = help_text
        choices = field.choices(words)
        if choices:
            attributes["options"] = choices
        kind = "dropdown" if choices else "textarea" if field.id in ("notes", "prompt") else "input"
        entry: dict[str, Any] = {"type": kind, "id": field.id, "attributes": attributes}
        if field.required:
            entry["validations"] = {"required": True}
        body.append(entry)
    return {
        "name": words.word("issue.name"),
        "description": words.word("issue.description"),
        "title": words.word("issue.title"),
        "labels": ["figure"],
        "body": body,
    }


def files() -> Iterator[tuple[Path, str]]:
    """Path and content of each form."""
    note = "# Written by `results forms` from the schema of a register entry: do not edit.\n"
    for language in LANGUAGES:
        content = yaml.safe_dump(form(language), allow_unicode=True, sort_keys=False, width=110)
        yield FOLDER / f"figure.{language}.yml", note + content


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command `results forms`."""
    parser.set_defaults(run=_write)


def _write(arguments: argparse.Namespace) -> int:
    root = project(arguments.root)
    for path, content in files():
        atomically(root / path, content)
        print(f"Wrote {path}")
    return 0
