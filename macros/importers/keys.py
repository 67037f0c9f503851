"""The keys that a person may state, with --set or in a sidecar, each in the type that the manifest wants."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from macros.manifests import Configuration, Manifest
from macros.problems import InputError, Problem

MANIFEST_KEYS = ("date", "evidence")


def _type(info: FieldInfo) -> Any:
    return Annotated[cast(Any, info.annotation), *info.metadata] if info.metadata else info.annotation


def _types() -> dict[str, Any]:
    types: dict[str, Any] = {}
    for block, field in Configuration.model_fields.items():
        assert field.annotation is not None
        types |= {f"{block}.{name}": _type(info) for name, info in field.annotation.model_fields.items()}
    return types | {name: _type(Manifest.model_fields[name]) for name in MANIFEST_KEYS}


# Dotted key → its type.
TYPES: dict[str, Any] = _types()


def fitting(key: str, candidates: list[Any], file: str, line: int = 0) -> Any:
    """The first candidate that fits the key's type; raises InputError with what was expected."""
    if key not in TYPES:
        raise InputError([Problem(file, line, 0, key, "a key of a run's manifest", "another key")])
    reason = ""
    for candidate in candidates:
        try:
            return TypeAdapter[Any](TYPES[key]).validate_python(candidate, strict=True)
        except ValidationError as error:
            reason = reason or error.errors()[0]["msg"].removeprefix("Input should be ")
    raise InputError([Problem(file, line, 0, key, reason, str(candidates[-1])[:80] or "nothing")])
