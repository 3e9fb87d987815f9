"""The ledger of pods in flight: pods that the metrics do not show in full yet, or still show although they are gone.

It is one for all policies and for pods of every scheduler, and is built from the pods' own times, so that a restart
loses nothing of the pods that are there. Those that are gone by then are forgotten: until the windows have forgotten
them too, their nodes seem busier than they are.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.load.entry import Entry
from plimsoll.load.ledger_table import LedgerTable
from plimsoll.load.stays import Stays

# A pod that has not started after this time is stuck, and will not load its node soon.
GIVEN_UP_S = 600.0


class Ledger:
    """Pods that may be in flight for some metric, or departed; old ones are dropped by ``prune``."""

    def __init__(self) -> None:
        self._table = LedgerTable()
        self._stays: tuple[tuple[int, int], Stays] | None = None

    def __len__(self) -> int:
        return len(self._table)

    def put(self, pod: PodInfo, *, now_s: float) -> Entry:
        """Enters a pod, or updates its entry once it is seen to run."""
        placed_s = self._table.placed_s(pod.uid)
        entry = Entry(pod, _placed(pod, now_s) if placed_s is None else placed_s, pod.running_s)
        self._table.put(entry)
        return entry

    def end(self, pod: PodInfo, *, now_s: float) -> Entry | None:
        """The pod has ended; None where it never ran, so that no metric ever contained it."""
        if pod.running_s is None:
            self.release(pod.uid)
            return None
        entry = Entry(pod, _placed(pod, now_s), pod.running_s, now_s)
        self._table.put(entry)
        return entry

    def release(self, uid: Uid) -> None:
        """It was never there, as where its Binding failed."""
        self._table.drop(uid)

    def prune(self, *, covered_before_s: float) -> None:
        """Drops pods about which every window tells the truth: those that started or ended before that time, and
        those given up.
        """
        placed_s, started_s, ended_s = self._table.times()
        started_s = np.where(np.isinf(started_s), placed_s + GIVEN_UP_S, started_s)
        # From when on an instant value tells the truth about it, and every window is on its way there.
        shown_in_full_s = np.where(np.isinf(ended_s), started_s, ended_s)
        self._table.drop_all(shown_in_full_s <= covered_before_s)

    def entries(self) -> Collection[Entry]:
        return tuple(self._table.entries())

    def stays(self, view: Snapshot) -> Stays:
        """Of the pods whose node is there, the same for all who ask before something changes.

        Args:
            view: always the same one.
        """
        state = self._table.version, view.membership
        if self._stays is None or self._stays[0] != state:
            self._stays = state, self._table.stays(view)
        return self._stays[1]


def _placed(pod: PodInfo, now_s: float) -> float:
    """From the pod's own times where it has them: after a restart they are older than now."""
    return pod.scheduled_s or pod.started_s or now_s
