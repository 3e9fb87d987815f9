"""Reserving allocated resource claims for a pod: kube-scheduler's DynamicResources, the part that writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.reservation import Reservation
from plimsoll.errors import ApiError, Conflict
from plimsoll.kube.client import STRATEGIC_MERGE_PATCH, ApiClient, Json
from plimsoll.kube.resources import RESOURCE_CLAIMS

# client-go's retry.DefaultRetry.
_TRIES = 5
_PAUSE_S = 0.01
_NOT_ALLOWED = "this process does not lead any more"


class ReservationWriter:
    """Adds pods to, and takes them off, ``status.reservedFor``.

    Args:
        may_write: asked before each request.
        timeout_s: of a request; below lease duration minus renew deadline.
    """

    def __init__(self, client: ApiClient, *, may_write: Callable[[], bool], timeout_s: float) -> None:
        self._client = client
        self._may_write = may_write
        self._timeout_s = timeout_s

    async def reserve(self, claim: Reservation, pod: PodInfo) -> str:
        """What keeps the pod from having the claim, in kube-scheduler's words; "" once the claim is reserved for it.

        A write holds only for the version that was looked at; where others write as well it looks again.
        """
        failure: ApiError | None = None
        for _ in range(_TRIES):
            if not self._may_write():
                return _NOT_ALLOWED
            try:
                return await self._try(claim, pod)
            except Conflict as error:
                failure = error
                await asyncio.sleep(_PAUSE_S)
            except ApiError as error:
                failure = error
                break
        return f"add reservation to claim {claim.key}: {failure}"

    async def release(self, claim: Reservation, pod: PodInfo) -> None:
        """Takes the pod off, whatever else has changed; not where another leads, who may need it there.

        Raises:
            ApiError: it was not taken off, or the claim is gone.
        """
        if not self._may_write():
            return
        body = {"metadata": {"uid": claim.uid}, "status": {"reservedFor": [{"$patch": "delete", "uid": pod.uid}]}}
        await self._client.patch(
            _path(claim, "status"), body, content_type=STRATEGIC_MERGE_PATCH, timeout_s=self._timeout_s
        )

    async def _try(self, claim: Reservation, pod: PodInfo) -> str:
        found = await self._client.get(_path(claim), timeout_s=self._timeout_s)
        metadata, status = found["metadata"], found.get("status") or {}
        if metadata["uid"] != claim.uid or metadata.get("deletionTimestamp"):
            return f"claim {claim.key} got deleted in the meantime"
        if not status.get("allocation"):
            return f"claim {claim.key} got deallocated elsewhere in the meantime"
        consumers: list[Json] = status.get("reservedFor") or []
        if all(consumer.get("uid") != pod.uid for consumer in consumers):
            if not self._may_write():
                return _NOT_ALLOWED
            body = {
                "metadata": {"uid": claim.uid, "resourceVersion": metadata["resourceVersion"]},
                "status": {"reservedFor": [*consumers, _consumer(pod)]},
            }
            await self._client.patch(_path(claim, "status"), body, timeout_s=self._timeout_s)
        return ""


def _path(claim: Reservation, subresource: str = "") -> str:
    return RESOURCE_CLAIMS.path(namespace=claim.namespace, name=claim.name, subresource=subresource)


def _consumer(pod: PodInfo) -> dict[str, Any]:
    return {"resource": "pods", "name": pod.name, "uid": pod.uid}
