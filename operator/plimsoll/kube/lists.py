"""Lists that kopf asks for, taken out of its hands.

For each object of a list kopf makes a queue, a task and a record of what it remembers: a fifth of a millisecond and
23 KB, when a start or a lost watch finds thousands of pods waiting. The handler would do no more than pass them on.
So they are passed on as the answer is read, and kopf goes on from the list's version with a watch as if the list had
been empty: it needs to know no object to tell of a change to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from plimsoll.kube.connection import Response
from plimsoll.kube.pacing import Pacer
from plimsoll.kube.resources import Resource
from plimsoll.kube.sink import Sink, hand_on


def handed_on(resource: Resource, sink: Sink) -> type[Response]:
    """Answers whose objects, where they are a list of the resource, go to the sink and are left out."""
    path, pacer = resource.path(), Pacer()

    class HandedOn(Response):
        async def json(
            self,
            *,
            encoding: str | None = None,
            loads: Callable[[str], Any] = orjson.loads,
            content_type: str | None = "application/json",
        ) -> Any:
            told = await super().json(encoding=encoding, loads=loads, content_type=content_type)
            if self.url.path.endswith(path) and self.ok and "items" in told:
                pacer.start()
                for raw in told["items"] or ():
                    hand_on(raw, sink, gone=False, resource=resource)
                    await pacer.breathe()
                told["items"] = []
            return told

    return HandedOn
