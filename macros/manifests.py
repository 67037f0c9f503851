"""The manifests: one YAML file for one run, one comparison of two configurations, or one figure that others published.

Every key that matters for comparing is required; what is not published is an explicit null. A manifest is
data from a possibly hostile stranger: it is validated as a whole and never executed or rendered as markup.
"""

from __future__ import annotations

import datetime
import difflib
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from macros import strict_yaml
from macros.problems import Problem
from macros.vocabulary import (
    METHODOLOGY_V1_REPEATS,
    UNITS,
    Evidence,
    Quantity,
    Question,
    Statistic,
    Status,
    TokenAccounting,
    Unit,
    Vantage,
    Window,
)

Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=300, pattern=r"^[^\n\r\t]+$")]
Prose = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
Https = Annotated[
    str, StringConstraints(pattern=r"^https://[A-Za-z0-9.-]+(:\d+)?(/[^\s<>\"'`\\{}|^]*)?$", max_length=500)
]
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Digest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=1, le=10**9)]
Size = Annotated[int, Field(ge=0, le=10**9)]
Positive = Annotated[Decimal, Field(gt=0, le=10**12)]
NotNegative = Annotated[Decimal, Field(ge=0, le=10**12)]


class Model(BaseModel):
    """A strict, frozen model whose own rules are reported together: `rules` yields (field, expected, found)."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def rules(self) -> Iterator[tuple[str, str, str]]:
        return iter(())

    @model_validator(mode="after")
    def _keep_rules(self) -> Model:
        broken = list(self.rules())
        if broken:
            raise PydanticCustomError("rules", "rules", {"broken": broken})
        return self


def compared(question: Question) -> Any:
    """A required, nullable key that decides whether two figures are comparable, and the question it belongs to."""
    return Field(json_schema_extra={"question": question})


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


class Runtime(Model):
    engine: Line | None = compared("other")
    version: Line | None = compared("other")
    image: Line | None = compared("other")
    image_digest: Digest | None = compared("other")


class ServingConfig(Model):
    moe_backend_requested: Line | None = compared("backend")
    moe_backend_active: Line | None = compared("backend")
    kv_cache_dtype: Line | None = compared("other")
    speculative_method: Line | None = compared("other")
    draft_tokens: Size | None = compared("other")
    max_model_len: Count | None = None
    max_num_seqs: Count | None = None


class Workload(Model):
    profile: Id | None = compared("prompt")
    language: Line | None = compared("prompt")
    prompt_tokens: Count | None = compared("prompt")
    prompt_tokens_approximate: bool = False
    output_tokens: Count | None = compared("prompt")
    concurrency: Count | None = compared("concurrency")
    depth_tokens: Size | None = compared("other")
    temperature: NotNegative | None = compared("other")
    thinking: bool | None = compared("other")
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


class RelativeSpread(Model):
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


class Measurement(Model):
    """One measured value. `low`/`high` is the span of its runs; `n` is how many there were, null if not published.

    `vantage`, `window` and `token_accounting` are stated here where the measurements of one run differ in them (the
    run's own block then has null); `observations` counts requests, steps or windows inside the runs.
    """

    id: Id
    quantity: Quantity | None
    unit: Unit
    statistic: Statistic | None
    value: Positive
    low: Positive | None
    high: Positive | None
    n: Count | None
    samples: Annotated[tuple[Positive, ...], Field(min_length=1, max_length=10_000, strict=False)] | None = None
    tokens: Count | None = None
    seconds: Positive | None = None
    relative_spread: RelativeSpread | None = None
    acceptance_length: Positive | None
    requests_completed: Count | None = None
    requests_failed: Size | None = None
    read_from: ReadFrom | None = None
    vantage: Vantage | None = None
    window: Window | None = None
    token_accounting: TokenAccounting | None = None
    deviation: Deviation | None = None
    observations: Count | None = None
    acceptance_by_position: Annotated[tuple[NotNegative, ...], Field(max_length=64, strict=False)] = ()
    biases: Annotated[tuple[Id, ...], Field(max_length=20, strict=False)] = ()

    def rules(self) -> Iterator[tuple[str, str, str]]:
        if self.quantity and self.unit not in UNITS[self.quantity]:
            yield "unit", f"{' or '.join(UNITS[self.quantity])} for {self.quantity}", self.unit
        yield from span_rules(self.low, self.high, self.value)
        if self.n == 1 and self.low is not None:
            yield "n", "at least 2 runs, or null, where there is a span", "1"
        if self.samples is not None and self.n != len(self.samples):
            yield "n", f"{len(self.samples)}, the number of samples", str(self.n)
        if self.samples and not min(self.samples) <= self.value <= max(self.samples):
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


class Correction(Model):
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


class Run(Manifest):
    """One measured configuration, in `results/runs/`."""

    measurements: Annotated[tuple[Measurement, ...], Field(min_length=1, strict=False)]
    same_as: Annotated[tuple[SharedSettings, ...], Field(strict=False)] = ()
    biases: Annotated[tuple[Bias, ...], Field(max_length=40, strict=False)] = ()
    settings_read_from: Annotated[tuple[SettingReadFrom, ...], Field(strict=False)] = ()

    def rules(self) -> Iterator[tuple[str, str, str]]:
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


class Effect(Model):
    """What the change was published to do: a gain in per cent, or a value before and after."""

    quantity: Quantity
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
        if values and self.unit not in UNITS[self.quantity]:
            yield "unit", f"{' or '.join(UNITS[self.quantity])} for {self.quantity}", self.unit


class Comparison(Manifest):
    """An effect published without its operands, in `results/comparisons/`. The blocks describe the baseline."""

    change: Change
    effect: Effect


class PublishedFigure(Manifest):
    """One figure that others published, in `results/published/`. `printed` keeps the digits of its source."""

    publisher: Line | None
    quantity: Quantity | None
    unit: Unit
    statistic: Statistic | None
    value: Positive
    low: Positive | None
    high: Positive | None
    n: Count | None
    acceptance_length: Positive | None

    def rules(self) -> Iterator[tuple[str, str, str]]:
        if self.quantity and self.unit not in UNITS[self.quantity]:
            yield "unit", f"{' or '.join(UNITS[self.quantity])} for {self.quantity}", self.unit
        yield from span_rules(self.low, self.high, self.value)


def _compared_keys() -> dict[str, Question]:
    keys: dict[str, Question] = {}
    for block_name, block in Configuration.model_fields.items():
        model = block.annotation
        assert model is not None
        for name, field in model.model_fields.items():
            extra = field.json_schema_extra
            if isinstance(extra, Mapping):
                keys[f"{block_name}.{name}"] = extra["question"]
    return keys


# Every key that decides whether two figures are comparable → the question it belongs to.
COMPARED: dict[str, Question] = _compared_keys()


def setting(manifest: Configuration, key: str) -> Any:
    """The value at a dotted key such as `workload.concurrency`; raises KeyError for an unknown one."""
    value: Any = manifest
    for part in key.split("."):
        if not isinstance(value, BaseModel) or part not in type(value).model_fields:
            raise KeyError(key)
        value = getattr(value, part)
    return value


M = TypeVar("M", bound=Model)


def read(path: Path, file: str, kind: type[M]) -> tuple[M | None, list[Problem]]:
    """One manifest, or None with all its problems."""
    data, text, problems = strict_yaml.read(path, file)
    if data is None:
        return None, problems or [Problem(file, 0, 0, "", "a mapping of keys", "an empty file")]
    model, more = validate(data, text, file, kind)
    if isinstance(data, dict) and issubclass(kind, Manifest):
        more += list(_identity_rules(data, text, file, path.stem))
    problems += more
    return (None if problems else model), problems


def validate(data: Any, text: str, file: str, kind: type[M]) -> tuple[M | None, list[Problem]]:
    """Checks parsed data against a model; `text` is only used to find line and column of a mistake."""
    try:
        return kind.model_validate(data), []
    except ValidationError as error:
        return None, [problem for details in error.errors() for problem in _explain(details, text, file, kind)]


def _identity_rules(data: dict[str, Any], text: str, file: str, stem: str) -> Iterator[Problem]:
    """Rules over the whole manifest, checked on raw data so that they speak beside all other mistakes."""

    def at(*path: str | int) -> tuple[int, int]:
        return strict_yaml.place(text, path)[:2]

    if isinstance(data.get("id"), str) and data["id"] != stem:
        yield Problem(file, *at("id"), "id", f"{stem}, like the file's name", data["id"])
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


def _explain(details: Any, text: str, file: str, kind: type[Model]) -> Iterator[Problem]:
    loc: tuple[str | int, ...] = details["loc"]
    if details["type"] == "rules":
        for field, expected, found in details["ctx"]["broken"]:
            path = (*loc, *(int(p) if p.isdigit() else p for p in field.split(".")))
            line, column, _ = strict_yaml.place(text, path)
            yield Problem(file, line, column, dotted(path), expected, found)
        return
    line, column, raw = strict_yaml.place(text, loc)
    found = _found(details["input"], raw)
    expected = _expected(details)
    if details["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(loc[-1]), _known_keys(kind, loc[:-1]), n=1)
        expected = f"a known key (did you mean {near[0]}?)" if near else "a known key"
        found = f"the key {loc[-1]}"
    elif details["type"] == "missing":
        expected, found = "this key (null where not published)", "no such key"
    yield Problem(file, line, column, dotted(loc), expected, found)


def dotted(path: tuple[str | int, ...]) -> str:
    return ".".join(str(step) for step in path)


def _known_keys(kind: type[Model], path: tuple[str | int, ...]) -> list[str]:
    schema = kind.model_json_schema()
    node: Any = schema
    for step in path:
        node = _resolve(node, schema)
        node = node.get("items", {}) if isinstance(step, int) else node.get("properties", {}).get(step, {})
    return list(_resolve(node, schema).get("properties", {}))


def _resolve(node: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    for option in node.get("anyOf", ()):
        if option.get("type") != "null":
            node = option
            break
    if "$ref" in node:
        return schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]  # type: ignore[no-any-return]
    return node


def _found(value: Any, raw: str) -> str:
    if isinstance(value, strict_yaml.Surprise):
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
