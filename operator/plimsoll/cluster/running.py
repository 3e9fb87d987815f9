"""Since when a pod has been at work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.cluster.times import epoch_s

Json = Mapping[str, Any]


def running_since_s(status: Json) -> float | None:
    """When the first of a pod's containers began to run; None where none does yet.

    ``status.startTime`` is when the kubelet took the pod on, before images are pulled and init containers have run: a
    pod that pulls for minutes loads its node no more than one that has not come. It stands only where the kubelet has
    not told of containers, and where they were started anew since.
    """
    told = status.get("containerStatuses") or ()
    taken_on_s = epoch_s(status.get("startTime"))
    if not told:
        return taken_on_s
    begun = (taken_on_s if container.get("restartCount") else _begun_s(container) for container in told)
    return min((at_s for at_s in begun if at_s is not None), default=None)


def _begun_s(container: Json) -> float | None:
    state = container.get("state") or {}
    running = state.get("running") or state.get("terminated") or {}
    return epoch_s(running.get("startedAt"))
