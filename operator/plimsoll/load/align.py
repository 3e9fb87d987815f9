"""A policy's readings in the order of the Snapshot's rows, with what is learnt from them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.snapshot import PODS_COLUMN, Bools, Snapshot
from plimsoll.cluster.workload_examples import TOLD
from plimsoll.load import custom_load
from plimsoll.load.confidence import confidence, true_age_s
from plimsoll.load.coverage import created_s
from plimsoll.load.exact import scale_of
from plimsoll.load.expected import RESOURCE_OF, Crowd, Expectations, Usual, usual
from plimsoll.load.history import WorkloadHistory
from plimsoll.load.metric_load import MetricLoad, States
from plimsoll.load.presumed import known_capacity, typical_load
from plimsoll.load.readings import Floats, MetricReadings, Readings, ReadingState, WindowMean
from plimsoll.load.residents import Residents
from plimsoll.load.stays import Stays
from plimsoll.load.unseen import Shares
from plimsoll.policy.compiled import Metric, Policy

# Beyond this utilisation only nonsense is left, and sums that overflow.
_ABSURD = 1e6


@dataclass(frozen=True, slots=True)
class Scene:
    """What one refresh looks at, the same for all metrics.

    Attributes:
        policy: by whose refresh interval a sample's age is judged.
        order: [N], index into the readings by row, -1 where the node has none.
        created_s: [N], when the nodes came.
        stays: pods in flight and departed ones.
        crowd: one pod of each of their kinds.
        shares: theirs.
    """

    policy: Policy
    view: Snapshot
    readings: Readings
    history: WorkloadHistory
    order: NDArray[np.int64]
    created_s: Floats
    stays: Stays
    crowd: Crowd
    shares: Shares

    @classmethod
    def of(cls, policy: Policy, readings: Readings, view: Snapshot, there: Stays, history: WorkloadHistory) -> Scene:
        """Args:
        there: pods in flight and departed ones.
        """
        place: Mapping[str, int] = {name: i for i, name in enumerate(readings.nodes)}
        names = ["" if node is None else node.name for node in view.nodes]
        order = np.fromiter(map(place.get, names, itertools.repeat(-1)), dtype=np.int64, count=len(names))
        crowd = Crowd(history.directory.rows(there.workloads), there.told)
        return cls(policy, view, readings, history, order, created_s(view), there, crowd, Shares(there))

    def young(self, now_s: float) -> Bools:
        """[N], nodes that nobody can have measured yet."""
        young: Bools = self.created_s > now_s - self.policy.grown_after_s
        return young

    def pick(self, values: Floats) -> Floats:
        """[L, N] of [L, n], NaN for nodes without a reading."""
        padded = np.hstack((values, np.full((len(values), 1), np.nan)))  # index -1 is the NaN at the end
        # Rows in one piece, which indexing of the second axis does not give.
        return padded.take(self.order, axis=1)

    def states(self, read: Sequence[States]) -> NDArray[np.int8]:
        """[M, N] of [n] each, MISSING for nodes without a reading."""
        padded = np.hstack((np.array(read), np.full((len(read), 1), ReadingState.MISSING, dtype=np.int8)))
        return padded.take(self.order, axis=1)


def align(scene: Scene) -> tuple[tuple[MetricLoad, ...], Floats]:
    """Those of the policy's metrics that the readings have, and [S, N], the array that holds their ``in_flight`` one
    below the other; pods in flight are not counted yet.
    """
    metrics = [metric for metric in scene.policy.metrics if metric.name in scene.readings.metrics]
    if not metrics:
        return (), np.zeros((0, scene.view.size))
    table = _Table.of(metrics, scene)
    expectations = [
        Expectations(metric.name, learnt, scene.history.by_metric(metric.name))
        for metric, learnt in zip(metrics, _usual(table, scene), strict=True)
    ]
    scales = [scale_of(capacity) for capacity in table.capacity]
    residents = Residents(scene.view.workloads, scene.view.size, expectations, scales)
    in_flight = np.zeros_like(table.means)
    loads = [
        MetricLoad(
            metric=custom_load.on_scale(metric, read.scale),
            utilisation=table.utilisation[i],
            windows_s=table.windows_s[i],
            means=table.means[table.lines[i]],
            capacity=table.capacity[i],
            divisor=table.divisor[i],
            sampled_at_s=table.sampled_at_s[i],
            shown_until_s=table.shown_until_s[i],
            state=table.state[i],
            confidence=table.confidence[i],
            certain=bool((table.confidence[i] >= 1.0).all()),
            in_flight=in_flight[table.lines[i]],
            typical=_typical(metric, table.utilisation[i][table.fresh[i]], table.young),
            expectations=expectations[i],
            residents=residents.of(i),
            scale=scales[i],
            hysteresis=custom_load.hysteresis(metric, read.scale),
        )
        for i, (metric, read) in enumerate(zip(metrics, table.read, strict=True))
    ]
    return tuple(loads), in_flight


def _typical(metric: Metric, fresh: Floats, young: Bools) -> Floats:
    return custom_load.typical(fresh, len(young)) if metric.custom else typical_load(fresh, young)


@dataclass(frozen=True, slots=True)
class _Table:
    """All metrics in the order of the Snapshot's rows, arrays of shape [M, N].

    Attributes:
        windows_s: of each metric, its windows' lengths.
        means: [S, N], utilisation by window, all metrics' one below the other.
        lines: of each metric, where its windows are among these.
        shown_until_s: up to when the samples can have seen pods.
        fresh: where the state is OK.
        young: [N].
    """

    metrics: Sequence[Metric]
    read: Sequence[MetricReadings]
    windows_s: Sequence[tuple[float, ...]]
    lines: Sequence[slice]
    utilisation: Floats
    means: Floats
    capacity: Floats
    divisor: Floats
    sampled_at_s: Floats
    shown_until_s: Floats
    state: NDArray[np.int8]
    confidence: Floats
    fresh: NDArray[np.bool_]
    young: Bools

    @classmethod
    def of(cls, metrics: Sequence[Metric], scene: Scene) -> _Table:
        read = [scene.readings.metrics[metric.name] for metric in metrics]
        windows = [found.windows or (WindowMean(found.window_s, found.utilisation),) for found in read]
        ends = list(itertools.accumulate(map(len, windows), initial=0))
        picked = scene.pick(
            np.array(
                [
                    *(found.utilisation for found in read),
                    *(found.sampled_at_s for found in read),
                    *(found.capacity for found in read),
                    *(window.utilisation for of in windows for window in of),
                ]
            )
        )
        utilisation, sampled_at_s, told, means = np.split(picked, [n * len(metrics) for n in (1, 2, 3)])
        taken_at_s, most = scene.readings.taken_at_s, np.array([_most(metric) for metric in metrics])
        age_s, state = taken_at_s - sampled_at_s, scene.states([found.state for found in read])
        believed = confidence(age_s, interval_s=scene.policy.refresh_interval_s)
        capacity = np.array([known_capacity(m, of, scene.view) for m, of in zip(metrics, told, strict=True)])
        return cls(
            metrics,
            read,
            windows_s=[tuple(window.length_s for window in of) for of in windows],
            lines=[slice(*pair) for pair in itertools.pairwise(ends)],
            utilisation=np.minimum(utilisation, most[:, None]),
            means=np.minimum(means, np.repeat(most, np.diff(ends))[:, None]),
            capacity=capacity,
            divisor=np.where(capacity > 0, capacity, np.inf),
            sampled_at_s=sampled_at_s,
            shown_until_s=taken_at_s - true_age_s(age_s),
            state=state,
            confidence=np.where(state == ReadingState.MISSING, 0.0, believed),
            fresh=state == ReadingState.OK,
            young=scene.young(taken_at_s),
        )


def _most(metric: Metric) -> float:
    return np.inf if metric.custom else _ABSURD


def _usual(table: _Table, scene: Scene) -> list[Usual]:
    """Requests tell of cpu and memory alone; of network the history does, of custom metrics the policy."""
    told = [i for i, metric in enumerate(table.metrics) if metric.name in RESOURCE_OF]
    learnt = dict(zip(told, _learnt(table, scene, told), strict=True))
    return [learnt.get(i) or Usual(per_pod=_per_pod(metric, scene)) for i, metric in enumerate(table.metrics)]


def _per_pod(metric: Metric, scene: Scene) -> float:
    return metric.per_pod if metric.custom else scene.history.per_pod(metric.name) or 0.0


def _learnt(table: _Table, scene: Scene, told: Sequence[int]) -> Iterator[Usual]:
    """By the requests that the shortest window's mean contains.

    What is in flight is asked for already but not used yet: counted in, it would make every pod seem light just
    after many have come. What has departed is used no more but still in the mean.
    """
    there, view = scene.stays, scene.view
    for i in told:
        share = scene.shares.line(shown_until_s=table.shown_until_s[i], window_s=table.windows_s[i][0])
        _, column, unit = RESOURCE_OF[table.metrics[i].name]
        amounts = np.maximum(scene.crowd.told[TOLD.index(table.metrics[i].name)], 0.0).take(there.kinds)
        requested = view.requested[:, [column, PODS_COLUMN]].astype(np.float64)
        asked = requested[:, 0] - np.bincount(there.rows, share * amounts, minlength=view.size)
        pods = requested[:, 1] - np.bincount(there.rows, share, minlength=view.size)
        # Nobody uses more of these than there is; one broken exporter must not make every pod huge.
        used = np.minimum(table.means[table.lines[i].start], 1.0) * table.capacity[i]
        yield usual(used=used, asked=asked * unit, pods=pods, measured=table.fresh[i] & ~np.isnan(used))
