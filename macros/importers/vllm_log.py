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
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

from macros.importers import environment
from macros.importers.identity import state_model
from macros.importers.parallel import in_order
from macros.importers.rawfile import RawFile, refuse
from macros.importers.reading import Case, Extract, Reading, Stated, Withheld, rounded
from macros.importers.scrub import clean
from macros.importers.streams import Block, LineNumbers, blocks, joined, lines_near, lines_with, pieces
from macros.importers.windows import window_case

_WINDOW_NEEDLE = b" tokens/s, Avg generation throughput: "
_SPECULATION_NEEDLE = b"SpecDecoding metrics: "
_V0_NEEDLE = b"Speculative metrics: Draft acceptance rate: "
_COLD_NEEDLE = b"JIT compilation during inference"
_MARK = b") with config: model="
_START = (_MARK, b"LLM engine (v", b"oE backend", b"[mxfp4.py", b"non-default args: {", b"sampling parameters")
_VERSION = re.compile(r"LLM engine \(v([^)\s]+)\)")
_DRAFTS = (
    rb"SpecDecoding metrics: .{0,200}Accepted: ([0-9]{1,15}) tokens, Drafted: ([0-9]{1,15}) tokens"
    rb"(?:.{0,200}?Per-position acceptance rate: ([0-9., ]{1,999}))?"
)
_SPECULATION = re.compile(_DRAFTS)
# The lines of numbers are matched in whole blocks. Every repetition is bounded, so that no line of megabytes is walked
# again and again. The last characters before the label hold the engine's number: it is a look behind because an
# expression that begins with fixed text is found several times as fast. The line of speculation usually comes next and
# is taken in the same pass; what is skipped up to it has no room for another window, or not the letter of its label.
_WINDOW = re.compile(
    rb"Avg prompt throughput: (?:(?<=((?s:.){16})Avg prompt throughput: ))?"
    rb"([0-9.]{1,20}) tokens/s, Avg generation throughput: ([0-9.]{1,20}) tokens/s, Running: ([0-9]{1,9}) reqs"
    rb"(?:[^\nA]{0,300}+\n.{0,88}" + _DRAFTS + rb")?"
)
_ZERO = (b"0.0", b"0")
_NUMBER = re.compile(rb"\d{1,9}(\.\d{1,9})?")
_ENGINE = re.compile(rb"Engine (\d+): $")
# Old: Using Marlin backend; new: Using 'B12X' Mxfp4 MoE backend. Not: "… does not support the deployment …".
_MOE = re.compile(r"Using '?([A-Za-z0-9_]+)'? (?:Mxfp4|NvFp4|Fp8|MXFP4) MoE backend\b(?! does not)")
_OLD_MOE = re.compile(r"mxfp4\.py[^\]]*\] Using (Marlin|FlashInfer MXFP4 [A-Z0-9]+|Triton)(?: backend)?\b")
_SIMULATED = re.compile(
    r"rejection_sample_method['\"]?\s*[:=]\s*['\"]?synthetic|synthetic_acceptance_\w+['\"]?\s*[:=]\s*(?!None)[\w\[.'\"]"
)
_V0 = re.compile(
    rb"Speculative metrics: Draft acceptance rate: .{0,200}Number of speculative tokens: ([0-9]{1,15}), "
    rb"Number of accepted tokens: ([0-9]{1,15}), Number of draft tokens: ([0-9]{1,15})"
)


@dataclass
class _Totals:
    """Counts over a piece of a log; their size depends on the values, never on the number of lines."""

    windows: Counter[tuple[bytes, bytes]] = field(default_factory=Counter)  # (running requests, rate) → lines
    seen_windows: int = 0
    engines: set[bytes] = field(default_factory=set)
    first: tuple[bytes, ...] = ()  # the groups of _WINDOW: which window came before it is known to the piece before
    running: bytes = b""  # requests of the last window
    accepted: int = 0
    drafted: int = 0
    spec_windows: int = 0
    positions: set[int] = field(default_factory=set)  # numbers of draft positions
    cumulative: tuple[int, int, int] | None = None  # V0: k, accepted, drafted since the start
    cold: int = 0
    marks: list[tuple[int, int]] = field(default_factory=list)  # where servers started, see `lines_near`

    def add(self, after: _Totals) -> None:
        """Adds the piece that follows."""
        if after.first:
            self.windows.update(_decoding_only([after.first], self.running))
            self.first, self.running = self.first or after.first, after.running
        self.windows.update(after.windows)
        self.seen_windows += after.seen_windows
        self.engines |= after.engines
        self.accepted += after.accepted
        self.drafted += after.drafted
        self.spec_windows += after.spec_windows
        self.positions |= after.positions
        self.cumulative = after.cumulative or self.cumulative
        self.cold += after.cold
        self.marks += after.marks


def recognises(path: Path) -> bool:
    """Whether any line is an engine's: a long log may begin with something else."""
    anywhere = (_MARK, _WINDOW_NEEDLE, _SPECULATION_NEEDLE, _V0_NEEDLE, _COLD_NEEDLE)
    return any(True for _ in lines_near(path, _START)) or any(True for _ in lines_with(path, anywhere))


def read(file: RawFile, progress: Callable[[int], None] | None = None) -> Extract:
    totals = _Totals()
    parts = pieces(file.path, file.size)
    with closing(in_order(partial(_scan, file.path), parts)) as scans:
        for (start, end), part in zip(parts, scans, strict=True):
            totals.add(part)
            if progress:
                progress(end - start)
    extract = Extract(file.name, "", "engine", tool="vLLM engine log")
    moe: dict[str, str] = {}
    numbers = LineNumbers(file.path)
    for offset, raw in lines_near(file.path, _START, totals.marks):
        line = raw.decode("utf-8", "replace")
        if _SIMULATED.search(line):
            refuse(file.name, "a run with real speculation", "simulated acceptance", line=numbers.at(offset))
        _configuration(extract, moe, line, f"line {numbers.at(offset)}")
    _finish(extract, totals, moe, file.name)
    return extract


def _scan(path: Path, piece: tuple[int, int]) -> _Totals:
    totals = _Totals()
    for block in blocks(path, None, *piece):
        _numbers(totals, block)
    return totals


def _numbers(totals: _Totals, block: Block) -> None:
    """Adds the lines of numbers, which may be a tenth of all lines: no object and no copy of any of them is kept."""
    windows = block.find_all(_WINDOW_NEEDLE, _WINDOW)
    totals.seen_windows += len(windows)
    for before in {window[0] for window in windows}:
        engine = _ENGINE.search(before)
        totals.engines.add(engine[1] if engine else b"")
    if windows:
        totals.first = totals.first or windows[0]
        totals.windows.update(_decoding_only(windows, totals.running))
        totals.running = windows[-1][3]
    # Without drafts in a window, its shares are nan.
    drafts = [line for line in _speculation(block, windows) if line[-2] != b"0"]
    totals.accepted += sum(map(int, map(itemgetter(-3), drafts)))
    totals.drafted += sum(map(int, map(itemgetter(-2), drafts)))
    totals.spec_windows += len(drafts)
    totals.positions |= {line[-1].rstrip(b", ").count(b",") + 1 if line[-1] else 0 for line in drafts}
    for k, accepted, drafted in block.find_all(_V0_NEEDLE, _V0):
        totals.cumulative = (int(k), int(accepted), int(drafted))
    # One letter, and a rare one, is found faster than any text.
    if block.has(_COLD_NEEDLE[:1]):
        totals.cold += block.count(_COLD_NEEDLE)
    if span := block.span(_MARK):
        totals.marks = joined(totals.marks, span)


def _speculation(block: Block, windows: list[tuple[bytes, ...]]) -> list[tuple[bytes, ...]]:
    """Lines that end in the groups of _SPECULATION: those that came with a window, if the block holds no others."""
    found = [window for window in windows if window[-2]]
    if len(found) == block.count(_SPECULATION_NEEDLE):
        return found
    return block.find_all(_SPECULATION_NEEDLE, _SPECULATION)


def _decoding_only(windows: list[tuple[bytes, ...]], before: bytes) -> Iterator[tuple[bytes, bytes]]:
    """(running requests, rate) of the windows that held decoding only; `before` are the requests of the one before."""
    befores = [before, *[window[3] for window in windows]]
    return (
        (running, rate)
        for before, (_, prompt, rate, running, _, _, _) in zip(befores, windows, strict=False)
        if running == before and running != b"0" and prompt in _ZERO and rate not in _ZERO
    )


def _configuration(extract: Extract, moe_places: dict[str, str], line: str, place: str) -> None:
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
        moe_places.setdefault(moe[1], place)


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


def _finish(extract: Extract, totals: _Totals, moe_places: dict[str, str], name: str) -> None:
    if moe_places:
        backends = ", ".join(moe_places)
        if len(moe_places) == 1:
            extract.state("config.moe_backend_active", backends, moe_places[backends])
            extract.state("config.moe_backend_known_from", "log", moe_places[backends])
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
    rates: defaultdict[int, Counter[Decimal]] = defaultdict(Counter)
    for (running, rate), count in totals.windows.items():
        if _NUMBER.fullmatch(rate):
            rates[int(running)][Decimal(rate.decode())] += count
    for requests in sorted(rates):
        lines = f"Avg generation throughput with Running: {requests} reqs"
        extract.cases.append(window_case(extract.source, requests, rates[requests], "Running: … reqs", lines))


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
