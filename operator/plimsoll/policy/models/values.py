"""Values of the API that have a grammar of their own."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import Annotated

import re2
from pydantic import Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from plimsoll.cluster.quantity import exact
from plimsoll.errors import InvalidInput
from plimsoll.policy.durations import GRAMMAR, seconds
from plimsoll.policy.rules import Rule, cel_matches

_QUIET = re2.Options()
_QUIET.log_errors = False


class NodeState(StrEnum):
    """What is known of a node; named as in ``status.nodes``."""

    FRESH = "Fresh"
    STALE = "Stale"
    MISSING = "Missing"


def duration(name: str, *, low: str, high: str) -> Rule:
    """``name`` is a Go duration in h, m and s, of whole seconds, within the bounds."""

    def within(text: str) -> bool:
        try:
            return seconds(low) <= seconds(text) <= seconds(high)
        except InvalidInput:
            return False

    return Rule(
        cel=(
            f"{cel_matches(GRAMMAR)} && duration(self) >= duration('{low}') && duration(self) <= duration('{high}')"
            " && duration(self).getMilliseconds() % 1000 == 0"
        ),
        holds=within,
        problem=f"{name} is not a duration of whole seconds from {low} to {high}",
        mend="write hours, minutes and seconds, e.g. 90s, 5m or 1h30m",
    )


def _is_regex(text: str) -> bool:
    try:
        re2.compile(text, _QUIET)
    except re2.error:
        return False
    return True


def number(quantity: object) -> Fraction | None:
    """The quantity as an exact number; None where it is no quantity."""
    try:
        return exact(quantity)
    except InvalidInput:
        return None


def _at_least_one(quantity: object) -> bool:
    value = number(quantity)
    return value is not None and value >= 1


def _int_or_string(value: object) -> int | str:
    """As the API server takes it: neither true nor 0.5 is an integer or a string."""
    plain = isinstance(value, int) and not isinstance(value, bool)
    if plain or (isinstance(value, str) and len(value) <= _MAX_QUANTITY):
        return value  # type: ignore[return-value]
    raise PydanticCustomError("int_or_string", "Input should be an integer or a short string")


# The longest quantity that means something is "-9223372036854775807m"; a bound keeps the rules cheap.
_MAX_QUANTITY = 32
_IntOrString = Annotated[
    int | str,
    PlainValidator(_int_or_string),
    WithJsonSchema({"x-kubernetes-int-or-string": True, "maxLength": _MAX_QUANTITY}),
]
IS_QUANTITY = "isQuantity(string({0}))"
AS_QUANTITY = "quantity(string({0}))"

Quantity = Annotated[
    _IntOrString,
    Rule(
        cel=IS_QUANTITY.format("self"),
        holds=lambda quantity: number(quantity) is not None,
        problem="this is not a quantity",
        mend="write a number with an optional suffix, e.g. 1250M, 64Gi, 500m or 0.9 in quotes",
    ),
]
Bytes = Annotated[
    _IntOrString,
    Rule(
        cel=f"{IS_QUANTITY} && {AS_QUANTITY}.compareTo(quantity('1')) >= 0".format("self"),
        holds=_at_least_one,
        problem="this is not an amount of at least 1 byte",
        mend="write a quantity above 0, e.g. 1250M or 64Gi",
    ),
]
Weight = Annotated[int, Field(strict=True, ge=0, le=100, json_schema_extra={"format": "int32"})]
Percent = Annotated[
    int,
    Field(strict=True, json_schema_extra={"format": "int32", "minimum": 1, "maximum": 100}),
    Rule(
        cel="self >= 1 && self <= 100",
        holds=lambda percent: 1 <= percent <= 100,
        problem="this is not a percentage from 1 to 100",
        mend="write a whole number in these bounds, or leave it out",
    ),
]
Priority = Annotated[
    int, Field(strict=True, ge=-1_000_000_000, le=1_000_000_000, json_schema_extra={"format": "int32"})
]
DeviceName = Annotated[
    str,
    Field(min_length=1, max_length=256),
    Rule(
        # An expression that does not compile ends the rule with an error, which the API server reports in the
        # compiler's words before this sentence. (An `|| true` would swallow it.)
        cel="''.matches(self) in [true, false]",
        holds=_is_regex,
        problem="deviceName is not a valid RE2 expression",
        mend="write a device's name, e.g. eth0, or an expression that matches whole names, e.g. 'eth[0-9]+|bond0'",
    ),
]
LabelValue = Annotated[str, Field(max_length=63)]
