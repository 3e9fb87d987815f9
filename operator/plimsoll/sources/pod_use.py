"""What pods use, from whichever source a policy has."""

from __future__ import annotations

import asyncio

from kubernetes.client import ApiClient

from plimsoll.load.pod_use_queries import window_s
from plimsoll.load.workload_use import WorkloadUse
from plimsoll.policy.compiled import MetricsServerSource, Policy, PrometheusSource
from plimsoll.sources.observing import OnLook
from plimsoll.sources.pod_looks import PodLooks, Pods
from plimsoll.sources.pod_use_of_metrics_server import PodUseOfMetricsServer
from plimsoll.sources.pod_use_of_prometheus import PodUseOfPrometheus
from plimsoll.sources.prometheus import source_key


class PodUse:
    """The looks at all sources of the process. Lives in one event loop."""

    def __init__(self, api: ApiClient, *, on_look: OnLook) -> None:
        self._on_look = on_look
        self._metrics_server = PodLooks(PodUseOfMetricsServer(api), on_look=on_look)
        self._prometheus: dict[object, PodLooks] = {}

    def news(self, policy: Policy, *, pods: Pods, now_s: float) -> WorkloadUse | None:
        """What was seen since the policy was told last; None where there is nothing new. Never waits.

        Args:
            pods: by ``namespace/name``; looked up from another thread.
        """
        if not pods:
            return None
        match policy.source:
            case PrometheusSource() as source:
                return self._of(source, policy.time_range_s, now_s).news(policy, pods=pods, now_s=now_s)
            case MetricsServerSource():
                return self._metrics_server.news(policy, pods=pods, now_s=now_s)
            case None:
                return None

    async def close(self) -> None:
        """Gives up what is under way."""
        looks = (self._metrics_server, *self._prometheus.values())
        await asyncio.gather(*(look.close() for look in looks))

    def _of(self, source: PrometheusSource, time_range_s: float, now_s: float) -> PodLooks:
        """Policies share looks where they would ask the same."""
        for key, looks in list(self._prometheus.items()):
            looks.forget(now_s)
            if not looks.wanted:
                del self._prometheus[key]
        key = source_key(source), window_s(time_range_s)
        if key not in self._prometheus:
            look = PodUseOfPrometheus(source, time_range_s=time_range_s)
            self._prometheus[key] = PodLooks(look, on_look=self._on_look)
        return self._prometheus[key]
