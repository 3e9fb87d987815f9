"""The estimates of all policies, and the ledger and the history of workloads that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.load.carry_over import carry_over, same_question
from plimsoll.load.confidence import believed_for_s
from plimsoll.load.entry import Entry
from plimsoll.load.estimate import PolicyLoad
from plimsoll.load.history import WorkloadHistory
from plimsoll.load.ledger import Ledger
from plimsoll.load.readings import Readings
from plimsoll.policy.compiled import BUILT_IN, Policy

Selected = Callable[[Policy], Bools]

# Load is asked for over timeRange and over so many times that.
_LONGEST_WINDOW = 3
# Without a source that answers nobody prunes the ledger but itself.
_LEAST_PRUNED = 1024


class Loads:
    """Keeps a PolicyLoad per policy, aligned with the Snapshot, and told of every pod that comes and goes.

    Args:
        selected: [N], the live nodes that a policy may use.
    """

    def __init__(self, view: Snapshot, selected: Selected) -> None:
        self._view = view
        self._selected = selected
        self._ledger = Ledger()
        self._prune_at = _LEAST_PRUNED
        self._history = WorkloadHistory()
        self._by_policy: dict[str, PolicyLoad] = {BUILT_IN.name: PolicyLoad(BUILT_IN)}
        self._horizon_s = _horizon_s((BUILT_IN,))

    def of(self, policy: Policy, *, now_s: float) -> PolicyLoad:
        """The policy's estimate, its arrays standing for the Snapshot's rows."""
        load = self._by_policy[policy.name]
        if load.readings is not None and not load.current(self._view):
            self._refresh(load, load.readings, now_s=now_s)
        return load

    def policies_changed(self, policies: Iterable[Policy], pods: Iterable[PodInfo], *, now_s: float) -> None:
        """Readings stay in force where the changed policy still asks the same."""
        before, horizon_s = self._by_policy, self._horizon_s
        self._by_policy = {BUILT_IN.name: before[BUILT_IN.name]}
        for policy in policies:
            old = before.get(policy.name)
            self._by_policy[policy.name] = self._kept(old, policy)
        self._horizon_s = _horizon_s([load.policy for load in self._by_policy.values()])
        if self._horizon_s > horizon_s:
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
        if readings.use is not None:
            self._history.observe(readings.use)
        self._history.drop_old(now_s)
        self._prune(now_s=now_s)
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

    def pod_ended(self, pod: PodInfo, *, now_s: float) -> None:
        """A pod is gone from its node; windows that have seen it run still contain it."""
        entry, row = self._ledger.end(pod, now_s=now_s), self._view.row_of.get(pod.node)
        if len(self._ledger) > self._prune_at:
            self._prune(now_s=now_s)
        for load in self._by_policy.values():
            if entry is None or row is None or not load.current(self._view):
                load.remove(pod.uid)
            else:
                load.depart(entry, row)

    def pod_forgotten(self, uid: Uid) -> None:
        """A pod was not bound after all: it leaves no trace."""
        self._ledger.release(uid)
        for load in self._by_policy.values():
            load.remove(uid)

    def _kept(self, old: PolicyLoad | None, policy: Policy) -> PolicyLoad:
        return old if old and old.policy == policy else PolicyLoad(policy, self._history)

    def _prune(self, *, now_s: float) -> None:
        self._ledger.prune(covered_before_s=now_s - self._horizon_s)
        self._prune_at = max(2 * len(self._ledger), _LEAST_PRUNED)

    def _note(self, pod: PodInfo, *, now_s: float) -> Entry | None:
        """Enters the pod into the ledger, unless every metric shows it in full already."""
        if pod.running_s is not None and pod.running_s <= now_s - self._horizon_s:
            return None
        return self._ledger.put(pod, now_s=now_s)

    def _refresh(self, load: PolicyLoad, readings: Readings, *, now_s: float) -> None:
        load.refresh(readings, self._view, self._ledger.stays(self._view), self._selected(load.policy), now_s=now_s)


def _horizon_s(policies: Sequence[Policy]) -> float:
    """How long after its start or end a pod may still be shown wrongly to some policy, by the longest window and
    the oldest sample.
    """
    return max(_LONGEST_WINDOW * p.time_range_s + believed_for_s(p.refresh_interval_s) for p in policies)
