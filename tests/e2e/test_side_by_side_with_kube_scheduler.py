"""The same pods given to kube-scheduler and to Plimsoll, on the same nodes: same verdicts, same sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.kube import Kube, eventually, pod
from tests.e2e.outcomes import bind, by_both, settled
from tests.e2e.scenes import (
    HOSTNAME,
    ZONE,
    claim,
    claiming,
    csi_driver,
    csi_node,
    csi_volume,
    named,
    of,
    storage_class,
    volume,
)

if TYPE_CHECKING:
    from devcluster import DevCluster
    from tests.e2e.operator_process import OperatorProcess

pytestmark = pytest.mark.cluster

Json = dict[str, Any]
Pods = Callable[[str], list[Json]]


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


def disk() -> Json:
    return {"volumes": [{"name": "d", "gcePersistentDisk": {"pdName": "one"}}]}


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
    ("NodeResourcesFit, pod-level resources",
     [pod("level", resources={"requests": {"cpu": "100"}, "limits": {"cpu": "100"}})]),
    ("VolumeRestrictions, a disk of one node", [pod("d1", **named("node-2"), **disk()), pod("d2", **named("node-2"), **disk())]),
    ("VolumeBinding, no such claim", [pod("missing", **claiming("nobody-made-it"))]),
    ("VolumeBinding, unbound and immediate", [claim("never", storageClassName="nobody"), pod("unbound", **claiming("never"))]),
]  # fmt: skip


@pytest.mark.parametrize("manifests", [pytest.param(m, id=i) for i, m in SCENES])
def test_both_schedulers_say_the_same(kube: Kube, operator: OperatorProcess, manifests: list[Json]) -> None:
    names = [m["metadata"]["name"] for m in manifests if m["kind"] == "Pod"]

    def play(scheduler: str) -> dict[str, str]:
        told: dict[str, str] = {}
        for manifest in manifests:
            kube.create(of(manifest, scheduler))
            if manifest["kind"] == "Pod":  # one after the other, or their order would be chance
                told |= settled(kube, [manifest["metadata"]["name"]])
        return told

    upstream, ours = by_both(kube, play)
    assert list(upstream) == names
    assert ours == upstream


def test_cordons_and_taints_keep_pods_away_unless_they_tolerate_them(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster
) -> None:
    cluster.kubectl("cordon", "node-1")
    cluster.kubectl("taint", "nodes", "node-2", "dedicated=db:NoSchedule")
    cordon = [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}]
    dedicated = [{"key": "dedicated", "operator": "Equal", "value": "db"}]

    def play(scheduler: str) -> dict[str, str]:
        pods = [
            pod("cordoned", **named("node-1")), pod("agent", **named("node-1", tolerations=cordon)),
            pod("tainted", **named("node-2")), pod("db", **named("node-2", tolerations=dedicated)),
        ]  # fmt: skip
        kube.create(*(of(p, scheduler) for p in pods))
        return settled(kube, [p["metadata"]["name"] for p in pods])

    try:
        upstream, ours = by_both(kube, play)
    finally:
        cluster.kubectl("taint", "nodes", "node-2", "dedicated-")
    assert (upstream["agent"], upstream["db"]) == ("on node-1", "on node-2")
    assert ours == upstream


def test_a_node_takes_so_many_volumes_as_its_driver_can_attach(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster
) -> None:
    kube.apply(csi_node("node-1", limit=1))

    def play(scheduler: str) -> dict[str, str]:
        for name in ("one", "two"):
            bind(kube, csi_volume(name), claim(name, volumeName=name))
        told = {}
        for name in ("one", "two"):
            kube.create(of(pod(name, **named("node-1"), **claiming(name)), scheduler))
            told |= settled(kube, [name])
        return told

    try:
        upstream, ours = by_both(kube, play)
    finally:
        cluster.kubectl("delete", "csinode", "node-1")
    assert "node(s) exceed max volume count" in upstream["two"]
    assert ours == upstream


def test_a_volume_of_a_zone_keeps_its_pod_in_the_zone(kube: Kube, operator: OperatorProcess) -> None:
    def play(scheduler: str) -> dict[str, str]:
        disk_of_b = volume("zonal", labels={ZONE: "b"}, csi={"driver": "example.com", "volumeHandle": "zonal"})
        bind(kube, disk_of_b, claim("zonal", volumeName="zonal"))
        kube.create(of(pod("there", **named("node-2"), **claiming("zonal")), scheduler))
        kube.create(of(pod("elsewhere", **named("node-1"), **claiming("zonal")), scheduler))
        return settled(kube, ["there", "elsewhere"])

    upstream, ours = by_both(kube, play)
    assert upstream["there"] == "on node-2"
    assert ours == upstream


def test_a_driver_that_reports_no_capacity_has_none(kube: Kube, operator: OperatorProcess, cluster: DevCluster) -> None:
    kube.apply(csi_driver(storage_capacity=True))
    kube.apply(storage_class("tracked", "example.com"))

    def play(scheduler: str) -> dict[str, str]:
        kube.create(claim("wants", storageClassName="tracked"))
        kube.create(of(pod("hopeful", **claiming("wants")), scheduler))
        return settled(kube, ["hopeful"])

    try:
        upstream, ours = by_both(kube, play)
    finally:
        cluster.kubectl("delete", "csidriver", "example.com")
    assert "did not have enough free storage" in upstream["hopeful"]
    assert ours == upstream


def test_a_bound_volume_draws_its_pod_to_its_node(kube: Kube, operator: OperatorProcess) -> None:
    def play(scheduler: str) -> dict[str, str]:
        bind(kube, volume("disk", node="node-5"), claim("data", volumeName="disk"))
        kube.create(of(pod("drawn", **claiming("data")), scheduler))
        kube.create(of(pod("torn", **named("node-1"), **claiming("data")), scheduler))
        return settled(kube, ["drawn", "torn"])

    upstream, ours = by_both(kube, play)
    assert upstream["drawn"] == "on node-5"
    assert ours == upstream


def test_a_read_write_once_pod_claim_has_one_user(kube: Kube, operator: OperatorProcess) -> None:
    def play(scheduler: str) -> dict[str, str]:
        mode = {"accessModes": ["ReadWriteOncePod"]}
        bind(kube, volume("disk", node="node-5", **mode), claim("data", volumeName="disk", **mode))
        kube.create(of(pod("first", **claiming("data")), scheduler))
        settled(kube, ["first"])
        kube.create(of(pod("second", **claiming("data")), scheduler))
        return settled(kube, ["first", "second"])

    upstream, ours = by_both(kube, play)
    assert ours == upstream


def test_a_claim_that_waits_for_its_first_consumer_is_provisioned_where_the_pod_goes(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster
) -> None:
    kube.apply(storage_class("late", "example.com/stand-in"))

    def play(scheduler: str) -> tuple[str, str]:
        kube.create(claim("late", storageClassName="late"))
        kube.create(of(pod("consumer", **named("node-6"), **claiming("late")), scheduler))
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
    kube.apply(storage_class("local", "kubernetes.io/no-provisioner"))

    def play(scheduler: str) -> dict[str, str]:
        kube.create(volume("local-2", node="node-2", storageClassName="local"))
        eventually("the volume is there", lambda: _phase(cluster, "local-2") == "Available")
        kube.create(claim("one", storageClassName="local"), claim("two", storageClassName="local"))
        kube.create(of(pod("first", **claiming("one")), scheduler))
        told = settled(kube, ["first"])
        kube.create(of(pod("second", **claiming("two")), scheduler))
        return told | settled(kube, ["second"])

    upstream, ours = by_both(kube, play)
    assert upstream["first"] == "on node-2"
    assert ours == upstream


def test_a_gated_pod_is_placed_once_its_gate_is_removed(
    kube: Kube, operator: OperatorProcess, cluster: DevCluster
) -> None:
    def play(scheduler: str) -> list[str]:
        kube.create(of(pod("gated", **named("node-2"), schedulingGates=[{"name": "example.com/quota"}]), scheduler))
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


def _selected_node(kube: Kube, name: str) -> str:
    annotations = kube.get("pvc", name)["metadata"].get("annotations", {})
    return str(annotations.get("volume.kubernetes.io/selected-node", ""))


def _phase(cluster: DevCluster, name: str) -> str:
    return cluster.kubectl("get", "pv", name, "-o", "jsonpath={.status.phase}")
