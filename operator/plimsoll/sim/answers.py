"""A world in the words of a Prometheus that scrapes its nodes: what it would answer to the product's own queries.

So that what is wrong with the metrics goes through the product's own reading of them. What a Prometheus makes of it:

- ``Dark``: ranges go on answering until they are empty, while the clock's rate falls; instant values are gone.
- ``NaN``: a rate or a mean over a range with one NaN in it is NaN.
- ``CounterReset``: ``rate`` begins anew, and misses what was counted since the last scrape before.
- ``RenamedDevice``: the old device's range empties while the clock's rate stays whole, so that its rate falls; the new
  device has a name that no expression for physical devices matches.
- ``Frozen``: counters stand still, so that the rate of traffic falls to 0, the share of idle time is the mean of before
  until it is NaN, and gauges keep their value; ``Stuck``: the clock as well, so that no rate is believed.
- ``SkewedClock``: exporters' clocks jump when they are set, by turns ahead and back; and the source's own clock is
  ahead of its asker's, so that it answers for a moment in its past, and then behind, so that the window's end is
  empty.
- ``Outage``: no answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np

from plimsoll.load.confidence import MISSING_AFTER_S
from plimsoll.load.queries import DEFAULT_DEVICES, Ask, Window, queries
from plimsoll.load.samples import PrometheusAnswers, Sample
from plimsoll.load.verdicts import WHOLE_SOURCE
from plimsoll.policy.compiled import Policy
from plimsoll.sim.counters import Range
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.scenario import FaultKind
from plimsoll.sim.world import MEMORY_AT, RECEIVE_AT, TRANSMIT_AT, Bools, Floats

DEVICE = "eth0"
_PORT = 9100
_OF_DEVICES = (Ask.RECEIVE, Ask.TRANSMIT, Ask.SPEED)
_OF_RANGES: Mapping[Ask, Callable[[Range], Floats]] = {
    Ask.CLOCK: Range.clock,
    Ask.IDLE: Range.idle,
    Ask.AVAILABLE: Range.available,
    Ask.RECEIVE: lambda found: found.traffic(RECEIVE_AT),
    Ask.TRANSMIT: lambda found: found.traffic(TRANSMIT_AT),
}
_AWAY = "Prometheus does not answer: connection refused."


def prometheus_answers(plane: MetricsPlane, policy: Policy, *, now_s: float) -> PrometheusAnswers:
    """What one refresh of the policy is answered; its custom metrics are answered with nothing.

    Args:
        now_s: since the start of the world, as all times in the answers.
    """
    if plane.faults.at(FaultKind.OUTAGE, now_s).any():
        return PrometheusAnswers(asked_at_s=now_s, failures={WHOLE_SOURCE: _AWAY})
    said = _Prometheus(plane, policy, now_s)
    return PrometheusAnswers(asked_at_s=now_s, answers={query.id: said.to(query.id) for query in queries(policy)})


class _Prometheus:
    def __init__(self, plane: MetricsPlane, policy: Policy, now_s: float) -> None:
        self._plane, self._now_s = plane, now_s
        self._ranges = {w: Range.of(plane, w.length_s(policy.time_range_s), now_s) for w in Window}
        # What instant values are asked over: a target whose last sample is older is forgotten.
        self._kept = Range.of(plane, MISSING_AFTER_S, now_s)
        names = [node.name for node in plane.world.nodes]
        self._labels = [{"node": name, "nodename": name, "instance": f"{name}:{_PORT}"} for name in names]
        self._device_labels = [{**labels, "device": DEVICE} for labels in self._labels]
        self._counted = re.fullmatch(policy.device_name or DEFAULT_DEVICES, DEVICE) is not None

    def to(self, query: str) -> tuple[Sample, ...]:
        """One sample per node of which there is a series."""
        name, _, window = query.partition(".")
        if name not in set(Ask) or (name in _OF_DEVICES and not self._counted):
            return ()
        ask = Ask(name)
        there, values = self._over(ask, Window(window)) if window else self._now(ask)
        labels = self._device_labels if ask in _OF_DEVICES else self._labels
        answer = zip(labels, values.tolist(), there.tolist(), strict=True)
        return tuple(Sample(of_node, value) for of_node, value, is_there in answer if is_there)

    def _over(self, ask: Ask, window: Window) -> tuple[Bools, Floats]:
        """[N] each: whether there is a series, and its value over a range."""
        found = self._ranges[window]
        values = _OF_RANGES[ask](found)
        broken = self._plane.faults.within(FaultKind.NAN, found.span.first_s, found.span.last_s)
        # Of counters that stand still there is a series, although a share of what they count is none.
        there = ~np.isnan(found.span.length_s if ask is Ask.IDLE else values)
        return there, values if ask is Ask.CLOCK else np.where(broken, np.nan, values)

    def _now(self, ask: Ask) -> tuple[Bools, Floats]:
        """The same of instant values."""
        world, kept = self._plane.world, self._kept.span
        last_s = self._kept.device.last_s if ask is Ask.SPEED else kept.last_s
        match ask:
            case Ask.LAST_SAMPLE:
                return ~np.isnan(last_s), last_s + self._plane.faults.source_ahead_s(self._now_s)
            case Ask.INTERVAL:
                return kept.last_s > kept.first_s, np.full_like(last_s, world.scenario.scrape_s)
            case Ask.UNAME:
                values = np.ones_like(last_s)
            case _:
                values = world.capacity[RECEIVE_AT if ask is Ask.SPEED else MEMORY_AT]
        broken = self._plane.faults.within(FaultKind.NAN, last_s, last_s)
        return ~np.isnan(last_s), np.where(broken, np.nan, values)
