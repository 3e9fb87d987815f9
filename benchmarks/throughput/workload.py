"""What is asked of both schedulers: a workload, as plain objects and the calls that go on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

Json = dict[str, Any]


class Thing(NamedTuple):
    """An object to create, and the collection's path to POST it to."""

    path: str
    body: Json


class Api(Protocol):
    """What goes on meanwhile may ask of the API server, as the load generator's administrator."""

    async def create(self, thing: Thing) -> None: ...
    async def patch(self, path: str, body: Json) -> None:
        """A merge patch."""

    async def delete(self, path: str) -> None:
        """At once, without grace; one that is gone already is no error."""


def nothing(_: int) -> Iterator[Thing]:
    """No objects beforehand."""
    return iter(())


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One story, played by each scheduler on nodes and pods of its own that are equal but for the scheduler's name.

    Attributes:
        story: one sentence for the report.
        node: the Node object of a number from 0; born ready, since no kubelet reports for it.
        before: what exists before the scheduler starts, by the number of nodes; pods in it that run have a
            ``nodeName``.
        pods: the pods that are measured, by their number, the scheduler's name and the number of nodes; they wait
            before the scheduler starts.
        meanwhile: what happens while it works, until the event is set; gets the scheduler's name and
            the number of nodes.
        policy: a SchedulingPolicy in force for Plimsoll, by the URL of its Prometheus; None: the built-in default.
        left: how many of so many measured pods can have no node, by design.
        from_start: most of the work comes before the first bind, so that a burst's throughput counts from the start.
    """

    name: str
    story: str
    node: Callable[[int], Json]
    pods: Callable[[int, str, int], Iterator[Thing]]
    before: Callable[[int], Iterator[Thing]] = nothing
    meanwhile: Callable[[Api, str, int, asyncio.Event], Awaitable[None]] | None = None
    policy: Callable[[str], Json] | None = None
    left: Callable[[int], int] = lambda _: 0
    from_start: bool = False
