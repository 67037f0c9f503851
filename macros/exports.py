"""Data for machines: every figure, run and published entry as JSON and CSV, and the JSON Schemas of all of it.

The records are models, so that what is written and the schema that describes it are one definition. Numbers
keep the digits that were recorded. The promise: within one version nothing is renamed, removed or redefined.
"""

from __future__ import annotations

import csv
import datetime
import functools
import hashlib
import io
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic
from pydantic import BaseModel, ConfigDict, WithJsonSchema
from pydantic_core import to_json

from macros import kept, printing, quotes, register_data
from macros.binding import bind
from macros.deltas import Verdict
from macros.figures import Figure
from macros.locale import Locale
from macros.manifests import COMPARED, Comparison, Manifest, PublishedFigure, Run
from macros.numbers import Expression
from macros.register_data import DeltaRecord
from macros.render import Renderer
from macros.settings import Settings
from macros.site import Site
from macros.vocabulary import LANGUAGES, Evidence, Language, Quantity, Question, Status, Vantage

VERSION = 1
Number = Annotated[Decimal, WithJsonSchema({"type": "number"})]
SpreadMeaning = Literal["min_max_of_runs", "relative_percent", "not_published", "not_applicable"]


class Record(BaseModel):
    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


class Bilingual(Record):
    en: str
    ru: str


class Spread(Record):
    """How far the runs of a value lie apart. `relative_percent`: published as a share of the value."""

    low: Number | None
    high: Number | None
    meaning: SpreadMeaning


class Interval(Record):
    """The distribution-free 95 % interval of a median."""

    low: Number
    high: Number


class SourceRecord(Record):
    name: str
    repository: str | None
    url: str | None
    commit: str | None
    path: str | None
    sha256: str | None
    retrieved: datetime.date | None


class FormulaRecord(Record):
    """`of` are ids of figures; `studies` the settings in which they may differ, since the formula is about them."""

    kind: str
    of: list[str]
    studies: list[str]
    runs: int | None


class CorrectionRecord(Record):
    date: datetime.date | None
    reason: Bilingual


class PastRecord(Record):
    manifest: str
    value: Number | None
    low: Number | None
    high: Number | None
    n: int | None
    reason: str


class FigureRecord(Record):
    """One figure. A value, or a range in `low` and `high`; null is what is not published or does not apply."""

    id: str
    label: Bilingual
    kind: Literal["measured", "derived", "published"]
    question: Question
    value: Number | None
    low: Number | None
    high: Number | None
    unit: str
    quantity: Quantity | None
    statistic: str | None
    n: int | None
    spread: Spread
    interval: Interval | None
    evidence: Evidence | None
    status: Status
    superseded_by: str | None
    correction: CorrectionRecord | None
    date: datetime.date | None
    vantage: Vantage | None
    concurrency: int | None
    profile: str | None
    acceptance_length: Number | None
    runs: list[str]
    formula: FormulaRecord | None
    config: dict[str, str | int | Number | bool | None]
    differing: dict[str, dict[str, str | int | Number | bool | None]]
    source: list[SourceRecord]
    history: list[PastRecord]
    text: Bilingual
    quote: Bilingual
    url: Bilingual


class RunRecord(Record):
    """A manifest as recorded, with the figures drawn from it. `manifest` is described by its own schema."""

    id: str
    kind: Literal["run", "comparison"]
    status: Status
    figures: list[str]
    url: Bilingual
    manifest: Run | Comparison


class PublishedRecord(Record):
    """An entry of the register beside the own figure that is nearest by configuration; null for the lab's own."""

    id: str
    status: Status
    figures: list[str]
    nearest: str | None
    delta: DeltaRecord | None
    verdict: Verdict | None
    manifest: PublishedFigure


class File(Record):
    """What every file begins with: the version of the format, who publishes it, and under which licence."""

    version: int
    publisher: str | None
    licence: str | None


class FiguresFile(File):
    figures: list[FigureRecord]


class RunsFile(File):
    runs: list[RunRecord]


class PublishedFile(File):
    published: list[PublishedRecord]


SCHEMAS: dict[str, type[BaseModel]] = {
    "run": Run,
    "comparison": Comparison,
    "published": PublishedFigure,
    "data-figures": FiguresFile,
    "data-runs": RunsFile,
    "data-published": PublishedFile,
}


def files(site: Site, settings: Settings) -> Iterator[tuple[str, str]]:
    """Every export as (name, content); sentences are marked like those of pages."""
    head: dict[str, Any] = {
        "version": VERSION,
        "publisher": settings.publisher or None,
        "licence": settings.licence_data or None,
    }
    figures = [figure_record(figure, site, settings) for figure in site.figures.values()]
    manifests: list[Run | Comparison] = [*site.dataset.runs.values(), *site.dataset.comparisons.values()]
    runs = [_run(manifest, site, settings) for manifest in manifests]
    published = [_published(entry, site) for entry in site.dataset.published.values()]
    yield "data/figures.json", encode(FiguresFile(**head, figures=figures))
    yield "data/figures.csv", table(figures)
    yield "data/runs.json", encode(RunsFile(**head, runs=runs))
    yield "data/published.json", encode(PublishedFile(**head, published=published))
    for name in SCHEMAS:
        yield f"schema/{name}.schema.json", _schema_text(name, site.results.parent / ".cache/schemas")


def figure_record(figure: Figure, site: Site, settings: Settings) -> FigureRecord:
    pages: dict[Language, Renderer] = {language: Renderer(site, language, "") for language in LANGUAGES}

    def both(make: Any) -> Bilingual:
        return Bilingual(**{language: make(page) for language, page in pages.items()})

    is_range = figure.value is None
    config = dict(figure.config) or dict.fromkeys(COMPARED)
    correction = figure.correction
    return FigureRecord(
        id=figure.id,
        label=both(lambda page: str(getattr(figure.label, page.language))),
        kind=figure.kind,
        question=figure.question,
        value=_number(figure.value),
        low=_number(figure.low) if is_range else None,
        high=_number(figure.high) if is_range else None,
        unit=figure.unit,
        quantity=figure.quantity,
        statistic=figure.statistic,
        n=figure.n,
        spread=_spread(figure),
        interval=Interval(low=_exact(figure.interval[0]), high=_exact(figure.interval[1])) if figure.interval else None,
        evidence=figure.evidence,
        status=figure.status,
        superseded_by=figure.superseded_by,
        correction=CorrectionRecord(
            date=correction.date, reason=both(lambda page: bind(getattr(correction.reason, page.language)))
        )
        if correction
        else None,
        date=figure.date,
        vantage=config.get("method.vantage"),
        concurrency=config.get("workload.concurrency"),
        profile=config.get("workload.profile"),
        acceptance_length=figure.acceptance_length,
        runs=list(figure.manifests),
        formula=FormulaRecord(
            kind=figure.formula.kind,
            of=list(figure.formula.of),
            studies=list(figure.formula.studies),
            runs=figure.formula.runs,
        )
        if figure.formula
        else None,
        config=config,
        differing={key: dict(sides) for key, sides in figure.differing.items()},
        source=[SourceRecord(**source.model_dump()) for source in figure.sources],
        history=[
            PastRecord(
                manifest=past.manifest,
                value=_number(past.value),
                low=_number(past.low),
                high=_number(past.high),
                n=past.n,
                reason=past.reason,
            )
            for past in figure.history
        ],
        text=both(lambda page: bind(printing.text(figure, page.locale))),
        quote=both(lambda page: quotes.plain(figure, page, settings.address)),
        url=both(lambda page: quotes.permalink(figure, page, settings.address)),
    )


def _number(expression: Expression | None) -> Decimal | None:
    return None if expression is None else _exact(expression)


def _exact(expression: Expression) -> Decimal:
    return Decimal(printing.machine(expression))


def _spread(figure: Figure) -> Spread:
    if figure.value is None or figure.kind == "derived":
        return Spread(low=None, high=None, meaning="not_applicable")
    if figure.low is not None and figure.high is not None:
        return Spread(low=_exact(figure.low), high=_exact(figure.high), meaning="min_max_of_runs")
    if figure.relative_spread:
        low, high = figure.relative_spread
        return Spread(low=low, high=high, meaning="relative_percent")
    return Spread(low=None, high=None, meaning="not_published")


def _run(manifest: Run | Comparison, site: Site, settings: Settings) -> RunRecord:
    urls = {
        language: f"{settings.address}{'' if language == 'en' else f'{language}/'}runs/#{manifest.id}"
        for language in LANGUAGES
    }
    return RunRecord(
        id=manifest.id,
        kind="run" if isinstance(manifest, Run) else "comparison",
        status=manifest.status,
        figures=_drawn(manifest, site),
        url=Bilingual(**urls),
        manifest=manifest,
    )


def _published(entry: PublishedFigure, site: Site) -> PublishedRecord:
    return PublishedRecord(
        id=entry.id,
        status=entry.status,
        figures=_drawn(entry, site),
        manifest=entry,
        **register_data.entry(site, entry.id),
    )


def _drawn(manifest: Manifest, site: Site) -> list[str]:
    return [f.id for f in site.figures.values() if manifest.id in f.manifests]


def encode(model: BaseModel) -> str:
    """JSON in which a decimal keeps its recorded digits: 4.80 stays 4.80, as a number."""

    # Not json.dumps, whose indentation is written in Python: it takes four times as long.
    written = to_json(_bound(model.model_dump()), indent=1).decode()
    return re.sub(r'"\\u0000([^"\\]*)\\u0000"', r"\1", written) + "\n"


def _bound(value: Any, inside: bool = False) -> Any:
    """The same, with the texts of manifests marked as coming from data, and decimals between NULs."""
    if isinstance(value, Decimal):
        return f"\0{value:f}\0"
    if isinstance(value, dict):
        return {
            key: bind(inner)
            if inside and key in LANGUAGES and isinstance(inner, str)
            else _bound(inner, inside or key == "manifest")
            for key, inner in value.items()
        }
    return [_bound(inner, inside) for inner in value] if isinstance(value, list | tuple) else value


def table(figures: list[FigureRecord]) -> str:
    """The figures as CSV: one row each, what is nested flattened or joined by blanks."""
    rows = [_row(figure) for figure in figures]
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _row(figure: FigureRecord) -> dict[str, Any]:
    names = (
        "id kind question value low high unit quantity statistic n evidence status superseded_by date vantage "
        "concurrency profile acceptance_length"
    )
    row = {name: getattr(figure, name) for name in names.split()}
    row |= {f"spread_{name}": value for name, value in figure.spread}
    row["runs"] = " ".join(figure.runs)
    row["formula"] = " ".join([figure.formula.kind, *figure.formula.of]) if figure.formula else None
    for name in ("label", "text", "quote", "url"):
        row |= {f"{name}_{language}": getattr(getattr(figure, name), language) for language in LANGUAGES}
    return row


def schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of a model, for editors and for the tests."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema()}


def _schema_text(name: str, folder: Path) -> str:
    """A schema as its file has it, kept between builds: only the code decides it, and pydantic takes its time."""
    path, state = folder / name, _code()
    text = kept.read(path, state)
    if text is None:
        text = f"{json.dumps(schema(SCHEMAS[name]), indent=2, ensure_ascii=False)}\n".encode()
        kept.write(path, text, state)
    return text.decode()


@functools.cache
def _code() -> bytes:
    """A hash of the whole package, since a model may take from anywhere, and of pydantic's version."""
    state = hashlib.sha256(pydantic.VERSION.encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        state.update(path.read_bytes())
    return state.digest()


def version(words: Locale) -> str:
    """The version of the format in words, marked, for the page that documents it."""
    return words.word("format_version").format(version=bind(str(VERSION)))
