"""Which node a series is about.

A policy's own ``nodeLabel`` goes first, then five ways of finding out; the first that finds a node wins. What
finds none is unmapped; what finds more than one is ambiguous, and is not believed.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from plimsoll.cluster.node import HOSTNAME_LABEL, NodeInfo
from plimsoll.load.samples import Sample

Nodes = frozenset[str]
Labels = Mapping[str, str]

# Relabelled on by users (nodename), Prometheus' own chart (node) and older examples (kubernetes_node).
_NODE_LABELS = ("node", "nodename", "kubernetes_node")
_NONE: Nodes = frozenset()
# Names and addresses of a large cluster, which every refresh asks about again.
_REMEMBERED = 65_536


@dataclass(frozen=True, slots=True)
class Directory:
    """Nodes by everything that they may be called.

    Attributes:
        by_address: IP addresses in their canonical form, and the other addresses of the status.
        by_host: names, addresses and hostname labels in lower case; the kernel may know a host in capitals.
        by_short: the same up to the first dot.
    """

    names: Nodes
    by_address: Mapping[str, Nodes]
    by_host: Mapping[str, Nodes]
    by_short: Mapping[str, Nodes]

    @classmethod
    def of(cls, nodes: Iterable[NodeInfo]) -> Directory:
        known = tuple(nodes)
        hosts = [(host.lower(), node.name) for node in known for host in _hosts(node)]
        return cls(
            names=frozenset(node.name for node in known),
            by_address=_grouped((_canonical(a), node.name) for node in known for a in (*node.addresses, node.name)),
            by_host=_grouped(hosts),
            by_short=_grouped((_short(host), name) for host, name in hosts),
        )


class NodeNamer:
    """Finds nodes by labels.

    Args:
        pods: node by ``namespace/name`` of a pod.
        uname: the answer to ``node_uname_info``.
        node_label: the policy's ``nodeLabel``.
    """

    def __init__(
        self,
        directory: Directory,
        *,
        pods: Mapping[str, str],
        uname: Iterable[Sample] = (),
        node_label: str | None = None,
    ) -> None:
        self._directory = directory
        self._pods = pods
        self._hosts = _grouped(
            (s.labels.get("instance", ""), s.labels["nodename"]) for s in uname if s.labels.get("nodename")
        )
        self._own_labels = (node_label,) if node_label else ()

    def nodes(self, labels: Labels) -> Nodes:
        """The nodes that the series may be about: none, the one, or more where that is ambiguous."""
        return next((nodes for way in self._ways() if (nodes := way(labels))), _NONE)

    def _ways(self) -> tuple[Callable[[Labels], Nodes], ...]:
        return (
            self._by_own_label,
            self._by_node_label,
            self._by_instance,
            self._by_address,
            self._by_uname,
            self._by_pod,
        )

    def _by_own_label(self, labels: Labels) -> Nodes:
        return self._named(labels, self._own_labels)

    def _by_node_label(self, labels: Labels) -> Nodes:
        return self._named(labels, _NODE_LABELS)

    def _named(self, labels: Labels, names: Iterable[str]) -> Nodes:
        return frozenset(labels[name] for name in names if name in labels) & self._directory.names

    def _by_instance(self, labels: Labels) -> Nodes:
        return frozenset({labels.get("instance", "")}) & self._directory.names

    def _by_address(self, labels: Labels) -> Nodes:
        host = _canonical(_without_port(labels.get("instance", "")))
        return self._directory.by_address.get(host, _NONE)

    def _by_uname(self, labels: Labels) -> Nodes:
        hosts = self._hosts.get(labels.get("instance", ""), _NONE)
        return frozenset(node for host in hosts for node in self._called(host.lower()))

    def _called(self, host: str) -> Nodes:
        """The whole name first; only where nobody has it, what is before the first dot on either side."""
        exact = self._directory.by_host.get(host)
        return exact or self._directory.by_short.get(_short(host), _NONE)

    def _by_pod(self, labels: Labels) -> Nodes:
        pod = f"{labels.get('namespace', '')}/{labels.get('pod', '')}"
        return frozenset({self._pods.get(pod, "")}) & self._directory.names


def _hosts(node: NodeInfo) -> Iterable[str]:
    label = node.labels.get(HOSTNAME_LABEL)
    return (node.name, *node.addresses, *((label,) if label else ()))


def _grouped(pairs: Iterable[tuple[str, str]]) -> Mapping[str, Nodes]:
    groups: dict[str, set[str]] = {}
    for key, name in pairs:
        if key:
            groups.setdefault(key, set()).add(name)
    return {key: frozenset(names) for key, names in groups.items()}


def _without_port(instance: str) -> str:
    """``host:9100`` and ``[fd00::1]:9100`` without port; a bare IPv6 address has none, for all its colons."""
    if instance.startswith("["):
        return instance[1:].partition("]")[0]
    return instance.partition(":")[0] if instance.count(":") == 1 else instance


@lru_cache(maxsize=_REMEMBERED)
def _canonical(host: str) -> str:
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return host


def _short(host: str) -> str:
    """Up to the first dot; of an IP address that would be a number that means nothing."""
    return host if _is_address(host) else host.partition(".")[0]


@lru_cache(maxsize=_REMEMBERED)
def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
