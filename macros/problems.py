"""What is wrong with the input, said so that a person can mend it: place, field, expected, found."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Problem:
    """One mistake. `line` and `column` count from 1; 0 means that the file as a whole is meant.

    `also` are the other places of the same mistake, each with what stands there.
    """

    file: str
    line: int
    column: int
    field: str
    expected: str
    found: str
    also: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = self.file + (f":{self.line}:{self.column}" if self.line else "")
        field = f" {self.field}:" if self.field else ""
        also = "".join(f"\n    {other}" for other in self.also)
        return f"{place}:{field} expected {self.expected}; found {self.found}{also}"


def nearest(name: str, known: Iterable[str]) -> str:
    """A question after the known name that is nearest, to stand after what was expected; empty where none is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {near[0]}?)" if near else ""


class InputError(Exception):
    """All problems of one pass over the input, sorted by place."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = sorted(set(problems))
        count = len(self.problems)
        head = f"{count} problem{'s' if count != 1 else ''}; nothing was built or changed"
        super().__init__("\n".join([head, *(f"  {p}" for p in self.problems)]))
