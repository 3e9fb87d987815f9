"""What must be done before a pod is bound: its volumes and resource claims; waited for apart from the Bindings."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.reservation import Reservation
from plimsoll.cluster.storage.claim import PersistentVolumeClaim
from plimsoll.cluster.volume_matching import StaticBinding
from plimsoll.errors import ApiError
from plimsoll.filters.volume_binding import VolumeBinding
from plimsoll.runtime.waiters import Waiters, ever_longer_s
from plimsoll.scheduling.decision import Bind
from plimsoll.scheduling.preparing import Preparation
from plimsoll.scheduling.scheduler import Scheduler

log = logging.getLogger(__name__)

# kube-scheduler looks every second. Here the watches' news come first; this is for what has no event of its own, and
# thousands may wait: each looks less and less often, and not all at the same moment.
_FIRST_LOOK_S, _LONGEST_LOOK_S = 1.0, 10.0
_DYNAMIC_RESOURCES = "DynamicResources"


class Binds(Protocol):
    """Who carries Bindings out."""

    @property
    def full(self) -> bool: ...
    def submit(self, command: Bind, *, took_s: float) -> None: ...


class Volumes(Protocol):
    """Who writes volumes and claims."""

    async def bind(self, binding: StaticBinding) -> str: ...
    async def select_node(self, claim: PersistentVolumeClaim, node: str) -> str: ...


class Reservations(Protocol):
    """Who reserves resource claims."""

    async def reserve(self, claim: Reservation, pod: PodInfo) -> str: ...
    async def release(self, claim: Reservation, pod: PodInfo) -> None: ...


@dataclass(frozen=True, slots=True)
class _End:
    """Why a pod goes back before it was bound.

    Attributes:
        problem: in kube-scheduler's words; "" where nothing went wrong: it is not ours to bind any more.
        retry: False where nobody needs to bind it any more.
    """

    problem: str = ""
    retry: bool = True


_NOT_ALLOWED = _End()
_OVER = _End(retry=False)
_PREEMPTED = _End("preempted by DefaultPreemption")


class Preparations:
    """Takes Bind commands: what needs nothing goes on at once, the others once they are prepared.

    Args:
        nominate: writes where the pod is expected to go ("": nowhere), for autoscalers; never raises.
        may_bind: asked again while a pod waits.
        failed: told of each that could not be prepared: why, and how long it took in seconds.
        taken_back: told of each that is not bound since binding is not allowed any more.
        wake: called when a pod came back.
        timeout_s: how long a pod's claims may take to be bound.
        writers: how many pods' volumes are written at a time; waiting takes no place.
    """

    def __init__(
        self,
        *,
        scheduler: Scheduler,
        binds: Binds,
        volumes: Volumes,
        reservations: Reservations,
        nominate: Callable[[PodInfo, str], Awaitable[None]],
        may_bind: Callable[[], bool],
        failed: Callable[[Bind, str, float], None],
        taken_back: Callable[[Bind], None],
        wake: Callable[[], None],
        timeout_s: float,
        writers: int = 16,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._scheduler = scheduler
        self._binds = binds
        self._volumes = volumes
        self._reservations = reservations
        self._nominate = nominate
        self._may_bind = may_bind
        self._failed = failed
        self._taken_back = taken_back
        self._wake = wake
        self._timeout_s = timeout_s
        self._writing = asyncio.Semaphore(writers)
        self._clock = clock
        self._new: asyncio.Queue[tuple[Bind, float]] = asyncio.Queue()
        self._waiters = Waiters()
        self._under_way = 0
        self._preparing: set[Uid] = set()
        self._unwanted: set[Uid] = set()

    @property
    def full(self) -> bool:
        return self._binds.full

    @property
    def under_way(self) -> int:
        """Pods that are being prepared, or wait for their claims."""
        return self._under_way

    def submit(self, command: Bind, *, took_s: float) -> None:
        if command.prepare is None:
            self._binds.submit(command, took_s=took_s)
            return
        self._under_way += 1
        self._preparing.add(command.pod.uid)
        self._new.put_nowait((command, took_s))

    def take_back(self, uid: Uid) -> bool:
        """Whether the pod is still being prepared; it is not bound then, and goes back to the queue."""
        if uid in self._preparing:
            self._unwanted.add(uid)
            self._waiters.wake_all()
        return uid in self._preparing

    def changed(self, key: str) -> None:
        """A volume (its name) or claim (``namespace/name``) has changed or is gone."""
        self._waiters.wake(key)

    def wake_all(self) -> None:
        """Whether binding is allowed has changed."""
        self._waiters.wake_all()

    async def drain(self) -> None:
        """Returns once no pod is in preparation; the caller sets the time limit, and sees to it that none comes."""
        await self._new.join()

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                command, took_s = await self._new.get()
                group.create_task(self._prepare(command, took_s))

    async def _prepare(self, command: Bind, took_s: float) -> None:
        began_s = self._clock()
        prepare = command.prepare or Preparation()
        end = await self._carry_out(command, prepare)
        if command.pod.uid in self._unwanted:
            end = end or _PREEMPTED
        if end is not None and end.problem:
            # Before the pod is tried again, which would reserve the same claims once more.
            await self.undo(command)
        # Whoever preempts it while that is undone need not delete it either.
        self._preparing.discard(command.pod.uid)
        self._unwanted.discard(command.pod.uid)
        self._under_way -= 1
        self._report(command, end, took_s + self._clock() - began_s)
        self._new.task_done()

    def _report(self, command: Bind, end: _End | None, took_s: float) -> None:
        if end is None:
            self._binds.submit(command, took_s=took_s)
            return
        self._scheduler.bind_failed(command.pod.uid, retry=end.retry, now_s=time.time())
        if end.problem:
            self._failed(command, end.problem, took_s)
        else:
            self._taken_back(command)
        self._wake()

    async def _carry_out(self, command: Bind, prepare: Preparation) -> _End | None:
        """None once the pod can be bound."""
        written: dict[str, str] = {}
        async with self._writing:
            end = await self._write(command, prepare, written) or await self._reserve(command.pod, prepare)
        return end or await self._wait(command, prepare, written)

    async def _write(self, command: Bind, prepare: Preparation, written: dict[str, str]) -> _End | None:
        """Adds to ``written`` the versions that the writes made, by volume and claim."""
        if not self._may_bind():
            return _NOT_ALLOWED
        await self._nominate(command.pod, command.decision.node)
        try:
            for key, write in self._writes(prepare, command.decision.node):
                if not self._may_bind():
                    return _NOT_ALLOWED
                written[key] = await write()
                self._scheduler.volume_written(key)
        except ApiError as error:
            return _End(f'running PreBind plugin "{VolumeBinding.name}": {error}')
        return None

    def _writes(self, prepare: Preparation, node: str) -> Iterator[tuple[str, Callable[[], Awaitable[str]]]]:
        for binding in prepare.volumes.bindings:
            yield binding.volume.key, partial(self._volumes.bind, binding)
        for claim in prepare.volumes.provisions:
            yield claim.key, partial(self._volumes.select_node, claim, node)

    async def _reserve(self, pod: PodInfo, prepare: Preparation) -> _End | None:
        for claim in prepare.reservations:
            if not self._may_bind():
                return _NOT_ALLOWED
            problem = await self._reservations.reserve(claim, pod)
            if not self._may_bind():
                return _NOT_ALLOWED
            if problem:
                return _End(f'running PreBind plugin "{_DYNAMIC_RESOURCES}": {problem}')
        return None

    async def _wait(self, command: Bind, prepare: Preparation, written: dict[str, str]) -> _End | None:
        until_s = self._clock() + self._timeout_s
        keys = [*written, *(claim.key for claim in prepare.claims)]
        looks_s = ever_longer_s(_FIRST_LOOK_S, _LONGEST_LOOK_S)
        with self._waiters.waiting(keys) as news:
            while True:
                found = self._scheduler.progress(command, written)
                if not self._may_bind():
                    return _NOT_ALLOWED
                if command.pod.uid in self._unwanted:
                    return _PREEMPTED
                if found.over:
                    return _OVER
                if found.done:
                    return None
                left_s = until_s - self._clock()
                if problem := found.problem or ("" if left_s > 0 else "context deadline exceeded"):
                    return _End(f'running PreBind plugin "{VolumeBinding.name}": binding volumes: {problem}')
                await news(within_s=min(left_s, next(looks_s)))

    async def undo(self, command: Bind) -> None:
        """For a prepared pod that is not bound after all.

        What is written of volumes stays: whoever makes and binds them may be at work already.
        """
        pod, prepare = command.pod, command.prepare
        if prepare is None or not self._may_bind():
            return
        await self._nominate(pod, "")
        for claim in prepare.reservations:
            # Whoever leads by now may have reserved it for the same pod.
            if self._may_bind():
                await self._release(claim, pod)

    async def _release(self, claim: Reservation, pod: PodInfo) -> None:
        try:
            await self._reservations.release(claim, pod)
        except ApiError as error:
            # The pod finds it reserved the next time, or a controller takes it off once the pod is gone.
            log.info("resource claim stays reserved: %s", error, extra={"pod": pod.key, "claim": claim.key})
