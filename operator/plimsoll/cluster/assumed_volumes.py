"""Volumes and claims as they will be once what was decided about them is written.

kube-scheduler's ``passiveAssumeCache``: an assumption holds only on top of the very version that it was made of; the
watch's next version of the object goes before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from plimsoll.cluster.pod import Uid
from plimsoll.cluster.storage.claim import PersistentVolumeClaim
from plimsoll.cluster.storage.volume import ClaimRef, PersistentVolume
from plimsoll.cluster.volume_matching import PodVolumes


@dataclass(slots=True)
class _Assumption:
    """What is assumed of one object.

    Attributes:
        version: the object's resource version that it was made of.
        value: of a volume the claim that takes it, of a claim the node that is selected for it.
        pods: those for whose sake it is assumed; pods may share a claim.
        written: the API server has it: it outlives the pods until the watch shows it.
    """

    version: str
    value: ClaimRef | str
    pods: set[Uid] = field(default_factory=set)
    written: bool = False


class AssumedVolumes:
    """What is assumed, by volume (name) and by claim (``namespace/name``)."""

    def __init__(self) -> None:
        self._assumed: dict[str, _Assumption] = {}
        self._of: dict[Uid, list[str]] = {}

    def __len__(self) -> int:
        return len(self._assumed)

    def assume(self, uid: Uid, node: str, volumes: PodVolumes) -> None:
        """The pod's unbound claims on the node."""
        for binding in volumes.bindings:
            claim, volume = binding.claim, binding.volume
            ref = ClaimRef(namespace=claim.namespace, name=claim.name, uid=claim.uid)
            self._assume(uid, volume.key, volume.resource_version, ref)
        for claim in volumes.provisions:
            self._assume(uid, claim.key, claim.resource_version, node)

    def written(self, key: str) -> None:
        """The API server has taken what was assumed of the volume or claim."""
        if key in self._assumed:
            self._assumed[key].written = True

    def gone(self, key: str) -> None:
        """The volume or claim was deleted: one that comes under its name is another."""
        self._assumed.pop(key, None)

    def settled(self, uid: Uid) -> None:
        """All of the pod's claims are bound: the watch has shown everything."""
        for key in self._of.pop(uid, ()):
            self._assumed.pop(key, None)

    def forget(self, uid: Uid) -> tuple[str, ...]:
        """The pod goes elsewhere; answers with what is free again. What is written holds until the watch shows it."""
        return tuple(key for key in self._of.pop(uid, ()) if self._let_go(key, uid))

    def volume(self, volume: PersistentVolume) -> PersistentVolume:
        """With the claim that is assumed to have it."""
        ref = self._current(volume.key, volume.resource_version)
        return replace(volume, claim_ref=ref) if isinstance(ref, ClaimRef) else volume

    def claim(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        """With the node that is assumed to be selected for it."""
        node = self._current(claim.key, claim.resource_version)
        return replace(claim, selected_node=node) if isinstance(node, str) else claim

    def _assume(self, uid: Uid, key: str, version: str, value: ClaimRef | str) -> None:
        assumed = self._assumed.get(key)
        if assumed is None or (assumed.version, assumed.value) != (version, value):
            assumed = self._assumed[key] = _Assumption(version, value)
        assumed.pods.add(uid)
        self._of.setdefault(uid, []).append(key)

    def _let_go(self, key: str, uid: Uid) -> bool:
        """True where nobody else holds on to it."""
        assumed = self._assumed.get(key)
        if assumed is None:
            return False
        assumed.pods.discard(uid)
        if assumed.pods or assumed.written:
            return False
        del self._assumed[key]
        return True

    def _current(self, key: str, version: str) -> ClaimRef | str | None:
        assumed = self._assumed.get(key)
        if assumed is None:
            return None
        if assumed.version != version:
            del self._assumed[key]
            return None
        return assumed.value
