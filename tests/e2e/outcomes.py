"""What became of pods, in words that two schedulers can be compared by."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from tests.e2e.kube import Kube, eventually

Json = dict[str, Any]

SCHEDULERS = ("default-scheduler", "plimsoll")
_GONE_S = 60


def settled(kube: Kube, names: Sequence[str], *, timeout_s: float = 40) -> dict[str, str]:
    """By pod: ``on <node>``, or the reason and message for which it waits; once every one of them is told."""

    def all_told() -> dict[str, str] | None:
        found = {p["metadata"]["name"]: told(p) for p in kube.list("pods")}
        return {n: found[n] for n in names} if all(found.get(n) for n in names) else None

    answer: dict[str, str] = eventually(f"{', '.join(names)} are placed or refused", all_told, timeout_s=timeout_s)
    return answer


def told(pod: Json) -> str:
    """ "" while nobody has spoken."""
    if node := pod["spec"].get("nodeName"):
        return f"on {node}"
    condition = next((c for c in pod.get("status", {}).get("conditions", ()) if c["type"] == "PodScheduled"), None)
    return f"{condition['reason']}: {condition['message']}" if condition else ""


def by_both(kube: Kube, play: Callable[[str], Any]) -> list[Any]:
    """What each scheduler makes of it, one after the other, each in the emptied namespace."""
    outcomes = []
    for scheduler in SCHEDULERS:
        outcomes.append(play(scheduler))
        empty(kube)
    return outcomes


def bind(kube: Kube, volume: Json, claim: Json) -> None:
    """A volume and the claim that names it, bound to each other."""
    kube.create(volume, claim)
    name = claim["metadata"]["name"]
    eventually("the claim is bound", lambda: kube.get("pvc", name)["status"].get("phase") == "Bound")


def empty(kube: Kube) -> None:
    """No pods, controllers, claims or budgets are left, and no volume that belonged to a claim."""
    for kind in ("deployments", "replicasets", "daemonsets", "poddisruptionbudgets"):
        kube.cluster.kubectl("delete", kind, "--all", "--namespace", kube.namespace)
    for kind in ("pods", "persistentvolumeclaims"):
        kube.cluster.kubectl(
            "delete", kind, "--all", "--namespace", kube.namespace, "--wait=false", "--grace-period=0", "--force"
        )
    eventually("the pods are gone", lambda: not kube.list("pods"), timeout_s=_GONE_S)
    eventually("the claims are gone", lambda: not kube.list("persistentvolumeclaims"), timeout_s=_GONE_S)
    kube.cluster.kubectl("delete", "persistentvolumes", "--all", "--wait=true")
    time.sleep(0.3)  # both schedulers hear of it by their own watches
