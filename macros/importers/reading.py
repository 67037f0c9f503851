"""What an importer takes from a file: readings, the conditions they hold under, and what it left out and why.

Data flows one way: a file → `Extract` (one per file) → `assemble` → a manifest. Nothing here knows YAML or the site.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from macros.vocabulary import Quantity, Statistic, TokenAccounting, Unit, Vantage, Window

Role = Literal["client", "engine", "environment"]


@dataclass(frozen=True)
class Deviation:
    """A standard deviation in the unit of its value. population divides by N, sample by N - 1."""

    value: Decimal
    kind: Literal["population", "sample"]
    over: Literal["requests", "runs"]


@dataclass(frozen=True)
class Reading:
    """One value with its whole meaning. `n` counts runs (never requests); None: the file does not say.

    `observations` is how many requests or windows inside the runs the statistic was taken over, `drafts` how many
    verification steps; `samples` holds one value per run. `biases` are codes of `macros.importers.biases`.
    """

    name: str
    quantity: Quantity
    unit: Unit
    statistic: Statistic
    value: Decimal
    place: str
    vantage: Vantage
    window: Window | None
    accounting: TokenAccounting | None
    n: int | None = 1
    samples: tuple[Decimal, ...] = ()
    deviation: Deviation | None = None
    observations: int | None = None
    acceptance_length: Decimal | None = None
    by_position: tuple[Decimal, ...] = ()
    accepted: int | None = None
    drafts: int | None = None
    tokens: int | None = None
    seconds: Decimal | None = None
    completed: int | None = None
    failed: int | None = None
    biases: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True)
class Stated:
    """A configuration value and where it was read. None is a value too: it was stated that nobody knows."""

    value: Any
    source: str
    place: str


@dataclass(frozen=True)
class Withheld:
    """A figure that the file holds and that is not taken over, and why."""

    what: str
    why: str


@dataclass
class Case:
    """One configuration that a file reports on. Cases with equal settings and fingerprint are repeats of each other."""

    name: str
    readings: list[Reading] = field(default_factory=list)
    settings: dict[str, Stated] = field(default_factory=dict)
    fingerprint: tuple[str, ...] = ()
    total_output_tokens: int | None = None
    wall_seconds: Decimal | None = None


@dataclass
class Extract:
    """Everything that one file contributes. `settings` hold for all of its cases; `blockers` forbid publication."""

    source: str
    sha256: str
    role: Role
    tool: str | None = None
    tool_version: str | None = None
    date: Any = None
    cases: list[Case] = field(default_factory=list)
    settings: dict[str, Stated] = field(default_factory=dict)
    withheld: list[Withheld] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    blockers: list[str] = field(default_factory=list)
    # Two of these make a measurement (see vllm_metrics.between); one alone is no run.
    scrape: Mapping[str, Decimal] | None = None
    served_model: str | None = None

    def state(self, key: str, value: Any, place: str) -> None:
        """Records a configuration value of the whole file; None means that the file lacks it and is ignored."""
        if value is not None:
            self.settings[key] = Stated(value, self.source, place)


def rounded(value: Decimal, digits: int = 6) -> Decimal:
    """A derived value at `digits` significant digits: enough for every use, and no false precision."""
    decimals = max(0, digits - 1 - value.adjusted())
    return value.quantize(Decimal(1).scaleb(-decimals))


def per_second(milliseconds: Decimal) -> Decimal:
    """1000 / x: the rate [1/s] of something that takes x ms."""
    return rounded(Decimal(1000) / milliseconds)
