"""`vllm bench serve --save-result`: plain, `--append-result`, sweep arrays, and `runs[].metrics` wrappers of authors.

Recognised by keys, never by version: forks carry new keys under old version strings. The file names neither the vLLM
version nor image, revision, dataset, temperature or server flags.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

from macros.importers import serving
from macros.importers.identity import state_model
from macros.importers.rawfile import Fields, RawFile, refuse
from macros.importers.reading import Case, Extract, Reading, Stated, Withheld

KEYS = {"duration", "completed", "total_output_tokens", "output_throughput"}


def recognises(document: Any) -> bool:
    return bool(_runs(document))


def _is_run(document: Any) -> bool:
    if not isinstance(document, dict) or not document.keys() >= KEYS or "random_input_len" in document:
        return False
    return any(key.endswith(("_tpot_ms", "_ttft_ms")) for key in document)


def _runs(document: Any, at: str = "") -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """(place, run, the author's wrapper around it or {}) of every run in a document."""
    if _is_run(document):
        return [(at, document, {})]
    if isinstance(document, list):
        return [run for i, item in enumerate(document) for run in _runs(item, f"{at}[{i}]")]
    if isinstance(document, dict) and isinstance(document.get("runs"), list):
        return [
            (f"runs[{i}].metrics", item["metrics"], item)
            for i, item in enumerate(document["runs"])
            if isinstance(item, dict) and _is_run(item.get("metrics"))
        ]
    return []


def read(file: RawFile) -> Extract:
    extract = Extract(file.name, file.sha256, "client", tool="vllm bench serve")
    problems, models = [], set()
    several = len(file.documents) > 1
    for number, document in enumerate(file.documents, 1):
        runs = _runs(document)
        if not runs:
            refuse(file.name, "vllm bench serve runs only", f"something else as value {number} of the file")
        for at, run, wrapper in runs:
            at = f"object {number}{'.' if at else ''}{at}" if several else at
            fields = Fields(file.name, run, at)
            _one(extract, fields, wrapper)
            problems += fields.problems
            extract.withheld += [Withheld(what, "not a number") for what in fields.unusable]
            models.add(fields.text("model_id"))
    if len(models) > 1:
        refuse(file.name, "one model in a file", f"{len(models)}: {', '.join(sorted(str(m) for m in models))}")
    state_model(extract, models.pop(), "model_id")
    if problems:
        Fields(file.name, {}, problems=problems).finish()
    return extract


def _one(extract: Extract, fields: Fields, wrapper: dict[str, Any]) -> None:
    if not serving.check_completed(fields):
        return
    around = Fields(fields.file, wrapper, "", fields.problems, fields.unusable)
    concurrency = fields.count("max_concurrency") or around.count("concurrency")
    rate = fields.data.get("request_rate")
    name = f"c{concurrency}" if concurrency else f"rate{rate}".replace(".", "-").lower()
    case = Case(name)
    speculative = "spec_decode_num_drafts" in fields.data
    case.fingerprint = (str(rate), str(fields.data.get("num_prompts")), f"spec {speculative}")
    if concurrency:
        case.settings["workload.concurrency"] = Stated(concurrency, fields.file, fields.path("max_concurrency"))
    serving.lengths(case, fields, fields.file)

    # usage.completion_tokens; the tool only counts again itself where the server sends no usage.
    failed = ("failed-requests",) if fields.count("failed") else ()
    extract.withheld += serving.totals(case, fields, "usage", failed)
    chat = "chat" in str(fields.data.get("backend") or fields.data.get("endpoint_type") or "chat")
    serving.latencies(case, fields, "ms", "usage", ("role-chunk-ttft",) if chat else ())
    extract.withheld += _chunk_figures(fields)
    if speculative:
        _speculation(extract, case, fields)
    if fields.data.get("steady_state"):
        extract.withheld.append(Withheld(fields.path("steady_state"), "leaves out ramp and drain: another window"))
    extract.date = extract.date or date_of(fields, around)
    extract.cases.append(case)


def _chunk_figures(fields: Fields) -> list[Withheld]:
    """ITL and peak count SSE chunks; under speculation a chunk holds several tokens, and in a burst several chunks."""
    held = []
    for key, why in (
        ("mean_itl_ms", "the gap between SSE chunks, not tokens"),
        ("max_output_tokens_per_s", "SSE chunks in the busiest second, not tokens"),
        ("max_concurrent_requests", "requests that touch a second, up to twice the cap"),
        ("total_token_throughput", "input and output tokens together"),
        ("mean_e2el_ms", "a whole request's latency: it depends on the length of the answer"),
    ):
        value = fields.number(key)
        if value is not None:
            held.append(Withheld(f"{fields.path(key)} {value}", why))
    return held


def _speculation(extract: Extract, case: Case, fields: Fields) -> None:
    """Acceptance length [tok/step] = 1 + accepted / drafts, from the server's counters around the run."""
    drafts, accepted = fields.count("spec_decode_num_drafts"), fields.count("spec_decode_accepted_tokens")
    drafted = fields.count("spec_decode_draft_tokens")
    length = fields.positive("spec_decode_acceptance_length")
    if not drafts or accepted is None or length is None:
        return
    where = fields.path("spec_decode_acceptance_length")
    if abs(length - 1 - Decimal(accepted) / drafts) > Decimal("0.01"):
        extract.withheld.append(Withheld(where, f"it is not 1 + {accepted} / {drafts}"))
        return
    if drafted and drafted % drafts == 0:
        k = drafted // drafts
        if length > 1 + k:
            extract.withheld.append(Withheld(where, f"above 1 + {k} draft tokens"))
            return
        case.settings["config.draft_tokens"] = Stated(k, fields.file, fields.path("spec_decode_draft_tokens / drafts"))
    # What one stream gained from speculation belongs beside its rate.
    case.readings = [replace(r, acceptance_length=length) if r.unit == "tok/s" else r for r in case.readings]
    positions = fields.numbers("spec_decode_per_position_acceptance_rates")
    case.readings.append(
        Reading(
            "acceptance",
            "acceptance_length",
            "tok/step",
            "total",
            length,
            where,
            "engine",
            "whole_run",
            "engine_counters",
            accepted=accepted,
            drafts=drafts,
            by_position=positions if all(0 <= p <= 1 for p in positions) else (),
            biases=("cut-drafts",),
        )
    )


def date_of(fields: Fields, around: Fields) -> datetime.date | None:
    """The day of the run; `date` is local time without a zone."""
    for text in (fields.data.get("date"), around.data.get("measured_at_utc")):
        match = re.match(r"(\d{4})-?(\d\d)-?(\d\d)", text) if isinstance(text, str) else None
        if match:
            try:
                return datetime.date(*(int(part) for part in match.groups()))
            except ValueError:
                return None
    return None
