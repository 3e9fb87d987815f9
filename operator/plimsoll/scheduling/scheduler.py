"""The Scheduler: synchronous, changes in, commands out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.kinds import KINDS
from plimsoll.cluster.namespace import Namespace
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.objects import ApiObject
from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.snapshot import Bools
from plimsoll.cluster.volume_matching import NO_VOLUMES
from plimsoll.filters.order import POLICY
from plimsoll.filters.run import selected_rows
from plimsoll.load.readings import Readings
from plimsoll.policy.compiled import BUILT_IN, Policy
from plimsoll.policy.selection import Selection
from plimsoll.scheduling.decide import Caches, decide
from plimsoll.scheduling.decision import Bind, Command, Decision, Outcome, Preempt, Refuse, Skip
from plimsoll.scheduling.hints import Hints
from plimsoll.scheduling.history import History
from plimsoll.scheduling.judgement import Judgement, judge
from plimsoll.scheduling.loads import Loads
from plimsoll.scheduling.observing import Observing
from plimsoll.scheduling.overview import PolicyOverview, overview_of
from plimsoll.scheduling.placed import PlacedPods
from plimsoll.scheduling.preemption.candidates import Pauses
from plimsoll.scheduling.preparing import Progress, progress
from plimsoll.scheduling.queue import Queue, QueuedPod
from plimsoll.scheduling.regret import Regret
from plimsoll.scheduling.selections import Selections


class Scheduler:
    """Owns the cache, the queue, the policies in force, their estimates and the last decisions.

    No method awaits or does I/O. Times are seconds since the epoch, handed in.
    """

    def __init__(self, *, scheduler_name: str, rng: np.random.Generator) -> None:
        self._name = scheduler_name
        self._rng = rng
        self._cache = Cache()
        self._hints = Hints(self._cache.view)
        self._queue = Queue(self._hints)
        self._caches = Caches()
        self._loads = Loads(self._cache.view, self._selected)
        self._observing = Observing(self._cache.view, self._loads, self._caches, scheduler_name=scheduler_name)
        self._policies: dict[str, Policy] = {}
        self._selections = Selections(self._cache.view.namespaces)
        self._binding: dict[Uid, QueuedPod] = {}
        self._bound_at_s: dict[Uid, float] = {}
        self._placed = PlacedPods()
        # Goes up with whatever may change which policy places a pod.
        self._selection = 0
        self._history = History()
        self._pauses = Pauses()

    # -- what the shell reports -----------------------------------------------------------------------

    def node_seen(self, node: NodeInfo, *, now_s: float) -> None:
        self._wake(self._cache.put_node(node), now_s=now_s)

    def node_gone(self, name: str, *, now_s: float) -> None:
        self._wake(self._cache.drop_node(name), now_s=now_s)

    def pod_assigned(self, pod: PodInfo, *, now_s: float) -> None:
        """A pod with a node, by whomever; a terminal one is as good as gone."""
        self._leaves_queue(pod.uid, node=pod.node, now_s=now_s)
        if pod.terminal:
            # One that is seen for the first time may have ended long ago.
            self._gone(pod.uid, last=pod if pod.uid in self._cache else None, now_s=now_s)
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
        self._gone(uid, last=self._cache.pod(uid), now_s=now_s)

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
                self._binding[pod.uid].changed(pod)
                self._binding[pod.uid].gone = False
            return
        if pod.terminal or pod.node or pod.scheduler_name != self._name:
            self._leaves_queue(pod.uid, now_s=now_s)
            return
        seen = self._cache.pending_pod_gone(pod.uid) if pod.deleting else self._cache.pending_pod_seen(pod)
        self._queue.put(pod, now_s=now_s)
        self._wake(seen, now_s=now_s)
        self._wake_if_reselected(pod.uid, now_s=now_s)

    def pending_pod_gone(self, uid: Uid, *, now_s: float) -> None:
        """Deleted, or no longer pending. What is being bound is settled by the Binding's answer."""
        self._leaves_queue(uid, now_s=now_s)
        if uid in self._binding:
            self._binding[uid].gone = True

    def namespace_seen(self, name: str, labels: Mapping[str, str], *, now_s: float) -> None:
        change = self._cache.put_namespace(Namespace(name, labels))
        if change is not None:
            self._relabelled(name)
            self._wake(change, now_s=now_s)
            self._wake_reselected(now_s=now_s, namespace=name)

    def namespace_gone(self, name: str, *, now_s: float) -> None:
        change = self._cache.drop_namespace(name)
        self._relabelled(name)
        self._wake(change, now_s=now_s)

    def object_seen(self, kind: str, thing: ApiObject, *, now_s: float) -> None:
        """Any other object that scheduling asks about, of a kind of ``cluster/kinds.py``."""
        self._wake(self._cache.put_object(KINDS[kind], thing), now_s=now_s)

    def object_gone(self, kind: str, key: str, *, now_s: float) -> None:
        self._wake(self._cache.drop_object(KINDS[kind], key), now_s=now_s)

    def policies_changed(self, policies: Iterable[Policy], *, now_s: float) -> None:
        """The policies in force from now on: all that can be, whatever their mode."""
        before = self._policies
        self._policies = self._hints.policies = {p.name: p for p in policies}
        self._caches.keep_policies({BUILT_IN.name: BUILT_IN, **self._policies})
        self._loads.policies_changed(self._policies.values(), self._cache.pods(), now_s=now_s)
        self._observing.policies_changed(self._policies.values())
        if before != self._policies:
            self._selections.policies_changed(self._policies.values())
            self._selection += 1
            self._wake(Change(ChangeKind.POLICY_CHANGED), now_s=now_s)
            self._wake_reselected(now_s=now_s)

    def readings_taken(self, policy: str, readings: Readings, *, now_s: float) -> None:
        if policy in self._policies:
            self._loads.readings_taken(policy, readings, now_s=now_s)
            self._caches.readings_taken(policy)
            self._wake(Change(ChangeKind.READINGS_CHANGED, policy=policy), now_s=now_s)

    def bound(self, uid: Uid, *, now_s: float) -> None:
        """The Binding was accepted. The watch confirms it, or has done so already."""
        self._queue.done(uid)
        self._cache.volumes_settled(uid)
        queued = self._binding.pop(uid, None)
        if queued is None:
            return
        self._history.bound(queued.pod)
        if self._cache.is_assumed(uid):
            self._bound_at_s[uid] = now_s

    def bind_failed(self, uid: Uid, *, retry: bool, now_s: float) -> None:
        """The Binding was not carried out: others may have the room; the pod itself waits out its backoff.

        Args:
            retry: False where the pod is gone or somebody else bound it.
        """
        queued = self._binding.pop(uid, None)
        for freed in self._cache.forget_volumes(uid):
            self._wake(freed, now_s=now_s)
        change = self._cache.forget(uid)
        if queued is not None:
            known = self._cache.pod(uid)
            self._history.bind_failed(queued.pod, node=known.node if known else "")
        if change is None:
            self._queue.done(uid)
            return  # confirmed by the watch meanwhile, or deleted
        self._forget(uid)
        self._wake(change, now_s=now_s)
        if retry and queued is not None and not queued.gone:
            self._queue.failed(queued, rejected_by=frozenset(), now_s=now_s)
        else:
            self._queue.done(uid)

    def volume_written(self, key: str) -> None:
        """What was assumed of a volume (its name) or claim (``namespace/name``) stands at the API server."""
        self._cache.volume_written(key)

    def victim_evicted(self, uid: Uid, *, now_s: float) -> None:
        """The API server has taken a victim's deletion, or its Binding was taken back; the watch will say the rest."""
        victim = self._cache.pod(uid)
        if self._cache.is_assumed(uid):
            self._cache.gives_way(uid)
        elif victim is not None:
            self._wake(self._cache.put_pod(replace(victim, deleting=True, giving_way=True)), now_s=now_s)

    def preempted(self, uid: Uid, *, failed: bool, now_s: float) -> None:
        """The evictions for this pod are through, or have failed; until then it is not tried again."""
        self._queue.release(uid, retry=failed, now_s=now_s)

    def observe(self, pod: PodInfo, *, node: str, now_s: float) -> list[Regret]:
        """A pod that ``observes`` said yes to, before it is reported by ``pod_assigned``.

        Args:
            pod: as it was before it had a node.
            node: where it is.
        """
        return self._observing.judge(pod, node=node, now_s=now_s)

    # -- what the shell asks --------------------------------------------------------------------------

    def observes(self, pod: PodInfo, *, now_s: float) -> bool:
        """Whether a policy with mode Observe is to judge where another scheduler has just placed the pod."""
        return pod.uid not in self._cache and self._observing.concerns(pod, now_s=now_s)

    def next_command(self, *, now_s: float) -> Command | None:
        """Tries the next pod; None where none is due, or nothing came of the attempt yet: ``wake_at_s`` tells."""
        queued = self._queue.pop(now_s=now_s)
        if queued is None:
            return None
        if queued.pod.deleting:
            self._queue.skipped(queued.pod.uid, now_s=now_s)
            return Skip(queued.pod)
        decision = self._decide(queued, now_s=now_s)
        if decision.unfinished:
            self._queue.paused(queued)
            return None
        self._pauses.over(queued.pod.uid)
        if any(not victim.deleting for victim in decision.victims) and now_s < queued.preempts_again_s:
            self._queue.too_soon(queued)
            return None
        self._history.keep(decision)
        if decision.outcome is not Outcome.BIND:
            return self._refuse(queued, decision, now_s=now_s)
        self._assume(queued, decision, now_s=now_s)
        return Bind(queued.pod, decision, decision.prepare)

    def judge(self, pod: PodInfo, *, now_s: float) -> Judgement:
        """What would become of the pod, with every node's verdict; it leaves no trace."""
        selection = self._select(pod)
        if selection.policy is None:
            return Judgement(self._undecided(pod, selection.problem, rejected_by=frozenset({POLICY}), now_s=now_s), {})
        return judge(
            view=self._cache.view,
            load=self._loads.of(selection.policy, now_s=now_s),
            policy=selection.policy,
            pod=pod,
            now_s=now_s,
            rng=self._rng,
            caches=self._caches,
        )

    def progress(self, command: Bind, written: Mapping[str, str]) -> Progress:
        """How far the pod's claims are.

        Args:
            written: the versions that our writes made, by volume and by claim.
        """
        pod, queued = command.pod, self._binding.get(command.pod.uid)
        if queued is None or not self._cache.is_assumed(pod.uid):
            return Progress(over=True)
        if queued.gone:
            return Progress(problem=f'pod does not exist any more: pod "{pod.name}" not found')
        volumes = command.prepare.volumes if command.prepare else NO_VOLUMES
        return progress(self._cache.view, command.decision.node, volumes, written)

    def wake_at_s(self) -> float | None:
        """When ``next_command`` may have something: 0.0 for now, None for not before something changes."""
        return self._queue.due_at_s()

    def decisions_of(self, pod_key: str) -> list[Decision]:
        """Newest first. ``pod_key`` is namespace/name."""
        return self._history.of(pod_key)

    def pending_counts(self) -> Mapping[str, int]:
        return self._queue.counts()

    def take_incoming(self) -> Mapping[tuple[str, str], int]:
        """Pods that came into a place of the queue since this was last asked, by place and event."""
        return self._queue.take_incoming()

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
            observed=self._observing.of(policy),
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
            pauses=self._pauses,
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
            nominated_node="",
        )

    def _refuse(self, queued: QueuedPod, decision: Decision, *, now_s: float) -> Refuse | Preempt:
        pod, node = queued.pod, decision.nominated_node
        evicts = any(not victim.deleting for victim in decision.victims)
        if evicts:
            self._queue.hold(pod.uid, now_s=now_s)
        if node is not None:
            self._wake(self._cache.nominate(pod, node), now_s=now_s)
        self._queue.failed(queued, rejected_by=decision.rejected_by, preempted=evicts, now_s=now_s)
        return Preempt(pod, decision, self._displace(pod, node or "", now_s=now_s)) if evicts else Refuse(pod, decision)

    def _displace(self, pod: PodInfo, node: str, *, now_s: float) -> tuple[PodInfo, ...]:
        """Pods of lower priority that were nominated there may no longer fit: they look elsewhere at once."""
        displaced = tuple(p for p in self._cache.view.nominated.pods_on(node) if p.priority < pod.priority)
        for lower in displaced:
            self._wake(self._cache.nominate(lower, ""), now_s=now_s)
        return displaced

    def _leaves_queue(self, uid: Uid, *, node: str = "", now_s: float) -> None:
        """It is pending no more: it runs on the node, or nowhere."""
        self._queue.remove(uid, now_s=now_s)
        self._nomination_ended(self._cache.pending_pod_gone(uid), node=node, now_s=now_s)

    def _nomination_ended(self, change: Change | None, *, node: str, now_s: float) -> None:
        """Whoever takes the place that was kept for it frees nothing."""
        if change is not None and change.before.node != node:
            self._wake(change, now_s=now_s)

    def _assume(self, queued: QueuedPod, decision: Decision, *, now_s: float) -> None:
        ended = self._cache.nominate(queued.pod, "")
        assumed = self._cache.assume(queued.pod, decision.node)
        self._nomination_ended(ended, node=decision.node, now_s=now_s)
        self._placed.put(assumed.uid, decision.policy)
        self._binding[assumed.uid] = queued
        if decision.prepare is not None:
            self._cache.assume_volumes(assumed.uid, decision.node, decision.prepare.volumes)
        self._loads.pod_placed(assumed, now_s=now_s)
        # The watch confirms what is assumed already: pods that wait for this one hear of it now or never.
        self._wake(Change(ChangeKind.POD_ADDED, after=assumed), now_s=now_s)
        self._queue.placed(assumed.uid, now_s=now_s)

    def _gone(self, uid: Uid, *, last: PodInfo | None, now_s: float) -> None:
        """Args:
        last: as it was seen last; None where nothing is known of it.
        """
        self._placed.remove(uid)
        self._bound_at_s.pop(uid, None)
        if last is not None:
            self._loads.pod_ended(last, now_s=now_s)
        self._wake(self._cache.drop_pod(uid), now_s=now_s)

    def _forget(self, uid: Uid) -> None:
        """It never ran where it was assumed."""
        self._placed.remove(uid)
        self._bound_at_s.pop(uid, None)
        self._loads.pod_forgotten(uid)

    def _select(self, pod: PodInfo) -> Selection:
        return self._selections.of(pod)

    def _relabelled(self, namespace: str) -> None:
        self._selections.namespace_changed(namespace)
        for queued in (*self._queue, *self._binding.values()):
            if queued.pod.namespace == namespace:
                queued.selection = -1

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
            if change.kind & ChangeKind.POD_DELETED:
                self._wake_expectant(change.before.node, now_s=now_s)

    def _wake_expectant(self, node: str, *, now_s: float) -> None:
        """Who is nominated to a node takes it once its victims are gone, or gives it up for those who wait."""
        view = self._cache.view
        for pod in list(view.nominated.pods_on(node)):
            if not any(p.giving_way and p.priority < pod.priority for p in view.residents.on(node)):
                self._queue.wake_pod(pod.uid, now_s=now_s)

    def _wake_reselected(self, *, now_s: float, namespace: str | None = None) -> None:
        """Pods (of one namespace) that another policy would place now than at their last attempt."""
        for queued in list(self._queue):
            if namespace in {None, queued.pod.namespace}:
                self._wake_if_reselected(queued.pod.uid, now_s=now_s)

    def _wake_if_reselected(self, uid: Uid, *, now_s: float) -> None:
        queued = self._queue.get(uid)
        if queued is not None and queued.attempts and (self._selected_by(queued) or "") != queued.policy:
            self._queue.wake_pod(uid, now_s=now_s)
