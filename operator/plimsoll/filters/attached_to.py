"""Volumes of one driver on one node, while pods come and go there in thought."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.storage.handles import Handle
from plimsoll.cluster.storage.uses import VolumeUses


class AttachedTo:
    """Keeps count of what is attached and of what the incoming pod would add.

    Args:
        wanted: the incoming pod's volumes of the driver, each once.
        limit: how many the node takes.
    """

    def __init__(self, uses: VolumeUses, node: str, driver: str, wanted: Iterable[Handle], limit: int) -> None:
        self._uses, self._node, self._limit = uses, node, limit
        self._wanted = frozenset(wanted)
        self._changes: Counter[Handle] = Counter()
        self._attached = uses.by_all.counts(driver).get(node, 0)
        # A volume that no pod uses on the node is new to it, even where it is attached still.
        self._new = sum(uses.by_pods.users(node, handle) <= 0 for handle in self._wanted)

    def count(self, handle: Handle, sign: int) -> None:
        """One use more (+1) or less (-1)."""
        before = self._changes[handle]
        after = self._changes[handle] = before + sign
        users = self._uses.by_all.users(self._node, handle)
        self._attached += (users + after > 0) - (users + before > 0)
        if handle in self._wanted:
            users = self._uses.by_pods.users(self._node, handle)
            self._new += (users + after <= 0) - (users + before <= 0)

    @property
    def exceeded(self) -> bool:
        return self._new > 0 and self._attached + self._new > self._limit


class VolumesBeside:
    """Args:
    drivers: those of the incoming pod's that the node has a limit for.
    """

    def __init__(self, drivers: Mapping[str, AttachedTo]) -> None:
        self._drivers = drivers

    def put_back(self, pod: PodInfo, effect: Hashable) -> None:  # noqa: ARG002
        assert isinstance(effect, tuple)
        self.count(effect, 1)

    def remove(self, pod: PodInfo, effect: Hashable) -> None:  # noqa: ARG002
        assert isinstance(effect, tuple)
        self.count(effect, -1)

    def refuses(self) -> bool:
        return any(attached.exceeded for attached in self._drivers.values())

    def count(self, handles: Iterable[Handle], sign: int) -> None:
        for handle in handles:
            attached = self._drivers.get(handle.driver)
            if attached is not None:
                attached.count(handle, sign)
