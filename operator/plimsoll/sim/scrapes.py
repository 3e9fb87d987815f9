"""When exporters are scraped, and what a range of their samples is worth to Prometheus."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from plimsoll.sim.faults import Faults
from plimsoll.sim.scenario import FaultKind
from plimsoll.sim.world import Bools, Floats, World

_NO_ANSWER = (FaultKind.DARK,)

# Prometheus extrapolates a range's samples to its end where the next sample would come about there.
_NEAR = 1.1


@dataclass(frozen=True, slots=True)
class Span:
    """The first and the last scrape within a window.

    Attributes:
        first_s, last_s: [N]; NaN where there is none.
        share: [N], the share of the window that Prometheus' ``rate`` takes them to cover, extrapolation and all; NaN
            with fewer than two of them.
    """

    first_s: Floats
    last_s: Floats
    share: Floats

    @property
    def length_s(self) -> Floats:
        """[N], NaN with fewer than two scrapes."""
        length_s = self.last_s - self.first_s
        return np.where(length_s > 0, length_s, np.nan)


class Scrapes:
    """Each node's exporter is scraped at a moment of its own, as long as it answers."""

    def __init__(self, world: World, faults: Faults, rng: np.random.Generator) -> None:
        self._every_s = world.scenario.scrape_s
        self._phase_s = rng.uniform(0, self._every_s, len(world.nodes))
        self._from_s = np.array([max(node.joins_s, 0.0) for node in world.nodes])
        self._faults = faults

    def last_s(self, until_s: float, kinds: Collection[FaultKind] = _NO_ANSWER) -> Floats:
        """[N], the last scrape up to a moment; NaN before the first.

        Args:
            kinds: while a node has such a fault nothing is scraped.
        """
        last_s = self.before(self._faults.answering_until_s(until_s, kinds))
        return np.where(last_s >= self._from_s, last_s, np.nan)

    def missed(self, until_s: float) -> Bools:
        """[N], exporters that did not answer when they were scraped last."""
        missed: Bools = self.last_s(until_s) < self.before(until_s)
        return missed

    def span(
        self,
        begin_s: float,
        end_s: float,
        *,
        until_s: float | None = None,
        kinds: Collection[FaultKind] = _NO_ANSWER,
    ) -> Span:
        """Of the window from ``begin_s`` to ``end_s``.

        Args:
            until_s: where nothing can have been scraped after that, although the window goes on.
        """
        last_s = self.last_s(end_s if until_s is None else min(end_s, until_s), kinds)
        first_s = self._after(self._faults.answering_from_s(np.maximum(self._from_s, begin_s), kinds))
        inside = last_s >= first_s
        first_s, last_s = np.where(inside, first_s, np.nan), np.where(inside, last_s, np.nan)
        return Span(first_s, last_s, self._share(first_s, last_s, begin_s, end_s))

    def _share(self, first_s: Floats, last_s: Floats, begin_s: float, end_s: float) -> Floats:
        """Source: ``extrapolatedRate`` in promql/functions.go of prometheus/prometheus v3, for counters far from 0."""
        length_s = last_s - first_s
        covered_s = length_s + self._extrapolated_s(first_s - begin_s) + self._extrapolated_s(end_s - last_s)
        return np.where(length_s > 0, covered_s / (end_s - begin_s), np.nan)

    def _extrapolated_s(self, distance_s: Floats) -> Floats:
        return np.where(distance_s < _NEAR * self._every_s, distance_s, self._every_s / 2)

    def before(self, at_s: float | Floats) -> Floats:
        """[N], the last time up to each moment at which there is or would be a scrape."""
        before: Floats = self._phase_s + np.floor((at_s - self._phase_s) / self._every_s) * self._every_s
        return before

    def _after(self, at_s: Floats) -> Floats:
        after: Floats = self._phase_s + np.ceil((at_s - self._phase_s) / self._every_s) * self._every_s
        return after
