"""Figures: each number that the site prints, defined once in `results/figures.yaml` and resolved from manifests.

A figure is a selection of runs, one value of a manifest, or a formula over other figures. A run that matches a
selection joins it. A published summary without samples is never pooled with raw runs: once raw runs of the
same configuration are there, they supersede it and it stays in the figure's history. One run alone, which has no
spread, cannot take the place of a summary whose span other figures are made of.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from macros import manifests, places, strict_yaml
from macros.binding import bind
from macros.dataset import Dataset
from macros.formulas import FORMULAS, MAKES, Display, FormulaError, Operand, Result, SpreadError
from macros.manifests import (
    COMPARED,
    Configuration,
    Correction,
    Id,
    Line,
    Manifest,
    Measurement,
    Model,
    Prose,
    PublishedFigure,
    Ruled,
    Run,
    Source,
    Text,
)
from macros.numbers import WIDE_SPREAD, Expression, half_unit, short_count
from macros.problems import InputError, Problem, nearest
from macros.statistics import FEW, median_interval
from macros.vocabulary import EVIDENCE, Evidence, Quantity, Question, Status

Kind = Literal["measured", "derived", "published"]


class Selection(Model):
    """All runs with this quantity whose settings equal `where`; a run that does not state a key does not match."""

    quantity: Quantity
    where: Annotated[dict[str, str | int | bool], Field(min_length=1)]


class FormulaSpec(Model):
    """`studies` are the keys in which the operands may differ, since the formula is about them.

    Some formulas take something else than figures: a number of `runs`, or the counts of one `measurement`.
    """

    kind: Line
    of: Annotated[tuple[Id, ...], Field(strict=False)] = ()
    studies: Annotated[tuple[Line, ...], Field(strict=False)] = ()
    runs: int | None = None
    measurement: Line | None = None
    superseded_operands: bool = False


class FigureSpec(Ruled):
    """One entry of figures.yaml. Exactly one of select, measurement, comparison, published and formula is given."""

    label: Text
    question: Question
    select: Selection | None = None
    measurement: Line | None = None
    comparison: Id | None = None
    published: Id | None = None
    formula: FormulaSpec | None = None
    part: Literal["value", "relative_spread", "effect", "before", "after"] | None = None
    unused: Prose | None = None

    def rules(self) -> Iterator[tuple[str, str, str]]:
        ways = ("select", "measurement", "comparison", "published", "formula")
        given = [way for way in ways if getattr(self, way) is not None]
        if len(given) != 1:
            yield "label", f"exactly one of {', '.join(ways)}", ", ".join(given) or "none"
        if self.formula and self.formula.kind not in FORMULAS:
            yield "formula.kind", f"one of {', '.join(FORMULAS)}", self.formula.kind


@dataclass(frozen=True)
class Past:
    """A value that a figure had before: the manifest it came from and why it is no longer used."""

    manifest: str
    value: Expression | None
    low: Expression | None
    high: Expression | None
    n: int | None
    reason: Literal["raw_runs", "superseded", "withdrawn"]


@dataclass(frozen=True)
class Figure:
    """One resolved figure. `value` is None for a bare range; `low`/`high` are the range or the value's min–max span.

    `interval` is the 95 % interval of the median, where there are runs enough for one.
    """

    id: str
    kind: Kind
    label: Text
    question: Question
    quantity: Quantity | None
    unit: str
    display: Display
    statistic: str | None
    value: Expression | None
    low: Expression | None
    high: Expression | None
    interval: tuple[Expression, Expression] | None
    n: int | None
    relative_spread: tuple[Decimal, Decimal] | None
    evidence: Evidence | None
    status: Status
    superseded_by: str | None
    correction: Correction | None
    date: datetime.date | None
    manifests: tuple[str, ...]
    sources: tuple[Source, ...]
    formula: FormulaSpec | None
    config: Mapping[str, Any]
    differing: Mapping[str, Mapping[str, Any]]
    unstated: tuple[str, ...]
    same_as: frozenset[tuple[str, str]]
    acceptance_length: Decimal | None
    wide_operands: bool = False
    history: tuple[Past, ...] = ()
    unused: str | None = None
    select: Selection | None = None

    @property
    def is_range(self) -> bool:
        return self.value is None

    @property
    def spread_share(self) -> Fraction | None:
        """Spread as a share of the value; the wider of what the runs show and what was published of them."""
        shares = []
        if self.value is not None and self.low is not None and self.high is not None:
            shares.append((self.high.value - self.low.value) / self.value.value)
        if self.relative_spread:
            shares.append(Fraction(self.relative_spread[1]) / 100)
        return max(shares, default=None)

    @property
    def wide(self) -> bool:
        """True where its run-to-run spread, or an operand's, leaves a factor one significant digit."""
        return self.wide_operands or (self.spread_share or 0) > WIDE_SPREAD

    def operand(self) -> Operand:
        return Operand(self.value, self.low, self.high, self.unit, self.display)


class Resolver:
    """Resolves the definitions of one figures.yaml against one dataset, collecting every problem."""

    def __init__(self, specs: Mapping[str, FigureSpec], dataset: Dataset, file: str, text: str) -> None:
        self.specs, self.dataset, self.file, self.text = specs, dataset, file, text
        self.problems: list[Problem] = []
        self.figures: dict[str, Figure | None] = {}
        self.open: list[str] = []
        # Figure → formulas that lack its spread, since one run took the place of a summary that had one.
        self.displaced: dict[str, list[str]] = {}

    def all(self) -> dict[str, Figure]:
        for figure_id in self.specs:
            self.get(figure_id)
        for figure_id, formulas in self.displaced.items():
            self._report_displaced(figure_id, formulas)
        if self.problems:
            raise InputError(self.problems)
        figures = {figure_id: figure for figure_id, figure in self.figures.items() if figure}
        return {figure_id: figures[figure_id] for figure_id in self.specs}

    def get(self, figure_id: str) -> Figure | None:
        if figure_id in self.figures:
            return self.figures[figure_id]
        if figure_id in self.open:
            circle = " → ".join([*self.open, figure_id])
            self.report(self.open[-1], ("formula", "of"), "no circle of formulas", circle)
            return None
        self.open.append(figure_id)
        self.figures[figure_id] = self._resolve(figure_id, self.specs[figure_id])
        self.open.pop()
        return self.figures[figure_id]

    def report(self, figure_id: str, path: tuple[str | int, ...], expected: str, found: str) -> None:
        full = (figure_id, *path)
        line, column, _ = places.place(self.text, full)
        self.problems.append(Problem(self.file, line, column, manifests.dotted(full), expected, found))

    def _resolve(self, figure_id: str, spec: FigureSpec) -> Figure | None:
        if spec.select:
            return self._selected(figure_id, spec, spec.select)
        if spec.measurement:
            return self._measured(figure_id, spec, spec.measurement)
        if spec.formula and spec.formula.measurement:
            return self._steps(figure_id, spec, spec.formula, spec.formula.measurement)
        if spec.comparison:
            return self._compared(figure_id, spec, spec.comparison)
        if spec.published:
            return self._published(figure_id, spec, spec.published)
        assert spec.formula
        return self._derived(figure_id, spec, spec.formula)

    def _unknown(self, figure_id: str, field: str, name: str, known: Mapping[str, Any], what: str) -> None:
        self.report(figure_id, (field,), f"the id of {what}{nearest(name, known)}", name)

    # Selections and single measurements

    def _selected(self, figure_id: str, spec: FigureSpec, select: Selection) -> Figure | None:
        unknown = [key for key in select.where if key not in COMPARED]
        for key in unknown:
            self.report(figure_id, ("select", "where", key), "a key that is compared", key)
        if unknown:
            return None
        everything = [
            (seen, m)
            for run in self.dataset.runs.values()
            for m in run.measurements
            if m.quantity == select.quantity
            for seen in [manifests.as_measured(run, m)]
            if all(manifests.setting(seen, k) == v for k, v in select.where.items())
        ]
        matching = [(run, m) for run, m in everything if run.status == "current"]
        corrected = tuple(
            Past(run.id, *_expressions(run, m), m.n, run.correction.status) for run, m in everything if run.correction
        )
        raw = [(run, m) for run, m in matching if _is_raw(m)]
        summaries = [(run, m) for run, m in matching if not _is_raw(m)]
        if raw:
            history = tuple(
                Past(run.id, *_expressions(run, m), m.n, "raw_runs")
                for run, m in summaries  # superseded, never pooled
            )
            return self._pooled(figure_id, spec, raw, history + corrected)
        if len(summaries) == 1:
            single = self._single(figure_id, spec, *summaries[0])
            return replace(single, history=corrected) if single else None
        found = ", ".join(run.id for run, _ in summaries) or "none"
        self.report(figure_id, ("select",), "raw runs (n: 1, or with samples), or exactly one published summary", found)
        return None

    def _measured(self, figure_id: str, spec: FigureSpec, name: str) -> Figure | None:
        found = self._measurement(figure_id, name)
        return self._single(figure_id, spec, *found) if found else None

    def _measurement(self, figure_id: str, name: str) -> tuple[Run, Measurement] | None:
        """The run and the measurement that `run/measurement` names."""
        run_id, _, measurement_id = name.partition("/")
        run = self.dataset.runs.get(run_id)
        if run is None:
            self._unknown(figure_id, "measurement", run_id, self.dataset.runs, "a run")
            return None
        for m in run.measurements:
            if m.id == measurement_id:
                return manifests.as_measured(run, m), m
        known = ", ".join(f"{run_id}/{m.id}" for m in run.measurements)
        self.report(figure_id, ("measurement",), f"one of {known}", name)
        return None

    def _single(self, figure_id: str, spec: FigureSpec, run: Run, m: Measurement) -> Figure | None:
        common = self._from_manifest(figure_id, spec, run)
        relative = (m.relative_spread.low, m.relative_spread.high) if m.relative_spread else None
        if spec.part == "relative_spread":
            if relative is None:
                self.report(figure_id, ("part",), f"a relative_spread in {run.id}/{m.id}", "none")
                return None
            ends = [Expression.recorded(f"{run.id}/{m.id}/spread-{i}", end) for i, end in enumerate(relative)]
            return Figure(
                **common,
                kind="measured",
                quantity=m.quantity,
                unit="%",
                display="recorded",
                statistic=None,
                value=None,
                low=ends[0],
                high=ends[1],
                interval=None,
                n=m.n,
                relative_spread=None,
                acceptance_length=m.acceptance_length,
            )
        value, low, high = _expressions(run, m)
        return Figure(
            **common,
            kind="measured",
            quantity=m.quantity,
            unit=m.unit,
            display="rate" if m.unit == "tok/s" else "recorded",
            statistic=m.statistic,
            value=value,
            low=low,
            high=high,
            interval=None,
            n=m.n,
            relative_spread=relative,
            acceptance_length=m.acceptance_length,
        )

    def _pooled(
        self, figure_id: str, spec: FigureSpec, raw: list[tuple[Run, Measurement]], history: tuple[Past, ...]
    ) -> Figure | None:
        """Raw runs of one configuration as one figure: mean and span below six runs, median with interval above."""
        differing = {
            key: values for key, values in _by_key({run.id: run for run, _ in raw}).items() if _known_differ(values)
        }
        if differing:
            words = "; ".join(f"{k}: {', '.join(f'{r} {v}' for r, v in vs.items())}" for k, vs in differing.items())
            self.report(figure_id, ("select",), "runs of one configuration (name these keys in `where`)", words)
            return None
        recorded = [s for _, m in raw for s in (m.samples or (m.value,)) if s is not None]
        samples = [Fraction(s) for s in recorded]
        half = max(half_unit(s) for s in recorded)
        n = len(samples)

        def leaf(name: str, number: Fraction) -> Expression:
            return Expression.leaf(f"{figure_id}/{name}", number, half)

        value, statistic, interval = _mean(raw, samples), "mean" if n > 1 else "single", None
        if n >= FEW:
            value, *ends = median_interval(samples)
            statistic = "median"
            interval = (leaf("interval-low", ends[0]), leaf("interval-high", ends[1]))
        runs = [run for run, _ in raw]
        lowest = min(runs, key=lambda run: EVIDENCE.index(run.evidence))
        m = raw[0][1]
        acceptance = {m.acceptance_length for _, m in raw}
        base = self._from_manifest(figure_id, spec, runs[0]) | {
            "evidence": lowest.evidence,
            "date": max((run.date for run in runs if run.date), default=None),
            "manifests": tuple(run.id for run in runs),
            "sources": tuple(dict.fromkeys(source for run in runs for source in run.sources)),
            "config": {
                key: next((v for v in vs.values() if v is not None), None)
                for key, vs in _by_key({run.id: run for run in runs}).items()
            },
            "history": history,
        }
        return Figure(
            **base,
            kind="measured",
            quantity=m.quantity,
            unit=m.unit,
            display="rate" if m.unit == "tok/s" else "recorded",
            statistic=statistic,
            value=leaf("value", value),
            low=leaf("low", min(samples)) if n > 1 else None,
            high=leaf("high", max(samples)) if n > 1 else None,
            interval=interval,
            n=n,
            relative_spread=None,
            acceptance_length=acceptance.pop() if len(acceptance) == 1 else None,
        )

    def _steps(self, figure_id: str, spec: FigureSpec, formula: FormulaSpec, name: str) -> Figure | None:
        """A formula over the counts of one measurement: verification steps a second."""
        found = self._measurement(figure_id, name)
        if found is None:
            return None
        run, m = found
        if m.drafts is None or m.seconds is None:
            self.report(figure_id, ("formula", "measurement"), "a measurement with drafts and seconds", name)
            return None
        result: Result = FORMULAS[formula.kind](
            Expression.leaf(f"{name}/drafts", Fraction(m.drafts), Fraction(0)),
            Expression.recorded(f"{name}/seconds", m.seconds),
        )
        return Figure(
            **(self._from_manifest(figure_id, spec, run) | {"formula": formula}),
            kind="derived",
            quantity=MAKES.get(formula.kind),
            unit=result.unit,
            display=result.display,
            statistic=None,
            value=result.value,
            low=None,
            high=None,
            interval=None,
            n=m.n,
            relative_spread=None,
            acceptance_length=m.acceptance_length,
        )

    # Effects and other publishers' figures

    def _compared(self, figure_id: str, spec: FigureSpec, name: str) -> Figure | None:
        comparison = self.dataset.comparisons.get(name)
        if comparison is None:
            self._unknown(figure_id, "comparison", name, self.dataset.comparisons, "a comparison")
            return None
        effect = comparison.effect
        part = spec.part or "effect"
        ends = {"effect": (effect.low, effect.high), "before": (effect.before,) * 2, "after": (effect.after,) * 2}
        low, high = ends.get(part, (None, None))
        if low is None or high is None:
            self.report(figure_id, ("part",), f"a part that {comparison.id} has", part)
            return None
        point = low == high
        low_expression = Expression.recorded(f"{comparison.id}/{part}-low", low)
        config = dict(_config(comparison))
        if part == "after":
            config[comparison.change.key] = comparison.change.variant
        base = self._from_manifest(figure_id, spec, comparison) | {"config": config}
        if part == "effect":
            base["differing"] = {
                comparison.change.key: {"baseline": comparison.change.baseline, "variant": comparison.change.variant}
            }
        return Figure(
            **base,
            kind="published",
            quantity=effect.quantity,
            unit=effect.unit,
            display="recorded",
            statistic=None,
            value=low_expression if point else None,
            low=None if point else low_expression,
            high=None if point else Expression.recorded(f"{comparison.id}/{part}-high", high),
            interval=None,
            n=effect.n,
            relative_spread=None,
            acceptance_length=None,
        )

    def _published(self, figure_id: str, spec: FigureSpec, name: str) -> Figure | None:
        entry = self.dataset.published.get(name)
        if entry is None:
            self._unknown(figure_id, "published", name, self.dataset.published, "a published figure")
            return None
        return Figure(**self._from_manifest(figure_id, spec, entry), **published_fields(entry))

    def _from_manifest(self, figure_id: str, spec: FigureSpec, manifest: Manifest) -> dict[str, Any]:
        correction = manifest.correction
        successor = correction.successor if correction else None
        by = next((i for i, s in self.specs.items() if successor in (s.comparison, s.published)), None)
        return {
            "id": figure_id,
            "label": _label(spec.label, manifest),
            "question": spec.question,
            "evidence": manifest.evidence,
            "status": manifest.status,
            "superseded_by": by if successor else None,
            "correction": correction,
            "date": manifest.date,
            "manifests": (manifest.id,),
            "sources": manifest.sources,
            "formula": None,
            "config": _config(manifest),
            "differing": {},
            "unstated": tuple(key for key, value in _config(manifest).items() if value is None),
            "same_as": _same_as(manifest),
            "unused": spec.unused,
            "select": spec.select,
        }

    # Formulas

    def _derived(self, figure_id: str, spec: FigureSpec, formula: FormulaSpec) -> Figure | None:
        for name in formula.of:
            if name not in self.specs:
                self._unknown(figure_id, "formula", name, self.specs, "a figure")
        operands = [self.get(name) for name in formula.of if name in self.specs]
        if len(operands) != len(formula.of) or any(o is None for o in operands):
            return None
        figures = [o for o in operands if o is not None]
        for figure in figures:
            if figure.status != "current" and not formula.superseded_operands:
                self.report(figure_id, ("formula", "of"), "current figures", f"{figure.id}, which is {figure.status}")
        try:
            arguments = [formula.runs] if formula.runs is not None else [f.operand() for f in figures]
            result: Result = FORMULAS[formula.kind](*arguments)
        except SpreadError as error:
            bare = [f for f in figures if f.low is None]
            lost = [f for f in bare if any(past.reason == "raw_runs" and past.low for past in f.history)]
            for figure in lost:
                self.displaced.setdefault(figure.id, []).append(figure_id)
            if not lost:
                self.report(figure_id, ("formula", "of"), str(error), ", ".join(f.id for f in bare))
            return None
        except FormulaError as error:
            self.report(figure_id, ("formula", "of"), str(error), ", ".join(formula.of))
            return None
        except (TypeError, ZeroDivisionError) as error:
            self.report(figure_id, ("formula",), f"operands that fit {formula.kind}", str(error))
            return None
        config, differing, unstated = combine(figures)
        unlike = {key: values for key, values in differing.items() if key not in formula.studies}
        if unlike:
            words = "; ".join(f"{k}: {', '.join(f'{f} {v}' for f, v in vs.items())}" for k, vs in unlike.items())
            expected = "operands that differ only in the keys under study" if formula.studies else "like operands"
            self.report(figure_id, ("formula", "studies"), expected, words)
        units = {f.unit for f in figures}
        if len(units) > 1 and formula.kind != "residual":
            self.report(figure_id, ("formula", "of"), "operands of one unit", ", ".join(sorted(units)))
        quantities = {f.quantity for f in figures if f.quantity}
        if len(quantities) > 1 and formula.kind != "contrast":
            expected = "operands of one quantity (only a contrast combines two)"
            self.report(figure_id, ("formula", "of"), expected, ", ".join(sorted(quantities)))
        evidence = min((f.evidence for f in figures if f.evidence), key=EVIDENCE.index, default=None)
        relative = figures[0].relative_spread if len(figures) == 1 else None
        return Figure(
            id=figure_id,
            kind="derived",
            label=spec.label,
            question=spec.question,
            quantity=MAKES.get(formula.kind, quantities.pop() if len(quantities) == 1 else None),
            unit=result.unit,
            display=result.display,
            statistic=figures[0].statistic if formula.kind == "span" else None,
            value=result.value,
            low=result.low,
            high=result.high,
            interval=None,
            n=figures[0].n if len(figures) == 1 else None,
            relative_spread=relative,
            evidence=evidence,
            status="current",
            superseded_by=None,
            correction=None,
            date=None,
            manifests=tuple(dict.fromkeys(name for f in figures for name in f.manifests)),
            sources=tuple(dict.fromkeys(source for f in figures for source in f.sources)),
            formula=formula,
            config=config,
            differing=differing,
            unstated=unstated,
            same_as=frozenset(),
            acceptance_length=None,
            wide_operands=any(f.wide for f in figures),
            unused=spec.unused,
        )

    def _report_displaced(self, figure_id: str, formulas: list[str]) -> None:
        """One problem for the run, which is the cause, rather than one for each formula."""
        figure = self.figures[figure_id]
        assert figure
        summary = next(past.manifest for past in figure.history if past.reason == "raw_runs" and past.low)
        measured = next(m for m in self.dataset.runs[summary].measurements if m.quantity == figure.quantity)
        expected = (
            f"a second run: in {figure_id} this one takes the place of the published summary {summary}, "
            f"and {', '.join(formulas)} need a spread (or keep the summary: in {self.file} give {figure_id} "
            f"`measurement: {summary}/{measured.id}` for its `select`)"
        )
        [run] = figure.manifests
        self.problems.append(self.dataset.problem(run, ("measurements",), expected, "one run, which has no spread"))


def published_fields(entry: PublishedFigure) -> dict[str, Any]:
    """What a figure takes from an entry of the register beside the fields that all manifests share."""
    return {
        "kind": "published",
        "quantity": entry.quantity,
        "unit": entry.unit,
        "display": "recorded",
        "statistic": entry.statistic,
        "value": Expression.recorded(f"{entry.id}/value", entry.value) if entry.value is not None else None,
        "low": Expression.recorded(f"{entry.id}/low", entry.low) if entry.low is not None else None,
        "high": Expression.recorded(f"{entry.id}/high", entry.high) if entry.high is not None else None,
        "n": entry.n,
        "interval": None,
        "relative_spread": None,
        "acceptance_length": entry.acceptance_length,
    }


def combine(figures: list[Figure]) -> tuple[dict[str, Any], dict[str, dict[str, Any]], tuple[str, ...]]:
    """What several figures have in common: shared settings, settings that differ, and keys that one does not state."""
    config: dict[str, Any] = {}
    differing: dict[str, dict[str, Any]] = {}
    unstated: list[str] = []
    for key in COMPARED:
        values = {f.id: f.config.get(key) for f in figures}
        inherited = {k: v for f in figures for k, v in f.differing.get(key, {}).items()}
        known = [v for v in values.values() if v is not None]
        config[key] = known[0] if known and len(known) == len(values) and not _known_differ(values) else None
        if _known_differ(values):
            differing[key] = values
        elif inherited and not all(key in f.differing for f in figures):
            differing[key] = inherited
        if len(known) < len(values) and not _said_to_be_same(figures, key):
            unstated.append(key)
    return config, differing, tuple(unstated)


def _said_to_be_same(figures: list[Figure], key: str) -> bool:
    owners = {name for f in figures for name in f.manifests}
    return any((other, key) in f.same_as for f in figures for other in owners - set(f.manifests))


def _same_as(manifest: Manifest) -> frozenset[tuple[str, str]]:
    if not isinstance(manifest, Run):
        return frozenset()
    return frozenset((shared.run, key) for shared in manifest.same_as for key in shared.keys)


def _label(label: Text, manifest: Configuration) -> Text:
    """The label with counts of its manifest filled in: "{workload.prompt_tokens}" as 16K."""

    def fill(text: str) -> str:
        return re.sub(r"\{([a-z_.]+)\}", lambda m: bind(short_count(manifests.setting(manifest, m[1]))), text)

    return Text(en=fill(label.en), ru=fill(label.ru))


def _config(manifest: Configuration) -> dict[str, Any]:
    return {key: manifests.setting(manifest, key) for key in COMPARED}


def _by_key(owners: Mapping[str, Configuration]) -> dict[str, dict[str, Any]]:
    return {key: {name: manifests.setting(m, key) for name, m in owners.items()} for key in COMPARED}


def _known_differ(values: Mapping[str, Any]) -> bool:
    return len({v for v in values.values() if v is not None}) > 1


def _is_raw(m: Measurement) -> bool:
    """Raw: the value of one run, or of several with every sample. A summary only has mean and span."""
    return m.samples is not None or (m.n == 1 and m.value is not None)


def _expressions(run: Run, m: Measurement) -> tuple[Expression | None, Expression | None, Expression | None]:
    def end(name: str, number: Decimal | None) -> Expression | None:
        return None if number is None else Expression.recorded(f"{run.id}/{m.id}/{name}", number)

    return end("value", m.value), end("low", m.low), end("high", m.high)


def _mean(raw: list[tuple[Run, Measurement]], samples: list[Fraction]) -> Fraction:
    """Rates average as total tokens over total time where both are known; else the mean of the samples."""
    tokens = [m.tokens for _, m in raw if m.tokens]
    seconds = [Fraction(m.seconds) for _, m in raw if m.seconds]
    if raw[0][1].unit == "tok/s" and len(tokens) == len(seconds) == len(raw):
        return sum(tokens) / sum(seconds, Fraction(0))
    return sum(samples, Fraction(0)) / len(samples)


def read_specs(path: Path, file: str) -> tuple[dict[str, FigureSpec], str]:
    """The definitions of figures.yaml; raises InputError with all problems."""
    data, text, problems = strict_yaml.read(path, file)
    specs: dict[str, FigureSpec] = {}
    if isinstance(data, dict):
        for figure_id, entry in data.items():
            spec, more = manifests.validate_entry(entry, text, file, FigureSpec, figure_id)
            problems += more
            if spec:
                specs[figure_id] = spec
    elif not problems:
        problems = [Problem(file, 1, 1, "", "a mapping of figure ids", "something else")]
    if problems:
        raise InputError(problems)
    return specs, text


def resolve(results: Path, dataset: Dataset) -> dict[str, Figure]:
    """All figures of `results/figures.yaml`, in its order."""
    file = f"{results.name}/figures.yaml"
    specs, text = read_specs(results / "figures.yaml", file)
    return Resolver(specs, dataset, file, text).all()
