"""The built site in a real Chromium, as a reader uses it: languages, links, tables, narrow screens, drawings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import LANGUAGES, Watched, watching
from tests.measure import LAY_OUT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

HOME = {"en": "", "ru": "ru/"}
PHONE = {"width": 390, "height": 844}
SMALLEST_TEXT = 11


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_opens_in_its_language(language: str, watched: Watched) -> None:
    page = watched.open(HOME[language])
    assert page.locator("html").get_attribute("lang") == language
    title = page.locator("h1").inner_text()
    assert "57–71" in title
    assert bool(re.search("[а-яё]", title)) == (language == "ru")
    watched.assert_clean()


@pytest.mark.parametrize(("start", "end"), [("en", "ru"), ("ru", "en")])
def test_the_language_switch_keeps_the_page(start: str, end: str, watched: Watched) -> None:
    page = watched.open(f"{HOME[start]}figures/")
    page.locator(".md-select").first.hover()
    page.locator(f".md-select__link[hreflang={end}]").first.click()
    page.wait_for_url(f"{watched.address}{HOME[end]}figures/**")
    assert page.locator("html").get_attribute("lang") == end
    watched.assert_clean()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_language_switch_keeps_the_section(language: str, watched: Watched) -> None:
    other = {"en": "ru", "ru": "en"}[language]
    page = watched.open(f"{HOME[language]}#error-bars")
    page.locator(".md-select").first.hover()
    page.locator(f".md-select__link[hreflang={other}]").first.click()
    page.wait_for_url(f"{watched.address}{HOME[other]}**")
    assert page.url == f"{watched.address}{HOME[other]}#error-bars"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_figure_leads_to_its_entry(language: str, watched: Watched) -> None:
    page = watched.open(HOME[language])
    link = page.locator("p a.figure", has=page.locator('data[data-figure="prompt-gap"]')).first
    assert link.inner_text() == "1.50×"
    link.click()
    page.wait_for_url(f"{watched.address}{HOME[language]}figures/#prompt-gap")
    entry = page.locator("#prompt-gap")
    assert entry.locator('data[data-figure="prompt-gap"]').first.inner_text() == "1.50×"
    # It has been scrolled to, and no header lies over it.
    box = entry.bounding_box()
    assert box is not None
    assert 0 <= box["y"] < 500
    watched.assert_clean()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_data_table_opens(language: str, watched: Watched) -> None:
    page = watched.open(HOME[language])
    chart = page.locator("#chart-moe-arms")
    cell = chart.locator('table data[data-figure="moe-b12x-decode"]')
    assert not cell.is_visible()
    chart.locator("details", has=page.locator("table")).locator("summary").click()
    assert cell.is_visible()
    assert cell.inner_text() == "67.6"
    watched.assert_clean()


# Drawings on a phone


# Every visible text of every chart: what it says, its size in CSS pixels as drawn, and its box.
TEXTS = """() => [...document.querySelectorAll('figure.chart svg')]
  .filter(svg => svg.getBoundingClientRect().width > 0)
  .map(svg => ({
    chart: svg.closest('figure').id || svg.getAttribute('aria-label').slice(0, 40),
    width: svg.getBoundingClientRect().width,
    texts: [...svg.querySelectorAll('text')].filter(t => t.textContent.trim()).map(t => {
      const box = t.getBoundingClientRect(), scale = t.getScreenCTM().a
      return {text: t.textContent, size: parseFloat(getComputedStyle(t).fontSize) * scale,
              x: box.x, y: box.y, right: box.right, bottom: box.bottom}
    })
  }))"""


@pytest.fixture(scope="module")
def drawings(browser: Browser, address: str) -> Iterator[dict[str, list[dict[str, Any]]]]:
    """The visible drawings of the explainer at 390 pixels, in both languages."""
    context = browser.new_context(viewport=PHONE)  # type: ignore[arg-type]
    page = context.new_page()
    found = {}
    for language in LANGUAGES:
        page.goto(address + HOME[language], wait_until="load")
        found[language] = page.evaluate(TEXTS)
    yield found
    context.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_drawing_of_each_chart_is_visible(language: str, drawings: dict[str, list[dict[str, Any]]]) -> None:
    names = [d["chart"] for d in drawings[language]]
    assert len(names) == len(set(names))
    assert {"chart-overview", "chart-moe-arms", "chart-prompts", "chart-vantages", "chart-concurrency"} <= set(names)
    assert all(d["texts"] for d in drawings[language])


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_of_a_chart_is_too_small(language: str, drawings: dict[str, list[dict[str, Any]]]) -> None:
    small = [
        f"{d['chart']}: {t['text']} {t['size']:.1f}"
        for d in drawings[language]
        for t in d["texts"]
        if t["size"] < SMALLEST_TEXT
    ]
    assert small == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_of_a_chart_do_not_overlap(language: str, drawings: dict[str, list[dict[str, Any]]]) -> None:
    overlapping = []
    for drawing in drawings[language]:
        texts = drawing["texts"]
        for i, a in enumerate(texts):
            for b in texts[i + 1 :]:
                across = min(a["right"], b["right"]) - max(a["x"], b["x"])
                # A line's box is taller than its letters: neighbours may touch by a little of their leading.
                down = min(a["bottom"], b["bottom"]) - max(a["y"], b["y"])
                if across > 0.5 and down > 0.25 * min(a["bottom"] - a["y"], b["bottom"] - b["y"]):
                    overlapping.append(f"{drawing['chart']}: {a['text']!r} and {b['text']!r}")
    assert overlapping == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_of_a_chart_stay_on_the_screen(language: str, drawings: dict[str, list[dict[str, Any]]]) -> None:
    outside = [
        f"{d['chart']}: {t['text']} {t['x']:.0f}–{t['right']:.0f}"
        for d in drawings[language]
        for t in d["texts"]
        if t["x"] < 0 or t["right"] > PHONE["width"]
    ]
    assert outside == []


# The theme's script, which is loaded once the page is touched


BUNDLE = re.compile(r"/bundle\.\w+\.min\.js$")
PLACES = """() => [...document.querySelectorAll("main :is(h1, h2, h3, p, dt, td, nav *), header > *")].map(e => {
  const box = e.getBoundingClientRect()
  return [e.outerHTML.slice(0, 80), Math.round(box.x), Math.round(box.y), Math.round(box.width)]
})"""


def loads_the_theme(page: Page, touch: Callable[[], None]) -> None:
    """`touch` makes the page load the theme's script, which has not been loaded before; returns once it has run."""
    assert page.locator("#theme-bundle").count() == 0
    with page.expect_response(BUNDLE):
        touch()
    page.locator("html.js-focus-visible").wait_for()
    page.wait_for_timeout(300)


@pytest.mark.parametrize(("path", "width"), [("ru/", 390), ("published/", 390), ("ru/figures/", 1280)])
def test_nothing_moves_when_the_theme_comes(path: str, width: int, browser: Browser, address: str) -> None:
    with watching(browser, address, viewport={"width": width, "height": 844}) as watched:
        page = watched.open(path)
        page.evaluate("document.querySelectorAll('main details').forEach(d => d.open = true)")
        page.evaluate(LAY_OUT)
        before = page.evaluate(PLACES)
        assert len(before) > 100
        loads_the_theme(page, lambda: page.mouse.move(5, 500))
        assert page.evaluate(PLACES) == before
        watched.assert_clean()


def test_a_key_pressed_before_the_theme_came_counts(browser: Browser, address: str) -> None:
    with watching(browser, address) as watched:
        page = watched.open()
        assert not page.locator("#__search").is_checked()
        loads_the_theme(page, lambda: page.keyboard.press("/"))
        assert page.locator("#__search").is_checked()
        watched.assert_clean()


def test_what_had_the_focus_before_the_theme_came_still_shows_it(browser: Browser, address: str) -> None:
    with watching(browser, address) as watched:
        page = watched.open()
        page.evaluate("document.body.focus()")
        outline = "getComputedStyle(document.activeElement).outlineStyle"

        def press() -> None:
            for _ in range(2):
                page.keyboard.press("Tab")
            assert page.evaluate(f"[document.activeElement.title, {outline}]") == ["One model, one machine", "auto"]

        loads_the_theme(page, press)
        assert page.evaluate(f"[document.activeElement.title, {outline}]") == ["One model, one machine", "auto"]


def test_styles_that_did_not_come_are_asked_for_again_and_the_theme_does_not_wait(
    browser: Browser, address: str
) -> None:
    with watching(browser, address) as watched:
        lost = []
        watched.page.route("**/site.css?*", lambda route: (lost.append(route), route.abort()))
        page = watched.open()
        loads_the_theme(page, lambda: page.mouse.move(5, 500))
        assert len(lost) == 1
        watched.page.unroute("**/site.css?*")
        with page.expect_response(re.compile(r"/site\.css\?")):
            page.mouse.move(9, 500)
        page.locator("#theme-styles").wait_for(state="attached")
        assert page.locator("#theme-bundle").count() == 1


def test_a_tap_on_the_colours_before_the_theme_came_counts(browser: Browser, address: str) -> None:
    with watching(browser, address, viewport=PHONE, has_touch=True, is_mobile=True) as watched:
        page = watched.open()
        switch = page.locator("label[for^=__palette]:visible")
        loads_the_theme(page, lambda: switch.tap())
        assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"
        switch.tap()
        assert page.locator("body").get_attribute("data-md-color-scheme") == "default"
        watched.assert_clean()


def test_a_dark_system_gets_dark_pages_before_the_theme_comes(browser: Browser, address: str) -> None:
    with watching(browser, address, color_scheme="dark") as watched:
        page = watched.open("ru/")
        assert page.locator("#theme-bundle").count() == 0
        assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"
        page.locator("label[for=__palette_0]").click()
        page.locator("body[data-md-color-scheme=default]").wait_for()
        # The choice is kept, against the system.
        assert watched.open("ru/figures/").locator("body").get_attribute("data-md-color-scheme") == "default"
        watched.assert_clean()
