"""The ledger of pods in flight: pods that the metrics do not show in full yet, or still show although they are gone.

It is one for all policies and for pods of every scheduler, and is built from the pods' own times, so that a restart
loses nothing of the pods that are there. Those that are gone by then are forgotten: until the windows have forgotten
them too, their nodes seem busier than they are.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from plimsoll.cluster.pod import PodInfo, Uid

# A pod that has not started after this time is stuck, and will not load its node soon.
GIVEN_UP_S = 600.0


@dataclass(frozen=True, slots=True)
class Entry:
    """One pod in flight, or departed.

    Attributes:
        placed_s: when it came to the node, seconds since the epoch.
        started_s: when it started to run; None: not yet.
        ended_s: when it ended; None: not yet.
    """

    pod: PodInfo
    placed_s: float
    started_s: float | None
    ended_s: float | None = None

    @property
    def shown_in_full_s(self) -> float:
        """From when on an instant value tells the truth about it, and every window is on its way there."""
        if self.ended_s is not None:
            return self.ended_s
        return self.started_s or self.placed_s + GIVEN_UP_S


class Ledger:
    """Pods that may be in flight for some metric, or departed; old ones are dropped by ``prune``."""

    def __init__(self) -> None:
        self._entries: dict[Uid, Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, pod: PodInfo, *, now_s: float) -> Entry:
        """Enters a pod, or updates its entry once it is seen to run."""
        known = self._entries.get(pod.uid)
        entry = Entry(pod, known.placed_s if known else _placed(pod, now_s), pod.running_s)
        self._entries[pod.uid] = entry
        return entry

    def end(self, pod: PodInfo, *, now_s: float) -> Entry | None:
        """The pod has ended; None where it never ran, so that no metric ever contained it."""
        if pod.running_s is None:
            self.release(pod.uid)
            return None
        entry = Entry(pod, _placed(pod, now_s), pod.running_s, now_s)
        self._entries[pod.uid] = entry
        return entry

    def release(self, uid: Uid) -> None:
        """It was never there, as where its Binding failed."""
        self._entries.pop(uid, None)

    def prune(self, *, covered_before_s: float) -> None:
        """Drops pods about which every window tells the truth: those that started or ended before that time, and
        those given up.
        """
        self._entries = {uid: entry for uid, entry in self._entries.items() if entry.shown_in_full_s > covered_before_s}

    def entries(self) -> Collection[Entry]:
        return self._entries.values()


def _placed(pod: PodInfo, now_s: float) -> float:
    """From the pod's own times where it has them: after a restart they are older than now."""
    return pod.scheduled_s or pod.started_s or now_s
