"""A refresh of metrics-server seen as a try of the policy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from plimsoll.cluster.node import NodeInfo
from plimsoll.load.preflight import Preflight
from plimsoll.load.preflight_metric import Trial, preflight
from plimsoll.load.preflight_nodes import Mapped, PolicyNodes
from plimsoll.load.preflight_scrapes import too_slow
from plimsoll.load.readings import Readings
from plimsoll.load.samples import MetricsServerAnswers
from plimsoll.policy.compiled import Policy


def with_preflight(
    readings: Readings,
    *,
    policy: Policy,
    nodes: Mapping[str, NodeInfo],
    answers: MetricsServerAnswers,
    before: Preflight | None,
) -> Readings:
    """The readings, with what the same answers say of the policy.

    Args:
        nodes: by name, in the order of the readings.
        before: of the policy's last refresh.
    """
    selected, found = PolicyNodes.of(policy, nodes.values(), now_s=answers.asked_at_s), _mapped(answers, nodes)
    trial = Trial(policy, readings, selected, before or Preflight())
    slow = too_slow(policy, (usage.window_s for usage in answers.usages))
    tried = preflight((trial.of(metric, found) for metric in policy.metrics), (slow,) if slow else ())
    return replace(readings, preflight=tried)


def _mapped(answers: MetricsServerAnswers, nodes: Mapping[str, NodeInfo]) -> Mapped:
    """Nodes that metrics-server tells of and that are gone are no fault of anybody's: it forgets them by itself."""
    usable = [usage for usage in answers.usages if math.isfinite(usage.sampled_at_s)]
    return Mapped(series=len(answers.usages), devices={usage.node: {""} for usage in usable if usage.node in nodes})
