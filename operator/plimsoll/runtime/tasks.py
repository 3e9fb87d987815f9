"""The process's lasting tasks: none of them ends by itself, and one that fails ends the process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

log = logging.getLogger(__name__)


class Tasks:
    """Starts tasks, and notices when one fails.

    Attributes:
        failure: the first error of a task; a mistake of ours, after which nothing can be trusted.
    """

    def __init__(self) -> None:
        self.failure: BaseException | None = None
        self._failed = asyncio.Event()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name=name)
        task.add_done_callback(self._ended)
        self._tasks[name] = task

    def fail(self, error: BaseException) -> None:
        if self.failure is None:
            log.critical("a task failed, stopping", exc_info=error)
            self.failure = error
            self._failed.set()

    async def wait_failed(self) -> None:
        await self._failed.wait()

    async def stop(self, *names: str) -> None:
        """Cancels the named tasks, or all, and waits until they are through."""
        ending = [self._tasks.pop(name) for name in names or tuple(self._tasks) if name in self._tasks]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            return
        self.fail(task.exception() or RuntimeError(f"task {task.get_name()} has ended by itself"))
