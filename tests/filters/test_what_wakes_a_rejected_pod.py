from __future__ import annotations

import pytest

from plimsoll.cluster.changes import ChangeKind as Kind
from plimsoll.filters.order import wakes_of

KINDS = list(Kind)
WAKES = {
    "NodeUnschedulable": Kind.NODE_ADDED | Kind.NODE_SCHEDULABLE,
    "NodeName": Kind.NODE_ADDED,
    "TaintToleration": Kind.NODE_ADDED | Kind.NODE_TAINTS,
    "NodeAffinity": Kind.NODE_ADDED | Kind.NODE_LABELS,
    "NodePorts": Kind.NODE_ADDED | Kind.POD_DELETED | Kind.NOMINATION_ENDED,
    "NodeResourcesFit": Kind.NODE_ADDED
    | Kind.NODE_ALLOCATABLE
    | Kind.POD_DELETED
    | Kind.POD_SHRUNK
    | Kind.NOMINATION_ENDED,
    "VolumeRestrictions": Kind.NODE_ADDED | Kind.POD_DELETED | Kind.NOMINATION_ENDED | Kind.CLAIM,
    "NodeVolumeLimits": Kind.NODE_ADDED
    | Kind.CSI_NODE
    | Kind.POD_DELETED
    | Kind.NOMINATION_ENDED
    | Kind.CLAIM
    | Kind.VOLUME_ATTACHMENT_DELETED,
    "VolumeZone": Kind.STORAGE_CLASS | Kind.NODE_ADDED | Kind.NODE_LABELS | Kind.CLAIM | Kind.VOLUME,
    "DynamicResources": Kind.RESOURCE_CLAIM | Kind.NODE_ADDED | Kind.NODE_LABELS,
    "NodeDeclaredFeatures": Kind.NODE_ADDED | Kind.NODE_FEATURES,
    "SchedulingPolicyNodes": Kind.NODE_ADDED | Kind.NODE_LABELS | Kind.POLICY_CHANGED,
    "SchedulingPolicyLimits": Kind.NODE_ADDED | Kind.POD_DELETED | Kind.POLICY_CHANGED | Kind.READINGS_CHANGED,
    "SchedulingPolicy": Kind.POLICY_CHANGED,
    "AnyNode": Kind.NODE_ADDED,
    "UnsupportedFields": Kind(0),
}


@pytest.mark.parametrize(("plugin", "want"), WAKES.items(), ids=WAKES)
def test_a_pod_waits_for_what_can_help(plugin: str, want: Kind) -> None:
    assert [kind for kind in KINDS if wakes_of([plugin]) & kind] == [kind for kind in KINDS if want & kind]


def test_a_pod_that_several_rejected_waits_for_any_of_it() -> None:
    assert wakes_of(["TaintToleration", "AnyNode", "NodeAffinity"]) == (
        Kind.NODE_ADDED | Kind.NODE_TAINTS | Kind.NODE_LABELS
    )
    assert wakes_of([]) == Kind(0)


@pytest.mark.parametrize("kind", [Kind.NODE_DELETED, Kind.POD_ADDED, Kind.POD_LABELS], ids=lambda kind: kind.name)
def test_what_can_help_nobody_wakes_nobody(kind: Kind) -> None:
    assert not wakes_of(WAKES) & kind
