"""The same pods given to kube-scheduler and to Plimsoll, on the same nodes: same verdicts, same sentences.

Six nodes of 8 cpu and 32Gi in three zones: node-1 and node-4 in a, node-2 and node-5 in b, node-3 and node-6 in c.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.kube import Kube, eventually, pod
from tests.e2e.outcomes import by_both, settled

if TYPE_CHECKING:
    from devcluster import DevCluster
    from tests.e2e.operator_process import OperatorProcess

pytestmark = pytest.mark.cluster

Json = dict[str, Any]
Pods = Callable[[str], list[Json]]

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


def named(node: str, **spec: Any) -> Json:
    """Fields of a pod that may go to one node only, whatever else is said."""
    return {"nodeSelector": {HOSTNAME: node}, **spec}


def like(app: str) -> Json:
    return {"labelSelector": {"matchLabels": {"app": app}}}


def anti_affinity(app: str, key: str = HOSTNAME) -> Json:
    terms = [{"topologyKey": key, **like(app)}]
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


def affinity(app: str, key: str = ZONE) -> Json:
    terms = [{"topologyKey": key, **like(app)}]
    return {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


def spread(app: str, key: str = ZONE, **fields: Any) -> Json:
    constraint = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", **like(app), **fields}
    return {"topologySpreadConstraints": [constraint]}


def port(number: int) -> Json:
    return {"containers": [{"name": "main", "image": "app", "ports": [{"containerPort": number, "hostPort": number}]}]}


def claiming(*claims: str) -> Json:
    return {"volumes": [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": c}} for i, c in enumerate(claims)]}


def claim(name: str, **spec: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "",
            "resources": {"requests": {"storage": "1Gi"}},
            **spec,
        },
    }


def volume(name: str, *, node: str, **spec: Any) -> Json:
    expression = {"key": HOSTNAME, "operator": "In", "values": [node]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "local": {"path": "/data"},
            "persistentVolumeReclaimPolicy": "Retain",
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}},
            **spec,
        },
    }


SCENES: list[tuple[str, list[Json]]] = [
    ("NodeAffinity", [pod("here", **named("node-3")), pod("nowhere", nodeSelector={"disk": "fast"})]),
    ("NodeResourcesFit", [*(pod(f"big-{i}", cpu="7", **named(f"node-{i}")) for i in (1, 2)), pod("huge", cpu="100"),
                          pod("late", cpu="2", **named("node-1"))]),
    ("NodePorts", [pod("first", **named("node-2"), **port(8080)), pod("second", **named("node-2"), **port(8080))]),
    ("InterPodAffinity, required anti-affinity",
     [pod("a", app="x", **named("node-1"), **anti_affinity("x")), pod("b", app="x", **named("node-1"), **anti_affinity("x"))]),
    ("InterPodAffinity, anti-affinity of pods that are there",
     [pod("guard", app="guard", **named("node-1"), **anti_affinity("x")), pod("x", app="x", **named("node-1"))]),
    ("InterPodAffinity, required affinity",
     [pod("db", app="db", **named("node-2")), pod("near", app="near", **named("node-5"), **affinity("db")),
      pod("far", app="far", **named("node-3"), **affinity("db"))]),
    ("InterPodAffinity, nobody to be near to", [pod("lonely", **affinity("nobody"))]),
    ("PodTopologySpread",
     [pod("s1", app="s", **named("node-1"), **spread("s")), pod("s2", app="s", **named("node-4"), **spread("s"))]),
    ("PodTopologySpread, too few domains",
     [pod("m1", app="m", **named("node-1"), **spread("m", minDomains=4)),
      pod("m2", app="m", **named("node-4"), **spread("m", minDomains=4))]),
    ("PodTopologySpread, no such label", [pod("rack", app="r", **spread("r", "example.com/rack"))]),
    ("VolumeBinding, no such claim", [pod("missing", **claiming("nobody-made-it"))]),
    ("VolumeBinding, unbound and immediate", [claim("never", storageClassName="nobody"), pod("unbound", **claiming("never"))]),
]  # fmt: skip


@pytest.mark.parametrize("manifests", [pytest.param(m, id=i) for i, m in SCENES])
def test_both_schedulers_say_the_same(kube: Kube, operator: OperatorProcess, manifests: list[Json]) -> None:
    names = [m["metadata"]["name"] for m in manifests if m["kind"] == "Pod"]

    def play(scheduler: str) -> dict[str, str]:
        told: dict[str, str] = {}
        for manifest in manifests:
            kube.create(_of(manifest, scheduler))
            if manifest["kind"] == "Pod":  # one after the other, or their order would be chance
                told |= settled(kube, [manifest["metadata"]["name"]])
        return told

    upstream, ours = by_both(kube, play)
    assert list(upstream) == names
    assert ours == upstream


def test_a_bound_volume_draws_its_pod_to_its_node(kube: Kube, operator: OperatorProcess) -> None:
    def play(scheduler: str) -> dict[str, str]:
        kube.create(volume("disk", node="node-5"), claim("data", volumeName="disk"))
        eventually("the claim is bound", lambda: kube.get("pvc", "data")["status"].get("phase") == "Bound")
        kube.create(_of(pod("drawn", **claiming("data")), scheduler))
        kube.create(_of(pod("torn", **named("node-1"), **claiming("data")), scheduler))
        return settled(kube, ["drawn", "torn"])

    upstream, ours = by_both(kube, play)
    assert upstream["drawn"] == "on node-5"
    assert ours == upstream


def test_a_read_write_once_pod_claim_has_one_user(kube: Kube, operator: OperatorProcess) -> None:
    def play(scheduler: str) -> dict[str, str]:
        mode = {"accessModes": ["ReadWriteOncePod"]}
        kube.create(volume("disk", node="node-5", **mode), claim("data", volumeName="disk", **mode))
        eventually("the claim is bound", lambda: kube.get("pvc", "data")["status"].get("phase") == "Bound")
        kube.create(_of(pod("first", **claiming("data")), scheduler))
        settled(kube, ["first"])
        kube.create(_of(pod("second", **claiming("data")), scheduler))
        return settled(kube, ["first", "second"])

    upstream, ours = by_both(kube, play)
    assert ours == upstream


def test_a_claim_that_waits_for_its_first_consumer_is_provisioned_where_the_pod_goes(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster
) -> None:
    cluster.kubectl("apply", "-f", "-", input=_LATE_CLASS)

    def play(scheduler: str) -> tuple[str, str]:
        kube.create(claim("late", storageClassName="late"))
        kube.create(_of(pod("consumer", **named("node-6"), **claiming("late")), scheduler))
        chosen = eventually("a node is chosen", lambda: _selected_node(kube, "late"))
        assert not kube.get("pod", "consumer")["spec"].get("nodeName"), "it was bound before its volume was there"
        reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": "late", "namespace": kube.namespace}
        kube.create(volume("made", node=chosen, storageClassName="late", claimRef=reference))
        return chosen, settled(kube, ["consumer"])["consumer"]

    upstream, ours = by_both(kube, play)
    assert upstream == ("node-6", "on node-6")
    assert ours == upstream


def test_volumes_that_are_there_are_matched_to_claims_that_wait(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster
) -> None:
    cluster.kubectl("apply", "-f", "-", input=_LOCAL_CLASS)

    def play(scheduler: str) -> dict[str, str]:
        kube.create(volume("local-2", node="node-2", storageClassName="local"))
        eventually("the volume is there", lambda: _phase(cluster, "local-2") == "Available")
        kube.create(claim("one", storageClassName="local"), claim("two", storageClassName="local"))
        kube.create(_of(pod("first", **claiming("one")), scheduler))
        told = settled(kube, ["first"])
        kube.create(_of(pod("second", **claiming("two")), scheduler))
        return told | settled(kube, ["second"])

    upstream, ours = by_both(kube, play)
    assert upstream["first"] == "on node-2"
    assert ours == upstream


def test_a_gated_pod_is_placed_once_its_gate_is_removed(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster
) -> None:
    def play(scheduler: str) -> list[str]:
        kube.create(_of(pod("gated", **named("node-2"), schedulingGates=[{"name": "example.com/quota"}]), scheduler))
        before = settled(kube, ["gated"])["gated"]
        cluster.kubectl(
            "patch", "pod", "gated", "-n", kube.namespace, "--type=json",
            "-p", '[{"op": "remove", "path": "/spec/schedulingGates"}]',
        )  # fmt: skip
        eventually("it is bound", lambda: kube.get("pod", "gated")["spec"].get("nodeName"))
        return [before, settled(kube, ["gated"])["gated"]]

    upstream, ours = by_both(kube, play)
    assert upstream[1] == "on node-2"
    assert ours == upstream


def _of(manifest: Json, scheduler: str) -> Json:
    if manifest["kind"] != "Pod":
        return manifest
    return manifest | {"spec": manifest["spec"] | {"schedulerName": scheduler}}


def _selected_node(kube: Kube, name: str) -> str:
    annotations = kube.get("pvc", name)["metadata"].get("annotations", {})
    return str(annotations.get("volume.kubernetes.io/selected-node", ""))


def _phase(cluster: DevCluster, name: str) -> str:
    return cluster.kubectl("get", "pv", name, "-o", "jsonpath={.status.phase}")


_LATE_CLASS = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: late}
provisioner: example.com/stand-in
volumeBindingMode: WaitForFirstConsumer
"""
_LOCAL_CLASS = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
"""
