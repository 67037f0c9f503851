"""The gate's lists of words: number words that need a statement, and Latin words that a Russian page may have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from macros import manifests, strict_yaml
from macros.manifests import Line, M, Model
from macros.problems import InputError, Problem
from macros.vocabulary import LANGUAGES, Language


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"a regular expression ({error})") from None
    return pattern


Pattern = Annotated[Line, AfterValidator(_compiles)]
Words = Annotated[tuple[Line, ...], Field(min_length=1, strict=False)]


Patterns = Annotated[tuple[Pattern, ...], Field(min_length=1, strict=False)]


class NumberWords(Model):
    """Patterns for whole words of each language."""

    en: Patterns
    ru: Patterns


class LatinWords(Model):
    """Words by their kind."""

    names: Words
    code: Words
    terms: Words


@dataclass(frozen=True)
class WordLists:
    """`number` finds a number word of a language; `latin` gives the kind of each word that is allowed."""

    number: Mapping[Language, re.Pattern[str]]
    latin: Mapping[str, str]


def read(results: Path) -> WordLists:
    """Both lists; raises InputError where one is missing or is no list, since without it the gate would be open."""
    problems: list[Problem] = []
    number = _read(results, "number-words.yaml", NumberWords, problems)
    latin = _read(results, "latin-words.yaml", LatinWords, problems)
    if number is None or latin is None:
        raise InputError(problems)
    patterns = {
        language: re.compile(rf"(?<!\w)(?:{'|'.join(getattr(number, language))})(?!\w)", re.IGNORECASE)
        for language in LANGUAGES
    }
    return WordLists(patterns, {word: kind for kind in LatinWords.model_fields for word in getattr(latin, kind)})


def _read(results: Path, name: str, model: type[M], problems: list[Problem]) -> M | None:
    file = f"{results.name}/{name}"
    data, text, found = strict_yaml.read(results / name, file)
    if data is None:
        problems += found or [Problem(file, 1, 1, "", "lists of words", "an empty file")]
        return None
    read, more = manifests.validate(data, text, file, model)
    problems += found + more
    return None if found + more else read
