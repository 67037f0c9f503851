"""NVIDIA AIPerf: `profile_export_aiperf.json`, and the counters of `server_metrics_export.csv`.

Output tokens are the client's tokenizer over the text unless `--use-server-token-count` was given. Inter-token latency
is (latency - TTFT) / (n - 1), inter-chunk latency counts chunks. Throughput per user is the arithmetic mean of 1 / ITL.
"""

from __future__ import annotations

import csv
import datetime
import re
from decimal import Decimal
from typing import Any

from macros.importers.identity import state_model
from macros.importers.rawfile import Fields, RawFile, refuse
from macros.importers.reading import Case, Deviation, Extract, Reading, Stated, Withheld, rounded
from macros.importers.scrub import clean
from macros.vocabulary import TokenAccounting

# metric → (name, quantity, unit here, the tool's unit, window, biases)
METRICS: tuple[tuple[str, str, Any, Any, str, Any, tuple[str, ...]], ...] = (
    (
        "output_token_throughput",
        "aggregate",
        "aggregate_throughput",
        "tok/s",
        "tokens/sec",
        "whole_run",
        ("aggregate-holds-ttft",),
    ),
    (
        "output_token_throughput_per_user",
        "decode",
        "decode_rate",
        "tok/s",
        "tokens/sec/user",
        "first_to_last_token",
        ("mean-of-rates",),
    ),
    ("inter_token_latency", "tpot", "time_per_output_token", "ms", "ms", "first_to_last_token", ()),
    (
        "e2e_output_token_throughput",
        "end-to-end",
        "end_to_end_rate",
        "tok/s",
        "tokens/sec/user",
        "request",
        ("mean-of-rates",),
    ),
    ("time_to_first_token", "ttft", "time_to_first_token", "ms", "ms", "request", ()),
    (
        "prefill_throughput_per_user",
        "prefill",
        "prefill_rate",
        "tok/s",
        "tokens/sec/user",
        None,
        ("prefix-cache-hits", "queue-inside"),
    ),
)

# With several tokens in the first chunk the rate reads high and the time low.
FIRST_CHUNK = {"decode": "tokens-in-first-chunk", "tpot": "time-of-first-chunk"}


def recognises(document: Any) -> bool:
    return isinstance(document, dict) and "aiperf_version" in document and "request_count" in document


def read(file: RawFile) -> Extract:
    if len(file.documents) != 1:
        refuse(file.name, "one AIPerf report", f"{len(file.documents)} values")
    fields = Fields(file.name, file.documents[0])
    config = fields.child("input_config")
    command = fields.child("run_info").data.get("cli_command")
    command = command if isinstance(command, str) else ""
    for key, bad in (("was_cancelled", True), ("is_complete", False)):
        if fields.data.get(key) is bad:
            fields.problem(key, "a finished run", str(bad).lower())
    if fields.data.get("benchmark_phase") == "warmup" or "phases/warmup" in str(file.path):
        fields.problem("", "the profile_export_aiperf.json of the measured phase", "the one of the warm-up")
    completed = fields.child("request_count").count("avg", needed=True)
    everything = fields.child("completed_request_count").count("avg")
    failed = everything - completed if everything is not None and completed is not None else None
    if completed == 0:
        fields.problem("request_count", "at least one completed request", "0")
    if failed is not None and failed < 0:
        fields.problem("completed_request_count", f"at least request_count ({completed})", str(everything))
    fields.finish()
    assert completed is not None

    accounting: TokenAccounting = "usage" if "--use-server-token-count" in command else "retokenised"
    extract = Extract(file.name, file.sha256, "client", "AIPerf", fields.text("aiperf_version"))
    case = _case(extract, fields, config)
    extra = ["failed-requests"] if failed else []
    many = _several_tokens_a_chunk(fields)
    for metric, name, quantity, unit, tool_unit, window, biases in METRICS:
        _metric(
            case,
            fields.child(metric),
            (name, quantity, unit, tool_unit, window),
            accounting,
            (completed, failed),
            (*biases, *extra, *([FIRST_CHUNK[name]] if many and name in FIRST_CHUNK else [])),
        )
    for metric in ("inter_chunk_latency", "active_decode_throughput", "effective_decode_throughput"):
        if (value := fields.child(metric).number("avg")) is not None:
            why = "chunks, not tokens" if "chunk" in metric else "weighted by time over all streams: another window"
            extract.withheld.append(Withheld(f"{metric}.avg {value}", why))
    mismatch = fields.child("osl_mismatch_count").count("avg")
    if mismatch:
        extract.notes.append(f"{mismatch} of {completed} answers had not the length that was asked for.")
    fields.finish()
    extract.withheld += [Withheld(what, "not a number") for what in fields.unusable]
    extract.cases.append(case)
    return extract


def _several_tokens_a_chunk(fields: Fields) -> bool:
    chunk, token = (
        fields.child("inter_chunk_latency").positive("avg"),
        fields.child("inter_token_latency").positive("avg"),
    )
    return bool(chunk and token and chunk / token > Decimal("1.2"))


def _case(extract: Extract, fields: Fields, config: Fields) -> Case:
    phases = config.data.get("phases")
    measured = (
        [p for p in phases if isinstance(p, dict) and p.get("kind") == "profiling"] if isinstance(phases, list) else []
    )
    concurrency = None
    if len(measured) == 1:
        concurrency = Fields(fields.file, measured[0], "input_config.phases", fields.problems).count("concurrency")
    elif isinstance(config.data.get("loadgen"), dict):
        concurrency = config.child("loadgen").count("concurrency")
    warm = [p for p in phases if isinstance(p, dict) and p.get("kind") == "warmup"] if isinstance(phases, list) else []
    if warm:
        extract.state("method.warm", True, "input_config.phases: warmup")
    case = Case(f"c{concurrency}" if concurrency else "open")
    if concurrency:
        case.settings["workload.concurrency"] = Stated(concurrency, fields.file, "input_config.phases: concurrency")
    for key, metric in (
        ("workload.prompt_tokens", "input_sequence_length"),
        ("workload.output_tokens", "output_sequence_length"),
    ):
        length = fields.child(metric)
        mean = length.positive("avg")
        if mean and 0 < round(mean) <= 10**9:
            case.settings[key] = Stated(round(mean), fields.file, f"{metric}.avg")
            if length.number("min") != length.number("max"):
                case.settings[f"{key}_approximate"] = Stated(True, fields.file, f"{metric}.avg")
    items = config.child("models").data.get("items")
    names = [i.get("name") for i in items if isinstance(i, dict)] if isinstance(items, list) else []
    if len(names) > 1:
        refuse(fields.file, "one model", f"{len(names)}")
    if names and isinstance(names[0], str):
        state_model(extract, clean(names[0], 200), "input_config.models")
    start = fields.data.get("start_time")
    match = re.match(r"\d{4}-\d\d-\d\d", start) if isinstance(start, str) else None
    try:
        extract.date = datetime.date.fromisoformat(match[0]) if match else None
    except ValueError:
        extract.date = None
    return case


def _metric(
    case: Case,
    metric: Fields,
    kind: tuple[str, Any, Any, str, Any],
    accounting: TokenAccounting,
    requests: tuple[int, int | None],
    biases: tuple[str, ...],
) -> None:
    name, quantity, unit, tool_unit, window = kind
    value = metric.positive("avg")
    if value is None:
        return
    if metric.data.get("unit") != tool_unit:
        metric.problem("unit", tool_unit, str(metric.data.get("unit")))
        return
    std = metric.deviation("std")
    completed, failed = requests
    case.readings.append(
        Reading(
            name,
            quantity,
            unit,
            "total" if quantity == "aggregate_throughput" else "mean",
            value,
            metric.path("avg"),
            "client",
            window,
            accounting,
            # numpy.std with its default divides by N.
            deviation=Deviation(std, "population", "requests") if std and completed > 1 else None,
            observations=metric.count("count"),
            completed=completed,
            failed=failed,
            biases=biases,
        )
    )


def recognises_server_metrics(file: RawFile) -> bool:
    return file.head.startswith(b"# AIPerf Server Metrics Export")


def read_server_metrics(file: RawFile) -> Extract:
    """Counter totals are differences over the run: acceptance length = 1 + accepted / drafts."""
    totals: dict[str, Decimal] = {}
    lines = [line for line in file.text.splitlines() if not line.startswith("#")]
    block = "\n".join(lines).split("\n\n")[0].splitlines()
    for row in csv.DictReader(block):
        if row.get("Type") == "counter" and re.fullmatch(r"\d{1,15}(\.\d+)?", row.get("total") or ""):
            name = str(row.get("Metric"))
            totals[name] = totals.get(name, Decimal(0)) + Decimal(row["total"])
    drafts, accepted = totals.get("vllm:spec_decode_num_drafts"), totals.get("vllm:spec_decode_num_accepted_tokens")
    if not drafts or accepted is None:
        refuse(file.name, "totals of spec_decode_num_drafts and _accepted_tokens", "a run without speculation")
    extract = Extract(file.name, file.sha256, "engine", tool="AIPerf server metrics")
    drafted = totals.get("vllm:spec_decode_num_draft_tokens")
    if drafted and drafted % drafts == 0:
        extract.state("config.draft_tokens", int(drafted / drafts), "draft tokens / drafts")
    case = Case("engine", total_output_tokens=int(totals.get("vllm:generation_tokens", 0)) or None)
    case.readings.append(
        Reading(
            "engine-acceptance",
            "acceptance_length",
            "tok/step",
            "total",
            rounded(1 + accepted / drafts),
            f"1 + {int(accepted)} accepted / {int(drafts)} drafts",
            "engine",
            "whole_run",
            "engine_counters",
            accepted=int(accepted),
            drafts=int(drafts),
            biases=("cut-drafts",),
        )
    )
    extract.cases.append(case)
    if re.search(r",(?:mock|fake|dummy)/", file.text):
        extract.blockers.append("the model is a mock: no model was measured")
    return extract
