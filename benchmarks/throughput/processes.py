"""Processes beside the control plane: they end with the block, and in any case with the control plane."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

from benchmarks.throughput.place import Place
from devcluster import records
from devcluster.python import module_environment

_END_S = 5.0


@contextlib.asynccontextmanager
async def child(
    place: Place,
    name: str,
    command: Sequence[str],
    *,
    stdin: int = asyncio.subprocess.DEVNULL,
    stdout: int | None = None,
) -> AsyncIterator[asyncio.subprocess.Process]:
    """What it writes and nobody reads is in its log."""
    with place.log(name).open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *command,
            env=module_environment(),
            stdin=stdin,
            stdout=log if stdout is None else stdout,
            stderr=log,
            # A session of its own: an interrupt is for the harness, which then ends everything in order.
            start_new_session=True,
        )
    records.write(place.records, records.ProcessRecord.of(name, process.pid))
    try:
        yield process
    finally:
        await _end(process)
        records.forget(place.records, name)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _END_S)
    except TimeoutError:
        process.kill()
        await process.wait()
