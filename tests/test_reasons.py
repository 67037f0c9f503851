"""The reasons: complete, in both languages, with examples from the register and public sources."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lxml import html

from macros import reasons, strict_yaml
from macros import site as sites
from macros.reasons import PIECE
from macros.render import PageError, Renderer
from tests.conftest import ROOT

RESULTS = ROOT / "results"
ALL = reasons.read(RESULTS)
OPEN = reasons.contradictions(RESULTS)


def test_there_are_sixteen_each_with_an_example_and_a_source() -> None:
    assert len(ALL) == 16
    published = {path.stem for path in (RESULTS / "published").glob("*.yaml")}
    for name, reason in ALL.items():
        assert reason.entries(), name
        assert set(reason.entries()) <= published, name
        assert all(s.url.startswith("https://github.com/") for s in reason.sources), name


@pytest.mark.parametrize("name", ALL)
def test_both_languages_print_the_same_figures(name: str) -> None:
    reason = ALL[name]
    for text in (reason.title, reason.what, reason.detect, reason.example):
        en, ru = reasons.placeholders(text)
        assert en == ru, name
        assert re.search("[а-яё]", text.ru)
        assert not re.search("[а-яё]", text.en)


@pytest.mark.parametrize("name", OPEN)
def test_contradictions_print_the_same_figures_in_both_languages(name: str) -> None:
    en, ru = reasons.placeholders(OPEN[name])
    assert en == ru


def test_no_number_is_typed_and_the_compilers_own_remarks_are_left_out() -> None:
    for file in ("reasons.yaml", "contradictions.yaml"):
        data, _, problems = strict_yaml.read(RESULTS / file, file)
        assert not problems
        for entry in data.values():
            texts = [t for part in entry.values() if isinstance(part, dict) for t in part.values()]
            texts += [t for t in entry.values() if isinstance(t, str)]
            for text in texts:
                own = PIECE.sub(" ", text)
                own = re.sub(r"FP[48]|B12X|tonyd2wild", "", own)
                assert not re.search(r"\d", own), own
                assert not re.search(r"my remark|my arithmetic|untested|misleading|inflated|\bwrong\b", own, re.I), own


def test_an_unknown_entry_or_value_stops_the_build() -> None:
    page = Renderer(sites.load(RESULTS), "en", "../")
    for name in ("no-such-entry", "tony-0729-count300/99", "tony-0729-count300/r0"):
        with pytest.raises(PageError):
            reasons.published(page, name)


def test_values_print_as_their_sources_print_them() -> None:
    page = Renderer(sites.load(RESULTS), "en", "../")

    def shown(name: str) -> str:
        return html.fromstring(reasons.published(page, name)).text_content().strip("\ue000\ue001").replace("\ue001", "")

    assert shown("tony-0731-sse-vs-usage") == "14.7\u00a0tok/s"
    assert shown("tony-0731-sse-vs-usage/0") == "60.1\u00a0tok/s"
    assert shown("anemll-c4-512/r1") == "103.48\u00a0tok/s"
    assert shown("mia58-cyrus104") == "33.0–41.0\u00a0tok/s"


@pytest.mark.parametrize("folder", ["", "ru/"])
def test_the_page_shows_each_reason_with_a_linked_example(site: Path, folder: str) -> None:
    page = html.parse(site / f"{folder}reasons/index.html").getroot()
    register = html.parse(site / f"{folder}published/index.html").getroot()
    anchors = set(register.xpath("//tr/@id"))
    assert len(page.xpath("//section[@class='reason']")) == 16
    assert len(page.xpath("//ol[@class='reasons']/li")) == 16
    for section in page.xpath("//section[@class='reason']"):
        targets = [href.split("#")[1] for href in section.xpath(".//a[@class='figure']/@href")]
        assert targets, section.get("id")
        assert set(targets) <= anchors
    assert len(page.xpath("//ul[@class='open']/li")) == len(OPEN)


@pytest.mark.parametrize("folder", ["", "ru/"])
def test_the_same_digits_with_other_meanings(site: Path, folder: str) -> None:
    text = html.parse(site / f"{folder}reasons/index.html").getroot().text_content()
    section = text[text.index("tonyd2wild over a suite" if not folder else "Среднее tonyd2wild") - 120 :][:700]
    assert section.count("67.6") == 2
    assert section.count("43.7") == 2
