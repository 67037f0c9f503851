"""SGLang: `bench_serving --output-file` (JSONL, one object a run) and the server's log.

TPOT is right; ITL and the peak count chunks. Where a server sends no usage the output length falls back to the length
asked for: the tell is a retokenised total far below it, and then every throughput is made up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from macros.importers import serving
from macros.importers.identity import state_model
from macros.importers.rawfile import Fields, RawFile, refuse
from macros.importers.reading import Case, Extract, Reading, Stated, Withheld
from macros.importers.scrub import clean
from macros.importers.streams import LineNumbers, Needles, interesting_lines, median

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


NEEDLES = Needles(
    anywhere=(b"Decode batch", b"Prefill batch"),
    start=(b"server_args=", b"SGLang Version", b"SIMULATE_ACC_LEN"),
    mark=b"server_args=",
)
_DECODE = re.compile(rb"Decode batch.*?#running-req: (\d+).*?gen throughput \(token/s\): ([\d.]+)")
_ACCEPT = re.compile(rb"accept len: ([\d.]+)")
_ARGUMENT = re.compile(
    rb"\b(model_path|revision|tp_size|kv_cache_dtype|context_length|speculative_algorithm|"
    rb"speculative_num_draft_tokens)=(?:'([^']*)'|([\w.-]+))"
)
_ARGUMENT_KEYS = {
    "tp_size": ("system.tensor_parallel", int),
    "kv_cache_dtype": ("config.kv_cache_dtype", str),
    "context_length": ("config.max_model_len", int),
    "speculative_num_draft_tokens": ("config.draft_tokens", int),
    "speculative_algorithm": ("config.speculative_method", str),
    "revision": ("model.revision", str),
}


def read_log(file: RawFile, progress: Callable[[int], None] | None = None) -> Extract:
    """Median of the decode lines with an unchanged number of running requests, without prefill since the last one.

    The first decode line of a log holds compile time (a real one reads 1.94 tok/s beside 56) and is left out.
    """
    windows: dict[int, Counter[Decimal]] = {}
    found: dict[str, tuple[Any, int]] = {}
    first, clean_window, running_before = True, False, 0
    decode_lines = 0

    numbers = LineNumbers(file.path)
    for offset, line in interesting_lines(file.path, NEEDLES, progress):
        if b"Prefill batch" in line:
            clean_window = False
        elif match := _DECODE.search(line):
            decode_lines += 1
            running = int(match[1])
            rate = _decimal(match[2])
            if not first and clean_window and running == running_before and rate:
                windows.setdefault(running, Counter())[rate] += 1
            first, clean_window, running_before = False, True, running
        elif b"SIMULATE_ACC_LEN" in line:
            refuse(file.name, "a run with real speculation", "simulated acceptance", line=numbers.at(offset))
        elif b"SGLang Version" in line:
            version = line.partition(b"SGLang Version")[2].decode("utf-8", "replace")
            found.setdefault("runtime.version", (version, numbers.at(offset)))
        elif b"server_args=" in line:
            for name, quoted, bare in _ARGUMENT.findall(line):
                text = (quoted or bare).decode("utf-8", "replace")
                if text and text != "None":
                    found.setdefault(name.decode(), (text, numbers.at(offset)))
    extract = Extract(file.name, "", "engine", tool="SGLang server log")
    _log_settings(extract, found)
    for running, rates in sorted(windows.items()):
        middle = median(rates)
        case = Case(f"c{running}")
        case.settings["workload.concurrency"] = Stated(running, file.name, "#running-req of the Decode batch lines")
        case.readings.append(
            Reading(
                "engine-window",
                "engine_window_rate",
                "tok/s",
                "median",
                middle,
                f"Decode batch lines with #running-req: {running}",
                "engine",
                "log_window",
                "engine_counters",
                observations=rates.total(),
                biases=("decode-windows-only",),
            )
        )
        extract.cases.append(case)
    if not windows:
        what = f"{decode_lines} Decode batch line(s), none of them after another without a prefill between"
        if not extract.settings:
            refuse(file.name, "Decode batch lines of an SGLang server", what if decode_lines else "none")
        extract.withheld.append(Withheld("gen throughput", what))
    return extract


def _log_settings(extract: Extract, found: dict[str, tuple[Any, int]]) -> None:
    if "runtime.version" in found:
        text, number = found["runtime.version"]
        extract.state("runtime.engine", "SGLang", f"line {number}")
        extract.state("runtime.version", clean(text, 80) or None, f"line {number}")
    if "model_path" in found:
        text, number = found["model_path"]
        state_model(extract, text, f"line {number}, server_args")
    for name, (key, kind) in _ARGUMENT_KEYS.items():
        if name in found:
            text, number = found[name]
            if kind is str:
                extract.state(key, clean(text, 80) or None, f"line {number}, server_args")
            elif text.isdecimal():
                extract.state(key, int(text[:9]), f"line {number}, server_args")


def _decimal(raw: bytes) -> Decimal | None:
    text = raw.decode()
    return Decimal(text) if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text) and Decimal(text) else None
