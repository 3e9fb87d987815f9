"""What Prometheus would answer, written target by target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from plimsoll.load.preflight import Preflight
from plimsoll.load.prometheus_readings import readings_from_prometheus
from plimsoll.load.queries import Ask, Window, custom_id, needed
from plimsoll.load.readings import Readings
from plimsoll.load.samples import PrometheusAnswers, Sample
from plimsoll.policy.compiled import Metric, Policy, PrometheusSource

NOW_S = 1_700_000_000.0
SOURCE = PrometheusSource(url="http://prometheus:9090")


def policy_of(*metrics: str, **fields: Any) -> Policy:
    return Policy(name="p", **{"source": SOURCE, "metrics": tuple(Metric(m, 1) for m in metrics), **fields})


class Answering:
    """``Answering().target("node-1", receive={"eth0": 1e6}).read(policy, nodes)``."""

    def __init__(self) -> None:
        self._samples: dict[str, list[Sample]] = {id_: [] for metric in METRICS for id_ in needed(metric)}
        self._failures: dict[str, str] = {}
        self._rejected: set[str] = set()

    def target(
        self,
        instance: str,
        *,
        receive: Mapping[str, float] | None = None,
        transmit: Mapping[str, float] | None = None,
        receive_long: Mapping[str, float] | None = None,
        speed: Mapping[str, float] | None = None,
        idle: float | None = None,
        idle_long: float | None = None,
        available: float | None = None,
        available_long: float | None = None,
        total: float | None = None,
        share: float | None = 1.0,
        share_long: float | None = None,
        age_s: float | None = 10.0,
        nodename: str = "",
        **labels: str,
    ) -> Self:
        """Rates are given as Prometheus computes them: over the whole window, however much of it is covered."""
        mine = {"instance": instance, **labels}
        if age_s is not None:
            self._add(Ask.LAST_SAMPLE, mine, NOW_S - age_s)
        if nodename:
            self._add(Ask.UNAME, {**mine, "nodename": nodename}, 1.0)
        self._both(Ask.CLOCK, mine, share, share_long)
        self._both(Ask.IDLE, mine, idle, idle_long)
        self._both(Ask.AVAILABLE, mine, available, available_long)
        if total is not None:
            self._add(Ask.TOTAL, mine, total)
        for ask, rates, longs in ((Ask.RECEIVE, receive, receive_long), (Ask.TRANSMIT, transmit, None)):
            for device, rate in (rates or {}).items():
                self._both(ask, {**mine, "device": device}, rate, (longs or {}).get(device))
        for device, value in (speed or {}).items():
            self._add(Ask.SPEED, {**mine, "device": device}, value)
        return self

    def answering(self, metric: str, value: float, **labels: str) -> Self:
        """One series of a custom metric's answer."""
        self._add(custom_id(metric), labels, value)
        return self

    def failing(self, *ids: str, sentence: str = "Prometheus refuses the query: too many samples.") -> Self:
        self._failures.update(dict.fromkeys(ids, sentence))
        return self

    def rejecting(self, *ids: str, sentence: str) -> Self:
        """As failing, for what is wrong with the query itself."""
        self._rejected |= set(ids)
        return self.failing(*ids, sentence=sentence)

    def scraped_every(self, interval_s: float, *instances: str) -> Self:
        for instance in instances:
            self._add(Ask.INTERVAL, {"instance": instance}, interval_s)
        return self

    def having_devices(self, *devices: str) -> Self:
        for device in devices:
            self._add(Ask.DEVICES, {"device": device}, 1.0)
        return self

    def build(self) -> PrometheusAnswers:
        answers = {id_: tuple(samples) for id_, samples in self._samples.items() if id_ not in self._failures}
        return PrometheusAnswers(
            asked_at_s=NOW_S, answers=answers, failures=self._failures, rejected=frozenset(self._rejected)
        )

    def read(self, policy: Policy, nodes: Any, *, pods: Mapping[str, str] | None = None) -> Readings:
        return read(policy, nodes, self.build(), pods=pods)

    def tried(self, policy: Policy, nodes: Any, *, before: Preflight | None = None) -> Preflight:
        """What the refresh says of the policy."""
        known = [node.info() for node in nodes]
        readings = readings_from_prometheus(
            policy=policy, nodes=known, pods={}, answers=self.build(), readings_id=7, before=before
        )
        assert readings.preflight is not None
        return readings.preflight

    def _both(self, ask: Ask, labels: Mapping[str, str], short: float | None, long: float | None) -> None:
        for window, value in ((Window.SHORT, short), (Window.LONG, short if long is None else long)):
            if value is not None:
                self._add(ask.over(window), labels, value)

    def _add(self, id_: str, labels: Mapping[str, str], value: float) -> None:
        self._samples.setdefault(id_, []).append(Sample(labels=dict(labels), value=value))


METRICS = ("networkReceive", "networkTransmit", "cpu", "memory")


def read(policy: Policy, nodes: Any, answers: PrometheusAnswers, *, pods: Mapping[str, str] | None = None) -> Readings:
    return readings_from_prometheus(
        policy=policy, nodes=[n.info() for n in nodes], pods=pods or {}, answers=answers, readings_id=7
    )


def reversed_series(answers: PrometheusAnswers) -> PrometheusAnswers:
    return replace(answers, answers={k: v[::-1] for k, v in answers.answers.items()})
