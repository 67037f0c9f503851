"""Why is my number different? The rules of the form, as tables for the browser and as the same logic in Python.

`tables` is written to `data/your-number.json`; `docs/assets/javascripts/your-number.js` answers from it alone, and
`answer` does the same here. The form asks for the keys that decide (`deltas.DECIDING`). Of a prompt it asks only the
kind: the same kind counts as the same. All else is the rule of `deltas`: nearest by configuration, factors, verdict.

Notes are what the answer says besides:

- `chunks`: chunks were counted, so the figure is no rate of tokens; `maybe_chunks`: the counting is not known, and the
  figure is no higher than a quarter above the highest chunk rate of the register;
- `share`: one stream of several, so the figure is a share of a sum; `maybe_share`: how many ran is not known;
  `sum`: the sum of several streams;
- `backend_decides`: the prompt is known, nothing known differs, own figures equally near differ in the MoE backend;
- `usual`: nothing known differs, and the gap to each of the nearest own figures is no wider than identical runs here
  vary.

Of own figures that are equally near, the one that states most of its configuration is compared; the others are named
beside it. Where the verdict cannot be said, `blocks` names what blocks it, and whose unknown that is. `elsewhere` holds
what is known of keys whose own step has no factor: other steps to the same setting.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from macros import deltas, links, printing, register, shares
from macros.binding import bind
from macros.deltas import DECIDING, QUESTION_OF, Side
from macros.entries import read_entries
from macros.locale import locale
from macros.manifests import Line, Model, Text
from macros.printing import significant
from macros.render import Renderer
from macros.settings import Settings
from macros.site import Site
from macros.vocabulary import LANGUAGES, QUESTIONS

OTHERS = 3
# How it was counted → quantity of one stream, vantage, token accounting.
COUNTED: dict[str, tuple[str | None, str | None, str | None]] = {
    "usage": ("decode_rate", "client", "usage"),
    "request": ("end_to_end_rate", "client", "usage"),
    "chunks": ("chunk_rate", "client", "sse_events"),
    "engine": ("engine_window_rate", "engine", "engine_counters"),
    "": (None, None, None),
}
# How it was counted → the window that it names; the others name none.
WINDOWS = {"usage": "first_to_last_token", "request": "request"}
SUM = "aggregate_throughput"
BACKENDS = ("DEEPGEMM", "B12X", "other")
CHECKPOINTS = ("0731", "preview", "original", "other")
# What is said of a figure that is named beside others.
CONDITIONS = ("workload.profile", "workload.concurrency", "workload.depth_tokens", "workload.thinking")
FIELDS = ("value", "scope", "streams", "prompt", "counted", "backend", "runtime", "checkpoint", "nodes", "warm")
Status = Literal["same", "differs", "not_stated"]


class Check(Model):
    """How to find out one key."""

    text: Text
    command: Annotated[Line, Field()]


def checks(site: Site) -> dict[str, Check]:
    """The checks by key, in the order in which to make them."""
    return read_entries(site.results / "checks.yaml", Check)


# The tables


def tables(site: Site, settings: Settings) -> dict[str, Any]:
    """Everything that the form needs to answer."""
    comparer = deltas.comparer(site)
    own = [_figure(side, site, settings, own=True) for side in comparer.own.values() if side.unit == "tok/s"]
    rates = [e for e in site.dataset.published.values() if not e.own_lab and e.status == "current"]
    rates = [e for e in rates if shares.for_one_stream(e) or shares.for_all_streams(e)]
    others = [_figure(comparer.published[e.id], site, settings, own=False) for e in rates]
    return {
        "deciding": DECIDING,
        "question_of": {key: QUESTION_OF[key] for key in DECIDING},
        "counted": COUNTED,
        "windows": WINDOWS,
        "sum": SUM,
        "figures": own + others,
        "worths": [
            {
                "key": w.key,
                "before": w.before,
                "after": w.after,
                "quantity": w.quantity,
                "low": float(w.low),
                "high": float(w.high),
                "source": w.source,
            }
            for w in comparer.worths
            if w.key in DECIDING
        ],
        "chunk_rates": _chunk_rates(site),
        "spread": {"stream": _spread(site, "decode_rate"), "sum": _spread(site, SUM)},
        "checks": {
            key: {"command": check.command, **{lang: str(getattr(check.text, lang)) for lang in LANGUAGES}}
            for key, check in checks(site).items()
        },
        "repository": settings.repository,
        "run_issue": links.run_issue(settings),
    }


def _figure(side: Side, site: Site, settings: Settings, own: bool) -> dict[str, Any]:
    """One figure: its settings by the keys that decide, its range, and how it reads in both languages."""
    found: dict[str, Any] = {key: side.settings.get(key) for key in DECIDING if key not in side.varies}
    profile = found.get("workload.profile")
    found["workload.profile"] = site.profiles[profile].group if profile else None
    conditions = {key: side.settings.get(key) for key in CONDITIONS if key not in side.varies}
    texts: dict[str, Any] = {}
    for language in LANGUAGES:
        page = Renderer(site, language, "")
        if own:
            figure = site.figures[side.id]
            name, value = str(getattr(figure.label, language)), page.plain(side.id)
        else:
            entry = site.dataset.published[side.id]
            name = entry.publisher or page.locale.name("evidence", entry.evidence)
            value = bind(register.value_text(entry, page))
        unit = page.locale.word(f"unit.{side.unit}")
        texts[language] = {"name": bind(name), "value": value, "unit": unit, "condition": _condition(conditions, page)}
    return {
        "id": side.id,
        "own": own,
        "quantity": side.quantity,
        "called": side.called,
        "range": [float(end) for end in side.range] if side.range else None,
        "settings": {key: value for key, value in found.items() if value is not None},
        "text": texts,
    }


def _condition(settings: Mapping[str, Any], page: Renderer) -> str:
    """Prompt and concurrency of a figure, and what else weighs on it where it is stated."""
    words = page.locale
    profile, streams, *more = CONDITIONS
    parts = [
        page.setting_text(profile, settings[profile])
        if settings.get(profile)
        else words.word("register.class_not_stated")
    ]
    count = settings.get(streams)
    parts.append(f"c = {page.setting_text(streams, count)}" if count else words.word("quote.concurrency_unstated"))
    parts += [f"{words.word(f'key.{k}')}: {page.setting_text(k, settings[k])}" for k in more if settings.get(k)]
    return "; ".join(parts)


def _chunk_rates(site: Site) -> list[float]:
    """The lowest and the highest chunk rate that the register holds."""
    rates = [float(e.value) for e in site.dataset.published.values() if e.quantity == "chunk_rate" and e.value]
    return [min(rates), max(rates)]


def _spread(site: Site, quantity: str) -> float:
    """The widest spread of identical runs that own figures of a quantity show, as a factor: 1.12 for 12 %."""
    widest = [f.spread_share for f in site.figures.values() if f.quantity == quantity and f.kind == "measured"]
    return float(significant(1 + max(share for share in widest if share)))


# The answer


def parsed(value: str) -> tuple[float, float] | None:
    """`59.7` as the interval of its rounding, `33-41` as a range; None where it is neither."""
    parts = [part.strip().replace(",", ".") for part in value.replace("–", "-").split("-")]
    if len(parts) > 2 or not all(_number(part) for part in parts):
        return None
    numbers = [float(part) for part in parts]
    if len(numbers) == 2:
        return (numbers[0], numbers[1]) if 0 < numbers[0] <= numbers[1] else None
    half = 0.5 / 10 ** len(parts[0].partition(".")[2])
    return (numbers[0] - half, numbers[0] + half) if numbers[0] > half else None


def _number(part: str) -> bool:
    whole, point, decimals = part.partition(".")
    digits = whole + decimals
    return bool(whole) and digits.isascii() and digits.isdigit() and (not point or bool(decimals)) and len(part) < 12


def side(inputs: Mapping[str, str], table: Mapping[str, Any]) -> dict[str, Any]:
    """The form's fields as a figure like those of the table."""
    quantity, vantage, accounting = table["counted"].get(inputs.get("counted", ""), table["counted"][""])
    called = "decode_rate"
    if inputs.get("scope") == "sum":
        quantity, called = (quantity if quantity == "chunk_rate" else table["sum"]), table["sum"]
    elif not inputs.get("scope"):
        quantity = None
    warm = {"yes": True, "no": False}.get(inputs.get("warm", ""))
    settings = {
        "config.moe_backend_active": inputs.get("backend") or None,
        "workload.profile": inputs.get("prompt") or None,
        "method.vantage": vantage,
        "method.token_accounting": accounting,
        "workload.concurrency": _count(inputs.get("streams", "")),
        "system.nodes": _count(inputs.get("nodes", "")),
        "model.checkpoint": inputs.get("checkpoint") or None,
        "runtime.version": inputs.get("runtime", "").strip() or None,
        "method.warm": warm,
    }
    return {
        "quantity": quantity,
        "called": called,
        "range": parsed(inputs.get("value", "")),
        "settings": {key: value for key, value in settings.items() if value is not None},
    }


def _count(text: str) -> int | None:
    number = text.strip()
    return int(number) if number.isascii() and number.isdigit() and 0 < len(number) < 7 and int(number) else None


def statuses(mine: Mapping[str, Any], other: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Status]:
    """Each key that decides."""
    found: dict[str, Status] = {}
    for key in table["deciding"]:
        x, y = mine["settings"].get(key), other["settings"].get(key)
        found[key] = "not_stated" if x is None or y is None else "same" if x == y else "differs"
    return found


def distance(mine: Mapping[str, Any], other: Mapping[str, Any], table: Mapping[str, Any]) -> tuple[int, int, int]:
    """Same quantity first, then fewest keys that differ, then fewest that are not stated."""
    quantity, called = mine["quantity"], mine["called"]
    if quantity and quantity == other["quantity"]:
        rank = 0
    elif quantity is None and called == other["quantity"]:
        rank = 1
    elif not (quantity and other["quantity"]):
        rank = 2
    else:
        rank = 3
    found = list(statuses(mine, other, table).values())
    return rank, found.count("differs"), found.count("not_stated")


def factors(
    mine: Mapping[str, Any], other: Mapping[str, Any], keys: Mapping[str, Status], table: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """What the known differences are worth, from the other figure to mine."""
    found = []
    if (mine["quantity"] or mine["called"]) == other["quantity"]:
        for key in (k for k in table["deciding"] if keys[k] == "differs"):
            step = (other["settings"][key], mine["settings"][key])
            found += [
                {"key": key, **s} for s in steps(key, other["quantity"], table) if (s["before"], s["after"]) == step
            ]
    return found


def steps(key: str, quantity: str, table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every known step of a key, both ways; what several measured of one step is enveloped."""
    grouped: dict[tuple[Any, Any], list[tuple[float, float, str]]] = {}
    for w in table["worths"]:
        if w["key"] == key and w["quantity"] == quantity:
            grouped.setdefault((w["before"], w["after"]), []).append((w["low"], w["high"], w["source"]))
            grouped.setdefault((w["after"], w["before"]), []).append((1 / w["high"], 1 / w["low"], w["source"]))
    return [
        {
            "before": before,
            "after": after,
            "low": min(f[0] for f in found),
            "high": max(f[1] for f in found),
            "sources": sorted({f[2] for f in found}),
        }
        for (before, after), found in grouped.items()
    ]


def elsewhere(
    mine: Mapping[str, Any],
    other: Mapping[str, Any],
    keys: Mapping[str, Status],
    known: list[dict[str, Any]],
    table: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Keys that differ without a factor, or that one side states: the known steps to my setting, else from theirs."""
    if (mine["quantity"] or mine["called"]) != other["quantity"]:
        return []
    valued = {factor["key"] for factor in known}
    found = []
    for key in (k for k in table["deciding"] if keys[k] != "same" and k not in valued):
        before, after = other["settings"].get(key), mine["settings"].get(key)
        near = [
            s
            for s in steps(key, other["quantity"], table)
            if (s["before"] == before if after is None else s["after"] == after)
        ]
        if near or keys[key] == "differs":
            found.append({"key": key, "steps": near})
    return found


def blocks(
    inputs: Mapping[str, str],
    mine: Mapping[str, Any],
    other: Mapping[str, Any],
    keys: Mapping[str, Status],
    known: list[dict[str, Any]],
) -> list[dict[str, str]]:
    """What keeps the verdict from being said: a key, and whose unknown it is."""
    valued = {factor["key"] for factor in known}
    found = [] if inputs.get("scope") else [{"key": "scope", "whose": "yours"}]
    for key, status in keys.items():
        if status == "not_stated":
            stated = ("yours" if key in other["settings"] else "both") if key not in mine["settings"] else "ours"
            found.append({"key": key, "whose": stated})
        elif status == "differs" and key not in valued:
            found.append({"key": key, "whose": "no_factor"})
    return found


def gap(a: tuple[float, float], b: tuple[float, float]) -> float:
    """The factor by which two ranges are apart."""
    return max(a[0] / b[1], b[0] / a[1], 1.0)


def verdict(
    mine: Mapping[str, Any],
    other: Mapping[str, Any],
    keys: Mapping[str, Status],
    known: list[dict[str, Any]],
    expected: tuple[float, float],
) -> str:
    """The rule of `deltas.verdict`."""
    if mine["quantity"] and mine["quantity"] != other["quantity"]:
        return "not_comparable"
    if not mine["quantity"]:
        return "cannot_be_said"
    unstated = "not_stated" in keys.values()
    valued = {factor["key"] for factor in known}
    unvalued = any(status == "differs" and key not in valued for key, status in keys.items())
    before, after = gap(mine["range"], other["range"]), gap(mine["range"], expected)
    if after == 1 and not unvalued and (before > 1 or not unstated):
        return "explained"
    if known and before > 1 and after**2 <= before:
        return "partly"
    return "cannot_be_said" if unstated or after == 1 else "unexplained"


def answer(inputs: Mapping[str, str], table: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the form answers; None while there is no value."""
    mine = side(inputs, table)
    if mine["range"] is None:
        return None
    own = [f for f in table["figures"] if f["own"]]
    nearest = min(own, key=lambda f: (distance(mine, f, table), -len(f["settings"])))
    best = distance(mine, nearest, table)
    tied = [f for f in own if f is not nearest and distance(mine, f, table) == best]
    others = [f for f in table["figures"] if not f["own"] and f["range"]]
    others = sorted(others, key=lambda f: distance(mine, f, table))
    keys = statuses(mine, nearest, table)
    known = factors(mine, nearest, keys, table)
    low, high = nearest["range"]
    for factor in known:
        low, high = low * factor["low"], high * factor["high"]
    said = notes(inputs, mine, nearest, tied, table)
    unknown = [key for key in table["checks"] if key not in mine["settings"]]
    if "maybe_chunks" in said:
        unknown.sort(key=lambda key: key != "method.token_accounting")
    streams = mine["settings"].get("workload.concurrency")
    judged = verdict(mine, nearest, keys, known, (low, high))
    sums = [f["id"] for f in others if f["quantity"] == table["sum"] and _streams(f) == streams]
    return {
        "nearest": nearest["id"],
        "tied": [f["id"] for f in tied],
        "others": [f["id"] for f in others[:OTHERS]],
        "sums": sums[:OTHERS] if "share" in said else [],
        "keys": keys,
        "questions": questions(keys, table),
        "factors": known,
        "expected": [low, high],
        "elsewhere": elsewhere(mine, nearest, keys, known, table),
        "verdict": judged,
        "blocks": blocks(inputs, mine, nearest, keys, known) if judged == "cannot_be_said" else [],
        "notes": said,
        "checks": unknown,
    }


def _streams(figure: Mapping[str, Any]) -> int | None:
    count: int | None = figure["settings"].get("workload.concurrency")
    return count


def questions(keys: Mapping[str, Status], table: Mapping[str, Any]) -> dict[str, Status]:
    """The keys rolled up."""
    found: dict[str, Status] = {}
    for question in QUESTIONS:
        mine = [status for key, status in keys.items() if table["question_of"][key] == question]
        found[question] = "differs" if "differs" in mine else "not_stated" if "not_stated" in mine else "same"
    return found


def notes(
    inputs: Mapping[str, str],
    mine: Mapping[str, Any],
    nearest: Mapping[str, Any],
    tied: list[Mapping[str, Any]],
    table: Mapping[str, Any],
) -> list[str]:
    """What to say besides; see the module's docstring."""
    found = []
    streams, scope = mine["settings"].get("workload.concurrency"), inputs.get("scope")
    if mine["quantity"] == "chunk_rate":
        found.append("chunks")
    unknown_count = "method.token_accounting" not in mine["settings"] and scope != "sum"
    if unknown_count and mine["range"][1] <= 1.25 * table["chunk_rates"][1]:
        found.append("maybe_chunks")
    if scope == "stream" and streams is None:
        found.append("maybe_share")
    if streams is not None and streams > 1 and scope:
        found.append("share" if scope == "stream" else "sum")
    alike = (mine["quantity"] or mine["called"]) == nearest["quantity"] and "chunks" not in found
    if alike and "differs" not in statuses(mine, nearest, table).values():
        backends = {f["settings"].get("config.moe_backend_active") for f in (nearest, *tied)} - {None}
        if len(backends) > 1 and "workload.profile" in mine["settings"]:
            found.append("backend_decides")
        spread = table["spread"]["sum" if nearest["quantity"] == table["sum"] else "stream"]
        if all(gap(mine["range"], f["range"]) <= spread for f in (nearest, *tied)):
            found.append("usual")
    return found


def random_inputs(table: Mapping[str, Any], choose: Any) -> dict[str, str]:
    """Fields at random, for tests: `choose` is a seeded random.Random."""
    known = {f["settings"].get("workload.profile") for f in table["figures"]}
    classes = sorted(known - {None, "unstated"})
    value = f"{choose.uniform(5, 350):.1f}"
    if choose.random() < 0.2:
        value = f"{choose.randint(10, 40)}–{choose.randint(41, 300)}"
    return {
        "value": value,
        "scope": choose.choice(["stream", "stream", "sum", ""]),
        "streams": choose.choice(["", "1", "1", "1", "2", "4", "6", "8", "12", "16"]),
        "prompt": choose.choice([*classes, ""]),
        "counted": choose.choice([*COUNTED, "usage"]),
        "backend": choose.choice(["", *BACKENDS]),
        "runtime": choose.choice(["", "0.21.1", "0.25.2", "0.27.1"]),
        "checkpoint": choose.choice(["", *CHECKPOINTS]),
        "nodes": choose.choice(["", "1", "2", "2", "2", "3", "4"]),
        "warm": choose.choice(["yes", "no", ""]),
    }


def classes(site: Site) -> list[str]:
    """The kinds of prompt that the form offers, in their order."""
    return [key for key in site.profile_classes if key != "unstated"]


def words(page: Renderer) -> dict[str, str]:
    """The words that the script needs, in the page's language; numbers are filled in by it."""
    names = itertools.chain(page.locale.words["form"].items())
    found = {f"form.{key}": str(value) for key, value in names}
    for group in ("delta_verdict", "quantity"):
        found |= {f"{group}.{key}": str(value) for key, value in page.locale.words[group].items()}
    found |= {key: page.locale.word(key) for key in ("register.column.verdict", "not_stated", "delta_status.same")}
    found |= {f"key.{key}": page.locale.word(f"key.{key}") for key in DECIDING}
    return found


def digits(language: str) -> dict[str, str]:
    """Separators for numbers that the script prints."""
    words_of = locale("ru" if language == "ru" else "en")
    return {"decimal": words_of.decimal, "thousands": words_of.thousands, "dash": printing.EN_DASH}
