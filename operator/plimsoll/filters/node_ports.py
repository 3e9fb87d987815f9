"""NodePorts: host ports that some pod on the node claims already."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from plimsoll.cluster.changes import ChangeKind
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.filters.interface import Refusal


class NodePorts:
    name = "NodePorts"
    reason = "node(s) didn't have free ports for the requested pod ports"
    wakes = ChangeKind.NODE_ADDED | ChangeKind.POD_DELETED

    def concerns(self, pod: PodInfo) -> bool:
        return bool(pod.host_ports)

    def refusals(self, view: Snapshot, pod: PodInfo) -> Iterable[Refusal]:
        taken = np.zeros(view.size, dtype=np.bool_)
        for port in pod.host_ports:
            taken[list(view.ports.rows_in_conflict(port))] = True
        yield Refusal(self.name, self.reason, rows=taken, resolvable=taken)
