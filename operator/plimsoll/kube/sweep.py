"""Periodic LISTs that repair what a watch by kopf cannot tell: deletions during a gap, and lost events."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from plimsoll.errors import ApiError, Gone
from plimsoll.kube.backoff import Backoff
from plimsoll.kube.client import ApiClient
from plimsoll.kube.pacing import Pacer

Json = dict[str, Any]

log = logging.getLogger(__name__)

# How late it may be to notice that sweeps have become more urgent.
_LOOK_S = 1.0


class Swept(Protocol):
    """What is compared with the list; what comes or goes while that is being read is newer than the list."""

    def sweep_begins(self) -> None: ...
    def swept(self, raw: Json) -> None:
        """An object of the list."""

    def sweep_ends(self) -> None:
        """The list is complete: what was known when the sweep began and was not in it is gone."""


class Sweep:
    """Compares ``path`` with what is known: once at the start, then at intervals, and on demand.

    Args:
        every_s: between two sweeps, jittered by a tenth; asked all the time, since it may become less.
    """

    def __init__(
        self,
        client: ApiClient,
        path: str,
        *,
        swept: Swept,
        name: str,
        every_s: Callable[[], float],
        params: Mapping[str, str] | None = None,
    ) -> None:
        self._client = client
        self._path = path
        self._params = dict(params or {})
        self._swept = swept
        self._name = name
        self._every_s = every_s
        self._one_at_a_time = asyncio.Lock()
        self._pacer = Pacer()

    async def run(self) -> None:
        """Until cancelled; the first sweep is done by whoever starts this."""
        while True:
            await self._pause()
            try:
                await self.sweep()
            except ApiError as error:
                log.warning("sweep failed: %s", error, extra={"resource": self._name})

    async def _pause(self) -> None:
        loop, share = asyncio.get_running_loop(), random.uniform(0.9, 1.1)  # noqa: S311
        began_s = loop.time()
        # In steps, since what makes it urgent is a fact that one looks up, not an event.
        while (left_s := began_s + share * self._every_s() - loop.time()) > 0:  # noqa: ASYNC110
            await asyncio.sleep(min(left_s, _LOOK_S))

    async def sweep_until_done(self) -> None:
        """Tries again until the API server has answered."""
        backoff = Backoff()
        while True:
            try:
                return await self.sweep()
            except ApiError as error:
                log.warning("list failed, trying again: %s", error, extra={"resource": self._name})
                await asyncio.sleep(backoff.next_s(at_least_s=error.retry_after_s))

    async def sweep(self) -> None:
        """One comparison.

        Raises:
            ApiError: nothing was taken for gone.
        """
        async with self._one_at_a_time:
            try:
                await self._sweep(limit=500)
            except Gone:
                # It took longer than the API server keeps versions; in one piece it cannot expire.
                await self._sweep(limit=0)

    async def _sweep(self, *, limit: int) -> None:
        self._swept.sweep_begins()
        async for page in self._client.pages(self._path, params=self._params, limit=limit):
            self._pacer.start()
            for raw in page.items:
                self._swept.swept(raw)
                await self._pacer.breathe()
        self._swept.sweep_ends()
