"""Changes of the cluster as values: the vocabulary in which the queue is told what to wake."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from plimsoll.cluster.pod import PodInfo


class ChangeKind(enum.Flag):
    """What happened; one change may be several things at once."""

    NODE_ADDED = enum.auto()
    NODE_DELETED = enum.auto()
    NODE_LABELS = enum.auto()
    NODE_TAINTS = enum.auto()
    NODE_SCHEDULABLE = enum.auto()  # uncordoned
    NODE_ALLOCATABLE = enum.auto()  # some resource grew
    POD_ADDED = enum.auto()  # assigned, by whomever
    POD_DELETED = enum.auto()  # deleted, turned terminal, or an assumption forgotten
    POD_SHRUNK = enum.auto()  # resized in place: asks for less of something
    POD_LABELS = enum.auto()
    POLICY_CHANGED = enum.auto()
    READINGS_CHANGED = enum.auto()  # a node fell below a limit, or metrics came back


@dataclass(frozen=True, slots=True)
class Change:
    """One change.

    Attributes:
        node: the node's name where the change concerns one.
        pod: the assigned pod where the change concerns one, as it was before.
        policy: the policy's name for POLICY_CHANGED and READINGS_CHANGED.
    """

    kind: ChangeKind
    node: str = ""
    pod: PodInfo | None = None
    policy: str = ""
