"""Changes that happen while pods are being tried, prepared or bound.

A pod that comes back rejected was judged by the cluster as it was when its attempt began: what happened since may be
what it waits for, and nobody will report it again.
"""

from __future__ import annotations

from collections import deque

from plimsoll.cluster.changes import Change
from plimsoll.cluster.pod import Uid


class InFlight:
    """Pods under way, and every change since the first of them began."""

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

    def end(self, uid: Uid) -> list[Change]:
        """What happened since the pod's attempt began; nothing where it is not under way."""
        began = self._began.pop(uid, None)
        if began is None:
            return []
        since = [change for i, change in enumerate(self._changes, start=self._dropped) if i >= began]
        self._forget()
        return since

    def _forget(self) -> None:
        """What happened before every attempt that is still under way."""
        needed = next(iter(self._began.values()), self._dropped + len(self._changes))
        while self._dropped < needed:
            self._changes.popleft()
            self._dropped += 1
