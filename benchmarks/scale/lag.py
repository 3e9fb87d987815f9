"""How late a loop is while threads of its process work: they hold the interpreter's lock by turns."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable

from kubernetes.client import ApiClient

from benchmarks.scale.world import World
from plimsoll.policy.compiled import Policy
from plimsoll.sources import Sources

_TICK_S = 0.001
_PAUSE_S = 0.2
_LONGEST_LOOK_S = 30.0


async def longest_lag_ms(work: Awaitable[object]) -> float:
    """Until the work is done, by the wall clock."""
    longest_s, working = 0.0, asyncio.ensure_future(work)
    while not working.done():
        began_s = time.monotonic()
        await asyncio.sleep(_TICK_S)
        longest_s = max(longest_s, time.monotonic() - began_s - _TICK_S)
    await working
    return 1000 * longest_s


def lags_of_refreshes(world: World, policy: Policy, *, times: int) -> list[float]:
    """Milliseconds, one for each refresh with a look at all pods beside it; what follows on the loop is left out."""
    return asyncio.run(_lags(world, policy, times))


async def _lags(world: World, policy: Policy, times: int) -> list[float]:
    lags = []
    for _ in range(times):
        sources = Sources(ApiClient())
        try:
            lags.append(await longest_lag_ms(_asked(sources, world, policy)))
        finally:
            await sources.close()
    return lags


async def _asked(sources: Sources, world: World, policy: Policy) -> None:
    """Until what the look saw has come as well."""
    until_s = time.time() + _LONGEST_LOOK_S
    while time.time() < until_s:
        readings = await sources.refresh(
            policy,
            nodes=world.scheduler.nodes(),
            pods=world.pods.node_of,
            places=world.pods.place_of,
            now_s=time.time(),
        )
        if readings.use is not None:
            return
        await asyncio.sleep(_PAUSE_S)
