"""llama-benchy: JSON, CSV, and the Markdown table of a saved file or of the console.

What "tok/s" means depends on the version. Up to 0.3.5 it counts SSE chunks: a chunk rate, which is recorded as such
and never scaled. 0.3.6 to 0.3.8 count token ids, else tokenise each chunk again. From 0.4.0 it takes ids, usage, a
tokenizer or chunks, whichever works, and says which on the console only.

`tg` leaves out TTFT. Its total at concurrency above 1 runs from the first first token to the last token of all, so
serialised prompts drown in it: it is no decode rate and is not taken. `tg_req` is, for each request.
"""

from __future__ import annotations

import csv
import datetime
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal

from macros.importers.identity import state_model
from macros.importers.rawfile import Fields, RawFile, refuse
from macros.importers.reading import Case, Deviation, Extract, Reading, Stated, Withheld
from macros.importers.scrub import clean
from macros.problems import Problem
from macros.vocabulary import TokenAccounting

Counting = Literal["chunks", "tokens", "unknown"]
_NEED_VERSION = "--set method.tool_version=…: up to 0.3.5 the tool counts SSE chunks, and the file does not say"


def recognises(document: Any) -> bool:
    return bool(_suites(document))


def _suites(document: Any) -> list[tuple[str, dict[str, Any]]]:
    """(place, suite) of the tool's own object, or of each replica in an author's `pairs`."""
    if not isinstance(document, dict):
        return []
    if "latency_mode" in document and isinstance(document.get("benchmarks"), list):
        return [("", document)]
    pairs = document.get("pairs")
    if isinstance(pairs, list) and pairs and all(_suites(pair) for pair in pairs):
        return [(f"pairs[{i}]", pair) for i, pair in enumerate(pairs)]
    return []


def counting(version: str | None) -> tuple[Counting, TokenAccounting | None]:
    """What this version counts, and how as far as the version alone decides it."""
    numbers = re.match(r"(\d+)\.(\d+)\.(\d+)", version or "")
    if not numbers:
        return "unknown", None
    release = tuple(int(part) for part in numbers.groups())
    # A development build of 0.3.6 may come before the change: no token rate without proof.
    if release < (0, 3, 6) or (release == (0, 3, 6) and "dev" in str(version)):
        return "chunks", "sse_events"
    return "tokens", "retokenised" if release < (0, 4, 0) else None


def read(file: RawFile, given: Mapping[str, Any]) -> Extract:
    if len(file.documents) != 1:
        refuse(file.name, "one llama-benchy suite in a file", f"{len(file.documents)} values")
    suites = _suites(file.documents[0])
    extract = Extract(file.name, file.sha256, "client", tool="llama-benchy")
    problems: list[Problem] = []
    versions, models = set(), set()
    for at, suite in suites:
        fields = Fields(file.name, suite, at)
        version = fields.text("version") or given.get("method.tool_version")
        versions.add(version)
        models.add(fields.text("model"))
        extract.date = extract.date or _date(suite.get("timestamp") or suite.get("timestamp_utc"))
        replica = f"-{clean(str(suite.get('pair_id', at)), 20).lower()}" if at else ""
        for number, entry in enumerate(suite["benchmarks"]):
            where = f"{at}{'.' if at else ''}benchmarks[{number}]"
            one = Fields(file.name, entry if isinstance(entry, dict) else {}, where, problems, fields.unusable)
            _entry(extract, one, fields, version, replica)
        problems += fields.problems
        extract.withheld += [Withheld(what, "not a number") for what in fields.unusable]
    if len(versions) > 1 or len(models) > 1:
        refuse(file.name, "one model and one tool version", f"{sorted(map(str, models))}, {sorted(map(str, versions))}")
    Fields(file.name, {}, problems=problems).finish()
    extract.tool_version = versions.pop()
    # `--model` is the served name, which need not be the repository's.
    state_model(extract, models.pop(), "model")
    if not extract.cases:
        _nothing(extract)
    return extract


def _nothing(extract: Extract) -> None:
    reason = f": {extract.withheld[0].what}: {extract.withheld[0].why}" if extract.withheld else ""
    refuse(extract.source, "at least one finished test", f"none that can be taken{reason}")


def _entry(extract: Extract, entry: Fields, suite: Fields, version: str | None, replica: str) -> None:
    concurrency, depth = entry.count("concurrency", needed=True), entry.count("context_size") or 0
    prompt, response = entry.count("prompt_size"), entry.count("response_size")
    if not concurrency:
        return
    context_phase = entry.data.get("is_context_prefill_phase") is True
    caching = suite.data.get("prefix_caching_enabled") is True
    name = f"pp{prompt}-tg{response}-d{depth}-c{concurrency}{'-context' if context_phase else ''}{replica}"
    case = Case(name, fingerprint=(name,))
    _conditions(case, entry.file, entry.at, concurrency, prompt, response, depth)
    pp, tg, tg_all = entry.child("pp_throughput"), entry.child("tg_req_throughput"), entry.child("tg_throughput")
    runs = len(pp.numbers("values")) or len(tg_all.numbers("values")) or None
    answers = len(tg.numbers("values")) or None
    expected = runs * concurrency if runs else None
    missing = expected - answers if expected and answers and answers < expected else None
    failures = {"completed": answers, "failed": missing} if missing else {}
    if concurrency > 1 and (value := tg_all.positive("mean")):
        why = "from the first first token to the last token of all requests: no decode rate, and not the whole run"
        extract.withheld.append(Withheld(f"{tg_all.path('mean')} {value}", why))

    if context_phase:
        extract.withheld.append(Withheld(pp.at, "the context phase of prefix caching: never beside an ordinary pp"))
    elif value := pp.positive("mean"):
        biases = ["latency-subtracted" if concurrency == 1 else "queue-inside", "requested-sizes"]
        if caching and depth:
            biases.append("prefix-charged-short")
        case.readings.append(_statistic(pp, value, "prefill", "prefill_rate", "tok/s", "requested", biases, runs))
    kind, accounting = counting(version)
    biases = ["requested-sizes", *(["dropped-failures"] if missing else [])]
    value = tg.positive("mean")
    if value is not None and kind == "chunks":
        extract.withheld.append(
            Withheld(f"{tg.path('mean')} as tok/s", f"llama-benchy {version} counts SSE chunks; kept as a chunk rate")
        )
        case.readings.append(
            _statistic(tg, value, "chunks", "chunk_rate", "chunks/s", "sse_events", biases, runs, **failures)
        )
    elif value is not None and kind == "tokens":
        biases += ["mean-of-rates", *(["tokens-in-first-chunk"] if accounting is None else [])]
        case.readings.append(
            _statistic(tg, value, "decode", "decode_rate", "tok/s", accounting, biases, runs, **failures)
        )
    elif value is not None:
        extract.withheld.append(Withheld(f"{tg.path('mean')} {value}", f"needs {_NEED_VERSION}"))
    ttft = entry.child("e2e_ttft")
    if (value := ttft.positive("mean")) and not context_phase:
        case.readings.append(
            _statistic(ttft, value, "ttft", "time_to_first_token", "ms", None, [], runs, window="request", **failures)
        )
    if case.readings:
        extract.cases.append(case)


def _statistic(
    fields: Fields,
    value: Decimal,
    name: str,
    quantity: Any,
    unit: Any,
    accounting: TokenAccounting | None,
    biases: list[str],
    runs: int | None,
    window: Any = "first_to_last_token",
    **failures: Any,
) -> Reading:
    """A {mean, std, values} object. One value a run at c=1; at c>1 values are requests, so they are no samples."""
    values = fields.numbers("values")
    std = fields.deviation("std")
    if values:
        value = min(max(value, min(values)), max(values))  # The mean of equal floats may lie an ulp outside.
    per_run = len(values) == runs and all(v > 0 for v in values)
    return Reading(
        name,
        quantity,
        unit,
        "mean" if len(values) != 1 else "single",
        value,
        fields.path("mean"),
        "client",
        None if quantity == "prefill_rate" else window,
        accounting,
        n=runs,
        samples=values if per_run else (),
        deviation=Deviation(std, "population", "runs" if per_run else "requests") if std and len(values) > 1 else None,
        observations=None if per_run else len(values) or None,
        biases=tuple(biases),
        **failures,
    )


def _conditions(
    case: Case, source: str, place: str, concurrency: int, prompt: int | None, response: int | None, depth: int
) -> None:
    for key, value in (
        ("workload.concurrency", concurrency),
        ("workload.prompt_tokens", prompt or None),
        ("workload.output_tokens", response or None),
        ("workload.depth_tokens", depth),
    ):
        if value is not None:
            case.settings[key] = Stated(value, source, place)


def _date(text: Any) -> datetime.date | None:
    match = re.match(r"(\d{4})-(\d\d)-(\d\d)", text) if isinstance(text, str) else None
    try:
        return datetime.date(*(int(part) for part in match.groups())) if match else None
    except ValueError:
        return None


# --- CSV and Markdown: the same rows, conditions only in the test's name -------------------------------------------

_TEST = re.compile(
    r"(?P<kind>pp|tg|ctx_pp|ctx_tg)(?P<size>\d{0,9})(?: @ d(?P<depth>\d{1,9}))?(?: \(c(?P<c>\d{1,6})\))?\Z"
)
CSV_HEADER = "model,test_name,t_s_mean"
_CELL = re.compile(r"([\d.]+)(?: ± ([\d.]+))?\Z")
_COLUMNS = {"t/s (req)": "t_s_req", "t/s": "t_s_req", "e2e_ttft (ms)": "e2e_ttft", "t/s (total)": "t_s"}


def read_table(file: RawFile, given: Mapping[str, Any]) -> Extract:
    """CSV, or Markdown with the tool's own header. Rows of a shifted table are refused, not guessed at."""
    text = file.text
    rows = _csv_rows(file) if text.lstrip("\ufeff").startswith(CSV_HEADER) else _markdown_rows(file)
    extract = Extract(file.name, file.sha256, "client", tool="llama-benchy")
    footer = re.findall(r"^llama-benchy \((\S+)\)", text, re.M) or re.findall(r"llama-benchy==([\w.+]+)", text)
    version = (clean(footer[0], 60) or None) if len(set(footer)) == 1 else given.get("method.tool_version")
    extract.tool_version = version
    date = re.search(r"^date: (\S+)|^Date: (\S+)", text, re.M | re.I)
    extract.date = _date(date[1] or date[2]) if date else None
    counts = {int(n) for n in re.findall(r"^\s*Run \d+/(\d+) ", text, re.M)} | {
        int(n) for n in re.findall(r"--runs[ =](\d{1,6})\b", text)
    }
    runs = counts.pop() if len(counts) == 1 else None
    models = {row["model"] for row in rows}
    if len(models) > 1:
        refuse(file.name, "one model in a file", f"{len(models)}: {', '.join(sorted(models))}")
    _table_cases(extract, rows, version, runs)
    if "Falling back to 'gpt2'" in text:
        extract.notes.append(
            "The client's tokenizer fell back to gpt2: sizes and locally counted tokens are approximate."
        )
    state_model(extract, models.pop() if models else None, "model column")
    if not extract.cases:
        _nothing(extract)
    return extract


def _table_cases(extract: Extract, rows: list[dict[str, str]], version: str | None, runs: int | None) -> None:
    prompts: dict[tuple[int, int], int] = {}
    cases: dict[str, Case] = {}
    kind, accounting = counting(version)
    for row in rows:
        test = _TEST.match(row["test"])
        if not test:
            refuse(extract.source, "a test such as pp2048 @ d4096 (c4)", row["test"], field=row["place"])
        if test["kind"].startswith("ctx"):
            extract.withheld.append(Withheld(row["place"], "the context phase of prefix caching"))
            continue
        concurrency, depth = int(test["c"] or 1), int(test["depth"] or 0)
        prompt_row = test["kind"] == "pp"
        if prompt_row:
            prompts[concurrency, depth] = int(test["size"] or 0)
        prompt = prompts.get((concurrency, depth))
        # A tg row belongs to the pp row before it with the same depth and concurrency.
        name = f"pp{prompt or 0}-d{depth}-c{concurrency}"
        case = cases.setdefault(name, Case(name, fingerprint=(name,)))
        _conditions(case, extract.source, row["place"], concurrency, prompt, None, depth)
        if not prompt_row and test["size"] and int(test["size"]):
            case.settings["workload.output_tokens"] = Stated(int(test["size"]), extract.source, row["place"])
        if concurrency > 1 and not prompt_row and row.get("t_s"):
            extract.withheld.append(Withheld(f"{row['place']} t/s (total) {row['t_s']}", "no decode rate at c > 1"))
        if prompt_row:
            biases = ("latency-subtracted" if concurrency == 1 else "queue-inside", "requested-sizes")
            prefill = row.get("t_s") or row.get("t_s_req")
            _cell(case, row, prefill, "prefill", "prefill_rate", "tok/s", "requested", biases, runs, None)
            _cell(case, row, row.get("e2e_ttft"), "ttft", "time_to_first_token", "ms", None, (), runs, "request")
        elif kind == "chunks":
            extract.withheld.append(Withheld(f"{row['place']} as tok/s", f"llama-benchy {version} counts SSE chunks"))
            _cell(case, row, row.get("t_s_req"), "chunks", "chunk_rate", "chunks/s", "sse_events", (), runs)
        elif kind == "tokens":
            biases = ("requested-sizes", "mean-of-rates", *(("tokens-in-first-chunk",) if accounting is None else ()))
            _cell(case, row, row.get("t_s_req"), "decode", "decode_rate", "tok/s", accounting, biases, runs)
        else:
            extract.withheld.append(Withheld(f"{row['place']} {row.get('t_s_req')}", f"needs {_NEED_VERSION}"))
    extract.cases += [case for case in cases.values() if case.readings]


def _cell(
    case: Case,
    row: dict[str, str],
    cell: str | None,
    name: str,
    quantity: Any,
    unit: Any,
    accounting: TokenAccounting | None,
    biases: tuple[str, ...],
    runs: int | None,
    window: Any = "first_to_last_token",
) -> None:
    match = _CELL.match(cell or "")
    try:
        value = Decimal(match[1]) if match else Decimal(0)
        std = Decimal(match[2]) if match and match[2] else None
    except ArithmeticError:
        return
    if not 0 < value < 10**9 or any(r.name == name for r in case.readings):
        return
    concurrency = case.settings["workload.concurrency"].value
    over: Literal["runs", "requests"] = "runs" if concurrency == 1 or name == "prefill" else "requests"
    case.readings.append(
        Reading(
            name,
            quantity,
            unit,
            "mean",
            value,
            row["place"],
            "client",
            window,
            accounting,
            n=runs,
            deviation=Deviation(std, "population", over) if std and runs != 1 else None,
            biases=biases,
        )
    )


def _csv_rows(file: RawFile) -> list[dict[str, str]]:
    lines = csv.DictReader(file.text.lstrip("\ufeff").splitlines(), strict=True)
    rows = []
    try:
        for number, line in enumerate(lines, 2):
            if None in line or None in line.values():
                refuse(file.name, f"{len(lines.fieldnames or ())} cells", "another number of cells", line=number)
            row = {"model": clean(line["model"], 150), "test": line["test_name"], "place": f"row {number}"}
            for column in ("t_s", "t_s_req", "e2e_ttft"):
                mean, std = line.get(f"{column}_mean") or "", line.get(f"{column}_std") or ""
                row[column] = f"{mean} ± {std}" if mean and std else mean
            rows.append(row)
    except csv.Error as error:
        refuse(file.name, "whole CSV", str(error))
    return rows


def _markdown_rows(file: RawFile) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = []
    header: list[str] = []
    for number, line in enumerate(file.text.splitlines(), 1):
        if not line.lstrip().startswith("|"):
            header = [] if line.strip() else header
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells[:2] == ["model", "test"]:
            header = cells
        elif header and not set(line) <= set("|:- "):
            if len(cells) != len(header):
                refuse(file.name, f"{len(header)} cells as in the header", f"{len(cells)}: shifted?", line=number)
            row = {"model": clean(cells[0], 150), "test": cells[1], "place": f"line {number}"}
            row |= {_COLUMNS[name]: cell for name, cell in zip(header, cells, strict=True) if name in _COLUMNS}
            rows.append(row)
    return rows


def recognises_table(file: RawFile) -> bool:
    head = file.head.decode("utf-8", "replace")
    return head.lstrip("\ufeff").startswith(CSV_HEADER) or (
        re.search(r"^\|\s*model\s*\|\s*test\s*\|\s*t/s", head, re.M) is not None and "ttfr (ms)" in head
    )
