"""Reads YAML that may come from strangers: plain data only, and no value that YAML reads unlike a person.

Numbers keep their recorded digits (`4.80` is Decimal('4.80')). Refused, each with its place: tags, anchors
and aliases, duplicate keys, files that are not UTF-8 or above 1 MiB, invisible and private-use characters.
Scalars that YAML 1.1 turns into something unexpected (`0731` → 473, `no` → false, `12:30` → 750) come out as
a `Surprise`, which no field accepts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from macros.problems import Problem

MAX_BYTES = 1 << 20
_CANONICAL_INT = re.compile(r"-?(0|[1-9][0-9]*)\Z")
_CANONICAL_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+\Z")
# Bidirectional controls, zero-width and private-use characters would let a file look unlike what it says.
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ue000-\uf8ff\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class Surprise:
    """A scalar whose YAML meaning is not what its text looks like."""

    text: str
    meaning: str


class _Loader(yaml.CSafeLoader):
    duplicates: list[tuple[str, yaml.Mark]]

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.duplicates = []


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str):
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else str(key)
        if key in result:
            loader.duplicates.append((key, key_node.start_mark))
        result[key] = loader.construct_object(value_node, deep=True)
    return result


def _int(loader: _Loader, node: yaml.ScalarNode) -> int | Surprise:
    text = node.value
    try:
        if _CANONICAL_INT.match(text):
            return int(text)
        return Surprise(text, str(yaml.CSafeLoader.construct_yaml_int(loader, node)))
    except ValueError:  # `0x_`, or more digits than Python converts
        return Surprise(text[:40], "a number that cannot be read")


def _float(loader: _Loader, node: yaml.ScalarNode) -> Decimal | Surprise:
    text = node.value
    if _CANONICAL_FLOAT.match(text):
        return Decimal(text)
    meaning = yaml.CSafeLoader.construct_yaml_float(loader, node)
    if meaning != meaning or meaning in (float("inf"), float("-inf")):
        return Decimal(str(meaning))
    return Surprise(text, str(meaning))


def _bool(loader: _Loader, node: yaml.ScalarNode) -> bool | Surprise:
    text: str = node.value
    if text in ("true", "false"):
        return text == "true"
    return Surprise(text, str(yaml.CSafeLoader.construct_yaml_bool(loader, node)).lower())


def _timestamp(loader: _Loader, node: yaml.ScalarNode) -> Any:
    try:
        return yaml.CSafeLoader.construct_yaml_timestamp(loader, node)
    except ValueError:
        return Surprise(node.value, "a date that does not exist")


_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
_Loader.add_constructor("tag:yaml.org,2002:int", _int)
_Loader.add_constructor("tag:yaml.org,2002:float", _float)
_Loader.add_constructor("tag:yaml.org,2002:bool", _bool)
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _timestamp)


def decode(raw: bytes, file: str) -> tuple[str | None, list[Problem]]:
    """The file's text, or None with the reason."""
    if len(raw) > MAX_BYTES:
        return None, [Problem(file, 0, 0, "", "at most 1 MiB", f"{len(raw):,} bytes")]
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        return None, [Problem(file, line, column, "", "UTF-8 text", f"byte 0x{raw[error.start]:02x}")]
    found = _INVISIBLE.search(text)
    if found:
        char = found.group()
        line = text.count("\n", 0, found.start()) + 1
        column = found.start() - (text.rfind("\n", 0, found.start()) + 1) + 1
        name = unicodedata.name(char, "a control or private-use character")
        return None, [Problem(file, line, column, "", "visible characters only", f"U+{ord(char):04X} {name}")]
    return text, []


def read(path: Path, file: str) -> tuple[Any, str, list[Problem]]:
    """Data, text and problems of one YAML file. With problems the data may be None; `file` is its printed name."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        return None, "", [Problem(file, 0, 0, "", "a readable file", error.strerror or str(error))]
    text, problems = decode(raw, file)
    if text is None:
        return None, "", problems
    data, problems = parse(text, file)
    return data, text, problems


def parse(text: str, file: str) -> tuple[Any, list[Problem]]:
    """Data and problems of YAML text."""
    try:
        # A whole event parse is slow, so it only runs where one of the three marks occurs at all.
        if re.search(r"[&*!]", text):
            problems = list(_refused_events(text, file))
            if problems:
                return None, problems
        loader = _Loader(text)
        try:
            data = loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        return None, [Problem(file, line, column, "", "valid YAML", error.problem or str(error))]
    except (yaml.YAMLError, RecursionError) as error:
        return None, [Problem(file, 0, 0, "", "valid YAML", type(error).__name__)]
    return data, [
        Problem(file, mark.line + 1, mark.column + 1, key, "each key once", "the key a second time")
        for key, mark in loader.duplicates
    ]


def _refused_events(text: str, file: str) -> list[Problem]:
    problems = []
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        what = ""
        anchor, tag, mark = getattr(event, "anchor", None), getattr(event, "tag", None), event.start_mark
        if isinstance(event, yaml.AliasEvent):
            what = f"the alias *{anchor}"
        elif anchor:
            what = f"the anchor &{anchor}"
        elif tag:
            what = f"the tag {tag}"
        if what and mark:
            problems.append(Problem(file, mark.line + 1, mark.column + 1, "", "plain data, quoted if needed", what))
    return problems


def place(text: str, path: Sequence[str | int]) -> tuple[int, int, str]:
    """Line and column (from 1) of the node at `path`, or of the deepest parent that exists, and its raw text."""
    node = yaml.compose(text, Loader=yaml.CSafeLoader)
    if node is None:
        return 0, 0, ""
    mark = node.start_mark
    for step in path:
        child = None
        if isinstance(node, yaml.MappingNode):
            for key_node, value_node in node.value:
                if key_node.value == step:
                    child, mark = value_node, key_node.start_mark
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            child = node.value[step]
            mark = child.start_mark
        if child is None:
            break
        node = child
    raw = node.value if isinstance(node, yaml.ScalarNode) else ""
    return mark.line + 1, mark.column + 1, raw
