"""The Binding of a pod to a node: one POST, and a look at the pod wherever its outcome is not certain."""

from __future__ import annotations

import asyncio
import enum
from dataclasses import dataclass
from typing import NamedTuple

from plimsoll.cluster.pod import DECISION_ANNOTATION, PodInfo
from plimsoll.errors import ApiError, Conflict, NotFound, Unavailable
from plimsoll.kube.backoff import Backoff
from plimsoll.kube.client import ApiClient, Json
from plimsoll.kube.resources import PODS


class BindOutcome(enum.Enum):
    BOUND = "bound"
    ASSIGNED = "already assigned"  # somebody else was first
    REPLACED = "uid differs"  # another pod has the name now
    GONE = "gone"  # deleted, or being deleted
    FAILED = "failed"  # not bound, and it may work another time

    @property
    def retry(self) -> bool:
        return self is BindOutcome.FAILED


@dataclass(frozen=True, slots=True)
class BindResult:
    """``message`` is the API server's, "" where the pod was bound."""

    outcome: BindOutcome
    message: str = ""


class Binder:
    """Binds pods.

    Args:
        timeout_s: below lease duration minus renew deadline: who has lost the lease has no Binding under way
            any more when another takes it.
    """

    def __init__(self, client: ApiClient, *, timeout_s: float) -> None:
        self._client = client
        self._timeout_s = timeout_s

    async def bind(self, pod: PodInfo, *, node: str, annotation: str) -> BindResult:
        """The outcome, which is certain: returns once the API server has said it, however long that takes."""
        path = PODS.path(namespace=pod.namespace, name=pod.name, subresource="binding")
        try:
            await self._client.tell(path, _body(pod, node, annotation), timeout_s=self._timeout_s)
        except NotFound as error:
            return BindResult(BindOutcome.GONE, str(error))
        except (Conflict, Unavailable) as error:
            return await self._look(pod, node, annotation, error)
        except ApiError as error:
            return BindResult(BindOutcome.FAILED, str(error))
        return BindResult(BindOutcome.BOUND)

    async def _look(self, pod: PodInfo, node: str, annotation: str, failure: ApiError) -> BindResult:
        """What the pod itself says. A Binding may have been carried out although no answer came: to forget it
        would overcommit the node; and one that was in the way of ours may have been ours.
        """
        backoff = Backoff()
        wait_s = failure.retry_after_s
        while True:
            await asyncio.sleep(wait_s)
            try:
                found = await self._client.get(
                    PODS.path(namespace=pod.namespace, name=pod.name), timeout_s=self._timeout_s
                )
            except NotFound as error:
                return BindResult(BindOutcome.GONE, str(error))
            except ApiError as error:
                wait_s = backoff.next_s(at_least_s=error.retry_after_s)
            else:
                return _seen(found, _Sent(pod, node, annotation), failure)


def _body(pod: PodInfo, node: str, annotation: str) -> Json:
    # With the uid a pod that was recreated under the same name is not bound by an old decision.
    # The API server copies the annotations to the pod in the same write.
    metadata: Json = {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid}
    if annotation:
        metadata["annotations"] = {DECISION_ANNOTATION: annotation}
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": metadata,
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }


class _Sent(NamedTuple):
    pod: PodInfo
    node: str
    annotation: str


def _seen(found: Json, sent: _Sent, failure: ApiError) -> BindResult:
    key, metadata = sent.pod.key, found["metadata"]
    node = (found.get("spec") or {}).get("nodeName", "")
    if metadata.get("uid") != sent.pod.uid:
        return BindResult(BindOutcome.REPLACED, f"pod {key} was recreated")
    if node == sent.node and (metadata.get("annotations") or {}).get(DECISION_ANNOTATION, "") == sent.annotation:
        return BindResult(BindOutcome.BOUND)
    if node:
        return BindResult(BindOutcome.ASSIGNED, f"pod {key} is already assigned to node {node}")
    if metadata.get("deletionTimestamp"):
        return BindResult(BindOutcome.GONE, f"pod {key} is being deleted")
    return BindResult(BindOutcome.FAILED, str(failure))
