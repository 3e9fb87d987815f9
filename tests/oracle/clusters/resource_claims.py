"""Resource claims (devices), most of them allocated already."""

from __future__ import annotations

from tests.oracle.clusters.node_terms import READABLE, node_selector
from tests.oracle.clusters.vocabulary import Json, time_at
from tests.oracle.source import Source

_NAMES = ("device", "card")


def resource_claims(source: Source, namespace: str, *, nodes: int) -> list[Json]:
    return [_claim(source, name, namespace, nodes=nodes) for name in _NAMES if source.chance(85)]


def _claim(source: Source, name: str, namespace: str, *, nodes: int) -> Json:
    request = {"name": "one", "exactly": {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}}
    found: Json = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": namespace, "uid": f"claim-{namespace}-{name}"},
        "spec": {"devices": {"requests": [request]}},
    }
    if source.chance(92):
        result = {"request": "one", "driver": "dra.example.com", "pool": "p", "device": name}
        allocation: Json = {"devices": {"results": [result]}}
        if source.chance(80):
            allocation["nodeSelector"] = node_selector(source, nodes=nodes, numbers=READABLE)
            allocation["nodeSelector"]["nodeSelectorTerms"] = allocation["nodeSelector"]["nodeSelectorTerms"][:1]
        found["status"] = {"allocation": allocation}
        if source.chance(15):
            users = source.integer(1, 3)
            found["status"]["reservedFor"] = [
                {"resource": "pods", "name": f"user-{i}", "uid": f"user-{i}"} for i in range(users)
            ]
    if source.chance(4):
        found["metadata"] |= {
            "deletionTimestamp": time_at(30),
            "finalizers": ["resource.kubernetes.io/delete-protection"],
        }
    return found


def claim_resources(source: Source, pod: Json, *, nodes: int) -> list[Json]:
    """Adds to a pod what it claims, by name or by template; answers with the claims made from the template."""
    names = source.some((*_NAMES, "absent") if source.chance(6) else _NAMES, at_least=1, at_most=2)
    pod["spec"]["resourceClaims"] = [{"name": name, "resourceClaimName": name} for name in names]
    if not source.chance(25):
        return []
    pod["spec"]["resourceClaims"].append({"name": "made", "resourceClaimTemplateName": "template"})
    metadata = pod["metadata"]
    name = f"{metadata['name']}-made"
    if source.chance(10):
        # The template needed no claim after all.
        pod["status"]["resourceClaimStatuses"] = [{"name": "made"}]
        return []
    if source.chance(90):
        pod["status"]["resourceClaimStatuses"] = [{"name": "made", "resourceClaimName": name}]
    made = _claim(source, name, metadata["namespace"], nodes=nodes)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"], "controller": True}
    if source.chance(85):
        made["metadata"]["ownerReferences"] = [owner]
    return [made]
