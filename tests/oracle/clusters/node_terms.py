"""What pods and volumes ask of a node's labels and name."""

from __future__ import annotations

from tests.oracle.clusters.vocabulary import HOSTNAME, NODE_VALUES, ZONE, Json, node_name
from tests.oracle.source import Source

_OPERATORS = ("In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
# A number that does not parse makes the term that asks for it match nothing.
READABLE = ("1", "5", "0", "07")
_NUMBERS = (*READABLE, "x")


def node_selector(source: Source, *, nodes: int, fields: bool = True, numbers: tuple[str, ...] = _NUMBERS) -> Json:
    """v1.NodeSelector; terms are ORed, and one without any requirement matches nothing."""
    by_name = fields and source.chance(30)
    terms = [
        node_term(source, nodes=nodes, fields=fields, by_name=by_name, numbers=numbers)
        for _ in range(source.integer(1, 2))
    ]
    return {"nodeSelectorTerms": terms}


def node_term(
    source: Source, *, nodes: int, fields: bool = True, by_name: bool = False, numbers: tuple[str, ...] = READABLE
) -> Json:
    """One term; ``numbers``: what Gt and Lt compare with."""
    term: Json = {}
    if not by_name and source.chance(6):
        return term
    if not by_name or source.chance(40):
        term["matchExpressions"] = [_expression(source, nodes, numbers) for _ in range(source.integer(1, 2))]
    if by_name or (fields and source.chance(15)):
        wanted = 2 if source.chance(45 if by_name else 15) else 1
        term["matchFields"] = [_field(source, nodes, by_name=by_name) for _ in range(wanted)]
    return term


def _expression(source: Source, nodes: int, numbers: tuple[str, ...]) -> Json:
    key = source.pick((*NODE_VALUES, HOSTNAME))
    values = tuple(map(node_name, range(nodes))) if key == HOSTNAME else NODE_VALUES[key]
    operator = source.pick(_OPERATORS)
    expression: Json = {"key": key, "operator": operator}
    if operator in {"In", "NotIn"}:
        expression["values"] = source.some(values, at_least=1, at_most=3)
    elif operator in {"Gt", "Lt"}:
        expression["key"] = source.pick(("gen", "gen", "gen", key))
        expression["values"] = [source.pick(numbers)]
    return expression


def _field(source: Source, nodes: int, *, by_name: bool) -> Json:
    operator = "In" if by_name or source.chance(60) else "NotIn"
    return {"key": "metadata.name", "operator": operator, "values": [node_name(source.integer(0, nodes))]}


def node_affinity(source: Source, *, nodes: int) -> Json:
    affinity: Json = {}
    if source.chance(70):
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = node_selector(source, nodes=nodes)
    if not affinity or source.chance(40):
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": source.pick((1, 7, 50, 100)), "preference": node_term(source, nodes=nodes)}
            for _ in range(source.integer(1, 3))
        ]
    return affinity


def plain_selector(source: Source) -> dict[str, str]:
    keys = source.some(("disk", "rack", ZONE), at_least=1, at_most=2)
    return {key: source.pick(NODE_VALUES[key]) for key in keys}
