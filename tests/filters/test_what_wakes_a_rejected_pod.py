from __future__ import annotations

import pytest

from plimsoll.cluster.changes import ChangeKind as Kind
from plimsoll.filters.run import wakes_of

KINDS = list(Kind)
WAKES = {
    "NodeUnschedulable": Kind.NODE_ADDED | Kind.NODE_SCHEDULABLE,
    "NodeName": Kind.NODE_ADDED,
    "TaintToleration": Kind.NODE_ADDED | Kind.NODE_TAINTS,
    "NodeAffinity": Kind.NODE_ADDED | Kind.NODE_LABELS,
    "NodePorts": Kind.NODE_ADDED | Kind.POD_DELETED,
    "NodeResourcesFit": Kind.NODE_ADDED | Kind.NODE_ALLOCATABLE | Kind.POD_DELETED | Kind.POD_SHRUNK,
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
    assert wakes_of(["TaintToleration", "NodePorts"]) == Kind.NODE_ADDED | Kind.NODE_TAINTS | Kind.POD_DELETED
    assert wakes_of([]) == Kind(0)


@pytest.mark.parametrize("kind", [Kind.NODE_DELETED, Kind.POD_ADDED, Kind.POD_LABELS], ids=lambda kind: kind.name)
def test_what_can_help_nobody_wakes_nobody(kind: Kind) -> None:
    assert not wakes_of(WAKES) & kind
