"""The time of a run: it passes with what is done, so that equal runs are equal however fast they are."""

from __future__ import annotations

# Any time will do, as long as it is the same.
_BEGIN_S = 1_800_000_000.0


class Clock:
    """Attributes:
    now_s: seconds since the epoch.
    """

    def __init__(self) -> None:
        self.now_s = _BEGIN_S

    def advance(self, seconds: float) -> None:
        self.now_s += seconds
