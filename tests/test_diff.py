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
SPREAD = "The runs with `auto` are spread by 2%, those with the kernel by"


def add_three(tree: Tree, values: tuple[str, ...] = VALUES) -> None:
    for number, value in enumerate(values, 1):
        add_run(tree, f"newcomer-{number}", value)


def test_each_sentence_that_reads_differently_is_told_once(committed: Tree) -> None:
    add_three(committed)
    lines = told(committed)
    assert len(lines) == len(set(lines))
    place = committed.line_of("docs/index.md", 'The two printed means give {{ figure("moe-gain") }}')
    said = "The two printed means give 12%, and with their rounding anything in 11.8–12.2%."
    assert f"docs/index.md:{place}  {said}" in lines
    # The spread stays 12 %, so neither its figure nor a sentence with it alone is told.
    assert not any(line.startswith("moe-b12x-spread:") or SPREAD in line for line in lines)
    assert "moe-gain: 13% → 12%" in lines
    place = committed.line_of("docs/index.md", 'chart("overview")')
    assert f"docs/index.md:{place}  chart overview" in lines


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("docs/index.md", "(with the kernel: 3; with `auto`: not published)."),
        ("docs/ru/index.md", "(с ядром: 3; с `auto`: не опубликовано)."),
    ],
)
def test_a_sentence_that_only_prints_the_number_of_runs(page: str, said: str, committed: Tree) -> None:
    # 62.6, 69.2 and 71.0 have the summary's mean and ends: nothing but n changes.
    add_three(committed, ("62.6", "69.2", "71.0"))
    lines = told(committed)
    line = committed.line_of(page, 'runs_of("moe-b12x-decode")')
    assert [x for x in lines if x.startswith(f"{page}:{line} ") and x.endswith(said)]
    assert "moe-b12x-decode: 67.6 tok/s (62.6–71.0)  [n not published → 3; " in "\n".join(lines)
    assert not any("→" in line and line.startswith("moe-gain") for line in lines)


def test_sentences_read_as_on_the_page(committed: Tree) -> None:
    add_three(committed)
    report = "\n".join(told(committed))
    assert "The 12% above is a gain in client decode rate: another quantity, not comparable." in report
    heading = committed.line_of("docs/index.md", 'is worth {{ heading("moe-gain") }}')
    assert f"docs/index.md:{heading}  A flag that nobody sets is worth 12%\n" in report
    for mark in ("{", "}", "**", "…", ", ."):
        assert mark not in report


def test_a_statement_that_no_longer_holds_is_told(committed: Tree) -> None:
    # 70.1 − 64.2 over 66.77 is 8.8 %, less than three quarters of the gain, 66.77 / 59.7 − 1 = 11.8 %.
    add_three(committed, ("64.2", "66.0", "70.1"))
    [line] = [line for line in told(committed) if line.startswith("statement ")]
    assert line.startswith("statement kernel-spread-nearly-gain: no longer holds: times(")


def test_as_markdown(committed: Tree) -> None:
    add_three(committed)
    report = diff.markdown(diff.report(committed.root, "HEAD"))
    assert "- new: results/runs/newcomer-1.yaml (joins moe-b12x-decode)\n" in report
    assert "| `moe-gain` | 13% | 12% |  |\n" in report
    assert "The two printed means give 12%," in report


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
