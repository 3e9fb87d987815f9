"""Events that repeat, grouped as client-go does."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from plimsoll.reporting.events import Event

# client-go's finishTime: what happens again later than this is a new event.
_SERIES_S = 360.0
# client-go's cache has the same size; the oldest series are let go first.
_MAX_SERIES = 4096
# A pod is bound but once.
_ONCE = frozenset({"Scheduled"})
# What a float still tells apart in this century.
_APART_S = 1e-6


@dataclass(slots=True)
class Series:
    """Attributes:
    first_s: unique, since the name is made of it.
    name: that of the Event object; "" until it has been written.
    tried: the count of the latest request, or of what was given up.
    queued: it waits to be written.
    busy: a request is under way; a second one might overtake it.
    """

    count: int
    first_s: float
    last_s: float
    name: str = ""
    tried: int = 0
    queued: bool = False
    busy: bool = False


class SeriesBook:
    """Which series an event belongs to."""

    def __init__(self) -> None:
        self._series = OrderedDict[Event, Series]()
        self._newest_s = 0.0

    def happened(self, event: Event, now_s: float) -> Series:
        """Its series, with this time counted."""
        # What happens to a pod once has no later times to be told apart from, and would push out what has.
        series = self._new(now_s) if event.reason in _ONCE else self._of(event, now_s)
        series.count += 1
        series.last_s = now_s
        return series

    def _of(self, event: Event, now_s: float) -> Series:
        series = self._series.get(event)
        if series is None or now_s - series.last_s > _SERIES_S:
            series = self._series[event] = self._new(now_s)
        self._series.move_to_end(event)
        if len(self._series) > _MAX_SERIES:
            self._series.popitem(last=False)
        return series

    def _new(self, now_s: float) -> Series:
        self._newest_s = max(now_s, self._newest_s + _APART_S)
        return Series(count=0, first_s=self._newest_s, last_s=now_s)
