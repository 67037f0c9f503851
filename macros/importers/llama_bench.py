"""llama.cpp `llama-bench`: kernel level (no HTTP, tokenisation, sampling or speculation), a class of its own.

Formats: JSON array, JSONL, CSV with every value quoted. Each test (pp, tg, depth) is a configuration of its own.
`avg_ts` [tok/s] is the mean of the repetitions' rates, `stddev_ts` their sample deviation (N - 1).
"""

from __future__ import annotations

import csv
import datetime
import re
from decimal import Decimal
from typing import Any

from macros.importers.rawfile import Fields, RawFile, refuse
from macros.importers.reading import Case, Deviation, Extract, Reading, Stated
from macros.problems import Problem

KEYS = {"build_commit", "n_prompt", "n_gen", "avg_ts", "model_type"}


def recognises(document: Any) -> bool:
    if isinstance(document, list):
        return bool(document) and all(recognises(item) for item in document)
    return isinstance(document, dict) and document.keys() >= KEYS


def recognises_csv(file: RawFile) -> bool:
    return file.head.lstrip(b"\xef\xbb\xbf").startswith(b"build_commit,")


def read(file: RawFile) -> Extract:
    tests = [test for d in file.documents for test in (d if isinstance(d, list) else [d])]
    if not all(recognises(test) for test in tests):
        refuse(file.name, "llama-bench tests only", "another object among them")
    return _extract(file, tests)


def read_csv(file: RawFile) -> Extract:
    """CSV has no samples, and writes 0/1 where JSON writes false/true."""
    reader = csv.DictReader(file.text.splitlines(), strict=True)
    tests: list[dict[str, Any]] = []
    try:
        for number, row in enumerate(reader, 2):
            if None in row or None in row.values():
                refuse(file.name, f"{len(reader.fieldnames or ())} cells", "another number of cells", line=number)
            tests.append({k: Decimal(v) if re.fullmatch(r"-?\d{1,18}(\.\d{1,9})?", v) else v for k, v in row.items()})
    except csv.Error as error:
        refuse(file.name, "whole CSV", str(error))
    if not tests or not all(recognises(test) for test in tests):
        refuse(file.name, "llama-bench tests", "a header without tests" if not tests else "columns are missing")
    return _extract(file, tests)


def _extract(file: RawFile, tests: list[dict[str, Any]]) -> Extract:
    extract = Extract(file.name, file.sha256, "client", tool="llama-bench")
    problems: list[Problem] = []
    models = {str(test["model_type"]) for test in tests}
    if len(models) > 1:
        refuse(file.name, "one model in a file", f"{len(models)}: {', '.join(sorted(models))}")
    for number, test in enumerate(tests):
        fields = Fields(file.name, test, f"test {number + 1}", problems)
        _test(extract, fields)
    Fields(file.name, {}, problems=problems).finish()
    first = Fields(file.name, tests[0], "test 1")
    extract.state("model.name", first.text("model_type"), "model_type")
    extract.state("runtime.engine", "llama.cpp", "build_commit")
    built, commit = first.count("build_number"), first.text("build_commit")
    build = None if built is None else f"b{built}"
    version = " ".join([*([build] if build else []), *([f"({commit[:80]})"] if commit else [])])
    extract.state("runtime.version", version or None, "build_number, build_commit")
    extract.state("system.chip", first.text("gpu_info"), "gpu_info")
    extract.state("config.speculative_method", "none", "the tool does not speculate")
    extract.state("config.draft_tokens", 0, "the tool does not speculate")
    extract.tool_version = build
    try:
        extract.date = datetime.date.fromisoformat(str(first.data.get("test_time"))[:10])
    except ValueError:
        extract.date = None
    return extract


def _test(extract: Extract, fields: Fields) -> None:
    prompt, answer = fields.count("n_prompt", needed=True) or 0, fields.count("n_gen", needed=True) or 0
    depth = fields.count("n_depth") or 0
    value = fields.number("avg_ts", needed=True)
    if value is None or value <= 0 or not prompt + answer:
        fields.problem("avg_ts", "a rate above 0 of a test with tokens", str(value))
        return
    kind = f"pp{prompt}" if not answer else f"tg{answer}" if not prompt else f"pp{prompt}-tg{answer}"
    options = {k: fields.data.get(k) for k in ("flash_attn", "n_batch", "n_ubatch", "type_k", "type_v", "n_gpu_layers")}
    case = Case(f"{kind}-d{depth}", fingerprint=(kind, str(depth), str(options)))
    for key, size in (
        ("workload.prompt_tokens", prompt or None),
        ("workload.output_tokens", answer or None),
        ("workload.depth_tokens", depth),
        ("workload.concurrency", 1),
    ):
        case.settings[key] = Stated(size, fields.file, fields.at)
    samples = fields.numbers("samples_ts")
    n = len(samples) or None
    # samples_ts are printed with fewer digits than avg_ts.
    inside = bool(samples) and min(samples) <= value <= max(samples) and all(s > 0 for s in samples)
    std = fields.deviation("stddev_ts")
    case.readings.append(
        Reading(
            kind,
            "kernel_rate",
            "tok/s",
            "single" if n == 1 else "mean",
            value,
            fields.path("avg_ts"),
            "in_process",
            None,
            "requested",
            n=n,
            samples=samples if inside and n != 1 else (),
            deviation=Deviation(std, "sample", "runs") if std and n != 1 else None,
            biases=("kernel-level", *(("one-repetition",) if n == 1 else ())),
        )
    )
    extract.cases.append(case)
