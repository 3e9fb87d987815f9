"""The metrics plane: what a monitoring system knows of the nodes at a moment, late and averaged as it is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plimsoll.sim.demand import Demand
from plimsoll.sim.falsehoods import falsified, skewed
from plimsoll.sim.faults import Faults
from plimsoll.sim.live_pods import LivePods
from plimsoll.sim.scenario import FaultKind
from plimsoll.sim.scrapes import Scrapes, Span
from plimsoll.sim.world import MEMORY_AT, Floats, World

Pods = NDArray[np.int64]


class MetricsPlane:
    """Exporters on the nodes, scraped each at a moment of its own.

    Amounts are in the metric's unit (cores, bytes, bytes/s), NaN where nothing is known. With faults they are wrong
    in the way in which the scenario wants them to be; ``true_mean`` is what a monitoring system would have told
    without, but for what was not scraped.

    Attributes:
        scrapes, faults: for whoever words the answers of a certain source.
    """

    def __init__(self, world: World, demand: Demand, rng: np.random.Generator) -> None:
        self.world, self.demand = world, demand
        self.faults = Faults(world.scenario, len(world.nodes), seed=world.seed)
        self.scrapes = Scrapes(world, self.faults, rng)
        self._live = LivePods(world)

    # -- told by the engine ----------------------------------------------------------------------------

    def started(self, pod: int, node: int, *, now_s: float) -> None:
        self._live.started(pod, node, now_s=now_s)

    def ended(self, pod: int) -> None:
        self._live.ended(pod)

    # -- asked by contenders ---------------------------------------------------------------------------

    def seen_s(self, now_s: float) -> float:
        """Up to when what was scraped is to be seen."""
        every_s = self.world.scenario.publish_s
        return self.faults.seen_until_s(now_s // every_s * every_s if every_s else now_s)

    def answers(self, now_s: float) -> bool:
        """Whether the source does; who asks it while it does not keeps what it told before."""
        return not self.faults.at(FaultKind.OUTAGE, now_s).any()

    def sampled_at_s(self, now_s: float) -> Floats:
        """[N], the last scrape of each node that is to be seen, by the node's clock; NaN before the first."""
        seen_s = self.seen_s(now_s)
        last_s = self.scrapes.last_s(seen_s)
        return skewed(last_s, self.faults, seen_s) if self.faults else last_s

    def mean(self, window_s: float, now_s: float) -> Floats:
        """[M, N], over the scrapes within the window: what ``rate`` and ``avg_over_time`` find, once that is divided
        by the share of the window that is covered; NaN with fewer than two of them.
        """
        seen_s = self.seen_s(now_s)
        if self.faults:
            return falsified(lambda at_s: self._mean(window_s, at_s), self.faults, seen_s, self.world.scenario.scrape_s)
        return self._mean(window_s, seen_s)

    def covered_s(self, window_s: float, now_s: float) -> Floats:
        """[N], how much of the window lies between the first and the last scrape within it; NaN with none."""
        seen_s = self.seen_s(now_s)
        span = self.scrapes.span(seen_s - window_s, seen_s)
        return span.last_s - span.first_s

    def latest(self, now_s: float) -> Floats:
        """[M, N], at the last scrape: what an instant value shows; NaN as soon as a scrape has failed."""
        seen_s = self.seen_s(now_s)
        if self.faults:
            return falsified(self._latest, self.faults, seen_s, self.world.scenario.scrape_s)
        return self._latest(seen_s)

    def pods(self) -> Pods:
        """[P], the pods that run."""
        return self._live.pods()

    def pods_started_s(self, pods: Pods) -> Floats:
        """[P], when each of them started."""
        return self._live.started_s[pods]

    def apps(self, pods: Pods) -> Pods:
        """[P], what each of them is a replica of."""
        return self._live.app[pods]

    def pod_use(self, pods: Pods, window_s: float, now_s: float) -> Floats:
        """[P, M], the mean that each running pod was measured to use in the window, or since it started; NaN where
        its node is not measured.

        What an overloaded node does not give is not used. Kubelets know this, not the nodes' exporters, so that they
        have no part in what is wrong with those, except where the nodes are dark or the numbers none.
        """
        seen_s = self.seen_s(now_s)
        use = self._live.mean_use(pods, window_s, seen_s)
        on = self._live.node[pods]
        use *= self._given(seen_s)[:, on].T
        if self.faults:
            for kind in (FaultKind.DARK, FaultKind.NAN):
                use[self.faults.at(kind, seen_s)[on]] = np.nan
        return use

    # -- asked by whoever words a source's answers -----------------------------------------------------

    def true_mean(self, span: Span) -> Floats:
        """[M, N], what was carried in the mean from the first to the last scrape; NaN with fewer than two."""
        length_s = span.length_s
        known = ~np.isnan(length_s)
        begin, end = np.where(known, span.first_s, 0.0), np.where(known, span.last_s, 0.0)
        carried: Floats = self.demand.carried_until(end) - self.demand.carried_until(begin)
        # Sums round: no more than everything was carried.
        return np.minimum(carried / length_s, self.world.capacity)

    def at_scrape(self, at_s: Floats) -> Floats:
        """[M, N], what was carried at a moment of each node's own."""
        step = np.clip(np.nan_to_num(at_s) / self.world.step_s, 0, self.world.steps - 1).astype(np.int64)
        value = np.minimum(self.demand.amount[:, np.arange(len(step)), step], self.world.capacity)
        return np.where(np.isnan(at_s), np.nan, value)

    def _mean(self, window_s: float, seen_s: float) -> Floats:
        return self.true_mean(self.scrapes.span(seen_s - window_s, seen_s))

    def _latest(self, seen_s: float) -> Floats:
        at_s = self.scrapes.last_s(seen_s)
        if self.faults:
            at_s = np.where(self.scrapes.missed(seen_s), np.nan, at_s)
        return self.at_scrape(at_s)

    def _given(self, now_s: float) -> Floats:
        """[M, N], the share of what was demanded that the nodes gave; memory is given or the pod is killed."""
        step = min(int(now_s / self.world.step_s), self.world.steps - 1)
        demand = self.demand.amount[:, :, step]
        given = np.divide(self.world.capacity, demand, out=np.ones_like(demand), where=demand > self.world.capacity)
        given[MEMORY_AT] = 1.0
        return given
