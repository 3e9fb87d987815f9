"""What kopf carries: SchedulingPolicies and the scheduler's pending pods, as raw events.

Handlers only pass events on. They never await, return a value (kopf would PATCH it into the status) or raise
(kopf would log it and never come back to the event). Pods that a list finds do not come by the handlers, unless kopf
carries them already: see ``listed.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import aiohttp
import kopf
from yarl import URL

from plimsoll.kube.backoff import Backoff
from plimsoll.kube.client import RequestObserver
from plimsoll.kube.connection import Connection
from plimsoll.kube.listed import handed_on
from plimsoll.kube.resources import PODS, POLICIES, Resource, pending_selector, resource_of
from plimsoll.kube.sink import Sink, hand_on


class NoDiffs(kopf.DiffBaseStorage):
    """Keeps nothing: only ``on.event`` handlers exist, and they need no difference.

    kopf's own would copy every object deeply at each event and annotate it; without it an event costs less
    than half, and nothing is ever PATCHed.
    """

    def build(self, *, body: kopf.Body, extra_fields: Iterable[Any] | None = None) -> kopf.BodyEssence:  # noqa: ARG002
        return kopf.BodyEssence()

    def fetch(self, *, body: kopf.Body) -> kopf.BodyEssence | None:  # noqa: ARG002
        return None

    def store(self, *, body: kopf.Body, patch: kopf.Patch, essence: kopf.BodyEssence) -> None:
        """Nowhere."""


class NoProgress(kopf.ProgressStorage):
    """Keeps nothing: handlers of raw events have no progress, and are not tried again."""

    def fetch(self, *, key: kopf.HandlerId, body: kopf.Body) -> kopf.ProgressRecord | None:  # noqa: ARG002
        return None

    def store(self, *, key: kopf.HandlerId, record: kopf.ProgressRecord, body: kopf.Body, patch: kopf.Patch) -> None:
        """Nowhere."""

    def purge(self, *, key: kopf.HandlerId, body: kopf.Body, patch: kopf.Patch) -> None:
        """Nothing is there."""

    def touch(self, *, body: kopf.Body, patch: kopf.Patch, value: str | None) -> None:
        """Nothing is there."""

    def clear(self, *, essence: kopf.BodyEssence) -> kopf.BodyEssence:
        """As it is: kopf's own copies it deeply to take out what was never in it."""
        return essence


def make_registry(
    *, connection: Connection, policies: Sink, pods: Sink, observe: RequestObserver = lambda *_: None
) -> kopf.OperatorRegistry:
    """Handlers in a registry of their own: kopf's default one is global to the process.

    Args:
        observe: told of kopf's own requests.
    """
    registry = kopf.OperatorRegistry()
    _pass_on(registry, POLICIES, policies, handler_id="policy")
    _pass_on(registry, PODS, pods, handler_id="pending-pod")
    # One for all sessions: a new login does not change who told of which pod.
    answers = handed_on(PODS, pods)

    @kopf.on.login(registry=registry)
    async def login(**_: Any) -> kopf.AiohttpSession:
        # A session of its own, since kopf closes it; credentials are kept fresh within.
        session = connection.session(traces=(_counting(observe),), response_class=answers)
        return kopf.AiohttpSession(server=connection.server, aiohttp_session=session)

    return registry


def _counting(observe: RequestObserver) -> aiohttp.TraceConfig:
    """Without durations: aiohttp tells of the head of an answer, not of its end."""

    def tell(method: str, url: URL, code: int) -> None:
        verb = "watch" if "watch" in url.query else method.lower()
        observe(verb, resource_of(url.path), code, None)

    async def ended(_: Any, __: Any, end: aiohttp.TraceRequestEndParams) -> None:
        tell(end.method, end.url, end.response.status)

    async def failed(_: Any, __: Any, end: aiohttp.TraceRequestExceptionParams) -> None:
        tell(end.method, end.url, 0)

    trace = aiohttp.TraceConfig()
    trace.on_request_end.append(ended)
    trace.on_request_exception.append(failed)
    return trace


def _pass_on(registry: kopf.OperatorRegistry, resource: Resource, sink: Sink, *, handler_id: str) -> None:
    @kopf.on.event(resource.group, resource.version, resource.plural, registry=registry, id=handler_id)
    async def handle(event: kopf.RawEvent, **_: Any) -> None:
        hand_on(event["object"], sink, gone=event["type"] == "DELETED", resource=resource)


def make_settings(*, scheduler_name: str) -> kopf.OperatorSettings:
    settings = kopf.OperatorSettings()
    settings.peering.standalone = True
    # The CRD is there before kopf starts; without the scan no right to list CRDs is needed.
    settings.scanning.disabled = True
    settings.posting.enabled = False
    settings.persistence.diffbase_storage = NoDiffs()
    settings.persistence.progress_storage = NoProgress()
    # kopf ends by SIGKILL what takes too long to stop; it is stopped and started while the process goes on.
    settings.process.ultimate_exiting_timeout = None
    # A pod's worker holds 23 KB until it is idle, and thousands may come at once. There is no limit to workers: it
    # would bound the pods per second to the limit divided by the idle time.
    settings.queueing.idle_timeout = 0.02
    settings.queueing.exit_timeout = 0.5
    settings.watching.field_selectors[PODS.group, PODS.version, PODS.plural] = pending_selector(scheduler_name)
    # What a page holds all at once is in the way of the garbage collector.
    settings.watching.chunk_size = 100
    # The streamed list loses objects where it is cut before its first bookmark.
    settings.watching.initial_streaming = False
    settings.watching.server_timeout = 300
    settings.watching.reconnect_backoff = 0.1
    # Without end: an outage of the API server must not end the operator.
    settings.networking.error_backoffs = Backoff()
    settings.networking.connect_timeout = 5
    settings.networking.request_timeout = 30
    return settings
