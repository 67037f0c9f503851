"""The pages as written: which figures, statements and charts each section uses, and whether both languages agree.

This pass reads sources only. It finds every mistake of every page at once, where a build stops at the first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import jinja2
from jinja2 import nodes

from macros import printing, reading, statements, strict_yaml
from macros.dataset import placed
from macros.locale import locale
from macros.problems import InputError, Problem, nearest
from macros.render import Renderer
from macros.site import Site
from macros.statements import Statement
from macros.vocabulary import Language

# Macros whose first argument is the id of a figure, and those that print it as current.
FIGURE_MACROS = ("figure", "heading", "plain", "times")
# Macros that say something of a figure without printing it.
ABOUT_FIGURE = ("spread", "spreads", "runs_of", "acceptance")
NAMED = {"chart": "charts", "states": "statements"}
# The parts of a template that a page may have.
_PLAIN = (
    nodes.Call, nodes.Const, nodes.Getattr, nodes.Keyword, nodes.Name, nodes.Output, nodes.Template, nodes.TemplateData,
)  # fmt: skip
_HEADING = re.compile(r"^(#{1,6}) +(.*?)(?: *\{ ?#([\w-]+)[^}]*\})? *$")
_LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Call:
    """One macro call: its name, its first argument as text, its flags, its place."""

    name: str
    argument: str
    superseded: bool
    span: bool
    line: int
    section: str


@dataclass(frozen=True)
class Page:
    """One source file; `name` is the same in both languages, `file` is printed in messages."""

    name: str
    language: Language
    file: str
    source: str

    @cached_property
    def tree(self) -> nodes.Template:
        return jinja2.Environment(autoescape=False).parse(self.source)

    @cached_property
    def headings(self) -> list[tuple[int, int, str, str]]:
        """(line, level, id, text) of each heading outside code blocks."""
        blanked = reading.CODE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), self.source)
        found = []
        for number, line in enumerate(blanked.split("\n"), 1):
            match = _HEADING.match(line)
            if match:
                found.append((number, len(match[1]), match[3] or "", match[2]))
        return found

    @cached_property
    def calls(self) -> list[Call]:
        found = []
        for call in self.tree.find_all(nodes.Call):
            if not isinstance(call.node, nodes.Name):
                continue
            first = call.args[0] if call.args else None
            argument = str(first.value) if isinstance(first, nodes.Const) else ""
            flags = {k.key for k in call.kwargs}
            section = self.section_at(call.lineno)
            found.append(Call(call.node.name, argument, "superseded" in flags, "span" in flags, call.lineno, section))
        return found

    @cached_property
    def code_blocks(self) -> list[str]:
        return [match.group() for match in reading.CODE.finditer(self.source)]

    @cached_property
    def links(self) -> list[str]:
        return _LINK.findall(reading.CODE.sub("", self.source))

    def section_at(self, line: int) -> str:
        current = ""
        for number, _, heading_id, _ in self.headings:
            if number > line:
                break
            current = heading_id or current
        return current

    def sentence_of(self, call: Call) -> str:
        """The sentence that a states() call binds, as source text."""
        said = re.compile(rf"states\([\"']{re.escape(call.argument)}[\"']\)")
        pieces = [piece for line, piece in reading.sentences(self.source) if line + piece.count("\n") >= call.line]
        return next((piece for piece in pieces if said.search(piece)), "")


def read(docs: Path) -> list[Page]:
    """All pages under docs/, in a fixed order; raises InputError for what is no text that a reader sees."""
    pages, problems = [], list[Problem]()
    for path in sorted(docs.rglob("*.md")):
        relative = path.relative_to(docs).as_posix()
        russian = relative.startswith("ru/")
        name = relative.removeprefix("ru/")
        file = f"{docs.name}/{relative}"
        raw, found = strict_yaml.read_bytes(path, file)
        source, more = strict_yaml.decode(raw, file) if raw is not None else (None, [])
        problems += found + more
        pages.append(Page(name, "ru" if russian else "en", file, source or ""))
    if problems:
        raise InputError(problems)
    return pages


def check(pages: list[Page], site: Site) -> list[Problem]:
    """Every mistake that the sources show: unknown ids, failed statements, languages out of step, unused figures."""
    problems: list[Problem] = []
    for page in pages:
        try:
            _ = page.tree
        except jinja2.TemplateSyntaxError as error:
            problems.append(Problem(page.file, error.lineno, 1, "", "a valid macro call", error.message or "an error"))
    if problems:
        return problems
    for page in pages:
        problems += _no_programs(page)
        problems += _calls(page, site)
    problems += _statements(pages, site)
    problems += _parity(pages)
    problems += _unused(pages, site)
    return problems


def _no_programs(page: Page) -> Iterator[Problem]:
    """Pages call macros and do nothing else: what they could compute or build of characters would come from no data."""
    front = re.match(r"---\n.*?\n---\n", page.source, re.DOTALL)
    yield from strict_yaml.escapes(front[0] if front else "", page.file)
    for output in page.tree.find_all(nodes.Output):
        for node in output.nodes:
            call = isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name)
            setting = isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name)
            if not (isinstance(node, nodes.TemplateData) or call or setting):
                yield Problem(page.file, node.lineno, 1, "", "a macro call or a setting", type(node).__name__)
    for other in page.tree.find_all(nodes.Node):
        if not isinstance(other, _PLAIN):
            yield Problem(page.file, other.lineno, 1, "", "text and macro calls", type(other).__name__)
        elif isinstance(other, nodes.Const) and isinstance(other.value, str):
            for hidden in strict_yaml.invisible(other.value, page.file):
                yield replace(hidden, line=other.lineno, column=1)


def _calls(page: Page, site: Site) -> Iterator[Problem]:
    known: dict[str, Mapping[str, object]] = {"charts": site.charts, "statements": site.statements}
    for call in page.calls:
        if call.name in FIGURE_MACROS:
            figure = site.figures.get(call.argument)
            if figure is None:
                yield _unknown(page, call, "a figure of results/figures.yaml", site.figures)
            elif figure.status != "current" and not call.superseded and call.name != "plain":
                found = f"{call.argument}, which is {figure.status}"
                hint = f" (its successor is {figure.superseded_by})" if figure.superseded_by else ""
                yield Problem(page.file, call.line, 1, call.name, f"a current figure{hint}", found)
        elif call.name in ABOUT_FIGURE and call.argument not in site.figures:
            yield _unknown(page, call, "a figure of results/figures.yaml", site.figures)
        elif call.name in NAMED:
            names = known[NAMED[call.name]]
            if call.argument not in names:
                yield _unknown(page, call, f"an id of results/{NAMED[call.name]}.yaml", names)


def _unknown(page: Page, call: Call, what: str, known: Mapping[str, object]) -> Problem:
    return Problem(page.file, call.line, 1, call.name, what + nearest(call.argument, known), call.argument or "no id")


# Statements


def _statements(pages: list[Page], site: Site) -> Iterator[Problem]:
    bound: dict[str, list[tuple[Page, Call]]] = {}
    for page in pages:
        for call in page.calls:
            if call.name == "states":
                bound.setdefault(call.argument, []).append((page, call))
    for statement in statements.failed(site.statements):
        # One mistake, though every page says it.
        said = [
            (page, call.line, f"“{reading.plain(page.sentence_of(call), Renderer(site, page.language, ''))}”")
            for page, call in bound.get(statement.id, ())
        ]
        if said:
            page, line, sentence = said[0]
            also = tuple(f"{p.file}:{n}:1: {s}" for p, n, s in said[1:])
            expected = f"data that supports the sentence {sentence}"
            yield Problem(page.file, line, 1, statement.id, expected, explain(statement), also)
    for statement_id in site.statements:
        if statement_id not in bound:
            expected, found = "a sentence that says it", "no page with states() for it"
            yield placed(site.results, "results/statements.yaml", (statement_id,), expected, found)


def explain(statement: Statement) -> str:
    """The predicate of a statement and the values that it met."""
    words = locale("en")
    values = ", ".join(f"{figure.id} = {printing.text(figure, words)}" for figure in statement.figures)
    bounds = statement.predicate.model_dump(exclude_none=True, exclude={"kind", "of"})
    extra = "".join(f", {key} {value}" for key, value in bounds.items())
    return f"{statement.predicate.kind}({', '.join(statement.predicate.of)}{extra}) with {values}"


# Both languages in step


def _parity(pages: list[Page]) -> Iterator[Problem]:
    by_name: dict[str, dict[Language, Page]] = {}
    for page in pages:
        by_name.setdefault(page.name, {})[page.language] = page
    for name, pair in by_name.items():
        if len(pair) == 1:
            page = next(iter(pair.values()))
            other = f"docs/ru/{name}" if page.language == "en" else f"docs/{name}"
            yield Problem(other, 0, 0, "", f"the same page as {page.file}", "no such file")
            continue
        yield from _out_of_step(pair["en"], pair["ru"])


def _out_of_step(en: Page, ru: Page) -> Iterator[Problem]:
    aspects: dict[str, Callable[[Page], list[tuple[int, str]]]] = {
        "headings": lambda p: [(line, f"level {level} #{name}") for line, level, name, _ in p.headings],
        "figures, statements and charts": lambda p: [
            (c.line, f"{c.section}: {'figure' if c.name in FIGURE_MACROS else c.name} {c.argument}") for c in p.calls
        ],
        "links": lambda p: [(0, link) for link in p.links],
        "code blocks": lambda p: [(0, block) for block in p.code_blocks],
    }
    for aspect, of in aspects.items():
        left, right = of(en), of(ru)
        for index in range(max(len(left), len(right))):
            a = left[index][1] if index < len(left) else "nothing"
            b = right[index][1] if index < len(right) else "nothing"
            if a != b:
                line = right[index][0] if index < len(right) else 0
                yield Problem(ru.file, line, 1, aspect, f"as in {en.file}: {a}", b)
                break


def uses(pages: list[Page], site: Site) -> dict[str, list[tuple[Page, str]]]:
    """Figure id → the pages and sections that print it, charts included."""
    found: dict[str, list[tuple[Page, str]]] = {figure_id: [] for figure_id in site.figures}
    for page in pages:
        for call in page.calls:
            names = [call.argument] if call.name in FIGURE_MACROS else []
            beside = site.span_of(call.argument) if call.span and call.argument in site.figures else None
            if beside:
                names.append(beside.id)
            if call.name == "chart" and call.argument in site.charts:
                names = list(site.charts[call.argument].figures)
            for name in names:
                if name in found and (page, call.section) not in found[name]:
                    found[name].append((page, call.section))
    return found


def _unused(pages: list[Page], site: Site) -> Iterator[Problem]:
    for figure_id, places in uses(pages, site).items():
        figure = site.figures[figure_id]
        if not places and not figure.unused:
            expected = "a page that shows this figure, or `unused:` with the reason"
            yield placed(site.results, "results/figures.yaml", (figure_id,), expected, "no page")
        elif places and figure.unused:
            path, shown = (figure_id, "unused"), places[0][0].file
            yield placed(site.results, "results/figures.yaml", path, "nothing: it is shown", shown)
