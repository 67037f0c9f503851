"""What strangers write is inert: hostile texts in every free field of every manifest, then a real browser.

A field is free if its model takes the hostile text. The same old text becomes the same new one everywhere, so that
what the data says of sameness and difference stays, and with it every figure.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import pytest
import yaml
from hypothesis import given
from lxml import etree, html
from pydantic import ValidationError

from macros import charts, csp, feeds, markup, strict_yaml
from macros.manifests import Comparison, PublishedFigure, Run
from macros.problems import InputError
from macros.render import Renderer
from macros.settings import Settings
from macros.svg import Link, inline_svg
from tests.conftest import LANGUAGES, ROOT, BuildOnce, Tree, served, watching

if TYPE_CHECKING:
    from playwright.sync_api import Browser

KINDS = {"runs": Run, "comparisons": Comparison, "published": PublishedFigure}
HOSTILE = {
    "markup": "<script>boom()</script><img src=x onerror=boom()><b class='hostile'>",
    "attribute": "\"' onmouseover=boom() autofocus onfocus=boom() x=\"'><svg onload=boom()>",
    "template": "{{ boom() }} {% raise %} {# gone #} ${boom()} {{ figure('no-such') }}",
    "markdown": "**bold** _em_ `code` [x](javascript:boom()) ![x](x) # h <https://evil.test>",
    "comment": "--> <!-- ]]> &lt;i&gt; &#60;i&#62; <!--used moe-gain--> </script></title></details>",
    "formula": "=cmd|'/c calc'!A1 +1 -1 @SUM(1) $x^2$ \\(x\\) \\[x\\] \\u003cscript\\u003e",
    "right to left": "עברית (שלום) [العربية]: ١٢",
    "long": "w" * 180,
}
# Looked up among the words of the language, or by which figures are chosen.
KEPT = {"moe_backend_requested", "moe_backend_active", "id"}
WATCH = """
window.booms = [];
window.boom = () => booms.push(new Error().stack);
for (const name of ["alert", "confirm", "prompt"]) window[name] = window.boom;
"""


SCRIPT = "script:not([src], [type='application/json'], :empty)"
INERT = f".md-content :is({SCRIPT}, img[src=x], .hostile, [onerror], [autofocus])"


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(Decimal, lambda dumper, value: dumper.represent_scalar("tag:yaml.org,2002:float", str(value)))


def poison(old: str) -> str:
    """An old text with a hostile one behind it, chosen by the text itself."""
    text = list(HOSTILE.values())[sum(map(ord, old)) % len(HOSTILE)]
    return f"{old} {text}"


def leaves(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Every text in a manifest with its place."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        if isinstance(value, str):
            yield (*path, key), value
        else:
            yield from leaves(value, (*path, key))


def put(data: Any, path: tuple[Any, ...], value: str) -> None:
    for step in path[:-1]:
        data = data[step]
    data[path[-1]] = value


def poisoned(data: Any, model: type[Any], chosen: str) -> set[str]:
    """Changes every free field of a manifest in place; returns their places."""
    changed = set()
    for path, old in list(leaves(data)):
        key = next(str(step) for step in reversed(path) if isinstance(step, str))
        if key in KEPT or old in chosen:
            continue
        new = poison(old)
        put(data, path, new if len(old) < 250 else old)
        try:
            model.model_validate(data)
            changed.add(".".join("*" if isinstance(step, int) else step for step in path))
        except ValidationError:
            put(data, path, old)
    return changed


def poison_tree(tree: Tree) -> set[str]:
    """Puts the hostile texts into every manifest of a tree; returns the places that took them."""
    # Figures choose their runs by some of the texts.
    chosen = tree.read("results/figures.yaml")
    changed = set()
    for kind, model in KINDS.items():
        for path in sorted((tree.root / "results" / kind).glob("*.yaml")):
            data, _, problems = strict_yaml.read(path, path.name)
            assert not problems
            changed |= {f"{kind}.{place}" for place in poisoned(data, model, chosen)}
            path.write_text(yaml.dump(data, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=1000), "utf-8")
    return changed


# A reader's entry, as the form makes one of an answer.
ENTRY = "<img src=x onerror=alert(1)> {{ 7*7 }} {% x %} [a](javascript:b) `c` **d**"
ADDRESS = "https://speeds.example.org/"


@pytest.fixture(scope="session")
def hostile(build_once: BuildOnce, site: Path) -> Path:
    """The site built from hostile manifests, as a release for its public address."""

    def poison(tree: Tree) -> None:
        poison_tree(tree)
        entry = "results/published/cyijun-c6.yaml"
        tree.write(entry, re.sub(r"(?m)^publisher: .*", f"publisher: '{ENTRY}'", tree.read(entry)))

    tree, outcome = build_once("hostile", poison, lambda tree: tree.build(SITE_URL=ADDRESS, SITE_RELEASE="1"))
    assert outcome.ok, outcome.output
    assert "site_url is not set" not in outcome.output
    return tree.site


def test_an_address_that_is_set_is_used_everywhere(hostile: Path) -> None:
    for path in hostile.rglob("*"):
        if path.suffix in (".html", ".xml", ".json", ".txt", ".csv", ".md", ".svg"):
            assert "127.0.0.1" not in path.read_text("utf-8"), path
    home = html.parse(str(hostile / "ru/index.html"))
    assert home.xpath('//link[@rel="canonical"]/@href') == [f"{ADDRESS}ru/"]


def test_the_hostile_texts_reach_every_kind_of_free_field(tmp_path: Path) -> None:
    changed = poison_tree(Tree.copy(tmp_path / "tree"))
    assert changed >= {
        "runs.sources.*.name", "runs.notes.*", "runs.system.device", "runs.model.name", "runs.runtime.version",
        "runs.sources.*.path", "comparisons.change.variant", "comparisons.correction.reason.en", "published.publisher",
    }  # fmt: skip


def names(site: Path) -> list[str]:
    return sorted(p.relative_to(site).as_posix().removesuffix("index.html") for p in site.rglob("index.html"))


@pytest.mark.browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_runs_and_nothing_breaks_the_layout(hostile: Path, browser: Browser, language: str) -> None:
    # Without motion: a search field that is still opening would be taken for a page that is too wide.
    with served(hostile) as address, watching(browser, address, reduced_motion="reduce") as watched:
        watched.page.add_init_script(WATCH)
        for path in [name for name in names(hostile) if name.startswith("ru/") == (language == "ru")]:
            page = watched.open(path)
            page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
            for width in (1280, 390):
                page.set_viewport_size({"width": width, "height": 844})
                assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{path} at {width}"
            # Focus and pointer reach everything that a handler could sit on.
            page.evaluate(
                "for (const e of document.querySelectorAll('main *')) {"
                "e.dispatchEvent(new MouseEvent('mouseover')); e.dispatchEvent(new FocusEvent('focus')) }"
            )
            assert page.evaluate("booms") == [], path
            assert page.locator(INERT).count() == 0
            assert page.locator('a[href^="javascript:" i]').count() == 0
        watched.assert_clean()


def test_hostile_texts_stand_on_the_pages_as_they_were_written(hostile: Path) -> None:
    said = html.document_fromstring((hostile / "runs/index.html").read_text("utf-8")).text_content()
    assert [name for name, text in HOSTILE.items() if text not in said] == []


def test_a_hostile_entry_is_inert_on_the_pages(hostile: Path) -> None:
    for page in ("published", "ru/published", "reasons", "ru/reasons"):
        text = (hostile / page / "index.html").read_text("utf-8")
        assert "<img src=x" not in text
        assert "onerror=alert(1)&gt; 49" not in text
        assert 'href="javascript' not in text
    assert ENTRY in html.parse(str(hostile / "published/index.html")).getroot().text_content()


def test_exports_and_feeds_keep_hostile_texts_as_data(hostile: Path) -> None:
    runs = json.loads((hostile / "data/runs.json").read_text("utf-8"))
    names = {source["name"] for run in runs["runs"] for source in run["manifest"]["sources"]}
    assert any(text in name for name in names for text in HOSTILE.values())
    for path in [*hostile.rglob("*.xml"), *hostile.glob("charts/*.svg")]:
        root = etree.fromstring(path.read_bytes())
        for element in root.iter(etree.Element):
            assert etree.QName(element).localname not in ("script", "img", "b", "foreignObject"), path.name
            assert not [name for name in element.attrib if name.startswith("on")], path.name


def test_no_cell_of_the_csv_is_a_formula(hostile: Path) -> None:
    for row in csv.reader(io.StringIO((hostile / "data/figures.csv").read_text("utf-8"))):
        for cell in row:
            assert not re.match(r"[=+@\t]|-(?!\d)", cell)


# Below the manifests: what labels, captions and drawings make of the same texts


@pytest.mark.parametrize("name", HOSTILE)
def test_markup_of_a_text_is_that_text(name: str) -> None:
    text = HOSTILE[name]
    made = html.fragment_fromstring(markup.element("p", markup.text(text), title=text))
    assert made.text_content() == text
    assert len(made) == 0
    assert dict(made.attrib) == {"title": text}
    rows = html.fragment_fromstring(markup.table([markup.text(text)] * 2, [[markup.text(text)] * 2], label=text))
    assert rows.get("aria-label") == text
    assert rows.xpath("//td/@data-head") == [text]


@given(st.text(st.sampled_from("&#9560;<>'\"_(=@\\ablt/-")))
def test_a_text_is_the_same_with_fewer_entities(text: str) -> None:
    page = markup.element("p", markup.text(text), title=text)
    made = html.fragment_fromstring(markup.written_out(page))
    assert (made.text_content(), made.get("title"), len(made)) == (text, text, 0)


def test_entities_go_where_html_needs_none() -> None:
    page = (
        "<p title='a&#95;b'>c&#61;1 &#40;d&#41; &#60;b&#62; &#38;#95; &amp;#95; &&#35;60;</p><script>'&#95;'</script>"
    )
    assert markup.written_out(page) == (
        "<p title='a_b'>c=1 (d) &#60;b&#62; &#38;#95; &amp;#95; &&#35;60;</p><script>'&#95;'</script>"
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_a_drawing_keeps_a_label_as_text(name: str) -> None:
    text = HOSTILE[name]
    raw = etree.tostring(etree.fromstring('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/>'))
    link = Link("mark", "figure", "https://example.org/#x", text, (0, 0, 1, 1))
    drawn = etree.fromstring(inline_svg(raw, [link], name="chart-wide", label=text))
    assert drawn.get("aria-label") == text
    assert {etree.QName(e).localname for e in drawn.iter()} <= {"svg", "a", "g", "title", "rect"}


def test_labels_of_figures_are_inert_in_feeds_and_charts() -> None:
    tree = Tree(ROOT)
    site = tree.checked()
    settings = Settings.of("https://site.test/", {})
    label = type(next(iter(site.figures.values())).label)(en=HOSTILE["markup"], ru=HOSTILE["attribute"])
    for figure in site.figures.values():
        object.__setattr__(figure, "label", label)
    for language in LANGUAGES:
        feed = feeds.atom(site, language, settings, datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC))
        assert not etree.fromstring(feed.encode()).xpath("//*[local-name() = 'script' or local-name() = 'svg']")
    table = html.fragment_fromstring(charts._data_table(site.charts["moe-arms"], Renderer(site, "en", "")))
    assert not table.xpath("//script | //img | //b")


@pytest.mark.parametrize(
    "address", ["javascript:boom()", "data:text/html,x", "http://x.test/", 'https://x.test/"a', "//x"]
)
def test_an_address_that_is_not_https_is_refused(address: str, tree: Tree) -> None:
    run = tree.read("results/runs/heavy-c1.yaml")
    found = re.search(r"url: (https://\S+)", run)
    assert found
    tree.write("results/runs/heavy-c1.yaml", run.replace(found[1], json.dumps(address)))
    outcome = tree.check()
    assert not outcome.ok
    assert "heavy-c1.yaml" in outcome.output
    assert "url" in outcome.output


@pytest.mark.parametrize("char", ["\u202e", "\u2066", "\u200b", "\ue000", "\x1b"])
def test_characters_that_hide_or_turn_text_are_refused(char: str, tree: Tree) -> None:
    tree.append("results/runs/heavy-c1.yaml", f"# {char}\n")
    assert "visible characters only" in tree.check().output


# The policy


@pytest.mark.browser
def test_the_policy_stops_what_would_slip_through(site: Path, browser: Browser, tmp_path: Path) -> None:
    page = (site / "index.html").read_text("utf-8")
    bad = "<script>boom()</script><img src=x onerror=boom()><p style='color:red'>x</p><script src=https://evil.test/x.js></script>"
    (tmp_path / "index.html").write_text(page.replace("</body>", bad + "</body>"), "utf-8")
    (tmp_path / "assets").symlink_to(site / "assets")
    with served(tmp_path) as address, watching(browser, address) as watched:
        watched.page.add_init_script(WATCH)
        failed = {}
        watched.page.on("requestfailed", lambda request: failed.update({request.url: request.failure}))
        page = watched.open()
        assert page.evaluate("booms") == []
        # Stopped before it left.
        assert failed == dict.fromkeys(watched.foreign, "csp") != {}
        assert sum("Content Security Policy" in error for error in watched.errors) >= 4


def test_every_page_has_a_policy_with_the_hashes_of_its_scripts(site: Path) -> None:
    for path in site.rglob("*.html"):
        page = path.read_text("utf-8")
        assert page.count("Content-Security-Policy") == 1
        inside = page.index("Content-Security-Policy")
        # It holds for what follows it only.
        assert inside < page.index("<style"), path
        assert inside < page.index("<script"), path
        assert "unsafe" not in csp.policy(page)
        assert f'content="{csp.policy(page)}"' in page, path


@pytest.mark.parametrize(
    "bad",
    ['<p style="color:red">x</p>', '<p onclick="x()">x</p>', '<a href=" java\nscript:x()">x</a>', "<style>p{}</style>"],
)
def test_what_the_policy_would_block_stops_the_build(bad: str, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(f'<head><meta charset="utf-8"></head><body>{bad}</body>', "utf-8")
    with pytest.raises(InputError, match="no inline styles or handlers"):
        csp.add(tmp_path)


def test_the_same_letters_in_a_text_are_only_text(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        '<head><meta charset="utf-8"></head><body>set style= and onclick=</body>', "utf-8"
    )
    csp.add(tmp_path)


def test_a_preview_has_no_policy() -> None:
    hooks = (ROOT / "macros/hooks.py").read_text("utf-8")
    assert '_serving = command == "serve"' in hooks
