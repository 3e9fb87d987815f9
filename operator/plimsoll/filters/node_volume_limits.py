"""NodeVolumeLimits: how many volumes of each CSI driver a node can have attached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.invalidates import Invalidates
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.cluster.storage.csi import CSINode
from plimsoll.cluster.storage.handles import Handle
from plimsoll.filters.attached_to import AttachedTo, VolumesBeside
from plimsoll.filters.interface import Code, Overlay, Problem, Reason, Refusal
from plimsoll.filters.volume_hints import uses_claim

_REASON = "node(s) exceed max volume count"


class NodeVolumeLimits:
    name = "NodeVolumeLimits"
    invalidates = Invalidates.ALL
    # kube-scheduler waits for the node's CSINode instead, and misses nodes that never get one.
    wakes = (
        ChangeKind.NODE_ADDED
        | ChangeKind.CSI_NODE
        | ChangeKind.POD_DELETED
        | ChangeKind.NOMINATION_ENDED
        | ChangeKind.CLAIM
        | ChangeKind.VOLUME_ATTACHMENT_DELETED
    )

    def prepare(self, view: Snapshot, pod: PodInfo) -> _Prepared | Problem | None:
        if not pod.volumes:
            return None
        if pod.volumes.untranslatable:
            return Problem(pod.volumes.untranslatable, Code.ERROR)
        wanted = frozenset(_handles(view, pod))
        limited = any(view.storage.limits(handle.driver) for handle in wanted)
        return _Prepared(view, wanted) if limited else None

    def helps(self, change: Change, pod: PodInfo, view: Snapshot) -> bool:  # noqa: ARG002
        """A node or limit that gives more, a pod with volumes or an attachment that went, or a claim that came."""
        before, after = change.before, change.after
        if isinstance(after, NodeInfo):
            return True
        if isinstance(after, CSINode):
            return before is None or _gives_more(before, after)
        if ChangeKind.CLAIM in change.kind:
            return before is None and uses_claim(pod, after, ephemeral=True)
        if isinstance(before, PodInfo):
            return bool(before.volumes.claims or before.volumes.handles)
        return _may_be_attached(pod, before.attacher)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Attributes:
    wanted: the pod's volumes that some driver counts.
    """

    view: Snapshot
    wanted: frozenset[Handle]

    def refusals(self) -> Iterable[Refusal]:
        full = np.zeros(self.view.size, dtype=np.bool_)
        row_of = self.view.row_of
        for driver, handles in _by_driver(self.wanted).items():
            full[[row_of[node] for node in self._full(driver, handles) if node in row_of]] = True
        yield Refusal(NodeVolumeLimits.name, _REASON, rows=full, resolvable=full)

    def check(self, row: int, overlay: Overlay) -> tuple[Reason, ...]:
        return (Reason(_REASON, resolvable=True),) if self.beside(row, overlay).refuses() else ()

    def beside(self, row: int, overlay: Overlay) -> VolumesBeside:
        node, limits = self.view.name(row), self.view.storage.limits
        found = VolumesBeside(
            {
                driver: AttachedTo(self.view.storage.uses, node, driver, handles, limit)
                for driver, handles in _by_driver(self.wanted).items()
                if (limit := limits(driver).get(node)) is not None
            }
        )
        for pods, sign in ((overlay.added, 1), (overlay.removed, -1)):
            for pod in pods:
                found.count(_handles(self.view, pod), sign)
        return found

    def effect(self, pod: PodInfo) -> tuple[Handle, ...] | None:
        drivers = {handle.driver for handle in self.wanted} if pod.volumes else ()
        return tuple(handle for handle in _handles(self.view, pod) if handle.driver in drivers) or None

    def _full(self, driver: str, wanted: Sequence[Handle]) -> Iterator[str]:
        """Nodes without room for those of the driver's volumes that are new to them."""
        storage = self.view.storage
        attached = storage.uses.by_all.counts(driver)
        there = Counter(node for handle in wanted for node in storage.uses.by_pods.nodes(handle))
        for node, limit in storage.limits(driver).items():
            new = len(wanted) - there.get(node, 0)
            if new and attached.get(node, 0) + new > limit:
                yield node


def _handles(view: Snapshot, pod: PodInfo) -> Iterator[Handle]:
    """The pod's volumes, as CSI drivers count them. A claim that is missing is VolumeBinding's to tell."""
    yield from pod.volumes.handles
    for use in pod.volumes.claims:
        handle = view.storage.handle(f"{pod.namespace}/{use.claim}")
        if handle is not None:
            yield handle


def _by_driver(handles: Iterable[Handle]) -> Mapping[str, list[Handle]]:
    found: dict[str, list[Handle]] = {}
    for handle in handles:
        found.setdefault(handle.driver, []).append(handle)
    return found


def _gives_more(before: CSINode, after: CSINode) -> bool:
    """kube-scheduler takes a limit that is lifted for one of nothing."""
    lifted = before.limits.keys() - after.limits.keys()
    return bool(lifted) or any(limit > before.limits.get(driver, 0) for driver, limit in after.limits.items())


def _may_be_attached(pod: PodInfo, attacher: str) -> bool:
    return any(not use.ephemeral for use in pod.volumes.claims) or any(
        handle.driver == attacher for handle in pod.volumes.handles
    )
