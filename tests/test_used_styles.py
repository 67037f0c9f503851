"""Each page holds the styles that it uses and no others, and looks as it would with all of them."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis.strategies as st
import material
import pytest
from hypothesis import given

from macros import used_styles
from macros.problems import InputError
from tests.conftest import ROOT, served, watching
from tests.test_access import OPEN_ALL
from tests.test_search import found

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PAGE = """<body class="a b" data-md-color-scheme="default"><p
id='c' class=d>x</p><svg fill="var(--drawn)" class='md:x'><linearGradient/></svg></body>"""


def kept(css: str, page: str = PAGE, script: str = "") -> str:
    known = used_styles.words(page) | used_styles.words_of_script(script)
    return used_styles.used(used_styles.parsed({"x.css": css}), known)


@pytest.mark.parametrize(
    ("css", "left"),
    [
        # Elements, classes, ids, settings: there or not there.
        ("p{top:0}", "p{top:0}"),
        ("video{top:0}", ""),
        (".a .b>.d{top:0}", ".a .b>.d{top:0}"),
        (".a .e{top:0}", ""),
        ("#c{top:0}#e{top:0}", "#c{top:0}"),
        ("[data-md-color-scheme=default] p{top:0}[data-md-color-scheme=slate]{top:0}",
         "[data-md-color-scheme=default] p{top:0}"),
        ("[dir=rtl] p{top:0}", ""),
        # As browsers compare names: elements in any case, classes as they are written, escapes or not.
        ("P{top:0}.D{top:0}", "P{top:0}"),
        ("lineargradient{top:0}linearGradient{top:0}", "lineargradient{top:0}\nlinearGradient{top:0}"),
        (r".md\:x .\64{top:0}.e\:x{top:0}", r".md\:x .d{top:0}"),
        ("svg|e{top:0}", "svg|e{top:0}"),
        # Other attributes, states, and what stands within a function are not judged.
        ("p[hidden],p[type=x]{top:0}", "p[hidden],p[type=x]{top:0}"),
        ("p:hover::after{top:0}", "p:hover::after{top:0}"),
        ("p:not(.e),:is(.e,.f) p{top:0}", "p:not(.e),:is(.e,.f) p{top:0}"),
        # Of a list, the possible selectors.
        (".e,.d,video{top:0}", ".d{top:0}"),
        # Blocks lose rules, and go when none is left; other at-rules stay.
        ("@media print{.e{top:0}.d{top:0}}", "@media print{.d{top:0}}"),
        ("@media print{.e{top:0}}", ""),
        ("@media print{}@supports (top:0){/* nothing */}p{top:0}", "p{top:0}"),
        ("@media screen{@media print{.e{top:0}p{top:0}}}", "@media screen{@media print{p{top:0}}}"),
        ('@charset "UTF-8";@page{margin:1cm}', "@page{margin:1cm}"),
        ("@keyframes k{0%{top:0}}", "@keyframes k{0%{top:0}}"),
        ("@container (width > 9px) {\n.e{top:0}\np{top:0}\n}", "@container (width > 9px){p{top:0}}"),
        # A rule is one line, whatever it was.
        ("p,\n  :is(a,\n b) {\n top: 0;\n margin:\n 0\n 1px }", "p,:is(a, b){top:0;margin:0 1px}"),
        # Custom properties that something reads: another rule, a drawing, a property that stays.
        (":root{--e:1px;--f:2px}p{top:var(--f)}", ":root{--f:2px}\np{top:var(--f)}"),
        (":root{--drawn:red}", ":root{--drawn:red}"),
        (":root{--e:1px;--f:var(--e)}p{top:0}", "p{top:0}"),
        (":root{--e:1px}.e{top:var(--e)}", ""),
        (":root{--e:1px}p{top:VAR( --e )}", ":root{--e:1px}\np{top:VAR( --e )}"),
        (":root{--e:1}@container style(--e:1){p{top:0}}", ":root{--e:1}\n@container style(--e:1){p{top:0}}"),
        # Values as they were written.
        ("p{content:\";}\"!important}", "p{content:\";}\"!important}"),
        ("p{background:url('data:a;b')}", "p{background:url(\"data:a;b\")}"),
    ],
)  # fmt: skip
def test_a_rule_stays_if_a_page_can_use_it(css: str, left: str) -> None:
    assert kept(css) == left


def test_a_script_can_use_what_it_names() -> None:
    assert kept(".made{top:0}", script='e.className = "made"') == ".made{top:0}"
    assert kept(":root{--set:0}", script="f(`var(--set)`)") == ":root{--set:0}"
    assert kept("[data-md-color-scheme=slate]{top:0}", "<script>scheme = 'slate'</script>") != ""
    assert kept(".made{top:0}", "<script type='application/json'>made</script>") == ""
    # But for features of the theme that only a page asks for.
    assert kept(".md-annotation{top:0}", script='"md-annotation"') == ""
    assert kept(".md-annotation{top:0}", page='<p class="md-annotation">') == ".md-annotation{top:0}"


NAMES = st.sampled_from("abcdef")


@given(st.lists(st.lists(NAMES, min_size=1, max_size=3), max_size=8), st.sets(NAMES))
def test_exactly_the_rules_whose_classes_are_all_there_stay_in_their_order(
    rules: list[list[str]], there: set[str]
) -> None:
    css = "".join(f".{' .'.join(classes)}{{top:{index}px}}" for index, classes in enumerate(rules))
    left = [int(number) for number in re.findall(r"top:(\d+)px", kept(css, f'<p class="{" ".join(there)}">'))]
    assert left == [index for index, classes in enumerate(rules) if {*classes} <= there]


@pytest.mark.parametrize(
    ("css", "place", "found"),
    [
        ("p{top:0}\n}", "2:1", "EOF reached before {} block"),
        ("p{top:0}\n p{top 0}", "2:8", "EOF reached"),
        ("p{a{top:0}}", "1:3", "a{top:0}"),
        ("p{top:0}@import 'y.css';", "1:9", "@import"),
        ("p{background:url(y.png)}", "1:3", "y.png"),
        ("p{background:url( '../y.png' )}", "1:3", "../y.png"),
    ],
)
def test_what_is_no_css_is_named(css: str, place: str, found: str) -> None:
    with pytest.raises(InputError) as stopped:
        used_styles.parsed({"x.css": css})
    (problem,) = str(stopped.value).splitlines()[-1:]
    assert f"assets/stylesheets/x.css:{place}" in problem
    assert found in problem


def site_of(folder: Path, pages: dict[str, str]) -> None:
    (folder / "assets/stylesheets").mkdir(parents=True)
    (folder / "assets/javascripts").mkdir()
    for name in ("one", "two"):
        (folder / f"assets/stylesheets/{name}.css").write_text(f".{name}{{top:0}}.late{{top:1px}}", "utf-8")
        (folder / f"assets/stylesheets/{name}.css.map").write_text("{}", "utf-8")
    (folder / "assets/javascripts/bundle.js").write_text("'late'", "utf-8")
    (folder / "assets/javascripts/site.js").write_text("'early'", "utf-8")
    (folder / "assets/javascripts/own.js").write_text("'two'", "utf-8")
    for name, text in pages.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")


def linked(classes: str, base: str = "", sheets: tuple[str, ...] = ("one", "two")) -> str:
    links = "\n".join(f'<link rel="stylesheet" href="{base}assets/stylesheets/{name}.css">' for name in sheets)
    return (
        f'<head>\n{links}\n<link rel="icon" href="x">\n</head><p class="{classes}">'
        f'<script src="{base}assets/javascripts/site.js" data-bundle="b"></script>'
    )


def test_pages_hold_theirs_and_one_file_holds_all(tmp_path: Path) -> None:
    site_of(tmp_path / "s", {"index.html": linked("one"), "sub/index.html": linked("two", "../")})
    used_styles.put_in(tmp_path / "s", tmp_path / "cache")
    (file,) = (tmp_path / "s/assets/stylesheets").iterdir()
    whole = file.read_bytes()
    assert whole.decode() == ".one{top:0}\n.late{top:1px}\n.two{top:0}\n.late{top:1px}"
    for name, base, own in (("index", "", "one"), ("sub/index", "../", "two")):
        page = (tmp_path / f"s/{name}.html").read_text("utf-8")
        assert f'<head>\n<style>.{own}{{top:0}}</style>\n<link rel="icon" href="x">' in page
        address = f"{base}assets/stylesheets/site.css?{hashlib.sha256(whole).hexdigest()[:8]}"
        assert f'<script data-styles="{address}" src="{base}assets/javascripts/site.js" data-bundle="b">' in page


def test_a_script_that_a_page_loads_late_counts_for_this_page(tmp_path: Path) -> None:
    own = '<script defer src="../assets/javascripts/own.js"></script>'
    site_of(tmp_path / "s", {"index.html": linked("one"), "sub/index.html": linked("one", "../") + own})
    used_styles.put_in(tmp_path / "s", tmp_path / "cache")
    assert "<style>.one{top:0}</style>" in (tmp_path / "s/index.html").read_text("utf-8")
    assert "<style>.one{top:0}\n.two{top:0}</style>" in (tmp_path / "s/sub/index.html").read_text("utf-8")


def test_texts_that_look_like_markup_stay_texts(tmp_path: Path) -> None:
    said = "<p>write data-bundle= there</p>"
    site_of(tmp_path / "s", {"index.html": said + linked("one")})
    css = ".one{content:'</style><b>'}"
    (tmp_path / "s/assets/stylesheets/one.css").write_text(css, "utf-8")
    used_styles.put_in(tmp_path / "s", tmp_path / "cache")
    page = (tmp_path / "s/index.html").read_text("utf-8")
    assert said in page
    assert page.count("data-styles=") == 1
    # A backslash before a slash means the slash.
    assert page.count("</style>") == 1
    assert r'<style>.one{content:"<\/style><b>"}' in page


@pytest.mark.parametrize(
    ("page", "found"),
    [
        (linked("one", "../", ("one",)), "one.css"),
        ("<p>x</p>", "none"),
        (
            linked("one", "../") + '<link rel="stylesheet" media="print" href="../p.css">',
            'media="print" href="../p.css">',
        ),
    ],
)
def test_pages_with_other_stylesheets_are_refused(page: str, found: str, tmp_path: Path) -> None:
    site_of(tmp_path / "s", {"index.html": linked("one"), "sub/index.html": page})
    with pytest.raises(InputError) as stopped:
        used_styles.put_in(tmp_path / "s", tmp_path / "cache")
    (problem,) = stopped.value.problems
    assert problem.file == "sub/index.html"
    assert problem.expected.endswith("the start page, each with rel and href only: one.css two.css")
    assert problem.found.endswith(found)
    assert (tmp_path / "s/assets/stylesheets/one.css").exists()


def test_a_stylesheet_that_is_not_there_or_linked_twice(tmp_path: Path) -> None:
    site_of(tmp_path / "s", {"index.html": linked("one", "", ("one", "one", "three"))})
    with pytest.raises(InputError, match=r"stylesheets/three\.css: expected a stylesheet; found no such file"):
        used_styles.put_in(tmp_path / "s", tmp_path / "cache")
    (tmp_path / "s/assets/stylesheets/three.css").write_text("p{left:0}", "utf-8")
    used_styles.put_in(tmp_path / "s", tmp_path / "cache")
    assert "<style>.one{top:0}\np{left:0}</style>" in (tmp_path / "s/index.html").read_text("utf-8")


def test_words_with_escapes_are_told_apart(tmp_path: Path) -> None:
    """By what is kept for pages that differ in nothing else."""
    site_of(tmp_path / "s", {"index.html": linked("md:x"), "sub/index.html": linked("mdx", "../")})
    (tmp_path / "s/assets/stylesheets/one.css").write_text(r".md\:x{top:0}p{left:0}", "utf-8")
    used_styles.put_in(tmp_path / "s", tmp_path / "cache")
    assert r"<style>.md\:x{top:0}" in (tmp_path / "s/index.html").read_text("utf-8")
    assert "<style>p{left:0}</style>" in (tmp_path / "s/sub/index.html").read_text("utf-8")


def test_a_changed_stylesheet_or_page_is_not_served_from_the_last_build(tmp_path: Path) -> None:
    for round_, (page, css) in enumerate([("one", "{top:0}"), ("two", "{top:0}"), ("two", "{top:9px}")]):
        folder = tmp_path / str(round_)
        site_of(folder, {"index.html": linked(page)})
        (folder / "assets/stylesheets/two.css").write_text(f".two{css}", "utf-8")
        used_styles.put_in(folder, tmp_path / "cache")
        expected = ".one{top:0}" if page == "one" else f".two{css}"
        assert f"<style>{expected}</style>" in (folder / "index.html").read_text("utf-8")


# The real pages, against the files that they were written with


# What changes, with these stylesheets added to the page, in any property of one element of each make, by its tags and
# classes from the page's root down, or of what stands before and after it.
CHANGES = """async addresses => {
  const paths = new Map([[document.documentElement, ""]]), makes = new Map();
  for (const e of document.querySelectorAll("body, body *")) {
    const path = `${paths.get(e.parentElement)} ${e.tagName}.${e.getAttribute("class")}.${e.hidden}`;
    paths.set(e, path);
    if (!makes.has(path)) makes.set(path, e);
  }
  const look = () => [...makes].flatMap(([path, e]) => ["", "::before", "::after"].map(part => {
    const style = getComputedStyle(e, part || null);
    if (part && style.content === "none") return [path + part];
    return [path + part, ...style.cssText.split("; ").filter(value => !value.startsWith("--"))];
  }));
  const before = look();
  const links = addresses.map(href => Object.assign(document.createElement("link"), {rel: "stylesheet", href}));
  await Promise.all(links.map(link => new Promise(done => { link.onload = done; document.head.append(link) })));
  const after = look();
  for (const link of links) link.remove();
  const changed = before.flatMap((was, i) => was.join() === after[i].join() ? [] :
    [[was[0], was.filter(v => !after[i].includes(v)), after[i].filter(v => !was.includes(v))]]);
  return [before.length, changed.slice(0, 5)];
}"""


def originals(site: Path) -> list[str]:
    """The stylesheets of the theme and ours, in the order of the pages' links before the build took them away."""
    theme = Path(material.__file__).parent / "templates/assets/stylesheets"
    sources = [next(theme.glob("main.*.min.css")), next(theme.glob("palette.*.min.css"))]
    extra = re.findall(r"^  - (assets/stylesheets/.*\.css)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.M)
    sources += [ROOT / "docs" / name for name in extra]
    for path in sources:
        shutil.copy(path, site / path.name)
    return [path.name for path in sources]


def assert_same_look(page: Page, sheets: list[str]) -> None:
    looked_at, changed = page.evaluate(CHANGES, sheets)
    assert looked_at > 60
    assert changed == []


@pytest.fixture(scope="module")
def both(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[str]]]:
    """The address of the site with the original stylesheets beside its pages, and theirs."""
    copy = tmp_path_factory.mktemp("both") / "site"
    shutil.copytree(site, copy)
    names = originals(copy)
    with served(copy) as address:
        yield address, [address + name for name in names]


def check(page: Page, identity: str) -> None:
    """Switches a box as a click does, but tells nobody: the theme's script is not loaded for it."""
    page.evaluate(
        "identity => { const box = document.getElementById(identity); if (box) box.checked = true }", identity
    )


@pytest.mark.browser
@pytest.mark.parametrize("path", ["", "ru/published/", "figures/", "your-number/", "404.html"])
def test_a_page_looks_as_it_does_with_all_styles(path: str, both: tuple[str, list[str]], browser: Browser) -> None:
    address, sheets = both
    with watching(browser, address, reduced_motion="reduce") as watched:
        page = watched.open(path)
        page.wait_for_load_state("networkidle")
        page.evaluate(OPEN_ALL)
        assert_same_look(page, sheets)
        page.evaluate("document.body.dataset.mdColorScheme = 'slate'")
        check(page, "__search")
        check(page, "__drawer")
        page.set_viewport_size({"width": 390, "height": 844})
        assert_same_look(page, sheets)
        page.emulate_media(media="print")
        assert_same_look(page, sheets)
        assert page.locator("#theme-bundle").count() == 0


@pytest.mark.browser
def test_an_answer_of_the_form_needs_no_other_styles(both: tuple[str, list[str]], browser: Browser) -> None:
    """The form's own script makes it, before the theme's comes."""
    address, sheets = both
    with watching(browser, address, reduced_motion="reduce") as watched:
        watched.page.route("**/site.css?*", lambda route: route.abort())
        page = watched.open("your-number/?value=33&scope=stream&streams=33&prompt=counting&backend=DEEPGEMM&nodes=33")
        page.wait_for_selector("form.your-number[data-answer]")
        page.wait_for_load_state("networkidle")
        assert page.locator(".answer ul.delta li.is-differs").count() > 0
        assert_same_look(page, sheets)


@pytest.mark.browser
def test_what_the_themes_script_adds_looks_as_it_does_with_all_styles(
    both: tuple[str, list[str]], browser: Browser
) -> None:
    address, sheets = both
    with watching(browser, address, reduced_motion="reduce") as watched:
        page = watched.page
        assert found(page, f"{address}ru/method/", "backend")
        page.wait_for_load_state("networkidle")
        assert_same_look(page, sheets)
        page.set_viewport_size({"width": 390, "height": 844})
        page.wait_for_timeout(300)
        assert_same_look(page, sheets)


@pytest.mark.browser
def test_a_missing_rule_is_seen(both: tuple[str, list[str]], browser: Browser) -> None:
    """The other side of the two tests above."""
    address, sheets = both
    with watching(browser, address, bypass_csp=True) as watched:
        page = watched.open()
        page.evaluate("for (const s of document.querySelectorAll('style')) s.textContent = ''")
        _, changed = page.evaluate(CHANGES, sheets)
        assert changed
