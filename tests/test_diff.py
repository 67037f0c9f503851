"""`results diff` and the notes of `results check`: what a change of the data does, as a person is told it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from macros import cli, diff, reading
from tests.conftest import Tree

SUMMARY = "results/runs/moe-b12x.yaml"


@pytest.fixture
def committed(tree: Tree) -> Tree:
    """A copy of the project whose HEAD is the project as it is."""
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org"]
    for arguments in (["init", "-q"], ["add", "docs", "results"], ["commit", "-qm", "before"]):
        subprocess.run([*git, *arguments], cwd=tree.root, check=True)
    return tree


def add_run(tree: Tree, run_id: str, value: str, backend: str = "B12X_MXFP4") -> str:
    """One run by hand, as a copy of the published summary; its file."""
    text = tree.read(SUMMARY)
    for old, new in (
        ("id: moe-b12x\n", f"id: {run_id}\n"),
        ("moe_backend_active: B12X_MXFP4", f"moe_backend_active: {backend}"),
        ("value: 67.6", f"value: {value}"),
        ("low: 62.6", "low: null"),
        ("high: 71.0", "high: null"),
        ("\n    n: null", "\n    n: 1"),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    tree.write(f"results/runs/{run_id}.yaml", text)
    return f"results/runs/{run_id}.yaml"


def told(tree: Tree) -> list[str]:
    """The lines of the report, without its head."""
    return [line.strip() for line in diff.text(diff.report(tree.root, "HEAD")).splitlines()[1:]]


def test_nothing_changed(committed: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    assert diff.report(committed.root, "HEAD").empty
    assert cli.main(["diff", "--root", str(committed.root)]) == 0
    assert cli.main(["check", "--root", str(committed.root)]) == 0
    assert "Note:" not in capsys.readouterr().out


def test_the_help_names_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["diff", "--help"])
    assert "0 where the data prints the same, 2 where it does not" in " ".join(capsys.readouterr().out.split())


MISSED = "joins no figure; the nearest, moe-b12x-decode, wants config.moe_backend_active B12X_MXFP4, not B12X-MXFP4"


def test_a_run_that_a_typo_keeps_from_its_figure(committed: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    file = add_run(committed, "newcomer", "64.2", backend="B12X-MXFP4")
    assert told(committed) == [f"new: {file} ({MISSED})"]
    assert cli.main(["diff", "--root", str(committed.root)]) == 2
    assert cli.main(["check", "--root", str(committed.root)]) == 0
    assert f"Note: {file} {MISSED}.\n" in capsys.readouterr().out


def test_a_run_of_a_quantity_that_no_figure_selects(committed: Tree) -> None:
    file = add_run(committed, "newcomer", "64.2")
    committed.edit(file, "quantity: decode_rate", "quantity: prefill_rate")
    assert told(committed) == [f"new: {file} (joins no figure: none selects what it measures)"]


def test_new_changed_and_removed_manifests_are_listed(committed: Tree) -> None:
    files = [add_run(committed, f"newcomer-{value[:2]}", value) for value in ("63.0", "70.0")]
    committed.edit("results/runs/depth-900k.yaml", "transport: null", "transport: RoCEv2")
    register = sorted(Path(committed.root / "results/published").glob("*.yaml"))
    cited = "\n".join(p.read_text("utf-8") for p in (committed.root / "docs").rglob("*.md"))
    cited += committed.read("results/figures.yaml") + committed.read("results/reasons.yaml")
    spare = next(p for p in register if p.stem not in cited)
    committed.remove(f"results/published/{spare.name}")
    lines = told(committed)
    assert lines[:4] == [
        "changed: results/runs/depth-900k.yaml",
        *(f"new: {file} (joins moe-b12x-decode)" for file in files),
        f"removed: results/published/{spare.name}",
    ]


# What reads differently

VALUES = ("63.0", "66.4", "71.2")
# Their mean is (63.0 + 66.4 + 71.2) / 3 = 66.87; 66.87 / 59.7 = 1.120, 71.2 − 63.0 over 66.87 is 12.3 %.
# With half a last digit, 66.82 / 59.75 = 1.1183 and 66.92 / 59.65 = 1.1218.
ADDED = """
## Worth {{ heading("moe-gain") }} { #added .q-other }

<div class="lead" markdown="1">
**Means say {{ figure("moe-gain") }}**, [rounding](runs.md) {{ figure("moe-gain-rounding") }}.
Spread: {{ figure("moe-b12x-spread") }}.
</div>

With {{ runs_of("moe-b12x-decode") }} against {{ runs_of("moe-auto-decode") }} runs, and {{ figure("moe-gain") }},
this is **{{ verdict("magnitude", "moe-gain", "step-gain-engine") }}**.

{{ chart("moe-arms") }}
"""
PAGES = ("docs/runs.md", "docs/ru/runs.md")


@pytest.fixture
def extended(committed: Tree) -> Tree:
    """With sentences of our own on a page, so that the site's may be worded anew."""
    for page in PAGES:
        committed.append(page, ADDED)
    return committed


def add_three(tree: Tree, values: tuple[str, ...] = VALUES) -> None:
    for number, value in enumerate(values, 1):
        add_run(tree, f"newcomer-{number}", value)


def on(page: str, tree: Tree) -> list[str]:
    """What is told of a page, with lines counted from the one before what was added."""
    start = tree.line_of(page, "## Worth") - 1
    places = [line.removeprefix(f"{page}:").split("  ", 1) for line in told(tree) if line.startswith(f"{page}:")]
    return [f"{int(number) - start} {said}" for number, said in places if int(number) > start]


def test_each_sentence_that_reads_differently_is_told_once_as_it_reads(extended: Tree) -> None:
    add_three(extended)
    # The spread stays 12 %, so that its sentence, the third, reads the same.
    assert on("docs/runs.md", extended) == [
        "1 Worth 12%",
        "4 Means say 12%, rounding 11.8–12.2%.",
        "8 With 3 against not published runs, and 12%, this is not comparable.",
        "11 chart moe-arms",
    ]
    assert (
        on("docs/ru/runs.md", extended)[2] == "8 With 3 against не опубликовано runs, and 12%, this is несопоставимо."
    )
    lines = told(extended)
    assert "moe-gain: 13% → 12%" in lines
    assert not any(line.startswith("moe-b12x-spread:") for line in lines)
    assert len(lines) == len(set(lines))


@pytest.mark.parametrize(
    ("page", "unknown"), [("docs/runs.md", "not published"), ("docs/ru/runs.md", "не опубликовано")]
)
def test_a_sentence_in_which_only_the_number_of_runs_changes(page: str, unknown: str, extended: Tree) -> None:
    # 62.6, 69.2 and 71.0 have the summary's mean and ends: nothing but n changes.
    add_three(extended, ("62.6", "69.2", "71.0"))
    [sentence, chart] = on(page, extended)
    assert sentence.startswith(f"8 With 3 against {unknown} runs, and 13%")
    assert chart == "11 chart moe-arms"
    lines = told(extended)
    assert any(x.startswith("moe-b12x-decode: 67.6 tok/s (62.6–71.0)  [n not published → 3; ") for x in lines)
    assert not any(x.startswith("moe-gain") for x in lines)


def test_no_sentence_of_the_site_shows_how_it_is_written(committed: Tree) -> None:
    add_three(committed)
    report = "\n".join(told(committed))
    for mark in ("{", "}", "**", "…", ", ."):
        assert mark not in report


def test_a_statement_that_no_longer_holds_is_told(committed: Tree) -> None:
    # 70.1 − 64.2 over 66.77 is 8.8 %, less than three quarters of the gain, 66.77 / 59.7 − 1 = 11.8 %.
    add_three(committed, ("64.2", "66.0", "70.1"))
    [line] = [line for line in told(committed) if line.startswith("statement ")]
    assert line.startswith("statement kernel-spread-nearly-gain: no longer holds: times(")


def test_as_markdown(extended: Tree) -> None:
    add_three(extended)
    report = diff.markdown(diff.report(extended.root, "HEAD"))
    assert "- new: results/runs/newcomer-1.yaml (joins moe-b12x-decode)\n" in report
    assert "| `moe-gain` | 13% | 12% |  |\n" in report
    assert "- `docs/runs.md:" in report
    assert "` Means say 12%, rounding 11.8–12.2%.\n" in report


def test_pages_that_do_not_build_leave_the_figures(committed: Tree) -> None:
    add_three(committed)
    committed.append("docs/index.md", '\n{{ figure("no-such") }}\n')
    found = diff.report(committed.root, "HEAD")
    assert (found.sentences, "no-such" in (found.trouble or "")) == ((), True)
    assert "moe-gain" in [change.id for change in found.changes]


# How source text is read

SOURCE = """\
---
title: One of {{ figure("a.b") }}
description: >-
  Folded. Text
---

# A heading {#top}

<div class="lead" markdown="1">
**Bold ends here.** And on
**goes** the next? Yes.
</div>

- An entry
- Another, v1.5 of it

```sh
echo no. sentence.
```
The end
"""


def test_sentences_with_their_lines() -> None:
    assert list(reading.sentences(SOURCE)) == [
        (1, "---"),
        (2, 'title: One of {{ figure("a.b") }}'),
        (3, "description: >-\n  Folded."),
        (4, "Text"),
        (5, "---"),
        (7, "# A heading {#top}"),
        (9, '<div class="lead" markdown="1">'),
        (10, "**Bold ends here.**"),
        (10, "And on\n**goes** the next?"),
        (11, "Yes."),
        (12, "</div>"),
        (14, "- An entry"),
        (15, "- Another, v1.5 of it"),
        (20, "The end"),
    ]
