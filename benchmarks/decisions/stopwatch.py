"""CPU time of this thread, by what it was spent on."""

from __future__ import annotations

import contextlib
import enum
import gc
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

import numpy as np

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Step(enum.StrEnum):
    """What is told apart. The first four are ``next_command``, by what came of it."""

    FIRST = "the first decision"
    DECISION = "decision: bind"
    REFUSAL = "decision: no node fits"
    PREEMPTION = "decision: others have to go"
    POD_PENDING = "pod_pending"
    POD_PENDING_AGAIN = "pod_pending, after a refusal"
    POD_CONFIRMED = "pod_assigned, confirming"
    POD_ASSIGNED = "pod_assigned, of others"
    POD_GONE = "assigned_pod_gone"
    HEARTBEAT = "node_seen, heartbeat"
    NODE_CHANGED = "node_seen, other labels"
    NODE_ADDED = "node_seen, new"
    NODE_GONE = "node_gone"
    OTHER_OBJECT = "object_seen or object_gone"
    READINGS = "readings_taken"
    POD_PARSED = "PodInfo.parse"
    NODE_PARSED = "NodeInfo.parse"
    COLLECTION = "garbage collection, in the above"


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU time, microseconds; ``total_ms`` is of all together."""

    count: int
    p50_us: float
    p99_us: float
    max_us: float
    total_ms: float


class Stopwatch:
    def __init__(self) -> None:
        self._spent_ns: dict[Step, list[int]] = defaultdict(list)

    def time(self, step: Step, call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        began_ns = time.thread_time_ns()
        result = call(*args, **kwargs)
        self.add(step, time.thread_time_ns() - began_ns)
        return result

    def add(self, step: Step, spent_ns: int) -> None:
        self._spent_ns[step].append(spent_ns)

    @contextlib.contextmanager
    def watching_collections(self) -> Iterator[None]:
        """The collector runs inside whatever happens to be under way, and shows as the greatest cost of that."""
        began_ns = 0

        def note(phase: str, _: dict[str, int]) -> None:
            nonlocal began_ns
            if phase == "start":
                began_ns = time.thread_time_ns()
            else:
                self.add(Step.COLLECTION, time.thread_time_ns() - began_ns)

        gc.callbacks.append(note)
        try:
            yield
        finally:
            gc.callbacks.remove(note)

    def forget(self) -> None:
        self._spent_ns.clear()

    def costs(self) -> dict[Step, Cost]:
        """In the order of ``Step``."""
        return {step: _cost(self._spent_ns[step]) for step in Step if step in self._spent_ns}


def _cost(spent_ns: list[int]) -> Cost:
    spent_us = np.array(spent_ns) / 1000
    p50_us, p99_us, max_us = np.percentile(spent_us, (50, 99, 100)).round(1).tolist()
    return Cost(len(spent_ns), p50_us, p99_us, max_us, round(float(spent_us.sum()) / 1000, 1))
