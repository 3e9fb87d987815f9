"""What node-exporter's clocks say of whatever series: how old it is, and how much of its window samples fill."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from plimsoll.load.queries import Ask, Window
from plimsoll.load.samples import PrometheusAnswers, Sample
from plimsoll.load.series import Series

# Node and instance; by ("node", "") what is best of the node's.
_Key = tuple[str, str]

# One scrape that was missed at the window's edge is nothing; a node that has just come tells a part of the truth.
_ENOUGH = 0.8


@dataclass(frozen=True, slots=True)
class ExporterClocks:
    """One refresh's.

    A series whose ``instance`` is none of node-exporter's is judged by the clock of its node, where that has one.

    Attributes:
        last_s: time of the last sample.
        rate: seconds per second over the policy's time range; only where somebody needs it.
        known: exporters that had a clock within the longer window, dead ones too.
    """

    asked_at_s: float
    last_s: Mapping[_Key, float]
    rate: Mapping[_Key, float]
    known: Mapping[_Key, float]

    @classmethod
    def of(cls, series: Series, answers: PrometheusAnswers) -> ExporterClocks:
        def largest(id_: str) -> Mapping[_Key, float]:
            return _largest(series, answers.answers.get(id_, ()))

        return cls(
            asked_at_s=answers.asked_at_s,
            last_s=largest(Ask.LAST_SAMPLE),
            rate=largest(Ask.CLOCK.over(Window.SHORT)),
            known=largest(Ask.CLOCK.over(Window.LONG)),
        )

    def sampled_at_s(self, node: str, sample: Sample) -> float | None:
        """None: the exporter has died so long ago that its time is not answered any more, while a rate still is.

        Where there is no such clock nothing can be judged: what is answered counts as of now.
        """
        for key in _keys(node, sample):
            if key in self.last_s:
                return self.last_s[key]
            if key in self.known:
                return None
        return self.asked_at_s

    def cover(self, node: str, sample: Sample) -> bool:
        """Whether samples fill the policy's time range, as far as a clock tells."""
        rates = (self.rate[key] for key in _keys(node, sample) if key in self.rate)
        rate = next(rates, None)
        return rate is None or not rate < _ENOUGH


def _largest(series: Series, samples: Iterable[Sample]) -> Mapping[_Key, float]:
    largest: dict[_Key, float] = {}
    for sample in samples:
        nodes = series.nodes(sample)
        if len(nodes) != 1 or not math.isfinite(sample.value):
            continue
        (node,) = nodes
        for key in _keys(node, sample):
            largest[key] = max(largest.get(key, sample.value), sample.value)
    return largest


def _keys(node: str, sample: Sample) -> tuple[_Key, _Key]:
    return (node, sample.labels.get("instance", "")), (node, "")
