"""What node-exporter's clocks say of whatever series: how old it is, and how much of its window samples fill."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plimsoll.cluster.snapshot import Bools
from plimsoll.load.queries import Ask, Window
from plimsoll.load.readings import Floats
from plimsoll.load.series import Series
from plimsoll.load.vectors import Ints, Largest, Vector

# One scrape that was missed at the window's edge is nothing; a node that has just come tells a part of the truth.
_ENOUGH = 0.8


@dataclass(frozen=True, slots=True)
class ExporterClocks:
    """One refresh's, by node and instance, and what is best of each node's.

    A series whose ``instance`` is none of node-exporter's is judged by the clock of its node, where that has one.

    Attributes:
        last_s: time of the last sample.
        rate: seconds per second over the policy's time range; only where somebody needs it.
        known: exporters that had a clock within the longer window, dead ones too.
    """

    asked_at_s: float
    series: Series
    last_s: Largest
    rate: Largest
    known: Largest

    @classmethod
    def of(cls, series: Series, *, asked_at_s: float) -> ExporterClocks:
        def largest(id_: str) -> Largest:
            vector = series.vectors.of(id_)
            own, nodes = _keys(series, vector)
            return Largest.of(np.concatenate((own, nodes)), np.concatenate((vector.value, vector.value)))

        return cls(
            asked_at_s=asked_at_s,
            series=series,
            last_s=largest(Ask.LAST_SAMPLE),
            rate=largest(Ask.CLOCK.over(Window.SHORT)),
            known=largest(Ask.CLOCK.over(Window.LONG)),
        )

    def sampled_at_s(self, vector: Vector) -> Floats:
        """[n]; NaN: the exporter has died so long ago that its time is not answered any more, while a rate still is.

        Where there is no such clock nothing can be judged: what is answered counts as of now.
        """
        own, nodes = _keys(self.series, vector)
        own_s, nodes_s = self.last_s.at(own), self.last_s.at(nodes)
        own_dead, node_dead = ~np.isnan(self.known.at(own)), ~np.isnan(self.known.at(nodes))
        conditions = [~np.isnan(own_s), own_dead, ~np.isnan(nodes_s), node_dead]
        return np.select(conditions, [own_s, np.nan, nodes_s, np.nan], self.asked_at_s)

    def cover(self, vector: Vector) -> Bools:
        """[n], whether samples fill the policy's time range, as far as a clock tells."""
        own, nodes = (self.rate.at(keys) for keys in _keys(self.series, vector))
        covered: Bools = ~(np.where(np.isnan(own), nodes, own) < _ENOUGH)
        return covered


def _keys(series: Series, vector: Vector) -> tuple[Ints, Ints]:
    """[n] each: of node and instance, and of the node; negative where there is no one node."""
    node, instance = series.vectors.node[vector.target], series.vectors.instance
    instances = int(instance.max(initial=0)) + 1
    first = node * instances
    return np.where(node < 0, node, first + instance[vector.target]), np.where(node < 0, node, first)
