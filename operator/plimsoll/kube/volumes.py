"""What is written of volumes and claims before a pod is bound; kube-scheduler's ``bindAPIUpdate``.

Each write holds only for the version that was decided on: whoever changed the object meanwhile may know better.
"""

from __future__ import annotations

from plimsoll.cluster.storage.claim import SELECTED_NODE_ANNOTATION, PersistentVolumeClaim
from plimsoll.cluster.volume_matching import StaticBinding, is_bound_to
from plimsoll.kube.client import ApiClient, Json
from plimsoll.kube.resources import CLAIMS, VOLUMES

_BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"


class VolumeWriter:
    """Writes for the volume controllers to go on from.

    Args:
        timeout_s: of a request; below lease duration minus renew deadline.
    """

    def __init__(self, client: ApiClient, *, timeout_s: float) -> None:
        self._client = client
        self._timeout_s = timeout_s

    async def bind(self, binding: StaticBinding) -> str:
        """Gives the volume to the claim; the controller does the rest. Answers with the volume's new version.

        Raises:
            Conflict: the volume has changed since.
            ApiError: any other answer.
        """
        path = VOLUMES.path(name=binding.volume.name)
        return _version(await self._client.patch(path, _bound(binding), timeout_s=self._timeout_s))

    async def select_node(self, claim: PersistentVolumeClaim, node: str) -> str:
        """Asks the provisioner for a volume that the node can reach. Answers with the claim's new version.

        Raises:
            Conflict: the claim has changed since.
            ApiError: any other answer.
        """
        path = CLAIMS.path(namespace=claim.namespace, name=claim.name)
        metadata: Json = {
            "uid": claim.uid,
            "resourceVersion": claim.resource_version,
            "annotations": {SELECTED_NODE_ANNOTATION: node},
        }
        return _version(await self._client.patch(path, {"metadata": metadata}, timeout_s=self._timeout_s))


def _bound(binding: StaticBinding) -> Json:
    claim, volume = binding.claim, binding.volume
    metadata: Json = {"resourceVersion": volume.resource_version}
    if not is_bound_to(volume, claim):
        # It tells the controller that the claim may be taken off again; what a person has bound stays.
        metadata["annotations"] = {_BOUND_BY_CONTROLLER: "yes"}
    ref = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": claim.namespace,
        "name": claim.name,
        "uid": claim.uid,
        "resourceVersion": claim.resource_version,
    }
    return {"metadata": metadata, "spec": {"claimRef": ref}}


def _version(written: Json) -> str:
    return str(written["metadata"]["resourceVersion"])
