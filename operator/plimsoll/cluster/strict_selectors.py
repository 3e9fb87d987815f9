"""Label selectors of affinity terms and spread constraints, read as strictly as kube-scheduler reads them.

Twin of apimachinery's ``LabelSelectorAsSelector`` and ``NewRequirement``, whose sentences reach the pod's condition.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.cluster.selectors import LabelSelector, Operator
from plimsoll.errors import InvalidInput

Json = Mapping[str, Any]

_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_DNS_LABEL}(\.{_DNS_LABEL})*"
_OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist"})
_MOST_BYTES, _MOST_PREFIX_BYTES = 63, 253
_KEY_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
    f" (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
)
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and"
    " end with an alphanumeric character"
    f" (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '({_NAME})?')"
)
_PREFIX_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and"
    f" end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)


class MalformedSelector(InvalidInput):
    """A label selector that kube-scheduler would not read; the message is its own."""


def strict_selector(selector: Json | None) -> LabelSelector | None:
    """None selects nothing (a selector that is absent); ``{}`` selects everything.

    Raises:
        MalformedSelector: an unknown operator, a key or value that no label can have, a wrong number of values.
    """
    if selector is None:
        return None
    for key, value in sorted((selector.get("matchLabels") or {}).items()):
        _check(key, "=", [value])
    for expression in selector.get("matchExpressions") or ():
        operator = expression.get("operator") or ""
        if operator not in _OPERATORS:
            raise MalformedSelector(f"{_quoted(operator)} is not a valid label selector operator")
        _check(expression.get("key") or "", operator, list(expression.get("values") or ()))
    return LabelSelector.parse(selector)


def equals_one_of(selector: LabelSelector) -> Iterator[tuple[str, frozenset[str]]]:
    """Keys of which a selected object has one of some values."""
    return ((r.key, r.values) for r in selector.requirements if r.operator is Operator.IN)


def _check(key: str, operator: str, values: list[str]) -> None:
    if not all(isinstance(text, str) for text in (key, *values)):
        raise TypeError(f"keys and values of a label selector must be strings, not {[key, *values]!r}")
    found = [*_key_errors(key), *_count_errors(operator, values), *_value_errors(key, values)]
    if found:
        distinct = list(dict.fromkeys(found))
        raise MalformedSelector(distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]")


def _key_errors(key: str) -> Iterator[str]:
    if problems := "; ".join(_key_problems(key)):
        yield f"key: Invalid value: {_quoted(key)}: {problems}"


def _key_problems(key: str) -> Iterator[str]:
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        yield f"a valid label key {_KEY_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return
    if slash and not prefix:
        yield "prefix part must be non-empty"
    elif slash:
        yield from (f"prefix part {problem}" for problem in _prefix_problems(prefix))
    if not name:
        yield "name part must be non-empty"
    elif len(name.encode()) > _MOST_BYTES:
        yield f"name part must be no more than {_MOST_BYTES} bytes"
    if not re.fullmatch(_NAME, name):
        yield f"name part {_KEY_RULE}"


def _prefix_problems(prefix: str) -> Iterator[str]:
    if len(prefix.encode()) > _MOST_PREFIX_BYTES:
        yield f"must be no more than {_MOST_PREFIX_BYTES} bytes"
    if not re.fullmatch(_SUBDOMAIN, prefix):
        yield _PREFIX_RULE


def _count_errors(operator: str, values: list[str]) -> Iterator[str]:
    if operator in {"In", "NotIn"} and not values:
        yield "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"
    if operator in {"Exists", "DoesNotExist"} and values:
        yield f"values: Invalid value: {_marshalled(values)}: values set must be empty for exists and does not exist"


def _value_errors(key: str, values: list[str]) -> Iterator[str]:
    for i, value in enumerate(values):
        if problems := "; ".join(_value_problems(value)):
            yield f"values[{i}][{key}]: Invalid value: {_quoted(value)}: {problems}"


def _value_problems(value: str) -> Iterator[str]:
    if len(value.encode()) > _MOST_BYTES:
        yield f"must be no more than {_MOST_BYTES} bytes"
    if not re.fullmatch(f"({_NAME})?", value):
        yield _VALUE_RULE


def _marshalled(values: list[str]) -> str:
    """As Go's ``json.Marshal`` writes it, fit for HTML."""
    shown = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return "".join(f"\\u{ord(c):04x}" if c in "<>&\u2028\u2029" else c for c in shown)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
