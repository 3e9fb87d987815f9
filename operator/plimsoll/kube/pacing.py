"""Long synchronous work in short pieces, so that no callback stalls the event loop."""

from __future__ import annotations

import asyncio
import time


class Pacer:
    """Counts how long the task has held the loop and lets go in time.

    Args:
        hold_s: a tenth of the longest stall that is allowed, since several tasks may follow each other.
    """

    def __init__(self, *, hold_s: float = 0.010) -> None:
        self._hold_s = hold_s
        self._since_s = time.perf_counter()

    def start(self) -> None:
        self._since_s = time.perf_counter()

    async def breathe(self) -> None:
        """Lets other tasks run once the piece was long enough."""
        if time.perf_counter() - self._since_s >= self._hold_s:
            await asyncio.sleep(0)
            self._since_s = time.perf_counter()
