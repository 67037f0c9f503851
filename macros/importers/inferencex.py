"""InferenceX raw results: the vLLM schema of a fork with latencies in SECONDS and keys without `_ms`."""

from __future__ import annotations

from typing import Any

from macros.importers import serving, vllm_bench
from macros.importers.identity import state_model
from macros.importers.rawfile import Fields, RawFile, refuse
from macros.importers.reading import Case, Extract, Stated, Withheld


def recognises(document: Any) -> bool:
    return isinstance(document, dict) and document.keys() >= vllm_bench.KEYS and "median_tpot" in document


def read(file: RawFile) -> Extract:
    if len(file.documents) != 1:
        refuse(file.name, "one run in a file", f"{len(file.documents)} values")
    extract = Extract(file.name, file.sha256, "client", tool="InferenceX benchmark_serving")
    fields = Fields(file.name, file.documents[0])
    if serving.check_completed(fields):
        concurrency = fields.count("max_concurrency")
        case = Case(f"c{concurrency}" if concurrency else "open")
        case.fingerprint = (str(fields.data.get("request_rate")),)
        if concurrency:
            case.settings["workload.concurrency"] = Stated(concurrency, file.name, "max_concurrency")
        serving.lengths(case, fields, file.name)
        extract.withheld += serving.totals(case, fields, None, ())
        serving.latencies(case, fields, "s", None)
        extract.date = vllm_bench.date_of(fields, fields)
        extract.cases.append(case)
    fields.finish()
    extract.withheld += [Withheld(what, "not a number") for what in fields.unusable]
    state_model(extract, fields.text("model_id"), "model_id")
    extract.notes.append("Whether the tokens are counted by the server or again by the client is not recorded.")
    return extract
