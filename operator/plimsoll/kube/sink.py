"""Who takes what kopf tells."""

from __future__ import annotations

import logging
from typing import Any, Protocol

from plimsoll.kube.resources import Resource

Json = dict[str, Any]

log = logging.getLogger(__name__)


class Sink(Protocol):
    """Who takes the raw objects; must be quick, since it runs in the event loop."""

    def seen(self, raw: Json) -> None:
        """Added, changed, or listed (again)."""

    def gone(self, raw: Json) -> None:
        """Deleted, or no longer what is asked for; ``raw`` is the last state that is known."""


def hand_on(raw: Any, sink: Sink, *, gone: bool, resource: Resource) -> None:
    """One object; what the sink cannot take is lost alone, and logged."""
    try:
        if gone:
            sink.gone(raw)
        else:
            sink.seen(raw)
    except Exception:
        log.exception("event was lost", extra={"resource": resource.plural})
