"""CPU time of one thread, many times over."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cost:
    """Thread CPU time of one kind of work, in milliseconds.

    Attributes:
        what: for people.
        where: ``loop``, ``thread`` or ``start``; what is on the loop holds up binds.
        times: how many were measured.
    """

    what: str
    where: str
    median_ms: float
    max_ms: float
    times: int


class Stopwatch:
    """Collects costs in the order of their first measurement."""

    def __init__(self) -> None:
        self._taken: dict[tuple[str, str], list[float]] = {}

    def measure(self, what: str, where: str, work: Callable[[], T]) -> T:
        began_s = time.thread_time()
        result = work()
        self._taken.setdefault((what, where), []).append(time.thread_time() - began_s)
        return result

    def each(self, what: str, where: str, work: Iterable[Callable[[], object]]) -> None:
        for one in work:
            self.measure(what, where, one)

    def costs(self) -> list[Cost]:
        return [
            Cost(what, where, 1000 * statistics.median(taken), 1000 * max(taken), len(taken))
            for (what, where), taken in self._taken.items()
        ]
