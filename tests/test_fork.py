"""Another model on another machine, as CONTRIBUTING describes it: at most six files, none of them Python."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
from lxml import html

from tests import example_manifests
from tests.conftest import LANGUAGES, ROOT, BuildOnce, Tree, data_texts, read_page

LANE = {
    "results/figures.yaml": """
other-model-decode:
  label: { en: decode rate on the other machine, ru: скорость декодирования на другой машине }
  question: other
  select: { quantity: decode_rate, where: { model.name: Other Model, system.device: Other Box } }
other-model-slow:
  label: { en: decode rate of its heavy prompt, ru: скорость декодирования с тяжёлым промптом }
  question: prompt
  select: { quantity: decode_rate, where: { model.name: Other Model Slow, system.device: Other Box } }
""",
    "results/statements.yaml": """
other-model-differs:
  text: { en: The heavy prompt is slower there too., ru: Тяжёлый промпт и там медленнее. }
  holds: { kind: ordering, of: [other-model-decode, other-model-slow] }
""",
    "results/charts.yaml": """
other-lane:
  title: { en: Two prompts on the other machine, ru: Два промпта на другой машине }
  axis: { en: tokens per second, ru: токены в секунду }
  caption: { en: Each run on its own., ru: Каждый прогон отдельно. }
  alternative: { en: "The light prompt decodes at {other-model-decode}.", ru: "Лёгкий промпт: {other-model-decode}." }
  from_zero: true
  page: other-lane/
  rows:
    - { label: { en: light, ru: лёгкий }, question: prompt, figures: [other-model-decode] }
    - { label: { en: heavy, ru: тяжёлый }, question: prompt, figures: [other-model-slow] }
""",
    "docs/other-lane.md": """---
title: The other machine
description: The other model decodes at {{ plain("other-model-decode") }} tok/s.
---

# The other machine { #top }

{{ states("other-model-differs") }}The heavy prompt is slower there too: {{ figure("other-model-slow") }}
against {{ figure("other-model-decode") }}.

{{ chart("other-lane") }}
""",
    "docs/ru/other-lane.md": """---
title: Другая машина
description: Другая модель декодирует {{ plain("other-model-decode") }} tok/s.
---

# Другая машина { #top }

{{ states("other-model-differs") }}Тяжёлый промпт и там медленнее: {{ figure("other-model-slow") }}
против {{ figure("other-model-decode") }}.

{{ chart("other-lane") }}
""",
}
MENU = (
    ("      - Context depth: depth-curve.md\n", "      - The other machine: other-lane.md\n"),
    ("            Context depth: Глубина контекста\n", "            The other machine: Другая машина\n"),
)
RUNS = {
    "results/runs/other-fast.yaml": example_manifests.raw("other-fast", "31.4"),
    "results/runs/other-slow.yaml": example_manifests.raw("other-slow", "12.9"),
}


def add_lane(tree: Tree) -> None:
    for file, text in LANE.items():
        tree.write(file, (tree.read(file) if (tree.root / file).exists() else "") + text)
    for before, after in MENU:
        tree.edit("mkdocs.yml", before, before + after)
    for (file, text), name in zip(RUNS.items(), ("Other Model", "Other Model Slow"), strict=True):
        text = text.replace("device: DGX Spark", "device: Other Box").replace("chip: GB10", "chip: null")
        text = text.replace("_requested: auto", "_requested: null").replace("_active: DEEPGEMM_MXFP4", "_active: null")
        tree.write(file, text.replace("name: DeepSeek-V4-Flash", f"name: {name}"))


def state(root: Path) -> dict[str, str]:
    return {
        p.relative_to(root).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in root.rglob("*")
        if p.is_file() and not {"__pycache__", ".cache", "site", ".build"} & set(p.parts)
    }


def test_six_files_change_and_none_is_python(tree: Tree) -> None:
    before = state(tree.root)
    add_lane(tree)
    after = state(tree.root)
    changed = {name for name in after if after[name] != before.get(name)} - RUNS.keys()
    assert len(changed) <= 6
    assert not [name for name in changed if name.endswith(".py")]
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    section = text[text.index("## Another model") :]
    named = set(re.findall(r"`((?:results|docs|mkdocs)[\w./-]*)`", section))
    assert {re.sub(r"other-lane", "LANE", name) for name in changed} <= named | {"docs/LANE.md", "docs/ru/LANE.md"}
    outcome = tree.check()
    assert outcome.ok, outcome.output


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_second_lane_is_on_the_built_site(language: str, build_once: BuildOnce, site: Path) -> None:
    tree, outcome = build_once("fork", add_lane, Tree.build)
    assert outcome.ok, outcome.output
    page = read_page(tree.site, language, "other-lane")
    assert data_texts(page, "other-model-decode")[0] == "31.4"
    assert "figure" in html.tostring(page.xpath("//figure[@id='chart-other-lane']")[0], encoding="unicode")
    assert (tree.site / f"charts/other-lane.{language}.png").exists()
