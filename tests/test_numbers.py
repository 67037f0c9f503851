"""Exact arithmetic: rounding intervals, half away from zero, and the one rule of digits."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from macros import numbers
from macros.numbers import Expression, places_of_one_digit, rounded

Formula = Callable[[list[Expression]], Expression]

# Each operand once, or several times where the formula stays monotonic in it.
FORMULAS: dict[str, Formula] = {
    "sum": lambda x: x[0] + x[1] + x[2],
    "difference": lambda x: x[0] - x[1],
    "product": lambda x: x[0] * x[1] * x[2],
    "ratio": lambda x: x[0] / x[1],
    "gain": lambda x: (x[0] / x[1] - 1) * 100,
    "shortfall": lambda x: (1 - x[0] / x[1]) * 100,
    "spread": lambda x: (x[0] - x[1]) / x[2] * 100,
    "residual": lambda x: x[0] / x[1] / (x[2] / 100 + 1),
    "share": lambda x: (x[0] - x[1]) / x[0],
    "least": lambda x: x[0].least(x[1]) / x[2],
    "greatest": lambda x: x[0].greatest(x[1]) - x[2],
}
recorded = st.decimals(min_value="0.5", max_value="99999", places=2) | st.decimals("1", "9999", places=0)
signed = st.decimals(min_value=-(10**6), max_value=10**6, places=4)
inside = st.fractions(min_value=-1, max_value=1, max_denominator=50)


# Rounding intervals


@given(
    name=st.sampled_from(sorted(FORMULAS)),
    values=st.lists(recorded, min_size=3, max_size=3),
    shifts=st.lists(inside, min_size=3, max_size=3),
)
def test_interval_holds_every_value_that_rounds_to_the_recorded_ones(
    name: str, values: list[Decimal], shifts: list[Fraction]
) -> None:
    formula = FORMULAS[name]
    low, high = formula([Expression.recorded(f"x{i}", v) for i, v in enumerate(values)]).interval()
    # The true operands lie anywhere within half a unit of the recorded ones.
    moved = [Fraction(v) + shift * numbers.half_unit(v) for v, shift in zip(values, shifts, strict=True)]
    exact = formula([Expression.leaf(f"x{i}", value, Fraction(0)) for i, value in enumerate(moved)])
    assert low <= exact.value <= high


@given(values=st.lists(recorded, min_size=3, max_size=3), name=st.sampled_from(sorted(FORMULAS)))
def test_interval_is_no_wider_than_its_corners(values: list[Decimal], name: str) -> None:
    """Some choice of the operands' ends reaches each end of the interval, so it cannot be made wide to be safe."""
    formula = FORMULAS[name]
    ends = [(Fraction(v) - numbers.half_unit(v), Fraction(v) + numbers.half_unit(v)) for v in values]
    reached = {
        formula([Expression.leaf(f"x{i}", end, Fraction(0)) for i, end in enumerate((a, b, c))]).value
        for a in ends[0]
        for b in ends[1]
        for c in ends[2]
    }
    assert formula([Expression.recorded(f"x{i}", v) for i, v in enumerate(values)]).interval() == (
        min(reached),
        max(reached),
    )


def test_interval_of_a_ratio_by_hand() -> None:
    ratio = Expression.recorded("code", Decimal("65.5")) / Expression.recorded("heavy", Decimal("43.7"))
    assert ratio.value == Fraction(655, 437)
    # 65.45 / 43.75 and 65.55 / 43.65
    assert ratio.interval() == (Fraction(6545, 4375), Fraction(6555, 4365))


def test_an_operand_used_twice_is_counted_once() -> None:
    x = Expression.recorded("x", Decimal("59.7"))
    assert (x / x).interval() == (1, 1)
    assert (x - x).interval() == (0, 0)


def test_two_operands_with_the_same_value_are_two() -> None:
    a, b = Expression.recorded("a", Decimal("50")), Expression.recorded("b", Decimal("50"))
    assert (a - b).interval() == (-1, 1)


@pytest.mark.parametrize(
    ("text", "places", "half"),
    [("59.7", 1, Fraction(1, 20)), ("4.80", 2, Fraction(1, 200)), ("57", 0, Fraction(1, 2)), ("71.0", 1, "1/20")],
)
def test_recorded_digits_decide_the_interval(text: str, places: int, half: Fraction) -> None:
    assert numbers.decimals(Decimal(text)) == places
    assert numbers.half_unit(Decimal(text)) == Fraction(half)


# Rounding


@given(value=signed, places=st.integers(0, 4))
@example(value=Decimal("25.35"), places=1)
@example(value=Decimal("-2.5"), places=0)
def test_rounding_is_half_away_from_zero_on_the_decimal_text(value: Decimal, places: int) -> None:
    expected = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    assert rounded(Fraction(value), places) == expected
    assert numbers.decimals(rounded(Fraction(value), places)) == places


@given(value=st.fractions(min_value=-(10**6), max_value=10**6), places=st.integers(-3, 6))
def test_rounding_moves_by_half_a_unit_at_most_and_keeps_the_sign(value: Fraction, places: int) -> None:
    result = Fraction(rounded(value, places))
    unit = Fraction(10) ** -places
    assert abs(result - value) <= unit / 2
    assert (result / unit).denominator == 1
    assert result * value >= 0
    if abs(result - value) == unit / 2:
        assert abs(result) > abs(value)


@pytest.mark.parametrize(
    ("text", "places", "printed"),
    [
        # The depth points of the design: the third is a tie.
        ("42.66", 1, "42.7"),
        ("28.90", 1, "28.9"),
        ("25.35", 1, "25.4"),
        ("17.61", 1, "17.6"),
        ("17.21", 1, "17.2"),
        ("17.19", 1, "17.2"),
        ("-25.35", 1, "-25.4"),
        ("0.5", 0, "1"),
        ("1.005", 2, "1.01"),
        ("15", -1, "20"),
        ("1449", -2, "1400"),
    ],
)
def test_rounding_by_hand(text: str, places: int, printed: str) -> None:
    assert f"{rounded(Fraction(text), places):f}" == printed


# Digits


@given(values=st.lists(recorded, min_size=3, max_size=3), name=st.sampled_from(sorted(FORMULAS)))
def test_a_derived_figure_prints_to_the_last_place_that_its_interval_allows(values: list[Decimal], name: str) -> None:
    expression = FORMULAS[name]([Expression.recorded(f"x{i}", v) for i, v in enumerate(values)])
    low, high = expression.interval()
    half, places = (high - low) / 2, expression.places
    assert -6 <= places <= 6
    assert places == -6 or half <= Fraction(10) ** -places
    assert places == 6 or half > Fraction(10) ** -(places + 1)


@pytest.mark.parametrize(
    ("dividend", "divisor", "places"),
    [
        # Intervals by hand: 1.4960–1.5017, 1.1305–1.1341, 1.4641–1.4717, 0.7383–0.7531, 1.13–1.46, 1–5.
        ("65.5", "43.7", 2),
        ("67.6", "59.7", 2),
        ("4.80", "3.27", 2),
        ("42.5", "57", 2),
        ("9", "7", 0),
        ("2", "1", -1),
    ],
)
def test_digits_of_a_ratio_by_hand(dividend: str, divisor: str, places: int) -> None:
    ratio = Expression.recorded("a", Decimal(dividend)) / Expression.recorded("b", Decimal(divisor))
    assert ratio.places == places


def test_digits_of_counts_end() -> None:
    assert Expression.leaf("count", Fraction(1, 3), Fraction(0)).places == 6


@given(st.fractions(min_value=Fraction(1, 10**5), max_value=10**6))
def test_one_significant_digit(value: Fraction) -> None:
    places = places_of_one_digit(value)
    assert 1 <= value * Fraction(10) ** places < 10


@pytest.mark.parametrize(("value", "places"), [("3.97", 0), ("0.42", 1), ("42", -1), ("9.99", 0), ("10", -1)])
def test_one_significant_digit_by_hand(value: str, places: int) -> None:
    assert places_of_one_digit(Fraction(value)) == places
