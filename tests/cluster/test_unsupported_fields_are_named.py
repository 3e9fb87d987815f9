from __future__ import annotations

from typing import Any

import pytest

from tests.builders import make_pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def container(**fields: Any) -> dict[str, Any]:
    return {"name": "main", **fields}


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param(
            {"volumes": [{"emptyDir": {}}, {"persistentVolumeClaim": {"claimName": "a"}}]},
            ["spec.volumes[1].persistentVolumeClaim"],
            id="a claim",
        ),
        pytest.param({"volumes": [{"ephemeral": {}}]}, ["spec.volumes[0].ephemeral"], id="a generic ephemeral volume"),
        pytest.param(
            {"volumes": [{"gcePersistentDisk": {}}, {"iscsi": {}}]},
            ["spec.volumes[0].gcePersistentDisk", "spec.volumes[1].iscsi"],
            id="disks of the tree",
        ),
        pytest.param(
            {
                "topologySpreadConstraints": [
                    {"whenUnsatisfiable": "ScheduleAnyway"},
                    {"whenUnsatisfiable": "DoNotSchedule"},
                ]
            },
            ["spec.topologySpreadConstraints[1] (whenUnsatisfiable: DoNotSchedule)"],
            id="a hard spread constraint",
        ),
        pytest.param(
            {"affinity": {"podAffinity": {REQUIRED: [{"topologyKey": "z"}]}}},
            [f"spec.affinity.podAffinity.{REQUIRED}"],
            id="required pod affinity",
        ),
        pytest.param(
            {"affinity": {"podAntiAffinity": {REQUIRED: [{"topologyKey": "z"}]}}},
            [f"spec.affinity.podAntiAffinity.{REQUIRED}"],
            id="required pod anti-affinity",
        ),
        pytest.param(
            {"tolerations": [{"operator": "Exists"}, {"key": "cores", "operator": "Lt", "value": "3"}]},
            ["spec.tolerations[1].operator (Lt)"],
            id="an unknown toleration operator",
        ),
        pytest.param({"resourceClaims": [{"name": "gpu"}]}, ["spec.resourceClaims"], id="resource claims"),
        pytest.param({"schedulingGroup": {"podGroupName": "g"}}, ["spec.schedulingGroup"], id="a scheduling group"),
        pytest.param({"workloadRef": {"name": "w"}}, ["spec.workloadRef"], id="a workload reference"),
        pytest.param(
            {"hostNetwork": True, "hostUsers": False},
            ["spec.hostUsers (false with hostNetwork)"],
            id="user namespaces on the host's network",
        ),
        pytest.param(
            {"initContainers": [container(), container(restartPolicyRules=[{"action": "RestartAllContainers"}])]},
            ["spec.initContainers[1].restartPolicyRules (RestartAllContainers)"],
            id="restart of all containers",
        ),
        pytest.param(
            {"resourceClaims": [{"name": "gpu"}], "volumes": [{"rbd": {}}]},
            ["spec.volumes[0].rbd", "spec.resourceClaims"],
            id="several",
        ),
    ],
)
def test_a_hard_constraint_that_is_not_honoured_is_named(spec: dict[str, Any], want: list[str]) -> None:
    assert list(make_pod().spec(**spec).info().unsupported) == want


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({}, id="an ordinary pod"),
        pytest.param(
            {"volumes": [{k: {}} for k in ("emptyDir", "configMap", "secret", "projected", "hostPath", "csi", "nfs", "image")]},
            id="volumes that mount anywhere",
        ),
        pytest.param({"topologySpreadConstraints": [{"whenUnsatisfiable": "ScheduleAnyway"}]}, id="a soft spread"),
        pytest.param({"affinity": {"podAffinity": {PREFERRED: [{"weight": 1}]}}}, id="preferred pod affinity"),
        pytest.param({"affinity": {"podAffinity": {REQUIRED: []}, "podAntiAffinity": None}}, id="empty affinities"),
        pytest.param({"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}}}}, id="node affinity"),
        pytest.param({"tolerations": [{"key": "a"}, {"key": "a", "operator": "Equal"}]}, id="known operators"),
        pytest.param({"hostNetwork": True}, id="the host's network"),
        pytest.param({"hostUsers": False}, id="user namespaces"),
        pytest.param({"resourceClaims": [], "schedulingGroup": None, "volumes": None}, id="empty fields"),
        pytest.param({"containers": [container(restartPolicyRules=[{"action": "Restart"}])]}, id="restart of one"),
    ],
)  # fmt: skip
def test_what_cannot_restrict_the_choice_is_not(spec: dict[str, Any]) -> None:
    assert make_pod().spec(**spec).info().unsupported == ()
