"""Those who wait for news of some objects, by the objects' keys."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Protocol


class News(Protocol):
    """Returns once there was news since the last call, or after so many seconds."""

    def __call__(self, *, within_s: float) -> Awaitable[None]: ...


class Waiters:
    """A key costs nothing while nobody waits for it."""

    def __init__(self) -> None:
        self._by_key: dict[str, set[asyncio.Event]] = {}

    def wake(self, key: str) -> None:
        for event in self._by_key.get(key, ()):
            event.set()

    def wake_all(self) -> None:
        for events in self._by_key.values():
            for event in events:
                event.set()

    @contextlib.contextmanager
    def waiting(self, keys: Iterable[str]) -> Iterator[News]:
        event = asyncio.Event()
        wanted = set(keys)
        for key in wanted:
            self._by_key.setdefault(key, set()).add(event)
        try:
            yield _news(event)
        finally:
            for key in wanted:
                self._by_key[key].discard(event)
                if not self._by_key[key]:
                    del self._by_key[key]


def ever_longer_s(first_s: float, longest_s: float) -> Iterator[float]:
    """How long to wait for news before each further look: half as much again each time, and by chance up to twice that.

    Of many that began together no two look at the same moments for long.
    """
    least_s = first_s
    while True:
        yield min(least_s * random.uniform(1.0, 2.0), longest_s)  # noqa: S311 - nothing secret
        least_s = min(1.5 * least_s, longest_s / 2)


def _news(event: asyncio.Event) -> Callable[..., Awaitable[None]]:
    async def wait(*, within_s: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await event.wait()
        event.clear()

    return wait
