"""What a YAML scalar without quotes means: the value that its text looks like, or a `Surprise`.

Numbers keep their recorded digits (`4.80` is Decimal('4.80')). Scalars that YAML 1.1 turns into something unexpected
(`0731` → 473, `no` → false, `12:30` → 750) come out as a `Surprise`, which no field accepts.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import yaml

_CANONICAL_INT = re.compile(r"-?(0|[1-9][0-9]*)\Z")
_CANONICAL_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+\Z")
_YAML = yaml.CSafeLoader("")


@dataclass(frozen=True)
class Surprise:
    """A scalar whose YAML meaning is not what its text looks like."""

    text: str
    meaning: str


def plain(text: str) -> Any:
    """The value of a scalar without quotes; raises ValueError for `<<` and `=`, which mean no value."""
    # The same few words and numbers stand in every manifest. Long texts are rarely the same, and many are large.
    return _kept(text) if len(text) <= 40 else _meaning(text)


def _meaning(text: str) -> Any:
    tag: str = _YAML.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    reader = _READERS.get(tag)
    if reader is None:
        raise ValueError(f"could not determine a constructor for the tag {tag!r}")
    return reader(yaml.ScalarNode(tag, text))


_kept = functools.lru_cache(maxsize=10_000)(_meaning)


def _int(node: yaml.ScalarNode) -> int | Surprise:
    text = node.value
    try:
        if _CANONICAL_INT.match(text):
            return int(text)
        return Surprise(text, str(_YAML.construct_yaml_int(node)))
    except ValueError:  # `0x_`, or more digits than Python converts
        return Surprise(text[:40], "a number that cannot be read")


def _float(node: yaml.ScalarNode) -> Decimal | Surprise:
    text = node.value
    if _CANONICAL_FLOAT.match(text):
        return Decimal(text)
    try:
        meaning = _YAML.construct_yaml_float(node)
    except OverflowError:  # base 60 with more places than a float has room for
        return Surprise(text[:40], "a number that cannot be read")
    if meaning != meaning or meaning in (float("inf"), float("-inf")):
        return Decimal(str(meaning))
    return Surprise(text, str(meaning))


def _bool(node: yaml.ScalarNode) -> bool | Surprise:
    text: str = node.value
    if text in ("true", "false"):
        return text == "true"
    return Surprise(text, str(_YAML.construct_yaml_bool(node)).lower())


def _timestamp(node: yaml.ScalarNode) -> Any:
    try:
        return _YAML.construct_yaml_timestamp(node)
    except ValueError:
        return Surprise(node.value, "a date that does not exist")


_READERS: dict[str, Callable[[yaml.ScalarNode], Any]] = {
    "tag:yaml.org,2002:str": lambda node: node.value,
    "tag:yaml.org,2002:null": lambda node: None,
    "tag:yaml.org,2002:int": _int,
    "tag:yaml.org,2002:float": _float,
    "tag:yaml.org,2002:bool": _bool,
    "tag:yaml.org,2002:timestamp": _timestamp,
}
