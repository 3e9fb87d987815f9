"""Is the comparison worth its name: with any one filter letting everything pass, a disagreement must show."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from plimsoll.filters.interface import ClusterFilter, NodeFilter
from plimsoll.filters.order import CLUSTER_FILTERS, LATE_NODE_FILTERS, NODE_FILTERS
from tests.oracle.cases import Judge
from tests.oracle.running import run

# No pending pod names its node: one that does is never queued, and the filter is for the programs that ask it.
UNREACHABLE = frozenset({"NodeName"})
EVERY: tuple[NodeFilter | ClusterFilter, ...] = (*NODE_FILTERS, *CLUSTER_FILTERS, *LATE_NODE_FILTERS)


@contextmanager
def passing_all(mutated: NodeFilter | ClusterFilter) -> Iterator[None]:
    """As if the filter had nothing to say to any pod."""
    method = "concerns" if hasattr(mutated, "concerns") else "prepare"
    nothing = False if method == "concerns" else None
    with mock.patch.object(type(mutated), method, return_value=nothing):
        yield


def mutate(judge: Judge, *, seed: int, pods: int) -> int:
    """Says of each filter after how many pods it was missed; 1 where one was not."""
    if found := run(judge, pods=pods, seed=seed).found:
        print(f"there is a disagreement without any mutation, so this says nothing: {found[0][1]}")
        return 1
    unnoticed = []
    for mutated in EVERY:
        if mutated.name in UNREACHABLE:
            print(f"{mutated.name}: not asked, since pods with a node never wait")
            continue
        with passing_all(mutated):
            done = run(judge, pods=pods, seed=seed)
        if done.found:
            print(f"{mutated.name}: missed after {done.counts.pods} pods: {done.found[0][1].field}", flush=True)
        else:
            unnoticed.append(mutated.name)
            print(f"{mutated.name}: NOT MISSED in {done.counts.pods} pods", flush=True)
    return 1 if unnoticed else 0
