"""A refresh of the product's own source in a world: the short way wherever it leads to the same."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.cluster.node import NodeInfo
from plimsoll.load.confidence import MISSING_AFTER_S
from plimsoll.load.prometheus_readings import readings_from_prometheus
from plimsoll.load.queries import Window
from plimsoll.load.readings import Readings
from plimsoll.policy.compiled import Policy
from plimsoll.sim.answers import prometheus_answers
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.readings import plane_readings
from plimsoll.sim.scenario import FaultKind

# What an exporter that does not answer makes of readings is in what was scraped; all else is in Prometheus' words.
_IN_WORDS = tuple(kind for kind in FaultKind if kind is not FaultKind.DARK)


def world_readings(
    plane: MetricsPlane, policy: Policy, nodes: Sequence[NodeInfo], *, now_s: float, readings_id: int
) -> Readings:
    """What the policy's refresh reads, at a time since the start of the world.

    Args:
        nodes: that are known, under the names of the world's, in the order that the arrays shall have.
    """
    if not _is_wrong(plane, policy, now_s):
        names = [node.name for node in nodes]
        return plane_readings(plane, policy, names, now_s=now_s, readings_id=readings_id)
    answers = prometheus_answers(plane, policy, now_s=now_s)
    return readings_from_prometheus(policy=policy, nodes=nodes, pods={}, answers=answers, readings_id=readings_id)


def _is_wrong(plane: MetricsPlane, policy: Policy, now_s: float) -> bool:
    """Whether what is asked about now can show a fault other than exporters that do not answer."""
    longest_s = max(window.length_s(policy.time_range_s) for window in Window)
    begin_s = now_s - max(longest_s, MISSING_AFTER_S) - plane.world.scenario.publish_s
    skew_s = max((fault.skew_s for fault in plane.world.scenario.faults), default=0.0)
    return any(plane.faults.within(kind, begin_s - skew_s, now_s).any() for kind in _IN_WORDS)
