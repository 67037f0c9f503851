"""Rates that an engine logs for windows of some seconds, by the number of requests that ran."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

from macros.importers.reading import Case, Reading, Stated


def window_case(source: str, running: int, rates: Counter[Decimal], label: str, lines: str) -> Case:
    """The case of all windows with `running` requests: the median of their rates [tok/s].

    `rates` counts the windows of each rate; `lines` names the log's lines, and `label` the number of requests in them.
    """
    case = Case(f"c{running}")
    case.settings["workload.concurrency"] = Stated(running, source, label)
    case.readings.append(
        Reading(
            "engine-window",
            "engine_window_rate",
            "tok/s",
            "median",
            median(rates),
            lines,
            "engine",
            "log_window",
            "engine_counters",
            observations=rates.total(),
            biases=("decode-windows-only",),
        )
    )
    return case


def median(counts: Counter[Decimal]) -> Decimal:
    """The median of values with their counts; of an even number, the mean of the two in the middle."""
    total, below, low = counts.total(), 0, None
    for value in sorted(counts):
        below += counts[value]
        if low is None and 2 * below >= total:
            low = value
        if low is not None and 2 * below > total:
            return (low + value) / 2 if low != value else value
    raise ValueError("no values")
