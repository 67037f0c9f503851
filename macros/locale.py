"""The words of one language: separators, units, and names for everything in the vocabularies."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from babel import Locale as Cldr

from macros import strict_yaml
from macros.problems import InputError, Problem
from macros.vocabulary import LANGUAGES, Language

FOLDER = Path(__file__).parent / "locales"


@dataclass(frozen=True)
class Locale:
    """`words` is the nested content of locales/LANG.yaml; ask for a word with `key` or `group.key`."""

    language: Language
    words: Mapping[str, Any]

    @property
    def decimal(self) -> str:
        return str(self.words["decimal_separator"])

    @property
    def thousands(self) -> str:
        return str(self.words["thousands_separator"])

    def word(self, key: str) -> str:
        """The text at `key` or `group.key`; raises KeyError, which stops the build."""
        try:
            return self._texts[key]
        except KeyError:
            raise KeyError(f"no word for {key!r} in locales/{self.language}.yaml") from None

    @functools.cached_property
    def _texts(self) -> dict[str, str]:
        """Every text by its whole key: a build asks forty thousand times."""
        grouped = {
            f"{group}.{key}": text
            for group, texts in self.words.items()
            if isinstance(texts, Mapping)
            for key, text in texts.items()
        }
        return {key: text for key, text in (grouped | dict(self.words)).items() if isinstance(text, str)}

    def name(self, group: str, value: str | None) -> str:
        """The name of a vocabulary's value, or the words for what is not published."""
        return self.word("not_published") if value is None else self.word(f"{group}.{value}")

    def known(self, group: str, value: str) -> str:
        """The translation of a name that comes from data, or the name itself."""
        return str(self.words[group].get(value, value))

    def plural(self, number: int | float, key: str) -> str:
        """The form of a counted word that goes with a number, by the plural rules of CLDR."""
        return self.word(f"{key}.{Cldr.parse(self.language).plural_form(number)}")


@functools.cache
def locale(language: Language) -> Locale:
    file = f"macros/locales/{language}.yaml"
    data, _, problems = strict_yaml.read(FOLDER / f"{language}.yaml", file)
    if problems or not isinstance(data, dict):
        raise InputError(problems or [Problem(file, 1, 1, "", "a mapping of words", "something else")])
    return Locale(language, data)


def locales() -> dict[Language, Locale]:
    return {language: locale(language) for language in LANGUAGES}
