"""What a filter is."""

from __future__ import annotations

import enum
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.invalidates import Invalidates
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

    def helps(self, change: Change, pod: PodInfo, view: Snapshot) -> bool:
        """Whether a pod that it rejected may fit after a change of one of the kinds in ``wakes``."""
        ...


class Code(enum.Enum):
    """kube-scheduler's status codes of a refusal."""

    UNSCHEDULABLE = "Unschedulable"  # removing pods could help
    UNRESOLVABLE = "UnschedulableAndUnresolvable"
    ERROR = "Error"  # the pod cannot be judged: no autoscaler must act


@dataclass(frozen=True, slots=True)
class Overlay:
    """Pods virtually added to, and removed from, the one node that is looked at.

    Attributes:
        freed: what further pods held that are removed as well and have no effect but on resources; ``pods`` counts
            them.
    """

    added: tuple[PodInfo, ...] = ()
    removed: tuple[PodInfo, ...] = ()
    freed: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one node is refused.

    Attributes:
        resolvable: removing pods could help (kube-scheduler's Unschedulable).
    """

    text: str
    resolvable: bool


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


@dataclass(frozen=True, slots=True)
class Problem:
    """What keeps the pod as a whole from every node (a failed PreFilter)."""

    message: str
    code: Code = Code.UNRESOLVABLE


class Prepared(Protocol):
    """One filter's view of one pod, good until anything changes."""

    def refusals(self) -> Iterable[Refusal]:
        """Over all rows; one node may be refused for several reasons. Rows without a node may say anything."""
        ...

    def check(self, row: int, overlay: Overlay) -> tuple[Reason, ...]:
        """One node, as it would be with the overlay's pods; empty where the pod may go there."""
        ...

    def effect(self, pod: PodInfo) -> Hashable:
        """What it changes of ``check`` that a pod is on the node or is not.

        None for nothing; pods of equal effect may stand for one another.
        """
        ...


class ClusterFilter(Protocol):
    """Judges by what runs on the nodes, or by objects other than nodes.

    Attributes:
        name: kube-scheduler's name of the plugin.
        wakes: kinds of changes after which a pod that it rejected may fit.
        invalidates: of which rows a change of one row (its node, the pods on it) may change what ``refusals`` says.
    """

    name: str
    wakes: ChangeKind
    invalidates: Invalidates

    def prepare(self, view: Snapshot, pod: PodInfo) -> Prepared | Problem | None:
        """What the pod needs looked at; None where the filter does not concern it."""
        ...

    def helps(self, change: Change, pod: PodInfo, view: Snapshot) -> bool:
        """Whether a pod that it rejected may fit after a change of one of the kinds in ``wakes``."""
        ...
