"""`results diff` and the notes of `results check`: what a change of the data does, as a person is told it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from macros import cli, diff
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
