"""Turns what a reader sent, the body of an issue or its JSON, into an entry of the register, or says what is missing.

What is sent is hostile until proven otherwise: it is only ever parsed into known fields, checked against the entry's
schema, and written as quoted YAML. Nothing of it is executed, rendered or followed. Characters that hide or turn
round text are refused, and so are names that mix alphabets, since they are made to be taken for another name.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, get_args

import yaml

from macros import dataset, manifests
from macros.entries import read_entries
from macros.files import atomically, existing, project
from macros.issue_forms import FormField, fields
from macros.locale import locales
from macros.manifests import Configuration, PublishedFigure
from macros.problems import InputError, Problem
from macros.site import Profile

LIMIT = 60_000
FIELD_LIMIT = 2_000
# What GitHub prints for a field that was left empty.
EMPTY = ("", "_No response_", "None")
NUMBER = re.compile(r"\d{1,9}(?:[.,]\d{1,6})?")
GITHUB = re.compile(
    r"https://github\.com/([^/]+/[^/]+)/(?:blob/([0-9a-f]{40})/([^#]+)(?:#L(\d+))?|(?:issues|pull)/\d+)\Z"
)


def read(text: str, file: str) -> dict[str, str]:
    """Field id → text as sent; raises InputError for what cannot be read at all."""
    if len(text) > LIMIT:
        raise InputError([Problem(file, 0, 0, "", f"at most {LIMIT} characters", str(len(text)))])
    try:
        sent = _from_json(json.loads(text), file) if text.lstrip().startswith("{") else _from_body(text)
    except (ValueError, RecursionError) as error:  # ValueError: bad JSON, or a number of thousands of digits
        raise InputError([Problem(file, 0, 0, "", "JSON, or the body of an issue", str(error)[:100])]) from None
    problems = [problem for field_id, value in sent.items() for problem in _suspicious(field_id, value, file)]
    if problems:
        raise InputError(problems)
    if not sent:
        raise InputError([Problem(file, 0, 0, "", "fields of the form, each under its heading", "none")])
    return sent


def _from_json(data: Any, file: str) -> dict[str, str]:
    known = {field.id for field in fields()}
    problems = [
        Problem(file, 0, 0, str(key)[:60], "a field of the form", "an unknown one") for key in set(data) - known
    ]
    problems += [
        Problem(file, 0, 0, key, "a text or a number", type(value).__name__)
        for key, value in data.items()
        if key in known and not isinstance(value, str | int | float | None)
    ]
    if problems:
        raise InputError(problems)
    return {key: str(value).strip() for key, value in data.items() if value is not None and str(value).strip()}


def _from_body(text: str) -> dict[str, str]:
    """The answers under the form's headings, in either language; what stands under other headings is left out."""
    labels = {field.label(words).casefold(): field.id for words in locales().values() for field in fields()}
    sent: dict[str, str] = {}
    current: str | None = None
    lines: dict[str, list[str]] = {}
    for line in text.replace("\r\n", "\n").split("\n"):
        if line.startswith("### "):
            current = labels.get(line[4:].strip().casefold())
        elif current:
            lines.setdefault(current, []).append(line)
    for field_id, collected in lines.items():
        answer = "\n".join(collected).strip()
        if answer not in EMPTY:
            sent[field_id] = answer
    return sent


def _suspicious(field_id: str, value: str, file: str) -> Iterator[Problem]:
    if len(value) > FIELD_LIMIT:
        yield Problem(file, 0, 0, field_id, f"at most {FIELD_LIMIT} characters", str(len(value)))
    hidden = {c for c in value if unicodedata.category(c) in ("Cc", "Cf", "Co", "Cs", "Cn") and c != "\n"}
    if hidden:
        names = ", ".join(f"U+{ord(c):04X}" for c in sorted(hidden)[:5])
        yield Problem(file, 0, 0, field_id, "visible characters only", names)
    if field_id == "url" and not value.isascii():
        yield Problem(file, 0, 0, field_id, "an address in ASCII letters", "other letters")
    for word in re.findall(r"\w+", value):
        alphabets = {unicodedata.name(c, "").split(" ")[0] for c in word if c.isalpha()}
        if len(alphabets & {"LATIN", "CYRILLIC", "GREEK"}) > 1:
            yield Problem(
                file, 0, 0, field_id, "words in one alphabet", f"{ascii(word)[:40]} mixes {sorted(alphabets)}"
            )


# The entry


def entry(sent: Mapping[str, str], file: str, results: Path) -> PublishedFigure:
    """A valid entry of the register; raises InputError with everything that is missing or does not fit."""
    problems: list[Problem] = []
    data = _skeleton()
    for field in fields():
        if field.required and field.id not in sent:
            problems.append(Problem(file, 0, 0, field.id, "an answer", "none"))
        elif field.id in sent:
            try:
                _fill(data, field, sent[field.id])
            except ValueError as error:
                problems.append(Problem(file, 0, 0, field.id, str(error), sent[field.id][:60]))
    data["workload"]["profile"] = _profile(sent, results)
    data["called"] = data["quantity"]
    data["unit"] = data["unit"] or "tok/s"
    data["id"] = sent.get("entry") or _id(data, results)
    if not problems:
        model, more = manifests.validate(data, "", file, PublishedFigure)
        if model:
            return model
        problems += more
    raise InputError(problems)


def _skeleton() -> dict[str, Any]:
    """An entry in which nothing is stated yet."""
    data: dict[str, Any] = {
        "date": None, "evidence": "community_report", "publisher": None, "sources": [], "locator": None,
        "quantity": None, "called": None, "scope": None, "unit": None, "statistic": None,
        "value": None, "low": None, "high": None, "n": None, "acceptance_length": None, "notes": [],
    }  # fmt: skip
    for name, block in Configuration.model_fields.items():
        assert block.annotation is not None
        data[name] = {key: None for key, field in block.annotation.model_fields.items() if field.is_required()}
    data["model"]["name"] = "DeepSeek-V4-Flash"
    return data


def _fill(data: dict[str, Any], field: FormField, text: str) -> None:
    """Puts one answer in its place; raises ValueError that says what was expected."""
    choices = {c: o for words in locales().values() for c, o in zip(field.choices(words), _options(field), strict=True)}
    value: Any = text
    if choices:
        value = choices.get(text, text if text in field.options else None)
        if value is None:
            raise ValueError(f"one of {', '.join(choices)}")
    if field.id == "value":
        ends = [_decimal(part) for part in re.split(r"\s*[–-]\s*", text)]
        if len(ends) > 2:
            raise ValueError("a value, or a range such as 33–41")
        data |= {"value": ends[0]} if len(ends) == 1 else {"low": ends[0], "high": ends[1], "span_of": "band"}
    elif field.id in ("n", "acceptance_length"):
        data[field.id] = int(text) if field.id == "n" and text.isdigit() else _decimal(text)
    elif field.id == "url":
        data["sources"] = [_source(text)]
        data["locator"] = {"line": _line(text), "section": None}
    elif field.id == "date":
        data["date"] = _date(text)
    elif field.id in ("notes", "prompt"):
        data["notes"].append(" ".join(text.split()))
    elif field.key:
        block, _, name = field.key.partition(".")
        data[block][name] = _typed(value, field.key)
    elif field.id not in ("entry", "prompt_class"):
        data[field.id] = value


def _options(field: FormField) -> list[Any]:
    return [True, False] if field.boolean else list(field.options)


def _types(annotation: Any) -> set[Any]:
    """The plain types inside an annotation such as `Count | None`."""
    parts = get_args(annotation)
    return set().union(*map(_types, parts)) if parts else {annotation}


def _typed(value: Any, key: str) -> Any:
    """A text as the type of its key; choices have theirs already."""
    block, _, name = key.partition(".")
    model = Configuration.model_fields[block].annotation
    assert model is not None
    types = _types(model.model_fields[name].annotation)
    if not isinstance(value, str) or str in types:
        return value
    if Decimal in types:
        return _decimal(value)
    if int in types:
        if not value.isascii() or not value.isdigit():
            raise ValueError("a whole number")
        return int(value)
    return value


def _decimal(text: str) -> Decimal:
    if not text.isascii() or not NUMBER.fullmatch(text):
        raise ValueError("a number such as 59.7")
    try:
        return Decimal(text.replace(",", "."))
    except InvalidOperation:
        raise ValueError("a number such as 59.7") from None


def _date(text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise ValueError("a date, YYYY-MM-DD") from None


def _source(url: str) -> dict[str, Any]:
    parts = GITHUB.match(url)
    repository, commit, path, _ = parts.groups() if parts else (None,) * 4
    name = url.removeprefix("https://")[:300]
    return {"name": name, "repository": repository, "url": url, "commit": commit, "path": path, "sha256": None}


def _line(url: str) -> int | None:
    parts = GITHUB.match(url)
    return int(parts[4]) if parts and parts[4] else None


def _profile(sent: Mapping[str, str], results: Path) -> str | None:
    """A profile of which only the class is known, for the kind of prompt that was chosen."""
    field = next(f for f in fields() if f.id == "prompt_class")
    names = {c: o for words in locales().values() for c, o in zip(field.choices(words), field.options, strict=True)}
    group = names.get(sent.get("prompt_class", ""))
    profiles = read_entries(results / "profiles.yaml", Profile)
    return next((name for name, p in profiles.items() if p.group == group and not p.exact), None)


def _id(data: Mapping[str, Any], results: Path) -> str:
    """A new id: publisher and value, with a number behind it where that is taken."""
    name = re.sub(r"[^a-z0-9]+", "-", str(data["publisher"] or "reader").lower()).strip("-") or "reader"
    value = data["value"] if data["value"] is not None else data["low"]
    stem = f"{name[:40]}-{value}"
    taken = set(dataset.load(results).published)
    found, number = stem, 2
    while found in taken:
        found, number = f"{stem}-{number}", number + 1
    return found


def written(model: PublishedFigure) -> str:
    """The entry as YAML, every text quoted where it needs to be."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [plain(inner) for inner in value]
        return _Digits(f"{value:f}") if isinstance(value, Decimal) else value

    kept = {k: v for k, v in model.model_dump().items() if k in _skeleton() or k == "id" or v not in (None, (), False)}
    ordered = {"id": kept.pop("id"), **kept}
    return yaml.dump(plain(ordered), Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=110)


class _Digits(str):
    """A number that keeps its digits."""


class _Dumper(yaml.SafeDumper):
    pass


def _digits(dumper: yaml.SafeDumper, value: _Digits) -> yaml.Node:
    kind = "float" if "." in value else "int"
    return dumper.represent_scalar(f"tag:yaml.org,2002:{kind}", str(value))


_Dumper.add_representer(_Digits, _digits)


# The command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command `results submission FILE`."""
    parser.add_argument("file", help="the issue's body as text, or its JSON; - reads standard input")
    parser.add_argument("--write", action="store_true", help="write results/published/ID.yaml instead of printing it")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.file == "-":
        name, raw = "standard input", sys.stdin.buffer.read(LIMIT * 4 + 1)
    else:
        name = arguments.file
        try:
            with Path(name).open("rb") as stream:
                raw = stream.read(LIMIT * 4 + 1)
        except (OSError, ValueError) as error:
            found = getattr(error, "strerror", None) or str(error)
            raise InputError([Problem(name, 0, 0, "", "a readable file", found)]) from None
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError([Problem(name, 0, 0, "", "text in UTF-8", str(error)[:80])]) from None
    results = arguments.root / "results"
    model = entry(read(text, name), name, results)
    content = written(model)
    if not arguments.write:
        print(content, end="")
        return 0
    path = project(arguments.root) / "results/published" / f"{model.id}.yaml"
    if existing(path) not in (None, content):
        raise InputError([Problem(str(path), 0, 0, "", "no entry of this id", "another one; it was kept")])
    atomically(path, content)
    print(f"Wrote {path}: read it, complete it, and run `results check`.")
    return 0
