"""Tasks that a test starts, and sees to the end."""

from __future__ import annotations

import asyncio
from typing import Any


async def ended(*tasks: asyncio.Task[Any]) -> None:
    """Cancels them and waits: what they had open is closed before the loop is."""
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
