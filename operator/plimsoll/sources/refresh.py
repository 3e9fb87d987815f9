"""One refresh of one policy: ask its source, judge the answer."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from kubernetes.client import ApiClient

from plimsoll.cluster.node import NodeInfo
from plimsoll.load.carry_over import carry_over
from plimsoll.load.metrics_server_readings import readings_from_metrics_server
from plimsoll.load.pod_use import PodPlace
from plimsoll.load.prometheus_readings import readings_from_prometheus
from plimsoll.load.readings import Readings
from plimsoll.load.verdicts import WHOLE_SOURCE
from plimsoll.policy.compiled import MetricsServerSource, Policy, PrometheusSource
from plimsoll.sources.metrics_server import MetricsServer
from plimsoll.sources.observing import OnLook, OnQuery, uncounted, unobserved
from plimsoll.sources.pod_use import PodUse
from plimsoll.sources.prometheus import Prometheus

log = logging.getLogger(__name__)

_NONE_KNOWN: Mapping[str, PodPlace] = MappingProxyType({})


class Sources:
    """All metrics sources of the process. Lives in one event loop; use from no other.

    Args:
        api: the official client, configured for the API server that serves ``metrics.k8s.io``.
        on_query: told the policy's name and the seconds of each query for nodes that was really asked.
        on_look: told of each look at what pods use.
    """

    def __init__(self, api: ApiClient, *, on_query: OnQuery = unobserved, on_look: OnLook = uncounted) -> None:
        self._prometheus = Prometheus(on_query=on_query)
        self._metrics_server = MetricsServer(api, on_query=on_query)
        self._pod_use = PodUse(api, on_look=on_look)
        self._ids = itertools.count(1)

    async def refresh(
        self,
        policy: Policy,
        *,
        nodes: Iterable[NodeInfo],
        pods: Mapping[str, str],
        places: Mapping[str, PodPlace] = _NONE_KNOWN,
        now_s: float,
        previous: Readings | None = None,
    ) -> Readings:
        """A new set of readings; whatever fails is in its failures, nothing is raised.

        A policy without a source (the built-in default, or one whose source may not be asked yet) gets a set
        without metrics; what is not enforced yet is told by the policy itself.

        Args:
            nodes: every node that is known; copied before the first await.
            pods: node by ``namespace/name`` of a pod; looked up from another thread.
            places: of the pods that run, to learn from what they use; looked up from another thread. What is learned
                comes with a later refresh.
            previous: the policy's last readings: what is not answered this time is taken from them, at its true age.
        """
        known, readings_id = tuple(nodes), next(self._ids)
        try:
            readings = await self._read(
                policy, known=known, pods=pods, now_s=now_s, readings_id=readings_id, previous=previous
            )
            readings = replace(readings, use=self._pod_use.news(policy, pods=places, now_s=now_s))
        except Exception as error:
            # Whoever answers is named by a policy: nothing that it says may end the scheduling for all others.
            log.exception("the metrics source's answer could not be judged", extra={"policy": policy.name})
            why = f"The metrics source's answer could not be judged ({type(error).__name__}): see Plimsoll's log."
            names = tuple(node.name for node in known)
            readings = Readings(id=readings_id, taken_at_s=now_s, nodes=names, metrics={}, failures={WHOLE_SOURCE: why})
        return carry_over(previous, readings, interval_s=policy.refresh_interval_s)

    async def close(self) -> None:
        """Gives up what is under way."""
        await self._prometheus.close()
        await self._metrics_server.close()
        await self._pod_use.close()

    async def _read(
        self,
        policy: Policy,
        *,
        known: tuple[NodeInfo, ...],
        pods: Mapping[str, str],
        now_s: float,
        readings_id: int,
        previous: Readings | None,
    ) -> Readings:
        match policy.source:
            case PrometheusSource() as source:
                answers = await self._prometheus.ask(policy, source, now_s=now_s)
                # Thousands of series take longer to judge than the event loop may stand still.
                return await asyncio.to_thread(
                    readings_from_prometheus,
                    policy=policy,
                    nodes=known,
                    pods=pods,
                    answers=answers,
                    readings_id=readings_id,
                    before=previous.preflight if previous else None,
                )
            case MetricsServerSource():
                usages = await self._metrics_server.ask(
                    policy=policy.name, now_s=now_s, max_age_s=policy.refresh_interval_s / 2
                )
                return await asyncio.to_thread(
                    readings_from_metrics_server,
                    policy=policy,
                    nodes=known,
                    answers=usages,
                    readings_id=readings_id,
                    previous=previous,
                )
            case None:
                names = tuple(node.name for node in known)
                return Readings(id=readings_id, taken_at_s=now_s, nodes=names, metrics={})
