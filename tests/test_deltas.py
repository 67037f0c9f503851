"""Deltas and verdicts, worked out by hand from the manifests; the arithmetic stands beside each expectation."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from pathlib import Path

import pytest

from macros import deltas, site
from macros.deltas import Comparer, Delta, Side
from macros.manifests import COMPARED, NOTED

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def comparer() -> Comparer:
    return Comparer.of(site.load(ROOT / "results"))


def of(comparer: Comparer, a: str, b: str) -> Delta:
    return comparer.delta(comparer.side(a), comparer.side(b))


def near(value: Fraction, expected: float) -> bool:
    return abs(float(value) - expected) < 0.006 * expected


# a, b, verdict, the five questions in the page's order: backend, prompt, vantage, concurrency, other.
BY_HAND = [
    # Both arms: the flag differs; versions are not published. 59.0–60.1 × (62.6/60.1 to 71.0/59.0) meets 62.6–71.0.
    ("moe-b12x-decode", "moe-auto-decode", "explained", "differs same same same not_stated"),
    # The backend is said to be the same. 43.65–43.75 × (65.45/43.75 to 65.55/43.65) = 65.3–65.7 meets 65.45–65.55.
    ("code-c1-decode", "heavy-c1-decode", "explained", "same differs same same not_stated"),
    # One server, two prompts, all stated: 84.25–84.35 × (34.55/84.35 to 34.65/84.25) meets 34.55–34.65.
    ("tony-0729-story", "tony-0729-count300", "explained", "same differs same same same"),
    # Backend and image change at once, which gives neither a worth of this quantity; checkpoint and warm-up are null.
    ("tony-0729-mean5", "tony-bakeoff-anemll-mean5", "cannot_be_said", "differs same same same differs"),
    # One stream's share beside the sum of twelve.
    ("mia58-cyrus104", "code-c12-aggregate", "not_comparable", "not_stated differs not_stated not_stated not_stated"),
    # Chunks beside tokens: another quantity, another counting.
    ("tony-0731-sse-vs-usage", "moe-b12x-decode", "not_comparable", "not_stated not_stated differs same not_stated"),
    # 197.9–322.9 (260.4 ± 24 %) × 52.79/230.1 = 45.4–74.1; the gap falls from 197.9/21.24 = 9.3 to 45.4/21.24 = 2.1,
    # and 2.1² < 9.3. The prompt differs without a known worth.
    ("gumbii-vllm-bench-c1", "code-c12-aggregate", "partly", "not_stated differs not_stated differs not_stated"),
    # The same flag, all else but the prompt alike: it is not stated, nor is how tokens were counted.
    ("mia-graphs-c1", "moe-b12x-decode", "cannot_be_said", "same not_stated not_stated same not_stated"),
    # The same backend and checkpoint; the prompts are of another class, and the own version is not published.
    ("ecohash-8k", "moe-auto-decode", "cannot_be_said", "same differs same same not_stated"),
    # Two checkpoints on one set-up; the backend is not stated.
    ("pulsar-0731-c1", "pulsar-usage-48", "cannot_be_said", "not_stated same same same differs"),
    # The source does not say what it measured.
    ("model-card", "moe-auto-decode", "cannot_be_said", "not_stated not_stated not_stated not_stated not_stated"),
]


@pytest.mark.parametrize(("a", "b", "verdict", "questions"), BY_HAND)
def test_verdict_and_questions(comparer: Comparer, a: str, b: str, verdict: str, questions: str) -> None:
    delta = of(comparer, a, b)
    assert delta.verdict == verdict
    assert list(delta.questions.values()) == questions.split()


def test_every_compared_key_has_a_status_and_noted_ones_only_where_both_state_them(comparer: Comparer) -> None:
    delta = of(comparer, "tony-0729-story", "tony-0729-count300")
    assert set(COMPARED) <= set(delta.keys)
    assert {key for key in delta.keys if key in NOTED} == {"config.draft_sampling", "workload.short_prompt"}
    assert delta.with_status("differs") == ["workload.profile", "workload.output_tokens"]


def test_a_key_that_varies_within_a_figure_is_not_comparable(comparer: Comparer) -> None:
    delta = of(comparer, "tony-0729-mean5", "tony-0729-count300")
    assert delta.keys["workload.output_tokens"] == "varies"


def test_factors_carry_their_source_and_configuration(comparer: Comparer) -> None:
    (factor,) = of(comparer, "moe-b12x-decode", "moe-auto-decode").factors
    assert factor.key == "config.moe_backend_active"
    assert {w.source for w in factor.worths} == {"moe-gain-range", "moe-gain-longread"}
    assert all(w.settings["workload.profile"] == "card-like" for w in factor.worths)
    # 62.6 / 60.1 = 1.0416 and 71.0 / 59.0 = 1.2034
    assert near(factor.low, 1.0416)
    assert near(factor.high, 1.2034)


def test_a_factor_turns_round(comparer: Comparer) -> None:
    (factor,) = of(comparer, "moe-auto-decode", "moe-b12x-decode").factors
    assert near(factor.low, 59.0 / 71.0)
    assert near(factor.high, 60.1 / 62.6)


def test_what_changes_several_causes_at_once_is_worth_nothing(comparer: Comparer) -> None:
    """197.3 beside 152.5 differ in backend and image."""
    sources = {w.source for w in comparer.worths if w.key == "config.moe_backend_active"}
    assert "tony-bakeoff-anemll-c6" not in sources
    assert "step-gain-client" not in sources  # superseded


def test_no_verdict_without_a_gap_and_with_everything_stated(comparer: Comparer) -> None:
    side = comparer.side("tony-0729-count300")
    assert comparer.delta(side, dataclasses.replace(side, id="twin")).verdict == "explained"


def test_a_gap_with_everything_stated_is_unexplained(comparer: Comparer) -> None:
    side = comparer.side("tony-0729-count300")
    slower = dataclasses.replace(side, id="slower", range=(Fraction(40), Fraction(41)))
    assert comparer.delta(slower, side).verdict == "unexplained"


def test_overlap_in_spite_of_a_difference_of_unknown_worth_says_nothing(comparer: Comparer) -> None:
    side = comparer.side("tony-0729-count300")
    moved = dataclasses.replace(side, id="moved", settings={**side.settings, "model.checkpoint": "0731"})
    assert comparer.delta(moved, side).verdict == "cannot_be_said"


@pytest.mark.parametrize(
    ("entry", "nearest"),
    [
        # The B12X arm differs in nothing that is stated; auto differs in the backend, the 500-token series in length.
        ("mia-graphs-c1", "moe-b12x-decode"),
        # DEEPGEMM by its log: the auto arm.
        ("ecohash-8k", "moe-auto-decode"),
        # The lab's repetition of this very run: the same prompt, sixteen streams, engine-side.
        ("tony-0629-c16-static", "c16-static-aggregate"),
    ],
)
def test_nearest_is_chosen_by_configuration(comparer: Comparer, entry: str, nearest: str) -> None:
    side = comparer.side(entry)
    assert comparer.nearest(side).b.id == nearest
    # The value plays no part.
    far = dataclasses.replace(side, range=(Fraction(1), Fraction(2)))
    assert comparer.nearest(far).b.id == nearest


def test_nearest_has_the_same_quantity_where_one_is_there(comparer: Comparer) -> None:
    for side in comparer.published.values():
        if side.quantity in {own.quantity for own in comparer.own.values()}:
            assert comparer.nearest(side).b.quantity == side.quantity, side.id


def test_equally_near_figures_keep_the_order_of_the_file(comparer: Comparer) -> None:
    blank = Side("x", "decode_rate", None, "tok/s", (Fraction(1), Fraction(2)), {})
    own = [s for s in comparer.own.values() if s.quantity == "decode_rate"]
    arms = [s for s in own if s.id.startswith("moe-")]
    # A figure that states nothing is equally near to both arms.
    assert comparer.nearest(blank, arms).b.id == "moe-auto-decode"
    assert comparer.nearest(blank, arms[::-1]).b.id == "moe-b12x-decode"


@pytest.mark.parametrize(
    ("key", "spelling", "name"),
    [
        ("config.moe_backend_active", "B12X", "B12X"),
        ("config.moe_backend_active", "B12X_MXFP4", "B12X"),
        ("config.moe_backend_active", "b12x MXFP4", "B12X"),
        ("config.moe_backend_active", "DEEPGEMM_MXFP4", "DEEPGEMM"),
        ("config.moe_backend_active", "Marlin MXFP4", "Marlin MXFP4"),
    ],
)
def test_spellings_are_unified(comparer: Comparer, key: str, spelling: str, name: str) -> None:
    assert deltas.unified({key: spelling}, comparer.aliases)[key] == name


def test_a_flag_stands_for_the_log_line_but_auto_does_not(comparer: Comparer) -> None:
    def active(flag: str) -> object:
        settings = {"config.moe_backend_requested": flag, "config.moe_backend_active": None}
        return deltas.unified(settings, comparer.aliases)["config.moe_backend_active"]

    assert active("flashinfer_b12x") == "B12X"
    assert active("auto") is None


@pytest.mark.parametrize(
    ("one", "other", "status"),
    [
        ("code-bst", "code-bst", "same"),
        ("code-bst", "code-crud", "differs"),
        ("code-bst", "story-200", "differs"),
        ("code-unstated", "code-unstated", "not_stated"),
        ("code-unstated", "code-bst", "not_stated"),
        ("code-unstated", "story-200", "differs"),
    ],
)
def test_profiles_of_which_only_the_class_is_known_are_never_the_same(
    comparer: Comparer, one: str, other: str, status: str
) -> None:
    a, b = (
        Side(p, "decode_rate", None, "tok/s", (Fraction(1), Fraction(2)), {"workload.profile": p}) for p in (one, other)
    )
    assert comparer.status("workload.profile", a, b) == status


def test_approximate_counts_differ_from_ten_per_cent_on(comparer: Comparer) -> None:
    key = "workload.prompt_tokens"

    def side(tokens: int, approximate: bool) -> Side:
        keys = frozenset({key} if approximate else ())
        return Side(str(tokens), "decode_rate", None, "tok/s", None, {key: tokens}, approximate=keys)

    assert comparer.status(key, side(4000, True), side(4096, False)) == "same"
    assert comparer.status(key, side(4000, False), side(4096, False)) == "differs"
    assert comparer.status(key, side(4000, True), side(4500, False)) == "differs"


def test_a_delta_turned_round_has_the_same_keys(comparer: Comparer) -> None:
    for a in list(comparer.published.values())[:20]:
        for b in comparer.own.values():
            assert comparer.delta(a, b).keys == comparer.delta(b, a).keys
