"""A Scheduler with a cluster in it, told of everything as the operator is: by lines of watches."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
import orjson

from benchmarks.scale.objects import SCHEDULER, event, node, pod
from benchmarks.scale.timing import Stopwatch
from plimsoll.kube.reflector import Identity
from plimsoll.runtime.mirror import AssignedPods, Nodes
from plimsoll.scheduling.scheduler import Scheduler

# So long ago that every window shows them in full, and within all windows.
OLD_S, RECENT_S = 86_400.0, 60.0


class World:
    """Attributes:
    scheduler, nodes, pods: the operator's own, wired as in the operator.
    """

    def __init__(self) -> None:
        self.scheduler = Scheduler(scheduler_name=SCHEDULER, rng=np.random.default_rng(1))
        self.nodes = Nodes(self.scheduler, wake=lambda: None)
        self.pods = AssignedPods(self.scheduler, wake=lambda: None)

    def told(self, line: bytes) -> None:
        """One line of a watch, from its bytes on."""
        change = orjson.loads(line)
        thing = change["object"]
        listener = self.nodes if thing["kind"] == "Node" else self.pods
        if change["type"] == "DELETED":
            metadata = thing["metadata"]
            listener.on_deleted(Identity(metadata.get("namespace", ""), metadata["name"], metadata["uid"]))
        else:
            listener.on_added(thing)

    def fill(self, *, nodes: int, pods: int, started_ago_s: float, watch: Stopwatch | None = None) -> None:
        now_s, watch = time.time(), watch or Stopwatch()
        for i in range(nodes):
            line = event("ADDED", node(i, at_s=now_s))
            watch.measure("a node of the first list", "start", partial(self.told, line))
        for i in range(pods):
            line = event("ADDED", pod(i, on=i % nodes, started_s=now_s - started_ago_s))
            watch.measure("an assigned pod of the first list", "start", partial(self.told, line))
