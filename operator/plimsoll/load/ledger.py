"""The ledger of pods in flight: pods on nodes whose load the metrics do not show in full yet.

A pod that has run since s is contained in a mean over [t - W, t] with the share clip((t - s) / W, 0, 1); what is
missing of it counts as in flight. The ledger is one for all policies and for pods of every scheduler, and is built
from the pods' own times, so that a restart loses nothing.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from plimsoll.cluster.pod import PodInfo, Uid

# A pod that has not started after this time is stuck, and will not load its node soon.
_GIVEN_UP_S = 600.0


@dataclass(frozen=True, slots=True)
class Entry:
    """One pod in flight.

    Attributes:
        placed_s: when it came to the node, seconds since the epoch.
        started_s: when it started to run; None: not yet.
    """

    pod: PodInfo
    placed_s: float
    started_s: float | None


class Ledger:
    """Pods that may be in flight for some metric; old ones are dropped by ``prune``."""

    def __init__(self) -> None:
        self._entries: dict[Uid, Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, pod: PodInfo, *, now_s: float) -> Entry:
        """Enters a pod, or updates its entry once it is seen to run."""
        known = self._entries.get(pod.uid)
        entry = Entry(pod, known.placed_s if known else _placed(pod, now_s), pod.started_s)
        self._entries[pod.uid] = entry
        return entry

    def release(self, uid: Uid) -> None:
        self._entries.pop(uid, None)

    def prune(self, *, covered_before_s: float) -> None:
        """Drops pods that every window has covered: those that started before that time, and those given up."""
        self._entries = {
            uid: entry
            for uid, entry in self._entries.items()
            if (entry.started_s or entry.placed_s + _GIVEN_UP_S) > covered_before_s
        }

    def entries(self) -> Collection[Entry]:
        return self._entries.values()


def uncovered(entry: Entry, *, sampled_at_s: float, window_s: float) -> float:
    """The share 0..1 of the pod's load that a mean over the window up to the sample does not contain.

    An instant value (window 0) contains a pod as soon as it has started. A node without a sample (NaN) contains none.
    """
    if math.isnan(sampled_at_s):
        return 1.0
    if entry.started_s is None:
        return 1.0 if sampled_at_s < entry.placed_s + _GIVEN_UP_S else 0.0
    running_s = sampled_at_s - entry.started_s
    if window_s <= 0:
        return 0.0 if running_s >= 0 else 1.0
    return 1.0 - min(max(running_s / window_s, 0.0), 1.0)


def _placed(pod: PodInfo, now_s: float) -> float:
    """From the pod's own times where it has them: after a restart they are older than now."""
    return pod.scheduled_s or pod.started_s or now_s
