"""Statements: what the prose says of the data, as predicates over figures in `results/statements.yaml`.

A sentence of a page is bound to a statement. When the data stops supporting it, the build stops.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from macros import manifests, places, shares, strict_yaml
from macros.figures import Figure
from macros.manifests import Id, Model, NotNegative, PublishedFigure, Text
from macros.problems import InputError, Problem, nearest

Kind = Literal[
    "ordering", "above", "overlap", "larger_effect", "between", "times", "decade", "contains", "positive", "most_below"
]
Register = Collection[PublishedFigure]
Subject = Literal["direction", "magnitude"]
Verdict = Literal["consistent", "not_consistent", "resolved", "not_resolvable", "not_comparable"]
# Without any effect, two arms keep apart by chance often when they have few runs: from four an arm on,
# in 2 of C(8, 4) = 70 orders. Below that a direction is called consistent at most.
RESOLVED_RUNS = 4
# "High fifties" are 56 to 59.99, "low seventies" 70 to 73.99.
DECADE_PARTS: dict[str, tuple[int, int]] = {"high": (6, 10), "low": (0, 4)}


class Predicate(Model):
    """What must hold of the figures in `of`. Bounds by kind:

    ordering a > b > … by value; above: the span of a lies wholly above that of b; overlap: the spans overlap;
    larger_effect: a changes more than b, factors and gains compared alike; between: low ≤ a ≤ high;
    times: a ≥ low · b; decade: the `end` of a lies in that part of a decade; contains: the span of a
    contains the values and spans of the rest; positive: a > 0; most_below: more than half of the register's
    single-stream figures for the pair lie below a.
    """

    kind: Kind
    of: Annotated[tuple[Id, ...], Field(min_length=1, strict=False)]
    low: NotNegative | None = None
    high: NotNegative | None = None
    end: Literal["low", "high", "value"] | None = None
    decade: int | None = None
    part: Literal["high", "low"] | None = None


class StatementSpec(Model):
    text: Text
    holds: Predicate


@dataclass(frozen=True)
class Statement:
    """A statement that this build checked, the figures that it rests on, and whether it holds."""

    id: str
    text: Text
    predicate: Predicate
    figures: tuple[Figure, ...]
    holds: bool


def _value(figure: Figure) -> Fraction:
    if figure.value is None:
        raise UnsupportedError(f"{figure.id} is a range")
    return figure.value.value


def _span(figure: Figure) -> tuple[Fraction, Fraction]:
    if figure.low is None or figure.high is None:
        raise UnsupportedError(f"the spread of {figure.id} is not known")
    return figure.low.value, figure.high.value


def _extent(figure: Figure) -> tuple[Fraction, Fraction]:
    """The span, or the value alone where there is none."""
    return _span(figure) if figure.low is not None else (_value(figure), _value(figure))


def _effect(figure: Figure) -> Fraction:
    """A gain in per cent or a factor, as a factor's distance from one."""
    value = _value(figure)
    return value / 100 if figure.unit == "%" else value - 1


class UnsupportedError(Exception):
    """The figures lack what the predicate needs, so the data does not support the statement."""


def _ordering(p: Predicate, figures: tuple[Figure, ...]) -> bool:
    values = [_value(f) for f in figures]
    return all(a > b for a, b in itertools.pairwise(values))


def _above(p: Predicate, figures: tuple[Figure, ...]) -> bool:
    return _span(figures[0])[0] > _span(figures[1])[1]


def _overlap(p: Predicate, figures: tuple[Figure, ...]) -> bool:
    (a_low, a_high), (b_low, b_high) = _span(figures[0]), _span(figures[1])
    return a_low <= b_high and b_low <= a_high


def _larger_effect(p: Predicate, figures: tuple[Figure, ...]) -> bool:
    return _effect(figures[0]) > _effect(figures[1])


def _between(p: Predicate, figures: tuple[Figure, ...]) -> bool:
    low, high = Fraction(p.low or 0), Fraction(p.high or 0)
    return low <= _value(figures[0]) <= high


def _times(p: Predicate, figures: tuple[Figure, ...]) -> bool:
    return _value(figures[0]) >= Fraction(p.low or 0) * _value(figures[1])


def _decade(p: Predicate, figures: tuple[Figure, ...]) -> bool:
    figure = figures[0]
    value = {"low": _extent(figure)[0], "high": _extent(figure)[1]}.get(p.end or "value")
    first, last = DECADE_PARTS[p.part or "high"]
    decade = p.decade or 0
    return decade + first <= (_value(figure) if value is None else value) < decade + last


def _contains(p: Predicate, figures: tuple[Figure, ...]) -> bool:
    low, high = _span(figures[0])
    return all(low <= _extent(f)[0] and _extent(f)[1] <= high for f in figures[1:])


def _positive(p: Predicate, figures: tuple[Figure, ...]) -> bool:
    return all(_extent(f)[0] > 0 for f in figures)


def _most_below(register: Register, figure: Figure) -> bool:
    count, all_of_them = shares.below(register, _value(figure))
    return 2 * count > all_of_them


CHECKS: dict[Kind, Callable[[Predicate, tuple[Figure, ...]], bool]] = {
    "ordering": _ordering,
    "above": _above,
    "overlap": _overlap,
    "larger_effect": _larger_effect,
    "between": _between,
    "times": _times,
    "decade": _decade,
    "contains": _contains,
    "positive": _positive,
}


def verdict(subject: Subject, a: Figure, b: Figure) -> Verdict:
    """What may be said of a against b. Two quantities are not comparable; unknown n never resolves anything."""
    if a.quantity and b.quantity and a.quantity != b.quantity:
        return "not_comparable"
    try:
        apart = _span(a)[0] > _span(b)[1]
    except UnsupportedError:
        apart = False
    enough = min(a.n or 0, b.n or 0) >= RESOLVED_RUNS
    if apart and enough:
        return "resolved"
    if subject == "magnitude":
        return "not_resolvable"
    return "consistent" if apart else "not_consistent"


def read(results: Path, figures: Mapping[str, Figure], register: Register = ()) -> dict[str, Statement]:
    """All statements, checked; raises InputError where one is badly written, not where one fails."""
    file = f"{results.name}/statements.yaml"
    data, text, problems = strict_yaml.read(results / "statements.yaml", file)
    statements: dict[str, Statement] = {}
    for statement_id, entry in data.items() if isinstance(data, dict) else ():
        spec, more = manifests.validate_entry(entry, text, file, StatementSpec, statement_id)
        problems += more
        if spec is None:
            continue
        unknown = [name for name in spec.holds.of if name not in figures]
        for name in unknown:
            line, column, _ = places.place(text, (statement_id, "holds", "of"))
            expected = f"the id of a figure{nearest(name, figures)}"
            problems.append(Problem(file, line, column, f"{statement_id}.holds.of", expected, name))
        if not unknown:
            used = tuple(figures[name] for name in spec.holds.of)
            statements[statement_id] = Statement(
                statement_id, spec.text, spec.holds, used, _holds(spec.holds, used, register)
            )
    if problems:
        raise InputError(problems)
    return statements


def _holds(predicate: Predicate, figures: tuple[Figure, ...], register: Register = ()) -> bool:
    try:
        if predicate.kind == "most_below":
            return _most_below(register, figures[0])
        return CHECKS[predicate.kind](predicate, figures)
    except UnsupportedError:
        return False


def failed(statements: Mapping[str, Statement]) -> Iterator[Statement]:
    return (statement for statement in statements.values() if not statement.holds)
