"""Statements: each predicate true and false, verdict words with their conditions, and the build that stops."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from macros import checks, statements
from macros.figures import Figure
from macros.numbers import Expression
from macros.problems import InputError
from macros.render import Renderer
from macros.statements import CHECKS, Predicate, verdict
from tests.conftest import ROOT, Tree
from tests.example_manifests import raw, resolve, selecting

Make = Callable[..., Figure]


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Makes a figure from texts: `make("a", "60.0", ("59.0", "61.0"), n=3)`."""
    base = resolve(tmp_path_factory.mktemp("base"), {"runs/a": raw("a", "60.0")}, selecting())["arm"]

    def figure(
        name: str,
        value: str | None = None,
        span: tuple[str, str] | None = None,
        n: int | None = None,
        unit: str = "tok/s",
    ) -> Figure:
        def end(which: str, text: str | None) -> Expression | None:
            return Expression.recorded(f"{name}-{which}", Decimal(text)) if text is not None else None

        low, high = span or (None, None)
        parts = {"value": end("value", value), "low": end("low", low), "high": end("high", high)}
        return dataclasses.replace(base, id=name, n=n, unit=unit, **parts)

    return figure


# Each predicate, just true and just false. A figure is (value, span) or a value alone.

Spec = tuple[str | None, tuple[str, str] | None] | str
CASES: list[tuple[dict[str, Any], list[Spec], bool]] = [
    ({"kind": "ordering"}, ["67.6", "59.7"], True),
    ({"kind": "ordering"}, ["59.7", "59.7"], False),
    ({"kind": "ordering"}, ["3", "2", "1"], True),
    ({"kind": "ordering"}, ["3", "1", "2"], False),
    ({"kind": "above"}, [(None, ("60.2", "71.0")), (None, ("59.0", "60.1"))], True),
    ({"kind": "above"}, [(None, ("60.1", "71.0")), (None, ("59.0", "60.1"))], False),
    ({"kind": "above"}, [(None, ("59.0", "60.1")), (None, ("62.6", "71.0"))], False),
    ({"kind": "overlap"}, [(None, ("59.0", "62.6")), (None, ("62.6", "71.0"))], True),
    ({"kind": "overlap"}, [(None, ("59.0", "62.5")), (None, ("62.6", "71.0"))], False),
    ({"kind": "overlap"}, [(None, ("62.6", "71.0")), (None, ("59.0", "62.5"))], False),
    ({"kind": "larger_effect"}, ["1.50", "1.13"], True),
    ({"kind": "larger_effect"}, ["1.13", "1.50"], False),
    ({"kind": "between", "low": 3.5, "high": 4.5}, ["3.5"], True),
    ({"kind": "between", "low": 3.5, "high": 4.5}, ["4.5"], True),
    ({"kind": "between", "low": 3.5, "high": 4.5}, ["3.4"], False),
    ({"kind": "between", "low": 3.5, "high": 4.5}, ["4.6"], False),
    ({"kind": "times", "low": 2}, ["4.0", "2.0"], True),
    ({"kind": "times", "low": 2}, ["3.9", "2.0"], False),
    ({"kind": "decade", "decade": 50, "part": "high", "end": "value"}, ["56.0"], True),
    ({"kind": "decade", "decade": 50, "part": "high", "end": "value"}, ["59.9"], True),
    ({"kind": "decade", "decade": 50, "part": "high", "end": "value"}, ["55.9"], False),
    ({"kind": "decade", "decade": 50, "part": "high", "end": "value"}, ["60.0"], False),
    ({"kind": "decade", "decade": 70, "part": "low", "end": "high"}, [(None, ("57", "70.0"))], True),
    ({"kind": "decade", "decade": 70, "part": "low", "end": "high"}, [(None, ("57", "73.9"))], True),
    ({"kind": "decade", "decade": 70, "part": "low", "end": "high"}, [(None, ("57", "69.9"))], False),
    ({"kind": "decade", "decade": 70, "part": "low", "end": "high"}, [(None, ("57", "74.0"))], False),
    ({"kind": "decade", "decade": 50, "part": "high", "end": "low"}, [(None, ("57", "71"))], True),
    ({"kind": "contains"}, [(None, ("57", "71.0")), "57", ("67.6", ("62.6", "71.0"))], True),
    ({"kind": "contains"}, [(None, ("57", "70.9")), "57", ("67.6", ("62.6", "71.0"))], False),
    ({"kind": "contains"}, [(None, ("58", "71.0")), "57"], False),
    ({"kind": "positive"}, ["0.1"], True),
    ({"kind": "positive"}, ["0"], False),
    ({"kind": "positive"}, [(None, ("-1", "5"))], False),
    # What a predicate needs and the data does not have supports nothing.
    ({"kind": "above"}, ["67.6", "59.7"], False),
    ({"kind": "overlap"}, ["67.6", "67.6"], False),
    ({"kind": "ordering"}, [(None, ("62.6", "71.0")), "59.7"], False),
    ({"kind": "contains"}, ["57", "57"], False),
]


@pytest.mark.parametrize(("bounds", "specs", "holds"), CASES)
def test_predicate(bounds: dict[str, Any], specs: list[Spec], holds: bool, make: Make) -> None:
    figures = [make(f"f{i}", s) if isinstance(s, str) else make(f"f{i}", *s) for i, s in enumerate(specs)]
    exact = {key: Decimal(str(value)) if key in ("low", "high") else value for key, value in bounds.items()}
    predicate = Predicate(of=tuple(f.id for f in figures), **exact)
    assert statements._holds(predicate, tuple(figures)) is holds


def test_every_predicate_is_tried_both_ways() -> None:
    tried = {(bounds["kind"], holds) for bounds, _, holds in CASES}
    assert tried == {(kind, holds) for kind in CHECKS for holds in (True, False)}


def test_a_gain_and_a_factor_compare_alike(make: Make) -> None:
    gap, gain = make("gap", "1.50", unit="×"), make("gain", "13", unit="%")
    larger = Predicate(kind="larger_effect", of=("gap", "gain"))
    assert statements._holds(larger, (gap, gain))
    # 1.13 is a change of 13 %: not larger than 13 %.
    assert not statements._holds(larger, (make("gap", "1.13", unit="×"), gain))
    assert not statements._holds(larger, (gain, gap))


# Verdict words

APART = (("62.6", "71.0"), ("59.0", "60.1"))
TOUCHING = (("60.1", "71.0"), ("59.0", "60.1"))


@pytest.mark.parametrize(
    ("spans", "n", "direction", "magnitude"),
    [
        (APART, (None, None), "consistent", "not_resolvable"),
        (APART, (3, 3), "consistent", "not_resolvable"),
        (APART, (4, 3), "consistent", "not_resolvable"),
        (APART, (4, None), "consistent", "not_resolvable"),
        (APART, (4, 4), "resolved", "resolved"),
        (TOUCHING, (None, None), "not_consistent", "not_resolvable"),
        (TOUCHING, (9, 9), "not_consistent", "not_resolvable"),
    ],
)
def test_verdict(
    spans: tuple[tuple[str, str], tuple[str, str]],
    n: tuple[int | None, int | None],
    direction: str,
    magnitude: str,
    make: Make,
) -> None:
    a, b = (make(f"f{i}", None, span, runs) for i, (span, runs) in enumerate(zip(spans, n, strict=True)))
    assert verdict("direction", a, b) == direction
    assert verdict("magnitude", a, b) == magnitude


def test_without_a_spread_nothing_is_consistent(make: Make) -> None:
    assert verdict("direction", make("a", "67.6", n=9), make("b", "59.7", n=9)) == "not_consistent"


def test_the_real_arms_read_consistent_and_not_resolvable_in_both_languages() -> None:
    site, _ = checks.checked(ROOT)
    words = {
        language: [
            Renderer(site, language, "").verdict(subject, "moe-b12x-decode", "moe-auto-decode")
            for subject in ("direction", "magnitude")
        ]
        for language in ("en", "ru")
    }
    assert words == {
        "en": ["consistent", "not resolvable"],
        "ru": ["устойчиво", "по этим данным не определить"],
    }


# Badly written statements


@pytest.mark.parametrize(
    ("holds", "field", "expected"),
    [
        ("{ kind: ordering, of: [moe-auto-decod, heavy-c1-decode] }", "s.holds.of", "(did you mean moe-auto-decode?)"),
        ("{ kind: likely, of: [moe-auto-decode] }", "s.holds.kind", "one of "),
        ("{ kind: ordering, of: [] }", "s.holds.of", "at least 1 entry"),
        ("{ kind: between, of: [prompt-gap], low: -1, high: 4 }", "s.holds.low", "at least 0"),
        ("{ kind: ordering, of: [prompt-gap], exactly: true }", "s.holds.exactly", "a known key"),
    ],
)
def test_a_badly_written_statement(holds: str, field: str, expected: str, tmp_path: Path) -> None:
    figures = checks.checked(ROOT)[0].figures
    (tmp_path / "statements.yaml").write_text(f"s:\n  text: {{ en: a, ru: б }}\n  holds: {holds}\n", "utf-8")
    with pytest.raises(InputError) as caught:
        statements.read(tmp_path, figures)
    assert (field, True) in [(p.field, expected in p.expected) for p in caught.value.problems]
    assert all(p.line == 3 for p in caught.value.problems)


# Every real statement can fail, and then stops the build in both languages

RUNS, EFFECTS = "results/runs", "results/comparisons"
# statement → the changes of the data that make it false: (file, old, new)
FALSIFIED: dict[str, list[tuple[str, str, str]]] = {
    # A card at 20 tok/s lies below most of what others published.
    "most-single-stream-below-card": [("results/published/model-card.yaml", "value: 57", "value: 20")],
    "direction-consistent": [(f"{RUNS}/moe-b12x.yaml", "low: 62.6", "low: 59.5")],
    # 65.5 / 60.0 = 1.09 against 13 %
    "profile-gap-exceeds-flag": [(f"{RUNS}/heavy-c1.yaml", "value: 43.7", "value: 60.0")],
    "client-gain-above-engine": [(f"{EFFECTS}/step-gain-engine.yaml", "high: 12", "high: 17")],
    # 320.0 / 65.5 = 4.9
    "aggregate-about-four-times": [(f"{RUNS}/code-c12.yaml", "value: 260.4", "value: 320.0")],
    # 5.1 / 59.7 = 8.5 % against 12.4 %
    "kernel-spread-several-times": [(f"{RUNS}/moe-auto.yaml", "low: 59.0", "low: 55.0")],
    # 5.0 / 67.6 = 7.4 % against 13.2 %
    "kernel-spread-nearly-gain": [(f"{RUNS}/moe-b12x.yaml", "low: 62.6", "low: 66.0")],
    "range-from-high-fifties": [("results/published/model-card.yaml", "value: 57", "value: 55")],
    "range-to-low-seventies": [(f"{RUNS}/moe-b12x.yaml", "high: 71.0", "high: 75.0")],
    "auto-in-high-fifties": [(f"{RUNS}/moe-auto.yaml", "value: 59.7", "value: 60.0")],
    "kernel-top-in-low-seventies": [(f"{RUNS}/moe-b12x.yaml", "high: 71.0", "high: 75.0")],
    # The range without the model card's 57 begins at 59.0.
    "range-made-of-these": [
        (
            "results/figures.yaml",
            "of: [model-card-claim, moe-auto-decode, moe-b12x-decode]",
            "of: [moe-auto-decode, moe-b12x-decode]",
        )
    ],
    "flag-gains": [
        (f"{RUNS}/moe-b12x.yaml", "value: 67.6", "value: 59.6"),
        (f"{RUNS}/moe-b12x.yaml", "low: 62.6", "low: 59.5"),
    ],
    "bringup-below-card": [(f"{RUNS}/bringup.yaml", "value: 42.5", "value: 58.0")],
    # 1.45 · 1.132 = 1.64 against 1.59
    "named-causes-fall-short": [
        (f"{EFFECTS}/image-gain.yaml", "low: 22", "low: 45"),
        (f"{EFFECTS}/image-gain.yaml", "high: 22", "high: 45"),
    ],
    # 1 − 1.50 / 1.468 < 0
    "step-rate-would-have-fallen": [
        (f"{EFFECTS}/image-gain.yaml", "low: 22", "low: 50"),
        (f"{EFFECTS}/image-gain.yaml", "high: 22", "high: 50"),
    ],
    # (16 − 17) / 16 < 0
    "lag-needs-short-answers": [
        (f"{EFFECTS}/step-gain-engine.yaml", "low: 9", "low: 17"),
        (f"{EFFECTS}/step-gain-engine.yaml", "high: 12", "high: 18"),
    ],
}
PAGES = ("docs/index.md", "docs/ru/index.md")


@pytest.mark.parametrize("statement_id", FALSIFIED)
def test_a_statement_that_the_data_has_left_stops_the_build_in_both_pages(statement_id: str, tree: Tree) -> None:
    for file, old, new in FALSIFIED[statement_id]:
        tree.edit(file, old, new)
    outcome = tree.check()
    assert not outcome.ok
    for page in PAGES:
        line = tree.line_of(page, f'states("{statement_id}")')
        assert re.search(
            rf"{page}:{line}:1: (?:{statement_id}: expected data that supports the sentence )?“", outcome.output
        )
    # One mistake, however many sentences say it.
    assert outcome.output.count(f": {statement_id}: expected") == 1


def test_no_real_statement_is_beyond_doubt() -> None:
    """Each statement that the explainer binds is made false by one of the changes above."""
    site, pages = checks.checked(ROOT)
    bound = {c.argument for p in pages if p.name == "index.md" for c in p.calls if c.name == "states"}
    assert bound <= set(FALSIFIED)
    assert set(FALSIFIED) <= set(site.statements)


def test_a_failed_statement_prints_sentence_predicate_and_values(tree: Tree) -> None:
    tree.edit("results/runs/moe-b12x.yaml", "low: 62.6", "low: 59.5")
    output = tree.check().output
    assert "Still, every published run with the kernel lies above every published run with `auto`." in output
    assert "И всё же каждый опубликованный прогон с ядром выше каждого опубликованного прогона с `auto`." in output
    # The verdict is printed where the sentence prints it.
    assert re.search(r"with `auto`, so the direction is [a-z ]+\.”", output)
    assert "above(moe-b12x-span, moe-auto-span) with moe-b12x-span = 59.5–71.0, moe-auto-span = 59.0–60.1" in output


def test_a_statement_that_no_page_says_is_an_error(tree: Tree) -> None:
    for page in PAGES:
        tree.edit(page, '{{ states("range-made-of-these") }}', "")
    output = tree.check().output
    line = tree.line_of("results/statements.yaml", "range-made-of-these:")
    assert f"results/statements.yaml:{line}:1: range-made-of-these: expected a sentence that says it" in output


def test_an_unknown_statement_in_a_page_is_an_error(tree: Tree) -> None:
    for page in PAGES:
        tree.edit(page, 'states("flag-gains")', 'states("flag-gain")')
    output = tree.check().output
    line = tree.line_of("docs/index.md", 'states("flag-gain")')
    assert (
        f"docs/index.md:{line}:1: states: expected an id of results/statements.yaml (did you mean flag-gains?)"
        in output
    )
