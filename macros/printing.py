"""How a figure prints: digits by the one rule, signs and separators of the language, no markup."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from macros.binding import bind
from macros.figures import Figure
from macros.locale import Locale
from macros.numbers import RATE_DECIMALS, Expression, decimals, places_of_one_digit, rounded

MINUS = "\u2212"
EN_DASH = "\u2013"
SIGNS = ("%", "×")
# Enough digits to compute with; the printed text has fewer.
MACHINE_DIGITS = 6


def places(figure: Figure) -> int:
    """Digits after the point at which the figure prints."""
    ends = [e for e in (figure.value,) if e] or [e for e in (figure.low, figure.high) if e]
    if figure.display == "percent":
        return 0
    if figure.display == "percent_decimal":
        return 1
    if figure.display == "odds":
        return 0
    if figure.display == "factor" and figure.wide:
        return places_of_one_digit(ends[0].value)
    return min(_recorded_places(figure, end) for end in ends)


def _recorded_places(figure: Figure, end: Expression) -> int:
    recorded = end.places
    return min(recorded, RATE_DECIMALS) if figure.display == "rate" else recorded


def number(value: Decimal, locale: Locale) -> str:
    """A decimal with the language's separators; a minus sign, not a hyphen."""
    text = f"{abs(value):,f}".replace(",", "\0").replace(".", locale.decimal).replace("\0", locale.thousands)
    return (MINUS if value < 0 else "") + text


def recorded(value: Decimal, unit: str, locale: Locale) -> str:
    """A recorded number outside of a figure; a rate prints with one decimal at most, as figures do."""
    shown = min(decimals(value), RATE_DECIMALS) if unit == "tok/s" else decimals(value)
    return number(rounded(Fraction(value), shown), locale)


def text(figure: Figure, locale: Locale) -> str:
    """The figure as printed: digits with % or ×, no other unit. A range has an en dash and one sign."""
    digits = places(figure)
    if figure.display == "odds" and figure.value:
        return f"1/{number(rounded(1 / figure.value.value, 0), locale)}"
    ends = [figure.value] if figure.value else [figure.low, figure.high]
    # A recorded range keeps the digits of each end, 32–32.4; one that is derived has one precision.
    as_recorded = figure.value is None and figure.kind != "derived"
    printed = [
        number(rounded(end.value, _recorded_places(figure, end) if as_recorded else digits), locale)
        for end in ends
        if end
    ]
    joined = EN_DASH.join(dict.fromkeys(printed))
    return joined + (figure.unit if figure.unit in SIGNS else "")


def span_text(figure: Figure, locale: Locale) -> str | None:
    """The span of a figure's runs, at the figure's own digits; None where it is not known."""
    if figure.value is None or figure.low is None or figure.high is None:
        return None
    digits = places(figure)
    return EN_DASH.join(number(rounded(end.value, digits), locale) for end in (figure.low, figure.high))


def interval_text(figure: Figure, locale: Locale) -> str | None:
    """The 95 % interval of a median, at the figure's own digits; None where there are too few runs for one."""
    if figure.interval is None:
        return None
    return EN_DASH.join(number(rounded(end.value, places(figure)), locale) for end in figure.interval)


def formula(kind: str, operands: list[str], runs: int | None, locale: Locale) -> str:
    """A formula in words with its operands filled in; its own constants are marked like data."""
    pattern = re.sub(r"(?<!\{)\d+(?!\})", lambda m: bind(m[0]), locale.word(f"formula.{kind}"))
    return pattern.format(*operands, all=", ".join(operands), rest=" · ".join(operands[2:]), runs=bind(str(runs)))


def machine(expression: Expression) -> str:
    """A value for machines: recorded digits where they are recorded, else at most six significant ones."""
    value = expression.value
    if len(expression.leaves) == 1 and expression.leaves[0].half > 0 and expression.leaves[0].value == value:
        return f"{rounded(value, expression.places):f}"
    return significant(value)


def significant(value: Fraction) -> str:
    """At most six significant digits, without trailing zeros."""
    digits = rounded(value, places_of_one_digit(value) + MACHINE_DIGITS - 1)
    plain = f"{digits:f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def machine_value(figure: Figure) -> str:
    """The value attribute: `59.7`, or `59.0/60.1` for a range."""
    if figure.value is not None:
        return machine(figure.value)
    return "/".join(machine(end) for end in (figure.low, figure.high) if end is not None)
