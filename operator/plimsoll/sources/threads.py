"""Blocking clients beside the event loop, in a bounded number of threads that never hold up the exit.

An executor's threads are joined when the interpreter ends, so that one server that hangs would hang the stop;
these are daemons. A call that takes too long is given up, but its thread counts until it really ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Threads:
    """At most ``limit`` calls at a time; the others wait for their turn."""

    def __init__(self, limit: int, *, name: str) -> None:
        self._free = asyncio.Semaphore(limit)
        self._name = name

    async def run(self, call: Callable[[], T], *, timeout_s: float) -> T:
        """The call's result, or what it raised.

        Raises:
            TimeoutError: no thread became free within the time, or the call did not end within it.
        """
        async with asyncio.timeout(timeout_s):
            await self._free.acquire()
        async with asyncio.timeout(timeout_s):
            return await self._started(call)

    def _started(self, call: Callable[[], T]) -> asyncio.Future[T]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def work() -> None:
            try:
                settle = _succeed(future, call())
            except BaseException as error:  # noqa: BLE001 - whoever asked gets to see it
                settle = _fail(future, error)
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(self._ended, future, settle)

        threading.Thread(target=work, name=self._name, daemon=True).start()
        return future

    def _ended(self, future: asyncio.Future[T], settle: Callable[[], None]) -> None:
        self._free.release()
        if not future.done():  # else it was given up
            settle()


def _succeed(future: asyncio.Future[T], result: T) -> Callable[[], None]:
    return lambda: future.set_result(result)


def _fail(future: asyncio.Future[T], error: BaseException) -> Callable[[], None]:
    return lambda: future.set_exception(error)
