"""SGLang `bench_serving --output-file`: JSONL, one object a run, often of several configurations.

TPOT is right; ITL and the peak count chunks. Where a server sends no usage the output length falls back to the length
asked for: the tell is a retokenised total far below it, and then every throughput is made up.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from macros.importers import serving
from macros.importers.identity import state_model
from macros.importers.rawfile import Fields, RawFile, refuse
from macros.importers.reading import Case, Extract, Reading, Stated, Withheld

MAX_RETOKENISED_GAP = Decimal("0.05")


def recognises(document: Any) -> bool:
    return isinstance(document, dict) and document.keys() >= {
        "backend",
        "random_input_len",
        "duration",
        "completed",
        "output_throughput",
    }


def read(file: RawFile) -> Extract:
    extract = Extract(file.name, file.sha256, "client", tool="sglang bench_serving")
    problems = []
    for number, document in enumerate(file.documents, 1):
        if not recognises(document):
            refuse(file.name, "sglang bench_serving runs only", f"something else as value {number} of the file")
        fields = Fields(file.name, document, f"line {number}" if len(file.documents) > 1 else "")
        _one(extract, fields)
        problems += fields.problems
        extract.withheld += [Withheld(what, "not a number") for what in fields.unusable if "request_rate" not in what]
    if problems:
        Fields(file.name, {}, problems=problems).finish()
    return extract


def _one(extract: Extract, fields: Fields) -> None:
    if not serving.check_completed(fields):
        return
    total, again = fields.count("total_output_tokens"), fields.count("total_output_tokens_retokenized")
    if total and again is not None and abs(Decimal(again) / total - 1) > MAX_RETOKENISED_GAP:
        fields.problem(
            "total_output_tokens",
            f"about the {again} tokens counted again from the text",
            f"{total}: the requested length, since the server sent no usage",
        )
        return
    data = fields.data
    concurrency = fields.count("max_concurrency")
    rate, dataset = str(data.get("request_rate")), fields.text("dataset_name") or "data"
    case = Case(f"c{concurrency}" if concurrency else f"{dataset}-rate{rate}".replace(".", "-").lower())
    case.fingerprint = (rate, dataset, str(data.get("backend")), *(str(data.get(k)) for k in _RANDOM))
    if concurrency:
        case.settings["workload.concurrency"] = Stated(concurrency, fields.file, fields.path("max_concurrency"))
    serving.lengths(case, fields, fields.file)
    if dataset.startswith("random") and data.get("random_range_ratio") == 1 and fields.count("random_input_len"):
        case.settings["workload.prompt_tokens"] = Stated(
            fields.count("random_input_len"), fields.file, fields.path("random_input_len")
        )
        case.settings.pop("workload.prompt_tokens_approximate", None)
    extract.withheld += serving.totals(case, fields, "usage", ())
    serving.latencies(case, fields, "ms", "usage")
    for key in ("mean_itl_ms", "median_itl_ms", "max_output_tokens_per_s"):
        if (value := fields.number(key)) is not None:
            extract.withheld.append(Withheld(f"{fields.path(key)} {value}", "counts SSE chunks, not tokens"))
    accept = fields.positive("accept_length")
    if accept is not None:
        biases = ("lifetime-average", *(("random-prompts",) if dataset.startswith("random") else ()))
        case.readings.append(
            Reading(
                "acceptance",
                "acceptance_length",
                "tok/step",
                "mean",
                accept,
                fields.path("accept_length"),
                "engine",
                None,
                "engine_counters",
                biases=biases,
            )
        )
    _server(extract, fields)
    extract.cases.append(case)


_RANDOM = ("random_input_len", "random_output_len", "random_range_ratio")


def _server(extract: Extract, fields: Fields) -> None:
    """Configuration from `server_info` (since 0.5.9). It holds addresses and keys: only the named values are taken."""
    info = fields.child("server_info")
    if not info.data:
        return
    state_model(extract, info.text("model_path"), info.path("model_path"))
    extract.state("runtime.engine", "SGLang", info.path("version"))
    extract.state("runtime.version", info.text("version"), info.path("version"))
    extract.state("model.revision", info.text("revision"), info.path("revision"))
    extract.state("system.tensor_parallel", info.count("tp_size"), info.path("tp_size"))
    extract.state("config.kv_cache_dtype", info.text("kv_cache_dtype"), info.path("kv_cache_dtype"))
