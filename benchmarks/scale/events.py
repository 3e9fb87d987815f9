"""What one event of a watch costs, from its bytes on, with the decision's arrays brought up to date by it."""

from __future__ import annotations

import time
from functools import partial

from benchmarks.scale.objects import event, node, pod, scheduled
from benchmarks.scale.timing import Stopwatch
from benchmarks.scale.world import OLD_S, World
from plimsoll.cluster.pod import PodInfo
from plimsoll.scheduling.decision import Bind


def heartbeats(world: World, *, nodes: int, times: int, watch: Stopwatch) -> None:
    """A kubelet's report in which nothing but times is new."""
    now_s = time.time()
    for k in range(times):
        line = event("MODIFIED", node(k % nodes, at_s=now_s + k, version=k + 2))
        watch.measure("a node's heartbeat", "loop", partial(world.told, line))


def pod_events(world: World, *, nodes: int, first: int, times: int, watch: Stopwatch) -> None:
    """Pods that somebody else placed come, report, and go.

    Args:
        first: the number of the first pod that is not there yet.
    """
    now_s = time.time()
    for i in range(first, first + times):
        on, started_s = i % nodes, now_s - OLD_S
        watch.measure("pod ADDED", "loop", partial(world.told, event("ADDED", pod(i, on=on, started_s=started_s))))
        reported = event("MODIFIED", pod(i, on=on, started_s=started_s, version=2, restarts=1))
        watch.measure("pod MODIFIED, status only", "loop", partial(world.told, reported))
        watch.measure("pod DELETED", "loop", partial(world.told, event("DELETED", pod(i, on=on, started_s=started_s))))


def confirmations(world: World, *, first: int, times: int, watch: Stopwatch) -> None:
    """Pods of ours: decided, bound, confirmed by the watch, and gone."""
    for i in range(first, first + times):
        now_s, waiting = time.time(), pod(i, on=None, started_s=time.time())
        world.scheduler.pod_pending(PodInfo.parse(waiting), now_s=now_s)
        command = watch.measure("a decision", "loop", partial(world.scheduler.next_command, now_s=now_s))
        assert isinstance(command, Bind)
        world.scheduler.bound(command.pod.uid, now_s=now_s)
        on = int(command.decision.node.removeprefix("node-"))
        confirming = event("MODIFIED", scheduled(i, on=on, created_s=now_s))
        watch.measure("pod MODIFIED, confirms our Binding", "loop", partial(world.told, confirming))
        world.told(event("DELETED", pod(i, on=on, started_s=now_s)))


def nodes_coming_and_going(
    world: World, *, pod_number: int, node_number: int, times: int, ledger: str, watch: Stopwatch
) -> None:
    """Each with the decision that follows, which finds the arrays brought up to date.

    Args:
        pod_number: of the pod that waits and is never bound.
        node_number: of the node that comes and goes.
    """
    waiting = PodInfo.parse(pod(pod_number, on=None, started_s=time.time()))
    for k in range(times):
        now_s = time.time()
        for kind, what in (("ADDED", "comes"), ("DELETED", "goes")):
            world.scheduler.pod_pending(waiting, now_s=now_s)
            line = event(kind, node(node_number, at_s=now_s, version=k))
            watch.measure(
                f"a node {what}, and a decision, {ledger}", "loop", partial(_decided_after, world, line, now_s)
            )
            world.scheduler.bind_failed(waiting.uid, retry=False, now_s=now_s)
            world.scheduler.pending_pod_gone(waiting.uid, now_s=now_s)


def _decided_after(world: World, line: bytes, now_s: float) -> None:
    world.told(line)
    world.scheduler.next_command(now_s=now_s)
