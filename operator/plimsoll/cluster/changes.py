"""Changes of the cluster as values: the vocabulary in which the queue is told what to wake."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any


class ChangeKind(enum.Flag):
    """What happened; one change may be several things at once."""

    NODE_ADDED = enum.auto()
    NODE_DELETED = enum.auto()
    NODE_LABELS = enum.auto()
    NODE_TAINTS = enum.auto()
    NODE_SCHEDULABLE = enum.auto()  # uncordoned
    NODE_ALLOCATABLE = enum.auto()  # some resource grew
    NODE_FEATURES = enum.auto()  # declared features
    POD_ADDED = enum.auto()  # assigned, by whomever
    POD_DELETED = enum.auto()  # deleted, turned terminal, or an assumption forgotten
    POD_SHRUNK = enum.auto()  # resized in place: asks for less of something
    POD_LABELS = enum.auto()
    POD_DELETING = enum.auto()  # got a deletion timestamp: spreading does not count it any more
    NOMINATION_ENDED = enum.auto()  # a nominated pod gave its node up, or went elsewhere
    NAMESPACE_LABELS = enum.auto()
    VOLUME = enum.auto()  # PersistentVolume added or updated
    CLAIM = enum.auto()  # PersistentVolumeClaim added or updated
    STORAGE_CLASS = enum.auto()
    CSI_NODE = enum.auto()
    CSI_DRIVER = enum.auto()
    STORAGE_CAPACITY = enum.auto()
    VOLUME_ATTACHMENT_DELETED = enum.auto()
    RESOURCE_CLAIM = enum.auto()
    POLICY_CHANGED = enum.auto()
    READINGS_CHANGED = enum.auto()  # a node fell below a limit, or metrics came back


@dataclass(frozen=True, slots=True)
class Change:
    """One change.

    Attributes:
        before, after: the parsed object that changed (NodeInfo, PodInfo, PersistentVolume, ...) as it was and as it
            is; None where it was or is not there. Of a forgotten assumption ``before`` is the pod on its node.
        policy: the policy's name for POLICY_CHANGED and READINGS_CHANGED; "" concerns all.
        late: others have come after it by the time that hints are asked: the view does not tell how it was before.
    """

    kind: ChangeKind
    before: Any = None
    after: Any = None
    policy: str = ""
    late: bool = False
