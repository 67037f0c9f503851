"""Runs that join no figure, and why: the figure that comes nearest, and the settings that keep the run out."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from macros import manifests
from macros.manifests import Run
from macros.site import Site


def outside(site: Site) -> Iterator[Run]:
    """Current runs with measurements of which no figure is made."""
    inside = {name for figure in site.figures.values() for name in figure.manifests}
    inside |= {past.manifest for figure in site.figures.values() for past in figure.history}
    for run in site.dataset.runs.values():
        if run.measurements and run.status == "current" and run.id not in inside:
            yield run


def why(run: Run, site: Site) -> str:
    """That a run joins no figure, with the selection that it misses by the fewest settings."""
    misses = [
        (figure.id, differing)
        for figure in site.figures.values()
        if figure.select
        for m in run.measurements
        if m.quantity == figure.select.quantity
        for differing in [_differing(manifests.as_measured(run, m), figure.select.where)]
    ]
    if not misses:
        return "joins no figure: none selects what it measures"
    # Of selections that are missed by as many settings, the one with the most similar values: B12X-MXFP4 is a typo.
    nearest, differing = min(misses, key=lambda miss: (len(miss[1]), -sum(map(_likeness, miss[1].values()))))
    settings = "; ".join(f"{key} {wanted}, not {seen}" for key, (wanted, seen) in differing.items())
    return f"joins no figure; the nearest, {nearest}, wants {settings}"


def _differing(run: Run, where: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Key → what is wanted and what the run has."""
    seen = {key: manifests.setting(run, key) for key in where}
    return {
        key: (str(wanted), "null" if seen[key] is None else str(seen[key]))
        for key, wanted in where.items()
        if seen[key] != wanted
    }


def _likeness(pair: tuple[str, str]) -> float:
    return difflib.SequenceMatcher(None, *pair).ratio()
