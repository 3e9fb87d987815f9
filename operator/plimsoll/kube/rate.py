"""A budget of requests per second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable


class TokenBucket:
    """``per_s`` on average, up to ``burst`` at once."""

    def __init__(self, *, per_s: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_s = per_s
        self._burst = burst
        self._clock = clock
        self._tokens = float(burst)
        self._filled_s = clock()

    async def take(self) -> None:
        """Waits for its turn; turns are given in the order of asking."""
        if (wait_s := self.reserve_s()) > 0:
            await asyncio.sleep(wait_s)

    def reserve_s(self) -> float:
        """Takes one, on credit if need be; how long to wait before it may be used."""
        now_s = self._clock()
        self._tokens = min(self._tokens + (now_s - self._filled_s) * self._per_s, float(self._burst))
        self._filled_s = now_s
        self._tokens -= 1
        return max(-self._tokens / self._per_s, 0.0)
