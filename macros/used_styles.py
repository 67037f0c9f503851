"""The styles of a page inside it: of the theme's rules and ours, those that the page or a script of its own can use.

The theme styles every feature it has, in a file that a phone waits for before it paints anything, though a page uses
a third of it. So each page holds its own rules, and the reader sees text while the rest of the page still arrives.
What the theme's script makes later is styled by one file of the whole site, which is fetched together with it.

A rule goes when its selector asks for an element, a class, an id or a setting that is nowhere; a custom property goes
when nothing reads it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import tinycss2

from macros import csp, kept
from macros.problems import InputError, Problem

_FOLDER = "assets/stylesheets"
_WHOLE = f"{_FOLDER}/site.css"
_LINK = re.compile(rf'<link rel="stylesheet" href="([^"]*){_FOLDER}/([^"/]+\.css)">\s*')
_ANY_LINK = re.compile(r"<link\b[^>]*\bstylesheet\b[^>]*>")
_SCRIPT = re.compile(r'<script\b[^>]*\ssrc="[^"]*assets/javascripts/([^"/]+)"')
# Our script, which fetches the file.
_LOADER = re.compile(r"<script (?=[^>]*\bdata-bundle=)")
# What selectors ask for: elements, classes, ids, the direction of writing and the theme's settings.
_ELEMENT = re.compile(r"<([a-zA-Z][\w-]*)")
_ATTRIBUTE = re.compile(r"""\s(?:class|id|dir|data-md-[a-z-]+)=(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_JUDGED = re.compile(r"dir|data-md-[a-z-]+")
_WORD = re.compile(r"[\w-]+")
# In var(), and in the style() of a query.
_READ = re.compile(r"\(\s*(--[\w-]+)")
# Characters of a piece. A slow phone can do something else between two.
_PIECE = 18_000
# The theme's script makes these only where a page asks for them, and such a page holds the class as well.
_FEATURES = re.compile(r"md-(annotation|mermaid|source|tag|version)|tabbed|mermaid|linenodiv|rtl$")


@dataclass(frozen=True)
class _Rule:
    """One of three: selectors, with what each asks for, and declarations; a block of rules; another at-rule, whole."""

    selectors: tuple[tuple[str, frozenset[str]], ...] = ()
    declarations: tuple[tuple[str, str], ...] = ()
    block: str = ""
    rules: tuple[_Rule, ...] = ()
    whole: str = ""


def put_in(site_dir: Path, cache: Path) -> None:
    """Puts each page's styles into it; the linked files leave the site for one. Raises InputError for bad CSS."""
    pages = {path: path.read_text("utf-8") for path in sorted(site_dir.rglob("*.html"))}
    sheets = _linked(pages, site_dir)
    scripts = {p.name: words_of_script(p.read_text("utf-8")) for p in site_dir.glob("assets/javascripts/*.js")}
    wanted = {path: words(page).union(*(scripts[n] for n in _SCRIPT.findall(page))) for path, page in pages.items()}
    everything = frozenset[str]().union(*wanted.values(), *scripts.values())
    styles = _kept(sheets, [everything, *wanted.values()], cache)

    for name in sheets:
        (site_dir / _FOLDER / name).unlink()
        (site_dir / _FOLDER / f"{name}.map").unlink(missing_ok=True)
    whole = styles[everything].encode()
    (site_dir / _WHOLE).write_bytes(whole)
    # One name, so that a page of yesterday finds it; the query, so that a page of today gets today's.
    address = f"{_WHOLE}?{hashlib.sha256(whole).hexdigest()[:8]}"
    for path, page in pages.items():
        first = _LINK.search(page)
        assert first, path  # it has those of the start page
        inside = "".join(f"<style>{piece}</style>\n" for piece in _pieces(styles[wanted[path]]))
        page = page[: first.start()] + inside + _LINK.sub("", page[first.start() :])
        path.write_text(_LOADER.sub(f'<script data-styles="{first[1]}{address}" ', page, count=1), "utf-8")


def _linked(pages: Mapping[Path, str], site_dir: Path) -> dict[str, str]:
    """The stylesheets of all pages, by name, in the order of their links. Raises InputError."""
    links = {path: [match[2] for match in _LINK.finditer(page)] for path, page in pages.items()}
    names = links[site_dir / "index.html"]
    problems = []
    for path, found in links.items():
        other = [link for link in _ANY_LINK.findall(pages[path]) if not _LINK.match(link)]
        if not found or found != names or other:
            expected = f"the stylesheets of the start page, each with rel and href only: {' '.join(names)}"
            have = " ".join([*found, *other]) or "none"
            problems.append(Problem(path.relative_to(site_dir).as_posix(), 0, 0, "", expected, have))
    files = {name: site_dir / _FOLDER / name for name in names}
    for path in files.values():
        if not path.is_file():
            problems.append(Problem(path.relative_to(site_dir).as_posix(), 0, 0, "", "a stylesheet", "no such file"))
    if problems:
        raise InputError(problems)
    return {name: path.read_text("utf-8") for name, path in files.items()}


def _pieces(style: str) -> list[str]:
    """The style, a rule a line, in pieces of about one length."""
    pieces = [""]
    for rule in re.sub(r"</(?=style)", r"<\\/", style, flags=re.IGNORECASE).split("\n"):
        if len(pieces[-1]) > _PIECE:
            pieces.append("")
        pieces[-1] += rule + "\n"
    return [piece.rstrip("\n") for piece in pieces]


def words(page: str) -> frozenset[str]:
    """Every name that a selector may ask for, and every custom property that is read, in a page and its own scripts."""
    found = {name.lower() for name in {*_ELEMENT.findall(page)}} | {*_READ.findall(page)}
    for values in {*_ATTRIBUTE.findall(page)}:
        found.update("".join(values).split())
    return frozenset(found).union(*map(words_of_script, csp.SCRIPT.findall(page)))


def words_of_script(script: str) -> frozenset[str]:
    """The same for what a script may set."""
    return frozenset(word for word in _WORD.findall(script) if not _FEATURES.match(word)).union(_READ.findall(script))


def _kept(sheets: Mapping[str, str], wanted: Iterable[frozenset[str]], cache: Path) -> dict[frozenset[str], str]:
    """`used` for each set of words, from the last build where nothing that counts has changed."""
    state = repr((sheets, version("tinycss2"), Path(__file__).read_text("utf-8"))).encode()
    content = kept.read(cache, state)
    rules = [] if content else parsed(sheets)
    counts, before = json.loads(content) if content else (sorted({*_counting(rules)}), {})
    keys = {
        known: hashlib.sha256(" ".join(sorted(known.intersection(counts))).encode()).hexdigest() for known in wanted
    }
    styles = {key: before.get(key) for key in keys.values()}
    if None in styles.values():
        rules = rules or parsed(sheets)
        styles |= {key: used(rules, known) for known, key in keys.items() if styles[key] is None}
        kept.write(cache, json.dumps([counts, styles]).encode(), state)
    return {known: styles[key] or "" for known, key in keys.items()}


def _counting(rules: Iterable[_Rule]) -> Iterator[str]:
    """Every word of which it matters whether it is known."""
    for rule in rules:
        for _, asked in rule.selectors:
            yield from asked
        yield from (name for name, _ in rule.declarations if name.startswith("--"))
        yield from _counting(rule.rules)


def parsed(sheets: Mapping[str, str]) -> list[_Rule]:
    """The rules of all sheets, by name, one after the other. Raises InputError."""
    problems: list[Problem] = []
    rules: list[_Rule] = []
    for name, sheet in sheets.items():
        nodes = tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True)
        rules += _rules(nodes, f"{_FOLDER}/{name}", problems)
    if problems:
        raise InputError(problems)
    return rules


def used(rules: Iterable[_Rule], known: frozenset[str]) -> str:
    """A stylesheet of the rules that ask only for what is `known`, a line each."""
    rules = [*rules]
    text = _text(rules, known, None)
    while True:
        before, text = text, _text(rules, known, known | {*_READ.findall(text)})
        # Again, as a property that went may have been the only one to read another.
        if text == before:
            return text


def _rules(nodes: Iterable[Any], file: str, problems: list[Problem]) -> Iterator[_Rule]:
    for node in nodes:
        keyword = node.lower_at_keyword if node.type == "at-rule" else ""
        if node.type == "error" or keyword == "import":
            problems.append(_problem(node, file))
        elif keyword in ("container", "media", "supports") and node.content is not None:
            inside = tinycss2.parse_rule_list(node.content, skip_comments=True, skip_whitespace=True)
            rules = tuple(_rules(inside, file, problems))
            yield _Rule(block=f"@{keyword} {_line(node.prelude)}", rules=rules)
        elif keyword:
            # All files are UTF-8, and only the first sheet of one could say so.
            if keyword != "charset":
                yield _Rule(whole=_line([node]))
        else:
            selectors = [(_line(selector), frozenset(_asked(selector))) for selector in _selectors(node.prelude)]
            yield _Rule(tuple(selectors), tuple(_declarations(node.content, file, problems)))


def _declarations(content: list[Any], file: str, problems: list[Problem]) -> Iterator[tuple[str, str]]:
    for node in tinycss2.parse_blocks_contents(content, skip_comments=True, skip_whitespace=True):
        if node.type != "declaration" or any(map(_leads_elsewhere, node.value)):
            problems.append(_problem(node, file))
        else:
            yield node.name, f"{node.name}:{_line(node.value)}{'!important' if node.important else ''}"


def _leads_elsewhere(node: Any) -> bool:
    """Whether it is an address that counts from the file, which is another one from within a page."""
    if node.type == "function" and node.lower_name == "url":
        return any(part.type == "string" and not part.value.startswith(("data:", "#")) for part in node.arguments)
    return node.type == "url" and not node.value.startswith(("data:", "#"))


def _line(nodes: list[Any]) -> str:
    """CSS in one line; within a string there is no end of a line."""
    return re.sub(r"\s*\n\s*", " ", tinycss2.serialize(nodes).strip())


def _problem(node: Any, file: str) -> Problem:
    found = node.message if node.type == "error" else node.serialize()
    expected = "CSS without rules inside rules, imports and addresses other than data: and #"
    return Problem(file, node.source_line, node.source_column, "", expected, found)


def _selectors(prelude: list[Any]) -> Iterator[list[Any]]:
    """The selectors of a list."""
    selector: list[Any] = []
    for node in prelude:
        if node == ",":
            yield selector
            selector = []
        else:
            selector.append(node)
    yield selector


def _asked(selector: list[Any]) -> Iterator[str]:
    """What must be there for a selector to match. What stands within `:is()` or `:not()` is not judged."""
    if any(node == "|" for node in selector):
        return  # namespaces
    for before, node in pairwise([None, *selector]):
        if node.type == "hash" or (node.type == "ident" and before == "."):
            yield node.value
        elif node.type == "ident" and before != ":":
            yield node.lower_value
        elif node.type == "[] block":
            name, *rest = [part for part in node.content if part.type != "whitespace"]
            if len(rest) == 2 and rest[0] == "=" and _JUDGED.fullmatch(name.value):
                yield rest[1].value


def _text(rules: Iterable[_Rule], known: frozenset[str], read: frozenset[str] | None) -> str:
    """The possible rules, a line each, without custom properties that are not `read`; None keeps them all."""
    return "\n".join(filter(None, (_rule(rule, known, read) for rule in rules)))


def _rule(rule: _Rule, known: frozenset[str], read: frozenset[str] | None) -> str:
    if rule.block:
        inside = _text(rule.rules, known, read).replace("\n", "")
        return f"{rule.block}{{{inside}}}" if inside else ""
    if rule.whole:
        return rule.whole
    possible = [selector for selector, asked in rule.selectors if asked <= known]
    stay = [text for name, text in rule.declarations if not name.startswith("--") or read is None or name in read]
    return f"{','.join(possible)}{{{';'.join(stay)}}}" if possible and stay else ""
