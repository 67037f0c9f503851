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

from macros import kept
from macros.problems import InputError, Problem

_FOLDER = "assets/stylesheets"
_LINK = re.compile(rf'<link rel="stylesheet" href="([^"]*{_FOLDER}/)([^"/]+\.css)">\s*')
_SCRIPT = re.compile(r'<script src="[^"]*assets/javascripts/([^"/]+)"')
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
# Our script, which fetches the file.
_LOADER = "data-bundle="
# What selectors ask for: elements, classes, ids, the direction of writing and the theme's settings.
_ELEMENT = re.compile(r"<([a-z][a-z0-9]*)")
_ATTRIBUTE = re.compile(r'\s(?:class|id|dir|data-md-[a-z-]+)="?([^">]*)')
_JUDGED = re.compile(r"dir|data-md-[a-z-]+")
_WORD = re.compile(r"[\w-]+")
_READ = re.compile(r"var\(\s*(--[\w-]+)")
PIECE = 18_000
# The theme's script makes these only where a page asks for them, and such a page holds the class as well.
_FEATURES = re.compile(r"md-(annotation|mermaid|source|tag|version)|tabbed|mermaid|linenodiv|rtl$")


@dataclass(frozen=True)
class _Rule:
    """A rule, with what each of its selectors asks for; or a block of rules; or anything else, as text."""

    selectors: tuple[tuple[str, frozenset[str]], ...] = ()
    declarations: tuple[tuple[str, str], ...] = ()
    head: str = ""
    rules: tuple[_Rule, ...] = ()


def put_in(site_dir: Path, cache: Path) -> None:
    """Puts each page's styles into it; the linked files leave the site for one. Raises InputError for bad CSS."""
    pages = {path: path.read_text("utf-8") for path in sorted(site_dir.rglob("*.html"))}
    names = _linked(pages, site_dir)
    folder = site_dir / _FOLDER
    sheets = {name: (folder / name).read_text("utf-8") for name in names}
    scripts = {p.name: words_of_script(p.read_text("utf-8")) for p in site_dir.glob("assets/javascripts/*.js")}
    wanted = {path: words(page).union(*(scripts[n] for n in _SCRIPT.findall(page))) for path, page in pages.items()}
    everything = frozenset[str]().union(*wanted.values(), *scripts.values())
    styles = _kept(sheets, [everything, *wanted.values()], cache)

    for name in names:
        (folder / name).unlink()
        (folder / f"{name}.map").unlink(missing_ok=True)
    whole = styles[everything].encode()
    # Named by its content: a browser may keep it, and asks for another one when it changes.
    file = f"site.{hashlib.sha256(whole).hexdigest()[:8]}.css"
    (folder / file).write_bytes(whole)
    for path, page in pages.items():
        first = _LINK.search(page)
        assert first, path  # it has those of the start page
        rest = _LINK.sub("", page).replace(_LOADER, f'data-styles="{first[1]}{file}" {_LOADER}', 1)
        inside = "".join(f"<style>{piece}</style>\n" for piece in _pieces(styles[wanted[path]]))
        path.write_text(rest[: first.start()] + inside + rest[first.start() :], "utf-8")


def _pieces(style: str) -> list[str]:
    """The style in pieces of some 20 kB, a rule a line: a slow phone can do other things between two of them."""
    pieces = [""]
    for rule in style.splitlines(keepends=True):
        if len(pieces[-1]) > PIECE:
            pieces.append("")
        pieces[-1] += rule
    return pieces


def _linked(pages: Mapping[Path, str], site_dir: Path) -> list[str]:
    """The stylesheets of all pages, in their order."""
    links = {path: [match[2] for match in _LINK.finditer(page)] for path, page in pages.items()}
    names = links[site_dir / "index.html"]
    expected = f"the stylesheets of the start page: {' '.join(names)}"
    problems = [
        Problem(path.relative_to(site_dir).as_posix(), 0, 0, "", expected, " ".join(found))
        for path, found in links.items()
        if found != names
    ]
    if problems:
        raise InputError(problems)
    return names


def words(page: str) -> frozenset[str]:
    """Every name that a selector may ask for, and every custom property that is read, in a page and its own scripts."""
    found = {*_ELEMENT.findall(page), *_READ.findall(page)}
    for value in {*_ATTRIBUTE.findall(page)}:
        found.update(value.split())
    return frozenset(found).union(*map(words_of_script, _INLINE.findall(page)))


def words_of_script(script: str) -> frozenset[str]:
    """The same for what a script may set."""
    return frozenset(word for word in _WORD.findall(script) if not _FEATURES.match(word)).union(_READ.findall(script))


def _kept(sheets: Mapping[str, str], wanted: Iterable[frozenset[str]], cache: Path) -> dict[frozenset[str], str]:
    """`used` for each set of words, from the last build where nothing that counts has changed."""
    asked = {word for sheet in sheets.values() for word in _WORD.findall(sheet)}
    keys = {known: hashlib.sha256(" ".join(sorted(known & asked)).encode()).hexdigest() for known in wanted}
    state = repr((sheets, version("tinycss2"), Path(__file__).read_text("utf-8"))).encode()
    before: dict[str, str] = json.loads(kept.read(cache, state) or b"{}")
    after = {key: before.get(key) for key in keys.values()}
    if None in after.values():
        rules = parsed(sheets)
        after |= {key: used(rules, known) for known, key in keys.items() if after[key] is None}
        kept.write(cache, json.dumps(after).encode(), state)
    return {known: after[key] or "" for known, key in keys.items()}


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
    """A stylesheet of the rules that ask only for what is `known`."""
    rules = [*rules]
    text = _text(rules, known, None)
    while True:
        before, text = text, _text(rules, known, known | {*_READ.findall(text)})
        # Again, as a property that went may have been the only one to read another.
        if text == before:
            return text


def _rules(nodes: Iterable[Any], file: str, problems: list[Problem]) -> Iterator[_Rule]:
    for node in nodes:
        if node.type == "error":
            problems.append(_problem(node, file))
        elif node.type == "at-rule" and node.lower_at_keyword in ("container", "media", "supports"):
            inside = tinycss2.parse_rule_list(node.content, skip_comments=True, skip_whitespace=True)
            head = f"@{node.lower_at_keyword} {_line(node.prelude)}"
            yield _Rule(head=head, rules=tuple(_rules(inside, file, problems)))
        elif node.type == "at-rule":
            # All files are UTF-8, and only the first sheet of one could say so.
            if node.lower_at_keyword != "charset":
                yield _Rule(head=_line([node]))
        else:
            selectors = [(_line(selector), frozenset(_asked(selector))) for selector in _selectors(node.prelude)]
            yield _Rule(tuple(selectors), tuple(_declarations(node.content, file, problems)))


def _declarations(content: list[Any], file: str, problems: list[Problem]) -> Iterator[tuple[str, str]]:
    for node in tinycss2.parse_blocks_contents(content, skip_comments=True, skip_whitespace=True):
        if node.type == "declaration":
            yield node.name, f"{node.name}:{_line(node.value)}{'!important' if node.important else ''}"
        else:
            problems.append(_problem(node, file))


def _line(nodes: list[Any]) -> str:
    """CSS in one line; within a string there is no end of a line."""
    return re.sub(r"\s*\n\s*", " ", tinycss2.serialize(nodes).strip())


def _problem(node: Any, file: str) -> Problem:
    found = node.message if node.type == "error" else node.serialize()
    return Problem(file, node.source_line, node.source_column, "", "CSS, without rules inside rules", found)


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
    for before, node in pairwise([None, *selector]):
        if node.type == "hash" or (node.type == "ident" and before != ":"):
            yield node.value
        elif node.type == "[] block":
            name, *rest = [part for part in node.content if part.type != "whitespace"]
            if len(rest) == 2 and rest[0] == "=" and _JUDGED.fullmatch(name.value):
                yield rest[1].value


def _text(rules: Iterable[_Rule], known: frozenset[str], read: frozenset[str] | None) -> str:
    """The possible rules, a line each, without custom properties that are not `read`; None keeps them all."""
    return "\n".join(filter(None, (_rule(rule, known, read) for rule in rules)))


def _rule(rule: _Rule, known: frozenset[str], read: frozenset[str] | None) -> str:
    if rule.rules:
        inside = _text(rule.rules, known, read).replace("\n", "")
        return f"{rule.head}{{{inside}}}" if inside else ""
    if rule.head:
        return rule.head
    possible = [selector for selector, asked in rule.selectors if asked <= known]
    stay = [text for name, text in rule.declarations if not name.startswith("--") or read is None or name in read]
    return f"{','.join(possible)}{{{';'.join(stay)}}}" if possible and stay else ""
