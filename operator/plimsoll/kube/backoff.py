"""How long to wait after a failure: growing, capped, jittered."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Backoff:
    """Delays that grow until ``reset``.

    Attributes:
        cap_s: 5 s, so that a returning API server is noticed before people wonder.
        jitter: the share by which a delay is lengthened at most, so that replicas do not return in step.
    """

    initial_s: float = 0.2
    factor: float = 2.0
    cap_s: float = 5.0
    jitter: float = 0.3
    rng: random.Random = field(default_factory=random.Random)
    _failures: int = 0

    def next_s(self, *, at_least_s: float = 0.0) -> float:
        """The next delay; ``at_least_s`` is what the server asked for."""
        # The exponent is bounded: an outage of days must not overflow a float.
        grown_s = self.initial_s * self.factor ** min(self._failures, 32)
        self._failures += 1
        return max(min(grown_s, self.cap_s) * (1 + self.jitter * self.rng.random()), at_least_s)

    def reset(self) -> None:
        self._failures = 0

    def __iter__(self) -> Iterator[float]:
        """Delays without end, afresh for each iteration: what kopf wants of ``error_backoffs``."""
        fresh = Backoff(self.initial_s, self.factor, self.cap_s, self.jitter, self.rng)
        while True:
            yield fresh.next_s()
