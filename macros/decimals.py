"""Decimals in manifests: exact as they come from YAML, and with the same digits through JSON."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import core_schema
from pydantic_core.core_schema import CoreSchema


def exact(value: Any) -> Any:
    """Whole numbers are exact decimals too; anything else is left to the strict check."""
    return Decimal(value) if type(value) is int else value


class Exact:
    """Marks a decimal field. In JSON its value is a string, which the check reads by itself."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        decimal = handler(source)
        return core_schema.json_or_python_schema(
            json_schema=decimal, python_schema=core_schema.no_info_before_validator_function(exact, decimal)
        )


class AmongOthers:
    """Marks a value that may be a decimal or a text: in JSON a decimal is a list of one string, to tell them apart."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        either = handler(source)
        return core_schema.json_or_python_schema(
            json_schema=core_schema.no_info_before_validator_function(_unlisted, either),
            python_schema=either,
            serialization=core_schema.plain_serializer_function_ser_schema(_listed, when_used="json"),
        )


def _listed(value: Any) -> Any:
    return [str(value)] if isinstance(value, Decimal) else value


def _unlisted(value: Any) -> Any:
    try:
        return Decimal(value[0]) if isinstance(value, list) else value
    except (ArithmeticError, LookupError, TypeError):
        return value
