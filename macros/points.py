"""The measured points of a curve as a table: one row a measurement, from the run manifests, missing runs included."""

from __future__ import annotations

from decimal import Decimal

from macros import printing
from macros.binding import bind
from macros.figures import Figure
from macros.manifests import Measurement, Run
from macros.markup import element, table, text
from macros.render import PageError, Renderer

COLUMNS = ("prompt_tokens", "output_tokens", "seconds", "rate", "finish", "acceptance_length", "drafts")
NOTHING = "—"


def points(page: Renderer, *run_ids: str) -> str:
    """A row for each timed measurement of these runs; a run without any says that it has no result."""
    rows = []
    for run_id in run_ids:
        run = page.site.dataset.runs.get(run_id)
        if run is None:
            raise PageError(f"unknown run {run_id!r}")
        timed = [m for m in run.measurements if m.seconds is not None]
        rows += [_row(run, m, page) for m in timed] or [_missing(run, page)]
    return table([text(page.locale.word(f"column.{name}")) for name in COLUMNS], rows, page.locale.word("data_table"))


def _row(run: Run, m: Measurement, page: Renderer) -> list[str]:
    rate = figure_of(run, m, page) if m.unit == "tok/s" else None
    counts = f"{_count(m.accepted, page)} / {_count(m.drafts, page)}" if m.drafts is not None else NOTHING
    return [
        _count(run.workload.prompt_tokens, page),
        _count(m.tokens, page),
        bind(str(m.seconds)),
        page.linked(rate, unit=False) if rate else NOTHING,
        text(page.locale.word(f"finish.{m.finish_reason}")) if m.finish_reason else NOTHING,
        bind(str(m.acceptance_length)) if m.acceptance_length is not None else NOTHING,
        counts,
    ]


def _missing(run: Run, page: Renderer) -> list[str]:
    reason = element("em", text(page.locale.word("no_result")), title=bind(str(getattr(run.missing, page.language))))
    tokens = _count(run.workload.prompt_tokens, page)
    if run.workload.prompt_tokens_approximate:
        tokens = f"{text(page.locale.word('about'))} {tokens}"
    return [tokens, NOTHING, NOTHING, reason, NOTHING, NOTHING, NOTHING]


def figure_of(run: Run, m: Measurement, page: Renderer) -> Figure | None:
    """The figure that prints this measurement's value."""
    name = f"{run.id}/{m.id}/value"
    found = (f for f in page.site.figures.values() if f.value and [leaf.name for leaf in f.value.leaves] == [name])
    return next((f for f in found if f.kind == "measured"), None)


def _count(number: int | None, page: Renderer) -> str:
    return bind(printing.number(Decimal(number), page.locale)) if number is not None else NOTHING
