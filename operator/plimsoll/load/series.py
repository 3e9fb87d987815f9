"""The series of one refresh of Prometheus: each becomes a measurement of a node, or is refused with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from plimsoll.cluster.node import NodeInfo
from plimsoll.load.naming import Directory, NodeNamer
from plimsoll.load.oddities import Oddity, OddityLog, series_text
from plimsoll.load.queries import Ask, Window, target_labels
from plimsoll.load.readings import Floats
from plimsoll.load.samples import PrometheusAnswers
from plimsoll.load.vectors import AMBIGUOUS, UNMAPPED, Ints, Largest, Vector, Vectors, best_of_each
from plimsoll.load.windows import covered_shares, is_partial, states
from plimsoll.policy.compiled import Policy, PrometheusSource

# From numbers of nodes and what was measured there to loads; NaN where that cannot be told.
Load = Callable[[Ints, Floats], Floats]
_Mean = Callable[[Vector, Window], Floats]

# Answers that are about other things than loads.
_NO_LOADS = frozenset({Ask.UNAME, Ask.INTERVAL, Ask.DEVICES})
_USED = 0
_REFUSED = {
    1: Oddity.UNMAPPED,
    2: Oddity.AMBIGUOUS,
    3: Oddity.NOT_FINITE,
    4: Oddity.NEGATIVE,
    5: Oddity.OLD,
    6: Oddity.PARTIAL,
}
_NUMBER = {oddity: number for number, oddity in _REFUSED.items()}


@dataclass(frozen=True, slots=True)
class Measurements:
    """What one metric's series came to, arrays of shape [U]: one for each device of each node, or for each node.

    Attributes:
        node, device: numbers.
        value: the larger of the windows' means.
        sampled_at_s: of the last true sample.
        windows: each window's means; NaN where it has none.
        series: how many were answered, each window's counted.
        refused: how many of them by reason.
    """

    node: Ints
    device: Ints
    value: Floats
    sampled_at_s: Floats
    windows: Mapping[Window, Floats] = field(default_factory=dict)
    series: int = 0
    refused: Counter[Oddity] = field(default_factory=Counter)


class Series:
    """One refresh's answers, asked about one metric after the other.

    Attributes:
        vectors: the answers as arrays.

    Args:
        nodes: known at that time; they are numbered in this order.
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
        self._labels, known = target_labels(policy), tuple(nodes)
        namer = NodeNamer(
            Directory.of(known),
            pods=pods,
            uname=answers.answers.get(Ask.UNAME, ()),
            node_label=policy.source.node_label if isinstance(policy.source, PrometheusSource) else None,
        )
        self.vectors = Vectors(
            {id_: samples for id_, samples in answers.answers.items() if id_ not in _NO_LOADS},
            labels=self._labels,
            nodes_of=namer.nodes,
            numbers={node.name: number for number, node in enumerate(known)},
        )
        self._last_s = self.vectors.largest_by_target(Ask.LAST_SAMPLE)
        self._state = states(answers.asked_at_s - self._last_s, refresh_interval_s=policy.refresh_interval_s)
        self._clocks = {window: self.vectors.largest_by_target(Ask.CLOCK.over(window)) for window in Window}

    def of_counters(self, metric: str, ask: Ask, load: Load) -> Measurements:
        """Rates, divided by the share of the window that samples cover; ``load`` turns a node's rate into load."""
        return self._measurements(metric, ask, lambda v, window: v.value / self._covered(v, window), load, covered=True)

    def of_ratios(self, metric: str, ask: Ask, load: Load) -> Measurements:
        """Shares of one rate in another: means over what samples cover, so not to be divided by it; too little of a
        window says nothing all the same.
        """

        def ratio(vector: Vector, window: Window) -> Floats:
            return np.where(np.isnan(self._covered(vector, window)), np.nan, vector.value)

        return self._measurements(metric, ask, ratio, load, covered=True)

    def of_gauges(self, metric: str, ask: Ask, load: Load) -> Measurements:
        """Means, which need no correction: a mean is taken over the samples that are there."""
        return self._measurements(metric, ask, lambda v, _window: v.value, load, covered=False)

    def greatest(self, ask: Ask) -> Largest:
        """The largest finite value by device of a node, of what load is measured against."""
        vector = self.vectors.of(ask)
        return Largest.of(self.vectors.things(vector), vector.value)

    def _measurements(self, metric: str, ask: Ask, mean: _Mean, load: Load, *, covered: bool) -> Measurements:
        refused, found = Counter[Oddity](), dict[Window, tuple[Ints, Ints, Ints, Floats]]()
        for window in Window:
            vector = self.vectors.of(ask.over(window))
            value, verdict = self._judged(vector, window, mean, load)
            if covered and window is Window.SHORT:
                self._tell_partial(metric, vector, verdict)
            refused += self._refuse(metric, vector, verdict)
            used = verdict == _USED
            found[window] = vector.target[used], vector.device[used], self.vectors.things(vector)[used], value[used]
        series = sum(len(self.vectors.of(ask.over(window)).samples) for window in Window)
        return self._settled(metric, found, series, refused)

    def _judged(self, vector: Vector, window: Window, mean: _Mean, load: Load) -> tuple[Floats, Ints]:
        """[n] each: the load, and what is wrong with it."""
        node = self.vectors.node[vector.target]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            measured = mean(vector, window)
            value, there = np.full(len(node), np.nan), node >= 0
            value[there] = load(node[there], measured[there])
        wrong = {
            Oddity.UNMAPPED: node == UNMAPPED,
            Oddity.AMBIGUOUS: node == AMBIGUOUS,
            Oddity.NOT_FINITE: ~np.isfinite(vector.value),
            Oddity.NEGATIVE: vector.value < 0,
            Oddity.OLD: np.isnan(self._last_s[vector.target]),
            Oddity.PARTIAL: np.isnan(measured),
        }
        conditions = [*wrong.values(), ~np.isfinite(value), value < 0]
        numbers = [*(_NUMBER[oddity] for oddity in wrong), _NUMBER[Oddity.NOT_FINITE], _NUMBER[Oddity.NEGATIVE]]
        return value, np.select(conditions, numbers, _USED)

    def _refuse(self, metric: str, vector: Vector, verdict: Ints) -> Counter[Oddity]:
        refused = Counter[Oddity]()
        for i in np.flatnonzero(verdict).tolist():
            oddity = _REFUSED[int(verdict[i])]
            refused[oddity] += 1
            self._log.note(oddity, series_text(metric, vector.samples[i].labels))
        return refused

    def _tell_partial(self, metric: str, vector: Vector, verdict: Ints) -> None:
        """Of those that could be used as far as it is known, or came to nothing only thereafter."""
        known = (self.vectors.node[vector.target] >= 0) & np.isfinite(vector.value) & (vector.value >= 0)
        known &= ~np.isnan(self._last_s[vector.target])
        partial = is_partial(self._clocks[Window.SHORT][vector.target])
        for i in np.flatnonzero(known & partial & (verdict != _NUMBER[Oddity.PARTIAL])).tolist():
            self._log.note(Oddity.PARTIAL, series_text(metric, vector.samples[i].labels))

    def _covered(self, vector: Vector, window: Window) -> Floats:
        """[n], the share of the window that the targets' samples cover; NaN where too little."""
        window_s = window.length_s(self._policy.time_range_s)
        return covered_shares(self._clocks[window][vector.target], window_s=window_s)

    def _settled(
        self,
        metric: str,
        found: Mapping[Window, tuple[Ints, Ints, Ints, Floats]],
        series: int,
        refused: Counter[Oddity],
    ) -> Measurements:
        """Of several targets that tell of one thing the freshest count, and of those the largest.

        An exporter that was replaced goes on being answered until its samples have left the window.
        """
        devices, targets = len(self.vectors.devices), max(len(self.vectors.targets), 1)
        keys = {window: thing * targets + target for window, (target, _, thing, _) in found.items()}
        every = np.unique(np.concatenate(list(keys.values())))
        windows = {window: Largest.of(keys[window], value).at(every) for window, (_, _, _, value) in found.items()}
        value = np.fmax.reduce(list(windows.values()))
        thing, target = np.divmod(every, targets)
        state, last_s = self._state[target], self._last_s[target]
        best = best_of_each(thing, state, value, last_s)
        self._tell_duplicates(metric, thing, target, state.astype(np.int64))
        node, device = np.divmod(thing[best], devices)
        return Measurements(
            node=node,
            device=device,
            value=value[best],
            sampled_at_s=last_s[best],
            windows={window: means[best] for window, means in windows.items()},
            series=series,
            refused=refused,
        )

    def _tell_duplicates(self, metric: str, thing: Ints, target: Ints, state: Ints) -> None:
        """Args:
        thing: ascending.
        """
        if not (thing[1:] == thing[:-1]).any():
            return
        _, group, sizes = np.unique(thing, return_inverse=True, return_counts=True)
        freshest = np.zeros(len(sizes), dtype=np.int64)
        np.maximum.at(freshest, group, state)
        fresh = state == freshest[group]
        for i in np.flatnonzero(np.bincount(group[fresh], minlength=len(sizes)) > 1).tolist():
            first = min(self.vectors.targets[t] for t in target[fresh & (group == i)].tolist())
            labels = {name: value for name, value in zip(self._labels, first, strict=True) if value}
            self._log.note(Oddity.DUPLICATE, series_text(metric, labels))
