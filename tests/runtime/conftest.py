from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plimsoll.scheduling.scheduler import Scheduler
from tests.builders import PodBuilder, make_node, make_pod

Json = dict[str, Any]


@pytest.fixture
def scheduler() -> Scheduler:
    """Two nodes of 16 cores, no pods."""
    made = Scheduler(scheduler_name="plimsoll", rng=np.random.default_rng(1))
    for name in ("node-1", "node-2"):
        made.node_seen(make_node(name).info(), now_s=time.time())
    return made


@pytest.fixture
def enqueue(scheduler: Scheduler) -> Callable[..., None]:
    def put(*pods: PodBuilder) -> None:
        for pod in pods:
            scheduler.pod_pending(pod.info(), now_s=time.time())

    return put


@pytest.fixture
def until() -> Callable[..., Any]:
    async def wait(check: Callable[[], object], *, within_s: float = 5.0) -> None:
        async with asyncio.timeout(within_s):
            while not check():  # noqa: ASYNC110 - what is waited for knows of no event
                await asyncio.sleep(0.005)

    return wait


@pytest.fixture
def policy_object() -> Callable[..., Json]:
    """A SchedulingPolicy as the API server serves it."""

    def make(
        name: str = "p", *, generation: int = 1, version: int = 1, status: Json | None = None, **spec: Any
    ) -> Json:
        metadata = {"name": name, "uid": f"uid-{name}", "generation": generation, "resourceVersion": str(version)}
        body: Json = {"apiVersion": "plimsoll.dev/v1alpha1", "kind": "SchedulingPolicy", "metadata": metadata}
        return body | {"spec": spec} | ({"status": status} if status else {})

    return make


@pytest.fixture
def pods() -> Callable[[int], list[PodBuilder]]:
    return lambda count: [make_pod(f"pod-{i}").cpu("100m") for i in range(count)]
