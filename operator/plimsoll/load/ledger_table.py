"""The ledger's arrays: a line per pod, in the order in which pods were entered."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.cluster.workload import WorkloadKey
from plimsoll.cluster.workload_examples import TOLD, told
from plimsoll.load.entry import Entry
from plimsoll.load.readings import Floats
from plimsoll.load.stays import Stays

_FIRST = 64
_PLACED_S, _STARTED_S, _ENDED_S = range(3)
# Lines that are not needed any more are taken out together, once they are so many of all.
_MOST_EMPTY = 0.125

Kind = tuple[WorkloadKey, tuple[float, ...]]
_Key = TypeVar("_Key", bound=Hashable)
_Number = TypeVar("_Number", np.int64, np.bool_)


class LedgerTable:
    """A pod that comes or goes touches its own line alone; whoever asks for all gets them without looking at pods.

    Attributes:
        version: goes up with every change.
    """

    def __init__(self) -> None:
        self.version = 0
        self._line: dict[Uid, int] = {}
        self._pods: list[PodInfo | None] = []
        self._uids: list[Uid] = []
        self._times: Floats = np.full((3, _FIRST), np.inf)
        self._node: NDArray[np.int64] = np.zeros(_FIRST, dtype=np.int64)
        self._kind: NDArray[np.int64] = np.zeros(_FIRST, dtype=np.int64)
        self._there: Bools = np.zeros(_FIRST, dtype=np.bool_)
        self._nodes: dict[str, int] = {}
        self._kinds: dict[Kind, int] = {}

    def __len__(self) -> int:
        return len(self._line)

    def placed_s(self, uid: Uid) -> float | None:
        """None where the pod is not known."""
        line = self._line.get(uid)
        return None if line is None else self._times.item(_PLACED_S, line)

    def put(self, entry: Entry) -> None:
        pod = entry.pod
        line = self._line.get(pod.uid)
        if line is None:
            line = self._line[pod.uid] = self._new(pod.uid)
        before, self._pods[line] = self._pods[line], pod
        times = self._times
        times[_PLACED_S, line] = entry.placed_s
        times[_STARTED_S, line] = math.inf if entry.started_s is None else entry.started_s
        times[_ENDED_S, line] = math.inf if entry.ended_s is None else entry.ended_s
        if before is None or before.node != pod.node:
            self._node[line] = self._nodes.setdefault(pod.node, len(self._nodes))
        if before is None or not _alike(before, pod):
            self._kind[line] = self._kinds.setdefault((pod.workload, told(pod)), len(self._kinds))
        self.version += 1

    def drop(self, uid: Uid) -> None:
        line = self._line.pop(uid, None)
        if line is not None:
            self._pods[line] = None
            self._there[line] = False
            self.version += 1

    def drop_all(self, old: Bools) -> None:
        """Args:
        old: [E], by line; lines that are empty already may be among them.
        """
        old &= self._there[: len(old)]
        for line in np.flatnonzero(old).tolist():
            self.drop(self._uids[line])
        if len(self._uids) - len(self._line) > _MOST_EMPTY * len(self._uids):
            self._close_up()

    def times(self) -> tuple[Floats, Floats, Floats]:
        """[E] each, by line: when pods were placed, started and ended; inf where not yet. Not to be written."""
        placed_s, started_s, ended_s = self._times[:, : len(self._uids)]
        return placed_s, started_s, ended_s

    def entries(self) -> Iterator[Entry]:
        for pod, *times in zip(self._pods, *(column.tolist() for column in self.times()), strict=True):
            if pod is not None:
                placed_s, *others = times
                started_s, ended_s = (None if at_s == math.inf else at_s for at_s in others)
                yield Entry(pod, placed_s, started_s, ended_s)

    def stays(self, view: Snapshot) -> Stays:
        """Of the pods whose node is there; good for ever."""
        rows = np.array([view.row_of.get(name, -1) for name in self._nodes], dtype=np.int64)
        end = len(self._uids)
        rows = rows.take(self._node[:end]) if end else rows
        lines = np.flatnonzero(self._there[:end] & (rows >= 0))
        position = np.full(end, -1)
        position[lines] = np.arange(len(lines))
        placed_s, started_s, ended_s = self._times.take(lines, axis=1)
        return Stays(
            line=self._line.copy(),
            position=position,
            rows=rows.take(lines),
            placed_s=placed_s,
            started_s=started_s,
            ended_s=ended_s,
            kinds=self._kind.take(lines),
            workloads=[workload for workload, _ in self._kinds],
            told=np.array([says for _, says in self._kinds], dtype=np.float64).reshape(-1, len(TOLD)).T,
        )

    def _new(self, uid: Uid) -> int:
        line = len(self._uids)
        self._uids.append(uid)
        self._pods.append(None)
        if line >= len(self._there):
            self._grow()
        self._there[line] = True
        return line

    def _grow(self) -> None:
        self._times = np.hstack((self._times, np.full((3, max(_FIRST, len(self._there))), np.inf)))
        self._node, self._kind, self._there = _doubled(self._node), _doubled(self._kind), _doubled(self._there)

    def _close_up(self) -> None:
        """In their order; what nobody has any more of nodes and kinds is forgotten as well."""
        lines = np.flatnonzero(self._there[: len(self._uids)])
        self._uids = [self._uids[line] for line in lines.tolist()]
        self._pods = [self._pods[line] for line in lines.tolist()]
        self._line = dict(zip(self._uids, range(len(lines)), strict=True))
        self._times, self._there = self._times.take(lines, axis=1), self._there.take(lines)
        self._nodes, self._node = _renumbered(self._nodes, self._node.take(lines))
        self._kinds, self._kind = _renumbered(self._kinds, self._kind.take(lines))
        self.version += 1


def _doubled(column: NDArray[_Number]) -> NDArray[_Number]:
    return np.concatenate((column, np.zeros(max(_FIRST, len(column)), dtype=column.dtype)))


def _alike(one: PodInfo, other: PodInfo) -> bool:
    return (
        one.workload == other.workload
        and one.requests == other.requests
        and one.expected_network == other.expected_network
    )


def _renumbered(numbers: dict[_Key, int], used: NDArray[np.int64]) -> tuple[dict[_Key, int], NDArray[np.int64]]:
    """Those that are used alone, in their order."""
    kept, renumbered = np.unique(used, return_inverse=True)
    keys = list(numbers)
    return {keys[old]: new for new, old in enumerate(kept.tolist())}, renumbered
