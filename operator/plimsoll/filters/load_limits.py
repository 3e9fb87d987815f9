"""The policy's limits: nodes whose measured load would pass a limit with the pod on them."""

from __future__ import annotations

from plimsoll.cluster.changes import ChangeKind

NAME = "SchedulingPolicyLimits"
ABOVE = "node(s) were above the scheduling policy's load limit"
NO_READINGS = "node(s) had no fresh metrics for the scheduling policy"
WAKES = ChangeKind.NODE_ADDED | ChangeKind.POD_DELETED | ChangeKind.POLICY_CHANGED | ChangeKind.READINGS_CHANGED
