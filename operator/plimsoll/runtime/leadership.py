"""Who may bind: the holder of the Lease, once its caches hold all that earlier holders did."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from plimsoll.errors import ApiError
from plimsoll.kube.backoff import Backoff

log = logging.getLogger(__name__)

# A watch learns of a version that concerns other objects only from its next bookmark, up to a minute later.
_CATCH_UP_S = 1.0


class Elector(Protocol):
    @property
    def leading(self) -> bool:
        """Whether the Lease is held at this moment."""


class Mirror(Protocol):
    async def catch_up(self, *, within_s: float) -> None: ...


class Sweeper(Protocol):
    async def sweep(self) -> None: ...


class Leadership:
    """Whether this process leads, and whether it knows enough to decide.

    Attributes:
        turns: how often leading has begun or ended.

    Args:
        elector: None without leader election: this process is the only one.
        changed: called after each change.
    """

    def __init__(self, elector: Elector | None, *, changed: Callable[[], None]) -> None:
        self._elector = elector
        self._changed = changed
        self.turns = 0
        self._resigned = False
        self._current = False
        self._turned = asyncio.Event()

    @property
    def leading(self) -> bool:
        """Whether this process may write."""
        return not self._resigned and (self._elector is None or self._elector.leading)

    @property
    def may_decide(self) -> bool:
        return self._current and self.leading

    def resign(self) -> None:
        """For good: the process ends."""
        self._resigned = True
        self._changed()

    def turned(self) -> None:
        """The elector's callback: at once, before anything else runs."""
        self.turns += 1
        self._current = False
        self._turned.set()
        self._changed()

    def caches_are_current(self) -> None:
        """The caches were listed while the Lease was held (or nobody else can hold one)."""
        if self.leading:
            self._turned.clear()
            self._current = True
            self._changed()

    async def run(self, *, mirrors: Sequence[Mirror], sweeps: Sequence[Sweeper]) -> None:
        """Until cancelled: after each take-over sees to it that the caches are current."""
        while True:
            await self._turned.wait()
            self._turned.clear()
            if self.leading:
                await self._take_over(mirrors, sweeps)

    async def _take_over(self, mirrors: Sequence[Mirror], sweeps: Sequence[Sweeper]) -> None:
        """What the predecessor bound last must be in the caches, or it would be decided on again."""
        backoff = Backoff()
        while self.leading and not self._turned.is_set():
            try:
                await asyncio.gather(*(mirror.catch_up(within_s=_CATCH_UP_S) for mirror in mirrors))
                await asyncio.gather(*(sweep.sweep() for sweep in sweeps))
            except ApiError as error:
                log.warning("caches could not be brought up to date, trying again: %s", error)
                await asyncio.sleep(backoff.next_s(at_least_s=error.retry_after_s))
            else:
                if not self._turned.is_set():
                    log.info("caches are up to date, deciding")
                    self.caches_are_current()
                return
