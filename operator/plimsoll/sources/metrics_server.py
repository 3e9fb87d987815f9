"""metrics-server by way of the API server: ``metrics.k8s.io/v1beta1`` nodes, by the official client.

``.timestamp`` is when the sample was taken and ``.window`` what it covers; creationTimestamp is only the time
of the request.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import Mapping
from typing import Any

import urllib3
from kubernetes.client import ApiClient, CustomObjectsApi
from kubernetes.client.exceptions import ApiException

from plimsoll.cluster.quantity import exact
from plimsoll.cluster.times import epoch_s
from plimsoll.errors import QuantityError
from plimsoll.load.samples import MetricsServerAnswers, NodeUsage
from plimsoll.sources.observing import OnQuery
from plimsoll.sources.sentences import cause
from plimsoll.sources.threads import Threads

Json = Mapping[str, Any]

_TIMEOUT_S = 10.0
# metrics-server scrapes every 15 s at the most often that is usual.
_LONGEST_SHARED_S = 15.0
_BY_STATUS = {
    401: "The API server does not know us (401): check the credentials of Plimsoll.",
    403: "Plimsoll may not list nodes of metrics.k8s.io (403): grant it get and list on nodes.metrics.k8s.io.",
    404: "metrics.k8s.io is not served (404): install metrics-server, or set spec.metricsSource.prometheus.",
    429: "The API server is asked too often (429): raise spec.refreshInterval.",
    503: "metrics.k8s.io is out of service (503): look at APIService v1beta1.metrics.k8s.io and metrics-server's log.",
}
_GO_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?(?:h|ms|us|µs|ns|m|s))+", re.ASCII)
_GO_PART = re.compile(r"([0-9.]+)(h|ms|us|µs|ns|m|s)", re.ASCII)
_UNITS_S = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


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
        except TimeoutError:
            failure = f"The API server did not answer for metrics.k8s.io within {self._timeout_s:g} s."
        except ApiException as error:
            other = f"The API server answers {error.status} for metrics.k8s.io: see metrics-server's log."
            failure = _BY_STATUS.get(error.status or 0, other)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            failure = f"The API server cannot be reached for metrics.k8s.io: {cause(error)}."
        except (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
            failure = f"metrics.k8s.io answers something that is no list of NodeMetrics: {cause(error)}."
        finally:
            self._on_query(policy, time.monotonic() - began_s)
        return MetricsServerAnswers(asked_at_s=now_s, failure=failure)

    def _list(self) -> list[Json]:
        answer: Any = self._api.list_cluster_custom_object(
            "metrics.k8s.io", "v1beta1", "nodes", _request_timeout=self._timeout_s
        )
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
        sampled_at_s=_or_nan(epoch_s(item.get("timestamp"))),
        window_s=_go_duration_s(item.get("window")),
        cpu_cores=_amount(usage.get("cpu")),
        mem_bytes=_amount(usage.get("memory")),
    )


def _succeeded(task: asyncio.Task[MetricsServerAnswers]) -> bool:
    return not task.cancelled() and not task.exception() and not task.result().failure


def _amount(quantity: object) -> float:
    try:
        return float(exact(quantity))
    except QuantityError:
        return math.nan


def _go_duration_s(text: object) -> float:
    if not isinstance(text, str) or not _GO_DURATION.fullmatch(text):
        return math.nan
    return sum(float(number) * _UNITS_S[unit] for number, unit in _GO_PART.findall(text))


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value
