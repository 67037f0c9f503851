"""Quotes: what a number takes along when it leaves the page. Expected facts are those of the sources."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from macros import binding, quotes, state
from macros.render import Renderer
from tests.conftest import ROOT

ADDRESS = "https://example.org/"


def figures(site: Path) -> dict[str, Any]:
    return {f["id"]: f for f in json.loads((site / "data/figures.json").read_text("utf-8"))["figures"]}


@pytest.mark.parametrize(
    ("figure", "english", "russian"),
    [
        (
            "moe-b12x-decode",
            [
                "67.6 tok/s",
                "mean",
                "62.6–71.0",
                "client-side",
                "c=1",
                "2 DGX Spark nodes",
                "B12X_MXFP4",
                "date not published",
            ],
            [
                "67.6 tok/s",
                "среднее",
                "62.6–71.0",
                "замер на клиенте",
                "c=1",
                "на 2 узлах DGX Spark",
                "дата не опубликована",
            ],
        ),
        (
            "code-c12-aggregate",
            ["260.4 tok/s", "c=12", "18–24%", "12 requests in flight"],
            ["260.4 tok/s", "c=12", "18–24%", "12 одновременных запросов"],
        ),
        ("aggregate-over-single", ["4×", "c=1", "c=12", "18–24%"], ["4×", "c=1", "c=12", "18–24%"]),
        (
            "moe-gain",
            ["13%", "67.6 tok/s", "59.7 tok/s", "A / B − 1"],
            ["13%", "67.6 tok/s", "59.7 tok/s", "A / B − 1"],
        ),
        ("model-card-claim", ["57 tok/s", "vantage not stated", "concurrency not stated"], ["57 tok/s", "не указан"]),
    ],
)
def test_a_quote_holds_its_caveats(site: Path, figure: str, english: list[str], russian: list[str]) -> None:
    entry = figures(site)[figure]
    for language, wanted in (("en", english), ("ru", russian)):
        said = entry["quote"][language].replace("\u00a0", " ")
        for part in wanted:
            assert part in said
        assert said.endswith(entry["url"][language])


def test_every_quote_has_value_vantage_concurrency_and_permalink(site: Path) -> None:
    words = {
        "en": (("client-side", "engine-side", "in process", "vantage"), "c=", "concurrency"),
        "ru": (("замер на", "замер в", "точк"), "c=", "числ"),
    }
    for entry in figures(site).values():
        for language, (vantage, concurrency, unknown) in words.items():
            said = entry["quote"][language]
            assert entry["text"][language] in said
            assert any(word in said for word in vantage), said
            assert concurrency in said or unknown in said, said
            assert said.endswith(f"figures/#{entry['id']}")


def test_a_superseded_figure_says_so_first(site: Path) -> None:
    said = figures(site)["step-gain-client"]["quote"]
    assert said["en"].startswith("Superseded")
    assert "9–12%" in said["en"]
    assert "was 16–18%" in said["en"]
    assert said["ru"].startswith("Заменено")
    assert "9–12%" in said["ru"]


@pytest.mark.parametrize("folder", ["", "ru/"])
def test_quotes_stand_in_the_page_without_a_script(site: Path, folder: str) -> None:
    tree = html.parse(str(site / folder / "figures/index.html"))
    language = folder.rstrip("/") or "en"
    for figure_id, entry in figures(site).items():
        section = tree.xpath(f'//section[@id="{figure_id}"]')[0]
        said = section.xpath('.//div[@class="copyable quote"]/p')[0].text_content()
        assert said.replace("\u00a0", " ") == entry["quote"][language].replace("\u00a0", " ")
        assert section.xpath('.//div[@class="copyable markdown"]//code')[0].text_content().startswith("> ")
        assert all(button.get("hidden") is not None for button in section.xpath(".//button"))


def test_markdown_cannot_be_broken_out_of() -> None:
    page = Renderer(state.load(ROOT), "en", "")
    figure = page.site.figures["moe-auto-decode"]
    said = binding.strip(quotes.markdown(figure, page, ADDRESS))
    assert said.startswith("> The decode rate")
    assert "DEEPGEMM\\_MXFP4" in said
    assert said.endswith("[Permanent link](https://example.org/figures/#moe-auto-decode)")


def test_russian_counts_agree() -> None:
    page = Renderer(state.load(ROOT), "ru", "")
    forms = {n: page.locale.plural(n, "quote_requests") for n in (2, 5, 12, 21)}
    assert forms == {
        2: "одновременных запроса",
        5: "одновременных запросов",
        12: "одновременных запросов",
        21: "одновременный запрос",
    }
