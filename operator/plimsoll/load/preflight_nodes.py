"""Which of a policy's nodes a metric's series name, and what to do about those that none does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.selectors import selects_node
from plimsoll.load.oddities import series_text
from plimsoll.load.preflight import Finding, FindingKind
from plimsoll.load.vectors import AMBIGUOUS, UNMAPPED, Vectors
from plimsoll.policy.compiled import NETWORK_METRICS, Metric, Policy, PrometheusSource

_LABEL_THEM = "give them a label that holds the node's name, and set spec.metricsSource.prometheus.nodeLabel to it"

# A custom query's series lose their names where it aggregates.
_KEEP_A_LABEL = (
    "keep a label that tells the node in the query, e.g. by (node), or set spec.metricsSource.prometheus.nodeLabel"
    " to the label that holds the node's name"
)


@dataclass(frozen=True, slots=True)
class Mapped:
    """One metric's series.

    Attributes:
        series: how many there are.
        devices: names of the devices by node; {""} where the metric has none.
        unmapped, ambiguous: how many name no known node, or more than one.
        unmapped_example, ambiguous_example: the first of them, as people write series.
    """

    series: int
    devices: Mapping[str, AbstractSet[str]]
    unmapped: int = 0
    unmapped_example: str = ""
    ambiguous: int = 0
    ambiguous_example: str = ""


def mapped(metric: str, vectors: Vectors, query_id: str, names: Sequence[str]) -> Mapped:
    """One answer's.

    Args:
        names: of the nodes, by number.
    """
    vector = vectors.of(query_id)
    node, devices = vectors.node[vector.target], dict[str, set[str]]()
    things = vectors.things(vector)
    for thing in np.unique(things[things >= 0]).tolist():
        number, device = divmod(thing, len(vectors.devices))
        devices.setdefault(names[number], set()).add(vectors.devices[device])
    odd = [
        [vector.samples[i].labels for i in np.flatnonzero(node == problem).tolist()]
        for problem in (UNMAPPED, AMBIGUOUS)
    ]
    return Mapped(
        series=len(vector.samples),
        devices=devices,
        unmapped=len(odd[0]),
        unmapped_example=_first(metric, odd[0]),
        ambiguous=len(odd[1]),
        ambiguous_example=_first(metric, odd[1]),
    )


@dataclass(frozen=True, slots=True)
class PolicyNodes:
    """The nodes that a policy selects.

    Attributes:
        names: in their order.
        young: those of them that are too young for readings.
    """

    names: tuple[str, ...]
    young: frozenset[str]

    @classmethod
    def of(cls, policy: Policy, nodes: Iterable[NodeInfo], *, now_s: float) -> PolicyNodes:
        selected = [
            node
            for node in nodes
            if selects_node(policy.node_selector, policy.node_affinity, labels=node.labels, name=node.name)
        ]
        grown_s = now_s - policy.grown_after_s
        young = frozenset(node.name for node in selected if node.created_s > grown_s)
        return cls(tuple(sorted(node.name for node in selected)), young)

    def expected(self, found: Mapped) -> list[str]:
        """Those that should have a series; of the young only those that have."""
        return [node for node in self.names if node not in self.young or node in found.devices]


def lacking(
    metric: Metric, found: Mapped, *, policy: Policy, expected: list[str], exporters: AbstractSet[str]
) -> Iterator[Finding]:
    """What is wrong with the naming of nodes.

    Args:
        expected: the policy's nodes.
        exporters: nodes whose node-exporter is known by other series.
    """
    if found.ambiguous:
        mend = _KEEP_A_LABEL if metric.custom else _LABEL_THEM
        text = f"{found.ambiguous} series could be of more than one node, e.g. {found.ambiguous_example}: {mend}."
        yield Finding(FindingKind.AMBIGUOUS_SERIES, text, metric.name)
    without = [node for node in expected if node not in found.devices]
    if metric.name in NETWORK_METRICS and (deviceless := [node for node in without if node in exporters]):
        text = _deviceless(policy, deviceless, expected=expected, found=found)
        yield Finding(FindingKind.DEVICE_NOT_ON_ALL_NODES, text, metric.name)
        without = [node for node in without if node not in exporters]
    if without:
        text = f"{len(without)} of {len(expected)} nodes have no series, e.g. {without[0]}{_why(metric, found, policy)}"
        yield Finding(FindingKind.NODES_WITHOUT_SERIES, text, metric.name)


def _why(metric: Metric, found: Mapped, policy: Policy) -> str:
    if not isinstance(policy.source, PrometheusSource):
        return ": metrics-server needs two scrapes of a node; if it stays so, look at its log."
    if found.unmapped:
        mend = _KEEP_A_LABEL if metric.custom else _LABEL_THEM
        return f", while {found.unmapped} series name no node, e.g. {found.unmapped_example}: {mend}."
    if metric.custom:
        return f": does the query of spec.metrics[{metric.name}] answer for every node?"
    return ": is node-exporter running there, and scraped?"


def _deviceless(policy: Policy, deviceless: list[str], *, expected: list[str], found: Mapped) -> str:
    of, example = len(expected), deviceless[0]
    if policy.device_name is None:
        return (
            f"{len(deviceless)} of {of} nodes have no network device that looks physical by its name, e.g. {example}:"
            " set spec.deviceName to a regular expression that matches theirs."
        )
    on = sum(node in found.devices for node in expected)
    return (
        f"spec.deviceName {policy.device_name} is on {on} of {of} nodes, not on e.g. {example}: add the name"
        f" of its device, e.g. {policy.device_name}|ens5; nodes without it are judged without the network."
    )


def _first(metric: str, labels: list[Mapping[str, str]]) -> str:
    first = min(labels, key=lambda pairs: sorted(pairs.items()), default=None)
    return "" if first is None else series_text(metric, first)
