"""`results import`: raw outputs of benchmark tools → manifests that say exactly what was measured.

    file → rawfile (bytes, strict JSON) → one module a tool → Extract → assemble → write

`extract` finds the tool by what the file holds, never by its name or a version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from macros.importers import (
    aiperf,
    environment,
    guidellm,
    inferencex,
    llama_bench,
    llama_benchy,
    refused,
    sglang,
    sglang_log,
    vllm_bench,
    vllm_log,
    vllm_metrics,
)
from macros.importers.rawfile import Digest, RawFile, refuse
from macros.importers.reading import Extract

Progress = Callable[[int], None]
TOOLS = (
    "vllm bench serve JSON, a vLLM log, vLLM /metrics, llama-benchy, sglang bench JSONL or log, AIPerf, GuideLLM, "
    "InferenceX or llama-bench output"
)


def extract(file: RawFile, given: Mapping[str, Any], progress: Progress | None = None) -> Extract:
    """What a file contributes. Raises InputError for a bad file, another tool's file, or one that holds no figure."""
    result = _json(file, given) if file.looks_like_json else _text(file, given, progress)
    result.notes += file.flags
    return result


def sidecar(file: RawFile) -> Extract:
    """A file given with --with: configuration only."""
    return environment.read(file)


def _json(file: RawFile, given: Mapping[str, Any]) -> Extract:
    first = file.documents[0]
    # In this order: a narrower shape stands before a wider one.
    if llama_benchy.recognises(first):
        return llama_benchy.read(file, given)
    modules: tuple[Any, ...] = (aiperf, guidellm, sglang, inferencex, llama_bench, vllm_bench)
    for module in modules:
        if module.recognises(first):
            result: Extract = module.read(file)
            return result
    if environment.recognises(file):
        return environment.read(file)
    refused.check_document(file, first)
    refused.check_text(file)
    return refuse(file.name, TOOLS, "JSON of another kind")


def _text(file: RawFile, given: Mapping[str, Any], progress: Progress | None) -> Extract:
    if llama_bench.recognises_csv(file):
        return llama_bench.read_csv(file)
    if aiperf.recognises_server_metrics(file):
        return aiperf.read_server_metrics(file)
    if vllm_metrics.recognises(file):
        return vllm_metrics.read(file)
    if llama_benchy.recognises_table(file):
        return llama_benchy.read_table(file, given)
    if environment.recognises(file):
        return environment.read(file)
    if b"SGLang" in file.head or b"sglang" in file.head or b"Decode batch" in file.head:
        _refuse_console(file)
        return _log(sglang_log.read, file, progress)
    if _is_vllm_log(file):
        return _log(vllm_log.read, file, progress)
    refused.check_text(file)
    return refuse(file.name, TOOLS, "text of another kind")


def _log(read: Callable[[RawFile, Progress | None], Extract], file: RawFile, progress: Progress | None) -> Extract:
    """Reads a log and hashes each part right behind the reading: after it, the disk would have to be read again."""
    if file.is_utf16:
        refuse(file.name, "a server log in UTF-8 (iconv -f UTF-16 -t UTF-8 converts it)", "a log in UTF-16")
    digest = Digest(file.path)

    def follow(count: int) -> None:
        digest.advance(count)
        if progress:
            progress(count)

    result = read(file, follow)
    digest.advance(file.size - digest.size)
    result.sha256 = digest.hex
    return result


def _refuse_console(file: RawFile) -> None:
    """The client's console names the server too; it is not the server's log."""
    if b"benchmark_args=" in file.head or b"Serving Benchmark Result" in file.head:
        refused.check_text(file)


def _is_vllm_log(file: RawFile) -> bool:
    """A line of an author's text may quote a log, so a line of the engine must come early or start the line."""
    if b"Serving Benchmark Result" in file.head:
        return False
    marks = (
        b"[loggers.py:",
        b"[metrics.py:",
        b"[mxfp4.py:",
        b"mxfp4.py:",
        b"[core.py:",
        b"[utils.py:",
        b"[api_server.py:",
    )
    lines = file.head.splitlines()
    marked = sum(any(mark in line for mark in marks) or b" metrics.py:" in line for line in lines)
    if 3 * marked >= len(lines) or any(b"non-default args" in line or b"LLM engine (v" in line for line in lines):
        return True
    # A long log may begin with anything; a short text without the marks is none.
    return file.size > len(file.head) and vllm_log.recognises(file.path)
