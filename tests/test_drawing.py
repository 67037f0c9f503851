"""The drawing core: structure of the SVG, colours, same bytes, the cache, and a real browser."""

import dataclasses
import itertools
import os
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from lxml import etree, html

from macros.chart_cache import ChartCache, Drawing
from macros.drawing import DotChart, Mark, Row, draw_inline, draw_png, draw_svg_file
from macros.palette import SHADES, Question, palette_css
from macros.svg import inline_svg
from tests.example_charts import LANGS, arms, concurrency, examples, overview, vantage

ROOT = Path(__file__).parents[1]
NS = {"s": "http://www.w3.org/2000/svg"}
QUESTIONS = get_args(Question)
ALL = [pytest.param(chart, id=f"{chart.id}-{lang}") for lang in LANGS for chart in examples(lang).values()]


def parsed(svg: str | bytes) -> Any:
    return etree.fromstring(svg)


def texts(root: Any) -> list[str]:
    return [node.text for node in root.iterfind(".//s:text", NS)]


# --- structure -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chart", ALL)
@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_a_page_can_carry_the_inline_drawing(chart: Any, width: Any) -> None:
    svg = draw_inline(chart, width)
    root = parsed(svg)
    assert svg.startswith("<svg ")
    assert not re.search(r"<\?xml|<style|<metadata|style=|font-family|xlink|#[0-9a-f]{6}\b|\n\s*\n", svg)
    assert root.get("role") == "group"
    assert root.get("aria-label") == chart.title
    assert {node.get("fill") for node in root.iterfind(".//s:text", NS)} <= {
        f"var(--chart-{role})" for role in ("ink", "muted", *QUESTIONS)
    }
    sizes = {float(node.get("font-size")) for node in root.iterfind(".//s:text", NS)}
    assert min(sizes) >= 12


@pytest.mark.parametrize("chart", ALL)
def test_ids_of_both_drawings_are_unique(chart: Any) -> None:
    ids = re.findall(r' id="([^"]+)"', draw_inline(chart, "wide") + draw_inline(chart, "narrow"))
    assert ids
    assert len(ids) == len(set(ids))
    assert all(name.startswith((f"{chart.id}-wide-", f"{chart.id}-narrow-")) for name in ids)


@pytest.mark.parametrize("lang", LANGS)
def test_every_mark_is_a_named_link(lang: str) -> None:
    chart = overview(lang)
    links = parsed(draw_inline(chart, "narrow")).findall(".//s:a", NS)
    marks = [(row, mark) for row in chart.rows for mark in row.marks]
    wanted = {(mark.figure, mark.href, f"{row.label}: {mark.label}") for row, mark in marks}
    assert {(a.get("data-figure"), a.get("href"), a.findtext("s:title", namespaces=NS)) for a in links} == wanted
    assert len(links) == len(marks)
    # The value stands within its link, so that the link has a visible name.
    assert all(
        any(link.findtext("s:title", namespaces=NS).endswith(text) for text in texts(link)) or len(texts(link)) > 1
        for link in links
    )


@pytest.mark.parametrize("chart", ALL)
def test_no_strip_of_paper_covers_a_mark(chart: Any) -> None:
    order = list(parsed(draw_inline(chart, "narrow")))
    strips = [node for node in order if node.get("fill") == "var(--chart-paper)"]
    links = [node for node in order if node.get("data-figure")]
    assert max(map(order.index, strips)) < min(map(order.index, links))


def test_a_mark_without_a_permalink_is_no_link() -> None:
    chart = DotChart("plain", "en", "T", "tok/s", None, (Row("a", None, "other", (Mark("f", 1, None, None, "1"),)),))
    root = parsed(draw_inline(chart))
    assert root.find(".//s:a", NS) is None
    assert root.find(".//s:g[@data-figure='f']", NS) is not None


@pytest.mark.parametrize("draw", [draw_inline, draw_svg_file])
def test_superseded_figures_are_struck_through_and_pale(draw: Any) -> None:
    root = parsed(draw(vantage("en")))
    struck = [node.text for node in root.iterfind(".//s:text[@text-decoration='line-through']", NS)]
    assert struck == ["16–18 %"]
    link = root.find(".//s:a[@data-figure='step-gain-client']", NS)
    pale = {"var(--chart-pale)", SHADES["pale"].light}
    assert {path.get("stroke") for path in link.iterfind("s:path", NS)} <= pale


def test_own_marks_are_filled_and_others_open() -> None:
    root = parsed(draw_inline(overview("en")))
    fills = {
        link.get("data-figure"): link.findall("s:path", NS)[-1].get("fill") for link in root.iterfind(".//s:a", NS)
    }
    assert fills["bringup-decode"] == "var(--chart-other)"
    assert fills["model-card-claim"] == "var(--chart-paper)"


@pytest.mark.parametrize("chart", ALL)
def test_the_file_says_everything_by_itself(chart: Any) -> None:
    svg = draw_svg_file(chart)
    root = parsed(svg)
    whole = " ".join(texts(root))
    assert root.findtext("s:title", namespaces=NS) == chart.title
    for text in (chart.title, *chart.footer):
        assert text in whole
    assert b"var(--" not in svg
    assert b" style=" not in svg


def test_an_axis_that_does_not_start_at_zero_says_so() -> None:
    chart = dataclasses.replace(arms("en"), from_zero=False, axis_note="The axis starts at 58.")
    assert "0" in texts(parsed(draw_inline(arms("en"))))
    shown = texts(parsed(draw_inline(chart)))
    assert "The axis starts at 58." in shown
    assert "0" not in shown


def test_a_missing_point_is_drawn_empty_and_dashed() -> None:
    root = parsed(draw_inline(examples("en")["depth"]))
    link = root.find(".//s:a[@data-figure='elsewhere-3']", NS)
    assert texts(link) == ["not measured"]
    assert all(path.get("stroke-dasharray") for path in link.iterfind("s:path", NS))


@pytest.mark.parametrize("chart", ALL)
def test_the_picture_is_1560_pixels_wide(chart: Any) -> None:
    png = draw_png(chart)
    assert png.startswith(b"\x89PNG")
    assert struct.unpack(">I", png[16:20]) == (1560,)
    assert b"Software" not in png


def test_a_label_without_room_stops_the_build() -> None:
    row = Row("a", None, "other", (Mark("f", 1, None, None, "W" * 200),))
    with pytest.raises(ValueError, match="no room"):
        draw_inline(DotChart("long", "en", "T", "tok/s", None, (row,)))


# --- colours ---------------------------------------------------------------------------------------------


def linear(colour: str) -> list[float]:
    """Return linear red, green and blue, 0 to 1."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of WCAG."""
    light, dark = sorted(
        (sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(x), strict=True)) for x in (one, other)),
        reverse=True,
    )
    return (light + 0.05) / (dark + 0.05)


def lab(rgb: list[float]) -> list[float]:
    """Return CIE L*a*b* of linear sRGB."""
    to_xyz = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = [sum(m * c for m, c in zip(row, rgb, strict=True)) for row in to_xyz]
    x, y, z = (max(v / white, 1e-6) ** (1 / 3) for v, white in zip(xyz, (0.9505, 1, 1.089), strict=True))
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


# Machado, Oliveira and Fernandes 2009, full severity.
BLINDNESS = {
    "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900),
    ),
}  # fmt: skip


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("role", "least"),
    [("ink", 4.5), ("muted", 4.5), ("pale", 3.0), *((question, 4.5) for question in QUESTIONS)],
)
def test_colours_stand_out_from_the_page(role: str, least: float, theme: str) -> None:
    assert contrast(getattr(SHADES[role], theme), getattr(SHADES["paper"], theme)) >= least


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("matrix", BLINDNESS.values(), ids=BLINDNESS)
def test_questions_are_told_apart_by_colour_blind_readers(matrix: Any, theme: str) -> None:
    def seen(role: str) -> list[float]:
        rgb = linear(getattr(SHADES[role], theme))
        return lab([min(1, max(0, sum(m * c for m, c in zip(row, rgb, strict=True)))) for row in matrix])

    for one, other in itertools.combinations(QUESTIONS, 2):
        distance = sum((a - b) ** 2 for a, b in zip(seen(one), seen(other), strict=True)) ** 0.5
        assert distance > 18, (one, other)


def test_light_shades_are_distinct_and_the_sheet_has_both_themes() -> None:
    assert len({shade.light for shade in SHADES.values()}) == len(SHADES)
    css = palette_css()
    assert SHADES["paper"].dark == "#1e2129"
    screen, printed = css.split("@media print")
    assert all(f"--chart-{role}: {shade.dark};" in screen for role, shade in SHADES.items())
    assert "#1e2129" not in printed


# --- the same bytes, and the cache -----------------------------------------------------------------------

DRAW_ALL = """
import hashlib
from macros.drawing import draw_inline, draw_png, draw_svg_file
from tests.example_charts import examples
charts = examples("ru")
everything = hashlib.sha256()
for name in ("overview", "step-gain", "depth"):
    everything.update(draw_inline(charts[name], "narrow").encode())
    everything.update(draw_svg_file(charts[name]))
    everything.update(draw_png(charts[name]))
print(everything.hexdigest())
"""

DRAW_CACHED = """
import sys
from pathlib import Path
from macros.chart_cache import ChartCache, Drawing
from tests.example_charts import arms
for form in ("wide", "narrow", "svg", "png"):
    ChartCache(Path(sys.argv[1])).get(Drawing(arms("ru"), form))
print("matplotlib" in sys.modules)
"""


def run(script: str, *arguments: str, **environment: str) -> str:
    command = [sys.executable, "-c", script, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(command, env=environment, cwd=ROOT, check=True, text=True, capture_output=True).stdout


def test_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text("axes.linewidth: 5\nlines.solid_capstyle: round\nfont.size: 30\n")
    one = run(DRAW_ALL, TZ="UTC", PYTHONHASHSEED="1", LC_ALL="C.UTF-8")
    other = run(
        DRAW_ALL,
        TZ="Asia/Vladivostok",
        PYTHONHASHSEED="2",
        LC_ALL="C",
        MATPLOTLIBRC=str(tmp_path / "matplotlibrc"),
    )
    assert one == other


def test_a_kept_drawing_needs_no_matplotlib(tmp_path: Path) -> None:
    assert run(DRAW_CACHED, str(tmp_path)).strip() == "True"
    assert run(DRAW_CACHED, str(tmp_path)).strip() == "False"


def test_the_cache_tells_charts_and_kinds_apart(tmp_path: Path) -> None:
    cache = ChartCache(tmp_path / "new")
    chart = arms("en")
    for _ in range(2):
        assert cache.get(Drawing(chart, "wide")).decode() == draw_inline(chart, "wide")
    assert cache.get(Drawing(chart, "narrow")).decode() == draw_inline(chart, "narrow")
    assert cache.get(Drawing(chart, "svg")) == draw_svg_file(chart)
    changed = dataclasses.replace(chart, axis="Another axis, tok/s")
    assert b"Another axis, tok/s" in cache.get(Drawing(changed, "wide"))
    assert len(list((tmp_path / "new").iterdir())) == 4


# --- in a browser ----------------------------------------------------------------------------------------

MEASURE = """() => [...document.querySelectorAll("svg")].filter(svg => svg.checkVisibility()).map(svg => {
  const box = node => { const r = node.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
  const scale = svg.getScreenCTM().a;
  return {name: svg.classList[1], chart: svg.getAttribute("aria-label"), box: box(svg),
    texts: [...svg.querySelectorAll("text")].map(node =>
      ({text: node.textContent, box: box(node), size: parseFloat(getComputedStyle(node).fontSize) * scale}))};
})"""
# The page's font is unknown: the browser's own, and one about a fifth wider than Arial.
FONTS = {
    "sans": "font-family: sans-serif",
    "wide": "font-family: 'DejaVu Sans', Verdana; letter-spacing: 0.04em",
}
FLAGS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync "
    "--no-first-run"
)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS.split())
        yield browser
        browser.close()


def page_of(lang: str, font: str) -> str:
    css = palette_css() + (ROOT / "docs/assets/stylesheets/charts.css").read_text()
    figures = "".join(
        f'<figure class="chart">{draw_inline(chart, "wide")}{draw_inline(chart, "narrow")}</figure>'
        for chart in examples(lang).values()
    )
    return (
        f'<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<style>{css} body {{ margin: 16px; {FONTS[font]} }} figure {{ margin: 16px 0 }}</style>{figures}"
    )


@pytest.mark.browser
@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("font", FONTS)
def test_no_text_overlaps_leaves_the_drawing_or_is_small(chromium: Any, lang: str, font: str) -> None:
    page = chromium.new_page()
    page.set_content(page_of(lang, font))
    for viewport, name in ((760, "chart-wide"), (390, "chart-narrow"), (320, "chart-narrow")):
        page.set_viewport_size({"width": viewport, "height": 800})
        drawings = page.evaluate(MEASURE)
        assert [drawing["name"] for drawing in drawings] == [name] * len(examples(lang))
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport
        for drawing in drawings:
            where = f"{drawing['chart']} at {viewport}"
            left, top, right, bottom = drawing["box"]
            for text in drawing["texts"]:
                x0, y0, x1, y1 = text["box"]
                assert left - 0.5 <= x0 <= x1 <= right + 0.5, (where, text)
                assert top - 0.5 <= y0 <= y1 <= bottom + 0.5, (where, text)
                assert viewport < 390 or text["size"] >= 11, (where, text)
            for one, other in itertools.combinations(drawing["texts"], 2):
                a, b = one["box"], other["box"]
                apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
                assert apart, (where, one["text"], other["text"])
    page.close()


@pytest.mark.browser
def test_marks_are_reached_by_keyboard_and_colours_follow_the_theme(chromium: Any) -> None:
    page = chromium.new_page(viewport={"width": 760, "height": 800})
    page.set_content(page_of("en", "sans"))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.figure") == "moe-auto-decode"
    colour = "getComputedStyle(document.querySelector('svg text')).fill"
    light = page.evaluate(colour)
    page.evaluate("document.body.dataset.mdColorScheme = 'slate'")
    assert page.evaluate(colour) != light
    page.emulate_media(media="print")
    assert page.evaluate(colour) == light
    page.close()


def test_the_fragment_is_the_same_for_an_html_parser() -> None:
    fragment = html.fromstring(f"<figure>{draw_inline(concurrency('ru'))}</figure>")
    assert [node.text for node in fragment.iter("text")] == texts(parsed(draw_inline(concurrency("ru"))))


def test_the_style_sheet_has_the_palette_of_today() -> None:
    sheet = Path(__file__).parents[1] / "docs/assets/stylesheets/chart-colours.css"
    assert sheet.read_text("utf-8") == palette_css(), "write it anew from macros/palette.py"


def test_lines_and_boxes_of_one_look_are_one_path_and_nothing_else_is() -> None:
    line, thick = "fill: none; stroke: #000000", "fill: none; stroke: #000000; stroke-width: 2"
    box, ringed = "fill: #ffffff", "fill: #ffffff; stroke: #000000"
    drawn = [
        (line, "M 0 0 L 1 0"), (line, "M 0 1 L 1 1"), (thick, "M 0 2 L 1 2"),
        (box, "M 0 0 L 1 0 L 1 1 L 0 1 z"), (box, "M 5 0 L 6 0 L 6 1 L 5 1 z"), (box, "M 0 0 L 1 0 L 1 1 z"),
        (ringed, "M 0 0 L 1 0 L 1 1 L 0 1 z"), (ringed, "M 5 0 L 6 0 L 6 1 L 5 1 z"),
    ]  # fmt: skip
    paths = "".join(f'<path style="{style}" d="{d}"/>' for style, d in drawn)
    raw = f'<svg xmlns="{NS["s"]}" viewBox="0 0 9 9">{paths}</svg>'.encode()
    made = [path.get("d") for path in parsed(inline_svg(raw, [], name="x", label="y")).iterfind("s:path", NS)]
    assert made == [
        "M0 0L1 0M0 1L1 1", "M0 2L1 2",
        "M0 0L1 0L1 1L0 1zM5 0L6 0L6 1L5 1z", "M0 0L1 0L1 1z",
        "M0 0L1 0L1 1L0 1z", "M5 0L6 0L6 1L5 1z",
    ]  # fmt: skip
