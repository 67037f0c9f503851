"""What is wrong with the input, said so that a person can mend it: place, field, expected, found."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

# How much of a stranger's file a message repeats: problems of one file, and characters of each part.
MOST = 20
KEY = 80
FOUND = 200
EXPECTED = 500  # may list what is allowed


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
        field = f" {cut(self.field, KEY)}:" if self.field else ""
        also = "".join(f"\n    {other}" for other in self.also)
        return f"{place}:{field} expected {cut(self.expected, EXPECTED)}; found {cut(self.found, FOUND)}{also}"


def nearest(name: str, known: Iterable[str]) -> str:
    """A question after the known name that is nearest, to stand after what was expected; empty where none is near."""
    # No slip of the pen is as long, and comparing takes long.
    near = difflib.get_close_matches(name, list(known), n=1) if len(name) <= KEY else []
    return f" (did you mean {near[0]}?)" if near else ""


def cut(text: str, most: int = KEY) -> str:
    """A text of at most so many characters and an ellipsis."""
    return text if len(text) <= most else f"{text[:most]}…"


class InputError(Exception):
    """All problems of one pass over the input, sorted by place. Its text has the first ones of each file."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = sorted(set(problems), key=attrgetter(*Problem.__match_args__))
        count = len(self.problems)
        head = f"{count} problem{'s' if count != 1 else ''}; nothing was built or changed"
        super().__init__("\n".join([head, *(f"  {line}" for line in self._lines())]))

    def _lines(self) -> Iterator[str]:
        for file, group in groupby(self.problems, key=attrgetter("file")):
            here = list(group)
            yield from map(str, here[:MOST])
            if len(here) > MOST:
                yield f"{file}: … and {len(here) - MOST:,} more"
