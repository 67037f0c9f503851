"""Several files of one run → one manifest a configuration, and what keeps it from being published.

Nothing is guessed: a key that no file states is missing until --set or a sidecar states it, `null` included. Two files
that state a key differently are a problem, never a choice made here.
"""

from __future__ import annotations

import hashlib
import re
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from macros.importers import vllm_metrics
from macros.importers.biases import BIASES
from macros.importers.reading import Case, Deviation, Extract, Reading, Stated, Withheld, rounded
from macros.manifests import COMPARED, Configuration
from macros.problems import InputError, Problem

# Readings whose meaning hangs on how tokens were counted.
COUNTED = {"decode_rate", "end_to_end_rate", "aggregate_throughput", "time_per_output_token", "prefill_rate"}
PER_READING = {"method.vantage": "vantage", "method.window": "window", "method.token_accounting": "accounting"}
HINTS = {
    "runtime.image_digest": "--with FILE: docker image inspect (RepoDigests)",
    "runtime.image": "--with FILE: docker inspect of the container",
    "runtime.version": "the server's log beside the other files",
    "config.moe_backend_active": "the server's log: its line Using … MoE backend",
    "config.moe_backend_requested": "--with FILE: the launch command",
    "config.kv_cache_dtype": "--with FILE: the launch command",
    "config.speculative_method": "--with FILE: the launch command",
    "model.checkpoint": "--set model.checkpoint=… (the release of the model, such as 0731)",
    "model.revision": "--set model.revision=COMMIT of the checkpoint",
    "workload.profile": "--set workload.profile=code (see results/profiles.yaml)",
    "evidence": "--set evidence=community_report or lab_single_run",
}


@dataclass
class Group:
    """Repeats of one configuration, with the extracts that they came from."""

    name: str
    members: list[tuple[Extract, Case]]
    engine: list[tuple[Extract, Case]]

    @property
    def concurrency(self) -> Any:
        stated = self.members[0][1].settings.get("workload.concurrency") if self.members else None
        return stated.value if stated else None


@dataclass
class Assembled:
    """A manifest as plain data. With `missing` or `blockers` it is a draft."""

    id: str
    data: dict[str, Any]
    missing: list[str]
    blockers: list[str]
    withheld: list[Withheld]


def assemble(
    extracts: list[Extract],
    given: Mapping[str, Stated],
    seconds: Decimal | None = None,
    only: str | None = None,
    run_id: str | None = None,
) -> list[Assembled]:
    """One manifest for each configuration in the files. Raises InputError with all problems."""
    _no_file_twice(extracts)
    _no_reading_overruled(extracts, given)
    extracts = _pair_scrapes(extracts, seconds)
    groups = _groups(extracts)
    if only is not None:
        chosen = [group for group in groups if group.name == only]
        if not chosen:
            _problem(extracts, f"--case: one of {', '.join(g.name for g in groups)}", only)
        groups = chosen
    if not groups:
        _problem(extracts, "at least one file with figures", "configuration only")
    engine = [e for e in extracts if e.role == "engine" and e.cases]
    if any(g.members for g in groups) and engine:
        if len(groups) > 1:
            names = ", ".join(g.name for g in groups)
            _problem(engine, f"--case: the one of {names} that this file belongs to", "a file with several of them")
        groups[0].engine = _matching(engine, groups[0].concurrency)
        matched = {id(e) for e, _ in groups[0].engine}
        for extract in engine:
            if id(extract) not in matched:
                why = f"it has no window with {groups[0].concurrency} running requests"
                extract.withheld.append(Withheld(f"the figures of {extract.source}", why))
    assembled, problems = [], []
    for group in groups:
        try:
            assembled.append(_manifest(group, extracts, given, run_id, len(groups) > 1))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return assembled


def _problem(extracts: Iterable[Extract], expected: str, found: str) -> None:
    raise InputError([Problem(next(iter(extracts)).source, 0, 0, "", expected, found)])


def _no_file_twice(extracts: list[Extract]) -> None:
    seen: dict[str, str] = {}
    names: set[str] = set()
    problems = []
    for extract in extracts:
        if extract.sha256 in seen:
            problems.append(
                Problem(extract.source, 0, 0, "", "each file once", f"the same bytes as {seen[extract.sha256]}")
            )
        elif extract.source in names:
            problems.append(Problem(extract.source, 0, 0, "", "file names that differ", "a second file of this name"))
        seen[extract.sha256] = extract.source
        names.add(extract.source)
    if problems:
        raise InputError(problems)


def _no_reading_overruled(extracts: list[Extract], given: Mapping[str, Stated]) -> None:
    """What a figure was measured by, and over which window, follows from the tool; nobody may say otherwise."""
    fixed = ("method.vantage", "method.window")
    stated = [(key, s) for settings in (given, *(e.settings for e in extracts)) for key, s in settings.items()]
    problems = [
        Problem(s.source, 0, 0, key, "this key left out: each figure brings its own", str(s.value))
        for key, s in stated
        if key in fixed
    ]
    if problems:
        raise InputError(problems)


def _pair_scrapes(extracts: list[Extract], seconds: Decimal | None) -> list[Extract]:
    scrapes = [e for e in extracts if e.scrape is not None]
    if not scrapes and seconds is None:
        return extracts
    if len(scrapes) != 2:
        _problem(
            scrapes or extracts,
            "two scrapes of /metrics: one from before the run, then one from after it",
            f"{len(scrapes)}: counters run since the server's start",
        )
    others = [e for e in extracts if e.scrape is None]
    if seconds is None:
        seconds = _client_wall(others, scrapes)
    measured = vllm_metrics.between(scrapes[0], scrapes[1], seconds)
    # The first scrape stays as a source, without figures of its own.
    return [*others, replace(scrapes[0], settings={}, scrape=None), measured]


def _client_wall(others: list[Extract], scrapes: list[Extract]) -> Decimal | None:
    """The client's duration, if the scrapes saw the tokens of exactly that one run and nothing else."""
    cases = [case for e in others if e.role == "client" for case in e.cases]
    old, new = ((e.scrape or {}).get(vllm_metrics.GENERATED, Decimal(0)) for e in scrapes)
    return cases[0].wall_seconds if len(cases) == 1 and cases[0].total_output_tokens == new - old else None


def _groups(extracts: list[Extract]) -> list[Group]:
    """Configurations of the client files; without any, those of the engine's files."""
    groups: dict[Any, Group] = {}
    for extract in extracts:
        if extract.role != "client":
            continue
        for case in extract.cases:
            key = (extract.tool, extract.tool_version, case.fingerprint, _conditions(case))
            groups.setdefault(key, Group(case.name, [], [])).members.append((extract, case))
    if not groups:
        engine = [(e, c) for e in extracts if e.role == "engine" for c in e.cases]
        labelled = {c.settings["workload.concurrency"].value for _, c in engine if "workload.concurrency" in c.settings}
        for concurrency in sorted(labelled) or [None]:
            chosen = [(e, c) for e, c in engine if _concurrency(c) in (None, concurrency)]
            if chosen:
                groups[concurrency] = Group(f"c{concurrency}" if concurrency else "engine", [], chosen)
    used: set[str] = set()
    for number, group in enumerate(groups.values(), 1):
        if group.name in used:
            group.name = f"{group.name}-{number}"
        used.add(group.name)
    return list(groups.values())


def _conditions(case: Case) -> tuple[tuple[str, str], ...]:
    """What makes two runs repeats of each other. A mean length is an outcome: it differs a little from run to run."""
    return tuple(
        sorted((key, str(s.value)) for key, s in case.settings.items() if f"{key}_approximate" not in case.settings)
    )


def _shared(members: list[tuple[Extract, Case]]) -> list[dict[str, Stated]]:
    """The settings of repeats, with mean lengths averaged over them."""
    settings = [dict(case.settings) for _, case in members]
    for key in [key for key in (settings[0] if settings else ()) if f"{key}_approximate" in settings[0]]:
        mean = round(statistics.mean(s[key].value for s in settings if key in s))
        for one in settings:
            one[key] = replace(settings[0][key], value=mean)
    return settings


def _concurrency(case: Case) -> Any:
    stated = case.settings.get("workload.concurrency")
    return stated.value if stated else None


def _matching(engine: list[Extract], concurrency: Any) -> list[tuple[Extract, Case]]:
    return [(e, c) for e in engine for c in e.cases if _concurrency(c) in (None, concurrency)]


# --- One manifest ---------------------------------------------------------------------------------------------------


def _manifest(
    group: Group, extracts: list[Extract], given: Mapping[str, Stated], run_id: str | None, several: bool
) -> Assembled:
    parts = [*group.members, *group.engine]
    taken = {id(e) for e, _ in parts}
    # The server's log and the sidecars describe every configuration; another client file describes its own.
    relevant = [e for e in extracts if id(e) in taken or e.role != "client"]
    own = [*_shared(group.members), *(case.settings for _, case in group.engine)]
    settings = _merge([*(e.settings for e in relevant), *own], given)
    readings, withheld = _repeats(group)
    readings += [replace(r, source=e.source) for e, case in group.engine for r in case.readings]
    readings = _counted_as_given(readings, settings)
    tools = [e for e, _ in group.members] or [e for e, _ in group.engine]
    data = _blocks(settings)
    method = data.setdefault("method", {})
    method.setdefault("tool", tools[0].tool)
    method.setdefault("tool_version", tools[0].tool_version)
    missing = _missing(settings, readings)
    for key, attribute in PER_READING.items():
        values = {getattr(r, attribute) for r in readings}
        method[key.partition(".")[2]] = values.pop() if len(values) == 1 else None
    dates = {e.date for e in tools if e.date}
    data["date"] = settings["date"].value if "date" in settings else max(dates) if dates else None
    if "evidence" in settings:
        data["evidence"] = settings["evidence"].value
    data["id"] = _id(group, settings, tools, run_id, several)
    data["sources"] = [_source(e) for e in relevant]
    data["measurements"] = [_measurement(r, method) for r in _unique(readings)]
    codes = sorted({code for r in readings for code in r.biases})
    data["biases"] = [_bias(code) for code in codes]
    data["settings_read_from"] = [
        {"key": key, "source": stated.source, "place": stated.place}
        for key, stated in sorted(settings.items())
        if "." in key and stated.source != GIVEN
    ]
    data["notes"] = _notes(relevant)
    blockers = list(dict.fromkeys(reason for e in relevant for reason in e.blockers))
    held = [w for e in relevant for w in e.withheld] + withheld
    return Assembled(data["id"], _ordered(data), missing, blockers, held)


# The source of what the person at the keyboard stated; it is no file and so not among the sources.
GIVEN = "--set"


def _merge(blocks: list[dict[str, Stated]], given: Mapping[str, Stated]) -> dict[str, Stated]:
    """All settings in one; raises InputError where two files state a key differently and nobody decided."""
    merged: dict[str, Stated] = {}
    problems = []
    for settings in blocks:
        for key, stated in settings.items():
            before = merged.get(key)
            if key in given or before is None:
                merged[key] = stated
            elif before.value != stated.value:
                problems.append(
                    Problem(
                        stated.source,
                        0,
                        0,
                        key,
                        f"{before.value}, as {before.source} says ({before.place}), or --set {key}=…",
                        f"{stated.value} ({stated.place})",
                    )
                )
    if problems:
        raise InputError(problems)
    return {**merged, **given}


def _repeats(group: Group) -> tuple[list[Reading], list[Withheld]]:
    """The client's readings; of several runs of one configuration one reading with a sample for each run."""
    if not group.members:
        return [], []
    runs = [[replace(r, source=e.source) for r in case.readings] for e, case in group.members]
    if len(runs) == 1:
        return runs[0], []
    combined, withheld = [], []
    for first in runs[0]:
        same = [next((r for r in run if r.name == first.name), None) for run in runs]
        readings = [r for r in same if r is not None]
        if len(readings) != len(runs) or any(r.n != 1 for r in readings):
            withheld.append(Withheld(first.name, "not in every one of the runs, or with repeats of its own"))
        elif first.statistic == "median":
            withheld.append(Withheld(first.name, "medians of several runs make no median"))
        else:
            combined.append(_combine(readings))
    lengths = [r.value for r in combined if r.quantity == "acceptance_length"]
    if len(lengths) == 1:
        combined = [replace(r, acceptance_length=lengths[0]) if r.unit == "tok/s" else r for r in combined]
    return combined, withheld


def _combine(readings: list[Reading]) -> Reading:
    """Total tokens over total time for a throughput; else the mean weighted by what each run observed.

    A rate that is 1000 / TPOT is averaged as the time that it is (harmonically), never as a rate.
    """
    first = readings[0]
    values = tuple(r.value for r in readings)
    weights = [Decimal(r.drafts or r.observations or 1) for r in readings]
    tokens = sum(r.tokens or 0 for r in readings) if all(r.tokens and r.seconds for r in readings) else None
    seconds = sum((r.seconds or Decimal(0) for r in readings), Decimal(0)) if tokens else None
    if tokens and seconds:
        value = tokens / seconds
    elif first.quantity == "decode_rate":
        value = sum(weights) / sum((w / v for w, v in zip(weights, values, strict=True)), Decimal(0))
    else:
        value = sum((w * v for w, v in zip(weights, values, strict=True)), Decimal(0)) / sum(weights)
    value = min(max(rounded(value), min(values)), max(values))
    others = sorted({r.source for r in readings[1:]} - {first.source})
    return replace(
        first,
        value=value,
        n=len(values),
        samples=values,
        deviation=Deviation(rounded(statistics.stdev(values)), "sample", "runs") if len(set(values)) > 1 else None,
        observations=sum(r.observations or 0 for r in readings) or None,
        tokens=tokens,
        seconds=seconds,
        completed=_sum(r.completed for r in readings),
        failed=_sum(r.failed for r in readings),
        by_position=(),
        accepted=_sum(r.accepted for r in readings),
        drafts=_sum(r.drafts for r in readings),
        acceptance_length=None,
        place=f"{first.place}; the same in {', '.join(others)}"[:300] if others else f"{first.place}, each run",
        biases=tuple(dict.fromkeys(code for r in readings for code in r.biases)),
    )


def _sum(values: Iterable[int | None]) -> int | None:
    known = list(values)
    return None if None in known else sum(v for v in known if v is not None)


def _counted_as_given(readings: list[Reading], settings: Mapping[str, Stated]) -> list[Reading]:
    """What the tool cannot say of its token counting, the person at the keyboard may."""
    stated = settings.get("method.token_accounting")
    if not stated or stated.value is None:
        return readings
    return [
        replace(r, accounting=stated.value) if r.accounting is None and r.quantity in COUNTED else r for r in readings
    ]


def _missing(settings: Mapping[str, Stated], readings: list[Reading]) -> list[str]:
    missing = [key for key in COMPARED if key not in settings and key not in PER_READING]
    uncounted = any(r.accounting is None and r.quantity in COUNTED for r in readings)
    if uncounted and "method.token_accounting" not in settings:
        missing.append("method.token_accounting")
    if "evidence" not in settings:
        missing.append("evidence")
    if "model.name" in settings and settings["model.name"].value is None:
        missing.append("model.name")
    return missing


def _blocks(settings: Mapping[str, Stated]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for block, field in Configuration.model_fields.items():
        assert field.annotation is not None
        keys = field.annotation.model_fields
        data[block] = {}
        for name, info in keys.items():
            stated = settings.get(f"{block}.{name}")
            if stated is not None:
                data[block][name] = stated.value
            elif info.is_required():
                data[block][name] = None
    return data


def _id(group: Group, settings: Mapping[str, Stated], tools: list[Extract], run_id: str | None, several: bool) -> str:
    """Named after what was measured and the bytes it was read from, so that the same files give the same id."""
    if run_id:
        return f"{run_id}-{_slug(group.name)}"[:80].rstrip("-") if several else run_id
    digest = hashlib.sha256("".join(sorted(e.sha256 for e in tools)).encode()).hexdigest()[:8]
    model = settings.get("model.name")
    parts = (str(model.value) if model and model.value else "unknown-model", str(tools[0].tool), group.name)
    return f"{'-'.join(_slug(p)[:30].strip('-') for p in parts if _slug(p))[:70].rstrip('-')}-{digest}"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _source(extract: Extract) -> dict[str, Any]:
    return {
        "name": extract.source,
        "repository": None,
        "url": None,
        "commit": None,
        "path": None,
        "sha256": extract.sha256,
    }


def _unique(readings: list[Reading]) -> list[Reading]:
    """Ids are names; a second reading of one name (two engines' files) gets a number."""
    seen: dict[str, int] = {}
    result = []
    for reading in readings:
        seen[reading.name] = seen.get(reading.name, 0) + 1
        count = seen[reading.name]
        result.append(reading if count == 1 else replace(reading, name=f"{reading.name}-{count}"))
    return result


def _measurement(reading: Reading, method: Mapping[str, Any]) -> dict[str, Any]:
    spread = len(reading.samples) > 1
    data: dict[str, Any] = {
        "id": reading.name,
        "quantity": reading.quantity,
        "unit": reading.unit,
        "statistic": reading.statistic,
        "value": reading.value,
        "low": min(reading.samples) if spread else None,
        "high": max(reading.samples) if spread else None,
        "n": reading.n,
        "samples": list(reading.samples) if spread else None,
        "tokens": reading.tokens,
        "seconds": reading.seconds,
        "acceptance_length": reading.acceptance_length,
        "accepted": reading.accepted,
        "drafts": reading.drafts,
        "requests_completed": reading.completed,
        "requests_failed": reading.failed,
        "read_from": {"source": reading.source, "place": reading.place[:300]},
        "observations": reading.observations,
        "acceptance_by_position": list(reading.by_position),
        "biases": list(reading.biases),
    }
    for key, attribute in PER_READING.items():
        name = key.partition(".")[2]
        if method.get(name) is None:
            data[name] = getattr(reading, attribute)
    if reading.deviation:
        deviation = reading.deviation
        data["deviation"] = {"value": deviation.value, "kind": deviation.kind, "over": deviation.over}
    required = {"low", "high", "n", "acceptance_length"}
    return {key: value for key, value in data.items() if key in required or (value is not None and value != [])}


def _bias(code: str) -> dict[str, Any]:
    bias = BIASES[code]
    return {
        "code": code,
        "direction": bias.direction,
        "text": {"en": bias.en, "ru": bias.ru},
        "source": bias.source,
    }


def _notes(extracts: list[Extract]) -> list[str]:
    notes = [f"{e.source}: {note}" for e in extracts for note in e.notes]
    return list(dict.fromkeys(notes))[:40]


_ORDER = ("id", "date", "evidence", "sources", *Configuration.model_fields, "measurements")


def _ordered(data: dict[str, Any]) -> dict[str, Any]:
    rest = [key for key in data if key not in _ORDER]
    return {key: data[key] for key in (*_ORDER, *rest) if key in data and (data[key] != [] or key in _ORDER)}
