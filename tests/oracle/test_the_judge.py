"""The judge says what is known of kube-scheduler, in small clusters whose verdict can be worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.oracle.judging import Judge, JudgeError

pytestmark = pytest.mark.slow

Json = dict[str, Any]


@pytest.fixture(scope="module")
def judging() -> Iterator[Judge]:
    with Judge() as judge:
        yield judge


def node(name: str = "n1", *, cpu: str = "1", zone: str = "a", **spec: Any) -> Json:
    labels = {"kubernetes.io/hostname": name, "zone": zone}
    allocatable = {"cpu": cpu, "memory": "4Gi", "pods": "110"}
    return _object("Node", name, "", labels=labels, spec=spec, status={"allocatable": allocatable})


def pod(
    name: str = "p", *, cpu: str = "", on: str = "", priority: int = 0, namespace: str = "default", **more: Any
) -> Json:
    labels, status, meta = more.pop("labels", {}), more.pop("status", {}), more.pop("meta", {})
    requests = {"requests": {"cpu": cpu}} if cpu else {}
    containers = [{"name": "main", "image": "image", "resources": requests}]
    spec = {"nodeName": on, "priority": priority, "containers": containers, **more}
    return _object("Pod", name, namespace, labels=labels, spec=spec, status=status, **meta)


def _object(kind: str, name: str, namespace: str, *, labels: Json, spec: Json, status: Json, **meta: Any) -> Json:
    metadata = {"name": name, "labels": labels, **({"namespace": namespace} if namespace else {}), **meta}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec, "status": status}


def the(verdicts: list[Json], name: str = "default/p") -> Json:
    return next(verdict for verdict in verdicts if verdict["pod"] == name)


def anti_affinity(app: str) -> Json:
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": app}}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def node_affinity(*expressions: Json) -> Json:
    terms = [{"matchExpressions": list(expressions)}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


ZONES = [node("a1", zone="a"), node("b1", zone="b"), node("c1", zone="c")]
APP = {"app": "x"}
SPREAD = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": APP},
}
TWO_ONE_NONE = [pod("e1", on="a1", labels=APP), pod("e2", on="a1", labels=APP), pod("e3", on="b1", labels=APP)]
PENDING_APP = pod(labels=APP, topologySpreadConstraints=[SPREAD])
ENDED = {"status": {"phase": "Succeeded"}}
TERMINATING = {"meta": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}


@pytest.mark.parametrize(
    ("items", "feasible"),
    [
        pytest.param([node(), pod("e", cpu="1", on="n1"), pod()], ["n1"], id="a full node takes pods without requests"),
        pytest.param([node(), pod("e", cpu="1", on="n1"), pod(cpu="1m")], [], id="a full node takes no more"),
        pytest.param(
            [node(), pod("e", cpu="1", on="n1", **ENDED), pod(cpu="1")], ["n1"], id="what has ended holds nothing"
        ),
        pytest.param(
            [node(), pod("e", cpu="1", on="n1", **TERMINATING), pod(cpu="1")], [], id="what is ending holds on"
        ),
        pytest.param([node(), pod("e", cpu="1", on="nowhere"), pod(cpu="1")], ["n1"], id="pods on nodes that are gone"),
        pytest.param(
            [node(), pod(affinity=node_affinity({"key": "no", "operator": "NotIn", "values": ["x"]}))],
            ["n1"],
            id="NotIn matches an absent label",
        ),
        pytest.param([node(), pod(affinity=node_affinity())], [], id="an empty term matches nothing"),
        pytest.param(
            [node(unschedulable=True), pod(tolerations=[{"operator": "Exists"}])],
            ["n1"],
            id="tolerating all is tolerating a cordon",
        ),
        pytest.param(
            [
                node(taints=[{"key": "a", "effect": "NoSchedule"}]),
                pod(tolerations=[{"key": "a", "operator": "Equal", "value": ""}]),
            ],
            ["n1"],
            id="an empty value is equal to an empty value",
        ),
        pytest.param([*ZONES, *TWO_ONE_NONE, PENDING_APP], ["c1"], id="spread 2-1-0 with maxSkew 1"),
        pytest.param(
            [*ZONES, pod("e", on="a1", labels=APP, affinity=anti_affinity("x")), pod(labels=APP)],
            ["b1", "c1"],
            id="anti-affinity of those who are there",
        ),
        pytest.param(
            [*ZONES, pod("e", on="a1", affinity=anti_affinity("x"), **ENDED), pod(labels=APP)],
            ["a1", "b1", "c1"],
            id="anti-affinity of those who have ended",
        ),
    ],
)
def test_feasible_nodes(judging: Judge, items: list[Json], feasible: list[str]) -> None:
    assert the(judging.judge(items))["feasible"] == feasible


@pytest.mark.parametrize(
    ("cpu", "code"),
    [
        pytest.param("1", "Unschedulable", id="more than is left"),
        pytest.param("1001m", "UnschedulableAndUnresolvable", id="more than there is"),
    ],
)
def test_whether_preemption_could_help_depends_on_the_size_of_the_node(judging: Judge, cpu: str, code: str) -> None:
    verdict = the(judging.judge([node(), pod("e", cpu="1", on="n1"), pod(cpu=cpu)]))
    assert verdict["nodes"] == {"n1": {"code": code, "reasons": ["Insufficient cpu"], "filter": "NodeResourcesFit"}}


def test_the_message_counts_reasons_and_lets_preemption_speak(judging: Judge) -> None:
    tainted = [node(name, taints=[{"key": "k", "effect": "NoSchedule"}]) for name in ("t1", "t2", "t3")]
    full = [node("n1"), node("n2"), pod("e1", cpu="1", on="n1"), pod("e2", cpu="1", on="n2")]
    verdict = the(judging.judge([*tainted, *full, pod(cpu="1")]))
    assert verdict["message"] == (
        "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had untolerated taint(s). "
        "no new claims to deallocate, preemption: 0/5 nodes are available: "
        "2 No preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling."
    )
    assert (verdict["reason"], verdict["nominating"]) == ("Unschedulable", "clear")


def test_without_nodes_there_is_a_sentence_of_its_own(judging: Judge) -> None:
    assert the(judging.judge([pod()]))["message"] == "no nodes available to schedule pods"


def test_a_claim_that_is_not_bound_refuses_the_pod_as_a_whole(judging: Judge) -> None:
    classes = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "now"},
        "provisioner": "p",
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default"},
        "spec": {
            "storageClassName": "now",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    verdict = the(judging.judge([node(), classes, claim, pod(volumes=[volume])]))
    sentence = "pod has unbound immediate PersistentVolumeClaims"
    assert verdict["preFilter"] == {
        "plugin": "VolumeBinding",
        "code": "UnschedulableAndUnresolvable",
        "message": sentence,
    }
    assert verdict["message"].startswith(f"0/1 nodes are available: {sentence}.")


def test_a_node_that_a_prefilter_left_out_names_the_plugin(judging: Judge) -> None:
    field = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [field]}}}
    verdict = the(judging.judge([node("n1"), node("n2"), pod(affinity=affinity)]))
    assert verdict["feasible"] == ["n1"]
    assert verdict["nodes"]["n2"]["reasons"] == ["node(s) didn't satisfy plugin(s) [NodeAffinity]"]


def test_the_least_important_of_those_that_suffice_are_the_victims(judging: Judge) -> None:
    there = [pod("small", cpu="400m", on="n1", priority=1), pod("other", cpu="400m", on="n1", priority=2)]
    verdict = the(judging.judge([node(), *there, pod(cpu="600m", priority=10)]))
    assert (verdict["nominatedNode"], verdict["victims"]) == ("n1", ["default/small"])
    assert verdict["nominating"] == "set"
    assert verdict["message"] == "0/1 nodes are available: 1 Insufficient cpu."


def test_a_choice_by_chance_shows_in_the_alternatives(judging: Judge) -> None:
    there = [pod("e1", cpu="1", on="n1"), pod("e2", cpu="1", on="n2")]
    verdict = the(judging.judge([node("n1"), node("n2"), *there, pod(cpu="1", priority=10)], runs=50))
    assert verdict["alternatives"] == [["n1", ["default/e1"]], ["n2", ["default/e2"]]]


def test_nominated_pods_hold_their_place_whoever_schedules_them(judging: Judge) -> None:
    nominated = pod("first", cpu="1", priority=10, status={"nominatedNodeName": "n1"}, schedulerName="another")
    assert the(judging.judge([node(), nominated, pod(cpu="1", priority=10)]))["feasible"] == []
    assert the(judging.judge([node(), nominated, pod(cpu="1", priority=11)]))["feasible"] == ["n1"]


def test_a_gated_pod_is_not_attempted(judging: Judge) -> None:
    verdict = the(judging.judge([node(), pod(schedulingGates=[{"name": "quota"}])]))
    assert verdict["gated"]
    assert verdict["preEnqueue"]["plugin"] == "SchedulingGates"
    assert verdict["message"] == ""


def test_scores_are_normalised_and_not_weighted(judging: Judge) -> None:
    soft = node("n2", taints=[{"key": "k", "effect": "PreferNoSchedule"}])
    assert the(judging.judge([node("n1"), soft, pod()]))["scores"]["TaintToleration"] == {"n1": 100, "n2": 0}


def test_nothing_is_left_of_the_cluster_before(judging: Judge) -> None:
    judging.judge([node(), *TWO_ONE_NONE, pod("first", cpu="1", priority=10, status={"nominatedNodeName": "n1"})])
    verdicts = judging.judge([node(), pod(cpu="1")])
    assert [(verdict["pod"], verdict["feasible"]) for verdict in verdicts] == [("default/p", ["n1"])]


def test_what_cannot_be_decoded_is_named_and_the_next_document_is_judged(judging: Judge) -> None:
    with pytest.raises(JudgeError, match=r"item 1 \(Pod default/p\): quantities must match"):
        judging.judge([node(), pod(cpu="much")])
    assert the(judging.judge([node(), pod(cpu="1")]))["feasible"] == ["n1"]


def test_a_judge_that_died_is_started_again(judging: Judge) -> None:
    judging.judge([node()])
    judging._process.kill()
    judging._process.wait()
    assert the(judging.judge([node(), pod()]))["feasible"] == ["n1"]


WAITING_CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "later"},
    "provisioner": "csi.example",
    "volumeBindingMode": "WaitForFirstConsumer",
}
WAITING_CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "default"},
    "spec": {
        "storageClassName": "later",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "2Gi"}},
    },
}
WITH_DATA = pod(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])


def _driver() -> Json:
    spec = {"storageCapacity": True}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "csi.example"}, "spec": spec}


def _capacity(zone: str, size: str) -> Json:
    meta = {"name": f"in-{zone}", "namespace": "kube-system"}
    topology = {"nodeTopology": {"matchLabels": {"zone": zone}}, "storageClassName": "later", "capacity": size}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": meta, **topology}


def _volume(zone: str) -> Json:
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]}
    spec = {
        "storageClassName": "later",
        "capacity": {"storage": "3Gi"},
        "accessModes": ["ReadWriteOnce"],
        "csi": {"driver": "csi.example", "volumeHandle": "h"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
    }
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "pv"},
        "spec": spec,
        "status": {"phase": "Available"},
    }


def test_a_volume_is_provisioned_where_there_is_room(judging: Judge) -> None:
    room = [_driver(), _capacity("a", "1Gi"), _capacity("b", "2Gi")]
    verdict = the(judging.judge([*ZONES, WAITING_CLASS, WAITING_CLAIM, *room, WITH_DATA]))
    assert verdict["feasible"] == ["b1"]
    assert verdict["nodes"]["a1"]["reasons"] == ["node(s) did not have enough free storage"]


def test_a_volume_that_is_there_is_taken_where_it_can_be_reached(judging: Judge) -> None:
    static = {**WAITING_CLASS, "provisioner": "kubernetes.io/no-provisioner"}
    verdict = the(judging.judge([*ZONES, static, WAITING_CLAIM, _volume("c"), WITH_DATA]))
    assert verdict["feasible"] == ["c1"]
    assert verdict["nodes"]["a1"]["reasons"] == ["node(s) didn't find available persistent volumes to bind"]


def test_an_allocated_resource_claim_is_followed(judging: Judge) -> None:
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "gpu", "namespace": "default"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}},
        "status": {"allocation": {"nodeSelector": {"nodeSelectorTerms": [term]}, "devices": {}}},
    }
    claims = [{"name": "gpu", "resourceClaimName": "gpu"}]
    verdict = the(judging.judge([*ZONES, claim, pod(resourceClaims=claims)]))
    assert verdict["feasible"] == ["b1"]
    assert verdict["nodes"]["a1"]["filter"] == "DynamicResources"
