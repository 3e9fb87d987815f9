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
            {"tolerations": [{"operator": "Exists"}, {"key": "cores", "operator": "Lt", "value": "3"}]},
            ["spec.tolerations[1].operator (Lt)"],
            id="an unknown toleration operator",
        ),
        pytest.param({"schedulingGroup": {"podGroupName": "g"}}, ["spec.schedulingGroup"], id="a scheduling group"),
        pytest.param({"workloadRef": {"name": "w"}}, ["spec.workloadRef"], id="a workload reference"),
        pytest.param(
            {"workloadRef": {"name": "w"}, "tolerations": [{"operator": "Gt"}]},
            ["spec.tolerations[0].operator (Gt)", "spec.workloadRef"],
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
        pytest.param({"topologySpreadConstraints": [{"whenUnsatisfiable": "DoNotSchedule"}]}, id="a hard spread"),
        pytest.param({"topologySpreadConstraints": [{"whenUnsatisfiable": "ScheduleAnyway"}]}, id="a soft spread"),
        pytest.param({"affinity": {"podAffinity": {REQUIRED: [{"topologyKey": "z"}]}}}, id="required pod affinity"),
        pytest.param({"affinity": {"podAntiAffinity": {REQUIRED: [{"topologyKey": "z"}]}}}, id="required anti-affinity"),
        pytest.param({"affinity": {"podAffinity": {PREFERRED: [{"weight": 1}]}}}, id="preferred pod affinity"),
        pytest.param({"affinity": {"podAffinity": {REQUIRED: []}, "podAntiAffinity": None}}, id="empty affinities"),
        pytest.param({"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}}}}, id="node affinity"),
        pytest.param({"tolerations": [{"key": "a"}, {"key": "a", "operator": "Equal"}]}, id="known operators"),
        pytest.param({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}, id="a claim"),
        pytest.param({"volumes": [{"name": "v", "rbd": {}}, {"name": "w", "iscsi": {}}]}, id="inline disks"),
        pytest.param({"volumes": [{"name": "v", "ephemeral": {}}]}, id="a generic ephemeral volume"),
        pytest.param({"resourceClaims": [{"name": "gpu", "resourceClaimName": "g"}]}, id="resource claims"),
        pytest.param({"hostNetwork": True, "hostUsers": False}, id="user namespaces on the host's network"),
        pytest.param({"resourceClaims": [], "schedulingGroup": None, "volumes": None}, id="empty fields"),
        pytest.param(
            {"containers": [container(restartPolicyRules=[{"action": "RestartAllContainers"}])]}, id="restart of all"
        ),
    ],
)  # fmt: skip
def test_what_cannot_restrict_the_choice_is_not(spec: dict[str, Any]) -> None:
    assert make_pod().spec(**spec).info().unsupported == ()
