"""The vLLM engine's log: version, arguments, MoE backend, decode windows and speculation, in all forms since V0.

Lines are read by their labels, since the order and the set of labels changed several times. What is taken:

* `Avg generation throughput` of windows (about 10 s) that held decoding only: no prompt tokens, and as many running
  requests as in the window before. Their median is an engine window rate [tok/s], never a run figure.
* Acceptance length [tok/step] = 1 + sum(accepted) / sum(drafts) over all windows, drafts = drafted / k. The line's own
  `Accepted throughput` leaves out the bonus token and divides by idle time too: it is never taken.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from macros.importers import environment
from macros.importers.identity import state_model
from macros.importers.rawfile import RawFile, refuse
from macros.importers.reading import Case, Extract, Reading, Stated, Withheld, rounded
from macros.importers.scrub import clean
from macros.importers.streams import LineNumbers, Needles, interesting_lines, median

NEEDLES = Needles(
    anywhere=(
        b"Avg generation throughput:",
        b" metrics: ",  # SpecDecoding, and V0's Speculative metrics
        b"JIT compilation during inference",
        b") with config: model=",
    ),
    start=(b"LLM engine (v", b"oE backend", b"[mxfp4.py", b"non-default args: {", b"sampling parameters"),
    mark=b") with config: model=",
)
_VERSION = re.compile(r"LLM engine \(v([^)\s]+)\)")
_WINDOW = re.compile(
    rb"Avg prompt throughput: ([\d.]+) tokens/s, Avg generation throughput: ([\d.]+) tokens/s, Running: (\d+) reqs"
)
_NUMBER = re.compile(rb"\d{1,9}(\.\d{1,9})?")
_ENGINE = re.compile(rb"Engine (\d+): Avg")
# Old: Using Marlin backend; new: Using 'B12X' Mxfp4 MoE backend. Not: "… does not support the deployment …".
_MOE = re.compile(r"Using '?([A-Za-z0-9_]+)'? (?:Mxfp4|NvFp4|Fp8|MXFP4) MoE backend\b(?! does not)")
_OLD_MOE = re.compile(r"mxfp4\.py[^\]]*\] Using (Marlin|FlashInfer MXFP4 [A-Z0-9]+|Triton)(?: backend)?\b")
_SIMULATED = re.compile(
    r"rejection_sample_method['\"]?\s*[:=]\s*['\"]?synthetic|synthetic_acceptance_\w+['\"]?\s*[:=]\s*(?!None)[\w\[.'\"]"
)
_ACCEPTED = re.compile(rb"Accepted: (\d+) tokens, Drafted: (\d+) tokens")
_POSITIONS = re.compile(rb"Per-position acceptance rate: ([\d., ]+)")
_V0 = re.compile(
    rb"Number of speculative tokens: (\d+), Number of accepted tokens: (\d+), Number of draft tokens: (\d+)"
)


@dataclass
class _Totals:
    """Counts over the log; their size depends on the values, never on the number of lines."""

    windows: dict[int, Counter[bytes]] = field(default_factory=dict)
    seen_windows: int = 0
    engines: set[bytes] = field(default_factory=set)
    running: int = -1
    accepted: int = 0
    drafted: int = 0
    spec_windows: int = 0
    positions: Counter[int] = field(default_factory=Counter)  # number of draft positions → lines
    cumulative: tuple[int, int, int] | None = None  # V0: k, accepted, drafted since the start
    cold: int = 0
    moe: Counter[str] = field(default_factory=Counter)
    moe_place: dict[str, str] = field(default_factory=dict)


def read(file: RawFile, progress: Callable[[int], None] | None = None) -> Extract:
    totals = _Totals()
    extract = Extract(file.name, "", "engine", tool="vLLM engine log")
    numbers = LineNumbers(file.path)
    for offset, raw in interesting_lines(file.path, NEEDLES, progress):
        if b"Avg generation throughput:" in raw:
            _window(totals, raw)
        elif b"DiffusionDecoding" in raw:
            continue  # Steps of a diffusion model accept no drafts.
        elif b"ecoding metrics:" in raw or b"Speculative metrics:" in raw:
            _speculation(totals, raw)
        elif b"JIT compilation during" in raw:
            totals.cold += 1
        else:
            line = raw.decode("utf-8", "replace")
            if _SIMULATED.search(line):
                refuse(file.name, "a run with real speculation", "simulated acceptance", line=numbers.at(offset))
            _configuration(extract, totals, line, f"line {numbers.at(offset)}")
    _finish(extract, totals, file.name)
    return extract


def _window(totals: _Totals, line: bytes) -> None:
    match = _WINDOW.search(line)
    if not match:
        return
    totals.seen_windows += 1
    engine = _ENGINE.search(line)
    totals.engines.add(engine[1] if engine else b"")
    running, before = int(match[3]), totals.running
    totals.running = running
    if running and running == before and match[1] in (b"0.0", b"0") and match[2] not in (b"0.0", b"0"):
        totals.windows.setdefault(running, Counter())[match[2]] += 1


def _speculation(totals: _Totals, line: bytes) -> None:
    if match := _ACCEPTED.search(line):
        if match[2] == b"0":
            return  # No drafts in this window; its shares are nan.
        totals.accepted += int(match[1])
        totals.drafted += int(match[2])
        totals.spec_windows += 1
        positions = _POSITIONS.search(line)
        totals.positions[positions[1].rstrip(b", ").count(b",") + 1 if positions else 0] += 1
    elif v0 := _V0.search(line):
        totals.cumulative = (int(v0[1]), int(v0[2]), int(v0[3]))


def _configuration(extract: Extract, totals: _Totals, line: str, place: str) -> None:
    if version := _VERSION.search(line):
        extract.state("runtime.engine", "vLLM", place)
        extract.state("runtime.version", clean(version[1], 120) or None, place)
    if "LLM engine (v" in line:
        _engine_config(extract, line, f"config, {place}")
    elif "non-default args" in line:
        _arguments(extract, line, place)
    elif "sampling parameters" in line and "generation_config" in line:
        extract.notes.append(f"{place}: the model's generation_config sets the default sampling parameters.")
    elif (moe := _MOE.search(line)) or (moe := _OLD_MOE.search(line)):
        totals.moe[moe[1]] += 1
        totals.moe_place.setdefault(moe[1], place)


def _engine_config(extract: Extract, line: str, place: str) -> None:
    """Values of the `Initializing … LLM engine` line, which logging may have cut off."""
    for key, pattern, kind in (
        ("system.tensor_parallel", r"tensor_parallel_size=(\d{1,4})\b", int),
        ("config.kv_cache_dtype", r"\bkv_cache_dtype=([\w.]+)", str),
        ("config.max_model_len", r"\bmax_seq_len=(\d{1,9})\b", int),
        ("config.speculative_method", r"SpeculativeConfig\(method='([\w.-]+)'", str),
        ("config.draft_tokens", r"num_spec_tokens=(\d{1,4})\b", int),
    ):
        match = re.search(pattern, line)
        if match:
            _same_server(extract, key, kind(match[1]), place)
            extract.state(key, kind(match[1]), place)
    if "speculative_config=None" in line:
        extract.state("config.speculative_method", "none", place)
        extract.state("config.draft_tokens", 0, place)
    revision = re.search(r"\brevision='?([0-9a-f]{40})\b", line)
    model = re.search(r"\bmodel='([^']+)'", line)
    state_model(extract, model and model[1], place)
    if revision:
        extract.state("model.revision", revision[1], place)


def _same_server(extract: Extract, key: str, value: Any, place: str) -> None:
    """Every engine of one server announces the same configuration; a log of two servers is no one run's."""
    before = extract.settings.get(key)
    if before and before.place.startswith("config, ") and before.value != value:
        refuse(
            extract.source, f"the log of one server: {key} is {before.value} at {before.place}", f"{value} at {place}"
        )


def _arguments(extract: Extract, line: str, place: str) -> None:
    """Values of `non-default args: {…}`; a dict that is cut off or holds objects is left alone."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # A backslash in a stranger's log is no warning of ours.
            arguments = ast.literal_eval(line[line.index("{") :])
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        extract.notes.append(f"{place}: the arguments are cut off or hold more than plain values; they were not read.")
        return
    if isinstance(arguments, dict):
        for key, value in environment.settings_of({str(k): v for k, v in arguments.items()}).items():
            extract.state(key, value, place)


def _finish(extract: Extract, totals: _Totals, name: str) -> None:
    if totals.moe:
        backends = ", ".join(totals.moe)
        if len(totals.moe) == 1:
            extract.state("config.moe_backend_active", backends, totals.moe_place[backends])
            extract.state("config.moe_backend_known_from", "log", totals.moe_place[backends])
        else:
            extract.withheld.append(Withheld(f"MoE backend {backends}", "the log names several"))
    if totals.cold:
        extract.notes.append(f"{totals.cold} line(s) of JIT compilation during inference: not everything was warm.")
        extract.state("method.warm", False, "JIT compilation during inference")
    _rates(extract, totals)
    _acceptance(extract, totals)
    if not extract.cases and not extract.settings:
        reasons = "; ".join(f"{held.what}: {held.why}" for held in extract.withheld)
        refuse(
            name,
            "a vLLM log with the engine's start, or with two throughput lines of decoding in a row",
            reasons or f"{totals.seen_windows} throughput and {totals.spec_windows} speculation lines, no more",
        )


def _rates(extract: Extract, totals: _Totals) -> None:
    if not totals.seen_windows:
        return
    if len(totals.engines) > 1:
        extract.withheld.append(
            Withheld("Avg generation throughput", f"{len(totals.engines)} engines print a line each: no one window")
        )
        return
    if not totals.windows:
        extract.withheld.append(
            Withheld(
                f"Avg generation throughput of {totals.seen_windows} window(s)",
                "none held decoding only: each had prompt tokens, or a start or an end of a request in it",
            )
        )
    for running, texts in sorted(totals.windows.items()):
        rates = Counter({Decimal(text.decode()): count for text, count in texts.items() if _NUMBER.fullmatch(text)})
        if not rates:
            continue
        case = Case(f"c{running}")
        case.settings["workload.concurrency"] = Stated(running, extract.source, "Running: … reqs")
        case.readings.append(
            Reading(
                "engine-window",
                "engine_window_rate",
                "tok/s",
                "median",
                median(rates),
                f"Avg generation throughput with Running: {running} reqs",
                "engine",
                "log_window",
                "engine_counters",
                observations=rates.total(),
                biases=("decode-windows-only",),
            )
        )
        extract.cases.append(case)


def _acceptance(extract: Extract, totals: _Totals) -> None:
    k: int | None = None
    accepted, drafted = totals.accepted, totals.drafted
    if totals.cumulative and not totals.spec_windows:
        k, accepted, drafted = totals.cumulative
    elif totals.cumulative or len(totals.positions) > 1:
        extract.withheld.append(
            Withheld("speculation lines", "of different forms or numbers of draft positions: not one server's log")
        )
        return
    elif totals.spec_windows:
        stated = extract.settings.get("config.draft_tokens")
        k = next(iter(totals.positions)) or (stated.value if stated else None)
    if not drafted:
        return
    if not k:
        extract.withheld.append(Withheld("speculation lines", "the number of draft tokens is in neither log nor line"))
        return
    extract.settings.setdefault("config.draft_tokens", Stated(k, extract.source, "draft positions of the lines"))
    length = 1 + Decimal(accepted) * k / drafted
    if length > 1 + k:
        extract.withheld.append(Withheld(f"acceptance length {rounded(length)}", f"above 1 + {k} draft tokens"))
        return
    reading = Reading(
        "log-acceptance",
        "acceptance_length",
        "tok/step",
        "total",
        rounded(length),
        f"1 + {accepted} accepted / ({drafted} drafted / {k})",
        "engine",
        "log_window",
        "engine_counters",
        accepted=accepted if drafted % k == 0 else None,
        drafts=drafted // k if drafted % k == 0 else None,
        observations=totals.spec_windows or None,
        biases=("log-span",),
    )
    if not extract.cases:
        extract.cases.append(Case("log"))
    for case in extract.cases:
        case.readings.append(reading)
