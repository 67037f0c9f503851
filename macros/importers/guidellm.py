"""GuideLLM JSON reports; each strategy in a file is a configuration of its own.

`inter_token_latency_ms` = (last - first) / (n - 1) is what others call TPOT. Its own `time_per_output_token_ms`
divides by n, and from 0.4.0 holds TTFT too, so it is not taken. `output_tokens_per_second.successful.mean` is the
aggregate over the wall; its median is weighted by time. An empty bucket is 0.0 with count 0.
"""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

from macros.importers.identity import state_model
from macros.importers.rawfile import Fields, RawFile, refuse
from macros.importers.reading import Case, Deviation, Extract, Reading, Stated, Withheld, per_second
from macros.vocabulary import TokenAccounting


def recognises(document: Any) -> bool:
    if not isinstance(document, dict) or not isinstance(document.get("benchmarks"), list):
        return False
    return any(
        isinstance(b, dict) and isinstance(b.get("metrics"), dict) and "output_tokens_per_second" in b["metrics"]
        for b in document["benchmarks"]
    )


def read(file: RawFile) -> Extract:
    if len(file.documents) != 1:
        refuse(file.name, "one GuideLLM report", f"{len(file.documents)} values")
    report = Fields(file.name, file.documents[0])
    extract = Extract(file.name, file.sha256, "client", tool="GuideLLM")
    extract.tool_version = report.child("metadata").text("guidellm_version")
    backend = report.child("config").child("spec").child("backend")
    models = {backend.text("model")} if backend.data else set()
    for number, entry in enumerate(report.data["benchmarks"]):
        fields = Fields(file.name, entry if isinstance(entry, dict) else {}, f"benchmarks[{number}]", report.problems)
        fields.unusable = report.unusable
        if not backend.data:
            models.add(fields.child("worker").text("backend_model"))
        _one(extract, fields)
    report.finish()
    if len(models) > 1:
        refuse(file.name, "one model in a file", ", ".join(sorted(map(str, models))))
    extract.withheld += [Withheld(what, "not a number") for what in report.unusable]
    state_model(extract, models.pop() if models else None, "the backend's model")
    return extract


def _one(extract: Extract, fields: Fields) -> None:
    metrics = fields.child("metrics")
    counts = metrics.child("request_totals") if metrics.child("request_totals").data else fields.child("request_totals")
    completed = counts.count("successful", needed=True)
    failed, incomplete = counts.count("errored") or 0, counts.count("incomplete") or 0
    if not completed:
        if completed == 0:
            counts.problem("successful", "at least one completed request", "0")
        return
    if incomplete:
        extract.notes.append(f"{fields.at}: {incomplete} request(s) were cut off at the end of the run.")
    config = fields.child("config")
    strategy = config.child("strategy") if config.data else fields.child("args").child("strategy")
    kind = strategy.text("type_") or "strategy"
    streams = 1 if kind == "synchronous" else strategy.count("streams") if kind == "concurrent" else None
    rate = strategy.number("rate")
    case = Case(f"c{streams}" if streams else f"{kind}{f'-rate{rate}' if rate else ''}".replace(".", "-").lower())
    case.fingerprint = (kind, str(rate))
    if streams:
        case.settings["workload.concurrency"] = Stated(streams, fields.file, strategy.at)
    for key, metric in (
        ("workload.prompt_tokens", "prompt_token_count"),
        ("workload.output_tokens", "output_token_count"),
    ):
        length = metrics.child(metric).child("successful")
        mean = length.positive("mean")
        if mean and 0 < round(mean) <= 10**9:
            case.settings[key] = Stated(round(mean), fields.file, length.path("mean"))
            if length.number("min") != length.number("max"):
                case.settings[f"{key}_approximate"] = Stated(True, fields.file, length.path("mean"))
    accounting: TokenAccounting | None = "usage" if config.data.get("prefer_response_metrics") is True else None
    iteration = metrics.child("output_tokens_per_iteration").child("successful").positive("mean")
    many = bool(iteration and iteration > Decimal("1.2"))
    _readings(case, metrics, accounting, (completed, failed), many)
    tpot = metrics.child("time_per_output_token_ms").child("successful").positive("mean")
    if tpot:
        why = "divides the time by n; from 0.4.0 on the time holds TTFT too"
        extract.withheld.append(Withheld(f"{metrics.path('time_per_output_token_ms')} {tpot}", why))
    start = fields.number("start_time")
    if extract.date is None and start and 1_500_000_000 < start < 4_000_000_000:
        extract.date = datetime.datetime.fromtimestamp(int(start), datetime.UTC).date()
    if case.readings:
        extract.cases.append(case)


def _readings(
    case: Case, metrics: Fields, accounting: TokenAccounting | None, requests: tuple[int, int], many: bool
) -> None:
    completed, failed = requests
    common: dict[str, Any] = {"completed": completed, "failed": failed}
    survivors = ("failed-requests",) if failed else ()

    def successful(metric: str) -> Fields | None:
        bucket = metrics.child(metric).child("successful")
        return bucket if bucket.count("count") and bucket.positive("mean") else None

    def deviation(bucket: Fields) -> Deviation | None:
        std = bucket.deviation("std_dev")
        return Deviation(std, "population", "requests") if std and completed > 1 else None

    if rate := successful("output_tokens_per_second"):
        case.readings.append(
            Reading(
                "aggregate",
                "aggregate_throughput",
                "tok/s",
                "total",
                rate.number("mean") or Decimal(0),
                rate.path("mean"),
                "client",
                "whole_run",
                accounting,
                biases=("aggregate-holds-ttft", *survivors),
                **common,
            )
        )
    if latency := successful("inter_token_latency_ms"):
        mean = latency.number("mean")
        assert mean is not None
        place = latency.path("mean")
        case.readings.append(
            Reading(
                "tpot",
                "time_per_output_token",
                "ms",
                "mean",
                mean,
                place,
                "client",
                "first_to_last_token",
                accounting,
                deviation=deviation(latency),
                biases=("per-token-weighting", *survivors, *(("time-of-first-chunk",) if many else ())),
                **common,
            )
        )
        case.readings.append(
            Reading(
                "decode",
                "decode_rate",
                "tok/s",
                "mean",
                per_second(mean),
                f"1000 / {place}",
                "client",
                "first_to_last_token",
                accounting,
                biases=("derived-from-tpot", *survivors, *(("tokens-in-first-chunk",) if many else ())),
                **common,
            )
        )
    if first := successful("time_to_first_token_ms"):
        mean = first.number("mean")
        assert mean is not None
        case.readings.append(
            Reading(
                "ttft",
                "time_to_first_token",
                "ms",
                "mean",
                mean,
                first.path("mean"),
                "client",
                "request",
                accounting,
                deviation=deviation(first),
                **common,
            )
        )
