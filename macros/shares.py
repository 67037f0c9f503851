"""Which entries of the register are alike enough to be counted together, and how many lie below a value."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction

from macros.manifests import PublishedFigure

RATES = (None, "decode_rate", "end_to_end_rate", "engine_window_rate", "chunk_rate")


def on_the_pair(entry: PublishedFigure) -> bool:
    """Measured on two nodes."""
    return entry.system.nodes == 2


def for_one_stream(entry: PublishedFigure) -> bool:
    """Published as tokens per second of one stream, whatever was counted in the end."""
    return entry.scope == "stream" and entry.quantity in RATES and (entry.unit_printed or entry.unit) == "tok/s"


def for_all_streams(entry: PublishedFigure) -> bool:
    """Published as the sum over several streams, or measured as one."""
    return entry.scope == "sum" and entry.unit == "tok/s"


def counted(entries: Iterable[PublishedFigure]) -> list[PublishedFigure]:
    """Others' current single-stream figures for the pair: what "most figures lie below" is said of."""
    return [
        e
        for e in entries
        if e.status == "current" and not e.own_lab and e.evidence == "community_report"
        if on_the_pair(e) and for_one_stream(e)
    ]


def below(entries: Iterable[PublishedFigure], bound: Fraction) -> tuple[int, int]:
    """How many of the counted entries lie wholly below a value, and how many there are."""
    chosen = counted(entries)
    return sum(Fraction(_top(e)) < bound for e in chosen), len(chosen)


def _top(entry: PublishedFigure) -> Decimal:
    top = entry.high if entry.high is not None else entry.value
    assert top is not None  # one of them is required
    return top
