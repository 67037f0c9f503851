"""A change of the data reaches every place that shows it, and a build that fails changes nothing."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from tests.conftest import LANGUAGES, BuildOnce, Tree, data_elements, data_texts, page_file, read_page

HEAVY, BRINGUP, TOGETHER = "results/runs/heavy-c1.yaml", "results/runs/bringup.yaml", "results/runs/code-c12.yaml"


def drawn(site: Path, language: str) -> str:
    """All that the SVG files of a language say; their coordinates are numbers too."""
    files = sorted((site / "charts").glob(f"*.{language}.svg"))
    return "\n".join(text for file in files for text in etree.parse(str(file)).getroot().itertext())


def texts(site: Path, language: str, figure_id: str) -> set[str]:
    """How a figure is printed on the explainer and in its entry, without the sign of a factor."""
    found = {
        text.removesuffix("×")
        for name in ("", "figures")
        for text in data_texts(read_page(site, language, name), figure_id)
    }
    assert found, f"{figure_id} is nowhere"
    return found


# One changed value changes every place


@pytest.fixture(scope="module")
def changed(build_once: BuildOnce, site: Path) -> Tree:
    """43.7 → 42.9, 42.5 → 41.0, 260.4 → 255.3. After the real site, whose drawings may be shared."""

    def change(tree: Tree) -> None:
        tree.edit(HEAVY, "value: 43.7", "value: 42.9")
        tree.edit(BRINGUP, "value: 42.5", "value: 41.0")
        tree.edit(TOGETHER, "value: 260.4", "value: 255.3")

    tree, outcome = build_once("changed", change, Tree.build)
    assert outcome.ok, outcome.output
    return tree


OLD_AND_NEW = [("43.7", "42.9"), ("42.5", "41.0"), ("260.4", "255.3")]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("old", "new"), OLD_AND_NEW)
def test_neither_page_nor_chart_keeps_the_old_value(
    old: str, new: str, language: str, changed: Tree, site: Path
) -> None:
    number = re.compile(rf"(?<![\d.]){re.escape(old)}(?![\d.])")
    for name in ("", "figures"):
        before = page_file(site, language, name).read_text("utf-8")
        after = page_file(changed.site, language, name).read_text("utf-8")
        assert number.search(before), "the old value was never there: nothing is shown by its absence"
        assert not number.search(after)
        # As many places as before, heading and table, tooltip and text alternative included.
        assert after.count(new) >= len(number.findall(before))
    assert number.search(drawn(site, language))
    assert not number.search(drawn(changed.site, language))
    assert new in drawn(changed.site, language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("figure_id", "printed"),
    [
        ("heavy-c1-decode", "42.9"),
        ("bringup-decode", "41.0"),
        ("code-c12-aggregate", "255.3"),
        ("bringup-shortfall", "28%"),  # 1 − 41.0 / 57 = 0.281
        ("prompt-gap", "1.53"),  # 65.5 / 42.9 = 1.527
        ("aggregate-over-single", "4"),  # 255.3 / 65.5 = 3.90
        ("unexplained-factor", "1.19"),  # 59.7 / 41.0 / 1.22 = 1.1935
        ("bringup-to-kernel-gain", "65%"),  # 67.6 / 41.0 = 1.649
        ("moe-gain", "13%"),  # not touched
    ],
)
def test_derived_figures_follow(figure_id: str, printed: str, language: str, changed: Tree) -> None:
    assert texts(changed.site, language, figure_id) == {printed}


@pytest.mark.parametrize("language", LANGUAGES)
def test_pictures_follow_and_only_those_concerned(language: str, changed: Tree, site: Path) -> None:
    def same(name: str) -> bool:
        file = f"charts/{name}"
        return (site / file).read_bytes() == (changed.site / file).read_bytes()

    for chart, touched in {"prompts": True, "overview": True, "concurrency": True, "vantages": False}.items():
        for suffix in ("svg", "png"):
            assert same(f"{chart}.{language}.{suffix}") != touched


# Raw runs join a selection


ARM = "results/runs/moe-b12x.yaml"
RAW = ("63.0", "66.4", "71.2")


def add_raw_runs(tree: Tree) -> None:
    """Three manifests and nothing else."""
    summary = tree.read(ARM)
    for number, value in enumerate(RAW, 1):
        text = summary
        for old, new in (
            ("id: moe-b12x\n", f"id: moe-b12x-raw-{number}\n"),
            ("statistic: mean", "statistic: single"),
            ("value: 67.6", f"value: {value}"),
            ("low: 62.6", "low: null"),
            ("high: 71.0", "high: null"),
            ("\n    n: null", "\n    n: 1"),
        ):
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        tree.write(f"results/runs/moe-b12x-raw-{number}.yaml", text)


@pytest.fixture(scope="module")
def joined(build_once: BuildOnce, site: Path) -> Tree:
    tree, outcome = build_once("joined", add_raw_runs, Tree.build)
    assert outcome.ok, outcome.output
    return tree


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("figure_id", "printed"),
    [
        ("moe-b12x-decode", "66.9"),  # (63.0 + 66.4 + 71.2) / 3 = 66.87; the summary's 67.6 is not pooled
        ("moe-b12x-span", "63.0–71.2"),
        ("moe-b12x-spread", "12%"),  # 8.2 / 66.87 = 0.1226
        ("moe-gain", "12%"),  # 66.87 / 59.7 = 1.1200
        ("moe-gain-range", "5–21%"),  # 63.0 / 60.1 = 1.048; 71.2 / 59.0 = 1.207
        ("moe-gain-rounding", "11.8–12.2%"),  # 66.82 / 59.75 = 1.1183; 66.92 / 59.65 = 1.1218
        ("bringup-to-kernel-gain", "57%"),  # 66.87 / 42.5 = 1.573
        ("named-causes-gain", "37%"),  # 1.22 · 1.1200 = 1.366
        ("moe-auto-decode", "59.7"),  # the other arm
    ],
)
def test_raw_runs_change_the_arm_and_what_is_derived(figure_id: str, printed: str, language: str, joined: Tree) -> None:
    assert texts(joined.site, language, figure_id) == {printed}


@pytest.mark.parametrize("language", LANGUAGES)
def test_raw_runs_change_n_and_the_bars(language: str, joined: Tree) -> None:
    page = read_page(joined.site, language)
    chart = next(e for e in page.iter("figure") if e.get("id") == "chart-moe-arms")
    row = next(row for row in chart.iter("tr") if data_elements(row, "moe-b12x-decode"))
    cells = [cell.text_content().replace("\u00a0", " ") for cell in row.iter("td")]
    assert cells[0].startswith("66.9")
    assert cells[1].endswith("63.0–71.2")
    assert cells[2] == "3"
    assert "63.0–71.2" in drawn(joined.site, language)
    assert "62.6–71.0" not in drawn(joined.site, language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_whiskers_end_where_the_runs_end(language: str, site: Path, joined: Tree) -> None:
    """The axis is fixed by the other arm's low end and the kernel arm's high end; its low end must lie between."""
    for folder, low, high in ((site, 62.6, 71.0), (joined.site, 63.0, 71.2)):
        page = read_page(folder, language)
        start, _ = widest_line(page, "chart-moe-arms", "moe-auto-decode")
        drawn_low, drawn_high = widest_line(page, "chart-moe-arms", "moe-b12x-decode")
        expected = start + (low - 59.0) / (high - 59.0) * (drawn_high - start)
        # Coordinates have one decimal; 0.4 tok/s are more than two pixels.
        assert drawn_low == pytest.approx(expected, abs=0.2)


def widest_line(page: Any, chart_id: str, figure_id: str) -> tuple[float, float]:
    """Start and end of the longest horizontal line in a figure's mark of the wide drawing."""
    chart = next(e for e in page.iter("figure") if e.get("id") == chart_id)
    drawing = next(iter(chart.iter("svg")))
    mark = next(e for e in drawing.iter("a") if e.get("data-figure") == figure_id)
    lines = [
        tuple(sorted((float(match[1]), float(match[3]))))
        for path in mark.iter("path")
        for match in re.finditer(r"M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)(?=M|$)", path.get("d") or "")
        if match[2] == match[4]
    ]
    return max(lines, key=lambda ends: ends[1] - ends[0])  # type: ignore[return-value]


def test_the_summary_enters_the_history(joined: Tree) -> None:
    figure = joined.checked().figures["moe-b12x-decode"]
    assert figure.manifests == ("moe-b12x-raw-1", "moe-b12x-raw-2", "moe-b12x-raw-3")
    [past] = figure.history
    assert past.manifest == "moe-b12x"
    assert past.value is not None
    assert float(past.value.value) == 67.6


def test_one_raw_run_more_or_less_is_seen(tree: Tree) -> None:
    add_raw_runs(tree)
    assert tree.checked().figures["moe-b12x-decode"].n == 3
    tree.remove("results/runs/moe-b12x-raw-2.yaml")
    figure = tree.checked().figures["moe-b12x-decode"]
    assert figure.n == 2
    assert figure.value is not None
    # (63.0 + 71.2) / 2
    assert float(figure.value.value) == 67.1


# A failed build


def undefined_figure(tree: Tree) -> list[str]:
    tree.edit("docs/ru/index.md", 'figure("prompt-gap")', 'figure("promt-gap")')
    line = tree.line_of("docs/ru/index.md", "promt-gap")
    return [f"docs/ru/index.md:{line}:", "(did you mean prompt-gap?)"]


def missing_russian_page(tree: Tree) -> list[str]:
    tree.remove("docs/ru/runs.md")
    return ["docs/ru/runs.md: expected the same page as docs/runs.md; found no such file"]


def three_mistakes(tree: Tree) -> list[str]:
    tree.edit(HEAVY, "value: 43.7", "value: 0")
    tree.edit(HEAVY, "unit: tok/s", "unit: furlongs")
    tree.edit(HEAVY, "  chip: GB10\n", "")
    return [
        f"{HEAVY}:{tree.line_of(HEAVY, 'value: 0')}:",
        f"{HEAVY}:{tree.line_of(HEAVY, 'furlongs')}:",
        "system.chip: expected this key",
    ]


def broken_macro(tree: Tree) -> list[str]:
    tree.edit("docs/index.md", '{{ figure("prompt-gap") }}', '{{ figure("prompt-gap" }}')
    line = tree.line_of("docs/index.md", 'prompt-gap" }}')
    return [f"docs/index.md:{line}:"]


@pytest.mark.parametrize("mistake", [undefined_figure, missing_russian_page, three_mistakes, broken_macro])
def test_a_failed_build_names_the_place_and_leaves_the_last_site(
    mistake: Callable[[Tree], list[str]], tree: Tree
) -> None:
    last = {"index.html": b"the last good page", "ru/index.html": "последняя".encode(), "charts/a.svg": b"<svg/>"}
    for name, content in last.items():
        tree.write(f"site/{name}", content)
    messages = mistake(tree)
    outcome = tree.build()
    assert outcome.code != 0
    for message in messages:
        assert message in outcome.output
    kept = {p.relative_to(tree.site).as_posix(): p.read_bytes() for p in tree.site.rglob("*") if p.is_file()}
    assert kept == last


def test_a_build_prints_its_steps_and_nothing_else(build_once: BuildOnce, site: Path) -> None:
    _, outcome = build_once("joined", add_raw_runs, Tree.build)
    first, *others, last = outcome.output.splitlines()
    assert (first, last) == ("Building both languages …", "Built site/")
    assert [line for line in others if not line.startswith("site_url is not set")] == []


def test_a_warning_is_printed_and_stops_the_build_which_leaves_the_last_site(tree: Tree) -> None:
    """It stops at the very end, when the whole new site is there, as it does where the gate finds something."""
    tree.write("site/index.html", "the last good page")
    for page in ("docs/runs.md", "docs/ru/runs.md"):
        tree.append(page, "\n[A page](no-such-page.md) that is not there.\n")
    outcome = tree.build()
    assert outcome.code == 1
    assert "WARNING" in outcome.output
    assert "'runs.md' contains a link 'no-such-page.md'" in outcome.output
    assert "strict mode" in outcome.output
    assert "INFO" not in outcome.output
    assert [p.name for p in tree.site.rglob("*")] == ["index.html"]
    assert tree.read("site/index.html") == "the last good page"
    assert left_behind(tree) == []


def left_behind(tree: Tree) -> list[str]:
    return [p.name for p in (tree.root / ".build").iterdir() if p.name != "lock"]


@pytest.mark.parametrize("cut", [signal.SIGINT, signal.SIGKILL])
def test_a_build_that_is_cut_off_leaves_the_last_site(site: Path, tree: Tree, cut: signal.Signals) -> None:
    tree.write("site/index.html", "the last good page")
    # It waits there, with the new site all but finished.
    tree.edit("macros/finish.py", "    clean(site_dir)\n", "    import time; time.sleep(90)\n    clean(site_dir)\n")
    tree.take_cache()
    process = subprocess.Popen(
        [sys.executable, "-m", "macros.build"],
        cwd=tree.root, env=os.environ | {"PYTHONPATH": str(tree.root)}, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        # Where the tests run in the background, the shell has switched the signal off for all that they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    while process.poll() is None and not list((tree.root / ".build").glob("*/site/data/manifests/*")):
        time.sleep(0.05)
    # As a terminal does it: the whole group gets the signal.
    os.killpg(process.pid, cut)
    _, said = process.communicate()
    assert process.returncode == (130 if cut == signal.SIGINT else -cut)
    if cut == signal.SIGINT:
        assert "site/ is as it was" in said
        assert "macros/build.py" not in said, "a traceback"
    assert [p.name for p in tree.site.rglob("*")] == ["index.html"]
    # The next build takes the rest away, whether it succeeds or not.
    tree.append("docs/index.md", '\n{{ figure("no-such") }}\n')
    assert tree.build().code == 1
    assert left_behind(tree) == []
    assert tree.read("site/index.html") == "the last good page"


def test_a_build_that_was_cut_off_between_the_two_renames_is_put_right(tree: Tree) -> None:
    tree.write(".build/left/last/index.html", "the last good page")
    tree.write(".build/left/site/index.html", "a new page that nobody has seen yet")
    tree.append("docs/index.md", '\n{{ figure("no-such") }}\n')
    assert tree.build().code == 1
    assert tree.read("site/index.html") == "the last good page"
    assert left_behind(tree) == []


def test_no_folder_to_build_in_is_said(tree: Tree) -> None:
    tree.write(".build", "a file")
    outcome = tree.build()
    assert outcome.code == 1
    assert outcome.output.strip() == ".build: expected a folder to build in; found File exists"
