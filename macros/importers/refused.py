"""Outputs that are recognised and refused: what it is, why no figure comes of it, and what would be needed instead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from macros.importers.rawfile import RawFile, refuse


@dataclass(frozen=True)
class Refusal:
    """`keys`: a JSON object with all of them; `pattern`: text that holds it in its first part."""

    what: str
    needed: str
    keys: frozenset[str] = frozenset()
    pattern: str = ""


REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        "an author's roll-up of several vllm bench runs",
        "the JSON that each vllm bench serve run saved",
        keys=frozenset({"steps", "queue_knee_rps"}),
    ),
    Refusal(
        "an author's roll-up over replicas: medians of sums, one replica beside four",
        "the JSON that each run saved",
        keys=frozenset({"cross_pair", "pairs"}),
    ),
    Refusal(
        "an author's own record: its windows and token counting are not defined",
        "the output of a benchmark tool, or a published figure that quotes the line (results/published/)",
        keys=frozenset({"cases"}),
    ),
    Refusal(
        "an author's own record: tokens over a wall time with a cached prompt's processing inside",
        "the output of a benchmark tool, or a published figure that quotes the line (results/published/)",
        keys=frozenset({"calibrated_prompt_tokens", "runs"}),
    ),
    Refusal(
        "InferenceX's processed result: throughput per GPU counts input tokens too, times lost their unit's suffix",
        "the raw benchmark JSON that it was made from",
        keys=frozenset({"tput_per_gpu", "conc"}),
    ),
    Refusal(
        "a record of one request of AIPerf; warm-up requests stand in the same file",
        "profile_export_aiperf.json of the same run",
        keys=frozenset({"metadata", "metrics"}),
    ),
    Refusal(
        "a genai-perf report: lengths are tokenised again from the text, which reads throughput about a fifth too high",
        "a run of AIPerf, its successor",
        keys=frozenset({"input_config", "request_throughput"}),
    ),
    Refusal(
        "a trtllm-bench report: measured in process, without HTTP",
        "a run against a served endpoint",
        keys=frozenset({"engine", "performance"}),
    ),
    Refusal(
        "an author's sidecar with keys of their own",
        "the same values as --set key=value, or as YAML with a manifest's keys",
        keys=frozenset({"vllm_image"}),
    ),
    Refusal(
        "an author's run identity with keys of their own",
        "the same values as --set key=value, or as YAML with a manifest's keys",
        keys=frozenset({"claim_scope"}),
    ),
    Refusal(
        "a telemetry or integrity summary: it holds no speed",
        "the output of the benchmark tool",
        pattern=r'"(?:thermal|oom|swap|observed_output|output_token|prompt_token|telemetry)\w*"\s*:',
    ),
    Refusal(
        "acceptance lengths for simulating speculation, not a measurement",
        "the raw benchmark JSON of a run with real speculation",
        pattern=r"golden AL|\(AL\) reference values",
    ),
    Refusal(
        "an llm-d Benchmark Report",
        "the raw output of the tool that it was made from",
        pattern=r"^results:\n(?:.*\n){0,400}.*(?:component_health|observability|request_performance):",
    ),
    Refusal(
        "a plan of tests (Spark Arena profile): it holds no result",
        "the output of the benchmark tool",
        pattern=r"^framework: *llama-benchy|^schedule:",
    ),
    Refusal(
        "a list of file hashes: it holds no result",
        "the output of the benchmark tool",
        pattern=r"\A[0-9a-f]{64} [ *]\S+\n",
    ),
    Refusal(
        "the console table of bench_serving, rounded to two decimals",
        "the JSON of the same run (vllm: --save-result; sglang: --output-file)",
        pattern=r"={5,} Serving Benchmark Result ={5,}",
    ),
    Refusal(
        "a trtllm-bench console report: measured in process, without version or configuration",
        "a run against a served endpoint",
        pattern=r"PERFORMANCE OVERVIEW\s*\n=+|Per User Output Throughput \[w/ ctx\]",
    ),
    Refusal(
        "GuideLLM's CSV: three header rows, percentiles as lists in cells",
        "the JSON report of the same run",
        pattern=r"\A\ufeff?Run Info,Run Info,",
    ),
    Refusal(
        "AIPerf's CSV: two decimals, and neither model, version nor concurrency",
        "profile_export_aiperf.json of the same run",
        pattern=r"\A\ufeff?Metric,avg,min,max,sum,p1\b",
    ),
    Refusal(
        "genai-perf's CSV: lengths are tokenised again from the text, which reads throughput about a fifth too high",
        "a run of AIPerf, its successor",
        pattern=r"\A\ufeff?Metric,avg,min,max,p99\b",
    ),
    Refusal(
        "llama-bench's Markdown: only the columns that differ, several devices and tables in one file",
        "llama-bench -o json or -o jsonl",
        pattern=r"^\|\s*model\s*\|\s*size\s*\|\s*params\s*\|",
    ),
    Refusal(
        "lines of SQL of llama-bench",
        "llama-bench -o json or -o jsonl",
        pattern=r"CREATE TABLE IF NOT EXISTS (?:test|llama_bench)",
    ),
    Refusal(
        "an MLPerf log",
        "the output of a supported benchmark tool",
        pattern=r"MLPerf Results Summary|Result is : (?:IN)?VALID",
    ),
    Refusal(
        "an author's own text: the window of its rate is not defined",
        "the output of a benchmark tool, or a published figure that quotes the line (results/published/)",
        pattern=r"(?i)\b(?:t/s|tok/s|tokens/s)\b",
    ),
)


def check_document(file: RawFile, document: Any) -> None:
    """Refuses a JSON value of a known kind."""
    if not isinstance(document, dict):
        return
    for refusal in REFUSALS:
        if refusal.keys and document.keys() >= refusal.keys:
            refuse(file.name, refusal.needed, refusal.what)


def check_text(file: RawFile) -> None:
    """Refuses text of a known kind, by its first part."""
    head = file.text[:200_000] if file.size <= 1 << 22 else file.head.decode("utf-8", "replace")
    for refusal in REFUSALS:
        if refusal.pattern and re.search(refusal.pattern, head, re.M):
            refuse(file.name, refusal.needed, refusal.what)
