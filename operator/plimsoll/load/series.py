"""The series of one refresh of Prometheus: each becomes a measurement of a node, or is refused with the reason."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from plimsoll.cluster.node import NodeInfo
from plimsoll.load.naming import Directory, NodeNamer, Nodes
from plimsoll.load.oddities import Oddity, OddityLog, series_text
from plimsoll.load.queries import Ask, Window, target_labels
from plimsoll.load.readings import ReadingState
from plimsoll.load.samples import PrometheusAnswers, Sample
from plimsoll.load.windows import covered_share, is_partial, state
from plimsoll.policy.compiled import Policy, PrometheusSource

Target = tuple[str, ...]
Mean = Callable[[Sample, Target, Window], float | None]
Load = Callable[[str, float], float]


@dataclass(frozen=True, slots=True)
class Measurement:
    """One thing on one node: a device, or with ``device`` "" the node itself.

    Attributes:
        value: the larger of the windows' means.
        windows: each window's mean, as far as it has one.
    """

    node: str
    device: str
    value: float
    sampled_at_s: float
    windows: tuple[tuple[Window, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Measurements:
    """What one metric's series came to.

    Attributes:
        used: one per node and device.
        series: how many were answered, each window's counted.
        refused: how many of them by reason.
    """

    used: tuple[Measurement, ...]
    series: int = 0
    refused: Counter[Oddity] = field(default_factory=Counter)

    def over(self, window: Window) -> tuple[Measurement, ...]:
        """The same things by that window's means alone; what has none there is left out."""
        return tuple(replace(m, value=value) for m in self.used for found, value in m.windows if found is window)


class Series:
    """One refresh's answers, asked about one metric after the other.

    Args:
        nodes: known at that time.
        pods: node by ``namespace/name`` of a pod.
        log: where what cannot be used is noted.
    """

    def __init__(
        self,
        *,
        policy: Policy,
        nodes: Iterable[NodeInfo],
        pods: Mapping[str, str],
        answers: PrometheusAnswers,
        log: OddityLog,
    ) -> None:
        self._policy, self._answers, self._log = policy, answers, log
        self._labels = target_labels(policy)
        self._blanks = ("",) * len(self._labels)
        self._found: dict[Target, Nodes] = {}
        self._namer = NodeNamer(
            Directory.of(nodes),
            pods=pods,
            uname=answers.answers.get(Ask.UNAME, ()),
            node_label=policy.source.node_label if isinstance(policy.source, PrometheusSource) else None,
        )
        self._last_s = self._by_target(Ask.LAST_SAMPLE)
        self._clocks = {window: self._by_target(Ask.CLOCK.over(window)) for window in Window}

    def of_counters(self, metric: str, ask: Ask, load: Load) -> Measurements:
        """Rates, divided by the share of the window that samples cover; ``load`` turns a node's rate into load."""

        def rate(sample: Sample, target: Target, window: Window) -> float | None:
            share = self._covered(metric, sample, target, window)
            return None if share is None else sample.value / share

        return self._measurements(metric, ask, rate, load)

    def of_ratios(self, metric: str, ask: Ask, load: Load) -> Measurements:
        """Shares of one rate in another: means over what samples cover, so not to be divided by it; too little of a
        window says nothing all the same.
        """

        def ratio(sample: Sample, target: Target, window: Window) -> float | None:
            return None if self._covered(metric, sample, target, window) is None else sample.value

        return self._measurements(metric, ask, ratio, load)

    def of_gauges(self, metric: str, ask: Ask, load: Load) -> Measurements:
        """Means, which need no correction: a mean is taken over the samples that are there."""
        return self._measurements(metric, ask, lambda sample, _target, _window: sample.value, load)

    def greatest(self, ask: Ask) -> dict[tuple[str, str], float]:
        """The largest finite value by node and device, of what load is measured against."""
        largest: dict[tuple[str, str], float] = {}
        for sample in self._answers.answers.get(ask, ()):
            nodes = self._nodes(sample, self._target(sample))
            if len(nodes) == 1 and math.isfinite(sample.value):
                key = next(iter(nodes)), sample.labels.get("device", "")
                largest[key] = max(largest.get(key, -math.inf), sample.value)
        return largest

    def nodes(self, sample: Sample) -> Nodes:
        """The nodes that the series may be about: none, the one, or more where that is ambiguous."""
        return self._nodes(sample, self._target(sample))

    def _measurements(self, metric: str, ask: Ask, mean: Mean, load: Load) -> Measurements:
        series, refused = 0, Counter[Oddity]()
        found: dict[tuple[str, str], dict[Target, Measurement]] = {}
        for window in Window:
            for sample in self._answers.answers.get(ask.over(window), ()):
                series += 1
                target = self._target(sample)
                judged = self._judge(sample, target, window, mean=mean, load=load)
                if isinstance(judged, Oddity):
                    refused[judged] += 1
                    self._log.note(judged, series_text(metric, sample.labels))
                    continue
                of_targets = found.setdefault((judged.node, judged.device), {})
                of_targets[target] = _larger(of_targets.get(target), judged)
        used = tuple(self._settled(metric, of_targets) for of_targets in found.values())
        return Measurements(used=used, series=series, refused=refused)

    def _covered(self, metric: str, sample: Sample, target: Target, window: Window) -> float | None:
        """The share of the window that the target's samples cover; None where too little."""
        clock_rate = self._clocks[window].get(target)
        if window is Window.SHORT and is_partial(clock_rate):
            self._log.note(Oddity.PARTIAL, series_text(metric, sample.labels))
        return covered_share(clock_rate, window_s=window.length_s(self._policy.time_range_s))

    def _judge(self, sample: Sample, target: Target, window: Window, *, mean: Mean, load: Load) -> Measurement | Oddity:
        nodes = self._nodes(sample, target)
        if len(nodes) != 1:
            return Oddity.AMBIGUOUS if nodes else Oddity.UNMAPPED
        if (problem := _unusable(sample.value)) is not None:
            return problem
        last_s = self._last_s.get(target)
        if last_s is None:
            return Oddity.OLD
        measured = mean(sample, target, window)
        if measured is None:
            return Oddity.PARTIAL
        (node,) = nodes
        value = load(node, measured)
        device = sample.labels.get("device", "")
        return _unusable(value) or Measurement(node, device, value, last_s, ((window, value),))

    def _settled(self, metric: str, of_targets: Mapping[Target, Measurement]) -> Measurement:
        """Of several targets that tell of one thing the freshest count, and of those the largest.

        An exporter that was replaced goes on being answered until its samples have left the window.
        """
        if len(of_targets) == 1:
            return next(iter(of_targets.values()))
        states = {target: self._state(measurement) for target, measurement in of_targets.items()}
        freshest = max(states.values())
        fresh = [target for target, found in states.items() if found == freshest]
        if len(fresh) > 1:
            labels = {name: value for name, value in zip(self._labels, min(fresh), strict=True) if value}
            self._log.note(Oddity.DUPLICATE, series_text(metric, labels))
        return max((of_targets[target] for target in fresh), key=_order)

    def _state(self, measurement: Measurement) -> ReadingState:
        age_s = self._answers.asked_at_s - measurement.sampled_at_s
        return state(age_s, refresh_interval_s=self._policy.refresh_interval_s)

    def _by_target(self, query: str) -> dict[Target, float]:
        largest: dict[Target, float] = {}
        for sample in self._answers.answers.get(query, ()):
            target = self._target(sample)
            if math.isfinite(sample.value):
                largest[target] = max(largest.get(target, sample.value), sample.value)
        return largest

    def _nodes(self, sample: Sample, target: Target) -> Nodes:
        """Found once per target, which has many series."""
        if target not in self._found:
            self._found[target] = self._namer.nodes(sample.labels)
        return self._found[target]

    def _target(self, sample: Sample) -> Target:
        return tuple(map(sample.labels.get, self._labels, self._blanks))


def _unusable(value: float) -> Oddity | None:
    if not math.isfinite(value):
        return Oddity.NOT_FINITE
    return Oddity.NEGATIVE if value < 0 else None


def _larger(before: Measurement | None, now: Measurement) -> Measurement:
    if before is None:
        return now
    return replace(max(before, now, key=_order), windows=(*before.windows, *now.windows))


def _order(measurement: Measurement) -> tuple[float, float]:
    return measurement.value, measurement.sampled_at_s
