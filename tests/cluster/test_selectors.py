"""The vectors of kube-scheduler's NodeAffinity, and of label selectors."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.selectors import LabelSelector, NodeSelector

LABELS = {"zone": "a", "cores": "10", "disk": "", "text": "abc", "negative": "-3", "huge": "9223372036854775808"}


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


@pytest.mark.parametrize(
    ("requirement", "want"),
    [
        pytest.param(expression("zone", "In", "a", "b"), True, id="In: one of the values"),
        pytest.param(expression("zone", "In", "b"), False, id="In: none of the values"),
        pytest.param(expression("absent", "In", "a"), False, id="In: label absent"),
        pytest.param(expression("disk", "In", ""), True, id="In: the empty value is a value"),
        pytest.param(expression("absent", "In", ""), False, id="In: and an absent label does not have it"),
        pytest.param(expression("zone", "NotIn", "b"), True, id="NotIn: another value"),
        pytest.param(expression("zone", "NotIn", "a"), False, id="NotIn: that value"),
        pytest.param(expression("absent", "NotIn", "a"), True, id="NotIn: label absent"),
        pytest.param(expression("disk", "Exists"), True, id="Exists: also with an empty value"),
        pytest.param(expression("absent", "Exists"), False, id="Exists: label absent"),
        pytest.param(expression("absent", "DoesNotExist"), True, id="DoesNotExist: label absent"),
        pytest.param(expression("zone", "DoesNotExist"), False, id="DoesNotExist: label present"),
        pytest.param(expression("cores", "Gt", "5"), True, id="Gt: compared as numbers, not as text"),
        pytest.param(expression("cores", "Gt", "10"), False, id="Gt: equal is not greater"),
        pytest.param(expression("cores", "Lt", "11"), True, id="Lt"),
        pytest.param(expression("cores", "Lt", "10"), False, id="Lt: equal is not less"),
        pytest.param(expression("negative", "Lt", "0"), True, id="Lt: negative numbers"),
        pytest.param(expression("text", "Gt", "5"), False, id="Gt: a label that is no number"),
        pytest.param(expression("absent", "Gt", "5"), False, id="Gt: label absent"),
        pytest.param(expression("absent", "Lt", "5"), False, id="Lt: an absent label is not 0"),
        pytest.param(expression("cores", "Gt", "x"), False, id="Gt: a value that is no number"),
        pytest.param(expression("huge", "Gt", "5"), False, id="Gt: beyond an int64"),
        pytest.param(expression("cores", "Gt", "5.0"), False, id="Gt: fractions are no integers"),
    ],
)
def test_a_requirement(requirement: dict[str, Any], want: bool) -> None:  # noqa: FBT001
    term = NodeSelector.parse({"nodeSelectorTerms": [{"matchExpressions": [requirement]}]})
    assert term.matches(LABELS, "node-1") is want


MALFORMED = [
    pytest.param(expression("zone", "Near", "a"), id="an operator that is not there"),
    pytest.param({"key": "zone", "values": ["a"]}, id="no operator"),
    pytest.param(expression("zone", "In"), id="In without values"),
    pytest.param(expression("absent", "NotIn"), id="NotIn without values"),
    pytest.param(expression("cores", "Gt", "1", "2"), id="Gt with two values"),
    pytest.param(expression("cores", "Gt", "1", "1"), id="Gt with one value twice"),
    pytest.param(expression("cores", "Lt"), id="Lt without a value"),
    pytest.param(expression("zone", "Exists", "a"), id="Exists with a value"),
    pytest.param(expression("absent", "DoesNotExist", "a"), id="DoesNotExist with a value"),
]


@pytest.mark.parametrize("malformed", MALFORMED)
def test_a_malformed_requirement_matches_nothing(malformed: dict[str, Any]) -> None:
    selector = NodeSelector.parse({"nodeSelectorTerms": [{"matchExpressions": [malformed]}]})
    assert not selector.matches(LABELS, "node-1")
    assert not LabelSelector.parse({"matchExpressions": [malformed]}).matches(LABELS)


@pytest.mark.parametrize("malformed", MALFORMED)
def test_a_malformed_term_leaves_the_others_alone(malformed: dict[str, Any]) -> None:
    terms = [{"matchExpressions": [malformed]}, {"matchExpressions": [expression("zone", "In", "a")]}]
    assert NodeSelector.parse({"nodeSelectorTerms": terms}).matches(LABELS, "node-1")


IN_ZONE = {"matchExpressions": [expression("zone", "In", "a")]}
NAMED = {"matchFields": [expression("metadata.name", "In", "node-1")]}


@pytest.mark.parametrize(
    ("terms", "want"),
    [
        pytest.param([], False, id="no terms match nothing"),
        pytest.param([{}], False, id="an empty term matches nothing"),
        pytest.param([{}, IN_ZONE], True, id="and does not keep others from matching"),
        pytest.param([IN_ZONE], True, id="an expression"),
        pytest.param([NAMED], True, id="a field"),
        pytest.param([{**IN_ZONE, **NAMED}], True, id="expression and field of one term"),
        pytest.param(
            [{**IN_ZONE, "matchFields": [expression("metadata.name", "In", "node-2")]}],
            False,
            id="all of a term must match",
        ),
        pytest.param(
            [{"matchExpressions": [expression("zone", "In", "a"), expression("zone", "In", "b")]}],
            False,
            id="all expressions of a term must match",
        ),
        pytest.param(
            [{"matchFields": [expression("metadata.name", "NotIn", "node-1")]}], False, id="a field's NotIn: that node"
        ),
        pytest.param(
            [{"matchFields": [expression("metadata.name", "NotIn", "node-2")]}], True, id="a field's NotIn: another"
        ),
        pytest.param(
            [{"matchFields": [expression("metadata.name", "In", "node-1", "node-2")]}],
            False,
            id="a field takes exactly one value",
        ),
        pytest.param(
            [{"matchFields": [expression("metadata.name", "Exists")]}], False, id="a field knows only In and NotIn"
        ),
        pytest.param(
            [{"matchFields": [expression("metadata.namespace", "In", "node-1")]}], False, id="a field that is not known"
        ),
    ],
)
def test_a_node_selector(terms: list[Any], want: bool) -> None:  # noqa: FBT001
    assert NodeSelector.parse({"nodeSelectorTerms": terms}).matches(LABELS, "node-1") is want


def named(*names: str) -> dict[str, Any]:
    return {"matchFields": [expression("metadata.name", "In", name) for name in names]}


@pytest.mark.parametrize(
    ("terms", "want"),
    [
        pytest.param([named("a")], {"a"}, id="one name"),
        pytest.param([named("a"), named("b")], {"a", "b"}, id="terms are alternatives"),
        pytest.param([named("a", "b")], set(), id="one term with two names fits no node"),
        pytest.param([named("a", "b"), named("c")], {"c"}, id="which leaves the other terms"),
        pytest.param([named("a"), IN_ZONE], None, id="a term without names: any node"),
        pytest.param([{**IN_ZONE, **named("a")}], {"a"}, id="names beside expressions"),
        pytest.param([], None, id="no terms name no nodes"),
    ],
)
def test_the_only_nodes_worth_looking_at(terms: list[Any], want: set[str] | None) -> None:
    assert NodeSelector.parse({"nodeSelectorTerms": terms}).names() == want


@pytest.mark.parametrize(
    ("selector", "want"),
    [
        pytest.param({}, True, id="nothing required selects everything"),
        pytest.param(None, True, id="so does none at all"),
        pytest.param({"matchLabels": {"zone": "a"}}, True, id="matchLabels"),
        pytest.param({"matchLabels": {"zone": "a", "cores": "9"}}, False, id="all of matchLabels"),
        pytest.param({"matchLabels": {"absent": ""}}, False, id="an absent label is not an empty one"),
        pytest.param(
            {"matchLabels": {"zone": "a"}, "matchExpressions": [expression("text", "NotIn", "abc")]},
            False,
            id="labels and expressions, both",
        ),
    ],
)
def test_a_label_selector(selector: dict[str, Any] | None, want: bool) -> None:  # noqa: FBT001
    assert LabelSelector.parse(selector).matches(LABELS) is want
