"""What a filter is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from plimsoll.cluster.changes import ChangeKind
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Bools, Snapshot


class NodeFilter(Protocol):
    """Judges by the node object alone. Its refusals are final: removing pods cannot help.

    Attributes:
        name: kube-scheduler's name of the plugin.
        reason: the sentence for people, counted over nodes.
        wakes: changes after which a pod that it rejected may fit.
    """

    name: str
    reason: str
    wakes: ChangeKind

    def concerns(self, pod: PodInfo) -> bool:
        """Whether the pod could be refused at all; if not, no node is looked at."""
        ...

    def refuses(self, pod: PodInfo, node: NodeInfo) -> bool: ...


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason, over nodes.

    Attributes:
        rows: [N], where it holds.
        resolvable: [N], where removing pods could help (kube-scheduler's Unschedulable).
    """

    plugin: str
    reason: str
    rows: Bools
    resolvable: Bools


class ClusterFilter(Protocol):
    """Judges by what runs on the nodes. One node may be refused for several reasons."""

    name: str
    wakes: ChangeKind

    def concerns(self, pod: PodInfo) -> bool: ...

    def refusals(self, view: Snapshot, pod: PodInfo) -> Iterable[Refusal]: ...
