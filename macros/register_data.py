"""What the register adds to the exports: `data/deltas.json`, and the delta and verdict inside `data/published.json`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from pydantic import BaseModel

from macros import deltas, printing, your_number
from macros.deltas import Comparer, Delta, Range, Side, Worth
from macros.settings import Settings
from macros.site import Site


class FactorRecord(BaseModel):
    """What one known difference is worth; `worths` are positions in the list of `data/deltas.json`."""

    key: str
    low: float
    high: float
    worths: list[int]


class DeltaRecord(BaseModel):
    """Which keys of two figures differ: [the entry's setting, the own figure's], and what the known ones are worth."""

    questions: dict[str, str]
    differs: dict[str, list[str | int | float | bool]]
    not_stated: list[str]
    varies: list[str]
    same: list[str]
    factors: list[FactorRecord]
    range: list[float] | None
    expected: list[float] | None


def files(site: Site, settings: Settings) -> Iterator[tuple[str, str]]:
    """`data/deltas.json`: entries against the own figures of their quantity, and own ones among themselves."""
    yield "data/deltas.json", json.dumps(content(site), ensure_ascii=False, separators=(",", ":")) + "\n"
    yield "data/your-number.json", json.dumps(your_number.tables(site, settings), ensure_ascii=False) + "\n"


def content(site: Site) -> dict[str, Any]:
    """The rules' tables and the pairs; in a pair, a compared key that is not listed is the same on both sides."""
    comparer = deltas.comparer(site)
    own = list(comparer.own.values())
    compared = [comparer.published[e.id] for e in site.dataset.published.values() if not e.own_lab]
    nearest = {a.id: comparer.nearest_own[a.id].b for a in compared}
    pairs = [comparer.delta(a, b) for a in compared for b in own if _alike(a, b) or b is nearest[a.id]]
    pairs += [comparer.delta(a, b) for i, a in enumerate(own) for b in own[:i] if _alike(a, b)]
    return {
        "questions": deltas.QUESTION_OF,
        "deciding": deltas.DECIDING,
        "nearest": {entry_id: b.id for entry_id, b in nearest.items()},
        "worths": [worth(w) for w in comparer.worths],
        "pairs": [{k: v for k, v in pair(delta, comparer).items() if k != "same"} for delta in pairs],
    }


def _alike(a: Side, b: Side) -> bool:
    return (a.quantity or a.called) == b.quantity


def pair(delta: Delta, comparer: Comparer) -> dict[str, Any]:
    """One pair: `a` beside `b`. Factors lead from b to a; `worths` are positions in the list of worths."""
    return {
        "a": delta.a.id,
        "b": delta.b.id,
        "verdict": delta.verdict,
        "questions": delta.questions,
        "differs": {k: [plain(side.settings[k]) for side in (delta.a, delta.b)] for k in delta.with_status("differs")},
        "not_stated": delta.with_status("not_stated"),
        "varies": delta.with_status("varies"),
        "same": delta.with_status("same"),
        "factors": [
            {
                "key": f.key,
                "low": number(f.low),
                "high": number(f.high),
                "worths": [comparer.position(w) for w in f.worths],
            }
            for f in delta.factors
        ],
        "range": span(delta.a.range),
        "expected": span(delta.expected) if delta.factors else None,
    }


def entry(site: Site, entry_id: str) -> dict[str, Any]:
    """What one entry of `published.json` says of its delta; null for the lab's own entries."""
    comparer = deltas.comparer(site)
    if site.dataset.published[entry_id].own_lab:
        return {"nearest": None, "delta": None, "verdict": None}
    delta = comparer.nearest_own[entry_id]
    content = pair(delta, comparer)
    del content["a"], content["b"], content["verdict"]
    return {"nearest": delta.b.id, "delta": content, "verdict": delta.verdict}


def worth(w: Worth) -> dict[str, Any]:
    """One worth with what is known of the configuration that it was measured in."""
    return {
        "key": w.key,
        "before": plain(w.before),
        "after": plain(w.after),
        "quantity": w.quantity,
        "low": number(w.low),
        "high": number(w.high),
        "source": w.source,
        "own": w.own,
        "settings": stated(w.settings),
    }


def stated(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that are stated."""
    return {key: plain(value) for key, value in settings.items() if value is not None}


def plain(value: Any) -> Any:
    """A setting as JSON knows it."""
    return value if value is None or isinstance(value, bool | int | str) else float(value)


def number(value: Fraction) -> float:
    """A factor in six significant digits."""
    return float(printing.significant(value))


def span(ends: Range | None) -> list[float] | None:
    """A range as [low, high]."""
    return None if ends is None else [number(end) for end in ends]
