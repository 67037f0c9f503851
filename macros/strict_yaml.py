"""Reads YAML that may come from strangers: plain data only, and no value that YAML reads unlike a person.

Refused, each with its place: tags, anchors and aliases, duplicate keys, files that are not UTF-8 or above 1 MiB,
invisible and private-use characters. What scalars mean is in `macros.scalars`.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import Any

import yaml

from macros import scalars
from macros.problems import Problem

MAX_BYTES = 1 << 20
PLAIN = "plain data, quoted if needed"
VISIBLE = "visible characters only"
# Controls, characters without width or ink, those that turn the direction of text, and private ones would let a file
# look unlike what it says.
INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\uf8ff\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)


class _Reader:
    """Makes data of the parser's events in one pass, which costs half of what PyYAML's nodes and constructors do."""

    def __init__(self, text: str, file: str) -> None:
        self._next = yaml.CSafeLoader(text).get_event
        self._file = file
        self._duplicates: list[Problem] = []
        self._refused: list[Problem] = []

    def document(self) -> tuple[Any, list[Problem]]:
        """Data and problems of the only document; raises yaml.YAMLError or RecursionError where it is no YAML."""
        self._next()  # the start of the stream
        if isinstance(self._next(), yaml.StreamEndEvent):
            return None, []
        data = self._value(self._next())
        self._next()  # the end of the document
        more = self._next()
        if isinstance(more, yaml.DocumentStartEvent):
            self._refuse(more, "valid YAML", "a second document")
        return (None, self._refused) if self._refused else (data, self._duplicates)

    def _value(self, event: Any) -> Any:
        kind = type(event)
        if kind is yaml.AliasEvent:
            return self._refuse(event, PLAIN, f"the alias *{event.anchor}")
        if event.anchor:
            self._refuse(event, PLAIN, f"the anchor &{event.anchor}")
        elif event.tag:
            self._refuse(event, PLAIN, f"the tag {event.tag}")
        if kind is yaml.ScalarEvent:
            return self._scalar(event)
        if kind is yaml.SequenceStartEvent:
            entries = []
            while type(event := self._next()) is not yaml.SequenceEndEvent:
                entries.append(self._value(event))
            return entries
        result: dict[str, Any] = {}
        while type(event := self._next()) is not yaml.MappingEndEvent:
            self._value(event)
            if isinstance(event, yaml.CollectionStartEvent):
                # As text, a mapping that is a key of a key of a key would double its length at every level.
                self._refuse(event, "a text as key", "a list or a mapping")
            key = getattr(event, "value", "")
            if key in result:
                self._duplicates.append(self._problem(event, key, "each key once", "the key a second time"))
            result[key] = self._value(self._next())
        return result

    def _scalar(self, event: Any) -> Any:
        if not event.implicit[0]:  # quoted, or with a tag
            # An escape can make what the file's text may not hold.
            hidden = INVISIBLE.search(event.value) if event.style == '"' else None
            return self._refuse(event, VISIBLE, _named(hidden.group())) if hidden else event.value
        try:
            return scalars.plain(event.value)
        except ValueError as error:
            return self._refuse(event, "valid YAML", str(error))

    def _refuse(self, event: Any, expected: str, found: str) -> None:
        self._refused.append(self._problem(event, "", expected, found))

    def _problem(self, event: Any, field: str, expected: str, found: str) -> Problem:
        mark = event.start_mark
        return Problem(self._file, mark.line + 1, mark.column + 1, field, expected, found)


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
    return (None, found) if (found := invisible(text, file)) else (text, [])


def invisible(text: str, file: str) -> list[Problem]:
    """The first character of a text that no reader would see, with its place."""
    found = INVISIBLE.search(text)
    if not found:
        return []
    line = text.count("\n", 0, found.start()) + 1
    column = found.start() - (text.rfind("\n", 0, found.start()) + 1) + 1
    return [Problem(file, line, column, "", VISIBLE, _named(found.group()))]


def escapes(text: str, file: str) -> list[Problem]:
    """Escapes that could stand for such a character, in a file that is read by others than this module."""
    found = re.search(r"\\(?:u[d-f]|u00[018]|u20|U|x[0189])", text, re.IGNORECASE)
    if not found:
        return []
    line = text.count("\n", 0, found.start()) + 1
    return [Problem(file, line, 1, "", "the character itself, if it can be seen", found.group())]


def _named(char: str) -> str:
    return f"U+{ord(char):04X} {unicodedata.name(char, 'a control or private-use character')}"


def read_bytes(path: Path, file: str) -> tuple[bytes | None, list[Problem]]:
    """The file's bytes, or None with the reason; `file` is its printed name."""
    try:
        return path.read_bytes(), []
    except OSError as error:
        return None, [Problem(file, 0, 0, "", "a readable file", error.strerror or str(error))]


def read(path: Path, file: str) -> tuple[Any, str, list[Problem]]:
    """Data, text and problems of one YAML file. With problems the data may be None; `file` is its printed name."""
    raw, problems = read_bytes(path, file)
    return (None, "", problems) if raw is None else of_bytes(raw, file)


def of_bytes(raw: bytes, file: str) -> tuple[Any, str, list[Problem]]:
    """The same of bytes that were read already."""
    text, problems = decode(raw, file)
    if text is None:
        return None, "", problems
    data, problems = parse(text, file)
    return data, text, problems


def parse(text: str, file: str) -> tuple[Any, list[Problem]]:
    """Data and problems of YAML text."""
    try:
        return _Reader(text, file).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        return None, [Problem(file, line, column, "", "valid YAML", _said(error.problem or str(error)))]
    except (yaml.YAMLError, RecursionError) as error:
        return None, [Problem(file, 0, 0, "", "valid YAML", _said(type(error).__name__))]


# What people do most and the parser words badly.
_SAID = {
    "did not find expected '-' indicator": "a line that is no entry of the list around it: is it indented rightly?",
    "did not find expected key": "a line that is no key of the mapping around it: is it indented rightly?",
    "mapping values are not allowed in this context": "a key where none may stand; a text with a colon needs quotes",
    "could not find expected ':'": "a key without its colon, just before here",
}


def _said(problem: str) -> str:
    return _SAID.get(problem, f"a mistake, in the parser's words: {problem}")
