"""The gate: reads the built site as its readers will, and finds what does not come from data.

It runs on every build, before the invisible marks of `binding` are taken out, and looks at text, readable
attributes, drawings, exports and the documents at the root:

- a number outside marks was typed by hand, unless it is an allowed name (results/unbound.yaml);
- a number word (results/number-words.yaml) needs a statement in its sentence;
- a <data> element must print its figure as the data has it today;
- an own rate never has two decimals;
- Latin words on Russian pages must be names (results/latin-words.yaml), and the typography must be Russian.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lxml import etree

from macros import binding, printing, quotes, typography, word_lists
from macros.locale import locale
from macros.numbers import short_count
from macros.pages import Page
from macros.problems import Problem
from macros.render import Renderer
from macros.site import Site
from macros.vocabulary import Language

READABLE = ("alt", "title", "aria-label", "placeholder", "data-note", "data-head", "label")
READABLE_META = re.compile(
    r"^(description|author|keywords|twitter:(title|description|image:alt)|og:(title|description|site_name|image:alt))$"
)
# Attributes that a browser shows as numbers.
COUNTING = {
    "ol": ("start",),
    "li": ("value",),
    "meter": ("value", "min", "max"),
    "progress": ("value", "max"),
    "input": ("value", "min", "max"),
    "button": ("value",),
}
SILENT = ("script", "style", "code", "pre", "template")
BLOCKS = ("p", "li", "td", "th", "dt", "dd", "h1", "h2", "h3", "h4", "figcaption", "summary", "div", "title", "small")
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff")
# Fractions, raised, circled and Roman numerals too, which \d leaves out; a power is notation: x², (…)².
_POWERS = "²³"
_NUMERALS = "".join(c for c in map(chr, range(0x3400)) if unicodedata.category(c) in ("No", "Nl") and c not in _POWERS)
HAS_DIGIT = re.compile(rf"[\d{_NUMERALS}{_POWERS}]")
NUMBER = re.compile(rf"[+−-]?\d[\d.,\u202f]*(?:\s?%|×)?|[{_NUMERALS}]|(?<![\w)])[{_POWERS}]")
TWO_DECIMALS = re.compile(r"\d+[.,]\d\d+\s*(?:tok/s|tokens? per second|токен\w* в секунду)")
ADDRESS = re.compile(r"(?:https?://|(?<!\w)\.{0,2}/)[^\s)>\"]+|[\w./-]+\.(?:md|html|json|yaml|svg|png|xml|txt|csv)\b")
MARKDOWN_CODE = re.compile(r"^(```+|~~~+).*?^\1|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LATIN = re.compile(r"[A-Za-z][A-Za-z0-9'’]*(?:[-./_][A-Za-z0-9]+)*")
SENTENCE = re.compile(r"(?<=[.!?])\s+")


@dataclass
class Gate:
    """One run over one built site; problems are collected, never raised one by one."""

    site: Site
    pages: list[Page]
    root: Path
    problems: list[Problem] = field(default_factory=list)
    latin_used: set[str] = field(default_factory=set)
    # Menus and the like stand on every page: what was found clean once is not read again.
    clean: set[tuple[Language, str]] = field(default_factory=set)
    clean_blocks: set[tuple[Language, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        lists = word_lists.read(self.site.results)
        self.number_words, self.latin = lists.number, lists.latin

    # The whole site

    def site_folder(self, folder: Path) -> None:
        """Reads every file below `folder`, then the documents at the root."""
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.suffix == ".html":
                self.page(name, path.read_text("utf-8"))
            elif path.suffix == ".svg" and name.startswith("charts/"):
                self.drawing(name, path.read_bytes())
            elif path.suffix == ".json" and not name.startswith(("search/", "schema/")):
                self.export(name, path.read_text("utf-8"))
            elif path.suffix in (".md", ".txt", ".xml") and name not in ("sitemap.xml", "robots.txt"):
                self.plain(name, path.read_text("utf-8"))
        for name in DOCUMENTS:
            if (self.root / name).exists():
                self.document(name, (self.root / name).read_text("utf-8"))
        self.unused_allowances()

    def unused_allowances(self) -> None:
        for name in sorted(set(self.site.allowed.names) - self.site.allowed.used):
            self.problems.append(Problem("results/unbound.yaml", 0, 0, name, "a page that uses this name", "none"))
        for name in sorted(set(self.latin) - self.latin_used):
            self.problems.append(Problem("results/latin-words.yaml", 0, 0, name, "a page that uses this word", "none"))

    # One page

    def page(self, name: str, marked: str) -> None:
        language: Language = "ru" if name.startswith("ru/") else "en"
        tree = etree.fromstring(marked, etree.HTMLParser())
        self.data_elements(name, tree, language)
        for text, what in _texts(tree):
            if text.isspace() or (language, text) in self.clean:
                continue
            before = len(self.problems)
            self.numbers(name, text, what)
            if language == "ru":
                self.latin_words(name, text)
            if len(self.problems) == before:
                self.clean.add((language, text))
        # Sentences are looked at whole: a glossary link or a figure may stand in the middle of one.
        for element in tree.iter(*BLOCKS):
            text = _own_text(element)
            if not text.strip() or (language, text) in self.clean_blocks:
                continue
            before = len(self.problems)
            self.words(name, text, language)
            self.precision(name, text)
            if language == "ru":
                self.typography(name, text)
            if len(self.problems) == before:
                self.clean_blocks.add((language, text))

    def data_elements(self, name: str, tree: Any, language: Language) -> None:
        """Each <data data-figure> must be a figure, with today's text and value."""
        for element in tree.iter("data"):
            figure_id, text = element.get("data-figure"), "".join(element.itertext())
            if figure_id is None:
                continue
            figure = self.site.figures.get(figure_id)
            shown = binding.strip(text)
            if figure is None:
                self.report(name, figure_id, "a figure of results/figures.yaml", shown)
                continue
            printed = printing.text(figure, locale(language))
            if shown not in (printed, printed.removesuffix("×")):
                self.report(name, figure_id, f"{printed}, as the data has it", shown)
            if figure.display == "rate" and re.search(r"\.\d\d", shown):
                self.report(name, figure_id, "a rate with one decimal at most", shown)
            if element.get("value") != printing.machine_value(figure):
                self.report(name, figure_id, f"value {printing.machine_value(figure)}", str(element.get("value")))

    def numbers(self, name: str, marked: str, what: str) -> None:
        if not HAS_DIGIT.search(marked):
            return
        rest = self.site.allowed.blank(ADDRESS.sub(" ", binding.unbound(marked)))
        for match in NUMBER.finditer(rest):
            typed = match.group().strip(".,")
            where = " ".join(binding.strip(marked).split())[:90]
            expected = f"a number from data in {what} {where!r}{self.hint(typed)}"
            self.report(name, "typed number", expected, typed)

    def hint(self, typed: str) -> str:
        """The figures that print this number today: a hint for the author, never filled in."""
        digits = typed.strip("+−-%× ")
        same = [f.id for f in self.site.figures.values() if printing.text(f, locale("en")).strip("%×") == digits]
        return f" (printed today by {', '.join(same)})" if same else ""

    def words(self, name: str, marked: str, language: Language) -> None:
        pattern = self.number_words[language]
        if not pattern.search(binding.strip(marked)):
            return
        for sentence in SENTENCE.split(marked):
            found = pattern.search(binding.strip(sentence))
            if found and binding.STATEMENT not in sentence:
                where = " ".join(binding.strip(sentence).split())[:120]
                self.report(name, "number word", f"a statement bound to the sentence {where!r}", found.group())

    def precision(self, name: str, marked: str) -> None:
        if not HAS_DIGIT.search(marked):
            return
        # Others' figures print as published; an own one is checked where it stands in its <data>.
        for match in TWO_DECIMALS.finditer(binding.unbound(marked)):
            self.report(name, "precision", "a rate with one decimal at most", match.group())

    def latin_words(self, name: str, marked: str) -> None:
        text = self.site.allowed.blank(ADDRESS.sub(" ", binding.unbound(marked)))
        for match in LATIN.finditer(text):
            word = match.group()
            if word in self.latin:
                self.latin_used.add(word)
            elif len(word) > 1:
                where = " ".join(binding.strip(marked).split())[:90]
                expected = f"a Russian word, or a name of results/latin-words.yaml, in {where!r}"
                self.report(name, "Latin word", expected, word)

    def typography(self, name: str, marked: str) -> None:
        # Names from data keep their own spelling.
        shown = typography.text(re.sub(" {3,}", " … ", ADDRESS.sub(" ", binding.unbound(marked))))
        for pattern, expected in _TYPOGRAPHY:
            broken = pattern.search(shown)
            if broken:
                where = " ".join(shown[max(0, broken.start() - 30) : broken.end() + 30].split())
                self.report(name, "typography", f"{expected} in {where!r}", broken.group())

    # Other files

    def drawing(self, name: str, raw: bytes) -> None:
        """A drawing's text nodes: figures of its chart, ticks, and names; its texts were checked when drawn."""
        chart_id, language = name.removeprefix("charts/").split(".")[:2]
        spec = self.site.charts.get(chart_id)
        if spec is None or language not in ("en", "ru"):
            self.report(name, "chart", "a chart of results/charts.yaml", chart_id)
            return
        words = locale("ru" if language == "ru" else "en")
        figures = [self.site.figures[f] for f in spec.printed]
        printed = {printing.text(f, words) for f in figures}
        printed |= {span for f in figures if (span := printing.span_text(f, words))}
        planned = [self.site.dataset.runs[name].workload.prompt_tokens for name in spec.missing]
        printed |= {short_count(tokens) for tokens in planned if tokens}
        printed |= {str(f.config["workload.concurrency"]) for f in figures if f.config.get("workload.concurrency")}
        page = Renderer(self.site, "ru" if language == "ru" else "en", "")
        # Names of data, in as many lines as they fill.
        subject = binding.strip(quotes.subject([page.get(f, superseded=True) for f in spec.figures], page))
        longest_first = sorted((re.escape(p.removesuffix("×")) for p in printed), key=len, reverse=True)
        known = re.compile(rf"(?<![\w.])(?:{'|'.join(longest_first)})(?!\w|\.\d)")
        for element in etree.fromstring(raw).iter("{http://www.w3.org/2000/svg}text"):
            text = "".join(str(part) for part in element.itertext())
            if " ".join(text.split()) in subject:
                continue
            tick = re.fullmatch(r"[\d.,\s\u202fKMk]+ ?%?", text.strip())
            rest = known.sub(" ", self.site.allowed.blank(ADDRESS.sub(" ", text)))
            if not tick and re.search(r"\d", rest) and not re.search(r"\d{4}-\d\d-\d\d|n[:=] ?\d", rest):
                self.report(name, "typed number", "a number from the chart's figures", text)

    def export(self, name: str, marked: str) -> None:
        """Sentences in a JSON export, found under the language keys, must be bound like any other text."""
        for path, text in _sentences(json.loads(marked)):
            self.numbers(name, text, path)
            self.precision(name, text)

    def plain(self, name: str, marked: str) -> None:
        """Feeds and Markdown exports: everything outside code and addresses."""
        for line in MARKDOWN_CODE.sub(" ", re.sub(r"<[^>]*>", " ", marked)).split("\n"):
            self.numbers(name, line, "the line")

    def document(self, name: str, text: str) -> None:
        """README and its like: no number but names; fields of CITATION.cff that are versions or dates aside."""
        blanked = MARKDOWN_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
        for number, line in enumerate(blanked.split("\n"), 1):
            if name == "CITATION.cff" and re.match(r"\s*(cff-version|version|date-released|license):", line):
                continue
            rest = self.site.allowed.blank(ADDRESS.sub(" ", line))
            rest = re.sub(r"^#* *\[?\d+\.\d+\.\d+\]?( - \d{4}-\d\d-\d\d)?|^\s*\d+\. ", " ", rest)
            for match in NUMBER.finditer(rest):
                typed = match.group().strip(".,")
                self.problems.append(
                    Problem(name, number, match.start() + 1, "typed number", f"no figure{self.hint(typed)}", typed)
                )

    # Messages

    def report(self, name: str, what: str, expected: str, found: str) -> None:
        file, line = self.source_of(name, found)
        place = f"{what} (on {name})" if file != name else what
        self.problems.append(Problem(file, line, 1 if line else 0, place, expected, found))

    def source_of(self, name: str, literal: str) -> tuple[str, int]:
        """The source file and line that most likely hold a literal of a built page; else the page itself."""
        wanted = binding.strip(literal)
        for file, source in self._sources(name):
            for number, line in enumerate(source.split("\n"), 1):
                if wanted and wanted in re.sub(r"\{\{.*?\}\}", "", line):
                    return file, number
        return name, 0

    def _sources(self, name: str) -> Iterator[tuple[str, str]]:
        stem = name.removesuffix("index.html").removesuffix(".html").rstrip("/")
        language = "ru" if stem == "ru" or stem.startswith("ru/") else "en"
        # A whole folder, not two letters: runs.md is an English page.
        wanted = ((stem[2:].lstrip("/") if language == "ru" else stem) or "index") + ".md"
        for page in self.pages:
            if page.name == wanted and page.language == language:
                yield page.file, page.source
        patterns = (
            "overrides/**/*.html",
            "results/*.yaml",
            f"macros/locales/{language}.yaml",
            "macros/*.py",
            "mkdocs.yml",
        )
        for pattern in patterns:
            for path in sorted(self.root.glob(pattern)):
                yield path.relative_to(self.root).as_posix(), path.read_text("utf-8")


_TYPOGRAPHY = (
    (re.compile(r'"'), "«ёлочки»"),
    (re.compile(r"(?<=[\w»,)]) - (?=\w)"), "a dash «—»"),
    (re.compile(r"(?<=\S) —"), "a no-break space before the dash"),
    (re.compile(r"\d-\d(?!\d*-)"), "an en dash between numbers"),
    (re.compile(r"(?<![\w])[Ее]ще(?!\w)"), "ё in «ещё»"),
)


def _texts(element: Any, silent: bool = False) -> list[tuple[str, str]]:
    """(marked text, what it is) of everything that a reader can read, hear or is shown in a preview."""
    found: list[tuple[str, str]] = []
    _collect(element, silent, found)
    return found


def _collect(element: Any, silent: bool, found: list[tuple[str, str]]) -> None:
    tag = element.tag
    if isinstance(tag, str):
        attributes = element.attrib
        for name in READABLE + COUNTING.get(tag, ()):
            if value := attributes.get(name):
                found.append((value, f"the attribute {name}"))
        if tag == "meta" and READABLE_META.match(attributes.get("name") or attributes.get("property") or ""):
            found.append((attributes.get("content") or "", "the meta tag"))
        inside = silent or tag in SILENT
        if element.text and not inside:
            found.append((element.text, f"the {tag}"))
        for child in element:
            _collect(child, inside, found)
    if element.tail and not silent:
        found.append((element.tail, "the text"))


def _own_text(element: Any) -> str:
    """Text of a block without the blocks inside it, so that sentences are seen once and whole."""
    parts = [element.text or ""]
    for child in element:
        if isinstance(child.tag, str) and child.tag not in BLOCKS and child.tag not in SILENT:
            parts.append(_own_text(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _sentences(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("en", "ru") and isinstance(inner, str):
                yield f"{path}.{key}", inner
            else:
                yield from _sentences(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _sentences(inner, f"{path}[{index}]")
