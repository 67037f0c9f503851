"""The built explainer: every figure in both languages as facts.md gives it, anchors, links, charts, languages."""

from __future__ import annotations

import functools
import re
import struct
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest
from lxml import etree, html

from macros import checks
from tests.conftest import LANGUAGES, ROOT, data_elements, page_file, read_page

SVG = "{http://www.w3.org/2000/svg}"
HOST = "https://site.test/"

# The ids of design.md section 1 → printed text (facts.md section 2) and machine value, worked out in test_figures.py.
FIGURES = {
    "moe-auto-decode": ("59.7", "59.7"),
    "moe-b12x-decode": ("67.6", "67.6"),
    "moe-gain": ("13%", None),
    "moe-gain-range": ("4–20%", None),
    "moe-auto-span": ("59.0–60.1", "59.0/60.1"),
    "moe-b12x-span": ("62.6–71.0", "62.6/71.0"),
    "moe-auto-spread": ("2%", None),
    "moe-b12x-spread": ("12%", None),
    "code-c1-decode": ("65.5", "65.5"),
    "heavy-c1-decode": ("43.7", "43.7"),
    "code-c12-aggregate": ("260.4", "260.4"),
    "aggregate-over-single": ("4×", None),
    "aggregate-spread": ("18–24%", "18/24"),
    "step-gain-client": ("16–18%", "16/18"),
    "step-gain-engine": ("9–12%", "9/12"),
    "bringup-decode": ("42.5", "42.5"),
    "model-card-claim": ("57", "57"),
    "bringup-shortfall": ("25%", None),
    "image-gain": ("22%", "22"),
    "tokens-per-step-before": ("3.27", "3.27"),
    "tokens-per-step-after": ("4.80", "4.80"),
    "tokens-per-step-gain": ("47%", None),
    "prompt-gap": ("1.50×", None),
    "moe-gain-longread": ("13.3%", "13.3"),
    "moe-gain-rounding": ("13.1–13.4%", None),
    "headline-range": ("57–71", None),
    "unexplained-factor": ("1.15×", None),
}
ANCHORS = [
    "moe-backend",
    "prompt",
    "vantage",
    "concurrency",
    "runtime-image",
    "which-number",
    "error-bars",
    "limits",
    "conflicting-number",
    "reproduce",
    "related",
]
HEADINGS = ("h1", "h2", "h3", "h4")


def site_pages(site: Path) -> list[Path]:
    return sorted(p for p in site.rglob("*.html") if p.name != "404.html")


def url_of(file: Path, site: Path) -> str:
    return urljoin(HOST, file.relative_to(site).as_posix().removesuffix("index.html"))


def file_at(url: str, site: Path) -> Path:
    path = unquote(urldefrag(url).url.removeprefix(HOST))
    return site / path / "index.html" if path == "" or path.endswith("/") else site / path


@functools.cache
def page_tree(file: Path) -> Any:
    return html.document_fromstring(file.read_text("utf-8"))


@functools.cache
def ids_of(file: Path) -> frozenset[str]:
    return frozenset(ids(page_tree(file)))


def ids(tree: Any) -> list[str]:
    return [e.get("id") for e in tree.iter() if isinstance(e.tag, str) and e.get("id")]


# Figures


@pytest.mark.parametrize("figure_id", FIGURES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_figure_stands_on_the_page(language: str, figure_id: str, pages: dict[str, Any]) -> None:
    printed, machine = FIGURES[figure_id]
    found = data_elements(pages[language], figure_id)
    texts = [e.text_content() for e in found]
    assert printed in texts
    # A counted factor («в 1.50 раза») has its sign outside, as a word.
    assert set(texts) <= {printed, printed.removesuffix("×")}
    for element in found:
        assert element.get("value")
        assert machine is None or element.get("value") == machine


def test_machine_values_are_numbers_and_ranges_have_two_ends(site: Path) -> None:
    for file in site_pages(site):
        for element in page_tree(file).iter("data"):
            text, value = element.text_content(), element.get("value")
            if element.get("data-figure") is None:
                continue
            assert element.get("class") == "figure"
            ends = str(value).split("/")
            assert [float(end) for end in ends], text
            assert len(ends) == (2 if re.search(r"\d–", text) else 1), f"{text} {value} on {file}"


def test_every_figure_links_to_its_entry_in_its_language(site: Path) -> None:
    followed = 0
    for file in site_pages(site):
        language = "ru" if file.relative_to(site).parts[0] == "ru" else "en"
        entries = page_file(site, language, "figures")
        for link in page_tree(file).iter("a"):
            inside = [e.get("data-figure") for e in link.iter("data")]
            named = inside[0] if inside else link.get("data-figure")
            if not named:
                continue
            url = urljoin(url_of(file, site), link.get("href"))
            target = file_at(url, site)
            assert urldefrag(url).fragment == named, f"{link.get('href')} on {file}"
            assert named in ids_of(target), f"{link.get('href')} on {file}"
            # A mark of a drawing may stand for others' figures, or for a run without a result, which has no figure.
            elsewhere = [page_file(site, language, name) for name in ("runs", "published")]
            assert target == entries or (not inside and target in elsewhere)
            followed += 1
    assert followed > 2 * len(FIGURES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_figure_of_the_explainer_is_linked_but_in_headings(language: str, pages: dict[str, Any]) -> None:
    for element in pages[language].iter("data"):
        if element.get("class") != "figure":
            continue
        outer = [a.tag for a in element.iterancestors()]
        assert "a" in outer or any(tag in HEADINGS for tag in outer), element.get("data-figure")
    for heading in pages[language].iter(*HEADINGS):
        for link in heading.iter("a"):
            assert "figure" not in (link.get("class") or "").split()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_defined_figure_has_one_entry(language: str, site: Path) -> None:
    there = ids(read_page(site, language, "figures"))
    for figure_id in checks.checked(ROOT)[0].figures:
        assert there.count(figure_id) == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_superseded_figures_are_marked(language: str, pages: dict[str, Any]) -> None:
    word = {"en": "superseded", "ru": "заменено новым замером"}[language]
    prose = [e for e in data_elements(pages[language], "step-gain-client") if not under(e, "table")]
    assert prose
    for element in prose:
        assert under(element, "s")
        link = next(a for a in element.iterancestors() if a.tag == "a")
        after = link.getnext()
        assert after is not None
        assert word in after.text_content().replace("\u00a0", " ")


def under(element: Any, tag: str) -> bool:
    return any(a.tag == tag for a in element.iterancestors())


@pytest.mark.parametrize("language", LANGUAGES)
def test_spans_stand_beside_the_arms(language: str, pages: dict[str, Any]) -> None:
    section = text_of_section(pages[language], "moe-backend")
    assert re.search(r"59\.7\s*tok/s\s*\(59\.0–60\.1\)", section)
    assert re.search(r"67\.6\s*tok/s\s*\(62\.6–71\.0\)", section)


def text_of_section(tree: Any, anchor: str) -> str:
    """The text from one h2 to the next."""
    heading = next(e for e in tree.iter("h2") if e.get("id") == anchor)
    parts = [heading.text_content()]
    for sibling in heading.itersiblings():
        if sibling.tag == "h2":
            break
        parts.append(sibling.text_content())
    return " ".join(parts).replace("\u00a0", " ")


# Sections, links and languages


@pytest.mark.parametrize("language", LANGUAGES)
def test_fixed_anchors_in_order(language: str, pages: dict[str, Any]) -> None:
    headings = [e.get("id") for e in pages[language].iter("h2") if e.get("id") in ANCHORS]
    assert headings == ANCHORS


def outline(tree: Any) -> tuple[list[str], list[tuple[str, str]]]:
    """The ids of headings and charts in order, and (section, figure or code block), sorted: words may change places."""
    anchors, content, section = [], [], ""
    for e in tree.iter(*HEADINGS, "data", "figure", "pre"):
        if e.get("id"):
            anchors.append(f"{e.tag}#{e.get('id')}")
            section = e.get("id") if e.tag in HEADINGS else section
        elif e.get("data-figure"):
            content.append((section, e.get("data-figure")))
        elif e.tag == "pre":
            content.append((section, e.text_content()))
    return anchors, sorted(content)


def test_both_languages_have_the_same_sections_figures_and_charts(pages: dict[str, Any]) -> None:
    anchors, content = outline(pages["en"])
    assert {figure_id for _, figure_id in content} >= set(FIGURES)
    assert {f"h2#{anchor}" for anchor in ANCHORS} <= set(anchors)
    assert (anchors, content) == outline(pages["ru"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_ids_are_unique(language: str, pages: dict[str, Any]) -> None:
    found = ids(pages[language])
    assert len(found) == len(set(found))


def test_every_link_inside_the_site_arrives(site: Path) -> None:
    broken = []
    for file in site_pages(site):
        for element in page_tree(file).iter("a"):
            href = element.get("href") or ""
            url = urljoin(url_of(file, site), href)
            if not href or not url.startswith(HOST):
                continue
            target, fragment = file_at(url, site), unquote(urldefrag(url).fragment)
            lost = fragment and target.suffix == ".html" and target.exists() and fragment not in ids_of(target)
            if lost or not target.exists():
                broken.append(f"{href} on {file}")
    assert broken == []


def test_content_links_stay_in_their_language(site: Path) -> None:
    for file in site_pages(site):
        russian = file.relative_to(site).parts[0] == "ru"
        article = next(iter(page_tree(file).iter("article")))
        for link in article.iter("a"):
            if link.get("hreflang"):
                continue
            url = urljoin(url_of(file, site), link.get("href") or "")
            if url.startswith(HOST) and file_at(url, site).suffix == ".html":
                assert url.startswith(HOST + "ru/") == russian, f"{link.get('href')} on {file}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_language_and_alternates(language: str, site: Path) -> None:
    for file in site_pages(site):
        name = file.relative_to(site).as_posix()
        if (name.split("/")[0] == "ru") != (language == "ru"):
            continue
        tree = page_tree(file)
        assert tree.get("lang") == language
        alternates = {
            e.get("hreflang"): urljoin(url_of(file, site), e.get("href"))
            for e in tree.iter("link")
            if e.get("rel") == "alternate"
        }
        page = name.removeprefix("ru/").removesuffix("index.html")
        assert urlsplit(alternates["en"]).path == f"/{page}"
        assert urlsplit(alternates["ru"]).path == f"/ru/{page}"


def test_every_page_exists_in_both_languages(site: Path) -> None:
    names = {file.relative_to(site).as_posix() for file in site_pages(site)}
    english = {n for n in names if not n.startswith("ru/")}
    assert {f"ru/{n}" for n in english} == names - english


# Charts


@pytest.mark.parametrize("language", LANGUAGES)
def test_charts_of_the_explainer(language: str, pages: dict[str, Any], site: Path) -> None:
    charts = [e for e in pages[language].iter("figure") if (e.get("id") or "").startswith("chart-")]
    assert len(charts) >= 5
    for chart in charts:
        chart_id = chart.get("id").removeprefix("chart-")
        assert (site / f"charts/{chart_id}.{language}.svg").exists()
        assert (site / f"charts/{chart_id}.{language}.png").exists()
        drawings = list(chart.iter("svg"))
        assert len(drawings) == 2, "a wide and a narrow drawing"
        for drawing in drawings:
            assert drawing.get("aria-label")
            assert any("".join(t.itertext()).strip() for t in drawing.iter("text"))
        [table] = chart.iter("table")
        assert under(table, "details")
        shown = {e.get("data-figure") for e in table.iter("data")}
        assert shown, f"the data table of {chart_id} has no figures"
        # What is drawn is in the table.
        assert {e.get("data-figure") for e in chart.iter("a") if e.get("data-figure")} <= shown
        [caption] = chart.iter("figcaption")
        assert len(caption.text_content()) > 20


def chart_files(site: Path, suffix: str) -> list[Path]:
    found = sorted((site / "charts").glob(f"*.{suffix}"))
    assert {f.name.split(".")[0] for f in found} == set(checks.checked(ROOT)[0].charts)
    assert len(found) == len({f.name for f in found})
    return found


def test_svg_files_hold_real_text(site: Path) -> None:
    for file in chart_files(site, "svg"):
        root = etree.parse(str(file)).getroot()
        texts = ["".join(e.itertext()) for e in root.iter(f"{SVG}text")]
        language = file.name.split(".")[1]
        assert bool(re.search("[а-яё]", " ".join(texts))) == (language == "ru"), file.name
        assert root.get("{http://www.w3.org/XML/1998/namespace}lang") == language
        assert root.find(f"{SVG}title") is not None


def test_chart_files_print_the_figures(site: Path) -> None:
    expected = {"moe-arms": ("59.7", "67.6"), "vantages": ("16–18%", "9–12%"), "concurrency": ("260.4",)}
    for chart_id, printed in expected.items():
        for language in LANGUAGES:
            text = (site / f"charts/{chart_id}.{language}.svg").read_text("utf-8")
            for number in printed:
                assert number in text


def test_pictures_are_1560_pixels_wide(site: Path) -> None:
    for file in chart_files(site, "png"):
        raw = file.read_bytes()
        assert raw[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">I", raw[16:20]) == (1560,)


def test_the_overview_holds_every_single_stream_figure(pages: dict[str, Any]) -> None:
    single = {
        "moe-auto-decode",
        "moe-b12x-decode",
        "code-c1-decode",
        "heavy-c1-decode",
        "bringup-decode",
        "model-card-claim",
    }
    for language in LANGUAGES:
        chart = next(e for e in pages[language].iter("figure") if e.get("id") == "chart-overview")
        assert single | {"code-c12-aggregate"} <= {e.get("data-figure") for e in chart.iter("data")}


# What must not be there


def test_no_mark_of_the_build_is_left(site: Path) -> None:
    for file in site.rglob("*"):
        if file.suffix in (".html", ".json", ".svg", ".xml", ".txt", ".md", ".csv"):
            text = file.read_text("utf-8")
            assert not re.search("[\ue000-\uf8ff]|\\\\ue00", text), file
            # A macro that was not run; BibTeX has double braces of its own.
            assert not re.search(r"\{\{\s*\w+\(|\{%", text), file


def test_nothing_is_fetched_from_another_host(site: Path) -> None:
    for file in site_pages(site):
        for element in page_tree(file).iter("script", "link", "img", "iframe", "source"):
            for name in ("src", "href"):
                url = element.get(name) or ""
                if element.tag == "link" and element.get("rel") in ("canonical", "alternate", "next", "prev"):
                    continue
                assert not re.match(r"(https?:)?//", url), f"{url} on {file}"


def test_statements_that_were_checked_stand_at_the_foot(pages: dict[str, Any]) -> None:
    for language in LANGUAGES:
        [foot] = [e for e in pages[language].iter("details") if "statements" in (e.get("class") or "")]
        items = [e.text_content() for e in foot.iter("li")]
        assert len(items) >= 10
        assert any("62.6–71.0" in item and "59.0–60.1" in item for item in items)
