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
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from macros.importers import environment
from macros.importers.rawfile import RawFile, refuse
from macros.importers.reading import Case, Extract, Reading, Stated, Withheld, rounded
from macros.importers.scrub import clean, is_mock, model_identity
from macros.importers.streams import interesting_lines, median

NEEDLES = (
    b"generation throughput:",
    b"Decoding metrics:",
    b"Speculative metrics:",
    b"oE backend",
    b"[mxfp4.py",
    b"LLM engine (v",
    b"non-default args",
    b"JIT compilation during",
    b"sampling parameters",
    b"vLLM API server version",
    b"rejection_sample_method",
    b"synthetic_acceptance",
)
_VERSION = re.compile(r"LLM engine \(v([^)\s]+)\)|vLLM API server version (\S+)")
_WINDOW = re.compile(
    rb"(?:Engine (\d+):.*?)?Avg prompt throughput: ([\d.]+) tokens/s, Avg generation throughput: ([\d.]+) tokens/s, "
    rb"Running: (\d+) reqs"
)
# Old: Using Marlin backend; new: Using 'B12X' Mxfp4 MoE backend. Not: "… does not support the deployment …".
_MOE = re.compile(r"Using '?([A-Za-z0-9_]+)'? (?:Mxfp4|NvFp4|Fp8|MXFP4) MoE backend\b")
_OLD_MOE = re.compile(r"mxfp4\.py[^\]]*\] Using (Marlin|FlashInfer MXFP4 [A-Z0-9]+|Triton)(?: backend)?\b")
_SIMULATED = re.compile(
    r"rejection_sample_method['\"]?\s*[:=]\s*['\"]?synthetic|synthetic_acceptance_\w+['\"]?\s*[:=]\s*(?!None)[\w\[.'\"]"
)
_ACCEPTED, _DRAFTED = re.compile(r"Accepted: (\d+) tokens"), re.compile(r"Drafted: (\d+) tokens")
_MEAN_LENGTH, _POSITIONS = (
    re.compile(r"Mean acceptance length: ([\d.]+)"),
    re.compile(r"Per-position acceptance rate: ([\d., ]+?)(?:, [A-Z]|\s*$)"),
)
_V0 = re.compile(
    r"Number of speculative tokens: (\d+), Number of accepted tokens: (\d+), Number of draft tokens: (\d+)"
)


@dataclass
class _Totals:
    """Counts over the log; their size depends on the values, never on the number of lines."""

    windows: dict[int, Counter[Decimal]] = field(default_factory=dict)
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
    for number, raw in interesting_lines(file.path, NEEDLES, progress):
        window = _WINDOW.search(raw)
        if window:
            _window(totals, window)
            continue
        line = raw.decode("utf-8", "replace")
        if _SIMULATED.search(line):
            refuse(file.name, "a run with real speculation", "simulated acceptance", line=number)
        if "ecoding metrics:" in line or "Speculative metrics:" in line:
            _speculation(totals, line)
        elif "JIT compilation during" in line:
            totals.cold += 1
        else:
            _configuration(extract, totals, line, f"line {number}")
    extract.sha256 = file.sha256
    _finish(extract, totals, file.name)
    return extract


def _window(totals: _Totals, match: re.Match[bytes]) -> None:
    totals.seen_windows += 1
    totals.engines.add(match[1] or b"")
    running, before = int(match[4]), totals.running
    totals.running = running
    if running and running == before and match[2] in (b"0.0", b"0") and match[3] not in (b"0.0", b"0"):
        try:
            rate = Decimal(match[3].decode())
        except ArithmeticError:
            return
        totals.windows.setdefault(running, Counter())[rate] += 1


def _speculation(totals: _Totals, line: str) -> None:
    if v0 := _V0.search(line):
        totals.cumulative = (int(v0[1]), int(v0[2]), int(v0[3]))
        return
    accepted, drafted = _ACCEPTED.search(line), _DRAFTED.search(line)
    if not accepted or not drafted or not int(drafted[1]):
        return
    totals.accepted += int(accepted[1])
    totals.drafted += int(drafted[1])
    totals.spec_windows += 1
    positions = _POSITIONS.search(line)
    totals.positions[positions[1].count(",") + 1 if positions else 0] += 1


def _configuration(extract: Extract, totals: _Totals, line: str, place: str) -> None:
    if version := _VERSION.search(line):
        extract.state("runtime.engine", "vLLM", place)
        extract.state("runtime.version", clean((version[1] or version[2]).removeprefix("v"), 120) or None, place)
    if "LLM engine (v" in line:
        _engine_config(extract, line, place)
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
            extract.state(key, kind(match[1]), place)
    if "speculative_config=None" in line:
        extract.state("config.speculative_method", "none", place)
        extract.state("config.draft_tokens", 0, place)
    revision = re.search(r"\brevision='?([0-9a-f]{40})\b", line)
    model = re.search(r"\bmodel='([^']+)'", line)
    _model(extract, model and model[1], place)
    if revision:
        extract.state("model.revision", revision[1], place)


def _model(extract: Extract, model: str | None, place: str) -> None:
    checkpoint, revision = model_identity(model)
    if checkpoint and "/" in checkpoint:
        extract.state("model.checkpoint", checkpoint, place)
        extract.state("model.name", checkpoint.rpartition("/")[2], place)
        extract.state("model.revision", revision, place)
        if is_mock(checkpoint):
            extract.blockers.append(f"the model is {checkpoint}: no model was measured")


def _arguments(extract: Extract, line: str, place: str) -> None:
    """Values of `non-default args: {…}`; a dict that is cut off or holds objects is left alone."""
    try:
        arguments = ast.literal_eval(line[line.index("{") :])
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        extract.notes.append(f"{place}: the arguments are cut off or hold more than plain values; they were not read.")
        return
    if isinstance(arguments, dict):
        _model(extract, arguments.get("model") if isinstance(arguments.get("model"), str) else None, place)
        for key, value in environment.settings_of({str(k): v for k, v in arguments.items()}).items():
            extract.state(key, value, place)


def _finish(extract: Extract, totals: _Totals, name: str) -> None:
    if totals.moe:
        backends = ", ".join(totals.moe)
        if len(totals.moe) == 1:
            extract.state("config.moe_backend_active", backends, totals.moe_place[backends])
        else:
            extract.withheld.append(Withheld(f"MoE backend {backends}", "the log names several"))
    if totals.cold:
        extract.notes.append(f"{totals.cold} line(s) of JIT compilation during inference: not everything was warm.")
        extract.state("method.warm", False, "JIT compilation during inference")
    _rates(extract, totals)
    _acceptance(extract, totals)
    if not extract.cases and not extract.settings:
        seen = f"{totals.seen_windows} throughput lines, {totals.spec_windows} speculation lines"
        refuse(
            name,
            "a vLLM log with the engine's start, or with two throughput lines of decoding in a row",
            f"{seen}; nothing usable"
            if not extract.withheld
            else f"{extract.withheld[0].what}: {extract.withheld[0].why}",
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
    for running, rates in sorted(totals.windows.items()):
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
    drafts = Decimal(drafted) / k
    length = 1 + accepted / drafts
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
        observations=totals.spec_windows or None,
        biases=("log-span",),
    )
    if not extract.cases:
        extract.cases.append(Case("log"))
    for case in extract.cases:
        case.readings.append(reading)
