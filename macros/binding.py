"""Invisible marks that bind text to its origin while a site is built.

Whatever prints a number from data puts it between BOUND and END. The marks travel through Markdown, templates,
attributes and JSON alike. After the build the gate reads every page: a digit outside marks was typed by hand.
Then the marks are taken out. They are private-use characters, which no source file may contain.
"""

from __future__ import annotations

import re

BOUND = "\ue000"
END = "\ue001"
# A statement's mark stands before its sentence and carries the statement's id.
STATEMENT = "\ue002"
STATEMENT_END = "\ue003"

ANY = re.compile("[\ue000-\uf8ff]")
_BOUND_SPAN = re.compile(f"{BOUND}([^{BOUND}{END}]*){END}")
_STATEMENT_SPAN = re.compile(f"{STATEMENT}([a-z0-9-]*){STATEMENT_END}")


def bind(text: str) -> str:
    """The text, marked as coming from data."""
    return f"{BOUND}{text}{END}"


def statement(statement_id: str) -> str:
    """The mark that binds the sentence after it to a statement."""
    return f"{STATEMENT}{statement_id}{STATEMENT_END}"


def strip(text: str) -> str:
    """The text as readers see it."""
    return _STATEMENT_SPAN.sub("", text).replace(BOUND, "").replace(END, "")


def unbound(text: str) -> str:
    """What is left when everything that comes from data is blanked out, at unchanged positions."""
    rest, count = _STATEMENT_SPAN.sub(_blank, text), 1
    # A bound label may hold bound numbers: the innermost goes first.
    while count:
        rest, count = _BOUND_SPAN.subn(_blank, rest)
    return rest


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())
