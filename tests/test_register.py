"""The register of published figures: every file is valid and consistent, and none differs from what it was made of."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from macros import manifests, site, strict_yaml
from macros.manifests import COMPARED, NOTED, PublishedFigure

ROOT = Path(__file__).parents[1]
PUBLISHED = ROOT / "results" / "published"
INPUT = ROOT.parent / "shared" / "published"
FILES = sorted(PUBLISHED.glob("*.yaml"))
OWN_PUBLISHER = "botAGI"
NOT_STATED = ("not stated", "not_stated")


def entry(path: Path) -> PublishedFigure:
    model, problems = manifests.read(path, path.name, PublishedFigure)
    assert not problems, problems
    assert model is not None
    return model


@pytest.fixture(scope="module")
def register() -> dict[str, PublishedFigure]:
    return {path.stem: entry(path) for path in FILES}


def read_input(name: str) -> dict[str, dict[str, Any]]:
    path = INPUT / name
    if not path.exists():
        pytest.skip(f"{path} is not here")
    data, _, problems = strict_yaml.read(path, name)
    assert not problems
    return {row["id"]: row for row in data}


def reported(register: dict[str, PublishedFigure]) -> list[PublishedFigure]:
    # The method page's example was read from raw outputs, not from the list.
    return [e for e in register.values() if e.evidence == "community_report" and not e.id.startswith("gumbii-pair-")]


# The register by itself.


def test_register_holds_at_least_72_figures_with_unique_ids_and_places(register: dict[str, PublishedFigure]) -> None:
    entries = reported(register)
    assert len(entries) >= 72
    assert len({e.id for e in register.values()}) == len(FILES)
    places = [(e.sources[0].url, e.locator and e.locator.section, e.value, e.low) for e in entries]
    assert len(set(places)) == len(places)


def test_addresses_are_https_and_say_where(register: dict[str, PublishedFigure]) -> None:
    for e in reported(register):
        url = e.sources[0].url
        assert url, e.id
        assert re.fullmatch(r"https://[a-z0-9.]+/\S+", url), e.id
        assert e.locator, e.id
        assert e.locator.section or e.locator.line, e.id


def test_profiles_exist_in_both_languages_with_a_known_class(register: dict[str, PublishedFigure]) -> None:
    profiles = site.read_entries(ROOT / "results" / "profiles.yaml", site.Profile)
    classes, _, problems = strict_yaml.read(ROOT / "results" / "profile-classes.yaml", "profile-classes.yaml")
    assert not problems
    for texts in classes.values():
        assert all(set(texts[key]) == {"en", "ru"} for key in ("label", "description"))
    assert {p.group for p in profiles.values()} <= set(classes)
    used = {e.workload.profile for e in register.values()}
    for e in register.values():
        used |= {str(other.differs["workload.profile"]) for other in e.beside if "workload.profile" in other.differs}
    assert used - {None} <= set(profiles)
    for name, profile in profiles.items():
        for text in (profile.label, profile.description):
            assert not re.search("[а-яё]", text.en, re.I), name
            assert re.search("[а-яё]", text.ru, re.I) or text.ru == text.en, name


def test_scope_follows_the_quantity(register: dict[str, PublishedFigure]) -> None:
    for e in reported(register):
        if e.quantity == "aggregate_throughput":
            assert e.scope == "sum", e.id
        elif e.quantity in ("decode_rate", "end_to_end_rate", "chunk_rate", "step_rate"):
            assert e.scope == "stream", e.id
        if e.quantity == "end_to_end_rate":
            assert e.method.window == "request", e.id
        if e.quantity == "chunk_rate":
            assert (e.method.token_accounting, e.unit) == ("sse_events", "chunks/s"), e.id
        if e.quantity is None:
            assert (e.method.window, e.method.token_accounting) == (None, None), e.id
        if e.summed:
            assert e.scope == "sum", e.id


def test_own_lab_is_flagged_and_nobody_else(register: dict[str, PublishedFigure]) -> None:
    for e in register.values():
        assert e.own_lab == (e.publisher == OWN_PUBLISHER), e.id


def test_notes_are_short_and_neutral(register: dict[str, PublishedFigure]) -> None:
    for e in register.values():
        for note in e.notes:
            assert len(note) <= 400, e.id
            assert not re.search(r"\b(wrong|inflated|misleading|bogus|false|fake)\b", note, re.I), e.id


def test_a_withdrawn_figure_says_why_in_both_languages(register: dict[str, PublishedFigure]) -> None:
    withdrawn = register["pulsar-sse-14"]
    assert withdrawn.status == "withdrawn"
    assert withdrawn.correction is not None
    assert withdrawn.correction.successor in register
    assert re.search("[а-яё]", withdrawn.correction.reason.ru)


def test_span_is_the_range_or_that_of_the_readings(register: dict[str, PublishedFigure]) -> None:
    assert [str(x) for x in register["hazyumps-c1"].span or ()] == ["47.0", "60.5"]
    assert [str(x) for x in register["colonelotto-tp3-code"].span or ()] == ["81.7", "82.1"]
    # Best of two: the printed value is the better reading, rounded up.
    assert [str(x) for x in register["anemll-c4-512"].span or ()] == ["77.35", "103.5"]
    assert register["mia-graphs-c1"].span is None


# The register against the list that it was made of.


def test_no_figure_of_the_main_list_is_lost(register: dict[str, PublishedFigure]) -> None:
    figures = read_input("figures.yaml")
    assert len(figures) == 72
    assert set(figures) <= set(register)
    others = {e.id for e in reported(register)} - set(figures)
    assert others <= set(read_input("figures-extra.yaml"))


def test_every_value_and_address_is_that_of_the_list(register: dict[str, PublishedFigure]) -> None:
    rows = {**read_input("figures-extra.yaml"), **read_input("figures.yaml")}
    for e in reported(register):
        row = rows[e.id]
        assert e.sources[0].url == row["url"], e.id
        assert (e.unit_printed or e.unit) == row["unit"], e.id
        if "value" in row:
            assert str(e.value) == str(row["value"]), e.id
        else:
            assert e.value is None, e.id
            assert [str(e.low), str(e.high)] == [str(x) for x in row["range"]], e.id


def test_what_the_list_states_in_one_word_is_taken_over(register: dict[str, PublishedFigure]) -> None:
    rows = {**read_input("figures-extra.yaml"), **read_input("figures.yaml")}
    for e in reported(register):
        row = rows[e.id]
        assert (e.system.nodes, e.system.tensor_parallel) == (row["nodes"], row["tensor_parallel"]), e.id
        assert (e.method.vantage or "not_stated") == row["vantage"], e.id
        assert e.date is None or e.date.isoformat() in str(row["published"]), e.id
        assert (e.date is None) == (re.search(r"\d{4}-\d\d-\d\d", str(row["published"])) is None), e.id
        if isinstance(row["concurrency"], int):
            assert e.workload.concurrency == row["concurrency"], e.id
        elif row["concurrency"] in NOT_STATED:
            assert e.workload.concurrency is None, e.id
        assert e.publisher is None or e.publisher in row["publisher"], e.id
        for stated, value in (
            (row["kv_dtype"], e.config.kv_cache_dtype),
            (row["moe_backend"], e.config.moe_backend_requested or e.config.moe_backend_active),
        ):
            assert (value is None) or stated not in NOT_STATED, e.id
        if row["kv_dtype"] not in NOT_STATED and "(" not in row["kv_dtype"]:
            assert e.config.kv_cache_dtype == row["kv_dtype"], e.id


# The rules of an entry.


def broken(change: dict[str, Any]) -> list[str]:
    path = PUBLISHED / "tony-0729-count300.yaml"
    data, text, _ = strict_yaml.read(path, path.name)
    for key, value in change.items():
        *parents, last = key.split(".")
        node = data
        for step in parents:
            node = node[int(step)] if step.isdigit() else node[step]
        node[last] = value
    _, problems = manifests.validate(data, text, path.name, PublishedFigure)
    return [problem.field for problem in problems]


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"value": None}, "value"),
        ({"low": 80}, "low"),
        ({"low": 80, "high": 90}, "span_of"),
        ({"unit": "chunks/s"}, "unit"),
        ({"best_of": None}, "best_of"),
        ({"best_of": 3}, "best_of"),
        ({"own_figure": "moe-gain"}, "own_figure"),
        ({"locator": None}, "locator"),
        ({"locator.line": 405}, "locator.line"),
        ({"sources.0.path": "OTHER.md"}, "sources.0.path"),
        ({"sources.0.commit": "0" * 40}, "sources.0.commit"),
        ({"varies": ["workload.mood"]}, "varies"),
        ({"varies": ["workload.temperature"]}, "varies"),
        ({"beside.0.differs": {"workload.mood": "good"}}, "beside.0.differs"),
        ({"beside.0.differs": {"workload.concurrency": "six"}}, "beside.0.differs"),
        ({"readings": [{"value": 84, "settings": {"method.warm": False}}]}, "readings.0.settings"),
        ({"acceptance": {"rate": 101}}, "acceptance.rate"),
        ({"acceptance": {}}, "acceptance.rate"),
    ],
)
def test_rules_name_the_key_at_fault(change: dict[str, Any], key: str) -> None:
    assert key in broken(change)


def test_an_entry_as_it_stands_breaks_no_rule() -> None:
    assert broken({}) == []


def test_altered_sets_keys_and_keeps_the_rest(register: dict[str, PublishedFigure]) -> None:
    figure = register["mia-graphs-c1"]
    other = manifests.altered(figure, figure.beside[0].differs)
    assert (figure.config.graph_mode, other.config.graph_mode) == ("regular", "breakable")
    assert other.workload == figure.workload
    with pytest.raises(KeyError):
        manifests.altered(figure, {"config.mood": "good"})


def test_noted_keys_are_optional_and_apart_from_those_that_decide() -> None:
    assert not set(COMPARED) & set(NOTED)
    assert NOTED["workload.arrival"] == "concurrency"
