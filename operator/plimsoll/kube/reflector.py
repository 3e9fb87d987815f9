"""A mirror of one resource: LIST, then WATCH, and what is missed in between found by comparing.

Nothing that the API server does ends it: it keeps what it knows, backs off and catches up. The mirror holds
identities and versions only; what the objects say goes to the listener.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from plimsoll.errors import ApiError, Forbidden, Gone, NotFound, ObjectError
from plimsoll.kube.backoff import Backoff
from plimsoll.kube.client import ApiClient, WatchEvent
from plimsoll.kube.pacing import Pacer

Json = dict[str, Any]

log = logging.getLogger(__name__)

# As client-go: between five and ten minutes, so that the watches of many clients do not end together.
_WATCH_S = (300, 600)
# A proxy that cuts streams at once would make a busy loop of connections.
_SHORT_WATCH_S = 1.0
# A kind that the API server lacks may come with its next version.
_LACKING_S = 300.0
# A version that the API server will never reach (etcd was restored) fails for ever; only a LIST ends that.
_STUBBORN = 5


class Identity(NamedTuple):
    """``namespace`` is "" for cluster-scoped objects."""

    namespace: str
    name: str
    uid: str


class Listener(Protocol):
    """Who is told, synchronously and in order. An ObjectError is logged; the rest goes on."""

    def on_added(self, raw: Json) -> None: ...
    def on_updated(self, raw: Json) -> None: ...
    def on_deleted(self, identity: Identity) -> None: ...
    def on_listed(self, *, asked_at_s: float) -> None:
        """A LIST that was sent at ``asked_at_s`` (monotonic) has been worked in completely."""


class _Known(NamedTuple):
    uid: str
    version: str


class Reflector:
    """Mirrors what ``path`` and ``params`` select.

    Attributes:
        name: what is mirrored, for people.
        lists: how many LISTs were worked in.

    Args:
        restarted: told why, each time that a watch has ended: ``ended``, ``expired`` or ``failed``.
        relisted: called after each LIST but the first.
        may_lack: an API server that does not know the resource has none of it.
    """

    def __init__(
        self,
        client: ApiClient,
        path: str,
        *,
        listener: Listener,
        name: str,
        params: Mapping[str, str] | None = None,
        backoff: Backoff | None = None,
        clock: Callable[[], float] = time.monotonic,
        rng: random.Random | None = None,
        silence_s: float = 100.0,
        may_lack: bool = False,
        restarted: Callable[[str], None] = lambda _: None,
        relisted: Callable[[], None] = lambda: None,
    ) -> None:
        self.name = name
        self.lists = 0
        self._client = client
        self._path = path
        self._params = dict(params or {})
        self._listener = listener
        self._backoff = backoff or Backoff()
        self._clock = clock
        self._rng = rng or random.Random()  # noqa: S311 - spreads load, keeps no secret
        self._silence_s = silence_s
        self._may_lack = may_lack
        self._restarted = restarted
        self._relisted = relisted
        self._known: dict[tuple[str, str], _Known] = {}
        self._version = ""
        self._synced = asyncio.Event()
        self._waiting = set[asyncio.Event]()
        self._relist = asyncio.Event()
        # The number of the LIST that was sent last, and of the last that was worked in.
        self._begun = self._worked_in = 0
        self._broken_since_s: float | None = None
        self._pacer = Pacer()

    @property
    def has_synced(self) -> bool:
        return self._synced.is_set()

    @property
    def version(self) -> str:
        """The newest resource version that has been seen; "" before the first LIST."""
        return self._version

    def __len__(self) -> int:
        return len(self._known)

    def broken_for_s(self) -> float:
        """How long there has been neither list nor watch; 0 while all is well."""
        return 0.0 if self._broken_since_s is None else self._clock() - self._broken_since_s

    async def wait_synced(self) -> None:
        await self._synced.wait()

    async def catch_up(self, *, within_s: float) -> None:
        """Returns once the mirror holds all that the API server held when this was called.

        Asks for the collection's version; a mirror that has not reached it ``within_s`` is listed anew.

        Raises:
            ApiError: the version cannot be read.
        """
        try:
            wanted = await self._client.version_of(self._path, params=self._params)
        except NotFound:
            if self._may_lack:
                return
            raise
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._until(lambda: newer_or_same(self._version, wanted))
                return
        log.info("watch is behind, listing anew", extra={"resource": self.name, "wanted": wanted})
        # A LIST that is under way may be older than this call: only one that is yet to be sent counts.
        begun = self._begun
        self._relist.set()
        await self._until(lambda: self._worked_in > begun)

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                await self._list()
                await self._watch_on()
            except Gone:
                self._restarted("expired")
                log.info("watch has expired, listing anew", extra={"resource": self.name})
            except NotFound as error:
                await (self._lacks() if self._may_lack else self._broke("list", error))
            except ApiError as error:
                await self._broke("list", error)

    async def _list(self) -> None:
        asked_at_s = self._clock()
        self._begun += 1
        self._relist.clear()
        try:
            version, seen = await self._take_pages(limit=500)
        except Gone:
            # It took longer than the API server keeps versions; in one piece it cannot expire.
            version, seen = await self._take_pages(limit=0)
        await self._drop_all_but(seen)
        self._version = version
        self._listener.on_listed(asked_at_s=asked_at_s)
        if self.lists:
            self._relisted()
        self.lists += 1
        self._worked_in = self._begun
        self._synced.set()
        self._mended()
        self._progressed()

    async def _lacks(self) -> None:
        """The API server does not know the resource: there is none, which is as good as an empty LIST."""
        if not self._synced.is_set():
            log.info("the API server has no such resource", extra={"resource": self.name})
        await self._drop_all_but(set())
        self._worked_in = self._begun
        self._synced.set()
        self._mended()
        self._progressed()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LACKING_S):
                await self._relist.wait()

    async def _take_pages(self, *, limit: int) -> tuple[str, set[tuple[str, str]]]:
        version, seen = "", set[tuple[str, str]]()
        async for page in self._client.pages(self._path, params=self._params, limit=limit):
            self._pacer.start()
            version = page.resource_version
            for raw in page.items:
                seen.add(self._take(raw))
                await self._pacer.breathe()
        return version, seen

    async def _drop_all_but(self, seen: set[tuple[str, str]]) -> None:
        self._pacer.start()
        for key in [key for key in self._known if key not in seen]:
            self._drop(key)
            await self._pacer.breathe()

    async def _watch_on(self) -> None:
        """One watch after the other from the last version; returns where a LIST is called for."""
        failures = 0
        while not self._relist.is_set() and failures < _STUBBORN:
            began_s = self._clock()
            try:
                await self._watch()
            except Gone:
                raise
            except ApiError as error:
                failures += 1
                self._restarted("failed")
                await self._broke("watch", error)
            else:
                failures = 0
                self._restarted("ended")
                if self._clock() - began_s < _SHORT_WATCH_S and not self._relist.is_set():
                    await asyncio.sleep(self._backoff.next_s())

    async def _watch(self) -> None:
        events = self._client.watch(
            self._path,
            since=self._version,
            params=self._params,
            lasts_s=self._rng.randint(*_WATCH_S),
            silence_s=self._silence_s,
            opened=self._mended,
        )
        consumer = asyncio.ensure_future(self._consume(events))
        relist = asyncio.ensure_future(self._relist.wait())
        try:
            await asyncio.wait({consumer, relist}, return_when=asyncio.FIRST_COMPLETED)
            if consumer.done():
                consumer.result()
        finally:
            for task in (consumer, relist):
                task.cancel()
            await asyncio.gather(consumer, relist, return_exceptions=True)

    async def _consume(self, events: AsyncGenerator[WatchEvent]) -> None:
        async with contextlib.aclosing(events):
            async for event in events:
                self._mended()
                self._apply(event)
                self._version = event.object["metadata"]["resourceVersion"]
                self._progressed()
                # What the stream has buffered comes without a pause, and a listener may take its time over each.
                await self._pacer.breathe()

    def _apply(self, event: WatchEvent) -> None:
        if event.type == "DELETED":
            key = _key(event.object)
            known = self._known.get(key)
            if known and known.uid == event.object["metadata"].get("uid", ""):
                self._drop(key)
        elif event.type != "BOOKMARK":
            self._take(event.object)

    def _take(self, raw: Json) -> tuple[str, str]:
        key, metadata = _key(raw), raw["metadata"]
        seen = _Known(metadata.get("uid", ""), metadata.get("resourceVersion", ""))
        known = self._known.get(key)
        if known and known.uid != seen.uid:
            self._drop(key)
            known = None
        if known == seen:
            return key
        self._known[key] = seen
        with self._reported():
            if known:
                self._listener.on_updated(raw)
            else:
                self._listener.on_added(raw)
        return key

    def _drop(self, key: tuple[str, str]) -> None:
        known = self._known.pop(key)
        with self._reported():
            self._listener.on_deleted(Identity(*key, known.uid))

    @contextlib.contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except ObjectError as error:
            log.warning("object is left out: %s", error, extra={"resource": self.name})

    async def _broke(self, what: str, error: ApiError) -> None:
        if self._broken_since_s is None:
            self._broken_since_s = self._clock()
        mend = ": grant list and watch on it" if isinstance(error, Forbidden) else ""
        log.warning("%s failed, trying again: %s%s", what, error, mend, extra={"resource": self.name})
        await asyncio.sleep(self._backoff.next_s(at_least_s=error.retry_after_s))

    def _mended(self) -> None:
        if self._broken_since_s is not None:
            log.info("list and watch work again", extra={"resource": self.name})
        self._broken_since_s = None
        self._backoff.reset()

    def _progressed(self) -> None:
        for wake in self._waiting:
            wake.set()

    async def _until(self, reached: Callable[[], bool]) -> None:
        wake = asyncio.Event()
        self._waiting.add(wake)
        try:
            while not reached():
                wake.clear()
                await wake.wait()
        finally:
            self._waiting.discard(wake)


def newer_or_same(version: str, other: str) -> bool:
    """Resource versions of one resource order as numbers; since 1.35 the API server promises it."""
    try:
        return int(version) >= int(other)
    except ValueError:
        return version == other


def _key(raw: Json) -> tuple[str, str]:
    metadata = raw["metadata"]
    return metadata.get("namespace", ""), metadata["name"]
