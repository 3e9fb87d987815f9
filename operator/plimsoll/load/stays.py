"""When pods came to their nodes and left them, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.pod import Uid
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.cluster.workload import WorkloadKey
from plimsoll.cluster.workload_examples import TOLD, told
from plimsoll.load.entry import Entry
from plimsoll.load.readings import Floats

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Stays:
    """E pods on nodes that are there, of K kinds; pods of one kind are of one workload and say the same of themselves.

    Attributes:
        line: of a pod in whatever table this was made of, by uid; of other pods as well.
        position: of a line, index into [E]; -1 where the pod's node is not there.
        rows: [E], of their nodes in the Snapshot.
        placed_s, started_s, ended_s: [E], seconds since the epoch; inf where not yet.
        kinds: [E].
        workloads: [K].
        told: [4, K], what they say of themselves, as ``workload_examples.told``.
    """

    line: Mapping[Uid, int]
    position: Ints
    rows: Ints
    placed_s: Floats
    started_s: Floats
    ended_s: Floats
    kinds: Ints
    workloads: Sequence[WorkloadKey]
    told: Floats

    @cached_property
    def gone(self) -> Bools:
        """[E]."""
        ended: Bools = np.isfinite(self.ended_s)
        return ended

    def __len__(self) -> int:
        return len(self.rows)

    def place(self, uid: Uid) -> int | None:
        """The pod's index; None where it is not among them."""
        line = self.line.get(uid)
        at = -1 if line is None else self.position.item(line)
        return None if at < 0 else at


def stays(entries: Iterable[Entry], view: Snapshot) -> Stays:
    """Of the pods whose node is there."""
    row_of = view.row_of
    return stays_on([(entry, row_of[entry.pod.node]) for entry in entries if entry.pod.node in row_of])


def stays_on(entries: Sequence[tuple[Entry, int]]) -> Stays:
    """Args:
    entries: each with its node's row.
    """
    times = [(entry.placed_s, entry.started_s, entry.ended_s) for entry, _ in entries]
    # Of times that are None numpy makes NaN.
    placed_s, started_s, ended_s = np.array(times, dtype=np.float64).reshape(-1, 3).T
    return Stays(
        line={entry.pod.uid: i for i, (entry, _) in enumerate(entries)},
        position=np.arange(len(entries)),
        rows=np.array([row for _, row in entries], dtype=np.int64),
        placed_s=placed_s,
        started_s=np.where(np.isnan(started_s), np.inf, started_s),
        ended_s=np.where(np.isnan(ended_s), np.inf, ended_s),
        kinds=np.arange(len(entries)),
        workloads=[entry.pod.workload for entry, _ in entries],
        told=np.array([told(entry.pod) for entry, _ in entries], dtype=np.float64).reshape(-1, len(TOLD)).T,
    )
