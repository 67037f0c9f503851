"""The form "Why is my number different?": the reader's cases by hand, and the browser against Python."""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode

import pytest
import yaml

from macros import deltas, links, submission, your_number
from macros import site as sites
from macros.issue_forms import fields
from macros.locale import locale
from macros.settings import Settings
from macros.vocabulary import Language
from tests.conftest import ROOT, Watched, watching

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SEED = 7
PAGES = {"en": "your-number/", "ru": "ru/your-number/"}


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    loaded = sites.load(ROOT / "results")
    # What the browser reads went through JSON.
    return dict(json.loads(json.dumps(your_number.tables(loaded, Settings.of("", {})))))


def ask(table: dict[str, Any], **inputs: str) -> dict[str, Any]:
    result = your_number.answer(inputs, table)
    assert result is not None
    return result


# The reader's cases


def test_case_1_a_share_is_not_the_sum(table: dict[str, Any]) -> None:
    """33–41 a stream, six streams, beside 170–190: the sum of six is 198–246."""
    result = ask(table, value="33–41", scope="stream", streams="6", prompt="synthetic", nodes="2")
    assert result["notes"][0] == "share"
    assert result["questions"]["concurrency"] == "differs"
    assert result["verdict"] == "cannot_be_said"
    sums = [f for f in table["figures"] if f["id"] in result["sums"]]
    assert len(sums) == 3
    assert all((f["quantity"], f["settings"]["workload.concurrency"]) == ("aggregate_throughput", 6) for f in sums)
    unknown = ask(table, value="33–41", scope="stream", prompt="synthetic")
    assert "maybe_share" in unknown["notes"]
    assert "workload.concurrency" in unknown["checks"]


def test_case_2_chunks_are_not_tokens(table: dict[str, Any]) -> None:
    result = ask(table, value="14.7", scope="stream", streams="1", counted="chunks")
    assert result["notes"] == ["chunks"]
    assert result["verdict"] == "not_comparable"
    assert result["questions"]["vantage"] == "differs"
    assert "tony-0731-sse-vs-usage" in result["others"]
    # Whoever does not know how it was counted is told to look at that first.
    unknown = ask(table, value="14.7", scope="stream", streams="1")
    assert unknown["notes"][0] == "maybe_chunks"
    assert unknown["checks"][0] == "method.token_accounting"


CARD_LIKE = {"scope": "stream", "streams": "1", "prompt": "short-chat", "counted": "usage", "checkpoint": "0731"}


def test_case_3_the_backend_line_decides_between_57_and_67(table: dict[str, Any]) -> None:
    """57 with everything but the backend known: both arms are equally near, and they differ in the backend."""
    result = ask(table, value="57", **CARD_LIKE, nodes="2", warm="yes")
    assert {result["nearest"], *result["tied"]} == {"moe-auto-decode", "moe-b12x-decode"}
    assert "backend_decides" in result["notes"]
    assert result["checks"][0] == "config.moe_backend_active"
    assert "Mxfp4 MoE backend" in table["checks"]["config.moe_backend_active"]["command"]
    found = ask(table, value="67.6", **CARD_LIKE, nodes="2", warm="yes", backend="B12X")
    assert found["nearest"] == "moe-b12x-decode"
    assert found["notes"] == ["usual"]


def test_case_4_a_heavy_prompt_reads_45(table: dict[str, Any]) -> None:
    """45 beside 43.7: 3 % apart, and identical runs differ by up to 12 %."""
    heavy = CARD_LIKE | {"prompt": "long-context"}
    result = ask(table, value="45", **heavy, nodes="2", warm="yes")
    assert result["nearest"] == "heavy-c1-decode"
    assert result["notes"] == ["usual"]


# Rules


def test_a_known_difference_counts_with_its_range(table: dict[str, Any]) -> None:
    """170 over six streams: 197.9–322.9 of twelve, times 127.78 / 230.1 = 0.555, is 110–179."""
    result = ask(table, value="170", scope="sum", streams="6", prompt="code", counted="usage", nodes="2")
    assert result["nearest"] == "code-c12-aggregate"
    (factor,) = result["factors"]
    assert factor["sources"] == ["tony-0702-c12"]
    assert result["expected"] == pytest.approx([109.9, 179.4], abs=0.1)
    assert result["verdict"] == "explained"


# What blocks a verdict, and whose unknown that is

FULL = CARD_LIKE | {"nodes": "2", "warm": "yes", "backend": "B12X", "runtime": "0.25.2"}


def test_a_complete_answer_says_what_blocks_the_verdict(table: dict[str, Any]) -> None:
    """Prose beside short answers: no factor for that step, one for code → prose; and our figure lacks its version."""
    result = ask(table, value="52", **FULL | {"prompt": "prose"})
    assert result["verdict"] == "cannot_be_said"
    assert {b["key"]: b["whose"] for b in result["blocks"]} == {
        "workload.profile": "no_factor",
        "runtime.version": "ours",
    }
    (prompt,) = result["elsewhere"]
    (step,) = prompt["steps"]
    assert (prompt["key"], step["before"], step["after"]) == ("workload.profile", "code", "prose")
    worths = [w for w in table["worths"] if w["quantity"] == "decode_rate" and "prose" in (w["before"], w["after"])]
    assert {w["source"] for w in worths} == set(step["sources"])
    assert step["low"] == min(w["low"] if w["after"] == "prose" else 1 / w["high"] for w in worths)


def test_each_unknown_has_its_owner(table: dict[str, Any]) -> None:
    result = ask(table, value="30", streams="1", prompt="code", counted="usage", backend="DEEPGEMM")
    assert {b["key"]: b["whose"] for b in result["blocks"]} == {
        "scope": "yours",
        "config.moe_backend_active": "ours",
        "system.nodes": "yours",
        "model.checkpoint": "yours",
        "runtime.version": "both",
        "method.warm": "yours",
    }


def test_what_is_explained_is_not_blocked(table: dict[str, Any]) -> None:
    result = ask(table, value="170", scope="sum", streams="6", prompt="code", counted="usage", nodes="2")
    assert (result["verdict"], result["blocks"]) == ("explained", [])


def test_of_equally_near_figures_the_one_that_states_most_is_compared(table: dict[str, Any]) -> None:
    own = {f["id"]: f for f in table["figures"] if f["own"]}
    for value in ("117", "350"):
        result = ask(table, value=value, scope="sum", streams="16")
        assert (result["nearest"], result["tied"]) == ("c16-static-aggregate", ["fp8-c16-aggregate"])
    assert len(own["c16-static-aggregate"]["settings"]) > len(own["fp8-c16-aggregate"]["settings"])
    # A value that fits one of two equally near figures and not the other does not simply fit.
    assert "usual" not in ask(table, value="324", scope="sum", streams="16")["notes"]


@pytest.mark.parametrize(
    ("value", "range_"),
    [
        ("59.7", (59.65, 59.75)),
        ("57", (56.5, 57.5)),
        ("33–41", (33, 41)),
        (" 33 - 41 ", (33, 41)),
        ("59,7", (59.65, 59.75)),
        ("41-33", None),
        ("0", None),
        ("-5", None),
        ("1e5", None),
        ("57 tok/s", None),
        ("<b>57</b>", None),
        ("٥٧", None),
        ("", None),
        ("1-2-3", None),
    ],
)
def test_values_are_read_with_their_rounding(value: str, range_: tuple[float, float] | None) -> None:
    assert your_number.parsed(value) == (pytest.approx(range_) if range_ else None)


def test_the_form_asks_for_exactly_what_decides(table: dict[str, Any]) -> None:
    inputs = {"value": "57", "scope": "stream", "streams": "1", "prompt": "code", "counted": "usage", "nodes": "2"}
    inputs |= {"backend": "B12X", "runtime": "0.25.2", "checkpoint": "0731", "warm": "yes"}
    assert set(inputs) == set(your_number.FIELDS)
    assert set(your_number.side(inputs, table)["settings"]) == set(deltas.DECIDING)
    assert set(table["checks"]) == set(deltas.DECIDING)


def test_the_forms_verdict_is_that_of_the_register(table: dict[str, Any]) -> None:
    """An entry put into the form by its settings is judged like the entry, where its class of prompt is as good."""
    comparer = deltas.comparer(sites.load(ROOT / "results"))
    own = {f["id"]: f for f in table["figures"] if f["own"]}
    checked = 0
    for figure in table["figures"]:
        if figure["own"] or figure["range"] is None:
            continue
        for other in own.values():
            delta = comparer.delta(comparer.side(figure["id"]), comparer.side(other["id"]))
            keys = your_number.statuses(figure, other, table)
            if {k: delta.keys[k].replace("varies", "not_stated") for k in keys} != keys:
                continue
            known = your_number.factors(figure, other, keys, table)
            if {f["key"] for f in known} != {f.key for f in delta.factors}:
                continue
            low, high = other["range"]
            for factor in known:
                low, high = low * factor["low"], high * factor["high"]
            assert your_number.verdict(figure, other, keys, known, (low, high)) == delta.verdict
            checked += 1
    assert checked > 300


# The browser


def same(found: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        return set(found) == set(expected) and all(same(found[k], v) for k, v in expected.items())
    if isinstance(expected, list | tuple):
        return len(found) == len(expected) and all(same(a, b) for a, b in zip(found, expected, strict=True))
    return bool(found == pytest.approx(expected, rel=1e-9) if isinstance(expected, float) else found == expected)


# Puts all fields into the form at once and sends it, as a reader would one by one; returns what it answered.
FILL = """inputs => {
    const form = document.querySelector("form.your-number");
    for (const [name, value] of Object.entries(inputs)) {
        const field = form.elements.namedItem(name);
        field.value = value;
        if (field.value !== value) throw new Error(`${name} does not offer ${value}`);
    }
    form.requestSubmit();
    return form.dataset.answer;
}"""


@pytest.mark.browser
@pytest.mark.parametrize("language", ["en", "ru"])
def test_browser_and_python_give_the_same_answers(language: str, table: dict[str, Any], watched: Watched) -> None:
    page = watched.open(PAGES[language])
    page.wait_for_selector("form.your-number[data-ready]")
    choose = random.Random(SEED)
    for _ in range(60):
        inputs = your_number.random_inputs(table, choose)
        found = json.loads(page.evaluate(FILL, inputs))
        expected = json.loads(json.dumps(your_number.answer(inputs, table)))
        assert same(found, expected), (inputs, found, expected)


@pytest.mark.browser
@pytest.mark.parametrize(
    ("language", "said", "verdict"),
    [("en", "Chunks were counted.", "not comparable"), ("ru", "Посчитаны чанки.", "несопоставимо")],
)
def test_by_keyboard_with_the_answer_read_out_and_the_state_in_the_address(
    language: str, said: str, verdict: str, watched: Watched
) -> None:
    page = watched.open(PAGES[language])
    page.wait_for_selector("form.your-number[data-ready]")
    page.locator("#f-value").focus()
    page.keyboard.type("14.7")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "f-scope"
    page.locator("#f-counted").select_option("chunks")
    page.locator("#f-scope").select_option("stream")
    page.locator("#f-value").focus()
    page.keyboard.press("Enter")
    live = page.locator(".answer[aria-live=polite]")
    assert said in live.inner_text()
    assert verdict in live.inner_text()
    assert "value=14.7" in page.url
    assert "counted=chunks" in page.url
    report = page.locator("#report-text").input_value()
    assert "### " in report
    assert "14.7" in report
    # The same address gives the same answer.
    form = page.locator("form.your-number")
    answer = form.get_attribute("data-answer")
    watched.open(page.url.removeprefix(watched.address))
    page.wait_for_selector("form.your-number[data-answer]")
    assert form.get_attribute("data-answer") == answer
    assert page.locator("#f-counted").input_value() == "chunks"


@pytest.mark.browser
def test_nothing_leaves_the_browser(watched: Watched) -> None:
    page = watched.open(PAGES["en"] + "?" + urlencode({"value": "45", "scope": "stream"}))
    page.wait_for_selector("form.your-number[data-answer]")
    page.locator("#f-prompt").select_option("long-context")
    assert watched.foreign == []
    assert len([url for url in watched.requested if "your-number.json" in url]) == 1


@pytest.mark.browser
def test_hostile_address_stays_text(watched: Watched) -> None:
    hostile = {"value": "57", "runtime": "<img src=x onerror=alert(1)>{{7*7}}", "prompt": "'); drop", "evil": "x"}
    page = watched.open(PAGES["en"] + "?" + urlencode(hostile))
    page.wait_for_selector("form.your-number[data-answer]")
    assert page.locator(".your-number img").count() == 0
    assert "<img src=x" in page.locator("#report-text").input_value()
    assert page.locator("#f-prompt").input_value() == ""


@pytest.mark.browser
@pytest.mark.parametrize("language", ["en", "ru"])
def test_without_a_script_the_tables_say_the_same(language: str, browser: Browser, address: str) -> None:
    with watching(browser, address, java_script_enabled=False) as watched:
        page = watched.open(PAGES[language])
        assert not page.locator("form.your-number").is_visible()
        assert page.locator("table").count() == 3
        assert page.locator("table").first.is_visible()
        # The factors stand behind a disclosure, each pair once.
        factors = page.locator("details", has=page.locator("table")).last
        assert not factors.locator("table").is_visible()
        factors.locator("summary").click()
        assert factors.locator("table").is_visible()
        rows = [
            [cell.inner_text() for cell in row.locator("th, td").all()] for row in factors.locator("tbody tr").all()
        ]
        pairs = [(frozenset(re.split(r": | → ", row[0])), row[2]) for row in rows]
        assert len(set(pairs)) == len(pairs) > 20
        assert all(row[1] != "×1.0" for row in rows)
        assert factors.locator("summary").inner_text().endswith(str(len(rows)))
        assert "127" not in page.locator("h1").inner_text()
        assert "tony-0702-c12" in page.content()


COMPLETE = {"nodes": "2", "warm": "yes", "runtime": "0.25.2", "checkpoint": "0731"}
COMPLETE |= {"scope": "stream", "streams": "1", "counted": "usage"}


@pytest.mark.browser
@pytest.mark.parametrize(
    ("language", "inputs", "said", "unsaid"),
    [
        (
            "en",
            {"value": "52", "prompt": "prose", "backend": "B12X"},
            [
                "cannot be said. Our figure does not state: engine version. No factor is known for: prompt profile",
                "prompt profile: yours prose, ours short answers",
                "code → prose ×0.49–0.63, reads lower",
                "What to check next",
                "prompt not stated; c = 1",
            ],
            "differs",
        ),
        (
            "ru",
            {"value": "52", "prompt": "prose", "backend": "B12X"},
            [
                "данных не хватает. У нас не указано: версия движка. Неизвестен множитель: профиль промпта",
                "профиль промпта: у вас связный текст, у нас короткие ответы",
                "код → связный текст ×0.49–0.63, цифра ниже",
                "Что проверить дальше",
                "промпт не указан; c = 1",
            ],
            "различается",
        ),
        (
            "en",
            {"value": "66", "prompt": "code", "backend": "B12X"},
            ["the value fits. Whether for the same reasons cannot be said. Our figure does not state: MoE backend"],
            "out of place",
        ),
        (
            "ru",
            {"value": "66", "prompt": "code", "backend": "B12X"},
            ["в пределах обычного разброса. Те же ли за ней причины, сказать нельзя. У нас не указано: MoE-бэкенд"],
            "данных не хватает",
        ),
        (
            "en",
            {"value": "52", "prompt": "code", "backend": "DEEPGEMM", "nodes": "1"},
            ["nodes: yours 1, ours 2", "MoE backend in the log: yours DEEPGEMM, ours not stated"],
            "other: ",
        ),
        ("en", {"value": "abc"}, ["“abc” is neither a number"], "Enter a value"),
        ("ru", {"value": "abc"}, ["«abc» — не число"], "Введите значение"),
    ],
)
def test_the_answer_says_whose_gap_it_is(
    language: str, inputs: dict[str, str], said: list[str], unsaid: str, watched: Watched
) -> None:
    page = watched.open(PAGES[language] + "?" + urlencode(COMPLETE | inputs))
    page.wait_for_selector("form.your-number[data-ready]")
    answer = page.locator(".answer").inner_text()
    for part in said:
        assert part in answer
    assert unsaid not in answer
    assert (page.locator("#f-value").get_attribute("aria-invalid") == "true") is (inputs["value"] == "abc")


@pytest.mark.browser
@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_report_keeps_every_answer_and_reads_back(language: Language, watched: Watched) -> None:
    inputs = COMPLETE | {"value": "52", "prompt": "prose", "backend": "B12X"}
    page = watched.open(PAGES[language] + "?" + urlencode(inputs))
    page.wait_for_selector("#report-text")
    report = page.locator("#report-text").input_value()
    assert "_No response_" not in report
    sent = submission.read(report, "figure.md")
    # All that was answered, and nothing that was not: the list of what was left open is no field.
    assert set(sent) == {
        "value", "unit", "quantity", "scope", "prompt_class", "system-nodes", "model-checkpoint", "runtime-version",
        "config-moe_backend_active", "workload-concurrency", "method-vantage", "method-window",
        "method-token_accounting", "method-warm",
    }  # fmt: skip
    # What an entry needs besides stands there as a heading to write under.
    for field, answer in (("publisher", "reader"), ("url", "https://example.org/a")):
        heading = f"### {next(f for f in fields() if f.id == field).label(locale(language))}\n\n"
        assert heading in report
        report = report.replace(heading, heading + answer)
    entry = submission.entry(submission.read(report, "figure.md"), "figure.md", ROOT / "results")
    assert (str(entry.value), entry.quantity, entry.method.window) == ("52", "decode_rate", "first_to_last_token")
    assert (entry.system.nodes, entry.method.warm, entry.config.moe_backend_active) == (2, True, "B12X")


# Options that are wider than the box that shows them: text, its width, the room for it. The arrow takes the end.
CUT_OFF = """() => [...document.querySelectorAll(".your-number select")].flatMap(select => {
    const ruler = document.createElement("span");
    ruler.style.cssText = "position: absolute; white-space: pre";
    const style = getComputedStyle(select);
    for (const name of ["fontFamily", "fontSize", "fontWeight", "letterSpacing"]) ruler.style[name] = style[name];
    document.body.append(ruler);
    const room = select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - 18;
    const found = [...select.options].map(option => {
        ruler.textContent = option.text;
        return [option.text, ruler.getBoundingClientRect().width, room];
    });
    ruler.remove();
    return found.filter(([, width]) => width > room || width === 0);
})"""


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("language", ["en", "ru"])
def test_no_option_is_cut_off_by_its_box(language: str, width: int, watched: Watched) -> None:
    watched.page.set_viewport_size({"width": width, "height": 900})
    page = watched.open(PAGES[language])
    page.wait_for_selector("form.your-number[data-ready]")
    assert page.locator(".your-number select").count() == 6
    assert page.evaluate(CUT_OFF) == []


# Where to send it

RUNS = "https://github.com/example/runs"


@pytest.mark.parametrize("language", ["en", "ru"])
def test_a_figure_can_be_sent_to_the_run_repository_until_the_site_has_its_own(language: Language) -> None:
    words = locale(language)
    meanwhile = links.contact(words, Settings.of("", {"settings": {"run_repository": RUNS + "/"}}))
    assert f'href="{RUNS}/issues/new"' in meanwhile
    both = {"settings": {"run_repository": RUNS, "repository": "https://github.com/example/site"}}
    assert RUNS not in links.contact(words, Settings.of("", both))
    assert links.run_issue(Settings.of("", both)) == ""
    assert "href" not in links.contact(words, Settings.of("", {}))


@pytest.mark.browser
@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_report_leads_to_the_run_repository(language: Language, watched: Watched) -> None:
    page = watched.open(PAGES[language] + "?" + urlencode(COMPLETE | {"value": "52", "prompt": "prose"}))
    page.wait_for_selector("#report-text")
    (href,) = [a.get_attribute("href") for a in page.locator(".report a").all()]
    address, _, query = href.partition("?")
    settings = yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), Loader=yaml.BaseLoader)["extra"]["settings"]
    if settings["repository"]:
        pytest.skip("this site has a repository of its own")
    assert address == settings["run_repository"] + "/issues/new"
    # GitHub refuses addresses of more than 8 KB.
    assert len(href) < 6000
    assert submission.read(parse_qs(query)["body"][0], "figure.md")["value"] == "52"
