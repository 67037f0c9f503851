"""The depth curve against the published points, and what the data refuses to compare. Values are worked by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree, html

from macros import printing
from macros import site as core
from macros.figures import Figure
from macros.locale import locale
from tests.conftest import LANGUAGES, Tree

ROOT = Path(__file__).parents[1]
# run/measurement → as printed, as recorded
RATES = {
    "depth-16k-rate": ("42.7", "42.66"),
    "depth-64k-rate": ("28.9", "28.90"),
    "depth-256k-rate": ("25.4", "25.35"),
    "depth-512k-rate": ("17.6", "17.61"),
    "depth-1m-first-rate": ("17.2", "17.21"),
    "depth-1m-second-rate": ("17.2", "17.19"),
}
# 61/4.69, 90/6.92, 43/4.10, 48/5.40 and 192/(11.62 + 11.63)
STEPS = {
    "depth-16k-steps": "13.0",
    "depth-64k-steps": "13.0",
    "depth-256k-steps": "10.5",
    "depth-512k-steps": "8.9",
    "depth-1m-steps": "8.3",
}


@pytest.fixture(scope="module")
def loaded() -> core.Site:
    return core.load(ROOT / "results")


@pytest.fixture(scope="module")
def figures(loaded: core.Site) -> dict[str, Figure]:
    return dict(loaded.figures)


def test_rates_print_one_decimal_and_keep_the_recorded_digits(figures: dict[str, Figure]) -> None:
    for name, (printed, recorded) in RATES.items():
        assert printing.text(figures[name], locale("en")) == printed, name
        assert printing.machine_value(figures[name]) == recorded, name
        assert figures[name].quantity == "end_to_end_rate", name


def test_steps_per_second_are_drafts_over_wall_time(figures: dict[str, Figure]) -> None:
    for name, printed in STEPS.items():
        assert printing.text(figures[name], locale("en")) == printed, name
        assert (figures[name].unit, figures[name].quantity) == ("steps/s", "step_rate"), name


def test_cold_and_warm_and_without_speculation(figures: dict[str, Figure]) -> None:
    for name, printed in (
        ("depth-1m-cold-prefill", "642.2"),
        ("depth-1m-requery", "4.05"),
        ("nospec-nvfp4-rate", "26.6"),
        ("nospec-fp8-rate", "26.7"),
        ("c16-static-published", "315.1"),
    ):
        assert printing.text(figures[name], locale("en")) == printed, name


def test_accepted_and_drafts_make_the_completion_tokens_within_one(loaded: core.Site) -> None:
    counted = [m for run in loaded.dataset.runs.values() for m in run.measurements if m.drafts is not None]
    assert len(counted) == 5
    for m in counted:
        assert m.accepted is not None
        assert m.tokens is not None
        assert abs(m.accepted + (m.drafts or 0) - m.tokens) <= 1


def test_the_planned_run_is_in_the_data_without_a_result(loaded: core.Site) -> None:
    planned = loaded.dataset.runs["depth-900k"]
    assert planned.measurements == ()
    assert planned.missing is not None
    assert planned.workload.prompt_tokens == 900_000


@pytest.mark.parametrize("pair", ["[depth-16k-rate, code-c1-decode]", "[moe-b12x-decode, depth-16k-rate]"])
def test_a_formula_over_this_and_the_explainer_is_refused(tree: Tree, pair: str) -> None:
    definition = f"unlike:\n  label: {{ en: a, ru: a }}\n  question: other\n  formula: {{ kind: ratio, of: {pair} }}\n"
    tree.append("results/figures.yaml", definition)
    outcome = tree.check()
    assert not outcome.ok
    for words in ("unlike.formula.of", "operands of one quantity", "end_to_end_rate", "model.name"):
        assert words in outcome.output


def test_a_run_without_measurements_needs_a_reason(tree: Tree) -> None:
    file = "results/runs/depth-900k.yaml"
    tree.write(file, tree.read(file).partition("missing:")[0])
    outcome = tree.check()
    assert not outcome.ok
    assert "at least 1 entry, or `missing` with the reason" in outcome.output


@pytest.mark.parametrize(("folder", "missing"), [("", "no result"), ("ru/", "результата нет")])
def test_the_page_shows_every_point_and_the_missing_one(site: Path, folder: str, missing: str) -> None:
    tree = html.parse(str(site / folder / "depth-curve/index.html")).getroot()
    shown = [element.text_content() for element in tree.iter("data")]
    for printed, _ in RATES.values():
        assert printed in shown
    text = tree.text_content()
    assert missing in text
    chart = tree.get_element_by_id("chart-depth-rate")
    assert f"900K: {missing.split()[0]}" in " ".join(chart.text_content().split())
    # Both runs at the deepest point are marks of their own.
    wide = chart.find_class("chart-wide")[0]
    marks = {link.get("href", "").partition("#")[2] for link in wide.iter("{*}a", "a")}
    assert {"depth-1m-first-rate", "depth-1m-second-rate", "depth-900k"} <= marks


@pytest.mark.parametrize(("chart", "model"), [("depth-rate", "DeepSeek-V4-Flash-DSpark"), ("moe-arms", "0731")])
def test_a_chart_that_stands_elsewhere_says_what_was_measured_on_what_and_when(
    chart: str, model: str, site: Path
) -> None:
    """Facts: the curve up to 512K is of June 30, its deepest point of July 4; no date is published for the arms."""
    for language in LANGUAGES:
        root = etree.parse(str(site / f"charts/{chart}.{language}.svg")).getroot()
        said = " ".join(" ".join(root.itertext()).split())
        assert model in said
        assert "DGX Spark" in said
        assert ("2026-06-30, 2026-07-04" in said) == (chart == "depth-rate")
