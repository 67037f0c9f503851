"""What the bench_serving family shares (vLLM, SGLang, InferenceX): totals over the wall, TTFT, TPOT.

Definitions, from the tools' sources: output throughput = sum of output tokens / duration, over all streams, TTFT, ramp
and drain inside. TPOT = (latency - TTFT) / (n - 1) for each request, then the mean over requests: right under
speculation. ITL and the peak count SSE chunks, not tokens, so they are never taken over.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from macros.importers.rawfile import Fields
from macros.importers.reading import Case, Deviation, Reading, Stated, Withheld, per_second
from macros.vocabulary import Statistic, TokenAccounting

# Relative; the tools round nothing, so a wider gap means that the file was edited or mixes runs.
TOLERANCE = Decimal("0.005")


def totals(case: Case, fields: Fields, accounting: TokenAccounting | None, biases: tuple[str, ...]) -> list[Withheld]:
    """Adds the aggregate throughput [tok/s], after checking it against tokens / duration; returns what it held back."""
    rate = fields.positive("output_throughput")
    tokens, seconds = fields.count("total_output_tokens"), fields.positive("duration")
    completed, failed = fields.count("completed"), fields.count("failed")
    case.total_output_tokens, case.wall_seconds = tokens, seconds
    if rate is None:
        return []
    if tokens and seconds and abs(rate * seconds / tokens - 1) > TOLERANCE:
        why = f"it is not total_output_tokens / duration = {tokens} / {seconds}: edited, or from several runs"
        return [Withheld(f"{fields.path('output_throughput')} {rate}", why)]
    known = bool(tokens and seconds)
    case.readings.append(
        Reading(
            "aggregate",
            "aggregate_throughput",
            "tok/s",
            "total",
            rate,
            fields.path("output_throughput"),
            "client",
            "whole_run",
            accounting,
            tokens=tokens if known else None,
            seconds=seconds if known else None,
            completed=completed,
            failed=failed,
            biases=("aggregate-holds-ttft", *biases),
        )
    )
    return []


def latencies(
    case: Case,
    fields: Fields,
    unit: Literal["s", "ms"],
    accounting: TokenAccounting | None,
    ttft_biases: tuple[str, ...] = (),
) -> None:
    """Adds TTFT, TPOT and the decode rate of one stream. The family writes ms (`mean_ttft_ms`), InferenceX s."""
    suffix = "_ms" if unit == "ms" else ""
    completed, failed = fields.count("completed"), fields.count("failed")
    for metric, quantity, biases in (
        ("ttft", "time_to_first_token", ttft_biases),
        ("tpot", "time_per_output_token", ()),
    ):
        statistics: tuple[Statistic, ...] = ("mean", "median")
        for statistic in statistics:
            key = f"{statistic}_{metric}{suffix}"
            value = fields.positive(key)
            # One value of a quantity in a manifest: the median is for files without a mean.
            if value is None or any(r.quantity == quantity for r in case.readings):
                continue
            # numpy.std as these tools call it divides by N.
            deviation = fields.deviation(f"std_{metric}{suffix}") if statistic == "mean" else None
            case.readings.append(
                Reading(
                    f"{metric}-{statistic}",
                    quantity,  # type: ignore[arg-type]
                    unit,
                    statistic,
                    value,
                    fields.path(key),
                    "client",
                    "request" if metric == "ttft" else "first_to_last_token",
                    accounting,
                    deviation=Deviation(deviation, "population", "requests") if deviation and completed != 1 else None,
                    observations=completed or None,
                    completed=completed,
                    failed=failed,
                    biases=biases,
                )
            )
            if metric == "tpot" and not any(r.quantity == "decode_rate" for r in case.readings):
                milliseconds = value if unit == "ms" else value * 1000
                case.readings.append(
                    Reading(
                        "decode",
                        "decode_rate",
                        "tok/s",
                        statistic,
                        per_second(milliseconds),
                        f"{'1000' if unit == 'ms' else '1'} / {fields.path(key)}",
                        "client",
                        "first_to_last_token",
                        accounting,
                        observations=completed or None,
                        completed=completed,
                        failed=failed,
                        biases=("derived-from-tpot",) if statistic == "mean" else (),
                    )
                )


def lengths(case: Case, fields: Fields, source: str) -> None:
    """States prompt and output length [tokens]: exact where all are given and equal, else the mean."""
    completed = fields.count("completed") or 0
    for key, total, each in (
        ("workload.prompt_tokens", "total_input_tokens", "input_lens"),
        ("workload.output_tokens", "total_output_tokens", "output_lens"),
    ):
        sizes = set(fields.numbers(each))
        tokens = fields.count(total)
        if len(sizes) == 1 and (size := sizes.pop()) > 0:
            case.settings[key] = Stated(int(size), source, fields.path(each))
        elif tokens and completed:
            mean = round(tokens / completed)
            if mean:
                case.settings[key] = Stated(mean, source, f"{fields.path(total)} / completed")
            case.settings[f"{key}_approximate"] = Stated(True, source, "a mean over requests")


def check_completed(fields: Fields) -> int | None:
    """The number of completed requests; a problem where it is 0, since every statistic is then a made-up 0."""
    completed = fields.count("completed", needed=True)
    if completed == 0:
        fields.problem("completed", "at least one completed request", "0: every figure in this run is empty")
    asked, failed = fields.count("num_prompts"), fields.count("failed")
    if completed and failed is not None and asked is not None and completed + failed != asked:
        fields.problem(
            "completed", f"completed + failed = num_prompts ({asked})", f"{completed} + {failed}: an interrupted run?"
        )
    return completed
