"""Writes where a pod is expected to go, before it is bound there: autoscalers must keep the room."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.errors import ApiError
from plimsoll.kube.client import ApiClient
from plimsoll.kube.resources import PODS

log = logging.getLogger(__name__)


class Nominator:
    """Args:
    withdraw: returns once no condition of the pod is written any more that says it is expected nowhere.
    may_write: asked before each request.
    timeout_s: of a request; below lease duration minus renew deadline.
    """

    def __init__(
        self,
        client: ApiClient,
        *,
        withdraw: Callable[[Uid], Awaitable[None]],
        may_write: Callable[[], bool],
        timeout_s: float,
    ) -> None:
        self._client = client
        self._withdraw = withdraw
        self._may_write = may_write
        self._timeout_s = timeout_s

    async def nominate(self, pod: PodInfo, node: str) -> None:
        """Sets the pod's nominatedNodeName; "" takes it away. A failure keeps nobody from binding the pod."""
        if node:
            await self._withdraw(pod.uid)
        if not self._may_write():
            return
        path = PODS.path(namespace=pod.namespace, name=pod.name, subresource="status")
        body = {"metadata": {"uid": pod.uid}, "status": {"nominatedNodeName": node or None}}
        try:
            await self._client.patch(path, body, timeout_s=self._timeout_s)
        except ApiError as error:
            log.info("nominated node was not written: %s", error, extra={"pod": pod.key, "node": node})
