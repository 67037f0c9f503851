"""One input file: its bytes, hash, text and JSON documents, read strictly and with every oddity named."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from macros.importers.scrub import clean
from macros.problems import InputError, Problem

# Everything but a log is small; a JSON report of a long run with its texts has been seen at tens of MB.
MAX_BYTES = 256 << 20
HEAD_BYTES = 1 << 18
HASH_BYTES = 1 << 18


def refuse(file: str, expected: str, found: str, *, line: int = 0, column: int = 0, field: str = "") -> NoReturn:
    """Ends the reading of one file: what it is, and what would be needed."""
    raise InputError([Problem(file, line, column, field, expected, clean(found, 200) or "nothing")])


class Digest:
    """The SHA-256 of the first `size` bytes of a file."""

    def __init__(self, path: Path) -> None:
        self._path, self._digest, self.size = path, hashlib.sha256(), 0

    def advance(self, count: int) -> None:
        """Takes in the next `count` bytes."""
        buffer, end = memoryview(bytearray(min(HASH_BYTES, max(count, 0)))), self.size + count
        with self._path.open("rb", buffering=0) as file:
            file.seek(self.size)
            while read := file.readinto(buffer[: end - self.size]):
                self._digest.update(buffer[:read])
                self.size += read

    @property
    def hex(self) -> str:
        return self._digest.hexdigest()


@dataclass
class RawFile:
    """`name` is what messages and manifests print: the file's own name, never its folder."""

    path: Path
    name: str
    flags: list[str] = field(default_factory=list)

    @classmethod
    def open(cls, path: Path) -> RawFile:
        name = clean(path.name, 120) or "unnamed"
        try:
            size = path.stat().st_size
            with path.open("rb"):
                pass
        except (OSError, ValueError) as error:
            refuse(name, "a readable file", getattr(error, "strerror", None) or str(error))
        if not size:
            refuse(name, "the output of a benchmark tool", "an empty file")
        return cls(path, name)

    @cached_property
    def size(self) -> int:
        return self.path.stat().st_size

    @cached_property
    def head(self) -> bytes:
        with self.path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        return head.decode("utf-16", "replace").encode()[:HEAD_BYTES] if self.is_utf16 else head

    @cached_property
    def is_utf16(self) -> bool:
        """By the byte order mark. Redirected Windows consoles write UTF-16."""
        with self.path.open("rb") as file:
            return file.read(2) in (b"\xff\xfe", b"\xfe\xff")

    @cached_property
    def raw(self) -> bytes:
        if self.size > MAX_BYTES:
            refuse(self.name, f"at most {MAX_BYTES >> 20} MiB, or a server log", f"{self.size >> 20} MiB")
        return self.path.read_bytes()

    @cached_property
    def sha256(self) -> str:
        digest = Digest(self.path)
        digest.advance(self.size)
        return digest.hex

    @cached_property
    def text(self) -> str:
        raw = self.raw
        if self.is_utf16:
            try:
                return raw.decode("utf-16")
            except UnicodeDecodeError:
                refuse(self.name, "whole UTF-16 text after its byte order mark", "text that is cut off")
        try:
            return raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            self.flags.append("The file is not UTF-8; it was read as Latin-1.")
            return raw.decode("latin-1")

    @cached_property
    def looks_like_json(self) -> bool:
        start = self.head.removeprefix(b"\xef\xbb\xbf").lstrip()
        # A log line may start with "[2026-…" or "[mxfp4.py": only a bracket that opens data counts.
        if start.startswith((b"//", b"/*")):
            return True  # JSON with comments, which `documents` refuses by name.
        return start[:1] == b"{" or re.match(rb'\[\s*[{\[\]"\d-](?!\d{3}-)', start) is not None

    @cached_property
    def documents(self) -> list[Any]:
        """The JSON values in the file: one, or several joined by white space (`--append-result`, JSONL).

        Numbers keep their digits as Decimal; NaN and Infinity come out as such Decimals, which `Fields` holds back.
        A last line that is cut off is dropped with a flag; any other defect refuses the file.
        """
        text, decoder = self.text, _decoder(self.name)
        values: list[Any] = []
        at = _skip(text, 0)
        while at < len(text):
            try:
                value, end = decoder.raw_decode(text, at)
            except RecursionError:
                refuse(self.name, "JSON of a sane depth", "JSON that is nested too deeply")
            except ValueError as error:
                line = text.count("\n", 0, getattr(error, "pos", at)) + 1
                if values and text[at] == "{" and "\n" not in text[at:].rstrip() and at and text[at - 1] == "\n":
                    self.flags.append(f"Line {line} is cut off; it was left out.")
                    break
                column = getattr(error, "colno", 0)
                refuse(self.name, _json_hint(text, error), _json_found(text, error), line=line, column=column)
            values.append(value)
            at = _skip(text, end)
        return values


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n\ufeff":
        at += 1
    return at


def _decoder(file: str) -> json.JSONDecoder:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(items)
        if len(result) != len(items):
            seen: set[str] = set()
            twice = next(key for key, _ in items if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            refuse(file, "each key once", "the key a second time", field=clean(twice, 60))
        return result

    return json.JSONDecoder(parse_float=Decimal, parse_constant=Decimal, object_pairs_hook=pairs)


def _json_hint(text: str, error: ValueError) -> str:
    if re.match(r"\s*/[/*]", text[getattr(error, "pos", len(text)) :]):
        return "JSON without comments"
    return "whole, valid JSON (was the file cut off or edited?)"


def _json_found(text: str, error: ValueError) -> str:
    position = getattr(error, "pos", None)
    if position is None:
        return "a number with too many digits"
    if position >= len(text.rstrip()) or str(error).startswith("Unterminated"):
        return "the end of the file in the middle of a value"
    return f"{getattr(error, 'msg', error)} at {text[position : position + 20]!r}"


@dataclass
class Fields:
    """Typed access to a JSON object. Wrong types are collected as problems; unusable numbers are held back by name."""

    file: str
    data: dict[str, Any]
    at: str = ""
    problems: list[Problem] = field(default_factory=list)
    unusable: list[str] = field(default_factory=list)

    def path(self, key: str) -> str:
        return f"{self.at}.{key}" if self.at else key

    def number(self, key: str, *, needed: bool = False) -> Decimal | None:
        """A finite number, else None. A missing key is only a problem where it is needed."""
        value = self.data.get(key)
        if value is None:
            if needed:
                self.problem(key, "a number", "null" if key in self.data else "no such key")
            return None
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            self.problem(key, "a number", f"{type(value).__name__} {str(value)[:40]!r}")
            return None
        number = Decimal(value)
        if not number.is_finite() and needed:
            self.problem(key, "a finite number", str(number))
            return None
        if not number.is_finite():
            self.unusable.append(f"{self.path(key)} is {number} in the file")
            return None
        if number and not -9 <= number.adjusted() <= 11:
            self.problem(key, "a number of a sane size", str(value)[:40])
            return None
        return number

    def positive(self, key: str) -> Decimal | None:
        """A number above 0; zero is what these tools write for "no value"."""
        value = self.number(key)
        return value if value is not None and value > 0 else None

    def deviation(self, key: str) -> Decimal | None:
        """A standard deviation; zero is what these tools write for a single observation."""
        value = self.number(key)
        if value is not None and value < 0:
            self.problem(key, "a deviation of at least 0", str(value))
        return value if value is not None and value > 0 else None

    def count(self, key: str, *, needed: bool = False) -> int | None:
        value = self.number(key, needed=needed)
        if value is None:
            return None
        if value != value.to_integral_value() or value < 0 or value > 10**9:
            self.problem(key, "a whole number of at least 0", str(value))
            return None
        return int(value)

    def text(self, key: str) -> str | None:
        value = self.data.get(key)
        return clean(value, 200) or None if isinstance(value, str) else None

    def child(self, key: str) -> Fields:
        value = self.data.get(key)
        return Fields(self.file, value if isinstance(value, dict) else {}, self.path(key), self.problems, self.unusable)

    def numbers(self, key: str) -> tuple[Decimal, ...]:
        """A list of finite numbers; empty where the key is missing or holds anything else."""
        value = self.data.get(key)
        if not isinstance(value, list) or not all(isinstance(v, int | Decimal) for v in value):
            return ()
        numbers = tuple(Decimal(v) for v in value)
        return numbers if all(n.is_finite() and n.adjusted() <= 11 for n in numbers) else ()

    def problem(self, key: str, expected: str, found: str) -> None:
        self.problems.append(
            Problem(self.file, 0, 0, clean(self.path(key), 120), expected, clean(found, 120) or "nothing")
        )

    def finish(self) -> None:
        """Refuses the file with all its problems at once."""
        if self.problems:
            raise InputError(self.problems)
