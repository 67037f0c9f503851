"""CONTRIBUTING's walk-through, command by command: three imported runs, and no prose is touched."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lxml import etree

from tests.conftest import LANGUAGES, ROOT, BuildOnce, Outcome, Tree, data_texts, read_page


def commands() -> list[str]:
    """The lines of the walk-through's code block."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    block = re.search(r"```sh\n((?:(?!```).)*cd tests/walkthrough\n.*?)```", text, re.S)
    assert block, "CONTRIBUTING has no walk-through"
    return block[1].splitlines()


def walk(tree: Tree) -> Outcome:
    """Runs the block in a copy of the project that is a git repository, as a maintainer's is."""
    shutil.copytree(ROOT / "tests/walkthrough", tree.root / "tests/walkthrough")
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org"]
    for arguments in (["init", "-q"], ["add", "docs", "results"], ["commit", "-qm", "before"]):
        subprocess.run([*git, *arguments], cwd=tree.root, check=True)
    lines = [line.replace("make site", f"{sys.executable} -m macros.build") for line in commands()]
    # The command is where `make check` puts it; only this one says its exit code.
    command = tree.root / ".venv/bin/results"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\n{sys.executable} -m macros.cli "$@"\necho "exit $?"\n', "utf-8")
    command.chmod(0o755)
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)], cwd=tree.root, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(tree.root)},
    )  # fmt: skip
    return Outcome(done.returncode, done.stdout + done.stderr)


@pytest.fixture(scope="module")
def walked(build_once: BuildOnce, site: Path) -> tuple[Tree, Outcome]:
    tree, outcome = build_once("walkthrough", lambda _: None, walk)
    assert outcome.ok, outcome.output
    return tree, outcome


def test_each_import_writes_a_published_run(walked: tuple[Tree, Outcome]) -> None:
    tree, outcome = walked
    for number in (1, 2, 3):
        assert f"results/runs/walk-{number}.yaml: written" in outcome.output
        assert (tree.root / f"results/runs/walk-{number}.yaml").exists()
    # Three imports and the check end well; the diff says by its code that the pages will change.
    assert re.findall(r"^exit (\d)$", outcome.output, re.M) == ["0", "0", "0", "0", "2"]


def test_the_diff_names_figures_and_sentences(walked: tuple[Tree, Outcome]) -> None:
    output = walked[1].output
    # 1000 / 15.8, / 14.8 and / 14.0 ms are 63.29, 67.57 and 71.43 tok/s; their mean is 67.43.
    assert "moe-b12x-decode: 67.6 tok/s (62.6–71.0) → 67.4 tok/s (63.3–71.4)" in output
    assert "n not published → 3" in output
    assert re.search(r"docs/ru/index\.md:\d+", output)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("figure_id", "printed"),
    [
        ("moe-b12x-decode", "67.4"),
        ("moe-b12x-span", "63.3–71.4"),
        ("moe-b12x-spread", "12%"),  # (71.43 − 63.29) / 67.43 = 0.1207
        ("moe-gain", "13%"),  # 67.43 / 59.7 = 1.1295
        ("moe-gain-range", "5–21%"),  # 63.29 / 60.1 = 1.053; 71.43 / 59.0 = 1.211
        ("moe-auto-decode", "59.7"),  # the other arm
    ],
)
def test_the_pages_follow(figure_id: str, printed: str, language: str, walked: tuple[Tree, Outcome]) -> None:
    assert set(data_texts(read_page(walked[0].site, language), figure_id)) == {printed}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_summary_is_history_and_the_feed_names_the_runs(language: str, walked: tuple[Tree, Outcome]) -> None:
    tree = walked[0]
    entry = read_page(tree.site, language, "figures").get_element_by_id("moe-b12x-decode").text_content()
    assert "62.6–71.0" in entry
    feed = etree.parse(str(tree.site / ("" if language == "en" else "ru") / "feed.xml"))
    names = " ".join(e.text or "" for e in feed.iter("{*}title", "{*}id"))
    for number in (1, 2, 3):
        assert f"walk-{number}" in names


def test_no_private_detail_and_no_digest_is_made_up(walked: tuple[Tree, Outcome]) -> None:
    text = Path(walked[0].root / "results/runs/walk-1.yaml").read_text("utf-8")
    assert "image_digest: null" in text
    assert "revision: null" in text
    assert "B12X_MXFP4" in text
