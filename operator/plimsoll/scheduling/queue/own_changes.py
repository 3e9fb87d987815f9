"""What a change of a pending pod itself can help against.

kube-scheduler's ``PodSchedulingPropertiesChange`` and the plugins that register for its events: a pod whose status
alone changed, our own condition first of all, is not tried again for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from plimsoll.cluster.pod import PodInfo
from plimsoll.filters import load_limits
from plimsoll.filters.order import POLICY, UNSUPPORTED

# None of these can make a node fit: who the pod is, what became of it, and what only scores look at. class_key and
# workload follow from others.
_NOTHING = {
    *("uid", "namespace", "name", "resource_version", "generation", "scheduler_name", "owner", "daemon", "ignored"),
    *(
        "node",
        "nominated_node",
        "phase",
        "deleting",
        "giving_way",
        "created_s",
        "scheduled_s",
        "started_s",
        "running_s",
    ),
    *("preferred_nodes", "preferred_affinity", "preferred_anti_affinity", "images", "containers"),
    *("class_key", "workload"),
}
_HELPS: Mapping[str, frozenset[str]] = {
    "labels": frozenset({"PodTopologySpread", "InterPodAffinity", POLICY}),
    "annotations": frozenset({POLICY, load_limits.NAME}),
    "requests": frozenset({"NodeResourcesFit", load_limits.NAME}),
    "expected_network": frozenset({load_limits.NAME}),
    "tolerations": frozenset({"NodeUnschedulable", "TaintToleration", "PodTopologySpread"}),
    "unsupported": frozenset({UNSUPPORTED}),
    "unreadable": frozenset({UNSUPPORTED}),
}
_LOOKED_AT = tuple(f.name for f in fields(PodInfo) if f.name not in _NOTHING)


def own_change_helps(before: PodInfo, after: PodInfo, rejected_by: frozenset[str]) -> bool:
    """Whether a pod that these plugins rejected may fit as it is now; a field that is new here: in doubt, yes."""
    for name in _LOOKED_AT:
        if getattr(before, name) == getattr(after, name):
            continue
        if name == "requests" and not _asks_for_less(before, after):
            continue
        if name not in _HELPS or _HELPS[name] & rejected_by:
            return True
    return False


def _asks_for_less(before: PodInfo, after: PodInfo) -> bool:
    return any(value > after.requests.get(name, 0) for name, value in before.requests.items())
