"""A counter that is the integral of a rate."""

from dataclasses import dataclass


@dataclass(slots=True)
class Counter:
    """`total` was reached at `since_s`; from there it grows by `rate` per second."""

    since_s: float
    rate: float = 0.0
    total: float = 0.0

    def at(self, now_s: float) -> float:
        """The value now; never falls, also where the clock was set back."""
        return self.total + self.rate * max(0.0, now_s - self.since_s)

    def set_rate(self, rate: float, *, now_s: float) -> None:
        """Grow at another rate from now on; what was counted stays counted.

        Raises:
            ValueError: the rate is negative, which no counter can have.
        """
        if not rate >= 0.0:
            raise ValueError(f"a rate is 0 or more, not {rate}")
        self.total, self.since_s, self.rate = self.at(now_s), now_s, rate

    def reset(self, *, now_s: float) -> None:
        """Start again at zero, as after a reboot."""
        self.total, self.since_s = 0.0, now_s
