"""How many paired runs it takes to tell a difference from chance, and what a span says of the deviation.

n ≈ ((z₁ + z₂) · CV / δ)² runs a side show a difference δ four times in five, at one false alarm in twenty; CV is the
deviation of the paired differences. With z₁ = 1.96 and z₂ = 0.84 the factor is 2.8.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated

from pydantic import Field

from macros import manifests, strict_yaml
from macros.figures import Figure
from macros.manifests import Count, Model, Positive
from macros.numbers import rounded
from macros.problems import InputError

FACTOR = Fraction(28, 10)
# One pair shows no deviation at all.
FEWEST = 2


class Assumed(Model):
    """A number of runs, and the factor by which the span of so many normal values exceeds their deviation."""

    runs: Count
    span_factor: Positive


class Repeats(Model):
    """`results/repeats.yaml`: the rows and columns of the tables."""

    differences: Annotated[tuple[Positive, ...], Field(min_length=1, strict=False)]
    deviations: Annotated[tuple[Positive, ...], Field(min_length=1, strict=False)]
    assumed: Annotated[tuple[Assumed, ...], Field(min_length=1, strict=False)]


def read(results: Path) -> Repeats:
    file = f"{results.name}/repeats.yaml"
    data, source, problems = strict_yaml.read(results / "repeats.yaml", file)
    model, more = manifests.validate(data, source, file, Repeats)
    if model is None or problems:
        raise InputError([*problems, *more])
    return model


def needed(deviation: Fraction, difference: Fraction) -> int:
    """Runs a side, at least two."""
    return max(FEWEST, math.ceil((FACTOR * deviation / difference) ** 2))


def deviation(figure: Figure, factor: Decimal) -> Decimal:
    """The coefficient of variation of a figure's runs in per cent, estimated from their span."""
    if figure.value is None or figure.low is None or figure.high is None:
        raise ValueError(f"figure {figure.id!r} has no span")
    span = (figure.high.value - figure.low.value) / figure.value.value
    return rounded(span * 100 / Fraction(factor), 1)
