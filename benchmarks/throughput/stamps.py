"""What the observer saw of the measured pods: when each was bound, and when its Event was there."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(slots=True)
class Stamps:
    """Seconds of ``time.monotonic``, which all processes of a machine share, by ``namespace/name``."""

    bound_s: dict[str, float] = field(default_factory=dict)
    told_s: dict[str, float] = field(default_factory=dict)
    restarts: int = 0
    """Watches that the API server ended: it does so with whoever is slow for a moment, and stamps are late then."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Watched:
    """Counts down to what the harness waits for, and says it once.

    Args:
        expected: how many of the measured pods can be bound at all.
    """

    def __init__(self, *, warm: Iterable[str], measured: Iterable[str], expected: int) -> None:
        self.stamps = Stamps()
        self._warm, self._measured = set(warm), frozenset(measured)
        self._expected = expected

    def bound(self, pod: str, at_s: float) -> str:
        """The word that this bind is worth, if it is worth one."""
        bound_s = self.stamps.bound_s
        if pod in self._measured:
            bound_s.setdefault(pod, at_s)
            if len(bound_s) == self._expected:
                return "bound"
            return "first" if len(bound_s) == 1 else ""
        if pod in self._warm:
            self._warm.remove(pod)
            return "" if self._warm else "warm"
        return ""

    def told(self, event: str, at_s: float) -> str:
        """Of an Event that says that a pod was scheduled; its name begins with the pod's."""
        pod = event.rpartition(".")[0]
        if pod in self._measured:
            self.stamps.told_s.setdefault(pod, at_s)
        return "settled" if len(self.stamps.told_s) == self._expected else ""

    def quiet(self, *, since_s: float) -> str:
        """Whether all are bound, and no Event has come since."""
        last_s = max((*_last(self.stamps.bound_s), *_last(self.stamps.told_s)), default=since_s)
        return "settled" if len(self.stamps.bound_s) == self._expected and last_s < since_s else ""


def _last(stamps_s: dict[str, float]) -> list[float]:
    """The newest, which a dict has at its end."""
    return [stamps_s[pod] for pod in itertools.islice(reversed(stamps_s), 1)]
