"""When pods are looked at, and who has been told what was seen.

What pods use is learned slowly, and is much to ask for. So looks are taken beside the refreshes, which never wait
for one, in a thread of their own: a look that fails or takes too long costs what would have been learned, and nothing
else.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from plimsoll.errors import SourceError
from plimsoll.load.pod_use import PodPlace
from plimsoll.load.workload_use import WorkloadUse
from plimsoll.policy.compiled import Policy
from plimsoll.sources.observing import OnLook

Pods = Mapping[str, PodPlace]

log = logging.getLogger(__name__)

# The tasks' name.
LOOK = "look at what pods use"
# A second less than a minute: refreshes come a moment early or late.
_EVERY_S = 59.0
# What is refused, or not there, will hardly be better in a minute.
_AT_MOST_EVERY_S = 600.0
# Refreshes that a policy may miss before it counts as gone.
_MISSED = 3


class Looked(NamedTuple):
    """What a look brought: ``problem`` is a sentence about what it could not see, "" where there is nothing."""

    use: WorkloadUse
    problem: str = ""


class Look(Protocol):
    """Asks a source.

    Attributes:
        source: its kind.
        name: for people, as the subject of a sentence.
        knows: the metrics that it can tell.
    """

    source: str
    name: str
    knows: frozenset[str]

    async def __call__(self, metrics: frozenset[str], *, pods: Pods, now_s: float) -> Looked:
        """Raises SourceError where nothing was seen."""


class PodLooks:
    """The looks at one source, for all of its policies. Lives in one event loop."""

    def __init__(self, look: Look, *, on_look: OnLook) -> None:
        self._look, self._on_look = look, on_look
        self._policies: dict[str, _Wish] = {}
        self._under_way: asyncio.Task[None] | None = None
        self._began_s, self._wait_s = 0.0, 0.0
        self._seen: WorkloadUse | None = None
        self._state = ""

    @property
    def wanted(self) -> bool:
        """Whether a policy still asks, or a look is under way."""
        return bool(self._policies) or self._under_way is not None

    def news(self, policy: Policy, *, pods: Pods, now_s: float) -> WorkloadUse | None:
        """What was seen since the policy was told last; takes a look where one is due."""
        metrics = self._look.knows.intersection(metric.name for metric in policy.metrics)
        if not metrics:
            return None
        before = self._policies.get(policy.name)
        wish = _Wish(metrics, now_s + _MISSED * policy.refresh_interval_s, before.told_s if before else None)
        self.forget(now_s)
        self._policies[policy.name] = wish
        if self._under_way is None and not 0 <= now_s - self._began_s < self._wait_s:
            self._began_s = now_s
            self._under_way = asyncio.create_task(self._take(pods, now_s), name=LOOK)
        return wish.told(self._seen)

    def forget(self, now_s: float) -> None:
        """Policies that are gone."""
        self._policies = {name: wish for name, wish in self._policies.items() if now_s <= wish.until_s}

    async def close(self) -> None:
        """Gives up what is under way."""
        if self._under_way is not None:
            self._under_way.cancel()
            await asyncio.gather(self._under_way, return_exceptions=True)

    async def _take(self, pods: Pods, now_s: float) -> None:
        metrics = frozenset[str]().union(*(wish.metrics for wish in self._policies.values()))
        try:
            looked = await self._look(metrics, pods=pods, now_s=now_s)
        except SourceError as error:
            self._failed(str(error))
        except Exception as error:
            # Whoever answers is named by a policy: nothing that it says may end the refreshes.
            if self._state != "failed":
                log.exception("what pods use could not be judged")
            self._failed(f"{self._look.name} could not be judged ({type(error).__name__}).")
        else:
            self._saw(looked)
        finally:
            self._under_way = None

    def _saw(self, looked: Looked) -> None:
        self._wait_s = _EVERY_S
        if looked.use.by_metric:
            self._seen = looked.use
            self._on_look(self._look.source, "answered")
            self._tell("partial" if looked.problem else "", looked.problem)
            return
        self._on_look(self._look.source, "empty")
        self._tell("empty", looked.problem or f"{self._look.name} has nothing of the pods that are known.")

    def _failed(self, why: str) -> None:
        self._wait_s = min(max(2 * self._wait_s, _EVERY_S), _AT_MOST_EVERY_S)
        self._on_look(self._look.source, "failed")
        self._tell("failed", why)

    def _tell(self, state: str, sentence: str) -> None:
        """Once, for as long as it stays so."""
        if sentence and state != self._state:
            log.warning("what pods use is not learned in full: %s Estimates go by what is known already.", sentence)
        self._state = state


@dataclass(slots=True)
class _Wish:
    """One policy's: what it wants to know, until when it counts, and the time of what it has been told."""

    metrics: frozenset[str]
    until_s: float
    told_s: float | None

    def told(self, seen: WorkloadUse | None) -> WorkloadUse | None:
        """Each look once, its own metrics only."""
        if seen is None or seen.sampled_at_s == self.told_s:
            return None
        self.told_s = seen.sampled_at_s
        own = {metric: used for metric, used in seen.by_metric.items() if metric in self.metrics}
        return WorkloadUse(seen.sampled_at_s, own) if own else None
