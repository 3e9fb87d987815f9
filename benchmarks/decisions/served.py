"""Objects as the API server would answer them: decoded from JSON, with what it fills in."""

from __future__ import annotations

import itertools
import time
import uuid
from typing import Any

import orjson

from benchmarks.decisions.clock import Clock

Json = dict[str, Any]

_TOLERATIONS = [
    {"key": f"node.kubernetes.io/{taint}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for taint in ("not-ready", "unreachable")
]
_POD_SPEC = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "enableServiceLinks": True,
    "preemptionPolicy": "PreemptLowerPriority",
    "tolerations": _TOLERATIONS,
}


class Serving:
    """Gives uids and versions, and knows the PriorityClasses that it has seen.

    What it returns shares nothing with what it was given, as if it had come over the network.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._versions = itertools.count(1)
        self._uids = itertools.count(1)
        self._priorities: dict[str, int] = {}

    def created(self, body: Json) -> Json:
        served = self.changed(body)
        metadata = served["metadata"]
        metadata["uid"] = str(uuid.UUID(int=next(self._uids)))
        metadata["creationTimestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._clock.now_s))
        metadata["generation"] = 1
        if served["kind"] == "PriorityClass":
            self._priorities[metadata["name"]] = served["value"]
        if served["kind"] == "Pod":
            self._fill_pod(served)
        return served

    def changed(self, body: Json) -> Json:
        served: Json = orjson.loads(orjson.dumps(body))
        served["metadata"]["resourceVersion"] = str(next(self._versions))
        return served

    def bound(self, pod: Json, node: str) -> Json:
        served = self.changed(pod)
        served["spec"]["nodeName"] = node
        served.setdefault("status", {})["conditions"] = [{"type": "PodScheduled", "status": "True"}]
        return served

    def refused(self, pod: Json, *, nominated_node: str | None) -> Json:
        """Args:
        nominated_node: None leaves it as it is.
        """
        served = self.changed(pod)
        status = served.setdefault("status", {})
        status["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
        if nominated_node is not None:
            status["nominatedNodeName"] = nominated_node
        return served

    def _fill_pod(self, pod: Json) -> None:
        spec = pod["spec"]
        pod["spec"] = {**orjson.loads(orjson.dumps(_POD_SPEC)), **spec}
        pod["spec"]["priority"] = self._priorities.get(spec.get("priorityClassName", ""), 0)
        pod["status"] = {"phase": "Pending", "qosClass": "Burstable"}


def merge(into: Json, patch: Json) -> None:
    """A merge patch, RFC 7396."""
    for key, value in patch.items():
        if value is None:
            into.pop(key, None)
        elif isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = value
