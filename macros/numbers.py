"""Exact arithmetic with rounding intervals, and the one rule of digits.

A recorded number stands for an interval: 59.7 means 59.65 to 59.75. An `Expression` keeps the recorded
numbers it was made of, so that the interval of any formula is found by evaluating it at their ends, each
recorded number counted once however often the formula uses it.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import cached_property

# An operand that varies by more than this from run to run leaves a factor one significant digit.
WIDE_SPREAD = Fraction(10, 100)
# Rates of one's own never print more decimals than this.
RATE_DECIMALS = 1


def decimals(number: Decimal) -> int:
    """How many digits stand after the point in the recorded text: 4.80 has 2, 57 has 0."""
    return max(0, -int(number.as_tuple().exponent))


def half_unit(number: Decimal) -> Fraction:
    """Half a unit of the last recorded place: 0.05 for 59.7."""
    return Fraction(1, 2 * 10 ** decimals(number))


def rounded(value: Fraction, places: int) -> Decimal:
    """The value at `places` digits after the point (negative: tens, hundreds), half away from zero."""
    scaled = abs(value) * Fraction(10) ** places
    whole = (scaled.numerator * 2 + scaled.denominator) // (2 * scaled.denominator)
    result = Decimal(whole if value >= 0 else -whole).scaleb(-places)
    return result.quantize(Decimal(1), ROUND_HALF_UP) if places < 0 else result


def short_count(number: int) -> str:
    """A count as people name it: 16006 is 16K, 1032953 is 1.03M."""
    if number < 1000:
        return str(number)
    unit, places, letter = (10**6, 2, "M") if number >= 10**6 else (1000, 0, "K")
    text = f"{rounded(Fraction(number, unit), places):f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + letter


@dataclass(frozen=True)
class Leaf:
    """A recorded number: its value and the half-width of its rounding interval."""

    name: str
    value: Fraction
    half: Fraction


@dataclass(frozen=True)
class Expression:
    """A formula over recorded numbers. It must be monotonic in each of them, as ratios, sums, min and max are."""

    leaves: tuple[Leaf, ...]
    compute: Callable[[Mapping[str, Fraction]], Fraction]

    @staticmethod
    def recorded(name: str, number: Decimal) -> Expression:
        return Expression.leaf(name, Fraction(number), half_unit(number))

    @staticmethod
    def leaf(name: str, value: Fraction, half: Fraction) -> Expression:
        return Expression((Leaf(name, value, half),), lambda values: values[name])

    @cached_property
    def value(self) -> Fraction:
        return self.compute({leaf.name: leaf.value for leaf in self.leaves})

    def interval(self) -> tuple[Fraction, Fraction]:
        """Lowest and highest value that the rounding of the recorded numbers allows."""
        return self._interval

    @cached_property
    def _interval(self) -> tuple[Fraction, Fraction]:
        ends = [(leaf.value - leaf.half, leaf.value + leaf.half) for leaf in self.leaves]
        names = [leaf.name for leaf in self.leaves]
        corners = [self.compute(dict(zip(names, corner, strict=True))) for corner in itertools.product(*ends)]
        return min(corners), max(corners)

    @cached_property
    def places(self) -> int:
        """The last place at which the half-width of the rounding interval is at most one unit.

        65.5 / 43.7 is 1.496 to 1.502: half-width 0.003, so two decimals. Recorded numbers without any rounding
        (counts) would allow infinitely many; six are kept.
        """
        low, high = self._interval
        half = (high - low) / 2
        return next((places for places in range(6, -7, -1) if half <= Fraction(10) ** -places), -6)

    def _with(
        self, other: Expression | int, combine: Callable[[Fraction, Fraction], Fraction], turned: bool = False
    ) -> Expression:
        right = other if isinstance(other, Expression) else Expression((), lambda _: Fraction(other))
        a, b = (right, self) if turned else (self, right)
        leaves = tuple({leaf.name: leaf for leaf in (*a.leaves, *b.leaves)}.values())
        return Expression(leaves, lambda values: combine(a.compute(values), b.compute(values)))

    def __add__(self, other: Expression | int) -> Expression:
        return self._with(other, operator.add)

    def __radd__(self, other: int) -> Expression:
        return self._with(other, operator.add)

    def __sub__(self, other: Expression | int) -> Expression:
        return self._with(other, operator.sub)

    def __rsub__(self, other: int) -> Expression:
        return self._with(other, operator.sub, turned=True)

    def __mul__(self, other: Expression | int) -> Expression:
        return self._with(other, operator.mul)

    def __truediv__(self, other: Expression | int) -> Expression:
        return self._with(other, operator.truediv)

    def __rtruediv__(self, other: int) -> Expression:
        return self._with(other, operator.truediv, turned=True)

    def least(self, other: Expression) -> Expression:
        return self._with(other, min)

    def greatest(self, other: Expression) -> Expression:
        return self._with(other, max)


def places_of_one_digit(value: Fraction) -> int:
    """The place of the first significant digit: 0 for 4.2, 1 for 0.42, -1 for 42."""
    places = 0
    magnitude = abs(value)
    while magnitude >= 10:
        magnitude, places = magnitude / 10, places - 1
    while 0 < magnitude < 1:
        magnitude, places = magnitude * 10, places + 1
    return places
