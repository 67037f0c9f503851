"""vLLM's `/metrics` text: counters since the process started, so only two scrapes around a run make a measurement.

Formulas (d = after - before, summed over engines):

* acceptance length [tok/step] = 1 + d accepted / d drafts; by position: d accepted at that position / d drafts
* decode rate of one stream [tok/s] = (d generated - d requests) / d decode seconds, of the requests that finished
* verification steps of one stream [steps/s] = d drafts / d decode seconds, where every request lies inside the scrapes
* over the wall, where the seconds between the scrapes are given: d generated / s and d drafts / s
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from macros.importers.identity import state_model
from macros.importers.rawfile import RawFile, refuse
from macros.importers.reading import Case, Extract, Reading, Withheld, rounded
from macros.importers.scrub import clean

GENERATED, PROMPT = "vllm:generation_tokens", "vllm:prompt_tokens"
DRAFTS, DRAFTED = "vllm:spec_decode_num_drafts", "vllm:spec_decode_num_draft_tokens"
ACCEPTED, POSITION = "vllm:spec_decode_num_accepted_tokens", "vllm:spec_decode_num_accepted_tokens_per_pos"
TTFT, DECODE = "vllm:time_to_first_token_seconds", "vllm:request_decode_time_seconds"
REQUEST_TOKENS = "vllm:request_generation_tokens"
START = "process_start_time_seconds"
COUNTERS = {GENERATED, PROMPT, DRAFTS, DRAFTED, ACCEPTED}
HISTOGRAMS = {TTFT, DECODE, REQUEST_TOKENS}


def recognises(file: RawFile) -> bool:
    return re.search(rb"^(?:# (?:TYPE|HELP) )?vllm:\w+", file.head, re.M) is not None


def read(file: RawFile) -> Extract:
    """One scrape: series name → value, summed over engines (positions as NAME/POSITION). No figure by itself."""
    # Imported here: it brings a web server, for which a reader of another file need not wait.
    from prometheus_client.parser import text_string_to_metric_families

    scrape: dict[str, Decimal] = {}
    models: set[str] = set()
    try:
        for family in text_string_to_metric_families(file.text):
            for sample in family.samples:
                name = sample.name.removesuffix("_total")
                if sample.name.endswith("_created") or not _wanted(name):
                    continue
                value = Decimal(repr(sample.value))
                if not value.is_finite() or value < 0:
                    refuse(file.name, "a finite counter of at least 0", str(value), field=name)
                if name == POSITION:
                    name = f"{POSITION}/{int(sample.labels['position'])}"
                scrape[name] = scrape.get(name, Decimal(0)) + value
                models |= {sample.labels["model_name"]} if sample.labels.get("model_name") else set()
    except (ValueError, KeyError, IndexError) as error:
        refuse(file.name, "Prometheus text, whole", f"{type(error).__name__}: {error}")
    if not scrape.keys() & (COUNTERS | {f"{TTFT}_count"}):
        refuse(file.name, "counters of a vLLM server", "none of its generation, prompt or speculation counters")
    if len(models) > 1:
        refuse(file.name, "one model", f"{len(models)}: {', '.join(sorted(models))}")
    extract = Extract(file.name, file.sha256, "engine", tool="vLLM /metrics", scrape=scrape)
    if DRAFTS in scrape and scrape.get(DRAFTS) and DRAFTED in scrape and scrape[DRAFTED] % scrape[DRAFTS] == 0:
        extract.state("config.draft_tokens", int(scrape[DRAFTED] / scrape[DRAFTS]), "draft tokens / drafts")
    extract.state("runtime.engine", "vLLM", "vllm: series")
    for model in models:
        extract.served_model = model
        state_model(extract, clean(model, 150), "the label model_name")
    # A label is the served name: it says whether a mock was measured, and nothing about the checkpoint.
    extract.settings = {key: stated for key, stated in extract.settings.items() if not key.startswith("model.")}
    return extract


def _wanted(name: str) -> bool:
    base = re.sub(r"_(count|sum)$", "", name)
    return name in COUNTERS or name in (POSITION, START) or (base in HISTOGRAMS and base != name)


def between(before: Extract, after: Extract, seconds: Decimal | None) -> Extract:
    """The measurement between two scrapes; `seconds` [s] is the wall time between them, if anyone knows it."""
    assert before.scrape is not None
    assert after.scrape is not None
    deltas = _deltas(before, after)
    extract = Extract(after.source, after.sha256, "engine", tool=after.tool)
    extract.settings = dict(after.settings)
    extract.blockers = after.blockers
    case = Case("engine")
    case.total_output_tokens = int(deltas.get(GENERATED, 0)) or None
    where = f"minus {before.source}: "
    acceptance = _acceptance(case, deltas, where)
    _streams(extract, case, deltas, where, acceptance)
    if seconds:
        _wall(case, deltas, where, seconds, acceptance)
    if not case.readings:
        missing = f"{DRAFTS}, {DECODE}_sum, or --seconds for the wall time between the scrapes"
        refuse(after.source, f"at least one of {missing}", "none of them with a difference")
    extract.cases.append(case)
    return extract


def _deltas(before: Extract, after: Extract) -> dict[str, Decimal]:
    old, new = before.scrape or {}, after.scrape or {}
    if before.served_model != after.served_model:
        refuse(after.source, f"the model {before.served_model}, as in {before.source}", str(after.served_model))
    if old.get(START) != new.get(START):
        refuse(after.source, "two scrapes of one server process", f"{START} differs: the server was restarted")
    fallen = [f"{name} {old[name]} → {new[name]}" for name in old if name in new and new[name] < old[name]]
    if fallen:
        refuse(
            after.source,
            "counters that only grow: first the scrape before the run, then the one after it",
            f"{len(fallen)} that fell ({fallen[0]}): the server was restarted, or the two are in the wrong order",
        )
    if gone := [name for name in old if name not in new]:
        refuse(after.source, "the same series in both scrapes", f"{gone[0]} only in {before.source}")
    # A labelled series appears with its first event, so a name that only the second scrape has started at 0.
    deltas = {name: value - old.get(name, Decimal(0)) for name, value in new.items() if name != START}
    if not any(deltas.values()):
        refuse(after.source, "requests between the two scrapes", f"the same counters as in {before.source}")
    return deltas


def _acceptance(case: Case, deltas: Mapping[str, Decimal], where: str) -> Decimal | None:
    drafts, accepted, drafted = (deltas.get(name, Decimal(0)) for name in (DRAFTS, ACCEPTED, DRAFTED))
    if not drafts or accepted > drafted:
        return None
    length = rounded(1 + accepted / drafts)
    positions = sorted((int(name.rpartition("/")[2]), value) for name, value in deltas.items() if POSITION in name)
    case.readings.append(
        Reading(
            "engine-acceptance",
            "acceptance_length",
            "tok/step",
            "total",
            length,
            f"{where}1 + {_whole(accepted)} accepted / {_whole(drafts)} drafts",
            "engine",
            "whole_run",
            "engine_counters",
            accepted=int(accepted),
            drafts=int(drafts),
            by_position=tuple(rounded(value / drafts, 4) for _, value in positions if value <= drafts),
            biases=("cut-drafts",),
        )
    )
    return length


def _streams(
    extract: Extract, case: Case, deltas: Mapping[str, Decimal], where: str, acceptance: Decimal | None
) -> None:
    seconds, requests = deltas.get(f"{DECODE}_sum"), deltas.get(f"{DECODE}_count")
    tokens, drafts = deltas.get(f"{REQUEST_TOKENS}_sum"), deltas.get(DRAFTS)
    first, started = deltas.get(f"{TTFT}_sum"), deltas.get(f"{TTFT}_count")
    if first and started:
        case.readings.append(
            Reading(
                "engine-ttft",
                "time_to_first_token",
                "s",
                "mean",
                rounded(first / started),
                f"{where}{TTFT}: sum / count",
                "engine",
                "request",
                None,
                observations=int(started),
            )
        )
    if not seconds or not requests or not tokens or tokens <= requests:
        return
    case.readings.append(
        Reading(
            "engine-decode",
            "decode_rate",
            "tok/s",
            "mean",
            rounded((tokens - requests) / seconds),
            f"{where}({_whole(tokens)} tokens - {_whole(requests)} requests) / {rounded(seconds)} s of decoding",
            "engine",
            "first_to_last_token",
            "engine_counters",
            observations=int(requests),
            acceptance_length=acceptance,
            completed=int(requests),
        )
    )
    if not drafts:
        return
    if deltas.get(GENERATED) != tokens:
        why = "some requests were under way at a scrape: their steps are counted, their decode time is not"
        extract.withheld.append(Withheld("drafts / decode seconds", why))
        return
    case.readings.append(
        Reading(
            "engine-steps",
            "step_rate",
            "steps/s",
            "mean",
            rounded(drafts / seconds),
            f"{where}{_whole(drafts)} drafts / {rounded(seconds)} s of decoding",
            "engine",
            "first_to_last_token",
            "engine_counters",
            acceptance_length=acceptance,
        )
    )


def _wall(case: Case, deltas: Mapping[str, Decimal], where: str, seconds: Decimal, acceptance: Decimal | None) -> None:
    tokens, drafts = deltas.get(GENERATED), deltas.get(DRAFTS)
    if tokens:
        case.readings.append(
            Reading(
                "engine-aggregate",
                "aggregate_throughput",
                "tok/s",
                "total",
                rounded(tokens / seconds),
                f"{where}{_whole(tokens)} tokens / {seconds} s",
                "engine",
                "whole_run",
                "engine_counters",
                acceptance_length=acceptance,
                tokens=int(tokens),
                seconds=seconds,
                biases=("aggregate-holds-ttft", "steps-over-wall"),
            )
        )
    if drafts:
        case.readings.append(
            Reading(
                "engine-steps-wall",
                "step_rate",
                "steps/s",
                "total",
                rounded(drafts / seconds),
                f"{where}{_whole(drafts)} drafts / {seconds} s",
                "engine",
                "whole_run",
                "engine_counters",
                acceptance_length=acceptance,
                biases=("steps-over-wall",),
            )
        )


def _whole(value: Decimal) -> str:
    return str(int(value))
