"""One metric of one policy, aligned with the Snapshot's rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import PODS_COLUMN, Bools, Snapshot
from plimsoll.load.confidence import confidence
from plimsoll.load.expected import RESOURCE_OF, Usual, expected_use, usual
from plimsoll.load.ledger import Entry, uncovered
from plimsoll.load.readings import Floats, Readings, ReadingState
from plimsoll.policy.compiled import Metric, Policy

States = NDArray[np.int8]

# A node of which nothing is known is taken to be a little worse than the one in the middle.
_MARGIN = 0.1
# Beyond this utilisation only nonsense is left, and sums that overflow.
_ABSURD = 1e6


@dataclass(frozen=True, slots=True)
class MetricLoad:
    """Arrays of shape [N]; only ``in_flight`` changes between refreshes.

    Attributes:
        utilisation: measured, over capacity; NaN where missing.
        capacity: in the metric's unit (bytes/s, cores, bytes); where it was not measured, what the node offers or
            the smallest one known.
        in_flight: what pods in flight are expected to add, in the metric's unit.
        confidence: 0..1, how far the sample is believed.
        typical: median utilisation of the nodes with fresh readings, which one of which nothing is known is presumed
            to carry as well; 0 for new nodes, which have nothing to show yet.
        usual: how use relates to requests in this cluster.
    """

    metric: Metric
    utilisation: Floats
    capacity: Floats
    sampled_at_s: Floats
    state: States
    window_s: float
    confidence: Floats
    in_flight: Floats
    typical: Floats
    usual: Usual

    def expected(self, pod: PodInfo) -> float:
        """What the pod is expected to use, in the metric's unit."""
        return expected_use(pod, self.metric.name, self.usual)

    def measured(self) -> Floats:
        """[N], utilisation with pods in flight; NaN where missing."""
        return self.utilisation + self._share(self.in_flight)

    def projected(self, view: Snapshot, pod: PodInfo | None) -> Floats:
        """[N], utilisation with the pod placed there.

        c * (measured + in flight) + (1 - c) * (presumed + margin) + this pod, c being the confidence. Presumed is
        what requests suggest, and no less than a typical node carries; and a load that was measured is not taken to
        have fallen because nobody looks any more. So to lose sight of a node never makes it the best.
        """
        presumed = np.maximum(requested_share(view, self.metric, self.usual), self.typical) + _MARGIN
        measured = np.nan_to_num(self.measured(), nan=0.0)
        load = self.confidence * measured + (1 - self.confidence) * presumed
        load = np.where(self.confidence > 0, np.maximum(load, measured), load)
        return load if pod is None else load + self._share(self.expected(pod))

    def _share(self, amount: Floats | float) -> Floats:
        """Over capacity; 0 where the capacity is not known, since a limit cannot be judged there."""
        known = self.capacity > 0
        share: Floats = np.divide(amount, self.capacity, out=np.zeros_like(self.capacity), where=known)
        return share


def align(
    metric: Metric,
    readings: Readings,
    order: NDArray[np.int64],
    view: Snapshot,
    *,
    entries: Collection[Entry],
    policy: Policy,
) -> MetricLoad:
    """One metric's readings in the order of the Snapshot's rows.

    Args:
        order: [N], index into the readings by row, -1 where the node has none.
        entries: the ledger's.
        policy: by whose refresh interval a sample's age is judged.
    """
    read = readings.metrics[metric.name]
    utilisation, sampled_at_s = np.minimum(_pick(read.utilisation, order), _ABSURD), _pick(read.sampled_at_s, order)
    capacity = _capacity(metric, _pick(read.capacity, order), view)
    state = np.where(order >= 0, read.state[order] if len(read.state) else 0, ReadingState.MISSING).astype(np.int8)
    believed = confidence(readings.taken_at_s - sampled_at_s, interval_s=policy.refresh_interval_s)
    believed = np.where(state == ReadingState.MISSING, 0.0, believed)
    usually = Usual()
    if metric.name in RESOURCE_OF:
        asked, pods = _seen(metric, view, entries, sampled_at_s, read.window_s)
        # Nobody uses more of these than there is; one broken exporter must not make every pod huge.
        used = np.minimum(utilisation, 1.0) * capacity
        usually = usual(used=used, asked=asked, pods=pods, measured=state == ReadingState.OK)
    return MetricLoad(
        metric=metric,
        utilisation=utilisation,
        capacity=capacity,
        sampled_at_s=sampled_at_s,
        state=state,
        window_s=read.window_s,
        confidence=believed,
        in_flight=np.zeros(view.size),
        typical=_typical(utilisation[state == ReadingState.OK], _young(view, policy, now_s=readings.taken_at_s)),
        usual=usually,
    )


def _seen(
    metric: Metric, view: Snapshot, entries: Collection[Entry], sampled_at_s: Floats, window_s: float
) -> tuple[Floats, Floats]:
    """[N], requests in the metric's unit and number of pods, as far as the samples contain them.

    What is in flight is asked for already but not used yet: counted in, it would make every pod seem light just
    after many have come.
    """
    resource, column, unit = RESOURCE_OF[metric.name]
    asked = view.requested[:, column].astype(np.float64) * unit
    pods = view.requested[:, PODS_COLUMN].astype(np.float64)
    for entry in entries:
        row = view.row_of.get(entry.pod.node)
        if row is not None:
            share = uncovered(entry, sampled_at_s=float(sampled_at_s[row]), window_s=window_s)
            asked[row] -= share * entry.pod.requests.get(resource, 0) * unit
            pods[row] -= share
    return asked, pods


def _typical(fresh: Floats, young: Bools) -> Floats:
    return np.where(young, 0.0, np.median(fresh) if len(fresh) else 0.0)


def _young(view: Snapshot, policy: Policy, *, now_s: float) -> Bools:
    """[N], nodes that nobody can have measured yet."""
    created_s = np.array([-np.inf if node is None else node.created_s for node in view.nodes])
    young: Bools = created_s > now_s - policy.grown_after_s
    return young


def _capacity(metric: Metric, told: Floats, view: Snapshot) -> Floats:
    """[N]. A node that is not measured is judged with the pod on it as well, or it would seem the lighter for it."""
    if metric.name in RESOURCE_OF:
        _, column, unit = RESOURCE_OF[metric.name]
        return np.where(told > 0, told, view.allocatable[:, column] * unit)
    known = told[told > 0]
    return np.where(told > 0, told, known.min() if len(known) else np.nan)


def order_of(readings: Readings, view: Snapshot) -> NDArray[np.int64]:
    """[N], where in the readings each row's node stands; -1 for none."""
    place: Mapping[str, int] = {name: i for i, name in enumerate(readings.nodes)}
    return np.array([place.get(view.name(row), -1) for row in range(view.size)], dtype=np.int64)


def requested_share(view: Snapshot, metric: Metric, usually: Usual) -> Floats:
    """[N], the utilisation that requests suggest; network, which nobody requests, the mean of both."""
    if metric.name in RESOURCE_OF:
        return usually.ratio * _column_share(view, RESOURCE_OF[metric.name][1])
    mean: Floats = np.mean([_column_share(view, column) for _, column, _ in RESOURCE_OF.values()], axis=0)
    return mean


def _column_share(view: Snapshot, column: int) -> Floats:
    offered = view.allocatable[:, column]
    share: Floats = np.divide(view.requested[:, column], offered, out=np.ones(view.size), where=offered > 0)
    return share


def _pick(values: Floats, order: NDArray[np.int64]) -> Floats:
    padded = np.append(values, np.nan)  # index -1 is the NaN at the end
    picked: Floats = padded[order]
    return picked
