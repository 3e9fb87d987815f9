"""The Scheduler: synchronous, changes in, commands out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.snapshot import Bools
from plimsoll.filters.run import POLICY, selected_rows
from plimsoll.load.readings import Readings
from plimsoll.policy.compiled import BUILT_IN, Policy
from plimsoll.policy.selection import Selection, select_policy
from plimsoll.scheduling.decide import Caches, decide
from plimsoll.scheduling.decision import Bind, Command, Decision, Outcome, Refuse
from plimsoll.scheduling.history import History
from plimsoll.scheduling.loads import Loads
from plimsoll.scheduling.overview import PolicyOverview, overview_of
from plimsoll.scheduling.placed import PlacedPods
from plimsoll.scheduling.queue import Queue, QueuedPod


class Scheduler:
    """Owns the cache, the queue, the policies in force, their estimates and the last decisions.

    No method awaits or does I/O. Times are seconds since the epoch, handed in.
    """

    def __init__(self, *, scheduler_name: str, rng: np.random.Generator) -> None:
        self._name = scheduler_name
        self._rng = rng
        self._cache = Cache()
        self._queue = Queue()
        self._caches = Caches()
        self._loads = Loads(self._cache.view, self._selected)
        self._policies: dict[str, Policy] = {}
        self._namespaces: dict[str, Mapping[str, str]] = {}
        self._binding: dict[Uid, QueuedPod] = {}
        self._bound_at_s: dict[Uid, float] = {}
        self._placed = PlacedPods()
        # Goes up with whatever may change which policy places a pod.
        self._selection = 0
        self._history = History()

    # -- what the shell reports -----------------------------------------------------------------------

    def node_seen(self, node: NodeInfo, *, now_s: float) -> None:
        self._wake(self._cache.put_node(node), now_s=now_s)

    def node_gone(self, name: str, *, now_s: float) -> None:
        self._wake(self._cache.drop_node(name), now_s=now_s)

    def pod_assigned(self, pod: PodInfo, *, now_s: float) -> None:
        """A pod with a node, by whomever; a terminal one is as good as gone."""
        self._queue.remove(pod.uid)
        if pod.terminal:
            self.assigned_pod_gone(pod.uid, now_s=now_s)
            return
        self._bound_at_s.pop(pod.uid, None)
        known = self._cache.pod(pod.uid)
        if known is not None and known.node != pod.node:
            self._forget(pod.uid)  # somebody else bound it: our decision does not hold
        change = self._cache.put_pod(pod)
        self._placed.seen(pod)
        self._loads.pod_placed(pod, now_s=now_s)
        self._wake(change, now_s=now_s)

    def assigned_pod_gone(self, uid: Uid, *, now_s: float) -> None:
        self._forget(uid)
        self._wake(self._cache.drop_pod(uid), now_s=now_s)

    def assigned_pods_listed(self, uids: Collection[Uid], *, listed_at_s: float, now_s: float) -> None:
        """After a LIST: pods whose Binding had succeeded before it and that are not in it are gone."""
        for uid, bound_at_s in list(self._bound_at_s.items()):
            if bound_at_s < listed_at_s and uid not in uids:
                self.assigned_pod_gone(uid, now_s=now_s)

    def pod_pending(self, pod: PodInfo, *, now_s: float) -> None:
        """A pod that waits for us, new or changed. One that is assumed or assigned already is old news."""
        if pod.uid in self._cache:
            if pod.uid in self._binding:
                # A Binding that fails is tried again as the pod is by then.
                self._binding[pod.uid].pod, self._binding[pod.uid].gone = pod, False
            return
        if pod.deleting or pod.terminal or pod.node or pod.scheduler_name != self._name:
            self._queue.remove(pod.uid)
            return
        self._queue.put(pod, now_s=now_s)

    def pending_pod_gone(self, uid: Uid, *, now_s: float) -> None:  # noqa: ARG002
        """Deleted, or no longer pending. What is being bound is settled by the Binding's answer."""
        self._queue.remove(uid)
        if uid in self._binding:
            self._binding[uid].gone = True

    def namespace_seen(self, name: str, labels: Mapping[str, str], *, now_s: float) -> None:
        if self._namespaces.get(name) != labels:
            self._namespaces[name] = labels
            self._selection += 1
            self._wake_reselected(now_s=now_s, namespace=name)

    def namespace_gone(self, name: str, *, now_s: float) -> None:  # noqa: ARG002
        self._namespaces.pop(name, None)
        self._selection += 1

    def policies_changed(self, policies: Iterable[Policy], *, now_s: float) -> None:
        """The policies in force from now on: all that can be, whatever their mode."""
        before = self._policies
        self._policies = {p.name: p for p in policies}
        self._caches.filters.keep_policies({BUILT_IN.name, *self._policies})
        self._loads.policies_changed(self._policies.values(), self._cache.pods(), now_s=now_s)
        if before != self._policies:
            self._selection += 1
            self._wake(Change(ChangeKind.POLICY_CHANGED), now_s=now_s)
            self._wake_reselected(now_s=now_s)

    def readings_taken(self, policy: str, readings: Readings, *, now_s: float) -> None:
        if policy in self._policies:
            self._loads.readings_taken(policy, readings, now_s=now_s)
            self._wake(Change(ChangeKind.READINGS_CHANGED, policy=policy), now_s=now_s)

    def bound(self, uid: Uid, *, now_s: float) -> None:
        """The Binding was accepted. The watch confirms it, or has done so already."""
        if self._binding.pop(uid, None) is not None and uid in self._cache.assumed():
            self._bound_at_s[uid] = now_s

    def bind_failed(self, uid: Uid, *, retry: bool, now_s: float) -> None:
        """The Binding was not carried out: others may have the room; the pod itself waits out its backoff.

        Args:
            retry: False where the pod is gone or somebody else bound it.
        """
        queued = self._binding.pop(uid, None)
        change = self._cache.forget(uid)
        if change is None:
            return  # confirmed by the watch meanwhile, or deleted
        self._forget(uid)
        self._wake(change, now_s=now_s)
        if retry and queued is not None and not queued.gone:
            self._queue.failed(queued, rejected_by=frozenset(), now_s=now_s)

    # -- what the shell asks --------------------------------------------------------------------------

    def next_command(self, *, now_s: float) -> Command | None:
        """Tries the next pod; None where none is due."""
        queued = self._queue.pop(now_s=now_s)
        if queued is None:
            return None
        decision = self._decide(queued, now_s=now_s)
        self._history.keep(decision)
        if decision.outcome is not Outcome.BIND:
            self._queue.failed(queued, rejected_by=decision.rejected_by, now_s=now_s)
            return Refuse(queued.pod, decision)
        self._assume(queued, decision, now_s=now_s)
        return Bind(queued.pod, decision)

    def wake_at_s(self) -> float | None:
        """When ``next_command`` may have something: 0.0 for now, None for not before something changes."""
        return self._queue.due_at_s()

    def decisions_of(self, pod_key: str) -> list[Decision]:
        """Newest first. ``pod_key`` is namespace/name."""
        return self._history.of(pod_key)

    def pending_counts(self) -> Mapping[str, int]:
        return self._queue.counts()

    def rejected_counts(self) -> Mapping[str, int]:
        """Waiting pods by the plugin that rejected them."""
        return self._queue.rejected()

    def overview(self, policy: str, *, now_s: float) -> PolicyOverview | None:
        """How a policy stands; None where it is not in force."""
        compiled = self._policies.get(policy)
        if compiled is None:
            return None
        load = self._loads.of(compiled, now_s=now_s)
        return overview_of(
            load,
            self._cache.view,
            self._selected(compiled),
            bound=self._placed.count(policy),
            pending=sum(self._selected_by(queued) == policy for queued in self._queue),
            now_s=now_s,
        )

    def nodes(self) -> list[NodeInfo]:
        return [node for _, node in self._cache.view.live_nodes()]

    def pods(self) -> Iterable[PodInfo]:
        """All that are assigned or assumed."""
        return self._cache.pods()

    # -- inside ---------------------------------------------------------------------------------------

    def _decide(self, queued: QueuedPod, *, now_s: float) -> Decision:
        selection = self._select(queued.pod)
        if selection.policy is None:
            queued.policy = ""
            return self._undecided(queued.pod, selection.problem, rejected_by=frozenset({POLICY}), now_s=now_s)
        queued.policy = selection.policy.name
        try:
            return self._decide_by(selection.policy, queued.pod, now_s=now_s)
        except Exception as error:  # noqa: BLE001 - one odd pod must not keep all others from running
            problem = f"internal error, please report it: {type(error).__name__}: {error}"
            return self._undecided(queued.pod, problem, rejected_by=frozenset(), now_s=now_s)

    def _decide_by(self, policy: Policy, pod: PodInfo, *, now_s: float) -> Decision:
        return decide(
            view=self._cache.view,
            load=self._loads.of(policy, now_s=now_s),
            policy=policy,
            pod=pod,
            now_s=now_s,
            rng=self._rng,
            caches=self._caches,
        )

    def _undecided(self, pod: PodInfo, problem: str, *, rejected_by: frozenset[str], now_s: float) -> Decision:
        return Decision(
            pod=pod,
            outcome=Outcome.ERROR,
            policy="",
            policy_generation=0,
            decided_at_s=now_s,
            nodes=len(self._cache.view.row_of),
            feasible=0,
            rejected_by=rejected_by,
            problem=problem,
        )

    def _assume(self, queued: QueuedPod, decision: Decision, *, now_s: float) -> None:
        assumed = self._cache.assume(queued.pod, decision.node)
        self._placed.put(assumed.uid, decision.policy)
        self._binding[assumed.uid] = queued
        self._loads.pod_placed(assumed, now_s=now_s)

    def _forget(self, uid: Uid) -> None:
        self._placed.remove(uid)
        self._bound_at_s.pop(uid, None)
        self._loads.pod_gone(uid)

    def _select(self, pod: PodInfo) -> Selection:
        return select_policy(self._policies, pod, self._namespaces.get(pod.namespace, {}))

    def _selected_by(self, queued: QueuedPod) -> str | None:
        """Name of the policy that would place the pod; asked often, so it is kept while nothing about it changes."""
        if queued.selection != self._selection:
            policy = self._select(queued.pod).policy
            queued.selected, queued.selection = None if policy is None else policy.name, self._selection
        return queued.selected

    def _selected(self, policy: Policy) -> Bools:
        return selected_rows(self._cache.view, policy, self._caches.filters)

    def _wake(self, change: Change | None, *, now_s: float) -> None:
        if change is not None:
            self._queue.wake(change, now_s=now_s)

    def _wake_reselected(self, *, now_s: float, namespace: str | None = None) -> None:
        """Pods (of one namespace) that another policy would place now than at their last attempt."""
        for queued in list(self._queue):
            if not queued.attempts or namespace not in {None, queued.pod.namespace}:
                continue
            if (self._selected_by(queued) or "") != queued.policy:
                self._queue.wake_pod(queued.pod.uid, now_s=now_s)
