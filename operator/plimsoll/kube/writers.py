"""Writers that take what waits, as many at a time as their share of the API server is at the moment."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from plimsoll.errors import Unavailable
from plimsoll.kube.backoff import Backoff
from plimsoll.kube.share import LaggingShare

# How late it may be to notice that others are busy no more.
_LOOK_S = 0.05
# After a pause only a few try, for so long, whether it goes well again.
_TRYING_S = 1.0
# Somebody between us and the API server may say an hour.
_LONGEST_PAUSE_S = 30.0
# Without any answer, asked too much, and not serving: what one thing was refused with, the others would be.
_TAKES_NOTHING = frozenset({0, 429, 503})


def takes_nothing(error: Unavailable) -> bool:
    """Whether it is not about the one request: the API server takes none at the moment."""
    return error.status in _TAKES_NOTHING


class Writers:
    """Args:
    waiting: how many things wait.
    lag_s: for how long the next of them has.
    busy: whether something that has precedence is under way.
    write_next: takes the first of them; only called where there is one.
    """

    def __init__(
        self,
        *,
        share: LaggingShare,
        waiting: Callable[[], int],
        lag_s: Callable[[], float],
        busy: Callable[[], bool],
        write_next: Callable[[], Awaitable[None]],
    ) -> None:
        self._share = share
        self._waiting = waiting
        self._lag_s = lag_s
        self._busy = busy
        self._write_next = write_next
        self._hurried = False
        self._under_way = 0
        self._paused_until_s = 0.0
        self._trying_until_s = 0.0
        self._backoff = Backoff()
        self._resting: list[asyncio.Future[None]] = []
        self._all_through = asyncio.Event()
        self._all_through.set()

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._share.most):
                group.create_task(self._write_on())
            while True:
                # Nobody tells when others are no longer busy, nor that something has become late.
                self._let_go()
                await asyncio.sleep(_LOOK_S)

    def wake(self) -> None:
        """Something waits."""
        self._all_through.clear()
        self._let_go()

    @property
    def paused(self) -> bool:
        """Whether the API server is left alone."""
        return time.monotonic() < self._paused_until_s

    def hurry(self) -> None:
        """From now on nobody has precedence, and a pause that was begun is over."""
        self._hurried = True
        self._paused_until_s = 0.0
        self._let_go()

    def pause(self, at_least_s: float) -> None:
        """The API server takes nothing: nobody begins for so long, and then only few until that goes well.

        Where it does not the next pause is longer; seconds, or what the API server asks for.
        """
        now_s = time.monotonic()
        asked_s = min(at_least_s, _LONGEST_PAUSE_S)
        if self.paused:
            # Another of those that were under way.
            wait_s = asked_s
        else:
            if now_s >= self._trying_until_s:
                self._backoff.reset()
            wait_s = self._backoff.next_s(at_least_s=asked_s)
        self._paused_until_s = max(self._paused_until_s, now_s + wait_s)
        self._trying_until_s = self._paused_until_s + _TRYING_S

    async def wait_through(self) -> None:
        """Returns once nothing waits and nothing is under way."""
        await self._all_through.wait()

    def _let_go(self) -> None:
        """Wakes as many writers as may be at work."""
        waiting = self._waiting()
        if not waiting or not self._resting:
            return
        free = min(self._allowed() - self._under_way, waiting)
        while free > 0 and self._resting:
            resting = self._resting.pop()
            if not resting.done():
                resting.set_result(None)
                self._under_way += 1
                free -= 1

    def _allowed(self) -> int:
        if self.paused:
            return 0
        if time.monotonic() < self._trying_until_s and not self._hurried:
            return self._share.few
        return self._share.under_way(oldest_s=self._lag_s(), others_busy=not self._hurried and self._busy())

    async def _write_on(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            resting = loop.create_future()
            self._resting.append(resting)
            await resting
            try:
                while self._waiting() and self._under_way <= self._allowed():
                    await self._write_next()
            finally:
                self._under_way -= 1
                if not self._waiting() and not self._under_way:
                    self._all_through.set()
