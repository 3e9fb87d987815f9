"""NodeResourcesFit: what the pod requests must be free; every resource that is short is named.

A pod that requests nothing of a resource is not refused by a node that has too little of it, so pods without
requests fit any node below its pod limit.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.invalidates import Invalidates
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.resources import PODS
from plimsoll.cluster.snapshot import PODS_COLUMN, Snapshot
from plimsoll.filters.interface import Overlay, Reason, Refusal
from plimsoll.filters.room import NewRoom

_TOO_MANY = "Too many pods"


class NodeResourcesFit:
    name = "NodeResourcesFit"
    invalidates = Invalidates.ROW
    wakes = (
        ChangeKind.NODE_ADDED
        | ChangeKind.NODE_ALLOCATABLE
        | ChangeKind.POD_DELETED
        | ChangeKind.POD_SHRUNK
        | ChangeKind.NOMINATION_ENDED
    )

    def prepare(self, view: Snapshot, pod: PodInfo) -> _Prepared:
        return _Prepared(view, pod)

    def helps(self, change: Change, pod: PodInfo, view: Snapshot) -> bool:
        """Room that was not there before, be it after preemption."""
        return self.hint(change, view)(pod)

    def hint(self, change: Change, view: Snapshot) -> Callable[[PodInfo], bool]:
        """``helps`` for many pods: thousands may wait for room."""
        return NewRoom(change, view).fits


@dataclass(frozen=True, slots=True)
class _Prepared:
    view: Snapshot
    pod: PodInfo

    def refusals(self) -> Iterable[Refusal]:
        view = self.view
        short = {_TOO_MANY: view.requested[:, PODS_COLUMN] + 1 > view.allocatable[:, PODS_COLUMN]}
        never = np.zeros(view.size, dtype=np.bool_)
        for name, wanted in self.pod.requests.items():
            if wanted <= 0:
                continue
            column = view.columns.get(name)
            offered = 0 if column is None else view.allocatable[:, column]
            taken = 0 if column is None else view.requested[:, column]
            short[_insufficient(name)] = np.broadcast_to(wanted > offered - taken, view.size)
            # Too small even when empty: then it does not help to remove pods.
            never |= wanted > offered
        for reason, rows in short.items():
            yield Refusal(NodeResourcesFit.name, reason, rows=rows, resolvable=rows & ~never)

    def check(self, row: int, overlay: Overlay) -> tuple[Reason, ...]:
        short = list(self._short(row, overlay))
        resolvable = not any(never for _, never in short)
        return tuple(Reason(reason, resolvable) for reason, _ in short)

    def effect(self, pod: PodInfo) -> Hashable:
        return tuple(pod.requests.get(name, 0) for name in self.pod.requests)

    def _short(self, row: int, overlay: Overlay) -> Iterator[tuple[str, bool]]:
        """Reasons, each with whether the node is too small even when empty."""
        view = self.view
        pods = int(view.requested[row, PODS_COLUMN]) + len(overlay.added) - len(overlay.removed)
        pods -= overlay.freed.get(PODS, 0)
        if pods + 1 > view.allocatable[row, PODS_COLUMN]:
            yield _TOO_MANY, False
        for name, wanted in self.pod.requests.items():
            if wanted <= 0:
                continue
            column = view.columns.get(name)
            offered = 0 if column is None else int(view.allocatable[row, column])
            taken = 0 if column is None else int(view.requested[row, column])
            taken += sum(p.requests.get(name, 0) for p in overlay.added)
            taken -= sum(p.requests.get(name, 0) for p in overlay.removed) + overlay.freed.get(name, 0)
            if wanted > offered - taken:
                yield _insufficient(name), wanted > offered


def shortage(name: str) -> str:
    """kube-scheduler's sentence about a resource of which too little is free; ``pods`` stands for places."""
    return _TOO_MANY if name == PODS else _insufficient(name)


def _insufficient(name: str) -> str:
    return f"Insufficient {name}"
