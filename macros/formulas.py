"""The formulas that figures may use. Gains and spreads are in per cent, ratios are factors.

Each takes operands and returns a `Result`; where the formula is not mere arithmetic its docstring says where
it comes from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Literal

from macros.numbers import Expression
from macros.vocabulary import Quantity

# How a result is printed: see `printing.py`.
Display = Literal["rate", "recorded", "percent", "percent_decimal", "factor", "odds"]


@dataclass(frozen=True)
class Operand:
    """A figure as a formula sees it: its value (None for a bare range) and the ends of its span or range."""

    value: Expression | None
    low: Expression | None
    high: Expression | None
    unit: str
    display: Display


@dataclass(frozen=True)
class Result:
    value: Expression | None
    low: Expression | None
    high: Expression | None
    unit: str
    display: Display


class FormulaError(Exception):
    """An operand does not fit the formula; the message says what was expected."""


class SpreadError(FormulaError):
    """The formula is about spreads, and an operand has none."""


def _value(operand: Operand) -> Expression:
    if operand.value is None:
        raise FormulaError("an operand with a single value")
    return operand.value


def _span(operand: Operand) -> tuple[Expression, Expression]:
    if operand.low is None or operand.high is None:
        raise SpreadError("an operand whose spread is known")
    return operand.low, operand.high


def _growth(gain: Expression) -> Expression:
    """A gain in per cent as a factor."""
    return gain / 100 + 1


def _per_cent(factor: Expression) -> Expression:
    """A factor as a gain in per cent."""
    return (factor - 1) * 100


def _factor(value: Expression) -> Result:
    return Result(value, None, None, "×", "factor")


def _percent(value: Expression) -> Result:
    return Result(value, None, None, "%", "percent")


def ratio(a: Operand, b: Operand) -> Result:
    """a / b."""
    return _factor(_value(a) / _value(b))


def gain(a: Operand, b: Operand) -> Result:
    """a / b − 1."""
    return _percent(_per_cent(_value(a) / _value(b)))


def shortfall(a: Operand, b: Operand) -> Result:
    """1 − a / b: how far a lies below b."""
    return _percent((1 - _value(a) / _value(b)) * 100)


def spread(a: Operand) -> Result:
    """(max − min) / mean."""
    low, high = _span(a)
    return _percent((high - low) / _value(a) * 100)


def span(a: Operand) -> Result:
    """The lowest and the highest run."""
    low, high = _span(a)
    return Result(None, low, high, a.unit, a.display)


def gain_range(a: Operand, b: Operand) -> Result:
    """The smallest and the largest gain that two spans allow: lowest a over highest b to highest a over lowest b."""
    (a_low, a_high), (b_low, b_high) = _span(a), _span(b)
    return Result(None, _per_cent(a_low / b_high), _per_cent(a_high / b_low), "%", "percent")


def gain_rounding(a: Operand, b: Operand) -> Result:
    """The gains that the rounding of the two printed values allows."""
    low, high = _per_cent(_value(a) / _value(b)).interval()
    return Result(
        None,
        Expression.leaf("rounding-low", low, Fraction(0)),
        Expression.leaf("rounding-high", high, Fraction(0)),
        "%",
        "percent_decimal",
    )


def envelope(*operands: Operand) -> Result:
    """From the lowest to the highest of all values and spans."""
    lows = [o.low or _value(o) for o in operands]
    highs = [o.high or _value(o) for o in operands]
    low, high = reduce(Expression.least, lows), reduce(Expression.greatest, highs)
    return Result(None, low, high, operands[0].unit, operands[0].display)


def compound_gain(*gains: Operand) -> Result:
    """Gains that act one after the other: ∏(1 + g) − 1."""
    return _percent(_per_cent(reduce(Expression.__mul__, [_growth(_value(g)) for g in gains])))


def residual(reached: Operand, start: Operand, *explained: Operand) -> Result:
    """The factor from start to reached that the explained gains leave over."""
    factor = _value(reached) / _value(start)
    return _factor(reduce(Expression.__truediv__, [_growth(_value(g)) for g in explained], factor))


def step_rate_fall(rate_gain: Operand, tokens_per_step_gain: Operand) -> Result:
    """By how much the step rate fell if both gains belong to one measurement: rate = step rate × tokens per step."""
    return _percent((1 - _growth(_value(rate_gain)) / _growth(_value(tokens_per_step_gain))) * 100)


def lag_share(client: Operand, engine: Operand) -> Result:
    """The lag L, as a share of the shorter window T2, that makes a true gain e read as c.

    With T1 = (1 + e)·T2 and (T1 − L)/(T2 − L) = 1 + c it follows that L/T2 = (c − e)/c. Low ends pair with low
    ends and high with high.
    """
    (c_low, c_high), (e_low, e_high) = _span(client), _span(engine)
    ends = ((c_low - e_low) / c_low * 100, (c_high - e_high) / c_high * 100)
    return Result(None, ends[0].least(ends[1]), ends[0].greatest(ends[1]), "%", "percent")


def separation_odds(runs: int) -> Result:
    """How often two arms of `runs` runs each do not overlap although nothing differs.

    Of the C(2n, n) equally likely orders of all runs, two keep the arms apart: 2 / C(2n, n).
    """
    return Result(
        Expression.leaf(f"odds-{runs}", Fraction(2, math.comb(2 * runs, runs)), Fraction(0)), None, None, "", "odds"
    )


def steps_per_second(drafts: Expression, seconds: Expression) -> Result:
    """Every verification step drafts once, so steps per second = drafts / wall time."""
    return Result(drafts / seconds, None, None, "steps/s", "rate")


def rate_of_token_time(milliseconds: Operand) -> Result:
    """1000 / the mean milliseconds per token."""
    return Result(1000 / _value(milliseconds), None, None, "tok/s", "rate")


FORMULAS: dict[str, Callable[..., Result]] = {
    "ratio": ratio,
    "contrast": ratio,
    "gain": gain,
    "shortfall": shortfall,
    "spread": spread,
    "span": span,
    "gain_range": gain_range,
    "gain_rounding": gain_rounding,
    "envelope": envelope,
    "compound_gain": compound_gain,
    "residual": residual,
    "step_rate_fall": step_rate_fall,
    "lag_share": lag_share,
    "separation_odds": separation_odds,
    "steps_per_second": steps_per_second,
    "rate_of_token_time": rate_of_token_time,
}

# The quantity of a result, where it is not that of the operands.
MAKES: dict[str, Quantity] = {"steps_per_second": "step_rate", "rate_of_token_time": "decode_rate"}
