"""``metav1.LabelSelector`` and ``v1.NodeSelector``, with the rules that the API server has for them built in."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field

from plimsoll.policy.models.base import ATOMIC, ApiModel
from plimsoll.policy.models.values import LabelValue
from plimsoll.policy.rules import Rule, cel_matches, matches

_ATOMIC_LIST = {"x-kubernetes-list-type": "atomic"}
_INTEGER = "[+-]?[0-9]{1,19}"
_LISTED, _BARE, _COMPARED = {"In", "NotIn"}, {"Exists", "DoesNotExist"}, {"Gt", "Lt"}

LabelKey = Annotated[str, Field(min_length=1, max_length=317)]


class LabelOperator(StrEnum):
    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


class NodeOperator(StrEnum):
    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"
    GT = "Gt"
    LT = "Lt"


def _count(expression: LabelRequirement | NodeRequirement | FieldRequirement) -> int:
    return len(expression.values or ())


_LISTS_VALUES = Rule(
    cel="!(self.operator in ['In', 'NotIn']) || self.?values.orValue([]).size() > 0",
    holds=lambda e: e.operator not in _LISTED or _count(e) > 0,
    problem="In and NotIn need values",
    mend="list at least one value, or use Exists or DoesNotExist",
    at="values",
)
_LISTS_NONE = Rule(
    cel="!(self.operator in ['Exists', 'DoesNotExist']) || self.?values.orValue([]).size() == 0",
    holds=lambda e: e.operator not in _BARE or _count(e) == 0,
    problem="Exists and DoesNotExist take no values",
    mend="take values out, or use In or NotIn",
    at="values",
)
_COMPARES_ONE = Rule(
    cel=(
        "!(self.operator in ['Gt', 'Lt']) || self.?values.orValue([]).size() == 1"
        f" && {cel_matches(_INTEGER, value='self.values[0]')}"
    ),
    holds=lambda e: e.operator not in _COMPARED or (_count(e) == 1 and matches(_INTEGER, e.values[0])),
    problem="Gt and Lt compare with one integer",
    mend="give exactly one value that is an integer, in quotes",
    at="values",
)


class LabelRequirement(ApiModel):
    key: LabelKey
    """The label's key."""
    operator: LabelOperator
    """How the label's value relates to values."""
    values: Annotated[list[LabelValue], Field(max_length=256, json_schema_extra=_ATOMIC_LIST)] | None = None
    """For In and NotIn: at least one value. For Exists and DoesNotExist: none."""

    rules: ClassVar = (_LISTS_VALUES, _LISTS_NONE)


class LabelSelector(ApiModel):
    model_config = ConfigDict(json_schema_extra=ATOMIC)

    match_labels: Annotated[dict[str, LabelValue], Field(max_length=64)] | None = None
    """Labels that must be there with these values."""
    match_expressions: (
        Annotated[list[LabelRequirement], Field(max_length=32, json_schema_extra=_ATOMIC_LIST)] | None
    ) = None
    """Expressions over labels; all must hold."""


class NodeRequirement(ApiModel):
    key: LabelKey
    """The label's key."""
    operator: NodeOperator
    """How the label's value relates to values."""
    values: Annotated[list[LabelValue], Field(max_length=256, json_schema_extra=_ATOMIC_LIST)] | None = None
    """For In and NotIn: at least one value. For Gt and Lt: one integer. For Exists and DoesNotExist: none."""

    rules: ClassVar = (_LISTS_VALUES, _LISTS_NONE, _COMPARES_ONE)


class FieldRequirement(ApiModel):
    key: Annotated[str, Field(max_length=317)]
    """The field; only metadata.name is known."""
    operator: NodeOperator
    """In or NotIn."""
    values: (
        Annotated[list[Annotated[str, Field(max_length=253)]], Field(max_length=256, json_schema_extra=_ATOMIC_LIST)]
        | None
    ) = None
    """Exactly one node name."""

    rules: ClassVar = (
        Rule(
            cel=(
                "self.key == 'metadata.name' && self.operator in ['In', 'NotIn']"
                " && self.?values.orValue([]).size() == 1"
            ),
            holds=lambda e: e.key == "metadata.name" and e.operator in _LISTED and _count(e) == 1,
            problem="matchFields knows one field",
            mend="write key metadata.name, operator In or NotIn, and exactly one value; one term per node name",
        ),
    )


class NodeSelectorTerm(ApiModel):
    model_config = ConfigDict(json_schema_extra=ATOMIC)

    match_expressions: Annotated[list[NodeRequirement], Field(max_length=32, json_schema_extra=_ATOMIC_LIST)] | None = (
        None
    )
    """Expressions over the node's labels; all must hold."""
    match_fields: Annotated[list[FieldRequirement], Field(max_length=32, json_schema_extra=_ATOMIC_LIST)] | None = None
    """Expressions over the node's fields; all must hold."""

    rules: ClassVar = (
        Rule(
            cel="self.?matchExpressions.orValue([]).size() + self.?matchFields.orValue([]).size() > 0",
            holds=lambda term: bool(term.match_expressions or term.match_fields),
            problem="an empty term matches no node",
            mend="add matchExpressions or matchFields, or take the term out",
        ),
    )


class NodeSelector(ApiModel):
    model_config = ConfigDict(json_schema_extra=ATOMIC)

    node_selector_terms: Annotated[list[NodeSelectorTerm], Field(max_length=64, json_schema_extra=_ATOMIC_LIST)]
    """Terms of which at least one must match the node."""

    rules: ClassVar = (
        Rule(
            cel="self.nodeSelectorTerms.size() > 0",
            holds=lambda selector: bool(selector.node_selector_terms),
            problem="a node affinity without terms matches no node",
            mend="add a term to nodeSelectorTerms, or take nodeAffinity out",
        ),
    )
