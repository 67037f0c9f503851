"""Names and notations that contain digits and are no measurements: `results/unbound.yaml`, each with a reason."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from macros.entries import read_entries
from macros.manifests import Line, Model
from macros.problems import InputError, Problem


class AllowedName(Model):
    reason: Line


@dataclass
class Allowed:
    """Blanks allowed names out of a text and remembers which of them it met."""

    names: dict[str, AllowedName]
    used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        longest_first = sorted(self.names, key=len, reverse=True)
        joined = "|".join(re.escape(name) for name in longest_first)
        # A name must stand alone: B12X is not allowed inside B12X59.7.
        self._pattern = re.compile(rf"(?<![\w.])(?:{joined})(?![\w]|\.\d)") if joined else None

    def blank(self, text: str) -> str:
        if self._pattern is None:
            return text

        def replace(match: re.Match[str]) -> str:
            self.used.add(match.group())
            return " " * len(match.group())

        return self._pattern.sub(replace, text)


def read(results: Path) -> Allowed:
    """The list of `results/unbound.yaml`; a bare number or a number with a unit is no name."""
    names = read_entries(results / "unbound.yaml", AllowedName)
    numbers = [name for name in names if not re.search(r"[^\W\d_]", re.sub(r"tok/s|steps/s|шаг\w*/с|мс|ms", "", name))]
    if numbers:
        expected = "a name or notation with a letter in it"
        raise InputError([Problem("results/unbound.yaml", 0, 0, name, expected, "a number") for name in numbers])
    return Allowed(names)
