"""Label selectors and node selectors, compiled from JSON once and matched many times.

Rules: apimachinery's ``labels.Selector`` and component-helpers' ``nodeaffinity``. A malformed requirement
matches nothing, and never widens what is selected.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

Labels = Mapping[str, str]

# What Go's ParseInt(s, 10, 64) takes.
_INT64 = re.compile(r"[+-]?[0-9]+", re.ASCII)


class Operator(enum.Enum):
    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"
    GT = "Gt"
    LT = "Lt"
    NEVER = ""  # malformed: matches nothing


class Labelled(Protocol):
    """Anything with labels."""

    @property
    def labels(self) -> Labels: ...


_Labelled = TypeVar("_Labelled", bound=Labelled)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One expression over one label."""

    key: str
    operator: Operator
    values: frozenset[str] = frozenset()

    def matches(self, labels: Labels) -> bool:
        value = labels.get(self.key)
        match self.operator:
            case Operator.IN:
                return value is not None and value in self.values
            case Operator.NOT_IN:
                return value is None or value not in self.values
            case Operator.EXISTS:
                return value is not None
            case Operator.DOES_NOT_EXIST:
                return value is None
            case Operator.GT | Operator.LT:
                return self._compares(value)
            case Operator.NEVER:
                return False

    def matching(self, things: list[_Labelled]) -> list[_Labelled]:
        """``matches`` for very many at once: tens of thousands take milliseconds."""
        key, values = self.key, self.values
        match self.operator:
            case Operator.IN:
                return [thing for thing in things if thing.labels.get(key) in values]
            case Operator.NOT_IN:
                return [thing for thing in things if thing.labels.get(key) not in values]
            case Operator.EXISTS:
                return [thing for thing in things if key in thing.labels]
            case Operator.DOES_NOT_EXIST:
                return [thing for thing in things if key not in thing.labels]
            case _:
                return [thing for thing in things if self.matches(thing.labels)]

    def _compares(self, value: str | None) -> bool:
        have, want = _int64(value), _int64(next(iter(self.values)))
        if have is None or want is None:
            return False
        return have > want if self.operator is Operator.GT else have < want


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """``metav1.LabelSelector``: every requirement must hold; none at all selects everything."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Labels) -> bool:
        return all(requirement.matches(labels) for requirement in self.requirements)

    def matching(self, things: list[_Labelled]) -> list[_Labelled]:
        """Those whose labels it matches, in their order; for very many at once."""
        for requirement in self.requirements:
            things = requirement.matching(things)
        return things

    @classmethod
    def parse(cls, selector: Mapping[str, Any] | None) -> LabelSelector:
        """From JSON. None is read as ``{}`` here; a caller for whom nil means "nothing" asks before."""
        selector = selector or {}
        equal = tuple(equality(selector.get("matchLabels") or {}))
        return cls(equal + tuple(_requirement(e) for e in selector.get("matchExpressions") or ()))


@dataclass(frozen=True, slots=True)
class NodeSelectorTerm:
    """All expressions over labels and all over fields (only ``metadata.name``); an empty one matches nothing."""

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()

    def matches(self, labels: Labels, name: str) -> bool:
        if not self.expressions and not self.fields:
            return False
        return all(e.matches(labels) for e in self.expressions) and all(
            f.matches({"metadata.name": name}) for f in self.fields
        )

    def names(self) -> frozenset[str] | None:
        """Node names that the term is limited to; None where it names none."""
        named = [f.values for f in self.fields if f.operator is Operator.IN]
        return frozenset.intersection(*named) if named else None


@dataclass(frozen=True, slots=True)
class NodeSelector:
    """``v1.NodeSelector``: any term must match; no terms match nothing."""

    terms: tuple[NodeSelectorTerm, ...] = ()

    def matches(self, labels: Labels, name: str) -> bool:
        return any(term.matches(labels, name) for term in self.terms)

    def names(self) -> frozenset[str] | None:
        """The candidate set where every term names nodes; None where some term does not."""
        named = [term.names() for term in self.terms]
        if not named or any(names is None for names in named):
            return None
        return frozenset().union(*(names for names in named if names is not None))

    @classmethod
    def parse(cls, selector: Mapping[str, Any]) -> NodeSelector:
        return cls(tuple(_term(term) for term in selector.get("nodeSelectorTerms") or ()))


@dataclass(frozen=True, slots=True)
class Preference:
    """A preferred term of node affinity with its weight, 1..100."""

    weight: int
    term: NodeSelectorTerm

    @classmethod
    def parse(cls, preferred: Mapping[str, Any]) -> Preference:
        return cls(int(preferred.get("weight") or 0), _term(preferred.get("preference") or {}))


def selects_node(equal: Labels, affinity: NodeSelector | None, *, labels: Labels, name: str) -> bool:
    """Whether a node has every pair of a nodeSelector and matches the required affinity, where there is one."""
    if any(labels.get(key) != value for key, value in equal.items()):
        return False
    return affinity is None or affinity.matches(labels, name)


def equality(pairs: Mapping[str, str]) -> Iterable[Requirement]:
    """The requirements of a plain map, as in ``nodeSelector`` and ``matchLabels``."""
    return (Requirement(key, Operator.IN, frozenset((value,))) for key, value in sorted(pairs.items()))


def _term(term: Mapping[str, Any]) -> NodeSelectorTerm:
    return NodeSelectorTerm(
        tuple(_requirement(e) for e in term.get("matchExpressions") or ()),
        tuple(_field(f) for f in term.get("matchFields") or ()),
    )


def _field(field: Mapping[str, Any]) -> Requirement:
    """Fields know only ``metadata.name`` with exactly one value and In or NotIn."""
    requirement = _requirement(field)
    known = requirement.key == "metadata.name" and len(requirement.values) == 1
    if known and requirement.operator in {Operator.IN, Operator.NOT_IN}:
        return requirement
    return Requirement(requirement.key, Operator.NEVER)


def _requirement(expression: Mapping[str, Any]) -> Requirement:
    key = str(expression.get("key", ""))
    values = frozenset(expression.get("values") or ())
    try:
        operator = Operator(expression.get("operator"))
    except ValueError:
        operator = Operator.NEVER
    return Requirement(key, operator if _well_formed(operator, expression) else Operator.NEVER, values)


def _well_formed(operator: Operator, expression: Mapping[str, Any]) -> bool:
    count = len(expression.get("values") or ())
    match operator:
        case Operator.IN | Operator.NOT_IN:
            return count > 0
        case Operator.EXISTS | Operator.DOES_NOT_EXIST:
            return count == 0
        case Operator.GT | Operator.LT:
            return count == 1
        case Operator.NEVER:
            return False


def _int64(text: str | None) -> int | None:
    if text is None or not _INT64.fullmatch(text):
        return None
    value = int(text)
    return value if -(2**63) <= value < 2**63 else None
