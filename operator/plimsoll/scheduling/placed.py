"""Which policy placed which living pod."""

from __future__ import annotations

import json
from collections import Counter

from plimsoll.cluster.pod import DECISION_ANNOTATION, PodInfo, Uid


class PlacedPods:
    """Counted as they come and go; asked at every refresh of every policy."""

    def __init__(self) -> None:
        self._policies: dict[Uid, str] = {}
        self._counts: Counter[str] = Counter()

    def count(self, policy: str) -> int:
        """Living pods whose decision names the policy."""
        return self._counts[policy]

    def seen(self, pod: PodInfo) -> None:
        """A pod on its node: what we do not know of it, as after a restart, its annotation says."""
        if pod.uid not in self._policies and (policy := _policy_of(pod)) is not None:
            self.put(pod.uid, policy)

    def put(self, uid: Uid, policy: str) -> None:
        self.remove(uid)
        self._policies[uid] = policy
        self._counts[policy] += 1

    def remove(self, uid: Uid) -> None:
        policy = self._policies.pop(uid, None)
        if policy is not None:
            self._counts[policy] -= 1


def _policy_of(pod: PodInfo) -> str | None:
    """The policy that a pod's decision names; None where there is none, or something else was written there."""
    try:
        decision = json.loads(pod.annotations.get(DECISION_ANNOTATION, "null"))
    except ValueError:
        return None
    policy = decision.get("policy") if isinstance(decision, dict) else None
    return policy if isinstance(policy, str) else None
