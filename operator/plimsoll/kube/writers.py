"""Writers that take what waits, as many at a time as their share of the API server is at the moment."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from plimsoll.kube.share import LaggingShare

# How late it may be to notice that others are busy no more.
_LOOK_S = 0.05
# An API server that is asked too much says so without saying for how long.
_SLOW_S = 1.0


class Writers:
    """Args:
    waiting: how many things wait.
    lag_s: for how long the oldest of them has.
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
        self._slow_until_s = 0.0
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

    def hurry(self) -> None:
        """From now on nobody has precedence."""
        self._hurried = True
        self._let_go()

    def slow_down(self, seconds: float) -> None:
        """The API server has too much to do: for so long only a few write, however late it gets."""
        self._slow_until_s = time.monotonic() + max(seconds, _SLOW_S)

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
        if not self._hurried and time.monotonic() < self._slow_until_s:
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
