"""What the reflectors tell, parsed and handed to the Scheduler."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from plimsoll.cluster.kinds import KINDS
from plimsoll.cluster.namespace import Namespace
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.salvage import salvage
from plimsoll.errors import ObjectError
from plimsoll.kube.reflector import Identity
from plimsoll.load.pod_use import PodPlace
from plimsoll.scheduling.scheduler import Scheduler

Json = dict[str, Any]
Wake = Callable[[], None]

log = logging.getLogger(__name__)


class Nodes:
    """A reflector's listener."""

    def __init__(self, scheduler: Scheduler, *, wake: Wake) -> None:
        self._scheduler = scheduler
        self._wake = wake

    def on_added(self, raw: Json) -> None:
        try:
            node = NodeInfo.parse(raw)
        except ObjectError:
            # What it offered before does not hold any more: nothing is bound to it until it can be read.
            self.on_deleted(_identity(raw))
            raise
        self._scheduler.node_seen(node, now_s=time.time())
        self._wake()

    on_updated = on_added

    def on_deleted(self, identity: Identity) -> None:
        self._scheduler.node_gone(identity.name, now_s=time.time())
        self._wake()

    def on_listed(self, *, asked_at_s: float) -> None:
        """Nothing: nodes are not assumed."""


class AssignedPods:
    """A reflector's listener.

    Attributes:
        uids: of the pods that are assigned.
        node_of: their nodes by ``namespace/name``; other threads may read it.
        place_of: of those that run, by ``namespace/name``; likewise.

    Args:
        before: shown each pod before the Scheduler is told of it.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        *,
        wake: Wake,
        before: Callable[[Json, PodInfo], None] = lambda *_: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.uids: set[Uid] = set()
        self.node_of: dict[str, str] = {}
        self.place_of: dict[str, PodPlace] = {}
        self._scheduler = scheduler
        self._wake = wake
        self._before = before
        self._clock = clock

    def on_added(self, raw: Json) -> None:
        try:
            pod = PodInfo.parse(raw)
        except ObjectError as error:
            counted = salvage(raw, error)
            if counted is None:
                raise
            log.warning("pod counts as far as it can be read: %s", error)
            pod = counted
        self.uids.add(pod.uid)
        self.node_of[pod.key] = pod.node
        self._note_place(pod)
        self._before(raw, pod)
        self._scheduler.pod_assigned(pod, now_s=time.time())
        self._wake()

    on_updated = on_added

    def on_deleted(self, identity: Identity) -> None:
        uid = Uid(identity.uid)
        self.uids.discard(uid)
        key = f"{identity.namespace}/{identity.name}"
        self.node_of.pop(key, None)
        self.place_of.pop(key, None)
        self._scheduler.assigned_pod_gone(uid, now_s=time.time())
        self._wake()

    def on_listed(self, *, asked_at_s: float) -> None:
        """A pod that was bound before this LIST and is not in it came and went while nobody watched."""
        now_s = time.time()
        listed_at_s = now_s - (self._clock() - asked_at_s)
        self._scheduler.assigned_pods_listed(self.uids, listed_at_s=listed_at_s, now_s=now_s)
        self._wake()

    def _note_place(self, pod: PodInfo) -> None:
        place = PodPlace.of(pod)
        if place is None:
            self.place_of.pop(pod.key, None)
        else:
            self.place_of[pod.key] = place


class Namespaces:
    """A reflector's listener."""

    def __init__(self, scheduler: Scheduler, *, wake: Wake) -> None:
        self._scheduler = scheduler
        self._wake = wake

    def on_added(self, raw: Json) -> None:
        try:
            namespace = Namespace.parse(raw)
        except ObjectError:
            self.on_deleted(_identity(raw))
            raise
        self._scheduler.namespace_seen(namespace.name, namespace.labels, now_s=time.time())
        self._wake()

    on_updated = on_added

    def on_deleted(self, identity: Identity) -> None:
        self._scheduler.namespace_gone(identity.name, now_s=time.time())
        self._wake()

    def on_listed(self, *, asked_at_s: float) -> None:
        """Nothing to settle."""


class ApiObjects:
    """A reflector's listener for objects of one of the kinds of ``cluster/kinds.py``."""

    def __init__(
        self, kind: str, scheduler: Scheduler, *, wake: Wake, changed: Callable[[str], None] = lambda _: None
    ) -> None:
        self._kind = KINDS[kind]
        self._scheduler = scheduler
        self._wake = wake
        self._changed = changed

    def on_added(self, raw: Json) -> None:
        try:
            thing = self._kind.parse(raw)
        except ObjectError:
            # What it said before does not hold any more.
            self.on_deleted(_identity(raw))
            raise
        self._scheduler.object_seen(self._kind.name, thing, now_s=time.time())
        self._changed(thing.key)
        self._wake()

    on_updated = on_added

    def on_deleted(self, identity: Identity) -> None:
        key = f"{identity.namespace}/{identity.name}" if identity.namespace else identity.name
        self._scheduler.object_gone(self._kind.name, key, now_s=time.time())
        self._changed(key)
        self._wake()

    def on_listed(self, *, asked_at_s: float) -> None:
        """Nothing to settle."""


def _identity(raw: Json) -> Identity:
    metadata = raw["metadata"]
    return Identity(metadata.get("namespace", ""), metadata["name"], metadata.get("uid", ""))
