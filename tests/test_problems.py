"""Problems as they are printed: a small file of a stranger neither floods the screen nor stalls the check."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from macros import manifests
from macros.manifests import Run
from macros.problems import KEY, MOST, InputError, Problem
from tests.example_manifests import run

FILE = "results/runs/a.yaml"


def problems_of(text: str) -> list[Problem]:
    return manifests.of_bytes(text.encode(), FILE, "a", Run)[1]


@pytest.mark.parametrize(("count", "more"), [(MOST, None), (MOST + 1, 1), (2000, 1980)])
def test_only_the_first_problems_of_a_file_are_printed(count: int, more: int | None) -> None:
    many = [Problem("a.yaml", line, 1, "", "this", "that") for line in range(1, count + 1)]
    error = InputError([*reversed(many), Problem("b.yaml", 0, 0, "", "one", "two")])
    assert error.problems == [*many, Problem("b.yaml", 0, 0, "", "one", "two")]
    head, *lines = str(error).split("\n")
    assert head == f"{count + 1} problems; nothing was built or changed"
    assert lines[:MOST] == [f"  {problem}" for problem in many[:MOST]]
    assert lines[MOST:-1] == ([f"  a.yaml: … and {more:,} more"] if more else [])
    assert lines[-1] == "  b.yaml: expected one; found two"


@pytest.mark.parametrize(
    "text",
    [
        run("a") + f"? {'x' * 900_000}\n: 1\n",
        run("a", value="w" * 900_000),
        run("a").replace("id: a", f"id: {'w' * 900_000}", 1),
        run("a") + f"x: !{'w' * 900_000} 1\n",
        run("a") + f"? {'x' * 9000}\n: 1\n? {'x' * 9000}\n: 1\n",
    ],
)
def test_keys_and_values_are_printed_in_part(text: str) -> None:
    problems = problems_of(text)
    assert problems
    assert max(len(str(problem)) for problem in problems) < 900
    assert "w" * 201 not in str(InputError(problems))
    assert "x" * (KEY + 1) not in str(InputError(problems))


@pytest.mark.parametrize("lines", ["".join(f"a{i}: 1\n" for i in range(300)), "zz: 1\n" * 300])
def test_a_text_and_a_schema_are_made_once_however_many_problems(lines: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    compose, schema = yaml.compose, Run.model_json_schema

    def noting(name: str, make: Any) -> Any:
        return lambda *arguments, **settings: made.append(name) or make(*arguments, **settings)

    monkeypatch.setattr(yaml, "compose", noting("nodes", compose))
    monkeypatch.setattr(Run, "model_json_schema", noting("schema", schema))
    manifests._schema.cache_clear()
    found = problems_of(run("a") + lines)
    assert len(found) == 300
    first = run("a").count("\n") + 1
    assert {p.line for p in found if p.expected.startswith("a known key")} <= set(range(first, first + 300))
    assert sorted(made) == ["nodes", "schema"]
