"""NodeResourcesFit: what the pod requests must be free; every resource that is short is named.

A pod that requests nothing of a resource is not refused by a node that has too little of it, so pods without
requests fit any node below its pod limit.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from plimsoll.cluster.changes import ChangeKind
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import PODS_COLUMN, Snapshot
from plimsoll.filters.interface import Refusal


class NodeResourcesFit:
    name = "NodeResourcesFit"
    wakes = ChangeKind.NODE_ADDED | ChangeKind.NODE_ALLOCATABLE | ChangeKind.POD_DELETED | ChangeKind.POD_SHRUNK

    def concerns(self, pod: PodInfo) -> bool:  # noqa: ARG002
        return True

    def refusals(self, view: Snapshot, pod: PodInfo) -> Iterable[Refusal]:
        short = {"Too many pods": view.requested[:, PODS_COLUMN] + 1 > view.allocatable[:, PODS_COLUMN]}
        never = np.zeros(view.size, dtype=np.bool_)
        for name, wanted in pod.requests.items():
            if wanted <= 0:
                continue
            column = view.columns.get(name)
            offered = 0 if column is None else view.allocatable[:, column]
            taken = 0 if column is None else view.requested[:, column]
            short[f"Insufficient {name}"] = np.broadcast_to(wanted > offered - taken, view.size)
            # Too small even when empty: then it does not help to remove pods.
            never |= wanted > offered
        for reason, rows in short.items():
            yield Refusal(self.name, reason, rows=rows, resolvable=rows & ~never)
