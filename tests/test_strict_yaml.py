"""The YAML reader: recorded digits are kept, surprises are named, strangers' input never escapes as an exception."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from macros import places, strict_yaml
from macros.scalars import Surprise

VISIBLE = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Zl", "Zp"), exclude_characters="\u0085\ufeff"), max_size=30
).filter(lambda text: not strict_yaml.INVISIBLE.search(text))
KEYS = st.from_regex(r"[a-z][a-z_]{0,12}", fullmatch=True).filter(lambda k: k not in ("yes", "no", "on", "off", "null"))
SCALARS = (
    st.integers(-(10**12), 10**12)
    | st.decimals("-999999", "999999", places=3)
    | st.decimals("0", "99", places=1)
    | st.booleans()
    | st.none()
    | VISIBLE
)
TREES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


def written(value: Any, indent: int = 0) -> str:
    """YAML as an author would write it: texts in quotes, numbers with their digits."""
    pad = "  " * indent
    if isinstance(value, dict):
        return "".join(f"\n{pad}{key}: {written(inner, indent + 1)}" for key, inner in value.items()) or "{}"
    if isinstance(value, list):
        return "".join(f"\n{pad}- {written(inner, indent + 1)}" for inner in value) or "[]"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return json.dumps(value, ensure_ascii=False)


@given(st.dictionaries(KEYS, TREES, min_size=1, max_size=5))
def test_what_an_author_writes_is_read_back_with_its_digits(data: dict[str, Any]) -> None:
    found, problems = strict_yaml.parse(written(data), "a.yaml")
    assert problems == []
    assert found == data
    # Equal is not enough: 4.80 == 4.8.
    assert str(found) == str(data)


@given(st.text(max_size=200))
@example("a: " + "1" * 5000)
@example("a: 0x_")
@example("a: -:.5")
@example("a: 0b_")
@example("<<: {a: b}")
@example("=: a")
@example("? [a]\n: b")
@example("a: 2026-02-30")
@example("a: 2026-01-01 00:00:00 +99:99")
@example("a: 1.0e+999")
def test_any_text_is_data_or_problems_and_never_an_exception(text: str) -> None:
    _, problems = strict_yaml.parse(text, "a.yaml")
    for problem in problems:
        assert problem.file == "a.yaml"
        assert problem.expected
        assert problem.found


@given(st.binary(max_size=200))
@example(b"\xef\xbb\xbfa: 1")
@example("a: б".encode("cp1251"))
def test_any_bytes_are_text_or_a_problem(raw: bytes) -> None:
    text, problems = strict_yaml.decode(raw, "a.yaml")
    assert (text is None) == bool(problems)
    if text is not None:
        assert text.encode("utf-8") == raw


def test_deep_nesting_is_a_problem() -> None:
    _, problems = strict_yaml.parse("[" * 5000 + "]" * 5000, "a.yaml")
    assert [p.expected for p in problems] == ["valid YAML"]


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("0731", "473"),
        ("no", "false"),
        ("Yes", "true"),
        ("off", "false"),
        ("12:30", "750"),
        ("1_000", "1000"),
        ("0x1F", "31"),
        ("+5", "5"),
        ("007", "7"),
        ("1.5e+3", "1500.0"),
        (".5", "0.5"),
        ("1:30.5", "90.5"),
        ("2026-02-30", "a date that does not exist"),
    ],
)
def test_scalars_that_yaml_reads_unlike_a_person(text: str, meaning: str) -> None:
    data, problems = strict_yaml.parse(f"key: {text}", "a.yaml")
    assert problems == []
    assert data == {"key": Surprise(text, meaning)}
    # In quotes it is what it looks like.
    assert strict_yaml.parse(f'key: "{text}"', "a.yaml") == ({"key": text}, [])


@pytest.mark.parametrize(
    ("text", "value"), [("0", 0), ("-7", -7), ("4.80", Decimal("4.80")), ("true", True), ("null", None), ("1e3", "1e3")]
)
def test_plain_scalars(text: str, value: Any) -> None:
    data, problems = strict_yaml.parse(f"key: {text}", "a.yaml")
    assert problems == []
    assert (type(data["key"]), str(data["key"])) == (type(value), str(value))


@pytest.mark.parametrize(
    ("text", "place", "found"),
    [
        ("a: 1\nb: &x 2\n", (2, 4), "the anchor &x"),
        ("a: &x 1\nb: *x\n", (2, 4), "the alias *x"),
        ("a: !!python/object:os.system 1\n", (1, 4), "the tag tag:yaml.org,2002:python/object:os.system"),
        ("a: !secret x\n", (1, 4), "the tag !secret"),
    ],
)
def test_tags_and_aliases_are_refused(text: str, place: tuple[int, int], found: str) -> None:
    data, problems = strict_yaml.parse(text, "a.yaml")
    assert data is None
    assert (*place, "plain data, quoted if needed", found) in [
        (p.line, p.column, p.expected, p.found) for p in problems
    ]


def test_an_alias_bomb_is_refused_before_it_expands() -> None:
    levels = ["l0: &l0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 10)}]" for i in range(1, 12)]
    data, problems = strict_yaml.parse("\n".join(levels), "a.yaml")
    assert data is None
    assert problems


@pytest.mark.parametrize("text", ["a: 'R&D * !'\n", "a: b & c\n", "a: 5 * 3 = 15!\n"])
def test_the_same_marks_inside_text_are_text(text: str) -> None:
    data, problems = strict_yaml.parse(text, "a.yaml")
    assert problems == []
    assert isinstance(data["a"], str)


@pytest.mark.parametrize("text", ["? [a]\n: b\n", "? {a: b}\n: c\n", "? " * 60 + "a"])
def test_keys_that_are_no_text_are_refused(text: str) -> None:
    """Sixty keys inside one another are 120 bytes; written out as text they would fill any memory."""
    data, problems = strict_yaml.parse(text, "a.yaml")
    assert data is None
    assert {p.expected for p in problems} == {"a text as key"}
    assert (problems[-1].line, problems[-1].column) == (1, 3)


def test_everything_that_is_refused_is_named_at_once() -> None:
    data, problems = strict_yaml.parse("a: &x 1\nb: !t 2\n<<: {c: 3}\nd: =\ne: *x\n", "a.yaml")
    assert data is None
    assert [(p.line, p.column) for p in problems] == [(1, 4), (2, 4), (3, 1), (4, 4), (5, 4)]


def test_a_second_document_is_refused_where_it_starts() -> None:
    data, [problem] = strict_yaml.parse("a: 1\n---\nb: 2\n", "a.yaml")
    assert data is None
    assert (problem.line, problem.column, problem.found) == (2, 1, "a second document")


def test_duplicate_keys_are_named_where_they_stand_again() -> None:
    _, problems = strict_yaml.parse("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\na: 2\n", "a.yaml")
    assert [(p.line, p.column, p.field, p.expected) for p in problems] == [
        (5, 3, "c", "each key once"),
        (6, 1, "a", "each key once"),
    ]


def test_a_syntax_error_has_its_place() -> None:
    _, problems = strict_yaml.parse('a: 1\nb: "open\n', "a.yaml")
    assert [(p.expected, p.line > 1) for p in problems] == [("valid YAML", True)]


@pytest.mark.parametrize(
    ("text", "place", "found"),
    [
        ("a:\n  - b\n  c: 1\n", (3, 3), "a line that is no entry of the list around it: is it indented rightly?"),
        ("a: 1\n b: 2\n", (2, 3), "a key where none may stand; a text with a colon needs quotes"),
        ("a:\n  b: 1\n c: 2\n", (3, 2), "a line that is no key of the mapping around it: is it indented rightly?"),
        ("a: 1\nbc\nd: 2\n", (3, 1), "a key without its colon, just before here"),
        ("a: `b`\n", (1, 4), "a mistake, in the parser's words: found character that cannot start any token"),
    ],
)
def test_a_syntax_error_reads_as_a_sentence(text: str, place: tuple[int, int], found: str) -> None:
    _, [problem] = strict_yaml.parse(text, "a.yaml")
    assert ((problem.line, problem.column), problem.found) == (place, found)


@pytest.mark.parametrize(
    ("raw", "place", "expected", "found"),
    [
        ("a: 1\nbc: д".encode("cp1251"), (2, 5), "UTF-8 text", "byte 0xe4"),
        ("a: 1\nb: x\u202ey".encode(), (2, 5), "visible characters only", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("a: \ue000".encode(), (1, 4), "visible characters only", "U+E000 a control or private-use character"),
        (b"#" * (1024 * 1024 + 1), (0, 0), "at most 1 MiB", "1,048,577 bytes"),
    ],
)
def test_files_that_are_no_plain_text(raw: bytes, place: tuple[int, int], expected: str, found: str) -> None:
    text, problems = strict_yaml.decode(raw, "a.yaml")
    assert text is None
    assert [((p.line, p.column), p.expected, p.found) for p in problems] == [(place, expected, found)]


def test_a_file_of_exactly_one_mebibyte_is_read() -> None:
    assert strict_yaml.decode(b"#" * (1024 * 1024), "a.yaml")[1] == []


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    data, text, problems = strict_yaml.read(tmp_path / "none.yaml", "none.yaml")
    assert (data, text) == (None, "")
    assert [p.expected for p in problems] == ["a readable file"]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("a",), (1, 1, "1")),
        (("b", "c"), (3, 3, "2")),
        (("b", "d", 1), (6, 7, "4")),
        # What is missing is placed at its deepest parent that exists.
        (("b", "x", "y"), (2, 1, "")),
        ((), (1, 1, "")),
    ],
)
def test_place_of_a_field(path: tuple[str | int, ...], place: tuple[int, int, str]) -> None:
    text = "a: 1\nb:\n  c: 2\n  d:\n    - 3\n    - 4\n"
    assert places.place(text, path) == place


@pytest.mark.parametrize("escape", ["\\u202e", "\\0", "\\e", "\\ue001", "\\U000E0041", "\\u3164", "\\u00ad", "\\u2028"])
def test_an_escape_makes_no_character_that_the_text_may_not_hold(escape: str) -> None:
    data, problems = strict_yaml.parse(f'a: 1\nb: "x{escape}y"\n', "a.yaml")
    assert data is None
    assert [(p.line, p.column, p.expected) for p in problems] == [(2, 4, "visible characters only")]


def test_a_time_longer_than_any_number_is_a_surprise() -> None:
    data, problems = strict_yaml.parse("a: 1:" + ":".join(["0"] * 175) + ":0.5\n", "a.yaml")
    assert not problems
    assert data["a"].meaning == "a number that cannot be read"
