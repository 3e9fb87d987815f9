"""A policy in force, and a Prometheus for it."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator

from benchmarks.throughput.admin import Admin
from benchmarks.throughput.bodies import POLICIES
from benchmarks.throughput.case import Case
from benchmarks.throughput.place import Place
from benchmarks.throughput.processes import child
from benchmarks.throughput.workload import Thing
from benchmarks.throughput.workloads import WORKLOADS
from devcluster.ports import choose

_NAME = "prometheus"
_READY_S = 30.0


@contextlib.asynccontextmanager
async def policy_in_force(place: Place, case: Case, admin: Admin) -> AsyncIterator[None]:
    """The workload's policy, if it has one, and what answers its questions within the block."""
    policy = WORKLOADS[case.workload].policy
    if policy is None:
        yield
        return
    port = choose().prometheus
    command = (
        *(sys.executable, "-m", "benchmarks.throughput.prometheus_server"),
        *(f"--workload={case.workload}", f"--nodes={case.nodes}", f"--port={port}"),
    )
    async with child(place, _NAME, command, stdout=asyncio.subprocess.PIPE) as process:
        assert process.stdout is not None
        if not await asyncio.wait_for(process.stdout.readline(), _READY_S):
            raise RuntimeError(f"the Prometheus of the policy does not run, see {place.log(_NAME)}")
        await admin.create(Thing(POLICIES, policy(f"http://127.0.0.1:{port}")))
        yield
