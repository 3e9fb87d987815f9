"""What the end-to-end tests ask of the API server and create there, through kubectl."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from devcluster import DevCluster

Json = dict[str, Any]


def eventually(
    what: str,
    check: Callable[[], Any],
    *,
    timeout_s: float = 30,
    every_s: float = 0.25,
    instead: Callable[[], str] = lambda: "",
) -> Any:
    """The first true answer; fails with the sentence where there is none in time, and with what is there instead."""
    deadline_s = time.monotonic() + timeout_s
    while not (answer := check()):
        assert time.monotonic() < deadline_s, f"{what}: not within {timeout_s} s; {instead()}"
        time.sleep(every_s)
    return answer


class Kube:
    """One namespace of a cluster."""

    def __init__(self, cluster: DevCluster, namespace: str) -> None:
        self.cluster = cluster
        self.namespace = namespace

    def create(self, *manifests: Json) -> None:
        listed = {"apiVersion": "v1", "kind": "List", "items": list(manifests)}
        self.cluster.kubectl("create", "--namespace", self.namespace, "-f", "-", input=json.dumps(listed))

    def apply(self, manifest: Json) -> None:
        self.cluster.kubectl(
            "apply", "--server-side", "--force-conflicts", "--namespace", self.namespace, "-f", "-",
            input=json.dumps(manifest),
        )  # fmt: skip

    def delete(self, kind: str, *names: str) -> None:
        self.cluster.kubectl(
            "delete", kind, *names, "--namespace", self.namespace, "--wait=false", "--ignore-not-found"
        )

    def get(self, kind: str, name: str) -> Json:
        answer: Json = json.loads(self.cluster.kubectl("get", kind, name, "--namespace", self.namespace, "-o", "json"))
        return answer

    def list(self, kind: str, *flags: str) -> list[Json]:
        answer = self.cluster.kubectl("get", kind, "--namespace", self.namespace, "-o", "json", *flags)
        items: list[Json] = json.loads(answer)["items"]
        return items

    def pods(self, app: str) -> list[Json]:
        return self.list("pods", "-l", f"app={app}")

    def bound(self, app: str) -> list[Json]:
        return [p for p in self.pods(app) if p["spec"].get("nodeName")]

    def all_bound(self, app: str, count: int, *, timeout_s: float = 60) -> list[Json]:
        found: list[Json] = eventually(
            f"{count} pods of {app} are bound",
            lambda: (pods := self.bound(app)) if len(self.bound(app)) == count else None,
            timeout_s=timeout_s,
            every_s=0.5,
            instead=lambda: self._where(app),
        )
        return found

    def _where(self, app: str) -> str:
        """By node how many, and why the others wait."""
        pods = self.pods(app)
        bound = Counter(p["spec"]["nodeName"] for p in pods if p["spec"].get("nodeName"))
        told = {
            condition["message"]
            for p in pods
            if not p["spec"].get("nodeName")
            for condition in p.get("status", {}).get("conditions", ())
        }
        return f"{len(pods)} pods, by node {dict(bound)}; others: {sorted(told)}"

    def condition(self, pod: str) -> Json | None:
        conditions = self.get("pod", pod).get("status", {}).get("conditions", [])
        return next((c for c in conditions if c["type"] == "PodScheduled" and c["status"] == "False"), None)

    def events(self, name: str, reason: str) -> list[Json]:
        found = self.list("events.events.k8s.io")
        return [e for e in found if e["regarding"]["name"] == name and e["reason"] == reason]


def pod(
    name: str, *, app: str = "", cpu: str = "100m", memory: str = "64Mi", labels: Json | None = None, **spec: Any
) -> Json:
    container = {"name": "main", "image": "app", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": app or name, **(labels or {})}},
        "spec": {"schedulerName": "plimsoll", "containers": [container], **spec},
    }


def deployment(name: str, replicas: int, *, labels: Json | None = None, **requests: str) -> Json:
    template = pod(name, labels=labels, **requests)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": template["metadata"]["labels"]}, "spec": template["spec"]},
        },
    }


def policy(name: str, *, labels: Json, **spec: Any) -> Json:
    return {
        "apiVersion": "plimsoll.dev/v1alpha1",
        "kind": "SchedulingPolicy",
        "metadata": {"name": name},
        "spec": {"podSelector": {"matchLabels": labels}, **spec},
    }
