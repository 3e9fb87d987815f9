"""What a refresh of one policy costs, part by part, and how long it holds up the loop as a whole."""

from __future__ import annotations

import asyncio
import itertools
import time
from dataclasses import replace
from functools import partial

import orjson

from benchmarks.scale.timing import Stopwatch
from benchmarks.scale.world import World
from plimsoll.load.pod_use_queries import pod_queries, window_s
from plimsoll.load.prometheus_readings import readings_from_prometheus
from plimsoll.load.queries import queries
from plimsoll.load.readings import Readings
from plimsoll.load.samples import PrometheusAnswers
from plimsoll.load.workload_use import WorkloadUse
from plimsoll.policy.compiled import BUILT_IN_METRICS, MEMORY, Policy, PrometheusSource
from plimsoll.reporting.status import policy_status
from plimsoll.sources.pod_use_of_prometheus import PodUseOfPrometheus
from plimsoll.sources.prometheus_client import PrometheusClient

_ids = itertools.count(1)


def refresh(world: World, policy: Policy, *, use: WorkloadUse | None, ledger: str, watch: Stopwatch) -> None:
    """One refresh, its parts one after the other."""
    assert isinstance(policy.source, PrometheusSource)
    scheduler, now_s = world.scheduler, time.time()
    client = PrometheusClient(policy.source)
    answers = {
        query.id: watch.measure("one query of all nodes", "thread", partial(client.query, query.text, at_s=now_s))
        for query in queries(policy)
    }
    client.cut_off()
    readings = watch.measure(
        f"judging {len(policy.metrics)} metrics",
        "thread",
        partial(
            readings_from_prometheus,
            policy=policy,
            nodes=tuple(scheduler.nodes()),
            pods=world.pods.node_of,
            answers=PrometheusAnswers(asked_at_s=now_s, answers=answers),
            readings_id=next(_ids),
        ),
    )
    take(world, policy, replace(readings, use=use), ledger=ledger, watch=watch)


def take(world: World, policy: Policy, readings: Readings, *, ledger: str, watch: Stopwatch) -> None:
    """What of a refresh is done on the loop."""
    scheduler, now_s = world.scheduler, time.time()
    learnt = ", with a look" if readings.use else ""
    watch.measure(
        f"readings in force, {ledger}{learnt}",
        "loop",
        partial(scheduler.readings_taken, policy.name, readings, now_s=now_s),
    )
    overview = watch.measure("overview of the policy", "loop", partial(scheduler.overview, policy.name, now_s=now_s))
    assert overview is not None
    status = watch.measure("status", "loop", partial(policy_status, overview, previous=None, now_s=now_s))
    watch.measure("status as JSON", "loop", partial(orjson.dumps, status))


def look(world: World, policy: Policy, *, watch: Stopwatch) -> WorkloadUse:
    """At what all pods use; each of its queries and their sums in a thread."""
    assert isinstance(policy.source, PrometheusSource)
    client, now_s = PrometheusClient(policy.source), time.time()
    for query in pod_queries([MEMORY], window_s=window_s(policy.time_range_s)):
        watch.measure("one query of all pods", "thread", partial(client.query, query.text, at_s=now_s))
    client.cut_off()
    asking = PodUseOfPrometheus(policy.source, time_range_s=policy.time_range_s)
    return asyncio.run(asking(frozenset(BUILT_IN_METRICS), pods=world.pods.place_of, now_s=now_s)).use
