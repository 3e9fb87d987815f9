"""A look at what pods use, by ``metrics.k8s.io/v1beta1`` pods."""

from __future__ import annotations

import functools
from typing import Any

from kubernetes.client import ApiClient, CustomObjectsApi

from plimsoll.cluster.times import epoch_s
from plimsoll.errors import SourceUnreachable
from plimsoll.load.confidence import MISSING_AFTER_S
from plimsoll.load.pod_use import PodAmount, use_by_workload
from plimsoll.load.samples import PodUsage
from plimsoll.load.workload_use import WorkloadUse
from plimsoll.policy.compiled import CPU, MEMORY, MetricsServerSource
from plimsoll.sources.pod_looks import Looked, Pods
from plimsoll.sources.resource_metrics import (
    GROUP,
    NONSENSE,
    REFUSED,
    VERSION,
    Json,
    amount,
    go_duration_s,
    items,
    or_nan,
    refusal,
)
from plimsoll.sources.threads import Threads

# All pods of a large cluster are tens of megabytes.
_TIMEOUT_S = 30.0


class PodUseOfMetricsServer:
    """Lists all pods at once, whichever policies want to know.

    Args:
        api: configured for the API server; left alone, a client of the same configuration is used.
    """

    source = MetricsServerSource.kind
    name = "metrics-server"
    knows = frozenset({CPU, MEMORY})

    def __init__(self, api: ApiClient, *, timeout_s: float = _TIMEOUT_S) -> None:
        # A client is for one thread at a time.
        self._api = CustomObjectsApi(ApiClient(api.configuration))
        self._timeout_s = timeout_s
        self._threads = Threads(1, name="metrics-server's pods")

    async def __call__(self, metrics: frozenset[str], *, pods: Pods, now_s: float) -> Looked:
        """As ``Look``."""
        ask = functools.partial(self._ask, metrics, pods, now_s)
        try:
            return await self._threads.run(ask, timeout_s=self._timeout_s)
        except (*REFUSED, *NONSENSE) as error:
            raise SourceUnreachable(refusal(error, what="pods", timeout_s=self._timeout_s)) from error

    def _ask(self, metrics: frozenset[str], pods: Pods, now_s: float) -> Looked:
        """In a thread."""
        usages = [usage for usage in map(pod_usage, items(self._list())) if _is_current(usage, now_s)]
        cpu = (PodAmount(u.pod, u.cpu_cores, u.sampled_at_s, u.window_s) for u in usages)
        memory = (PodAmount(u.pod, u.mem_bytes, u.sampled_at_s, 0.0) for u in usages)
        judged = {
            metric: use_by_workload(metric, amounts, pods=pods)
            for metric, amounts in ((CPU, cpu), (MEMORY, memory))
            if metric in metrics
        }
        newest_s = min(max((usage.sampled_at_s for usage in usages), default=now_s), now_s)
        return Looked(WorkloadUse(newest_s, {metric: used for metric, used in judged.items() if used}))

    def _list(self) -> str:
        answer: Any = self._api.list_cluster_custom_object(
            GROUP, VERSION, "pods", _preload_content=False, _request_timeout=self._timeout_s
        )
        body: bytes = answer.data
        return body.decode()


def pod_usage(item: Json) -> PodUsage:
    """One PodMetrics; a pod one of whose containers cannot be read is not known, as its sum is not.

    Raises:
        LookupError, TypeError: it is no PodMetrics at all.
    """
    metadata = item["metadata"]
    containers: list[Json] = item.get("containers") or [{}]
    usages: list[Json] = [container.get("usage") or {} for container in containers]
    return PodUsage(
        pod=f"{metadata['namespace']}/{metadata['name']}",
        sampled_at_s=or_nan(epoch_s(item.get("timestamp"))),
        window_s=go_duration_s(item.get("window")),
        cpu_cores=sum(amount(usage.get("cpu")) for usage in usages),
        mem_bytes=sum(amount(usage.get("memory")) for usage in usages),
    )


def _is_current(usage: PodUsage, now_s: float) -> bool:
    return now_s - usage.sampled_at_s <= MISSING_AFTER_S
