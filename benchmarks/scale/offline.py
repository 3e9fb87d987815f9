"""The measurements that need no API server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.scale.events import confirmations, heartbeats, nodes_coming_and_going, pod_events
from benchmarks.scale.lag import lags_of_refreshes
from benchmarks.scale.memory import resident_mib
from benchmarks.scale.prometheus import policy, serving
from benchmarks.scale.refreshes import look, refresh
from benchmarks.scale.timing import Cost, Stopwatch
from benchmarks.scale.world import OLD_S, RECENT_S, World
from plimsoll.runtime.memory import settle_memory

_LAGS = 3


@dataclass(frozen=True, slots=True)
class Size:
    """How large the cluster is, and how often each kind of work is measured."""

    nodes: int
    pods: int
    metrics: int
    times: int


def measured(size: Size, *, wall: bool) -> tuple[list[Cost], dict[str, Any]]:
    """Args:
    wall: also how late the loop is while threads work; that is by the wall clock, so that nothing else may run.
    """
    watch, before_mib = Stopwatch(), resident_mib()
    world = World()
    world.fill(nodes=size.nodes, pods=size.pods, started_ago_s=OLD_S, watch=watch)
    figures: dict[str, Any] = {"cluster_mib": round(resident_mib() - before_mib, 1)}
    settle_memory()
    with serving(nodes=size.nodes, pods=size.pods, metrics=size.metrics) as url:
        _events(world, size, watch)
        _refreshes(world, size, url, "few in flight", watch)
        figures["with_a_policy_mib"] = round(resident_mib() - before_mib, 1)
        if wall:
            lags = lags_of_refreshes(world, policy(size.metrics, url=url), times=_LAGS)
            figures["longest_lags_ms"] = [round(lag, 1) for lag in lags]
        del world
        full = World()
        full.fill(nodes=size.nodes, pods=size.pods, started_ago_s=RECENT_S)
        settle_memory()
        _refreshes(full, size, url, "all pods in flight", watch)
    return watch.costs(), figures


def _events(world: World, size: Size, watch: Stopwatch) -> None:
    heartbeats(world, nodes=size.nodes, times=size.times, watch=watch)
    pod_events(world, nodes=size.nodes, first=size.pods, times=size.times, watch=watch)
    confirmations(world, first=size.pods + size.times, times=size.times, watch=watch)


def _refreshes(world: World, size: Size, url: str, ledger: str, watch: Stopwatch) -> None:
    in_force = policy(size.metrics, url=url)
    world.scheduler.policies_changed([in_force], now_s=0.0)
    use, few = look(world, in_force, watch=watch), max(3, size.times // 20)
    for k in range(few):
        refresh(world, in_force, use=use if k % 2 else None, ledger=ledger, watch=watch)
    nodes_coming_and_going(
        world, pod_number=2 * size.pods + 1, node_number=size.nodes, times=few, ledger=ledger, watch=watch
    )
