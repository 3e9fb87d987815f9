from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from plimsoll.runtime.observing import watch_holds
from plimsoll.telemetry import Telemetry
from tests.kube.tasks import ended

Until = Callable[..., Any]


def _hold(cpu_s: float) -> None:
    began_s = time.thread_time()
    while time.thread_time() - began_s < cpu_s:
        pass


def _longest_s(telemetry: Telemetry) -> float:
    return telemetry.registry.get_sample_value("plimsoll_loop_longest_hold_cpu_seconds") or 0.0


async def test_the_longest_hold_counts_from_the_end_of_the_start(until: Until) -> None:
    telemetry, ready = Telemetry(), [False]
    task = asyncio.create_task(watch_holds(telemetry, ready=lambda: ready[0]))
    await asyncio.sleep(0)
    _hold(0.2)
    await asyncio.sleep(0.05)
    assert _longest_s(telemetry) == 0.0
    ready[0] = True
    await asyncio.sleep(0.05)
    assert _longest_s(telemetry) < 0.2
    _hold(0.3)
    await until(lambda: _longest_s(telemetry) >= 0.3)
    await asyncio.sleep(0.05)
    assert _longest_s(telemetry) >= 0.3
    await ended(task)
