"""A second reader of results/ that shares no code with `macros`: what each figure should print, worked out anew.

The mutation run and the tests judge the built site by it. It reads YAML as bare strings and knows published
summaries, effects and formulas, not the pooling of raw runs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import yaml
from lxml import html

Values = dict[str, Fraction]
Formula = Callable[[Values], Fraction]


def load(path: Path) -> Any:
    """YAML with every scalar as the text that was written."""
    return yaml.load(path.read_text("utf-8"), Loader=yaml.BaseLoader)


class Figures:
    """What the figures of a results folder print, in English digits, without units other than % and ×."""

    def __init__(self, results: Path) -> None:
        self.specs: dict[str, Any] = load(results / "figures.yaml")
        self.folders = {
            name: {p.stem: load(p) for p in sorted((results / name).glob("*.yaml"))}
            for name in ("runs", "comparisons", "published")
        }
        self.leaves: dict[str, tuple[Fraction, Fraction]] = {}  # name → value, half unit

    def leaf(self, name: str, text: str) -> Formula:
        places = len(text.partition(".")[2])
        self.leaves[name] = (Fraction(text), Fraction(1, 2 * 10**places))
        return lambda values: values[name]

    def parts(self, figure_id: str) -> dict[str, Formula]:
        """value, low and high of a figure as functions of the recorded numbers."""
        spec = self.specs[figure_id]
        if "formula" in spec:
            return self.derived(spec["formula"])
        entry, key = self.entry(spec)
        part = spec.get("part", "")
        if part == "relative_spread":
            entry, part = entry["relative_spread"], ""
        if part in ("before", "after"):
            return {"value": self.leaf(f"{key}/{part}", entry[part])}
        found = {}
        for name in ("value", "low", "high"):
            text = entry.get(name, "null")
            if text not in ("null", "", "~"):
                found[name] = self.leaf(f"{key}/{name}", text)
        if "value" not in found and entry.get("low") == entry.get("high"):
            return {"value": found["low"]}
        return found

    def entry(self, spec: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """The mapping that holds the numbers of a figure that is no formula."""
        if "published" in spec:
            return self.folders["published"][spec["published"]], spec["published"]
        if "comparison" in spec:
            return self.folders["comparisons"][spec["comparison"]]["effect"], spec["comparison"]
        if "measurement" in spec:
            run_id, _, name = spec["measurement"].partition("/")
            rows = self.folders["runs"][run_id]["measurements"]
            return next(row for row in rows if row["id"] == name), spec["measurement"]
        where, quantity = spec["select"]["where"], spec["select"]["quantity"]
        for run_id, run in self.folders["runs"].items():
            if all(dig(run, key) == wanted for key, wanted in where.items()) and "correction" not in run:
                for row in run["measurements"]:
                    if row["quantity"] == quantity:
                        return row, f"{run_id}/{row['id']}"
        raise LookupError(f"no run for {where}")

    def derived(self, formula: dict[str, Any]) -> dict[str, Formula]:
        kind, operands = formula["kind"], [self.parts(name) for name in formula.get("of", [])]
        if kind == "separation_odds":
            runs = int(formula["runs"])
            return {"value": lambda _: Fraction(2, math.comb(2 * runs, runs))}
        if kind == "steps_per_second":
            run_id, _, name = formula["measurement"].partition("/")
            row = next(r for r in self.folders["runs"][run_id]["measurements"] if r["id"] == name)
            seconds = self.leaf(f"{run_id}/{name}/seconds", row["seconds"])
            return {"value": lambda x: int(row["drafts"]) / seconds(x)}
        first = operands[0]
        second = operands[1] if len(operands) > 1 else first
        v = [o.get("value") for o in operands]

        def growth(gain: Formula, values: Values) -> Fraction:
            return 1 + gain(values) / 100

        if kind in ("ratio", "contrast"):
            return {"value": lambda x: v[0](x) / v[1](x)}
        if kind == "gain":
            return {"value": lambda x: 100 * (v[0](x) - v[1](x)) / v[1](x)}
        if kind == "shortfall":
            return {"value": lambda x: 100 * (v[1](x) - v[0](x)) / v[1](x)}
        if kind == "spread":
            return {"value": lambda x: 100 * (first["high"](x) - first["low"](x)) / v[0](x)}
        if kind == "span":
            return {"low": first["low"], "high": first["high"]}
        if kind == "gain_range":
            return {
                "low": lambda x: 100 * (first["low"](x) / second["high"](x) - 1),
                "high": lambda x: 100 * (first["high"](x) / second["low"](x) - 1),
            }
        if kind == "gain_rounding":
            ends = self.interval(lambda x: 100 * (v[0](x) / v[1](x) - 1))
            return {"low": lambda _: ends[0], "high": lambda _: ends[1]}
        if kind == "envelope":
            return {
                "low": lambda x: min(o.get("low", o.get("value"))(x) for o in operands),
                "high": lambda x: max(o.get("high", o.get("value"))(x) for o in operands),
            }
        if kind == "compound_gain":
            return {"value": lambda x: 100 * (math.prod(growth(g, x) for g in v) - 1)}
        if kind == "residual":
            return {"value": lambda x: v[0](x) / v[1](x) / math.prod(growth(g, x) for g in v[2:])}
        if kind == "rate_of_token_time":
            return {"value": lambda x: 1000 / v[0](x)}
        if kind == "step_rate_fall":
            return {"value": lambda x: 100 * (1 - growth(v[0], x) / growth(v[1], x))}
        if kind == "lag_share":

            def share(end: str) -> Formula:
                return lambda x: 100 * (first[end](x) - second[end](x)) / first[end](x)

            return {
                "low": lambda x: min(share("low")(x), share("high")(x)),
                "high": lambda x: max(share("low")(x), share("high")(x)),
            }
        raise LookupError(f"the independent reader has no formula {kind!r}")

    def interval(self, formula: Formula) -> tuple[Fraction, Fraction]:
        """Lowest and highest value over the rounding of the recorded numbers that the formula uses."""
        seen: list[str] = []

        class Recorder(dict[str, Fraction]):
            def __missing__(self, name: str) -> Fraction:
                raise KeyError(name)

            def __getitem__(self, name: str) -> Fraction:
                if name not in seen:
                    seen.append(name)
                return super().__getitem__(name)

        middle = {name: value for name, (value, _) in self.leaves.items()}
        formula(Recorder(middle))
        results = []
        for signs in itertools.product((-1, 1), repeat=len(seen)):
            moved = {n: self.leaves[n][0] + s * self.leaves[n][1] for n, s in zip(seen, signs, strict=True)}
            results.append(formula(middle | moved))
        return min(results), max(results)

    def places(self, formula: Formula) -> int:
        low, high = self.interval(formula)
        return next(p for p in range(6, -7, -1) if (high - low) / 2 <= Fraction(10) ** -p)

    def varies(self, figure_id: str) -> bool:
        """Whether the figure or an operand varies by more than a tenth from run to run."""
        spec = self.specs[figure_id]
        if "formula" in spec:
            return any(self.varies(name) for name in spec["formula"].get("of", []))
        entry, _ = self.entry(spec)
        spread = entry.get("relative_spread")
        if isinstance(spread, dict) and Fraction(spread["high"]) > 10:
            return True
        known = all(entry.get(name, "null") not in ("null", "") for name in ("value", "low", "high"))
        return known and (Fraction(entry["high"]) - Fraction(entry["low"])) / Fraction(entry["value"]) > Fraction(1, 10)

    def printed(self, figure_id: str) -> str:
        """The figure as facts.md and design.md say that it prints."""
        spec = self.specs[figure_id]
        parts = self.parts(figure_id)
        ends = [parts["value"]] if "value" in parts else [parts["low"], parts["high"]]
        kind = spec["formula"]["kind"] if "formula" in spec else ""
        middle = {name: value for name, (value, _) in self.leaves.items()}
        numbers = [end(middle) for end in ends]
        if kind == "separation_odds":
            return f"1/{round(1 / numbers[0])}"
        percent = kind in (
            "gain", "shortfall", "spread", "gain_range", "compound_gain", "step_rate_fall", "lag_share",
        )  # fmt: skip
        factor = kind in ("ratio", "contrast", "residual")
        if percent:
            places = 0
        elif kind == "gain_rounding":
            places = 1
        elif factor and self.varies(figure_id):
            places = -math.floor(math.log10(abs(numbers[0])))
        else:
            places = min(self.places(end) for end in ends)
            if self.is_own_rate(figure_id):
                places = min(places, 1)
        texts = list(dict.fromkeys(rounded(number, places) for number in numbers))
        if len(texts) < len(set(numbers)):  # 32 to 32.4 is no single 32
            texts = [rounded(number, min(self.places(end), 1)) for number, end in zip(numbers, ends, strict=True)]
        sign = "%" if percent or kind == "gain_rounding" or self.is_percent(spec) else "×" if factor else ""
        return "–".join(texts) + sign

    def is_own_rate(self, figure_id: str) -> bool:
        spec = self.specs[figure_id]
        if "formula" in spec:
            kind = spec["formula"]["kind"]
            if kind == "span":
                return self.is_own_rate(spec["formula"]["of"][0])
            return kind in ("steps_per_second", "rate_of_token_time")
        return "published" not in spec and self.entry(spec)[0].get("unit") == "tok/s" and not spec.get("part")

    def is_percent(self, spec: dict[str, Any]) -> bool:
        if "formula" in spec:
            return False
        return spec.get("part") == "relative_spread" or self.entry(spec)[0].get("unit") == "%"


def rounded(number: Fraction, places: int) -> str:
    """Half away from zero, with thousands separated by commas and a true minus sign."""
    exact = Decimal(number.numerator) / Decimal(number.denominator)
    shown = exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    text = f"{abs(shown):,.{max(places, 0)}f}"
    return ("−" if shown < 0 else "") + text


def dig(run: dict[str, Any], key: str) -> Any:
    value: Any = run
    for part in key.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def shown(site: Path) -> Iterator[tuple[str, str, str]]:
    """(page, figure id, text) of every figure on every page of a built site."""
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site).as_posix()
        for element in html.document_fromstring(path.read_text("utf-8")).iter("data"):
            if element.get("data-figure"):
                yield name, element.get("data-figure"), element.text_content()


def disagreements(results: Path, site: Path) -> list[str]:
    """Where the built pages print a figure otherwise than this reader does; empty where all agree."""
    figures = Figures(results)
    expected = {figure_id: figures.printed(figure_id) for figure_id in figures.specs}
    wrong = []
    for page, figure_id, text in shown(site):
        wanted = expected[figure_id].replace(",", "\u202f") if page.startswith("ru/") else expected[figure_id]
        if text not in (wanted, wanted.removesuffix("×")):
            wrong.append(f"{page}: {figure_id} prints {text}, not {wanted}")
    return wrong
