"""The estimates of all policies, and the one ledger that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.load.carry_over import carry_over, same_question
from plimsoll.load.confidence import MISSING_AFTER_S
from plimsoll.load.estimate import PolicyLoad
from plimsoll.load.ledger import Entry, Ledger
from plimsoll.load.readings import Readings
from plimsoll.policy.compiled import BUILT_IN, Policy

Selected = Callable[[Policy], Bools]


class Loads:
    """Keeps a PolicyLoad per policy, aligned with the Snapshot, and told of every pod that comes and goes.

    Args:
        selected: [N], the live nodes that a policy may use.
    """

    def __init__(self, view: Snapshot, selected: Selected) -> None:
        self._view = view
        self._selected = selected
        self._ledger = Ledger()
        self._by_policy: dict[str, PolicyLoad] = {BUILT_IN.name: PolicyLoad(BUILT_IN)}

    def of(self, policy: Policy, *, now_s: float) -> PolicyLoad:
        """The policy's estimate, its arrays standing for the Snapshot's rows."""
        load = self._by_policy[policy.name]
        if load.readings is not None and not load.current(self._view):
            self._refresh(load, load.readings, now_s=now_s)
        return load

    def policies_changed(self, policies: Iterable[Policy], pods: Iterable[PodInfo], *, now_s: float) -> None:
        """Readings stay in force where the changed policy still asks the same."""
        before, horizon_s = self._by_policy, self._horizon_s()
        self._by_policy = {BUILT_IN.name: before[BUILT_IN.name]}
        for policy in policies:
            old = before.get(policy.name)
            self._by_policy[policy.name] = old if old and old.policy == policy else PolicyLoad(policy)
        if self._horizon_s() > horizon_s:
            for pod in pods:
                self._note(pod, now_s=now_s)
        for load in self._by_policy.values():
            old = before.get(load.policy.name)
            if old and old is not load and old.readings and same_question(old.policy, load.policy):
                load.inherit(old)
                self._refresh(load, old.readings, now_s=now_s)

    def readings_taken(self, policy: str, readings: Readings, *, now_s: float) -> None:
        """Puts a set in force, for one of the policies that are."""
        load = self._by_policy[policy]
        self._ledger.prune(covered_before_s=now_s - self._horizon_s())
        self._refresh(load, carry_over(load.readings, readings, interval_s=load.policy.refresh_interval_s), now_s=now_s)

    def pod_placed(self, pod: PodInfo, *, now_s: float) -> None:
        """A pod was assumed, or seen on its node."""
        entry = self._note(pod, now_s=now_s)
        row = self._view.row_of.get(pod.node)
        if entry is None or row is None:
            return
        for load in self._by_policy.values():
            if load.readings is not None and load.current(self._view):
                load.place(entry, row)

    def pod_gone(self, uid: Uid) -> None:
        self._ledger.release(uid)
        for load in self._by_policy.values():
            load.remove(uid)

    def _note(self, pod: PodInfo, *, now_s: float) -> Entry | None:
        """Enters the pod into the ledger, unless every metric shows it in full already."""
        if pod.started_s is not None and pod.started_s <= now_s - self._horizon_s():
            return None
        return self._ledger.put(pod, now_s=now_s)

    def _refresh(self, load: PolicyLoad, readings: Readings, *, now_s: float) -> None:
        load.refresh(readings, self._view, self._ledger.entries(), self._selected(load.policy), now_s=now_s)

    def _horizon_s(self) -> float:
        """How long after its start a pod may still be in flight for some policy, stale samples included."""
        return MISSING_AFTER_S + max(load.policy.time_range_s for load in self._by_policy.values())
