"""Pods that wait for room, as arrays: ten thousand are asked about one change in a fraction of a millisecond."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.changes import Change
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.filters.room import NewRoom, wanted_by
from plimsoll.filters.waiting import Key

_FIRST_SLOTS = 64
# Of what is not asked for any amount is enough; beyond the most all amounts are alike.
_NOT_ASKED, _MOST = -(2**62), 2**62


class WaitingForRoom:
    """What each of them requests, in a slot of its own. Answers like ``NewRoom.fits``."""

    def __init__(self) -> None:
        self._slots: dict[Key, int] = {}
        self._free: list[int] = []
        self._columns: dict[str, int] = {}
        self._wanted = np.full((_FIRST_SLOTS, 0), _NOT_ASKED, dtype=np.int64)
        self._keys = np.full(_FIRST_SLOTS, -1, dtype=np.int64)
        self._priorities = np.zeros(_FIRST_SLOTS, dtype=np.int64)
        self._preempts = np.zeros(_FIRST_SLOTS, dtype=np.bool_)
        self._preemptors: Counter[int] = Counter()

    def add(self, key: Key, pod: PodInfo) -> None:
        slot = self._slots[key] = self._free.pop() if self._free else len(self._slots)
        if slot >= len(self._keys):
            self._grow()
        self._wanted[slot] = _NOT_ASKED
        for name, value in wanted_by(pod).items():
            column = self._column(name)
            self._wanted[slot, column] = min(value, _MOST)
        self._keys[slot], self._priorities[slot], self._preempts[slot] = key, pod.priority, pod.may_preempt
        self._preemptors[pod.priority] += pod.may_preempt

    def remove(self, key: Key) -> None:
        slot = self._slots.pop(key)
        self._free.append(slot)
        self._keys[slot] = -1
        priority = int(self._priorities[slot])
        self._preemptors[priority] -= bool(self._preempts[slot])
        if not self._preemptors[priority]:
            del self._preemptors[priority]

    def candidates(self, change: Change, view: Snapshot) -> Iterable[Key] | None:
        """Exactly whom the change helps."""
        room = NewRoom(change, view)
        if not room.there or not self._columns:
            return ()
        asked = self._wanted > _NOT_ASKED
        fits = (self._keys >= 0) & asked[:, [self._columns[n] for n in room.grown if n in self._columns]].any(axis=1)
        known = room.known_to(self._priorities)
        helped = self._newly(room, {}, known)
        for priority in self._preemptors:
            removable = room.removable_below(priority)
            if removable:
                preempts = self._preempts & (self._priorities == priority)
                helped |= preempts & self._newly(room, removable, known)
        found: list[Key] = self._keys[fits & helped].tolist()
        return found

    def _newly(self, room: NewRoom, removable: Mapping[str, int], known: Bools) -> Bools:
        """[slots], enough is free now and, where the time before is known, was not before."""
        now, before = self._bounds(room, removable)
        newly: Bools = ~(self._wanted > now).any(axis=1) & (~known | (self._wanted > before).any(axis=1))
        return newly

    def _bounds(self, room: NewRoom, removable: Mapping[str, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """[R] each: what is free now, and what was before the change."""
        now = [room.left(name) + removable.get(name, 0) for name in self._columns]
        before = [free - room.freed.get(name, 0) for free, name in zip(now, self._columns, strict=True)]
        least = _NOT_ASKED + 1
        bounded = [[max(least, min(free, _MOST)) for free in bounds] for bounds in (now, before)]
        return np.array(bounded[0], dtype=np.int64), np.array(bounded[1], dtype=np.int64)

    def _column(self, name: str) -> int:
        if name not in self._columns:
            self._columns[name] = len(self._columns)
            new = np.full((len(self._wanted), 1), _NOT_ASKED, dtype=np.int64)
            self._wanted = np.hstack((self._wanted, new))
        return self._columns[name]

    def _grow(self) -> None:
        self._wanted = np.vstack((self._wanted, np.full_like(self._wanted, _NOT_ASKED)))
        self._keys = np.concatenate((self._keys, np.full_like(self._keys, -1)))
        self._priorities = np.concatenate((self._priorities, np.zeros_like(self._priorities)))
        self._preempts = np.concatenate((self._preempts, np.zeros_like(self._preempts)))
