"""The log of an SGLang server: version, arguments, and the throughput of its decode batches.

A `Decode batch` line gives the tokens that the engine emitted since the last one, over the time in between. What is
taken is the median of the lines that held decoding only: no prefill since the last line, and as many running requests.
The first line of a log holds compile time (a real one reads 1.94 tok/s beside 56) and is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from decimal import Decimal

from macros.importers.identity import state_model
from macros.importers.rawfile import RawFile, refuse
from macros.importers.reading import Extract, Withheld
from macros.importers.scrub import clean
from macros.importers.streams import LineNumbers, lines_near, lines_with
from macros.importers.windows import window_case

_BATCHES = (b"Decode batch", b"Prefill batch")
_START = (b"server_args=", b"SGLang Version", b"SIMULATE_ACC_LEN")
_DECODE = re.compile(rb"Decode batch.*?#running-req: (\d+).*?gen throughput \(token/s\): (\d{1,9}(?:\.\d{1,9})?)")
_ARGUMENT = re.compile(r"\b(\w+)=(?:'([^']*)'|([\w.-]+))")
_KEYS = {
    "tp_size": ("system.tensor_parallel", int),
    "kv_cache_dtype": ("config.kv_cache_dtype", str),
    "context_length": ("config.max_model_len", int),
    "speculative_num_draft_tokens": ("config.draft_tokens", int),
    "speculative_algorithm": ("config.speculative_method", str),
    "revision": ("model.revision", str),
}


def read(file: RawFile, progress: Callable[[int], None] | None = None) -> Extract:
    extract = Extract(file.name, "", "engine", tool="SGLang server log")
    windows: dict[int, Counter[Decimal]] = {}
    decode_lines, decoding_only, running_before = 0, False, 0
    numbers = LineNumbers(file.path)
    for offset, line in lines_near(file.path, _START):
        if not any(batch in line for batch in _BATCHES):
            _configuration(extract, line.decode("utf-8", "replace"), numbers.at(offset))
    for _, line in lines_with(file.path, _BATCHES, progress):
        if b"Prefill batch" in line:
            decoding_only = False
        elif match := _DECODE.search(line):
            running, rate = int(match[1]), Decimal(match[2].decode())
            if decode_lines and decoding_only and running == running_before and rate:
                windows.setdefault(running, Counter())[rate] += 1
            decode_lines, decoding_only, running_before = decode_lines + 1, True, running
    for running, rates in sorted(windows.items()):
        lines = f"Decode batch lines with #running-req: {running}"
        extract.cases.append(window_case(file.name, running, rates, "#running-req of the Decode batch lines", lines))
    if not windows:
        what = f"{decode_lines} Decode batch line(s), none of them after another without a prefill between"
        if not extract.settings:
            refuse(file.name, "Decode batch lines of an SGLang server", what if decode_lines else "none")
        extract.withheld.append(Withheld("gen throughput", what))
    return extract


def _configuration(extract: Extract, line: str, number: int) -> None:
    if "SIMULATE_ACC_LEN" in line:
        refuse(extract.source, "a run with real speculation", "simulated acceptance", line=number)
    _, version, after = line.partition("SGLang Version")
    if version:
        extract.state("runtime.engine", "SGLang", f"line {number}")
        extract.state("runtime.version", clean(after, 80) or None, f"line {number}")
    place = f"line {number}, server_args"
    for name, quoted, bare in _ARGUMENT.findall(line.partition("server_args=")[2]):
        text = clean(quoted or bare, 80)
        if name == "model_path":
            state_model(extract, quoted, place)
        elif name in _KEYS and text and text != "None":
            key, kind = _KEYS[name]
            extract.state(key, text if kind is str else int(text) if re.fullmatch(r"\d{1,9}", text) else None, place)
