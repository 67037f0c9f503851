"""The whole input of the site, loaded once a build: manifests, figures, statements, profiles, charts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from macros import allowed, dataset, figures, manifests, places, repeats, statements
from macros.allowed import Allowed
from macros.dataset import Dataset
from macros.entries import read_entries
from macros.figures import Figure
from macros.glossary import Entry
from macros.locale import locales
from macros.manifests import Id, Line, Model, Ruled, Text
from macros.problems import InputError, Problem, nearest
from macros.repeats import Repeats
from macros.statements import Statement
from macros.vocabulary import LANGUAGES, Quantity, Question


class Profile(Model):
    """A prompt profile that manifests name. `class` groups profiles that load a server alike.

    `exact: false`: only the kind of prompt is known, so two figures with this profile may differ in their prompts.
    """

    group: Annotated[Line, Field(alias="class")]
    exact: bool = True
    label: Text
    description: Text


class Label(Model):
    """One label that a tool prints. `means` null: none of the quantities of these pages."""

    label: Line
    versions: Line | None = None
    means: Quantity | None
    note: Text


class Tool(Model):
    name: Line
    labels: Annotated[tuple[Label, ...], Field(min_length=1, strict=False)]


class ProfileClass(Model):
    """A kind of prompt: what a profile's `class` names."""

    label: Text
    description: Text


class ChartRow(Model):
    """One line of a dot-and-whisker chart."""

    label: Text
    note: Text | None = None
    question: Question
    figures: Annotated[tuple[Id, ...], Field(strict=False)] = ()
    edge: Id | None = None
    edge_note: Text | None = None


class ChartSeries(Model):
    """One line of a curve chart; `missing` names runs that were planned and have no result."""

    label: Text
    question: Question
    joined: bool
    figures: Annotated[tuple[Id, ...], Field(min_length=1, strict=False)]
    missing: Annotated[tuple[Id, ...], Field(strict=False)] = ()


class ChartSpec(Ruled):
    """A chart of `results/charts.yaml`. Texts may print figures with {figure-id}.

    A chart has rows (dots and whiskers) or series (a curve). A curve's `x` is the prompt tokens of each figure, on a
    logarithmic axis, or the positions of drafted tokens, whose acceptance its figures' measurements list.
    """

    title: Text
    axis: Text
    caption: Text
    alternative: Text
    from_zero: bool
    rows: Annotated[tuple[ChartRow, ...], Field(strict=False)] = ()
    series: Annotated[tuple[ChartSeries, ...], Field(strict=False)] = ()
    x: Literal["prompt_tokens", "position"] | None = None
    x_axis: Text | None = None
    page: str = ""

    def rules(self) -> Iterator[tuple[str, str, str]]:
        if bool(self.rows) == bool(self.series):
            yield "rows", "either rows or series", "both" if self.rows else "neither"
        if self.series and (self.x is None or self.x_axis is None):
            yield "x", "x and x_axis for series", "no such keys"

    @property
    def figures(self) -> tuple[str, ...]:
        """The figures that the chart draws, each once, in order."""
        names = [name for row in self.rows for name in (*row.figures, *([row.edge] if row.edge else []))]
        names += [name for series in self.series for name in series.figures]
        return tuple(dict.fromkeys(names))

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(name for series in self.series for name in series.missing)

    @property
    def texts(self) -> dict[tuple[str | int, ...], Text]:
        """Every text of the chart by its place in the file."""
        found: dict[tuple[str | int, ...], Text | None] = {
            (name,): getattr(self, name) for name in ("title", "axis", "x_axis", "caption", "alternative")
        }
        for index, row in enumerate(self.rows):
            found |= {("rows", index, "label"): row.label, ("rows", index, "note"): row.note}
            found |= {("rows", index, "edge_note"): row.edge_note}
        found |= {("series", index, "label"): series.label for index, series in enumerate(self.series)}
        return {place: text for place, text in found.items() if text}

    @property
    def printed(self) -> tuple[str, ...]:
        """All figures that its texts or marks print."""
        named = [
            name for text in self.texts.values() for name in re.findall(r"\{([a-z0-9-]+)(?::\w+)?\}", text.en + text.ru)
        ]
        return tuple(dict.fromkeys([*self.figures, *named]))


@dataclass(frozen=True)
class Site:
    results: Path
    dataset: Dataset
    figures: Mapping[str, Figure]
    statements: Mapping[str, Statement]
    profiles: Mapping[str, Profile]
    charts: Mapping[str, ChartSpec]
    allowed: Allowed
    glossary: Mapping[str, Entry]
    tools: Mapping[str, Tool]
    repeats: Repeats
    profile_classes: Mapping[str, ProfileClass]

    def span_of(self, figure_id: str) -> Figure | None:
        """The figure that prints the span of this one's runs, or the spread published of them."""
        figure = self.figures[figure_id]
        for other in self.figures.values():
            if other.formula and other.formula.kind == "span" and other.formula.of == (figure_id,):
                return other
            published = figure.relative_spread and other.value is None and other.kind == "measured"
            if published and other.manifests == figure.manifests:
                return other
        return None


def load(results: Path) -> Site:
    """Reads and resolves everything under `results/`; raises InputError with all problems of a stage."""
    data = dataset.load(results)
    profiles = read_entries(results / "profiles.yaml", Profile)
    classes = read_entries(results / "profile-classes.yaml", ProfileClass)
    charts = read_entries(results / "charts.yaml", ChartSpec)
    # First, since a run of another profile is in no figure, which would be said instead.
    if unknown := list(_unknown_profiles(data, profiles)):
        raise InputError(unknown)
    resolved = figures.resolve(results, data)
    names = allowed.read(results)
    problems = list(_unknown_names(charts, resolved, data))
    problems += _typed_numbers(results / "charts.yaml", charts, names)
    problems += _typed_words(names)
    if problems:
        raise InputError(problems)
    checked = statements.read(results, resolved, data.published.values())
    terms = read_entries(results / "glossary.yaml", Entry)
    labels = read_entries(results / "tools.yaml", Tool)
    return Site(
        results, data, resolved, checked, profiles, charts, names, terms, labels, repeats.read(results), classes
    )


def _unknown_profiles(data: Dataset, profiles: Mapping[str, Profile]) -> Iterator[Problem]:
    for manifest in data.manifests.values():
        profile = manifest.workload.profile
        if profile and profile not in profiles:
            expected = f"a profile of results/profiles.yaml{nearest(profile, profiles)}"
            yield data.problem(manifest.id, ("workload", "profile"), expected, profile)


def _unknown_names(charts: Mapping[str, ChartSpec], figures: Mapping[str, Figure], data: Dataset) -> Iterator[Problem]:
    for chart_id, chart in charts.items():
        for names, known, kind in ((chart.figures, figures, "figure"), (chart.missing, data.runs, "run")):
            for name in names:
                if name not in known:
                    expected = f"the id of a {kind}{nearest(name, known)}"
                    yield dataset.placed(data.results, "results/charts.yaml", (chart_id,), expected, name)


def _typed_numbers(path: Path, charts: Mapping[str, ChartSpec], names: Allowed) -> list[Problem]:
    """Charts are drawn as pictures, so that no number may be typed into their texts to begin with."""
    source = path.read_text("utf-8")
    problems = []
    for chart_id, chart in charts.items():
        for where, text in chart.texts.items():
            for language in LANGUAGES:
                typed = re.search(r"\d[\d.,]*", names.blank(re.sub(r"\{[^}]*\}", "", getattr(text, language))))
                if typed:
                    key = (chart_id, *where, language)
                    line, column, _ = places.place(source, key)
                    place = manifests.dotted(key)
                    problems.append(Problem("results/charts.yaml", line, column, place, "{figure-id}", typed.group()))
    return problems


# Notations inside the locales' words: of formulas, of intervals, of a hash, of a shell, and an example to type.
_NOTATIONS = re.compile(r"95%|2n\b|\b1000 /|SHA-256|33–41|2>&1|Mxfp4")


def _typed_words(names: Allowed) -> Iterator[Problem]:
    """The locales' words may print no number of their own; not all of them reach a page that the gate reads."""
    for language, words in locales().items():
        for group, value in words.words.items():
            for key, word in value.items() if isinstance(value, Mapping) else [("", value)]:
                rest = _NOTATIONS.sub(" ", names.blank(re.sub(r"\{[^}]*\}", " ", str(word))))
                if group == "formula":
                    rest = re.sub(r"(?<![\w.])[12](?![\w.])", " ", rest)
                typed = re.search(r"\d[\d.,]*", rest)
                if typed:
                    place = f"{group}.{key}".rstrip(".")
                    yield Problem(f"macros/locales/{language}.yaml", 0, 0, place, "no typed number", typed.group())
