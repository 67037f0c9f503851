"""Everybody can read the site: axe on every page in every state, keyboard, zoom, motion, no script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.conftest import LANGUAGES, ROOT, WIDE, Watched, read_page, watching
from tests.measure import LAY_OUT

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

NAMES = tuple("" if p.stem == "index" else f"{p.stem}/" for p in sorted((ROOT / "docs").glob("*.md")))
PATHS = [("ru/" if language == "ru" else "") + name for language in LANGUAGES for name in NAMES]
PHONE = {"width": 390, "height": 844}
OPEN_ALL = "for (const d of document.querySelectorAll('details')) d.open = true"

pytestmark = pytest.mark.browser


# The generated lists repeat the same few elements many times: an entry stays that has one not seen before.
THIN = """() => {
  const seen = new Set();
  for (const entry of document.querySelectorAll("main :is(.entry, tbody tr, .jump li)")) {
    const list = entry.parentElement.closest("[class]")?.className;
    const makes = [entry, ...entry.querySelectorAll("*")].map(e => `${list} ${e.tagName}.${e.getAttribute("class")}`);
    if (makes.every(make => seen.has(make))) entry.remove();
    for (const make of makes) seen.add(make);
  }
}"""
# For colours one element of each make is enough: its tags and classes from the page's body down, and its own colours.
# What else has no text of its own goes too: shapes in drawings are nothing to axe but places to compare with.
PRUNE = """() => {
  const seen = new Set(), kept = new Set(), paths = new Map([[document.body, ""]]);
  const path = e => {
    if (!paths.has(e)) paths.set(e, `${path(e.parentElement)} ${e.tagName}.${e.getAttribute("class")}`);
    return paths.get(e);
  };
  for (const e of document.querySelectorAll("body *")) {
    if (![...e.childNodes].some(child => child.nodeType === Node.TEXT_NODE && child.data.trim())) continue;
    const {color, fill, backgroundColor} = getComputedStyle(e);
    const make = [path(e), color, fill, backgroundColor].join();
    if (seen.has(make)) continue;
    seen.add(make);
    for (let keep = e; keep; keep = keep.parentElement) kept.add(keep);
  }
  for (const e of document.querySelectorAll("main *")) if (!kept.has(e)) e.remove();
}"""


def violations(page: Page, part: str, **options: Any) -> list[str]:
    """What axe, which the page holds, finds in the part that a selector names."""
    script = "async ([part, options]) => (await axe.run(part, options)).violations"
    found = page.evaluate(script, [part, {"resultTypes": ["violations"], **options}])
    return [f"{v['id']}: {n['html'][:160]} {n['failureSummary'][:300]}" for v in found for n in v["nodes"][:3]]


def structure(page: Page, part: str = "html") -> list[str]:
    """Every rule but that of contrast."""
    return violations(page, part, rules={"color-contrast": {"enabled": False}})


def colours(page: Page) -> list[str]:
    return violations(page, "html", runOnly={"type": "rule", "values": ["color-contrast"]})


def theme(page: Page, scheme: str) -> None:
    page.evaluate("scheme => { document.body.dataset.mdColorScheme = scheme }", scheme)


def toggle(page: Page, name: str) -> None:
    page.evaluate("name => document.getElementById(name).click()", name)
    page.wait_for_timeout(50)


def states(page: Page) -> dict[str, list[str]]:
    """What axe finds in both themes at both widths, on screen and in print; disclosures are open throughout."""
    # Colours that change slowly would be read half-way.
    page.emulate_media(reduced_motion="reduce")
    page.evaluate(OPEN_ALL)
    page.evaluate(LAY_OUT)
    page.evaluate(Axe().axe_script)
    found = {"every entry": structure(page)}
    page.evaluate(THIN)
    toggle(page, "__search")
    found["search open"] = structure(page, ".md-header")
    toggle(page, "__search")
    page.set_viewport_size(PHONE)
    toggle(page, "__drawer")
    found["phone, drawer open"] = structure(page)
    page.evaluate(PRUNE)
    theme(page, "slate")
    found["phone, dark, drawer open"] = colours(page)
    toggle(page, "__drawer")
    page.emulate_media(media="print")
    found["phone, dark, print"] = colours(page)
    page.emulate_media(media="screen")
    theme(page, "default")
    found["phone, light"] = colours(page)
    page.set_viewport_size(WIDE)
    found["wide, light"] = colours(page)
    theme(page, "slate")
    toggle(page, "__search")
    found["wide, dark, search open"] = colours(page)
    toggle(page, "__search")
    theme(page, "default")
    page.emulate_media(media="print")
    found["wide, light, print"] = colours(page)
    return {state: what for state, what in found.items() if what}


@pytest.mark.parametrize("path", PATHS)
def test_axe_finds_nothing(path: str, watched: Watched) -> None:
    assert states(watched.open(path)) == {}
    watched.assert_clean()


def test_axe_sees_what_is_pale_or_has_no_name(watched: Watched) -> None:
    page = watched.open("figures/")
    page.evaluate("""() => {
      document.querySelector(".entry dd").style.color = "#888a"
      document.querySelector(".entry").insertAdjacentHTML("beforeend", "<a href='/'></a>")
    }""")
    found = states(page)
    assert "link-name" in str(found["every entry"])
    assert {state for state, what in found.items() if "color-contrast" in str(what)} >= {"wide, light", "phone, light"}


PAPER = """() => {
  const shown = e => e.checkVisibility() && e.getClientRects().length > 0;
  const all = selector => [...document.querySelectorAll("main " + selector)];
  return {
    controls: all(":is(.copy, .headerlink, .jump, .share, .correct, .register-controls)").filter(shown).length,
    links: all("a[href^=http]").filter(shown)
      .filter(a => !getComputedStyle(a, "::after").content.includes(a.getAttribute("href"))).length,
    closed: all("details:not(.share, .share *, .jump *)").filter(e => !shown(e.children[1])).length,
    narrow: all(".register tbody th").filter(shown).filter(e => e.getBoundingClientRect().width < 500).length,
  }
}"""
TOO_WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
  [...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
  .slice(0, 5).map(e => e.outerHTML.slice(0, 150))"""


@pytest.mark.parametrize("path", PATHS)
def test_paper_has_all_there_is_to_read_and_no_page_scrolls_sideways(path: str, watched: Watched) -> None:
    """Sideways: on phones of 320 and 390 pixels, and at 1280 zoomed to 200 %: 640 CSS pixels of twice the size."""
    page = watched.open(path)
    # A sheet of A4 without its margins.
    page.set_viewport_size({"width": 658, "height": 985})
    page.emulate_media(media="print")
    assert page.evaluate(PAPER) == {"controls": 0, "links": 0, "closed": 0, "narrow": 0}
    assert page.evaluate(TOO_WIDE) == [], "in print"
    page.emulate_media(media="null")
    page.evaluate(OPEN_ALL)
    for width in (320, 390, 640):
        page.set_viewport_size({"width": width, "height": 600})
        assert page.evaluate(TOO_WIDE) == [], f"at {width}"


FOCUSED = """() => {
  const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
  const rect = e.querySelector?.("rect");
  const drawn = rect && getComputedStyle(rect).stroke !== "none";
  const label = document.querySelector(`label[for="${e.id}"]`);
  return {
    tag: e.outerHTML.slice(0, 120),
    body: e === document.body,
    inside: box.bottom > 0 && box.top < innerHeight && box.width > 0,
    shown: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 || drawn || style.boxShadow !== "none",
    toggle: e.matches(".md-toggle, .md-search__input, .md-option"),
    label: label && label.outerHTML.slice(0, 80),
  };
}"""


@pytest.mark.parametrize("path", ["", "ru/figures/"])
def test_focus_is_visible_wherever_the_keyboard_goes(path: str, watched: Watched) -> None:
    page = watched.open(path)
    seen: list[dict[str, Any]] = []
    for _ in range(60):
        page.keyboard.press("Tab")
        state = page.evaluate(FOCUSED)
        if state["body"]:
            break
        seen.append(state)
    assert len(seen) > 20
    # The theme's switches are hidden inputs; their labels, or the field itself, show the focus.
    assert [s["tag"] for s in seen if not s["toggle"] and not (s["shown"] and s["inside"])] == []


def test_nothing_moves_for_those_who_asked_for_less_motion(watched: Watched) -> None:
    watched.page.emulate_media(reduced_motion="reduce")
    page = watched.open("figures/")
    moving = page.evaluate(
        """() => [...document.querySelectorAll("*")].filter(e => {
          const s = getComputedStyle(e);
          const long = list => list.split(",").some(t => parseFloat(t) > 0.01);
          return long(s.transitionDuration) || (s.animationName !== "none" && long(s.animationDuration))
            || s.scrollBehavior === "smooth";
        }).slice(0, 5).map(e => e.outerHTML.slice(0, 100))"""
    )
    assert moving == []


@pytest.mark.parametrize("path", ["", "ru/", "figures/", "ru/runs/"])
def test_pages_read_without_scripts(path: str, browser: Browser, address: str) -> None:
    with watching(browser, address, java_script_enabled=False) as watched:
        page = watched.open(path)
        assert page.locator("main h1").is_visible()
        assert page.locator("main :is(figure.chart, .entry)").first.is_visible()
        # A button that needs the script is not shown without it.
        assert page.locator("button.copy:visible").count() == 0
        details = page.locator("main details").first
        details.locator("summary").first.click()
        assert details.get_attribute("open") is not None
        watched.assert_clean()


@pytest.mark.parametrize("name", [name.rstrip("/") for name in NAMES])
def test_charts_carry_their_message_as_text_and_as_a_table(name: str, site: Path) -> None:
    for language in LANGUAGES:
        labels = []
        page = read_page(site, language, name)
        for label in page.xpath("//figure[contains(@class, 'timeline')]/svg[@role='img']/@aria-label"):
            assert len(label) > 40
        # The strips of the register have the register below them as their table.
        plain = "[not(contains(@class, 'timeline') or contains(@class, 'strips'))]"
        charts = f"//figure[contains(@class, 'chart')][.//svg]{plain}"
        for figure in page.xpath(charts):
            assert len(figure.xpath("string(.//p[@class='visually-hidden'])").strip()) > 40
            assert figure.xpath(".//details//table//tr")
            labels += figure.xpath(".//*[@role='region']/@aria-label")
        assert len(labels) == len(set(labels)), "two regions of one name"


def test_english_texts_on_russian_pages_say_so(site: Path) -> None:
    """Notes and readings of manifests are English; a voice must not read them as Russian."""
    for name in ("runs", "figures"):
        for element in read_page(site, "ru", name).xpath("//main//*[self::dd or self::li or self::p]"):
            for text in element.xpath(".//text()[not(ancestor::code) and not(ancestor::*[@lang='en'])]"):
                words = [word for word in text.split() if word.isascii() and word.isalpha() and len(word) > 1]
                if len(words) >= 4:
                    foreign = len(words) / max(1, len(text.split()))
                    assert foreign < 0.7, text
