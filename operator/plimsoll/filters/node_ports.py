"""NodePorts: host ports that some pod on the node claims already."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.invalidates import Invalidates
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.port_index import conflict
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.filters.interface import Overlay, Reason, Refusal

_REASON = "node(s) didn't have free ports for the requested pod ports"


class NodePorts:
    name = "NodePorts"
    invalidates = Invalidates.ROW
    wakes = ChangeKind.NODE_ADDED | ChangeKind.POD_DELETED | ChangeKind.NOMINATION_ENDED

    def prepare(self, view: Snapshot, pod: PodInfo) -> _Prepared | None:
        return _Prepared(view, pod) if pod.host_ports else None

    def helps(self, change: Change, pod: PodInfo, view: Snapshot) -> bool:  # noqa: ARG002
        """A node that came, or a pod that held one of the wanted ports and went."""
        gone = change.before
        if not isinstance(gone, PodInfo):
            return True
        return any(conflict(wanted, held) for wanted in pod.host_ports for held in gone.host_ports)


@dataclass(frozen=True, slots=True)
class _Prepared:
    view: Snapshot
    pod: PodInfo

    def refusals(self) -> Iterable[Refusal]:
        taken = np.zeros(self.view.size, dtype=np.bool_)
        for port in self.pod.host_ports:
            taken[list(self.view.ports.rows_in_conflict(port))] = True
        yield Refusal(NodePorts.name, _REASON, rows=taken, resolvable=taken)

    def check(self, row: int, overlay: Overlay) -> tuple[Reason, ...]:
        return (Reason(_REASON, resolvable=True),) if any(self._conflicts(row, overlay)) else ()

    def effect(self, pod: PodInfo) -> Hashable:
        return tuple(held for held in pod.host_ports if any(conflict(p, held) for p in self.pod.host_ports)) or None

    def _conflicts(self, row: int, overlay: Overlay) -> Iterator[bool]:
        left = self.view.ports.users(row, self.pod.host_ports)
        for gone in overlay.removed:
            left.subtract(gone.host_ports)
        held = [port for port, count in left.items() if count > 0]
        held += [port for pod in overlay.added for port in pod.host_ports]
        return (conflict(wanted, other) for wanted in self.pod.host_ports for other in held)
