from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.strict_selectors import MalformedSelector, strict_selector

KEY_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
    " (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is"
    " '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and"
    " end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is"
    " '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("selector", "sentence"),
    [
        pytest.param(expression("a", "Gt", "1"), '"Gt" is not a valid label selector operator', id="Gt"),
        pytest.param(
            {"matchExpressions": [{"key": "a"}]}, '"" is not a valid label selector operator', id="no operator"
        ),
        pytest.param(
            expression("a", "NotIn"),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
            id="NotIn without values",
        ),
        pytest.param(
            expression("a", "Exists", "b", "c"),
            'values: Invalid value: ["b","c"]: values set must be empty for exists and does not exist',
            id="Exists with values",
        ),
        pytest.param(
            {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["<"]}]},
            '[values: Invalid value: ["\\u003c"]: values set must be empty for exists and does not exist,'
            f' values[0][a]: Invalid value: "<": {VALUE_RULE}]',
            id="as Go writes JSON",
        ),
        pytest.param(expression("", "Exists"), f'key: Invalid value: "": name part must be non-empty; name part {KEY_RULE}',
                     id="an empty key"),
        pytest.param(expression("a b", "Exists"), f'key: Invalid value: "a b": name part {KEY_RULE}', id="a space"),
        pytest.param(
            expression("/a", "Exists"), 'key: Invalid value: "/a": prefix part must be non-empty', id="an empty prefix"
        ),
        pytest.param(
            expression("A/a", "Exists"),
            'key: Invalid value: "A/a": prefix part a lowercase RFC 1123 subdomain must consist of lower case'
            " alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
            " (e.g. 'example.com', regex used for validation is"
            r" '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
            id="a prefix in capitals",
        ),
        pytest.param(
            expression("a/b/c", "Exists"),
            f'key: Invalid value: "a/b/c": a valid label key {KEY_RULE} with an optional DNS subdomain prefix and \'/\''
            " (e.g. 'example.com/MyName')",
            id="two slashes",
        ),
        pytest.param(
            expression("a" * 64, "Exists"),
            f'key: Invalid value: "{"a" * 64}": name part must be no more than 63 bytes',
            id="a long key",
        ),
        pytest.param(
            {"matchLabels": {"a": "b c"}}, f'values[0][a]: Invalid value: "b c": {VALUE_RULE}', id="matchLabels"
        ),
        pytest.param(
            expression("a", "In", "b", "c" * 64),
            f'values[1][a]: Invalid value: "{"c" * 64}": must be no more than 63 bytes',
            id="a long value",
        ),
        pytest.param(
            expression("a b", "In", "c d"),
            f'[key: Invalid value: "a b": name part {KEY_RULE}, values[0][a b]: Invalid value: "c d": {VALUE_RULE}]',
            id="several",
        ),
    ],
)  # fmt: skip
def test_what_no_label_can_match_is_told_in_kube_schedulers_words(selector: dict[str, Any], sentence: str) -> None:
    with pytest.raises(MalformedSelector) as told:
        strict_selector(selector)
    assert str(told.value) == sentence


NONE: dict[str, str] = {}
WEB, PREFIXED = {"a": "b"}, {"example.com/a": ""}


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        pytest.param({}, [NONE, WEB, PREFIXED], id="empty: everything"),
        pytest.param({"matchLabels": None, "matchExpressions": None}, [NONE, WEB, PREFIXED], id="nulls: everything"),
        pytest.param({"matchLabels": {"example.com/a": ""}}, [PREFIXED], id="a prefix, an empty value"),
        pytest.param(expression("a", "In", "b"), [WEB], id="In"),
        pytest.param(expression("a", "DoesNotExist"), [NONE, PREFIXED], id="DoesNotExist"),
    ],
)
def test_what_labels_can_match_is_read(selector: dict[str, Any], selected: list[dict[str, str]]) -> None:
    got = strict_selector(selector)
    assert got is not None
    assert [labels for labels in (NONE, WEB, PREFIXED) if got.matches(labels)] == selected


def test_an_absent_selector_selects_nothing() -> None:
    assert strict_selector(None) is None


def test_a_value_that_is_no_string_makes_the_object_unusable() -> None:
    with pytest.raises(TypeError, match="must be strings"):
        strict_selector({"matchLabels": {"a": 1}})
