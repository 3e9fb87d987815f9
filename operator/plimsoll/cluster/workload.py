"""Which pods are replicas of one thing: the key that spreading and workload history go by."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NewType

WorkloadKey = NewType("WorkloadKey", str)

# Histories of use are kept by what this writes: another spelling would forget them.
_written: Callable[[object], str] = json.JSONEncoder(sort_keys=True, default=str).encode
_TEMPLATE_HASH = "pod-template-hash"
# The CronJob controller names each Job by the minute that it was due at, in minutes since the epoch (getJobName in
# pkg/controller/cronjob/utils.go): eight digits from 1989 to 2160.
_RUN = re.compile(r"(?P<cron_job>.+)-\d{8}", re.ASCII)


def workload_key(pod: Mapping[str, Any]) -> WorkloadKey:
    """The controller that owns the pod, else (bare pods) what it runs and asks for.

    A ReplicaSet's pods are keyed by their Deployment, so that a rollout's old and new pods are one workload, and a
    Job's by the CronJob that made it: by their names, since pods do not tell of their owners' owners.
    kube-scheduler's default spreading knows only Services and ReplicaSets; this key covers Jobs and bare pods too.
    """
    metadata = pod.get("metadata") or {}
    namespace = metadata.get("namespace", "")
    owner = controller(metadata)
    if owner is None:
        return WorkloadKey(f"{namespace}/Pod/{_fingerprint(pod)}")
    name = str(owner.get("name", ""))
    suffix = (metadata.get("labels") or {}).get(_TEMPLATE_HASH)
    if owner.get("kind") == "ReplicaSet" and suffix:
        name = name.removesuffix(f"-{suffix}")
    if owner.get("kind") == "Job" and (run := _RUN.fullmatch(name)):
        return WorkloadKey(f"{namespace}/CronJob/{run['cron_job']}")
    return WorkloadKey(f"{namespace}/{owner.get('kind')}/{name}")


def controller(metadata: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return next((o for o in metadata.get("ownerReferences") or () if o.get("controller")), None)


def _fingerprint(pod: Mapping[str, Any]) -> str:
    containers = (pod.get("spec") or {}).get("containers") or ()
    described = [(c.get("image"), (c.get("resources") or {}).get("requests")) for c in containers]
    text = _written(described)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
