"""A look at what pods use, by cAdvisor's series in a Prometheus."""

from __future__ import annotations

import functools

from plimsoll.errors import QueryRejected
from plimsoll.load.pod_use import PodAmount, use_by_workload
from plimsoll.load.pod_use_queries import pod_queries, window_s
from plimsoll.load.samples import Sample
from plimsoll.load.workload_use import WorkloadUse
from plimsoll.policy.compiled import BUILT_IN_METRICS, MEMORY, PrometheusSource
from plimsoll.sources.pod_looks import Looked, Pods
from plimsoll.sources.prometheus_client import PrometheusClient
from plimsoll.sources.sentences import late, shown
from plimsoll.sources.threads import Threads

# The socket's own time-out comes first: it knows better what it waited for.
_GRACE_S = 1.0


class PodUseOfPrometheus:
    """Asks one query after the other, so that the refreshes' queries do not wait for Prometheus behind them.

    Args:
        time_range_s: of the policies that want to know.
    """

    source = PrometheusSource.kind
    knows = frozenset(BUILT_IN_METRICS)

    def __init__(self, source: PrometheusSource, *, time_range_s: float) -> None:
        self.name = shown(source)
        self._source, self._window_s = source, window_s(time_range_s)
        self._threads = Threads(1, name=f"pods of {self.name}")

    async def __call__(self, metrics: frozenset[str], *, pods: Pods, now_s: float) -> Looked:
        """As ``Look``."""
        client = PrometheusClient(self._source)
        ask = functools.partial(self._ask, client, sorted(metrics), pods, now_s)
        try:
            return await self._threads.run(ask, timeout_s=len(metrics) * self._source.timeout_s + _GRACE_S)
        except TimeoutError as error:
            raise late(self._source) from error
        finally:
            client.cut_off()

    def _ask(self, client: PrometheusClient, metrics: list[str], pods: Pods, now_s: float) -> Looked:
        """In a thread; a query that is refused fails alone."""
        by_metric, problem = {}, ""
        for query in pod_queries(metrics, window_s=self._window_s):
            window = 0.0 if query.id == MEMORY else self._window_s
            # One by one: all of them would be much to hold, and to let go of.
            amounts = (_amount(sample, now_s, window) for sample in client.samples(query.text, at_s=now_s))
            try:
                if used := use_by_workload(query.id, amounts, pods=pods):
                    by_metric[query.id] = used
            except QueryRejected as error:
                problem = problem or str(error)
        return Looked(WorkloadUse(now_s, by_metric), problem or self._without(by_metric))

    def _without(self, by_metric: object) -> str:
        if by_metric:
            return ""
        return f"{self.name} has no series container_* of known pods: scrape the kubelets' /metrics/cadvisor."


def _amount(sample: Sample, now_s: float, window_s: float) -> PodAmount:
    pod = f"{sample.labels.get('namespace', '')}/{sample.labels.get('pod', '')}"
    return PodAmount(pod, sample.value, now_s, window_s)
