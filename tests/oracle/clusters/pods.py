"""Pods, assigned and pending, with what the cluster's features let them ask for."""

from __future__ import annotations

from tests.oracle.clusters.amounts import overhead, pod_level
from tests.oracle.clusters.containers import containers
from tests.oracle.clusters.node_terms import node_affinity, plain_selector
from tests.oracle.clusters.pod_terms import pod_affinity, spread
from tests.oracle.clusters.surroundings import owner_of
from tests.oracle.clusters.taints import tolerations
from tests.oracle.clusters.vocabulary import NAMESPACES, POD_VALUES, SCHEDULER, Json, labels, time_at
from tests.oracle.clusters.volume_claims import pod_volumes
from tests.oracle.source import Source

_PRIORITIES = (0, 10, 100, -5, 2_000_000_001)


def pod(source: Source, name: str, features: frozenset[str], *, nodes: int, scheduler: str = SCHEDULER) -> Json:
    """A pod without a node; ``features`` are those of its cluster."""
    namespace = source.pick(NAMESPACES if source.chance(25) else NAMESPACES[:1])
    metadata: Json = {
        "name": name,
        "namespace": namespace,
        "uid": f"uid-{namespace}-{name}",
        "labels": labels(source, POD_VALUES),
        "creationTimestamp": time_at(source.integer(0, 50)),
    }
    if "owners" in features and source.chance(55):
        metadata["ownerReferences"] = [owner_of(source, namespace)]
    spec: Json = {
        "schedulerName": scheduler,
        "enableServiceLinks": True,
        **_priority(source, features, pending=name.startswith("p")),
    }
    spec |= _node_wishes(source, features, nodes=nodes)
    spec |= _pod_wishes(source, features, metadata["labels"])
    _contents(source, spec, features, namespace)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}


def _priority(source: Source, features: frozenset[str], *, pending: bool) -> Json:
    if "priorities" not in features:
        return {"priority": 0, "preemptionPolicy": "PreemptLowerPriority"}
    policy = "Never" if source.chance(10) else "PreemptLowerPriority"
    # Pods that are there are rather less important than pods that come.
    highest = len(_PRIORITIES) - 1
    rank = source.integer(0, highest) if pending else source.integer(0, source.integer(0, highest))
    return {"priority": sorted(_PRIORITIES)[rank], "preemptionPolicy": policy}


def _node_wishes(source: Source, features: frozenset[str], *, nodes: int) -> Json:
    wishes: Json = {}
    if "node-affinity" in features and source.chance(55):
        wishes["affinity"] = {"nodeAffinity": node_affinity(source, nodes=nodes)}
    if "node-affinity" in features and source.chance(20):
        wishes["nodeSelector"] = plain_selector(source)
    if "taints" in features and source.chance(55):
        wishes["tolerations"] = tolerations(source)
    return wishes


def _pod_wishes(source: Source, features: frozenset[str], said: dict[str, str]) -> Json:
    wishes: Json = {}
    if "spread" in features and source.chance(60):
        wishes["topologySpreadConstraints"] = spread(source, said)
    if "pod-affinity" in features and source.chance(60):
        wishes["affinity"] = pod_affinity(source, said)
    return wishes


def _contents(source: Source, spec: Json, features: frozenset[str], namespace: str) -> None:
    main, init = containers(source, features)
    spec["containers"] = main
    if init:
        spec["initContainers"] = init
    if "resources" in features and source.chance(12):
        spec["overhead"] = overhead(source)
    if "pod-level" in features and source.chance(35):
        spec["resources"] = pod_level(source)
    if "volumes" in features and source.chance(75):
        spec["volumes"] = pod_volumes(source, namespace)
    if "declared" in features and source.chance(40):
        _need_features(source, spec)


def _need_features(source: Source, spec: Json) -> None:
    if source.chance(60):
        spec |= {"hostNetwork": True, "hostUsers": source.chance(20)}
        for container in (*spec["containers"], *spec.get("initContainers", ())):
            for port in container.get("ports", ()):
                port["hostPort"] = port["containerPort"]
    else:
        rule = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}
        spec["containers"][0] |= {"restartPolicy": "Never", "restartPolicyRules": [rule]}
