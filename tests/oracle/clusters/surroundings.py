"""What stands beside nodes, pods and storage: namespaces, services and controllers, disruption budgets."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.clusters.vocabulary import (
    NAMESPACE_LABELS,
    NAMESPACES,
    POD_VALUES,
    Json,
    label_selector,
    labels,
    time_at,
)
from tests.oracle.source import Source


def namespaces(source: Source) -> Iterator[Json]:
    """Now and then one is not among the items: nothing is known of its labels."""
    for name in (name for name in NAMESPACES if source.chance(96)):
        said = {"kubernetes.io/metadata.name": name} | labels(source, NAMESPACE_LABELS)
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": said}}


def budgets(source: Source, pod_names: dict[str, list[str]]) -> Iterator[Json]:
    for i in source.times(0, 3):
        namespace = source.pick(NAMESPACES[:2])
        status: Json = {
            "disruptionsAllowed": source.pick((0, 0, 1, 2)),
            "expectedPods": 3,
            "currentHealthy": 3,
            "desiredHealthy": 2,
        }
        if pod_names.get(namespace) and source.chance(20):
            status["disruptedPods"] = {source.pick(pod_names[namespace]): time_at(40)}
        yield {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": f"pdb-{i}", "namespace": namespace},
            "spec": {"maxUnavailable": 1, "selector": label_selector(source, POD_VALUES)},
            "status": status,
        }


def owners(source: Source) -> Iterator[Json]:
    """Services and controllers: pods without spread constraints are spread by what selects them."""
    for namespace in NAMESPACES[:2]:
        if source.chance(70):
            selector = labels(source, POD_VALUES, percent=60)
            yield _named("v1", "Service", namespace, {"selector": selector} if selector else {})
        template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "app"}]}}
        if source.chance(70):
            spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
            yield _named("apps/v1", "ReplicaSet", namespace, spec)
        if source.chance(30):
            spec = {"selector": label_selector(source, POD_VALUES), "template": template, "serviceName": ""}
            yield _named("apps/v1", "StatefulSet", namespace, spec)
        if source.chance(20):
            yield _named("v1", "ReplicationController", namespace, {"selector": {"app": "db"}, "template": template})


def _named(version: str, kind: str, namespace: str, spec: Json) -> Json:
    metadata = {"name": "own", "namespace": namespace, "uid": f"{kind}-{namespace}"}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def owner_of(source: Source, namespace: str) -> Json:
    version, kind = source.pick(
        (("apps/v1", "ReplicaSet"), ("apps/v1", "StatefulSet"), ("v1", "ReplicationController"), ("batch/v1", "Job"))
    )
    return {"apiVersion": version, "kind": kind, "name": "own", "uid": f"{kind}-{namespace}", "controller": True}
