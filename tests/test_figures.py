"""Figures: what is drawn from which runs, formulas against values worked out by hand, and what is refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from macros import dataset, figures, printing, statistics
from macros.figures import Figure
from macros.locale import locale
from macros.numbers import Expression
from macros.problems import InputError, Problem
from tests.conftest import ROOT
from tests.example_manifests import comparison, figure, formula, raw, resolve, run, selecting

EN, RU = locale("en"), locale("ru")


@pytest.fixture(scope="module")
def real() -> Mapping[str, Figure]:
    results = ROOT / "results"
    return figures.resolve(results, dataset.load(results))


def refused(folder: Path, manifests: dict[str, str], definitions: str) -> list[Problem]:
    with pytest.raises(InputError) as caught:
        resolve(folder, manifests, definitions)
    return caught.value.problems


# The real figures against facts.md

# id → printed text; worked out from facts.md section 2, in the comment where it is not printed there.
PRINTED = {
    "moe-auto-decode": "59.7",
    "moe-b12x-decode": "67.6",
    "moe-auto-span": "59.0–60.1",
    "moe-b12x-span": "62.6–71.0",
    "moe-auto-spread": "2%",  # 1.1 / 59.7 = 0.0184
    "moe-b12x-spread": "12%",  # 8.4 / 67.6 = 0.1243
    "moe-gain": "13%",  # 67.6 / 59.7 = 1.1323
    "moe-gain-range": "4–20%",  # 62.6 / 60.1 = 1.0416; 71.0 / 59.0 = 1.2034
    "moe-gain-longread": "13.3%",
    "moe-gain-rounding": "13.1–13.4%",  # 67.55 / 59.75 = 1.1305; 67.65 / 59.65 = 1.1341
    "code-c1-decode": "65.5",
    "heavy-c1-decode": "43.7",
    "prompt-gap": "1.50×",  # 65.5 / 43.7 = 1.4989
    "code-c12-aggregate": "260.4",
    "aggregate-spread": "18–24%",
    "aggregate-over-single": "4×",  # 260.4 / 65.5 = 3.98, one digit for a spread of 24 %
    "step-gain-client": "16–18%",
    "step-gain-engine": "9–12%",
    "bringup-decode": "42.5",
    "model-card-claim": "57",
    "bringup-shortfall": "25%",  # 1 − 42.5 / 57 = 0.2544
    "image-gain": "22%",
    "tokens-per-step-before": "3.27",
    "tokens-per-step-after": "4.80",
    "tokens-per-step-gain": "47%",  # 4.80 / 3.27 = 1.4679
    "unexplained-factor": "1.15×",  # 67.6 / 42.5 / (1.22 · 67.6 / 59.7) = 59.7 / 42.5 / 1.22 = 1.1514
    "headline-range": "57–71",
    "bringup-to-kernel-gain": "59%",  # 67.6 / 42.5 = 1.5906
    "named-causes-gain": "38%",  # 1.22 · 67.6 / 59.7 = 1.3814
    "step-rate-fall-if-joint": "17%",  # 1 − 1.22 / 1.4679 = 0.1689
    "first-chunk-lag-share": "33–44%",  # (18 − 12) / 18 and (16 − 9) / 16
    "fp8-c1-rate": "32–32.4",  # facts.md section 4; each end with its own digits
    "separation-odds-two": "1/3",  # 2 / C(4, 2)
    "separation-odds-three": "1/10",  # 2 / C(6, 3)
}


@pytest.mark.parametrize("figure_id", PRINTED)
def test_printed_text_of_a_real_figure(figure_id: str, real: Mapping[str, Figure]) -> None:
    assert printing.text(real[figure_id], EN) == PRINTED[figure_id]
    assert printing.text(real[figure_id], RU) == PRINTED[figure_id]


@pytest.mark.parametrize(
    ("figure_id", "value"),
    [
        ("moe-auto-decode", "59.7"),
        ("moe-b12x-span", "62.6/71.0"),
        ("tokens-per-step-after", "4.80"),
        ("model-card-claim", "57"),
        ("step-gain-client", "16/18"),
        # 67.6 / 59.7 − 1, 65.5 / 43.7 and 260.4 / 65.5 with six significant digits
        ("moe-gain", "13.2328"),
        ("prompt-gap", "1.49886"),
        ("aggregate-over-single", "3.97557"),
        ("moe-gain-range", "4.15973/20.339"),
    ],
)
def test_machine_value_of_a_real_figure(figure_id: str, value: str, real: Mapping[str, Figure]) -> None:
    assert printing.machine_value(real[figure_id]) == value


def test_what_is_not_published_stays_unknown(real: Mapping[str, Figure]) -> None:
    for figure_id in ("moe-auto-decode", "moe-b12x-decode", "code-c1-decode", "heavy-c1-decode", "bringup-decode"):
        assert real[figure_id].n is None
        assert real[figure_id].date is None
    assert real["bringup-decode"].quantity is None
    assert real["model-card-claim"].quantity is None


def test_the_client_side_gain_is_superseded_by_the_engine_side_one(real: Mapping[str, Figure]) -> None:
    client = real["step-gain-client"]
    assert (client.status, client.superseded_by) == ("superseded", "step-gain-engine")
    assert {f.id for f in real.values() if f.status != "current"} == {"step-gain-client"}


def test_evidence_of_a_derived_figure_is_that_of_its_weakest_operand(real: Mapping[str, Figure]) -> None:
    assert real["moe-gain"].evidence == "lab_single_run"
    assert real["bringup-shortfall"].evidence == "model_card"
    assert real["headline-range"].evidence == "model_card"


def test_a_contrast_names_the_keys_that_differ(real: Mapping[str, Figure]) -> None:
    contrast = real["aggregate-over-single"]
    assert contrast.unit == "×"
    assert "workload.concurrency" in contrast.differing
    assert set(contrast.differing["workload.concurrency"].values()) == {1, 12}


def test_keys_that_are_not_stated_are_listed_not_refused(real: Mapping[str, Figure]) -> None:
    assert "config.kv_cache_dtype" in real["moe-gain"].unstated
    # The source says that the backend of both series is the same one, without naming it.
    assert "config.moe_backend_active" not in real["prompt-gap"].unstated
    assert "runtime.image_digest" in real["prompt-gap"].unstated


# Selections


def test_a_summary_alone_is_shown_with_its_span(tmp_path: Path) -> None:
    arm = resolve(tmp_path, {"runs/probe": run()}, selecting())["arm"]
    assert (printing.text(arm, EN), printing.span_text(arm, EN)) == ("59.7", "59.0–60.1")
    assert (arm.n, arm.history, arm.manifests) == (None, (), ("probe",))


def test_three_raw_runs_replace_a_summary_and_are_never_pooled_with_it(tmp_path: Path) -> None:
    runs = {f"runs/raw-{i}": raw(f"raw-{i}", value) for i, value in enumerate(("61.0", "62.1", "60.3"))}
    arm = resolve(tmp_path, {"runs/probe": run(), **runs}, selecting())["arm"]
    # (61.0 + 62.1 + 60.3) / 3 = 61.13; with the summary it would be 60.8.
    assert arm.value is not None
    assert arm.value.value == Fraction("183.4") / 3
    assert (printing.text(arm, EN), printing.span_text(arm, EN)) == ("61.1", "60.3–62.1")
    assert (arm.n, arm.statistic, arm.interval) == (3, "mean", None)
    assert arm.manifests == ("raw-0", "raw-1", "raw-2")
    [past] = arm.history
    assert (past.manifest, past.n, past.reason) == ("probe", None, "raw_runs")
    assert past.value is not None
    assert past.low is not None
    assert (past.value.value, past.low.value) == (Fraction("59.7"), Fraction("59.0"))


def test_one_raw_run_has_no_spread(tmp_path: Path) -> None:
    arm = resolve(tmp_path, {"runs/raw": raw("raw", "61.0")}, selecting())["arm"]
    assert (arm.n, arm.statistic, arm.low, arm.high, arm.spread_share) == (1, "single", None, None, None)


def test_samples_of_one_manifest_pool_with_single_runs(tmp_path: Path) -> None:
    three = raw("three", "60.0", "samples: [59.0, 60.0, 61.0]", n="3", statistic="mean")
    arm = resolve(tmp_path, {"runs/three": three, "runs/one": raw("one", "64.0")}, selecting())["arm"]
    assert arm.value is not None
    assert (arm.value.value, arm.n) == (Fraction("61"), 4)
    assert printing.span_text(arm, EN) == "59.0–64.0"


def test_rates_average_as_total_tokens_over_total_time(tmp_path: Path) -> None:
    # 100 tok in 2 s and 300 tok in 3 s: 400 / 5 = 80, where the mean of the rates is 75.
    slow = raw("slow", "50.0", "tokens: 100\nseconds: 2.0")
    fast = raw("fast", "100.0", "tokens: 300\nseconds: 3.0")
    arm = resolve(tmp_path, {"runs/slow": slow, "runs/fast": fast}, selecting())["arm"]
    assert printing.text(arm, EN) == "80.0"
    # One run without its time: the mean of the rates.
    arm = resolve(tmp_path, {"runs/fast": raw("fast", "100.0")}, selecting())["arm"]
    assert printing.text(arm, EN) == "75.0"


SIX = ("60.0", "66.0", "61.0", "70.0", "63.0", "62.0")


def test_six_runs_show_the_median_with_its_interval(tmp_path: Path) -> None:
    runs = {f"runs/r{i}": raw(f"r{i}", value) for i, value in enumerate(SIX)}
    arm = resolve(tmp_path, runs, selecting())["arm"]
    # Sorted: 60 61 62 63 66 70. With six samples only lowest to highest covers 95 %: 1 − 2/64 = 96.9 %.
    assert (printing.text(arm, EN), arm.statistic, arm.n) == ("62.5", "median", 6)
    assert arm.interval is not None
    assert [end.value for end in arm.interval] == [60, 70]


@pytest.mark.parametrize(
    ("n", "low", "high"),
    [
        # The largest k with 2·P(Binomial(n, ½) < k) ≤ 5 %. Eight: k = 1 (0.8 %; k = 2 has 7.0 %).
        (6, 1, 6),
        (8, 1, 8),
        # Nine: k = 2 has 2·10/512 = 3.9 %. Twelve: k = 3 has 2·79/4096 = 3.9 %, k = 4 has 14.6 %.
        (9, 2, 8),
        (12, 3, 10),
        # Twenty: k = 6 has 4.1 %, k = 7 has 11.5 %.
        (20, 6, 15),
    ],
)
def test_interval_of_the_median_from_order_statistics(n: int, low: int, high: int) -> None:
    samples = [Fraction(i) for i in range(n, 0, -1)]
    median, start, end = statistics.median_interval(samples)
    assert (median, start, end) == (Fraction(n + 1, 2), low, high)


def test_five_samples_have_no_interval() -> None:
    with pytest.raises(ValueError, match="at least 6"):
        statistics.median_interval([Fraction(i) for i in range(5)])


def test_unlike_runs_are_refused_with_the_keys_that_differ(tmp_path: Path) -> None:
    runs = {"runs/a": raw("a", "60.0", checkpoint='"0731"'), "runs/b": raw("b", "61.0", checkpoint='"0629"')}
    [problem] = refused(tmp_path, runs, selecting())
    assert problem.field == "arm.select"
    assert problem.expected.startswith("runs of one configuration")
    assert problem.found == "model.checkpoint: a 0731, b 0629"
    # Naming the key tells them apart.
    arm = resolve(tmp_path, {}, selecting(model__checkpoint='"0629"'))["arm"]
    assert arm.manifests == ("b",)


def test_a_run_that_does_not_state_a_key_of_the_selection_stays_out(tmp_path: Path) -> None:
    runs = {"runs/a": raw("a", "60.0"), "runs/b": raw("b", "70.0", moe_backend_active="null")}
    assert resolve(tmp_path, runs, selecting())["arm"].manifests == ("a",)


def test_a_corrected_run_leaves_the_selection(tmp_path: Path) -> None:
    reason = "reason: { en: again, ru: снова }"
    withdrawn = f"correction: {{ status: withdrawn, date: null, {reason}, successor: null }}\n"
    runs = {"runs/a": raw("a", "60.0"), "runs/b": raw("b", "70.0") + withdrawn}
    assert resolve(tmp_path, runs, selecting())["arm"].manifests == ("a",)


def test_two_summaries_are_not_pooled(tmp_path: Path) -> None:
    [problem] = refused(tmp_path, {"runs/a": run("a"), "runs/b": run("b")}, selecting())
    expected = "raw runs (n: 1, or with samples), or exactly one published summary"
    assert (problem.expected, problem.found) == (expected, "a, b")


def test_a_selection_without_runs_is_an_error(tmp_path: Path) -> None:
    [problem] = refused(tmp_path, {"runs/a": run("a")}, selecting(config__moe_backend_active="B12X_MXFP4"))
    assert problem.found == "none"
    [problem] = refused(tmp_path, {}, selecting(workload__mood="good"))
    assert problem.field == "arm.select.where.workload.mood"


# Formulas


ARMS = {
    "runs/base": raw("base", "50.0"),
    "runs/quick": raw("quick", "62.5", moe_backend_requested="flag", moe_backend_active="FAST"),
}
TWO = selecting("base") + selecting("quick", config__moe_backend_active="FAST")
BACKEND = ("config.moe_backend_requested", "config.moe_backend_active")


@pytest.mark.parametrize(
    ("kind", "of", "printed"),
    [
        # 62.5 / 50.0 = 1.25, half-width (62.55/49.95 − 62.45/50.05) / 2 = 0.0023
        ("ratio", ("quick", "base"), "1.25×"),
        ("gain", ("quick", "base"), "25%"),
        # 50.0 / 62.5 − 1 = −20 %, with a minus sign
        ("gain", ("base", "quick"), "−20%"),
        ("shortfall", ("base", "quick"), "20%"),
        # 62.45 / 50.05 = 1.2478 and 62.55 / 49.95 = 1.2523
        ("gain_rounding", ("quick", "base"), "24.8–25.2%"),
        ("envelope", ("quick", "base"), "50.0–62.5"),
    ],
)
def test_formulas_by_hand(kind: str, of: tuple[str, ...], printed: str, tmp_path: Path) -> None:
    found = resolve(tmp_path, ARMS, TWO + formula("result", kind, of, BACKEND))
    assert printing.text(found["result"], EN) == printed
    assert set(found["result"].differing) == set(BACKEND)


def test_unlike_configurations_are_refused_with_the_keys(tmp_path: Path) -> None:
    arms = ARMS | {"runs/quick": raw("quick", "62.5", moe_backend_active="FAST", concurrency="12", checkpoint='"0629"')}
    [problem] = refused(tmp_path, arms, TWO + formula("result", "gain", ("quick", "base"), BACKEND))
    assert problem.field == "result.formula.studies"
    assert problem.expected == "operands that differ only in the keys under study"
    assert "model.checkpoint: quick 0629, base 0731" in problem.found
    assert "workload.concurrency: quick 12, base 1" in problem.found
    assert "config" not in problem.found
    line = (tmp_path / "results/figures.yaml").read_text("utf-8").split("\n")[problem.line - 1]
    assert "studies" in line


def test_a_key_that_one_side_does_not_state_is_listed(tmp_path: Path) -> None:
    arms = ARMS | {"runs/quick": raw("quick", "62.5", moe_backend_active="FAST", checkpoint="null")}
    result = resolve(tmp_path, arms, TWO + formula("result", "gain", ("quick", "base"), BACKEND))["result"]
    assert "model.checkpoint" in result.unstated
    assert "model.name" not in result.unstated


def test_unlike_quantities_are_refused_unless_contrasted(tmp_path: Path) -> None:
    other = raw("other", "62.5", quantity="aggregate_throughput", moe_backend_active="FAST")
    definitions = TWO.replace("quantity: decode_rate", "quantity: aggregate_throughput").replace(
        "quantity: aggregate_throughput", "quantity: decode_rate", 1
    )
    arms = ARMS | {"runs/quick": other.replace("id: other", "id: quick")}
    [problem] = refused(tmp_path, arms, definitions + formula("result", "ratio", ("quick", "base"), BACKEND))
    assert problem.expected == "operands of one quantity (only a contrast combines two)"
    assert problem.found == "aggregate_throughput, decode_rate"
    result = resolve(tmp_path, {}, definitions + formula("result", "contrast", ("quick", "base"), BACKEND))["result"]
    assert (result.unit, printing.text(result, EN)) == ("×", "1.25×")
    # Even a contrast names the keys in which its sides differ.
    [problem] = refused(tmp_path, {}, definitions + formula("result", "contrast", ("quick", "base")))
    assert problem.field == "result.formula.studies"


def test_unlike_units_are_refused(tmp_path: Path) -> None:
    gain = formula("gain", "gain", ("quick", "base"), BACKEND)
    [problem] = refused(tmp_path, ARMS, TWO + gain + formula("result", "ratio", ("quick", "gain"), BACKEND))
    assert (problem.expected, problem.found) == ("operands of one unit", "%, tok/s")


def test_a_circle_of_formulas_is_shown(tmp_path: Path) -> None:
    circle = formula("a", "ratio", ("b", "base")) + formula("b", "ratio", ("a", "base"))
    problems = refused(tmp_path, {"runs/base": raw("base", "50.0")}, selecting("base") + circle)
    assert ("no circle of formulas", "a → b → a") in [(p.expected, p.found) for p in problems]


def test_an_unknown_operand_with_the_nearest_known(tmp_path: Path) -> None:
    [problem] = refused(tmp_path, ARMS, TWO + formula("result", "ratio", ("quick", "bass")))
    assert (problem.expected, problem.found) == ("the id of a figure (did you mean base?)", "bass")


def test_a_spread_that_nobody_published_cannot_be_used(tmp_path: Path) -> None:
    for kind, of in (("span", ("base",)), ("spread", ("base",)), ("gain_range", ("quick", "base"))):
        [problem] = refused(tmp_path, ARMS, TWO + formula("result", kind, of, BACKEND))
        assert problem.expected == "an operand whose spread is known"


def test_one_run_that_takes_the_place_of_a_needed_spread_is_named_once(tmp_path: Path) -> None:
    made = formula("reach", "span", ("arm",)) + formula("width", "spread", ("arm",))
    runs = {"runs/probe": run(), "runs/newcomer": raw("newcomer", "64.2")}
    [problem] = refused(tmp_path, runs, selecting() + made)
    line = runs["runs/newcomer"].split("\n").index("measurements:") + 1
    assert (problem.file, problem.line, problem.column) == ("results/runs/newcomer.yaml", line, 1)
    assert "in arm this one takes the place of the published summary probe, and reach, width need" in problem.expected
    assert problem.found == "one run, which has no spread"
    # Both ways out that the message names: the summary by its name, and a second run.
    assert "give arm `measurement: probe/decode` for its `select`" in problem.expected
    kept = resolve(tmp_path, {}, figure("arm", "measurement: probe/decode") + made)
    assert printing.text(kept["reach"], EN) == "59.0–60.1"
    two = resolve(tmp_path, {"runs/second": raw("second", "61.0")}, selecting() + made)
    assert printing.text(two["reach"], EN) == "61.0–64.2"


def test_only_operands_without_a_spread_are_named(tmp_path: Path) -> None:
    arms = {"runs/probe": run(), "runs/quick": ARMS["runs/quick"]}
    definitions = selecting() + selecting("quick", config__moe_backend_active="FAST")
    [problem] = refused(tmp_path, arms, definitions + formula("result", "gain_range", ("quick", "arm"), BACKEND))
    assert (problem.field, problem.found) == ("result.formula.of", "quick")


def test_a_formula_with_too_few_operands(tmp_path: Path) -> None:
    [problem] = refused(tmp_path, ARMS, TWO + formula("result", "ratio", ("quick",)))
    assert problem.field == "result.formula"


def test_a_formula_that_nobody_knows(tmp_path: Path) -> None:
    [problem] = refused(tmp_path, ARMS, TWO + formula("result", "guess", ("quick", "base")))
    assert (problem.field, problem.found) == ("result.formula.kind", "guess")


OLD_AND_NEW = {
    "comparisons/old": comparison("old", low="16", high="18")
    + "correction: { status: superseded, date: null, reason: { en: a, ru: б }, successor: new }\n",
    "comparisons/new": comparison("new"),
}
BOTH = figure("old", "comparison: old") + figure("new", "comparison: new")


def test_a_superseded_operand_is_refused_unless_asked_for(tmp_path: Path) -> None:
    [problem] = refused(tmp_path, OLD_AND_NEW, BOTH + formula("share", "lag_share", ("old", "new")))
    assert (problem.expected, problem.found) == ("current figures", "old, which is superseded")
    asked = formula("share", "lag_share", ("old", "new"), more=", superseded_operands: true")
    found = resolve(tmp_path, {}, BOTH + asked)
    assert found["old"].superseded_by == "new"
    # (18 − 12) / 18 = 33 % and (16 − 9) / 16 = 44 %
    assert printing.text(found["share"], EN) == "33–44%"


def test_exactly_one_way_to_define_a_figure(tmp_path: Path) -> None:
    two_ways = figure("both", "comparison: old\n  published: old")
    [problem] = refused(tmp_path, OLD_AND_NEW, two_ways)
    assert (problem.field, problem.found) == ("both.label", "comparison, published")
    [problem] = refused(tmp_path, {}, figure("none", "unused: not yet"))
    assert problem.found == "none"


# Digits


@pytest.mark.parametrize(
    ("value", "printed"), [("42.66", "42.7"), ("25.35", "25.4"), ("17.19", "17.2"), ("43.7", "43.7"), ("57", "57")]
)
def test_an_own_rate_prints_one_decimal_at_most(value: str, printed: str, real: Mapping[str, Figure]) -> None:
    own = dataclasses.replace(real["heavy-c1-decode"], value=Expression.recorded("x", Decimal(value)))
    assert printing.text(own, EN) == printed
    # Machines get the recorded digits.
    assert printing.machine_value(own) == value


@pytest.mark.parametrize(
    ("spread", "printed"),
    [
        # 260.4 / 65.5 = 3.976; one digit only where an operand varies by more than 10 %.
        ("10", "3.98×"),
        ("10.1", "4×"),
    ],
)
def test_a_wide_operand_leaves_a_factor_one_digit(spread: str, printed: str, tmp_path: Path) -> None:
    part = f"\nrelative_spread: {{ low: 5, high: {spread}, unit: '%', computed: null }}"
    arms = {
        "runs/base": raw("base", "65.5"),
        "runs/quick": raw("quick", "260.4", part, n="null", statistic="mean", moe_backend_active="FAST"),
    }
    result = resolve(tmp_path, arms, TWO + formula("result", "ratio", ("quick", "base"), BACKEND))["result"]
    assert printing.text(result, EN) == printed


def test_separators_signs_and_ranges() -> None:
    assert printing.number(Decimal("1032953"), EN) == "1,032,953"
    assert printing.number(Decimal("1032953"), RU) == "1\u202f032\u202f953"
    assert printing.number(Decimal("-4.5"), RU) == "\u22124.5"
