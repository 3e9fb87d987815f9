"""A Scheduler with a clock: nodes, pods and readings come by name, decisions are read back."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from plimsoll.cluster.pod import Uid
from plimsoll.policy.compiled import Policy
from plimsoll.scheduling.decision import Bind, Decision, Outcome, Preempt, Refuse, Skip
from plimsoll.scheduling.scheduler import Scheduler
from tests.builders import NOW_S, NodeBuilder, PodBuilder, make_readings


class World:
    def __init__(self, *, seed: int = 1) -> None:
        self.now_s = NOW_S
        self.scheduler = Scheduler(scheduler_name="plimsoll", rng=np.random.default_rng(seed))

    # -- what happens ---------------------------------------------------------------------------------

    def nodes(self, *nodes: NodeBuilder) -> None:
        for node in nodes:
            self.scheduler.node_seen(node.info(), now_s=self.now_s)

    def node_goes(self, name: str) -> None:
        self.scheduler.node_gone(name, now_s=self.now_s)

    def assigned(self, *pods: PodBuilder) -> None:
        for pod in pods:
            self.scheduler.pod_assigned(pod.info(), now_s=self.now_s)

    def assigned_goes(self, pod: PodBuilder) -> None:
        self.scheduler.assigned_pod_gone(uid(pod), now_s=self.now_s)

    def pending(self, *pods: PodBuilder) -> None:
        for pod in pods:
            self.scheduler.pod_pending(pod.info(), now_s=self.now_s)

    def pending_goes(self, pod: PodBuilder) -> None:
        self.scheduler.pending_pod_gone(uid(pod), now_s=self.now_s)

    def policies(self, *policies: Policy) -> None:
        self.scheduler.policies_changed(policies, now_s=self.now_s)

    def readings(
        self,
        policy: str,
        utilisation: Mapping[str, Mapping[str, float | None]],
        *,
        age_s: float = 0.0,
        window_s: float = 300.0,
        failure: str = "",
    ) -> None:
        taken = make_readings(
            utilisation,
            taken_at_s=self.now_s,
            age_s=age_s,
            window_s=window_s,
            failures={"": failure} if failure else {},
            known=[node.name for node in self.scheduler.nodes()],
        )
        self.scheduler.readings_taken(policy, taken, now_s=self.now_s)

    def bound(self, pod: PodBuilder) -> None:
        self.scheduler.bound(uid(pod), now_s=self.now_s)

    def bind_failed(self, pod: PodBuilder, *, retry: bool) -> None:
        self.scheduler.bind_failed(uid(pod), retry=retry, now_s=self.now_s)

    def nominated_to(self, pod: PodBuilder) -> str:
        """The node that is kept for it, "" where none is."""
        return self.scheduler._cache.view.nominated.node_of(uid(pod))

    def passes(self, seconds: float) -> None:
        self.now_s += seconds

    # -- what comes of it -----------------------------------------------------------------------------

    def next(self) -> Decision | None:
        """The decision of the next command, which says the same as the command's kind; None where none is due."""
        command = self.scheduler.next_command(now_s=self.now_s)
        if command is None:
            return None
        assert not isinstance(command, Skip)
        assert isinstance(command, Bind if command.decision.node else Refuse | Preempt)
        assert command.pod.uid == command.decision.pod.uid
        return command.decision

    def decide(self, pod: PodBuilder) -> Decision:
        """About this pod, with nothing else in the queue."""
        self.pending(pod)
        decision = self.next()
        assert decision is not None
        assert decision.pod.uid == uid(pod)
        return decision

    def probe(self, pod: PodBuilder) -> Decision:
        """What would become of the pod; it leaves no trace."""
        decision = self.decide(pod)
        if decision.outcome is Outcome.BIND:
            self.bind_failed(pod, retry=False)
        else:
            self.pending_goes(pod)
        return decision

    def places(self, pod: PodBuilder) -> str:
        """Where the pod goes; the Binding succeeds."""
        decision = self.decide(pod)
        self.bound(pod)
        return decision.node

    def queued(self) -> dict[str, int]:
        """Number of pods by place, empty places left out."""
        return {place: count for place, count in self.scheduler.pending_counts().items() if count}


def uid(pod: PodBuilder) -> Uid:
    return pod.info().uid


@pytest.fixture
def world() -> World:
    return World()
