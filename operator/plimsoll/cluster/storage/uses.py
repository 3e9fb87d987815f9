"""What pods on the nodes mount, kept up to date as pods, claims, volumes, classes and attachments come and go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from plimsoll.cluster.disks import DisksInUse
from plimsoll.cluster.pod_volumes import UsedVolumes
from plimsoll.cluster.storage.attached import AttachedVolumes
from plimsoll.cluster.storage.attachment import VolumeAttachment
from plimsoll.cluster.storage.handles import Handle


class VolumeUses:
    """Attributes:
        disks: inline disks.
        by_pods: volumes that pods on the node use.
        by_all: those and what is attached for whatever reason.

    Args:
        handle_of: which volume a claim stands for now; None where no driver counts it.
    """

    def __init__(self, handle_of: Callable[[str], Handle | None]) -> None:
        self.disks = DisksInUse()
        self.by_pods = AttachedVolumes()
        self.by_all = AttachedVolumes()
        self._handle_of = handle_of
        self._plain: Counter[str] = Counter()
        self._nodes: dict[str, Counter[str]] = {}
        self._counted: dict[str, Handle] = {}
        self._attachments: dict[str, tuple[str, Handle]] = {}

    def users(self, claim: str) -> int:
        """How many pod volumes on any node are the claim (``namespace/name``); ephemeral ones apart."""
        return self._plain[claim]

    def add(self, node: str, namespace: str, volumes: UsedVolumes) -> None:
        """The volumes of a pod that is on the node."""
        self.disks.add(node, volumes.disks)
        for handle in volumes.handles:
            self._attach(node, handle)
        for use in volumes.claims:
            claim = f"{namespace}/{use.claim}"
            self._plain[claim] += not use.ephemeral
            self._use(node, claim)

    def remove(self, node: str, namespace: str, volumes: UsedVolumes) -> None:
        self.disks.remove(node, volumes.disks)
        for handle in volumes.handles:
            self._detach(node, handle)
        for use in volumes.claims:
            claim = f"{namespace}/{use.claim}"
            self._plain[claim] -= not use.ephemeral
            if not self._plain[claim]:
                del self._plain[claim]
            self._unuse(node, claim)

    def claims_changed(self, claims: Iterable[str]) -> None:
        """They may stand for other volumes now."""
        for claim in claims:
            nodes = self._nodes.get(claim)
            handle = self._handle_of(claim) if nodes else None
            before = self._counted.get(claim)
            if nodes is None or handle == before:
                continue
            for node, times in nodes.items():
                if before is not None:
                    self._detach(node, before, times)
                if handle is not None:
                    self._attach(node, handle, times)
            self._count(claim, handle)

    def attachment_changed(self, name: str, attachment: VolumeAttachment | None, volume: Handle | None) -> None:
        """None where it is gone, or no driver counts its volume."""
        before = self._attachments.pop(name, None)
        if before is not None:
            self.by_all.remove(*before)
        if attachment is not None and volume is not None and attachment.attacher:
            # The attacher counts, whatever driver the volume names.
            now = attachment.node, Handle(attachment.attacher, volume.volume)
            self.by_all.add(*now)
            self._attachments[name] = now

    def _use(self, node: str, claim: str) -> None:
        nodes = self._nodes.get(claim)
        if nodes is None:
            nodes = self._nodes[claim] = Counter()
            self._count(claim, self._handle_of(claim))
        nodes[node] += 1
        if (handle := self._counted.get(claim)) is not None:
            self._attach(node, handle)

    def _unuse(self, node: str, claim: str) -> None:
        nodes = self._nodes[claim]
        nodes[node] -= 1
        if not nodes[node]:
            del nodes[node]
        if (handle := self._counted.get(claim)) is not None:
            self._detach(node, handle)
        if not nodes:
            del self._nodes[claim]
            self._count(claim, None)

    def _count(self, claim: str, handle: Handle | None) -> None:
        if handle is None:
            self._counted.pop(claim, None)
        else:
            self._counted[claim] = handle

    def _attach(self, node: str, handle: Handle, times: int = 1) -> None:
        self.by_pods.add(node, handle, times)
        self.by_all.add(node, handle, times)

    def _detach(self, node: str, handle: Handle, times: int = 1) -> None:
        self.by_pods.remove(node, handle, times)
        self.by_all.remove(node, handle, times)
