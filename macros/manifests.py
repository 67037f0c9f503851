"""The manifests: one YAML file for one run, one comparison of two configurations, or one figure that others published.

Every key that matters for comparing is required; what is not published is an explicit null. A manifest is
data from a possibly hostile stranger: it is validated as a whole and never executed or rendered as markup.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from macros import places, strict_yaml
from macros.decimals import AmongOthers, Exact, exact
from macros.problems import Problem, cut, nearest
from macros.scalars import Surprise
from macros.vocabulary import (
    METHODOLOGY_V1_REPEATS,
    UNITS,
    DateOf,
    Evidence,
    Quantity,
    Question,
    Scope,
    SpanOf,
    Statistic,
    Status,
    TokenAccounting,
    Unit,
    Vantage,
    Window,
)

Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)]
# A register entry's id is its publisher's business: `botagi-nvfp4-1.03m` keeps the dot of its depth.
PublishedId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+([.-][a-z0-9]+)*$", max_length=80)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=300, pattern=r"^[^\n\r\t]+$")]
Prose = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
Https = Annotated[
    str, StringConstraints(pattern=r"^https://[A-Za-z0-9.-]+(:\d+)?(/[^\s<>\"'`\\{}|^]*)?$", max_length=500)
]
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
LanguageCode = Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")]
Digest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=1, le=10**9)]
Size = Annotated[int, Field(ge=0, le=10**9)]


def _number(**limits: int) -> Any:
    """In JSON Schema a decimal is a number; pydantic by itself would take text as well."""
    return WithJsonSchema({"type": "number", **limits})


Positive = Annotated[Decimal, Field(gt=0, le=10**12), Exact(), _number(exclusiveMinimum=0, maximum=10**12)]
NotNegative = Annotated[Decimal, Field(ge=0, le=10**12), Exact(), _number(minimum=0, maximum=10**12)]
Share = Annotated[Decimal, Field(ge=0, le=1), Exact(), _number(minimum=0, maximum=1)]
Percent = Annotated[Decimal, Field(ge=0, le=100), Exact(), _number(minimum=0, maximum=100)]


class Model(BaseModel):
    """A strict, frozen model."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Ruled(Model):
    """A model whose own rules are reported together: `rules` yields (field, expected, found)."""

    def rules(self) -> Iterator[tuple[str, str, str]]:
        raise NotImplementedError

    @model_validator(mode="after")
    def _keep_rules(self) -> Ruled:
        broken = list(self.rules())
        if broken:
            raise PydanticCustomError("rules", "rules", {"broken": broken})
        return self


def compared(question: Question) -> Any:
    """A required, nullable key that decides whether two figures are comparable, and the question it belongs to."""
    return Field(json_schema_extra={"question": question})


def noted(question: Question) -> Any:
    """An optional key that counts in a comparison only where both sides state it, and the question it belongs to."""
    return Field(default=None, json_schema_extra={"noted": question})


class Text(Model):
    """One text in both languages."""

    en: Prose
    ru: Prose


class Source(Model):
    """Where a value can be looked up. Null: not known here."""

    name: Line
    repository: Line | None
    url: Https | None
    commit: Commit | None
    path: Line | None
    sha256: Sha256 | None
    retrieved: datetime.date | None = None


class System(Model):
    device: Line | None = compared("other")
    chip: Line | None
    nodes: Count | None = compared("other")
    tensor_parallel: Count | None = compared("other")
    interconnect: Line | None
    link_gbit_s: Count | None
    transport: Line | None


class ModelIdentity(Model):
    name: Line = compared("other")
    checkpoint: Line | None = compared("other")
    weights: Line | None = compared("other")
    revision: Line | None = compared("other")
    repository: Line | None = None


class Runtime(Model):
    engine: Line | None = compared("other")
    version: Line | None = compared("other")
    image: Line | None = compared("other")
    image_digest: Digest | None = compared("other")
    recipe: Line | None = noted("other")
    driver: Line | None = noted("other")


class ServingConfig(Model):
    moe_backend_requested: Line | None = compared("backend")
    moe_backend_active: Line | None = compared("backend")
    kv_cache_dtype: Line | None = compared("other")
    speculative_method: Line | None = compared("other")
    draft_tokens: Size | None = compared("other")
    max_model_len: Count | None = None
    max_model_len_approximate: bool = False
    max_num_seqs: Count | None = None
    # How the active backend is known: its log line, or the publisher's description.
    moe_backend_known_from: Literal["log", "description"] | None = None
    draft_sampling: Literal["greedy", "probabilistic"] | None = noted("other")
    graph_mode: Literal["regular", "breakable", "eager"] | None = noted("other")
    expert_parallel: bool | None = noted("other")
    prefix_caching: bool | None = noted("other")


class Workload(Model):
    profile: Id | None = compared("prompt")
    language: LanguageCode | None = compared("prompt")
    prompt_tokens: Count | None = compared("prompt")
    prompt_tokens_approximate: bool = False
    output_tokens: Count | None = compared("prompt")
    output_tokens_approximate: bool = False
    concurrency: Count | None = compared("concurrency")
    depth_tokens: Size | None = compared("other")
    depth_tokens_approximate: bool = False
    temperature: NotNegative | None = compared("other")
    thinking: bool | None = compared("other")
    thinking_effort: Line | None = noted("other")
    # The prompt is called short without a number.
    short_prompt: bool | None = noted("prompt")
    # Whether the server already held the prompt's prefix in its cache.
    prompt_cached: bool | None = noted("other")
    ignore_eos: bool | None = noted("prompt")
    top_p: NotNegative | None = noted("other")
    arrival: Literal["together", "staggered"] | None = noted("concurrency")
    sha256: Sha256 | None = None


class Method(Model):
    vantage: Vantage | None = compared("vantage")
    window: Window | None = compared("vantage")
    token_accounting: TokenAccounting | None = compared("vantage")
    warm: bool | None = compared("other")
    warm_up_runs: Size | None = None
    tool: Line | None = None
    tool_version: Line | None = None


class Configuration(Model):
    """What was measured and how: the blocks that runs, comparisons and published figures share."""

    system: System
    model: ModelIdentity
    runtime: Runtime
    config: ServingConfig
    workload: Workload
    method: Method


class RelativeSpread(Ruled):
    """A spread that was published as a share of the value. `computed` says how; null: not stated."""

    low: NotNegative
    high: NotNegative
    unit: Literal["%"]
    computed: Line | None

    def rules(self) -> Iterator[tuple[str, str, str]]:
        if self.low > self.high:
            yield "low", f"at most high ({self.high})", str(self.low)


class ReadFrom(Model):
    """The place in a source from which a value was read: the source's name and a line, key or row."""

    source: Line
    place: Line


class Deviation(Model):
    """A standard deviation in the value's unit. population divides by N, sample by N - 1."""

    value: NotNegative
    kind: Literal["population", "sample"]
    over: Literal["requests", "runs"]


class Bias(Model):
    """A known bias of the tool that reported a value: where the value lies against what its name promises."""

    code: Id
    direction: Literal["high", "low", "either"]
    text: Text
    source: Line


class SettingReadFrom(ReadFrom):
    """The place from which a configuration value was read."""

    key: Line


# Keys of the method block that the measurements of one run may differ in.
PER_MEASUREMENT = ("vantage", "window", "token_accounting")


class Measurement(Ruled):
    """One measured value. `low`/`high` is the span of its runs; `n` is how many there were, null if not published.

    `vantage`, `window` and `token_accounting` are stated here where the measurements of one run differ in them (the
    run's own block then has null); `observations` counts requests or windows inside the runs.
    """

    id: Id
    quantity: Quantity | None
    unit: Unit
    statistic: Statistic | None
    value: Positive | None
    low: Positive | None
    high: Positive | None
    n: Count | None
    samples: Annotated[tuple[Positive, ...], Field(min_length=1, max_length=10_000, strict=False)] | None = None
    tokens: Count | None = None
    seconds: Positive | None = None
    relative_spread: RelativeSpread | None = None
    acceptance_length: Positive | None
    # Speculation over the measurement: tokens accepted, steps that drafted, and the share accepted at each position.
    accepted: Size | None = None
    drafts: Count | None = None
    acceptance_by_position: Annotated[tuple[Share, ...], Field(min_length=1, max_length=64, strict=False)] | None = None
    finish_reason: Literal["length", "stop"] | None = None
    requests_completed: Count | None = None
    requests_failed: Size | None = None
    read_from: ReadFrom | None = None
    vantage: Vantage | None = None
    window: Window | None = None
    token_accounting: TokenAccounting | None = None
    deviation: Deviation | None = None
    observations: Count | None = None
    biases: Annotated[tuple[Id, ...], Field(max_length=20, strict=False)] = ()

    def rules(self) -> Iterator[tuple[str, str, str]]:
        yield from unit_rules(self.quantity, self.unit)
        yield from value_rules(self.value, self.low, self.high)
        if self.n == 1 and self.low is not None:
            yield "n", "at least 2 runs, or null, where there is a span", "1"
        if (self.accepted is None) != (self.drafts is None):
            yield "accepted", "accepted and drafts together, or neither", "one of them"
        if self.samples is not None and self.n != len(self.samples):
            yield "n", f"{len(self.samples)}, the number of samples", str(self.n)
        if self.samples and self.value is not None and not min(self.samples) <= self.value <= max(self.samples):
            yield (
                "value",
                f"a value between the samples {min(self.samples)} and {max(self.samples)}",
                str(self.value),
            )
        if (self.tokens is None) != (self.seconds is None):
            yield "tokens", "tokens and seconds together, or neither", "one of them"


def span_rules(low: Decimal | None, high: Decimal | None, value: Decimal | None) -> Iterator[tuple[str, str, str]]:
    """The rules of a span: both ends or neither, in order, with the value inside."""
    if (low is None) != (high is None):
        yield "low", "low and high together, or neither", "one of them"
    elif low is not None and high is not None:
        if low > high:
            yield "low", f"at most high ({high})", str(low)
        elif value is not None and not low <= value <= high:
            yield "value", f"a value inside its span {low} to {high}", str(value)


class Correction(Ruled):
    """Why a manifest's figures are no longer current, and what replaced them."""

    status: Literal["superseded", "withdrawn"]
    date: datetime.date | None
    reason: Text
    successor: Id | None

    def rules(self) -> Iterator[tuple[str, str, str]]:
        if self.status == "superseded" and self.successor is None:
            yield "successor", "the id of the manifest that replaces this one", "null"


class Manifest(Configuration):
    id: Id
    date: datetime.date | None
    evidence: Evidence
    sources: Annotated[tuple[Source, ...], Field(min_length=1, strict=False)]
    correction: Correction | None = None
    notes: Annotated[tuple[Prose, ...], Field(max_length=40, strict=False)] = ()

    @property
    def status(self) -> Status:
        return self.correction.status if self.correction else "current"


class SharedSettings(Model):
    """Keys of which the source says that they were the same as in another run, without naming the value."""

    run: Id
    keys: Annotated[tuple[Line, ...], Field(min_length=1, strict=False)]


class Run(Manifest, Ruled):
    """One measured configuration, in `results/runs/`. `missing` says why a planned run has no measurements."""

    measurements: Annotated[tuple[Measurement, ...], Field(max_length=500, strict=False)]
    missing: Text | None = None
    same_as: Annotated[tuple[SharedSettings, ...], Field(strict=False)] = ()
    biases: Annotated[tuple[Bias, ...], Field(max_length=40, strict=False)] = ()
    settings_read_from: Annotated[tuple[SettingReadFrom, ...], Field(strict=False)] = ()

    def rules(self) -> Iterator[tuple[str, str, str]]:
        if self.measurements and self.missing is not None:
            yield "missing", "no reason, since there are measurements", "a reason"
        ids = [m.id for m in self.measurements]
        explained = {bias.code for bias in self.biases}
        for index, measurement in enumerate(self.measurements):
            for code in measurement.biases:
                if code not in explained:
                    yield f"measurements.{index}.biases", "a code that this run's biases explain", code
        for index, name in enumerate(ids):
            if name in ids[:index]:
                yield f"measurements.{index}.id", "an id that no other measurement here has", name


class Change(Model):
    """The one key in which the two sides of a comparison differ; null: not stated for that side."""

    key: Line
    baseline: Line | None
    variant: Line | None


class Effect(Ruled):
    """What the change was published to do: a gain in per cent, or a value before and after."""

    quantity: Quantity | None
    unit: Unit
    low: NotNegative | None
    high: NotNegative | None
    before: Positive | None
    after: Positive | None
    n: Count | None

    def rules(self) -> Iterator[tuple[str, str, str]]:
        gain, values = self.low is not None, self.before is not None
        yield from span_rules(self.low, self.high, None)
        if (self.before is None) != (self.after is None):
            yield "before", "before and after together, or neither", "one of them"
        if gain == values:
            yield "low", "either a gain (low, high) or values (before, after)", "both" if gain else "neither"
        if gain and self.unit != "%":
            yield "unit", "% for a gain", self.unit
        if values and self.quantity and self.unit not in UNITS[self.quantity]:
            yield "unit", f"{' or '.join(UNITS[self.quantity])} for {self.quantity}", self.unit


class Comparison(Manifest):
    """An effect published without its operands, in `results/comparisons/`. The blocks describe the baseline."""

    change: Change
    effect: Effect


Scalar = Annotated[str | int | Decimal | bool | None, AmongOthers()]


class Locator(Model):
    """Where in its source a figure stands."""

    line: Count | None
    section: Line | None


class Acceptance(Ruled):
    """More of what the source says of speculation. A length counts the tokens kept per step, `accepted` the drafts."""

    length_low: Positive | None = None
    length_high: Positive | None = None
    accepted: Positive | None = None
    rate: Percent | None = None
    rate_low: Percent | None = None
    rate_high: Percent | None = None

    def rules(self) -> Iterator[tuple[str, str, str]]:
        if not any(value is not None for _, value in self):
            yield "rate", "at least one value, or acceptance: null", "none"
        for name in ("length", "rate"):
            low, high = getattr(self, f"{name}_low"), getattr(self, f"{name}_high")
            for _, expected, found in span_rules(low, high, None):
                yield f"{name}_low", expected, found


class Reading(Model):
    """One of the values behind a figure that its source prints too, and the keys that set it apart from the others."""

    value: Positive
    n: Count | None = None
    plus_minus: Positive | None = None
    settings: dict[Line, Scalar] = {}


class Beside(Ruled):
    """Another value that the source prints beside the figure: same set-up but for the keys in `differs`."""

    value: Positive | None = None
    low: Positive | None = None
    high: Positive | None = None
    unit: Unit
    quantity: Quantity | None
    statistic: Statistic | None = None
    scope: Scope | None = None
    acceptance_length: Positive | None = None
    differs: dict[Line, Scalar] = {}

    def rules(self) -> Iterator[tuple[str, str, str]]:
        yield from value_rules(self.value, self.low, self.high)
        yield from unit_rules(self.quantity, self.unit)


class PublishedFigure(Manifest, Ruled):
    """One figure that others published, in `results/published/`.

    `quantity` follows the source's method: null where the source does not say how it measured. `called` is the
    quantity that the source's wording suggests. Numbers keep the digits of the source; a figure published as a
    range has no `value`. The blocks describe what the figure was measured on; a key in `varies` is null there
    because it changes within the figure, not because it is unknown.
    """

    id: PublishedId
    date_of: DateOf | None = None
    date_until: datetime.date | None = None
    publisher: Line | None
    contributor: Line | None = None
    # An entry by this site's own lab is never compared with its own figures; `own_figure` is the figure it repeats.
    own_lab: bool = False
    own_figure: Id | None = None
    locator: Locator | None = None
    quantity: Quantity | None
    called: Quantity | None = None
    scope: Scope | None = None
    # How a sum was made: all streams' tokens over one clock, or the streams' rates added up.
    summed: Literal["tokens", "stream_rates"] | None = None
    unit: Unit
    # The unit as printed, where the source's method gives the value another one.
    unit_printed: Line | None = None
    statistic: Statistic | None
    value: Positive | None
    low: Positive | None
    high: Positive | None
    span_of: SpanOf | None = None
    plus_minus: Positive | None = None
    approximate: bool = False
    # Repeats of the measurement behind the value; how many of them it is the best of; over how many prompts it runs.
    n: Count | None
    best_of: Count | None = None
    prompts: Count | None = None
    requests: Count | None = None
    tokens: Count | None = None
    readings: Annotated[tuple[Reading, ...], Field(max_length=100, strict=False)] = ()
    acceptance_length: Positive | None
    acceptance: Acceptance | None = None
    varies: Annotated[tuple[Line, ...], Field(strict=False)] = ()
    beside: Annotated[tuple[Beside, ...], Field(max_length=20, strict=False)] = ()

    @property
    def span(self) -> tuple[Decimal, Decimal] | None:
        """The range as published, else that of the printed readings of one configuration, the value included."""
        if self.low is not None and self.high is not None:
            return self.low, self.high
        values = [r.value for r in self.readings if not r.settings]
        if len(values) < 2:
            return None
        values += [self.value] if self.value is not None else []
        return min(values), max(values)

    def rules(self) -> Iterator[tuple[str, str, str]]:
        yield from value_rules(self.value, self.low, self.high)
        yield from unit_rules(self.quantity, self.unit)
        if self.low is not None and self.span_of is None:
            yield "span_of", "what the range spans", "null"
        if self.n == 1 and self.low is not None and self.span_of == "runs":
            yield "n", "at least 2 runs, or null, where there is a span of runs", "1"
        if self.statistic == "best_of" and self.best_of is None:
            yield "best_of", "the number of tries of which this is the best", "null"
        if self.best_of is not None and self.n is not None and self.best_of > self.n:
            yield "best_of", f"at most n ({self.n})", str(self.best_of)
        if self.own_figure is not None and not self.own_lab:
            yield "own_figure", "null for a figure of another publisher", self.own_figure
        if self.date_until is not None and (self.date is None or self.date_until <= self.date):
            yield "date_until", "a date after date", str(self.date_until)
        yield from self._source_rules()
        for key in self.varies:
            if key not in COMPARED and key not in NOTED:
                yield "varies", "keys that figures are compared by", key
            elif setting(self, key) is not None:
                yield "varies", f"null for {key}, which changes within the figure", str(setting(self, key))
        for name, changes in (
            *((f"readings.{i}.settings", reading.settings) for i, reading in enumerate(self.readings)),
            *((f"beside.{i}.differs", beside.differs) for i, beside in enumerate(self.beside)),
        ):
            try:
                altered(self, changes)
            except (KeyError, ValidationError) as error:
                yield name, "known keys with fitting values", str(error).splitlines()[0]
        for i, reading in enumerate(self.readings):
            for key in sorted(set(reading.settings) - set(self.varies)):
                yield f"readings.{i}.settings", f"{key} in varies", "not there"
        for i, other in enumerate(self.beside):
            same = (other.quantity, other.statistic, other.scope) == (self.quantity, self.statistic, self.scope)
            if same and not other.differs:
                yield f"beside.{i}.differs", "what sets this value apart", "nothing"

    def _source_rules(self) -> Iterator[tuple[str, str, str]]:
        """Repository, commit, path and line say the same as the address."""
        source = self.sources[0]
        if source.url is None:
            return
        if self.locator is None:
            yield "locator", "where in the source the figure stands", "null"
        if parts := _GITHUB.match(source.url):
            line = int(parts["line"]) if parts["line"] else None
            for name, there, here in (
                ("sources.0.repository", parts["repository"], source.repository),
                ("sources.0.commit", parts["commit"], source.commit),
                ("sources.0.path", parts["path"], source.path),
                ("locator.line", line, self.locator.line if self.locator else line),
            ):
                if there != here:
                    yield name, f"{there}, as in the address", str(here)


_GITHUB = re.compile(
    r"https://github\.com/(?P<repository>[^/]+/[^/]+)/"
    r"(?:blob/(?P<commit>[0-9a-f]{40})/(?P<path>[^#]+)(?:#L(?P<line>\d+))?|(?:issues|pull)/\d+)\Z"
)


def value_rules(value: Decimal | None, low: Decimal | None, high: Decimal | None) -> Iterator[tuple[str, str, str]]:
    """The rules of a figure that is a value, a range, or a value with its range."""
    yield from span_rules(low, high, value)
    if value is None and low is None:
        yield "value", "a value, or low and high", "neither"


def unit_rules(quantity: Quantity | None, unit: Unit) -> Iterator[tuple[str, str, str]]:
    if quantity and unit not in UNITS[quantity]:
        yield "unit", f"{' or '.join(UNITS[quantity])} for {quantity}", unit


def altered(configuration: Configuration, changes: Mapping[str, Scalar]) -> Configuration:
    """The configuration with some dotted keys set to other values; raises KeyError or ValidationError."""
    blocks: dict[str, BaseModel] = {name: getattr(configuration, name) for name in Configuration.model_fields}
    for key, value in changes.items():
        block, _, name = key.partition(".")
        if block not in blocks or name not in type(blocks[block]).model_fields:
            raise KeyError(key)
        blocks[block] = type(blocks[block]).model_validate({**dict(blocks[block]), name: value})
    return Configuration.model_validate(blocks)


def _keys(mark: str) -> dict[str, Question]:
    keys: dict[str, Question] = {}
    for block_name, block in Configuration.model_fields.items():
        model = block.annotation
        assert model is not None
        for name, field in model.model_fields.items():
            extra = field.json_schema_extra
            if isinstance(extra, Mapping) and mark in extra:
                keys[f"{block_name}.{name}"] = extra[mark]
    return keys


# Every key that decides whether two figures are comparable → the question it belongs to.
COMPARED: dict[str, Question] = _keys("question")
# Keys that only count where both sides state them → their question.
NOTED: dict[str, Question] = _keys("noted")


def as_measured(run: Run, measurement: Measurement) -> Run:
    """The run with its method block as one measurement had it: the measurement's own vantage, window and counting."""
    own = {name: value for name in PER_MEASUREMENT if (value := getattr(measurement, name)) is not None}
    return run.model_copy(update={"method": run.method.model_copy(update=own)}) if own else run


def setting(manifest: Configuration, key: str) -> Any:
    """The value at a dotted key such as `workload.concurrency`; raises KeyError for an unknown one."""
    value: Any = manifest
    for part in key.split("."):
        if part not in getattr(type(value), "__pydantic_fields__", ()):  # asking for model_fields takes twice as long
            raise KeyError(key)
        value = getattr(value, part)
    return value


M = TypeVar("M", bound=Model)


def read(path: Path, file: str, kind: type[M]) -> tuple[M | None, list[Problem]]:
    """One manifest, or None with all its problems."""
    raw, problems = strict_yaml.read_bytes(path, file)
    return (None, problems) if raw is None else of_bytes(raw, file, path.stem, kind)


def of_bytes(raw: bytes, file: str, stem: str, kind: type[M]) -> tuple[M | None, list[Problem]]:
    """The same of bytes that were read already, from a file of this name without suffix."""
    data, text, problems = strict_yaml.of_bytes(raw, file)
    if data is None:
        return None, problems or [Problem(file, 0, 0, "", "a mapping of keys", "an empty file")]
    model, more = validate(data, text, file, kind)
    if isinstance(data, dict) and issubclass(kind, Manifest):
        more += list(_identity_rules(data, text, file, stem))
    problems += more
    return (None if problems else model), problems


def validate(data: Any, text: str, file: str, kind: type[M]) -> tuple[M | None, list[Problem]]:
    """Checks parsed data against a model; `text` is only used to find line and column of a mistake."""
    try:
        return kind.model_validate(data), []
    except ValidationError as error:
        details = error.errors()
        # A list whose entries are at fault is reported as too short as well: the entries say it better.
        faulty = {d["loc"][:i] for d in details for i in range(len(d["loc"]))}
        details = [d for d in details if not (d["type"] == "too_short" and d["loc"] in faulty)]
        problems = [problem for d in details for problem in _explain(d, text, file, kind)]
        names: dict[tuple[str | int, ...], set[str | int]] = {}
        for *parent, name in (d["loc"] for d in details if d["loc"]):
            names.setdefault(tuple(parent), set()).add(name)
        return None, problems + list(_hidden_rules(kind, data, (), names, text, file))


def validate_entry(data: Any, text: str, file: str, kind: type[M], key: str) -> tuple[M | None, list[Problem]]:
    """The same for one entry of a mapping, such as one figure of figures.yaml."""
    try:
        return kind.model_validate(data), []
    except ValidationError as error:
        return None, [p for d in error.errors() for p in _explain(d, text, file, kind, (key,))]


def _hidden_rules(
    kind: type[Model],
    data: Any,
    loc: tuple[str | int, ...],
    faulty: Mapping[tuple[str | int, ...], set[str | int]],
    text: str,
    file: str,
) -> Iterator[Problem]:
    """What a model's own rules say of the fields that are in order, where another field keeps them from running.

    `faulty` has the names of the fields that do so, by the place of their model.
    """
    if not isinstance(data, dict):
        return
    fields, inner = kind.model_fields, _inner_models(kind)
    for name, model in inner.items():
        value = data.get(name)
        for index, entry in enumerate(value) if isinstance(value, list) else [(None, value)]:
            path = (*loc, name) if index is None else (*loc, name, index)
            yield from _hidden_rules(model, entry, path, faulty, text, file)
    beside = faulty.get(loc)
    if not beside or not issubclass(kind, Ruled):
        return
    sound = {n: exact(data[n]) for n in fields if n in data and n not in beside and n not in inner}
    try:
        broken = list(kind.model_construct(**dict.fromkeys(fields) | sound).rules())
    except (TypeError, AttributeError):
        return
    for field_name, expected, found in broken:
        if field_name in sound:
            line, column, _ = places.place(text, (*loc, field_name))
            yield Problem(file, line, column, dotted((*loc, field_name)), expected, found)


def _model_in(annotation: Any) -> type[Model] | None:
    """The model inside an annotation such as `Correction | None` or `tuple[Measurement, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part))), None)


@cache
def _inner_models(kind: type[Model]) -> dict[str, type[Model]]:
    """The models inside a model's fields, by the field's name."""
    return {name: inner for name, field in kind.model_fields.items() if (inner := _model_in(field.annotation))}


def _identity_rules(data: dict[str, Any], text: str, file: str, stem: str) -> Iterator[Problem]:
    """Rules over the whole manifest, checked on raw data so that they speak beside all other mistakes."""

    def at(*path: str | int) -> tuple[int, int]:
        return places.place(text, path)[:2]

    if isinstance(data.get("id"), str) and data["id"] != stem:
        yield Problem(file, *at("id"), "id", f"{stem}, like the file's name", data["id"])
    if data.get("measurements") == [] and data.get("missing") is None:
        yield Problem(
            file, *at("measurements"), "measurements", "at least 1 entry, or `missing` with the reason", "none"
        )
    if data.get("evidence") == "methodology_v1":
        missing = _methodology_gaps(data)
        if missing:
            yield Problem(
                file,
                *at("evidence"),
                "evidence",
                f"for methodology_v1: {'; '.join(missing)}",
                "not all of it stated",
            )


def _methodology_gaps(data: dict[str, Any]) -> list[str]:
    def known(*path: str) -> bool:
        value: Any = data
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        return value is not None

    gaps = []
    measurements = data.get("measurements")
    rows = measurements if isinstance(measurements, list) else []
    counts = [row.get("n") for row in rows if isinstance(row, dict)]
    if not counts or any(not isinstance(n, int) or n < METHODOLOGY_V1_REPEATS for n in counts):
        gaps.append(f"n of at least {METHODOLOGY_V1_REPEATS} in each measurement")
    for path, name in (
        (("workload", "sha256"), "workload.sha256 of the frozen workload"),
        (("runtime", "image_digest"), "runtime.image_digest"),
        (("model", "revision"), "model.revision"),
    ):
        if not known(*path):
            gaps.append(name)
    return gaps


def _explain(
    details: Any, text: str, file: str, kind: type[Model], prefix: tuple[str | int, ...] = ()
) -> Iterator[Problem]:
    loc: tuple[str | int, ...] = (*prefix, *details["loc"])
    if details["type"] == "rules":
        for field, expected, found in details["ctx"]["broken"]:
            path = (*loc, *(int(p) if p.isdigit() else p for p in field.split(".")))
            line, column, _ = places.place(text, path)
            yield Problem(file, line, column, dotted(path), expected, found)
        return
    line, column, raw = places.place(text, loc)
    found = _found(details["input"], raw)
    expected = _expected(details)
    if details["type"] == "extra_forbidden":
        key = str(loc[-1])
        expected = f"a known key{nearest(key, _known_keys(kind, details['loc'][:-1]))}"
        found = f"the key {cut(key)}"
    elif details["type"] == "missing":
        expected, found = "this key (null where not published)", "no such key"
    yield Problem(file, line, column, dotted(loc), expected, found)


def dotted(path: tuple[str | int, ...]) -> str:
    return ".".join(str(step) for step in path)


def _known_keys(kind: type[Model], path: tuple[str | int, ...]) -> list[str]:
    schema = _schema(kind)
    node: Any = schema
    for step in path:
        node = _resolve(node, schema)
        node = node.get("items", {}) if isinstance(step, int) else node.get("properties", {}).get(step, {})
    return list(_resolve(node, schema).get("properties", {}))


@cache
def _schema(kind: type[Model]) -> dict[str, Any]:
    return kind.model_json_schema()


def _resolve(node: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    for option in node.get("anyOf", ()):
        if option.get("type") != "null":
            node = option
            break
    if "$ref" in node:
        return schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]  # type: ignore[no-any-return]
    return node


def _found(value: Any, raw: str) -> str:
    if isinstance(value, Surprise):
        return f"{value.text}, which YAML reads as {value.meaning}: quote it"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "null"
    if isinstance(value, str):
        return f"the text {value[:80]!r}"
    return (raw or str(value))[:80]


_WORDS = {
    "string_type": "text",
    "int_type": "a whole number",
    "decimal_type": "a number",
    "is_instance_of": "a number",
    "bool_type": "true or false",
    "date_type": "a date, YYYY-MM-DD",
    "dict_type": "a mapping of keys",
    "model_type": "a mapping of keys",
    "list_type": "a list",
    "tuple_type": "a list",
    "finite_number": "a finite number",
    "greater_than": "a number above {gt}",
    "greater_than_equal": "a number of at least {ge}",
    "less_than_equal": "a number of at most {le}",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "at least {min_length} character",
    "too_short": "at least {min_length} entry",
    "too_long": "at most {max_length} entries",
    "literal_error": "one of {expected}",
}
_PATTERNS = (
    ("https", "an https:// address"),
    ("{40}", "40 hexadecimal digits, lower case"),
    ("sha256:", "sha256: and 64 hexadecimal digits, lower case"),
    ("{64}", "64 hexadecimal digits, lower case"),
    ("a-z0-9]+(-", "lower-case letters, digits and single hyphens"),
    ("{2}", "a two-letter language code such as ru, in quotes"),
    ("\\n", "one line of text"),
)


def _expected(details: Any) -> str:
    kind, ctx = details["type"], details.get("ctx", {})
    if kind == "string_pattern_mismatch":
        return next((words for part, words in _PATTERNS if part in ctx["pattern"]), ctx["pattern"])
    if kind in _WORDS:
        words = _WORDS[kind].format(**ctx)
        text_wanted = kind == "string_type" and not isinstance(details["input"], str | type(None) | Mapping | list)
        return words + (", in quotes" if text_wanted else "")
    return re.sub(r"^Input should be ", "", str(details["msg"]))
