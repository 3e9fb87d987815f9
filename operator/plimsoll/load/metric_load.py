"""One metric of one policy, aligned with the Snapshot's rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.row_log import ALL, At
from plimsoll.load import custom_load
from plimsoll.load.expected import Expectations, Usual
from plimsoll.load.readings import Floats
from plimsoll.load.residents import MetricResidents
from plimsoll.policy.compiled import Metric

States = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class MetricLoad:
    """Arrays of shape [N], or [K, N] by averaging window; between refreshes only ``in_flight`` and what the residents
    use change, with the pods that come and go.

    Attributes:
        metric: the policy's, its limit in utilisation for custom metrics too.
        utilisation: measured, over capacity, the larger of the windows' means; NaN where missing.
        windows_s: [K], the windows' lengths, 0 for instant values.
        means: [K, N], utilisation by window; NaN where missing.
        capacity: in the metric's unit (bytes/s, cores, bytes); where it was not measured, what the node offers or
            the smallest one known.
        divisor: the same to divide by; inf where it is not known, since a limit cannot be judged there.
        sampled_at_s: as the source tells it; NaN where missing.
        shown_until_s: up to when the sample can have seen pods: where a clock is wrong, earlier than it says.
        in_flight: [K, N], what pods in flight are expected to add to each window's mean, less what departed pods have
            left in it, in the metric's unit.
        confidence: 0..1, how far the sample is believed.
        certain: whether all samples are believed in full, so that nothing has to be presumed.
        typical: median utilisation of the nodes with fresh readings, which one of which nothing is known is presumed
            to carry as well; 0 for new nodes, which have nothing to show yet.
        expectations: what pods use.
        residents: what the pods that are there use in the long run.
        scale: about what nodes offer, by ``exact.scale_of``.
        hysteresis: how far below its limit the load must fall, in utilisation, before the node takes pods again.
    """

    metric: Metric
    utilisation: Floats
    windows_s: tuple[float, ...]
    means: Floats
    capacity: Floats
    divisor: Floats
    sampled_at_s: Floats
    shown_until_s: Floats
    state: States
    confidence: Floats
    certain: bool
    in_flight: Floats
    typical: Floats
    expectations: Expectations
    residents: MetricResidents
    scale: float
    hysteresis: float = custom_load.HYSTERESIS

    @property
    def usual(self) -> Usual:
        """How use relates to requests in this cluster."""
        return self.expectations.usual

    @property
    def habit(self) -> Floats:
        """[N], what the pods there use in the long run, by history or by what they ask for, in the metric's unit."""
        return self.residents.habit

    def expected(self, pod: PodInfo) -> float:
        """What the pod is expected to use, in the metric's unit."""
        return self.expectations.of(pod)

    def measured(self) -> Floats:
        """[N], utilisation with pods in flight and without departed ones; NaN where missing.

        Each window's mean is put right by itself, then the larger counts. No more is subtracted than was measured.
        """
        right = np.maximum(self.means + self._share(self.in_flight), np.minimum(self.means, 0.0))
        largest: Floats = np.fmax.reduce(right, axis=0)
        return largest

    def presumed(self, uses: float, at: At = ALL) -> Floats:
        """[n], utilisation with a pod placed there as far as its pods tell, whatever was measured.

        Args:
            uses: what the pod is expected to use.
        """
        presumed: Floats = (self.habit[at] + uses) / self.divisor[at]
        return presumed

    def _share(self, amount: Floats | float) -> Floats:
        return amount / self.divisor
