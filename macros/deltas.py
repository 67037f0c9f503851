"""The delta of two figures: which keys of their configurations differ, and what the known differences are worth.

**Keys.** Each key of `manifests.COMPARED`, and each of `NOTED` that both sides state, is `same`, `differs`,
`not_stated` (by either side) or `varies` (it changes within one of the figures, so that it cannot be compared; it
counts like a key that is not stated). Spellings are unified by `results/aliases.yaml`; a flag that leaves only one MoE
backend stands for the log line. Profiles of which only the class is known are never the same: another class differs,
one class is not stated. Approximate token counts differ from 10 % on. What a run's source calls the same as in another
run is the same.

**Questions.** A question `differs` when any of its keys does; it is the `same` when all its deciding keys are; else it
is `not_stated`. (The MoE flag only counts, here and for the nearest figure, where the backend itself is not known from
both sides.) `DECIDING` holds the keys that decide: what the form of "Why is my number different?" asks for.

**Ranges.** A figure stands for its published span, or for that of its readings, or for its value ± the published
deviation, else for the rounding interval of its value: 59.7 is 59.65 to 59.75. A spread that is published as a share,
without saying how it was computed, counts by its widest reading: the value ± that share.

**Worth** of a difference: factors of like quantity from figures on this site (see `worths`). Where several fit, their
envelope counts. The own figure's range times the product of these is the expected range: an estimate, always a range.

**Nearest** own figure, of those that state their quantity, by configuration; the value plays no part: same quantity
first (then a source that does not say
its quantity but calls it so, then one that does not say, then another quantity), then fewest differing keys, then
fewest keys not stated, then the order of `results/figures.yaml`.

**Verdict**, the first that fits:

- `not_comparable`: both quantities are stated and are not the same.
- `explained`: the ranges overlap once the known differences are counted, and no deciding key differs without a known
  worth. Where a deciding key is not stated, the known differences must have closed a gap: ranges that overlap from the
  start show nothing.
- `partly`: at least one difference has a known worth, and counting it at least halves the gap (the remaining factor is
  at most the square root of the factor before), or closes it while a deciding difference has no known worth.
- `unexplained`: quantity and deciding keys are all stated, and a gap stays.
- `cannot_be_said`: a deciding key or the quantity is not stated; or the ranges meet although a deciding difference has
  no known worth.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from macros import manifests, strict_yaml
from macros.figures import Figure
from macros.manifests import COMPARED, NOTED, Configuration, PublishedFigure
from macros.numbers import half_unit
from macros.problems import InputError
from macros.site import Profile, Site
from macros.vocabulary import QUESTIONS, Quantity, Question

Status = Literal["same", "differs", "not_stated", "varies"]
Verdict = Literal["not_comparable", "explained", "partly", "unexplained", "cannot_be_said"]
VERDICTS: tuple[Verdict, ...] = ("explained", "partly", "unexplained", "not_comparable", "cannot_be_said")
Range = tuple[Fraction, Fraction]

DECIDING: tuple[str, ...] = (
    "config.moe_backend_active",
    "workload.profile",
    "method.vantage",
    "method.token_accounting",
    "workload.concurrency",
    "system.nodes",
    "model.checkpoint",
    "runtime.version",
    "method.warm",
)
QUESTION_OF: dict[str, Question] = COMPARED | NOTED
# Keys that may change along with a leading one without making its factor another cause's.
COMPANIONS: dict[str, frozenset[str]] = {
    "workload.profile": frozenset(
        f"workload.{key}"
        for key in ("language", "prompt_tokens", "output_tokens", "depth_tokens", "short_prompt", "ignore_eos")
    ),
    "workload.depth_tokens": frozenset({"workload.prompt_tokens", "workload.output_tokens"}),
    "config.moe_backend_active": frozenset({"config.moe_backend_requested"}),
    "runtime.version": frozenset({"runtime.image", "runtime.image_digest"}),
    "system.nodes": frozenset({"system.tensor_parallel"}),
    "config.speculative_method": frozenset({"config.draft_tokens"}),
}
MOE_FLAG = "config.moe_backend_requested"
# Rounded counts: the flag beside the key says so.
APPROXIMATE = Fraction(10, 100)


@dataclass(frozen=True)
class Side:
    """One of two figures as a delta sees it: its settings with spellings unified, and its range."""

    id: str
    quantity: Quantity | None
    called: Quantity | None
    unit: str
    range: Range | None
    settings: Mapping[str, Any]
    varies: frozenset[str] = frozenset()
    approximate: frozenset[str] = frozenset()
    manifests: tuple[str, ...] = ()
    same_as: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class Worth:
    """What one step of a key was measured to do: the factor, from where, and in which configuration.

    `source` is the id of an own figure or of a register entry. `before` and `after` are unified settings; a
    profile stands for its class.
    """

    key: str
    before: Any
    after: Any
    quantity: Quantity
    low: Fraction
    high: Fraction
    source: str
    own: bool
    settings: Mapping[str, Any]

    @property
    def turned(self) -> Worth:
        """The step the other way."""
        return Worth(
            self.key, self.after, self.before, self.quantity, 1 / self.high, 1 / self.low, self.source, self.own,
            self.settings,
        )  # fmt: skip


@dataclass(frozen=True)
class Factor:
    """A known difference and what it is worth: the envelope of all that was measured of it."""

    key: str
    low: Fraction
    high: Fraction
    worths: tuple[Worth, ...]


@dataclass(frozen=True)
class Delta:
    """`a` beside `b`, the figure that it is compared with: factors and ranges lead from b to a."""

    a: Side
    b: Side
    keys: Mapping[str, Status]
    factors: tuple[Factor, ...]
    verdict: Verdict

    @property
    def counting(self) -> Mapping[str, Status]:
        """The keys that count."""
        return counting(self.keys)

    def with_status(self, *statuses: Status) -> list[str]:
        """The keys that have one of these statuses."""
        return [key for key, status in self.keys.items() if status in statuses]

    @property
    def questions(self) -> dict[Question, Status]:
        """The keys rolled up into the page's questions."""
        result: dict[Question, Status] = {}
        counting = self.counting
        for question in QUESTIONS:
            mine = {key: status for key, status in counting.items() if QUESTION_OF[key] == question}
            if "differs" in mine.values():
                result[question] = "differs"
            elif all(status == "same" for key, status in mine.items() if key in DECIDING):
                result[question] = "same"
            else:
                result[question] = "not_stated"
        return result

    @property
    def expected(self) -> Range | None:
        """b's range times all known factors: an estimate."""
        return _expected(self.b.range, self.factors)


@dataclass(frozen=True)
class Comparer:
    """Compares figures of one site: knows its spellings, profiles and the worth of differences."""

    aliases: Mapping[str, Mapping[str, str]]
    profiles: Mapping[str, Profile]
    own: Mapping[str, Side]
    published: Mapping[str, Side]
    worths: tuple[Worth, ...]

    @staticmethod
    def of(site: Site) -> Comparer:
        """Everything that comparing needs, prepared once."""
        spellings = aliases(site.results)
        own = {f.id: _own_side(f, site, spellings) for f in site.figures.values() if comparable(f)}
        published = {e.id: entry_side(e, spellings) for e in site.dataset.published.values()}
        return Comparer(spellings, site.profiles, own, published, tuple(worths(site, spellings)))

    def side(self, figure_id: str) -> Side:
        """An own or a published figure by its id."""
        return self.own.get(figure_id) or self.published[figure_id]

    def delta(self, a: Side, b: Side) -> Delta:
        """Which keys of two figures differ, what that is worth, and whether it explains their gap."""
        keys = self.keys(a, b)
        factors = tuple(self._factors(keys, a, b))
        return Delta(a, b, keys, factors, verdict(a, b, keys, factors))

    def keys(self, a: Side, b: Side) -> dict[str, Status]:
        """Each compared key of two figures, and each noted one that both state."""
        keys = {key: self.status(key, a, b) for key in COMPARED}
        for key in NOTED:
            if a.settings.get(key) is not None and b.settings.get(key) is not None:
                keys[key] = self.status(key, a, b)
        return keys

    def nearest(self, a: Side, others: Iterable[Side] | None = None) -> Delta:
        """The delta to the own figure whose configuration is nearest."""
        candidates = self.own.values() if others is None else others
        # min keeps the first of equals: the order of figures.yaml.
        return self.delta(a, min(candidates, key=lambda b: _distance(a, b, self.keys(a, b))))

    def status(self, key: str, a: Side, b: Side) -> Status:
        """One key of two figures."""
        if key in a.varies or key in b.varies:
            return "varies"
        x, y = a.settings.get(key), b.settings.get(key)
        if x is None or y is None:
            shared = any((m, key) in p.same_as for p, q in ((a, b), (b, a)) for m in q.manifests)
            return "same" if shared else "not_stated"
        if key == "workload.profile":
            return self._profiles(x, y)
        if key in a.approximate | b.approximate and abs(Fraction(x) - Fraction(y)) < APPROXIMATE * max(x, y):
            return "same"
        return "same" if x == y else "differs"

    def _profiles(self, x: str, y: str) -> Status:
        one, other = self.profiles[x], self.profiles[y]
        if one.group != other.group:
            return "differs"
        if not (one.exact and other.exact):
            return "not_stated"
        return "same" if x == y else "differs"

    def _factors(self, keys: Mapping[str, Status], a: Side, b: Side) -> Iterable[Factor]:
        for key, status in keys.items():
            if status == "differs" and (a.quantity or a.called) == b.quantity:
                before, after = (_step(key, side.settings[key], self.profiles) for side in (b, a))
                fitting = tuple(self.worth_of(key, before, after, b.quantity))
                if fitting:
                    yield Factor(key, min(w.low for w in fitting), max(w.high for w in fitting), fitting)

    def worth_of(self, key: str, before: Any, after: Any, quantity: Quantity | None) -> Iterable[Worth]:
        """All that the site knows of one step of a key."""
        return self._steps.get((key, before, after, quantity), ())

    def position(self, worth: Worth) -> int:
        """The place in `worths` of one of them, or of one of them turned."""
        return self._positions[id(worth)]

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {id(step): place for place, steps in enumerate(self._both_ways) for step in steps}

    @cached_property
    def _steps(self) -> dict[tuple[str, Any, Any, Quantity | None], list[Worth]]:
        """Every worth in both directions, by its step."""
        found: dict[tuple[str, Any, Any, Quantity | None], list[Worth]] = {}
        for step in itertools.chain.from_iterable(self._both_ways):
            found.setdefault((step.key, step.before, step.after, step.quantity), []).append(step)
        return found

    @cached_property
    def _both_ways(self) -> list[tuple[Worth, Worth]]:
        return [(worth, worth.turned) for worth in self.worths]

    @cached_property
    def nearest_own(self) -> dict[str, Delta]:
        """Each published figure's delta to the nearest own one."""
        return {name: self.nearest(side) for name, side in self.published.items()}


_last: tuple[Site, Comparer] | None = None


def comparer(site: Site) -> Comparer:
    """The comparer of a site, made once."""
    global _last
    if _last is None or _last[0] is not site:
        _last = (site, Comparer.of(site))
    return _last[1]


# Sides


def comparable(figure: Figure) -> bool:
    """Own figures that others' may be compared with: current measurements that say what quantity they are."""
    return (
        figure.kind == "measured" and figure.value is not None and bool(figure.quantity) and figure.status == "current"
    )


def aliases(results: Path) -> dict[str, dict[str, str]]:
    """key → spelling → common name, from aliases.yaml."""
    data, _, problems = strict_yaml.read(results / "aliases.yaml", "results/aliases.yaml")
    if problems:
        raise InputError(problems)
    return {key: {s: name for name, spellings in names.items() for s in spellings} for key, names in data.items()}


def unified(configuration: Mapping[str, Any], spellings: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Settings under their common names; a flag that leaves only one backend stands for the log line."""
    settings = {key: spellings.get(key, {}).get(value, value) for key, value in configuration.items()}
    flag = configuration.get("config.moe_backend_requested")
    if settings.get("config.moe_backend_active") is None:
        settings["config.moe_backend_active"] = spellings["config.moe_backend_requested"].get(str(flag))
    return settings


def configuration(manifest: Configuration) -> dict[str, Any]:
    """All keys that are compared or noted."""
    return {key: manifests.setting(manifest, key) for key in QUESTION_OF}


def _own_side(figure: Figure, site: Site, spellings: Mapping[str, Mapping[str, str]]) -> Side:
    runs = [site.dataset.runs[name] for name in figure.manifests]
    settings = configuration(runs[0]) | dict(figure.config)
    assert figure.value
    return Side(
        id=figure.id,
        quantity=figure.quantity,
        called=figure.quantity,
        unit=figure.unit,
        range=_own_range(figure),
        settings=unified(settings, spellings),
        approximate=_approximate(runs[0]),
        manifests=figure.manifests,
        same_as=figure.same_as,
    )


def _own_range(figure: Figure) -> Range:
    assert figure.value
    if figure.low and figure.high:
        return figure.low.value, figure.high.value
    if figure.relative_spread:
        share, value = Fraction(figure.relative_spread[1]) / 100, figure.value.value
        return value * (1 - share), value * (1 + share)
    return figure.value.interval()


def entry_side(entry: PublishedFigure, spellings: Mapping[str, Mapping[str, str]]) -> Side:
    """An entry of the register as a side."""
    return Side(
        id=entry.id,
        quantity=entry.quantity,
        called=entry.called,
        unit=entry.unit,
        range=_range(entry),
        settings=unified(configuration(entry), spellings),
        varies=frozenset(entry.varies),
        approximate=_approximate(entry),
        manifests=(entry.id,),
    )


def _range(entry: PublishedFigure) -> Range | None:
    if entry.span:
        return Fraction(entry.span[0]), Fraction(entry.span[1])
    if entry.value is None:
        return None
    half = Fraction(entry.plus_minus) if entry.plus_minus else half_unit(entry.value)
    return Fraction(entry.value) - half, Fraction(entry.value) + half


def _approximate(manifest: Configuration) -> frozenset[str]:
    names = ("prompt_tokens", "output_tokens", "depth_tokens")
    return frozenset(f"workload.{name}" for name in names if getattr(manifest.workload, f"{name}_approximate"))


# Worths


def worths(site: Site, spellings: Mapping[str, Mapping[str, str]]) -> Iterable[Worth]:
    """What differences were measured to be worth, from three kinds of figures on the site.

    Own gains and ratios of one cause (`moe-gain-range`, `prompt-gap`), own effects that were published without
    operands, and values that an entry of the register prints beside each other. Effects of unstated quantity,
    superseded ones, and pairs in which several causes change at once are left out.
    """
    yield from _own_worths(site, spellings)
    for comparison in site.dataset.comparisons.values():
        effect, change = comparison.effect, comparison.change
        if comparison.status == "current" and effect.quantity and effect.low is not None and effect.high is not None:
            before, after = (_unified_one(change.key, v, spellings) for v in (change.baseline, change.variant))
            low, high = (1 + Fraction(end) / 100 for end in (effect.low, effect.high))
            source = next((f.id for f in site.figures.values() if f.manifests == (comparison.id,)), comparison.id)
            yield Worth(change.key, before, after, effect.quantity, low, high, source, True, configuration(comparison))
    for entry in site.dataset.published.values():
        if entry.status == "current":
            yield from _beside_worths(entry, site, spellings)


def _own_worths(site: Site, spellings: Mapping[str, Mapping[str, str]]) -> Iterable[Worth]:
    for figure in site.figures.values():
        if not figure.formula or figure.formula.kind not in ("gain_range", "ratio") or len(figure.formula.of) != 2:
            continue
        after, before = (_own_side(site.figures[name], site, spellings) for name in figure.formula.of)
        key = _lead({k for k in figure.formula.studies if after.settings.get(k) != before.settings.get(k)})
        if key is None or after.quantity is None or after.quantity != before.quantity:
            continue
        if figure.value is not None:
            low, high = figure.value.interval()
        else:
            assert figure.low
            assert figure.high
            low, high = (1 + end.value / 100 for end in (figure.low, figure.high))
        old, new = (_step(key, side.settings[key], site.profiles) for side in (before, after))
        yield Worth(key, old, new, after.quantity, low, high, figure.id, True, before.settings)


def _beside_worths(entry: PublishedFigure, site: Site, spellings: Mapping[str, Mapping[str, str]]) -> Iterable[Worth]:
    """Between any two of the values that an entry prints: itself and those beside it."""
    here = configuration(entry)
    points = [(entry.quantity, _range(entry), here)]
    for other in entry.beside:
        if set(other.differs) <= set(QUESTION_OF):
            points.append((other.quantity, _beside_range(other), here | dict(other.differs)))
    for i, (quantity, before, from_) in enumerate(points):
        for other_quantity, after, to in points[i + 1 :]:
            changed = {key for key in QUESTION_OF if from_[key] != to[key]}
            key = _lead(changed)
            if quantity is None or quantity != other_quantity or not key or not before or not after:
                continue
            old, new = (_step(key, unified(c, spellings).get(key), site.profiles) for c in (from_, to))
            if old is not None and new is not None and old != new:
                low, high = after[0] / before[1], after[1] / before[0]
                yield Worth(key, old, new, quantity, low, high, entry.id, False, unified(from_, spellings))


def _beside_range(other: manifests.Beside) -> Range | None:
    if other.low is not None and other.high is not None:
        return Fraction(other.low), Fraction(other.high)
    if other.value is None:
        return None
    return Fraction(other.value) - half_unit(other.value), Fraction(other.value) + half_unit(other.value)


def _lead(changed: set[str]) -> str | None:
    """The key that a change is about: the others must be such as travel with it."""
    return next((key for key in sorted(changed) if changed - {key} <= COMPANIONS.get(key, frozenset())), None)


def _unified_one(key: str, value: Any, spellings: Mapping[str, Mapping[str, str]]) -> Any:
    return spellings.get(key, {}).get(value, value)


def _step(key: str, value: Any, profiles: Mapping[str, Profile]) -> Any:
    """One end of a step; profiles count by class, since the exact prompt is seldom known."""
    return profiles[value].group if key == "workload.profile" and value is not None else value


# Rules


def counting(keys: Mapping[str, Status]) -> dict[str, Status]:
    """The keys without the flag, where the backend itself is known from both sides."""
    known = keys["config.moe_backend_active"] in ("same", "differs")
    return {key: status for key, status in keys.items() if not (known and key == MOE_FLAG)}


def _distance(a: Side, b: Side, keys: Mapping[str, Status]) -> tuple[int, int, int]:
    if a.quantity and a.quantity == b.quantity:
        rank = 0
    elif a.quantity is None and a.called and a.called == b.quantity:
        rank = 1
    elif not (a.quantity and b.quantity):
        rank = 2
    else:
        rank = 3
    statuses = list(counting(keys).values())
    return rank, statuses.count("differs"), statuses.count("not_stated") + statuses.count("varies")


def gap(a: Range, b: Range) -> Fraction:
    """The factor, at least 1, by which two ranges are apart; 1 where they overlap."""
    return max(a[0] / b[1], b[0] / a[1], Fraction(1))


def _expected(b: Range | None, factors: Sequence[Factor]) -> Range | None:
    if b is None:
        return None
    low, high = b
    for factor in factors:
        low, high = low * factor.low, high * factor.high
    return low, high


def verdict(a: Side, b: Side, keys: Mapping[str, Status], factors: Sequence[Factor]) -> Verdict:
    """By the rule in the module's docstring."""
    if a.quantity and b.quantity and (a.quantity != b.quantity or a.unit != b.unit):
        return "not_comparable"
    expected = _expected(b.range, factors)
    if not (a.quantity and b.quantity and a.range and b.range and expected):
        return "cannot_be_said"
    unstated = any(keys[key] in ("not_stated", "varies") for key in DECIDING)
    valued = {factor.key for factor in factors}
    unvalued = any(keys[key] == "differs" and key not in valued for key in DECIDING)
    before, after = gap(a.range, b.range), gap(a.range, expected)
    if after == 1 and not unvalued and (before > 1 or not unstated):
        return "explained"
    if factors and before > 1 and after**2 <= before:
        return "partly"
    if unstated or after == 1:
        return "cannot_be_said"
    return "unexplained"
