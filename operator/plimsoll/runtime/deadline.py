"""One time limit for several steps."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable


class Deadline:
    """Counts from when it is made."""

    def __init__(self, total_s: float) -> None:
        self._began_s = time.monotonic()
        self._total_s = total_s

    @property
    def spent_s(self) -> float:
        return time.monotonic() - self._began_s

    @property
    def left_s(self) -> float:
        return self._total_s - self.spent_s

    async def step(self, at_most_s: float, work: Awaitable[object]) -> None:
        """Cancels ``work`` after ``at_most_s``, or earlier where the deadline comes first."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(min(at_most_s, self.left_s), 0.0)):
                await work
