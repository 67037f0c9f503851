"""Heads of pages as a link preview, a search engine and a reader of links see them."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin

import pytest
from lxml import etree, html

from tests.conftest import BuildOnce, Tree

LOCALHOST = "http://127.0.0.1:8000/"
PAGES = ("", "figures/", "runs/", "corrections/", "data/")


def pages(site: Path) -> Iterator[tuple[str, Any]]:
    """(address below the site's root, tree) of every page but the one for missing pages."""
    for path in sorted(site.rglob("*.html")):
        if path.name != "404.html":
            yield path.relative_to(site).as_posix().removesuffix("index.html"), html.parse(str(path)).getroot()


def meta(tree: Any, name: str) -> str:
    found = tree.xpath(f'//meta[@property="{name}" or @name="{name}"]/@content')
    assert len(found) == 1, name
    return str(found[0])


def test_every_page_has_a_whole_head(site: Path) -> None:
    for name, tree in pages(site):
        language = "ru" if name.startswith("ru/") else "en"
        path = name.removeprefix("ru/")
        assert len(tree.findtext(".//title")) > 5
        assert len(meta(tree, "description")) > 20
        assert tree.xpath('//link[@rel="canonical"]/@href') == [LOCALHOST + name]
        alternates = {a.get("hreflang"): a.get("href") for a in tree.xpath('//link[@rel="alternate"][@hreflang]')}
        assert alternates == {"en": LOCALHOST + path, "ru": f"{LOCALHOST}ru/{path}", "x-default": LOCALHOST + path}
        assert meta(tree, "og:title") == meta(tree, "twitter:title") != ""
        assert meta(tree, "og:description") == meta(tree, "description") == meta(tree, "twitter:description")
        assert meta(tree, "og:url") == LOCALHOST + name
        assert meta(tree, "og:locale") == {"en": "en_US", "ru": "ru_RU"}[language]
        assert meta(tree, "twitter:card") == "summary_large_image"
        assert meta(tree, "og:image") == f"{LOCALHOST}social/overview.{language}.png"
        assert meta(tree, "og:image:alt")
        for image in tree.iter("img"):
            assert image.get("alt"), name


def test_the_home_says_the_range(site: Path) -> None:
    for folder in ("", "ru/"):
        tree = html.parse(str(site / folder / "index.html")).getroot()
        for text in (tree.findtext(".//title"), meta(tree, "description"), meta(tree, "og:title")):
            assert "57–71 tok/s" in text.replace("\u00a0", " ")


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_preview_picture_has_its_size(site: Path, language: str) -> None:
    head = (site / f"social/overview.{language}.png").read_bytes()[:24]
    assert struct.unpack(">II", head[16:24]) == (1200, 630)


@pytest.mark.parametrize("folder", ["", "ru/"])
def test_json_ld(site: Path, folder: str) -> None:
    tree = html.parse(str(site / folder / "index.html"))
    blocks = [json.loads(s) for s in tree.xpath('//script[@type="application/ld+json"]/text()')]
    found = {block["@type"]: block for block in blocks}
    dataset = found["Dataset"]
    assert 50 <= len(dataset["description"]) <= 5000
    assert dataset["name"]
    assert dataset["license"] == "https://spdx.org/licenses/CC-BY-4.0.html"
    assert dataset["creator"] == {"@type": "Organization", "name": "botAGI"}
    assert all(v["@type"] == "PropertyValue" and v["name"] and v["unitText"] for v in dataset["variableMeasured"])
    assert dataset["measurementTechnique"]
    for download in dataset["distribution"]:
        assert (site / download["contentUrl"].removeprefix(LOCALHOST)).is_file()
        assert download["encodingFormat"]
    article = found["TechArticle"]
    assert "57–71" in article["headline"]
    assert article["inLanguage"] == (folder.rstrip("/") or "en")
    assert not [key for block in blocks for key in block if key.startswith("date")], "no date is published"


def test_sitemap_is_absolute_with_alternates(site: Path) -> None:
    spaces = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9", "x": "http://www.w3.org/1999/xhtml"}
    tree = etree.parse(str(site / "sitemap.xml"))
    listed = {url.findtext("s:loc", "", spaces): url for url in tree.iterfind("s:url", spaces)}
    assert {LOCALHOST + name for name, _ in pages(site)} == set(listed)
    for url in listed.values():
        links = {a.get("hreflang"): a.get("href") for a in url.iterfind("x:link", spaces)}
        assert set(links) == {"en", "ru"}
        assert all(link.startswith(LOCALHOST) for link in links.values())
    # The day of the build, the same for all pages and the same in the feed.
    day = etree.parse(str(site / "feed.xml")).findtext("{http://www.w3.org/2005/Atom}updated", "")[:10]
    assert {url.findtext("s:lastmod", "", spaces) for url in listed.values()} == {day}


def broken_links(site: Path) -> list[str]:
    """Internal links and anchors that lead nowhere, over all pages."""
    trees = dict(pages(site))
    anchors = {name: {e.get("id") for e in tree.iter() if e.get("id")} for name, tree in trees.items()}
    broken = []
    for name, tree in trees.items():
        for link in tree.xpath("//a/@href | //link/@href | //img/@src | //script/@src"):
            target, _, fragment = urljoin(LOCALHOST + name, str(link)).partition("#")
            if not target.startswith(LOCALHOST):
                continue
            path = unquote(target.removeprefix(LOCALHOST))
            if path in trees:
                if fragment and unquote(fragment) not in anchors[path]:
                    broken.append(f"{name}: {link}")
            elif not (site / path).is_file():
                broken.append(f"{name}: {link}")
    return broken


def test_every_internal_link_arrives(site: Path) -> None:
    assert broken_links(site) == []


def test_the_link_check_finds_what_is_broken(site: Path, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('<p id="a"><a href="#b">x</a><a href="nowhere/">y</a><a href="#a">z</a></p>')
    assert broken_links(tmp_path) == [": #b", ": nowhere/"]


def test_every_figure_leads_to_its_entry_in_its_language(site: Path) -> None:
    for name, tree in pages(site):
        entries = html.parse(str(site / ("ru" if name.startswith("ru/") else "") / "figures/index.html"))
        known = {str(i) for i in entries.xpath('//section[contains(@class, "entry")]/@id')}
        for element in tree.xpath("//data[@data-figure]"):
            assert element.get("data-figure") in known
            for link in element.xpath("ancestor::a[1]/@href"):
                assert urljoin(LOCALHOST + name, str(link)).endswith(f"figures/#{element.get('data-figure')}")


def test_entries_say_where_a_figure_is_used(site: Path) -> None:
    tree = html.parse(str(site / "figures/index.html"))
    links = [str(a) for a in tree.xpath('//section[@id="moe-gain"]//dd[last()]//a/@href')]
    assert "../#moe-backend" in links
    assert "../#vantage" in links
    assert "<!--used" not in etree.tostring(tree, encoding="unicode")


def test_a_release_refuses_localhost(tree: Tree) -> None:
    result = tree.build(SITE_RELEASE="1")
    assert not result.ok
    assert not tree.site.exists()
    assert re.search(r"site_url: expected the site's https address", result.output)


def test_an_unset_address_is_said(site: Path, build_once: BuildOnce) -> None:
    _, outcome = build_once("real", lambda tree: None, Tree.build)  # built already
    assert "site_url is not set" in outcome.output
