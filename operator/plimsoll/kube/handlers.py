"""What kopf carries: SchedulingPolicies and the scheduler's pending pods, as raw events.

Handlers only pass events on. They never await, return a value (kopf would PATCH it into the status) or raise
(kopf would log it and never come back to the event).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any, Protocol

import kopf

from plimsoll.kube.backoff import Backoff
from plimsoll.kube.connection import Connection
from plimsoll.kube.resources import PODS, POLICIES, Resource, pending_selector

Json = dict[str, Any]

log = logging.getLogger(__name__)


class Sink(Protocol):
    """Who takes the raw objects; must be quick, since it runs in the event loop."""

    def seen(self, raw: Json) -> None:
        """Added, changed, or listed (again)."""

    def gone(self, raw: Json) -> None:
        """Deleted, or no longer what is asked for; ``raw`` is the last state that is known."""


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


def make_registry(*, connection: Connection, policies: Sink, pods: Sink) -> kopf.OperatorRegistry:
    """Handlers in a registry of their own: kopf's default one is global to the process."""
    registry = kopf.OperatorRegistry()
    _pass_on(registry, POLICIES, policies, handler_id="policy")
    _pass_on(registry, PODS, pods, handler_id="pending-pod")

    @kopf.on.login(registry=registry)
    async def login(**_: Any) -> kopf.AiohttpSession:
        # A session of its own, since kopf closes it; credentials are kept fresh within.
        return kopf.AiohttpSession(server=connection.server, aiohttp_session=connection.session())

    return registry


def _pass_on(registry: kopf.OperatorRegistry, resource: Resource, sink: Sink, *, handler_id: str) -> None:
    @kopf.on.event(resource.group, resource.version, resource.plural, registry=registry, id=handler_id)
    async def handle(event: kopf.RawEvent, **_: Any) -> None:
        raw: Any = event["object"]
        try:
            if event["type"] == "DELETED":
                sink.gone(raw)
            else:
                sink.seen(raw)
        except Exception:
            log.exception("event was lost", extra={"resource": resource.plural})


def make_settings(*, scheduler_name: str) -> kopf.OperatorSettings:
    settings = kopf.OperatorSettings()
    settings.peering.standalone = True
    # The CRD is there before kopf starts; without the scan no right to list CRDs is needed.
    settings.scanning.disabled = True
    settings.posting.enabled = False
    settings.persistence.diffbase_storage = NoDiffs()
    # kopf ends by SIGKILL what takes too long to stop; it is stopped and started while the process goes on.
    settings.process.ultimate_exiting_timeout = None
    # A pod's worker holds 23 KB until it is idle. There is no limit to workers: it would bound the pods per
    # second to the limit divided by the idle time.
    settings.queueing.idle_timeout = 0.5
    settings.queueing.exit_timeout = 0.5
    settings.watching.field_selectors[PODS.group, PODS.version, PODS.plural] = pending_selector(scheduler_name)
    settings.watching.chunk_size = 500
    # The streamed list loses objects where it is cut before its first bookmark.
    settings.watching.initial_streaming = False
    settings.watching.server_timeout = 300
    settings.watching.reconnect_backoff = 0.1
    # Without end: an outage of the API server must not end the operator.
    settings.networking.error_backoffs = Backoff()
    settings.networking.connect_timeout = 5
    settings.networking.request_timeout = 30
    return settings
