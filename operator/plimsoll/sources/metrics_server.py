"""metrics-server by way of the API server: ``metrics.k8s.io/v1beta1`` nodes, by the official client.

``.timestamp`` is when the sample was taken and ``.window`` what it covers; creationTimestamp is only the time
of the request.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from kubernetes.client import ApiClient, CustomObjectsApi

from plimsoll.cluster.times import epoch_s
from plimsoll.load.samples import MetricsServerAnswers, NodeUsage
from plimsoll.sources.observing import OnQuery
from plimsoll.sources.resource_metrics import (
    GROUP,
    NONSENSE,
    REFUSED,
    VERSION,
    Json,
    amount,
    go_duration_s,
    or_nan,
    refusal,
)
from plimsoll.sources.threads import Threads

_TIMEOUT_S = 10.0
# metrics-server scrapes every 15 s at the most often that is usual.
_LONGEST_SHARED_S = 15.0


class MetricsServer:
    """Asks on behalf of policies; lives in one event loop.

    Args:
        api: configured for the API server; used by one thread at a time.
        on_query: told the policy's name and the seconds of each question that was really asked.
    """

    def __init__(self, api: ApiClient, *, on_query: OnQuery, timeout_s: float = _TIMEOUT_S) -> None:
        self._api, self._on_query, self._timeout_s = CustomObjectsApi(api), on_query, timeout_s
        self._threads = Threads(1, name="metrics-server")
        self._asked: asyncio.Task[MetricsServerAnswers] | None = None
        self._asked_at_s = 0.0

    async def ask(self, *, policy: str, now_s: float, max_age_s: float) -> MetricsServerAnswers:
        """All nodes' usage, at most ``max_age_s`` old; what fails is told in the answer, nothing is raised."""
        young = 0 <= now_s - self._asked_at_s <= min(max_age_s, _LONGEST_SHARED_S)
        if self._asked is None or (self._asked.done() and not (young and _succeeded(self._asked))):
            self._asked_at_s = now_s
            self._asked = asyncio.create_task(self._answers(policy, now_s))
        # Others may wait for the same answer: it outlives whoever asked first.
        return await asyncio.shield(self._asked)

    async def close(self) -> None:
        """Gives up what is under way."""
        if self._asked is not None:
            self._asked.cancel()
            await asyncio.gather(self._asked, return_exceptions=True)

    async def _answers(self, policy: str, now_s: float) -> MetricsServerAnswers:
        began_s = time.monotonic()
        try:
            listed = await self._threads.run(self._list, timeout_s=self._timeout_s)
            return MetricsServerAnswers(asked_at_s=now_s, usages=tuple(map(node_usage, listed)))
        except (*REFUSED, *NONSENSE) as error:
            failure = refusal(error, what="nodes", timeout_s=self._timeout_s)
        finally:
            self._on_query(policy, time.monotonic() - began_s)
        return MetricsServerAnswers(asked_at_s=now_s, failure=failure)

    def _list(self) -> list[Json]:
        answer: Any = self._api.list_cluster_custom_object(GROUP, VERSION, "nodes", _request_timeout=self._timeout_s)
        items: list[Json] = answer["items"]
        return items


def node_usage(item: Json) -> NodeUsage:
    """One NodeMetrics; a number that cannot be read is NaN, which nobody takes for 0.

    Raises:
        LookupError, TypeError: it is no NodeMetrics at all.
    """
    usage, name = item.get("usage") or {}, item["metadata"]["name"]
    if not isinstance(name, str):
        raise TypeError(f"the name {name!r:.80} is no text")
    return NodeUsage(
        node=name,
        sampled_at_s=or_nan(epoch_s(item.get("timestamp"))),
        window_s=go_duration_s(item.get("window")),
        cpu_cores=amount(usage.get("cpu")),
        mem_bytes=amount(usage.get("memory")),
    )


def _succeeded(task: asyncio.Task[MetricsServerAnswers]) -> bool:
    return not task.cancelled() and not task.exception() and not task.result().failure
