"""Changes that happen while pods are being tried.

A pod that comes back rejected was judged by the cluster as it was when its attempt began: what happened since may be
what it waits for, and nobody will report it again.
"""

from __future__ import annotations

from collections import deque
from itertools import islice

from plimsoll.cluster.changes import Change
from plimsoll.cluster.pod import Uid


class InFlight:
    """Pods that are being tried, and every change since the first of these attempts began."""

    def __init__(self) -> None:
        # By the number of changes that had happened when the attempt began; the oldest attempt comes first.
        self._began: dict[Uid, int] = {}
        self._changes: deque[Change] = deque()
        self._dropped = 0

    def __len__(self) -> int:
        return len(self._began)

    def __contains__(self, uid: Uid) -> bool:
        return uid in self._began

    @property
    def changes(self) -> int:
        """How many are kept."""
        return len(self._changes)

    def begin(self, uid: Uid) -> None:
        self._began.pop(uid, None)
        self._began[uid] = self._dropped + len(self._changes)

    def happened(self, change: Change) -> None:
        if self._began:
            self._changes.append(change)

    def since(self, uid: Uid) -> list[Change]:
        """What happened since the pod's attempt began; nothing where it is not under way."""
        began = self._began.get(uid)
        return [] if began is None else list(islice(self._changes, began - self._dropped, None))

    def end(self, uid: Uid) -> None:
        if self._began.pop(uid, None) is not None:
            self._forget()

    def _forget(self) -> None:
        """What happened before every attempt that is still under way."""
        needed = next(iter(self._began.values()), self._dropped + len(self._changes))
        while self._dropped < needed:
            self._changes.popleft()
            self._dropped += 1
