"""A pending pod with its history."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from plimsoll.cluster.pod import PodInfo

_FIRST_BACKOFF_S, _LONGEST_BACKOFF_S = 1.0, 10.0


class Place(enum.Enum):
    ACTIVE = "active"
    BACKOFF = "backoff"
    UNSCHEDULABLE = "unschedulable"
    GATED = "gated"


@dataclass(slots=True)
class QueuedPod:
    """A pending pod with its history.

    Attributes:
        since_s: when it came in or last failed; decides among equal priorities.
        attempts: failed attempts so far.
        rejections: those of them in which something rejected it.
        errors: those at the end that failed for another reason, one after the other.
        tried_s: end of the last failed attempt.
        tried: the pod as it was when it was last tried.
        rejected_by: what rejected it at the last attempt.
        policy: the policy that its last attempt went by.
        gone: it was deleted, or is no longer pending, while it was being bound.
        preempts_again_s: end of the backoff after it last preempted; until then it makes nobody else go.
        whole_backoff: it is not tried before its backoff is over, though nobody else is due.
        woken: something that can help happened while it was held back.
        selection: version of the policies for which ``selected`` holds; -1 once its namespace is another.
        selected: the policy that would place it; None where it waits for one.
        ticket: of its place in a heap; older entries are void.
        by_labels: at its last attempt pods on nodes kept it away by its labels.
        likeness: equal for pods that are asked about together; None until somebody asks.
    """

    pod: PodInfo
    since_s: float
    place: Place = Place.ACTIVE
    attempts: int = 0
    rejections: int = 0
    errors: int = 0
    tried_s: float = 0.0
    tried: PodInfo | None = None
    rejected_by: frozenset[str] = frozenset()
    policy: str = ""
    gone: bool = False
    preempts_again_s: float = 0.0
    whole_backoff: bool = False
    woken: bool = False
    selection: int = -1
    selected: str | None = None
    ticket: int = 0
    by_labels: bool = False
    likeness: str | None = None

    @property
    def backoff_until_s(self) -> float:
        """A whole second, so that pods whose backoff ends in the same second are tried by priority."""
        failures = self.errors or self.rejections
        if not failures:
            return 0.0
        # The exponent is bounded, or a pod that fails for years would overflow it.
        grown_s = _FIRST_BACKOFF_S * 2.0 ** min(failures - 1, 10)
        ends_s = math.ceil(self.tried_s + min(grown_s, _LONGEST_BACKOFF_S))
        return float(max(ends_s, self.preempts_again_s) if self.whole_backoff else ends_s)

    def changed(self, pod: PodInfo) -> None:
        self.pod, self.selection, self.likeness = pod, -1, None

    def failed(self, rejected_by: frozenset[str], *, preempted: bool, now_s: float) -> None:
        """Another attempt has failed; nothing rejected it: an error."""
        self.attempts += 1
        if rejected_by:
            self.rejections, self.errors = self.rejections + 1, 0
        else:
            self.errors += 1
        # Those that have waited longer since their last attempt come first.
        self.tried_s = self.since_s = now_s
        self.rejected_by, self.whole_backoff, self.woken = rejected_by, False, False
        if preempted:
            self.preempts_again_s = self.backoff_until_s
