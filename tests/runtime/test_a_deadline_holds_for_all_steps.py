from __future__ import annotations

import asyncio
import time

from plimsoll.runtime.deadline import Deadline


async def test_a_step_ends_at_its_own_limit_and_all_of_them_at_the_deadline() -> None:
    began_s, deadline = time.monotonic(), Deadline(1.0)
    await deadline.step(0.1, asyncio.Event().wait())
    assert 0.1 <= time.monotonic() - began_s < 0.9
    for _ in range(6):
        await deadline.step(0.5, asyncio.Event().wait())
    assert 1.0 <= time.monotonic() - began_s < 2.5


async def test_what_is_through_is_not_waited_for() -> None:
    began_s = time.monotonic()
    await Deadline(5.0).step(5.0, asyncio.sleep(0))
    assert time.monotonic() - began_s < 1.0
