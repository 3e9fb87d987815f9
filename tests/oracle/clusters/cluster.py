"""A whole random cluster, dense in conflicts: few words, and only some features at a time, so that these meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.oracle.clusters.nodes import node
from tests.oracle.clusters.odd import odd_objects
from tests.oracle.clusters.pods import pod
from tests.oracle.clusters.resizes import resize
from tests.oracle.clusters.resource_claims import claim_resources, resource_claims
from tests.oracle.clusters.storage import CLASSES, attachment, classes_and_drivers, csi_node, volume
from tests.oracle.clusters.surroundings import budgets, namespaces, owners
from tests.oracle.clusters.vocabulary import NAMESPACES, SCHEDULER, Json, node_name, time_at
from tests.oracle.clusters.volume_claims import CLAIM_NAMES, claim, ephemeral_claim, named
from tests.oracle.source import Source

FEATURES = (
    "resources",
    "priorities",
    "taints",
    "node-affinity",
    "ports",
    "sidecars",
    "pod-level",
    "resizes",
    "spread",
    "pod-affinity",
    "volumes",
    "claims",
    "declared",
    "owners",
    "images",
)
# What can go wrong in many ways is drawn more often.
_DRAWN = (*FEATURES[2:], "volumes", "volumes", "volumes", "spread", "pod-affinity", "node-affinity")
# What preemption needs: reasons that go away with pods, and pods that are less important.
_USUAL = ("resources", "priorities")


def cluster(source: Source, *, usual_percent: int = 60, crowded_percent: int = 25) -> list[Json]:
    """The items of a List; one to five pods are pending.

    Args:
        usual_percent: how often resources, and how often priorities, are among the features.
    """
    features = frozenset(source.some(_DRAWN, at_least=1, at_most=3))
    features |= {usual for usual in _USUAL if source.chance(usual_percent)}
    if source.chance(crowded_percent):
        features |= {*_USUAL, "crowded"}
    items = list(_items(source, features))
    if source.chance(1):
        return [item for item in items if item["kind"] != "Node"]
    return items


def _items(source: Source, features: frozenset[str]) -> Iterator[Json]:
    nodes = source.integer(1, 4 if "crowded" in features else 6)
    yield from (node(source, i, features) for i in range(nodes))
    yield from namespaces(source)
    if "owners" in features:
        yield from owners(source)
    pods = [*_assigned(source, features, nodes), *_pending(source, features, nodes)]
    odd = [*odd_objects(source, nodes=nodes)] if source.chance(6) else []
    _end_port_conflicts([*pods, *(item for item in odd if item["kind"] == "Pod")])
    claims = [*_claims(source, nodes, pods)] if "claims" in features else []
    _end_gated_nominations(pods, claims)
    yield from pods
    yield from claims
    if "priorities" in features:
        yield from budgets(source, _names(pods))
    yield from odd
    if "volumes" in features:
        yield from _storage(source, nodes, pods)


def _assigned(source: Source, features: frozenset[str], nodes: int) -> Iterator[Json]:
    for i in source.times(2 * nodes if "crowded" in features else 0, (4 if "crowded" in features else 3) * nodes):
        scheduler = SCHEDULER if source.chance(80) else "other"
        found = pod(source, f"a{i}", features, nodes=nodes, scheduler=scheduler)
        found["spec"]["nodeName"] = node_name(source.integer(0, nodes if source.chance(5) else nodes - 1))
        found["status"] = {"phase": "Running", "startTime": time_at(source.integer(51, 99))}
        if source.chance(7):
            found["status"]["phase"] = source.pick(("Succeeded", "Failed"))
        elif source.chance(6):
            found["status"] = {"phase": "Pending"}  # its kubelet has not seen it yet
        if source.chance(25 if "crowded" in features else 8):
            found["metadata"] |= {"deletionTimestamp": time_at(100), "deletionGracePeriodSeconds": 30}
        if found["metadata"].get("deletionTimestamp") and source.chance(65):
            reason = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
            found["status"]["conditions"] = [reason]
        if "resizes" in features and source.chance(55):
            resize(source, found)
        yield found


def _pending(source: Source, features: frozenset[str], nodes: int) -> Iterator[Json]:
    for i in source.times(1, 5):
        found = pod(source, f"p{i}", features, nodes=nodes)
        if "priorities" in features and source.chance(25 if "crowded" in features else 12):
            found["status"]["nominatedNodeName"] = node_name(
                source.integer(0, nodes if source.chance(5) else nodes - 1)
            )
        elif source.chance(2):
            found["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]
        yield found


def _names(pods: list[Json]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for item in pods:
        found.setdefault(item["metadata"]["namespace"], []).append(item["metadata"]["name"])
    return found


def _claims(source: Source, nodes: int, pods: list[Json]) -> Iterator[Json]:
    for namespace in NAMESPACES:
        yield from resource_claims(source, namespace, nodes=nodes)
    for item in pods:
        if "nodeName" not in item["spec"] and source.chance(70):
            yield from claim_resources(source, item, nodes=nodes)


def _end_port_conflicts(pods: list[Json]) -> None:
    """Of pods on one node that want the same port of it, the later ones would not have come there."""
    taken: set[tuple[str, str, str, int]] = set()
    for item in pods:
        spec = item["spec"]
        for container in (*spec["containers"], *spec.get("initContainers", ())):
            for port in [p for p in container.get("ports", ()) if "nodeName" in spec and "hostPort" in p]:
                wanted = (spec["nodeName"], port["protocol"], port.get("hostIP", "0.0.0.0"), port["hostPort"])
                if wanted in taken:
                    container["ports"].remove(port)
                taken.add(wanted)


def _end_gated_nominations(pods: list[Json], claims: list[Json]) -> None:
    """A pod that waits for a claim to be made was never tried, so no room was made for it."""
    made = {(c["metadata"]["namespace"], c["metadata"]["name"]) for c in claims if not _odd(c)}
    for item in pods:
        statuses = {s["name"]: s.get("resourceClaimName") for s in item["status"].get("resourceClaimStatuses", ())}
        for needed in item["spec"].get("resourceClaims", ()):
            name = needed.get("resourceClaimName", statuses.get(needed["name"], "not made yet"))
            if name is not None and (item["metadata"]["namespace"], name) not in made:
                item["status"].pop("nominatedNodeName", None)


def _odd(claim: Json) -> bool:
    """Being deleted, or made from a template by somebody else: its pod is not tried either."""
    metadata = claim["metadata"]
    return "deletionTimestamp" in metadata or ("-made" in metadata["name"] and "ownerReferences" not in metadata)


def _storage(source: Source, nodes: int, pods: list[Json]) -> Iterator[Json]:
    volumes: dict[str, Json] = {}
    for i in source.times(0, 4):
        volumes[f"free-{i}"] = volume(
            source, f"free-{i}", nodes=nodes, storage_class=source.pick(("local", *CLASSES, ""))
        )
    claims = [
        claim(source, named(name, namespace), namespace, nodes=nodes, volumes=volumes)
        for namespace in NAMESPACES[: 1 + source.chance(30)]
        for name in CLAIM_NAMES
        if source.chance(92)
    ]
    for item in pods:
        claims.extend(
            ephemeral_claim(source, item, pod_volume, nodes=nodes, volumes=volumes)
            for pod_volume in item["spec"].get("volumes", ())
            if "ephemeral" in pod_volume and source.chance(85)
        )
    _leave_single_users(claims, pods)
    yield from classes_and_drivers(source)
    yield from (csi_node(source, node_name(i)) for i in range(nodes) if source.chance(85))
    yield from volumes.values()
    yield from claims
    for i in source.times(0, 2):
        yield attachment(source, i, nodes=nodes, volumes=sorted(volumes))


def _leave_single_users(claims: list[Json], pods: list[Json]) -> None:
    """Of a claim for one pod alone no more than one pod was let onto a node."""
    users = Counter(
        (item["metadata"]["namespace"], pod_volume["persistentVolumeClaim"]["claimName"])
        for item in pods
        if "nodeName" in item["spec"]
        for pod_volume in item["spec"].get("volumes", ())
        if "persistentVolumeClaim" in pod_volume
    )
    for found in claims:
        if users[found["metadata"]["namespace"], found["metadata"]["name"]] > 1:
            modes = found["spec"]["accessModes"]
            modes[:] = ["ReadWriteOnce" if mode == "ReadWriteOncePod" else mode for mode in modes]
