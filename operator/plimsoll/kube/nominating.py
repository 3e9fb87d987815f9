"""Writes where a pod is expected to go, before it is bound there: autoscalers must keep the room."""

from __future__ import annotations

import logging

from plimsoll.cluster.pod import PodInfo
from plimsoll.errors import ApiError
from plimsoll.kube.client import ApiClient
from plimsoll.kube.resources import PODS

log = logging.getLogger(__name__)


class Nominator:
    """Args:
    timeout_s: of a request; below lease duration minus renew deadline.
    """

    def __init__(self, client: ApiClient, *, timeout_s: float) -> None:
        self._client = client
        self._timeout_s = timeout_s

    async def nominate(self, pod: PodInfo, node: str) -> None:
        """Sets the pod's nominatedNodeName; "" takes it away. A failure keeps nobody from binding the pod."""
        path = PODS.path(namespace=pod.namespace, name=pod.name, subresource="status")
        body = {"metadata": {"uid": pod.uid}, "status": {"nominatedNodeName": node or None}}
        try:
            await self._client.patch(path, body, timeout_s=self._timeout_s)
        except ApiError as error:
            log.info("nominated node was not written: %s", error, extra={"pod": pod.key, "node": node})
