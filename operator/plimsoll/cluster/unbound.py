"""A pod on a node, as its scheduler saw it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.cluster.pod import PodInfo


def before_binding(pod: Mapping[str, Any]) -> PodInfo:
    """Parsed as a pending pod, with what is not kept of pods on nodes: owner, images, what the spec requests.

    Raises:
        ObjectError: names the pod and what in it cannot be read.
    """
    spec = {key: value for key, value in (pod.get("spec") or {}).items() if key != "nodeName"}
    return PodInfo.parse({**pod, "spec": spec})
