"""The gate: what was typed by hand is found where it stands, whatever it is typed into, and nothing else is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import BuildOnce, Outcome, Tree

README = "README.md"


@dataclass(frozen=True)
class Mistake:
    """One thing typed by hand: where, instead of what (empty: at the end), and what the gate must say of it.

    Without `new` it is part of what another mistake types.
    """

    file: str
    old: str
    new: str
    # The name of the mistake in the message, and what was found.
    field: str
    found: str
    # Text that the message must hold besides.
    hint: str = ""
    # The text whose line the message must name; empty: the file as a whole is named.
    at: str = ""


# Each number occurs once, so that each message can be told from the others.
MISTAKES = {
    "a figure typed into the English page": Mistake(
        "docs/index.md",
        "Ask an assistant on two days",
        "It reads 59.7 tok/s. Ask an assistant on two days",
        "typed number",
        "59.7",
        "printed today by moe-auto-decode",
        "It reads 59.7 tok/s.",
    ),
    "a figure typed into the Russian page": Mistake(
        "docs/ru/index.md",
        "Спросите ассистента в два разных дня",
        "Получается 59.7 tok/s. Спросите ассистента в два разных дня",
        "typed number",
        "59.7",
        "printed today by moe-auto-decode",
        "Получается 59.7 tok/s.",
    ),
    "a number in a description": Mistake(
        "docs/figures.md",
        "\ndescription: ",
        "\ndescription: At 61.3 tok/s. ",
        "typed number",
        "61.3",
        "the meta tag",
        "61.3",
    ),
    "a number in a template": Mistake(
        "overrides/main.html",
        '{% extends "base.html" %}',
        '{% extends "base.html" %}\n{% block announce %}<p>Now 62.9 tok/s</p>{% endblock %}',
        "typed number",
        "62.9",
        "",
        "62.9",
    ),
    "a number in an attribute": Mistake(
        "docs/runs.md",
        "",
        (
            '<abbr title="reads 64.1 at best">It</abbr> is quick, and 64.3% more, ½ of it ⁵, (x)² Ⅼ.\n\n'
            '<ol start="68"><li>It</li></ol>\n\n<meter value="69.9">so</meter>'
        ),
        "typed number",
        "64.1",
        "the attribute title",
        "64.1",
    ),
    "a percentage": Mistake("docs/runs.md", "", "", "typed number", "64.3%", "", "64.3%"),
    "a fraction": Mistake("docs/runs.md", "", "", "typed number", "½", "", "½"),
    "a raised number": Mistake("docs/runs.md", "", "", "typed number", "⁵", "", "⁵"),
    "a Roman number": Mistake("docs/runs.md", "", "", "typed number", "Ⅼ", "", "Ⅼ"),
    "a list that counts from a number": Mistake("docs/runs.md", "", "", "typed number", "68", "start", "68"),
    "a meter": Mistake("docs/runs.md", "", "", "typed number", "69.9", "the attribute value", "69.9"),
    "a data element typed by hand": Mistake(
        "docs/ru/runs.md",
        "",
        (
            '<data class="figure" data-figure="moe-gain" value="14">14%</data> и '
            '<data class="figure" data-figure="moe-gian" value="1">да</data>; '
            'это «вдвое» и "быстро", throughput, ровно 65.74 tok/s - и все; вдвое.',
        ),
        "moe-gain",
        "14%",
        "13%, as the data has it",
        "14%",
    ),
    "a data element of no figure": Mistake(
        "docs/ru/runs.md", "", "", "moe-gian", "да", "a figure of results/figures.yaml", "moe-gian"
    ),
    "a machine value typed by hand": Mistake("docs/ru/runs.md", "", "", "moe-gain", "14", "value 13.2328", "14%"),
    "a Russian number word without a statement": Mistake("docs/ru/runs.md", "", "", "number word", "вдвое"),
    "a Latin word in Russian": Mistake("docs/ru/runs.md", "", "", "Latin word", "throughput", "", "throughput"),
    "straight quotes in Russian": Mistake("docs/ru/runs.md", "", "", "typography", '"', "«ёлочки»"),
    "a hyphen for a dash": Mistake("docs/ru/runs.md", "", "", "typography", " - ", "a dash «—»"),
    "a rate with two decimals": Mistake(
        "docs/ru/runs.md", "", "", "precision", "65.74 tok/s", "a rate with one decimal at most", "65.74"
    ),
    "an English number word without a statement": Mistake(
        "docs/figures.md",
        "",
        "It is twice as fast, by ten per cent. It reads fifty-nine.",
        "number word",
        "twice",
        "It is twice as fast",
        "twice",
    ),
    "a number spelled out": Mistake("docs/figures.md", "", "", "number word", "fifty-nine", "It reads fifty-nine"),
    "a Russian number spelled out": Mistake("docs/ru/figures.md", "", "Вышло шестьдесят.", "number word", "шестьдесят"),
    "a name that no page uses": Mistake(
        "results/unbound.yaml",
        "GB10: {",
        "QX77: { reason: name of nothing }\nGB10: {",
        "QX77",
        "none",
        "a page that uses this name",
    ),
    "a word that no page uses": Mistake(
        "results/latin-words.yaml", "names: [", "names: [Zeppelin, ", "Zeppelin", "none", "a page that uses this word"
    ),
    "a figure in README": Mistake(
        README,
        "",
        "One stream reads 59.7 tok/s.",
        "typed number",
        "59.7",
        "printed today by moe-auto-decode",
        "59.7",
    ),
}


def make_all(tree: Tree) -> None:
    if not (tree.root / README).exists():
        tree.write(README, "# A title\n")
    for mistake in MISTAKES.values():
        if mistake.new and not mistake.old:
            tree.append(mistake.file, f"\n{mistake.new}\n")
        elif mistake.new:
            before = tree.read(mistake.file)
            assert mistake.old in before, f"{mistake.old!r} does not occur in {mistake.file}"
            tree.write(mistake.file, before.replace(mistake.old, mistake.new, 1))


def quietly(tree: Tree) -> Outcome:
    """Past `make site`, with mkdocs as quiet as it can be; -q also switches strict mode off."""
    return tree.run("-m", "mkdocs", "build", "--quiet", "--site-dir", str(tree.root / "out"))


@pytest.fixture(scope="module")
def faulty(build_once: BuildOnce, site: Path) -> tuple[Tree, Outcome]:
    """One build of a copy with every mistake at once."""
    return build_once("faulty", make_all, quietly)


def reported(output: str) -> Iterator[str]:
    return (line.strip() for line in output.split("\n") if "; found " in line)


def test_no_quiet_flag_skips_the_gate(faulty: tuple[Tree, Outcome]) -> None:
    assert faulty[1].code != 0


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_with_its_place(name: str, faulty: tuple[Tree, Outcome]) -> None:
    mistake, (tree, outcome) = MISTAKES[name], faulty
    line = f":{tree.line_of(mistake.file, mistake.at)}:" if mistake.at else ""
    pattern = re.compile(
        rf"^{re.escape(mistake.file + line)}.*\b{re.escape(mistake.field)}\b.*"
        rf"{re.escape(mistake.hint)}.*; found {re.escape(mistake.found)}$"
    )
    lines = list(reported(outcome.output))
    # Spaces at the end of a message are not seen.
    assert any(pattern.match(line) or pattern.match(f"{line} ") for line in lines), "\n".join(lines)


def test_nothing_else_is_reported(faulty: tuple[Tree, Outcome]) -> None:
    """Every message is about one of the mistakes: the gate that cries wolf gets switched off."""
    tokens = ("59.7", "61.3", "62.9", "64.1", "64.3", "14", "65.74", "65.7", "moe-gian", "вдвое", "throughput")
    tokens += ("½", "⁵", "Ⅼ", "68", "69.9", "fifty-nine", "шестьдесят")
    tokens += ('"', " - ", " -", "twice", "per cent", "QX77", "Zeppelin", "value 1")
    strange = [line for line in reported(faulty[1].output) if not any(token in line for token in tokens)]
    assert strange == []


def test_a_template_is_named_not_each_page_of_it(faulty: tuple[Tree, Outcome]) -> None:
    found = [line for line in reported(faulty[1].output) if line.endswith("found 62.9")]
    assert found
    assert all(line.startswith("overrides/main.html:") for line in found)


# What is found before anything is built


def stopped(tree: Tree, *messages: str) -> None:
    outcome = tree.check()
    assert not outcome.ok
    for message in messages:
        assert message in outcome.output, outcome.output


@pytest.mark.parametrize("language", ["en", "ru"])
def test_a_number_in_a_chart_title(language: str, tree: Tree) -> None:
    old = {"en": "language and length together move the figure by", "ru": "вместе меняют цифру в"}[language]
    tree.edit("results/charts.yaml", old, f"at 59.7 tok/s {old}")
    line = tree.line_of("results/charts.yaml", "59.7 tok/s")
    stopped(tree, f"results/charts.yaml:{line}:", f"prompts.title.{language}: expected {{figure-id}}; found 59.7")


def test_a_superseded_figure_as_current(tree: Tree) -> None:
    for file in ("docs/index.md", "docs/ru/index.md"):
        tree.edit(file, 'figure("step-gain-client", superseded=True)', 'figure("step-gain-client")')
    for file in ("docs/index.md", "docs/ru/index.md"):
        line = tree.line_of(file, 'figure("step-gain-client")')
        stopped(
            tree,
            f"{file}:{line}:1: figure: expected a current figure (its successor is step-gain-engine); "
            "found step-gain-client, which is superseded",
        )


EXTRA = """
left-over:
  label: { en: left over, ru: лишнее }
  question: other
  formula: { kind: ratio, of: [moe-b12x-decode, moe-auto-decode], studies: [STUDIES] }
""".replace("STUDIES", "config.moe_backend_requested, config.moe_backend_active")


def test_a_figure_that_no_page_shows(tree: Tree) -> None:
    tree.append("results/figures.yaml", EXTRA)
    stopped(tree, "left-over: expected a page that shows this figure, or `unused:` with the reason; found no page")
    tree.append("results/figures.yaml", "  unused: kept for a later page\n")
    assert tree.check().ok
    # Shown all the same, its excuse is wrong.
    for file in ("docs/runs.md", "docs/ru/runs.md"):
        tree.append(file, '\n{{ figure("left-over") }}\n')
    stopped(tree, "left-over.unused: expected nothing: it is shown; found docs/")


@pytest.mark.parametrize(
    ("old", "new", "aspect"),
    [
        ('{{ figure("code-c1-decode") }}. On a heavy', '{{ figure("heavy-c1-decode") }}. On a heavy', "figures"),
        ('{{ states("profile-gap-exceeds-flag") }}', "", "figures, statements and charts"),
        ('{{ chart("prompts") }}\n', "", "figures, statements and charts"),
        ("## Limits { #limits }", "### Limits { #limits }", "headings"),
        ("## Limits { #limits }", "## Limits { #limit }", "headings"),
        ("[Every run](runs.md)", "[Every run](figures.md)", "links"),
        ("docker logs CONTAINER 2>&1", "docker logs NAME 2>&1", "code blocks"),
    ],
)
def test_languages_out_of_step(old: str, new: str, aspect: str, tree: Tree) -> None:
    before = tree.read("docs/index.md")
    assert old in before
    tree.write("docs/index.md", before.replace(old, new, 1))
    output = tree.check().output
    assert re.search(rf"^  docs/ru/index\.md(:\d+:\d+)?: {aspect}.*: expected as in docs/index\.md", output, re.M), (
        output
    )


def test_a_russian_section_that_was_dropped(tree: Tree) -> None:
    text = tree.read("docs/ru/index.md")
    start, end = text.index("## Ограничения"), text.index("## Ваша цифра")
    tree.write("docs/ru/index.md", text[:start] + text[end:])
    stopped(tree, "headings: expected as in docs/index.md: level 2 #limits; found level 2 #conflicting-number")


def test_an_english_page_that_is_missing(tree: Tree) -> None:
    tree.remove("docs/runs.md")
    stopped(tree, "docs/runs.md: expected the same page as docs/ru/runs.md; found no such file")


@pytest.mark.parametrize(
    ("macro", "expected"),
    [
        ('figure("moe-gane")', "expected a figure of results/figures.yaml (did you mean moe-gain?); found moe-gane"),
        ('chart("promts")', "expected an id of results/charts.yaml (did you mean prompts?); found promts"),
    ],
)
def test_an_unknown_id_in_a_page(macro: str, expected: str, tree: Tree) -> None:
    for file in ("docs/runs.md", "docs/ru/runs.md"):
        tree.append(file, f"\n{{{{ {macro} }}}}\n")
    for file in ("docs/runs.md", "docs/ru/runs.md"):
        line = tree.line_of(file, macro)
        stopped(tree, f"{file}:{line}:1: {macro.split('(')[0]}: {expected}")


def test_all_pages_are_read_before_the_first_mistake_stops(tree: Tree) -> None:
    tree.append("docs/runs.md", '\n{{ figure("nobody-one") }}\n')
    tree.append("docs/ru/figures.md", '\n{{ figure("nobody-two") }}\n')
    tree.edit("docs/index.md", 'figure("prompt-gap")', 'figure("nobody-three")')
    stopped(tree, "nobody-one", "nobody-two", "nobody-three")


def test_the_span_of_the_kernel_arm_turned_into_the_other_arm(tree: Tree) -> None:
    tree.edit("results/runs/moe-b12x.yaml", "low: 62.6", "low: 59.5")
    stopped(
        tree,
        f"docs/index.md:{tree.line_of('docs/index.md', 'direction-consistent')}:",
        f"docs/ru/index.md:{tree.line_of('docs/ru/index.md', 'direction-consistent')}:",
        "every published run with the kernel lies above every published run with `auto`",
        "каждый опубликованный прогон с ядром выше каждого опубликованного прогона с `auto`",
    )


def test_the_real_site_passes(site: Path) -> None:
    """The other side of every test here: without a mistake there is a site, with search and pages in it."""
    assert (site / "ru/index.html").exists()
    assert json.loads((site / "search/search_index.json").read_text("utf-8"))["docs"]


MARKED = "\ue00061.7 tok/s\ue001"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("docs/runs.md", "\n# ", f"\n{MARKED}\n\n# ", "visible characters only; found U+E000"),
        ("docs/runs.md", "\n# ", '\n{{ "61.7" }}\n\n# ', "a macro call or a setting; found Const"),
        ("docs/runs.md", "\n# ", '\n{{ word("\\ue00061.7\\ue001") }}\n\n# ', "visible characters only; found U+E000"),
        ("docs/runs.md", "\n# ", '\n{{ "%c"|format(57344) }}61.7\n\n# ', "a macro call or a setting; found Filter"),
        ("docs/runs.md", "\n# ", "\n{% set x = 61 %}\n\n# ", "text and macro calls; found Assign"),
        ("docs/runs.md", "\ndescription: ", '\nsubtitle: "\\uE00061\\uE001"\ndescription: ', "found \\uE"),
        ("overrides/404.html", "{%", f"{MARKED}{{%", "visible characters only; found U+E000"),
        ("overrides/404.html", "{%", '{{ "\\ue00061.7\\ue001" }}{%', "found \\ue"),
        ("mkdocs.yml", "\ntheme:", '\ncopyright: "\\ue00061\\ue001"\ntheme:', "found \\ue"),
        ("results/glossary.yaml", "\n  text:\n    en: ", '\n  text:\n    en: "\\uE00068.8\\uE001" #', "found U+E000"),
    ],
)
def test_the_gates_marks_cannot_be_forged(file: str, old: str, new: str, message: str, tree: Tree) -> None:
    tree.write(file, tree.read(file).replace(old, new, 1))
    assert new in tree.read(file)
    stopped(tree, f"{file}:", message)


@pytest.mark.parametrize("name", ["number-words", "latin-words"])
def test_without_its_lists_the_gate_is_not_open(name: str, tree: Tree) -> None:
    file = f"results/{name}.yaml"
    tree.write(file, "[a]\n")
    stopped(tree, file)
    tree.write(file, "en: ['(']\nru: [x]\n" if name == "number-words" else "names: 5\n")
    stopped(tree, file)
    tree.remove(file)
    stopped(tree, f"{file}: expected a readable file")


def test_a_page_that_is_no_text(tree: Tree) -> None:
    tree.write("docs/method.md", b"# A\xff\n")
    (tree.root / "docs/folder.md").mkdir()
    stopped(
        tree, "docs/method.md:1:4: expected UTF-8 text; found byte 0xff", "docs/folder.md: expected a readable file"
    )
