"""Pods that are being resized in place: what their status says beside their spec."""

from __future__ import annotations

from tests.oracle.clusters.amounts import requests
from tests.oracle.clusters.vocabulary import Json
from tests.oracle.source import Source


def resize(source: Source, pod: Json) -> None:
    """Gives an assigned pod a status that differs from its spec, as between the ask and the kubelet's answer."""
    spec, status = pod["spec"], pod["status"]
    status["containerStatuses"] = [_status(source, c) for c in spec["containers"] if source.chance(85)]
    if "initContainers" in spec:
        status["initContainerStatuses"] = [_status(source, c) for c in spec["initContainers"] if source.chance(85)]
    if "resources" in spec and source.chance(60):
        status["resources"] = {"requests": requests(source, modest=True)}
        status["allocatedResources"] = requests(source, modest=True)
    if source.chance(45):
        condition = {"type": "PodResizePending", "status": "True", "reason": source.pick(("Infeasible", "Deferred"))}
        status["conditions"] = [*status.get("conditions", ()), condition]


def _status(source: Source, container: Json) -> Json:
    found: Json = {"name": container["name"], "ready": True, "restartCount": 0, "image": "", "imageID": ""}
    if source.chance(80):
        found["resources"] = {"requests": requests(source, modest=True)}
    if source.chance(80):
        found["allocatedResources"] = requests(source, modest=True)
    return found
