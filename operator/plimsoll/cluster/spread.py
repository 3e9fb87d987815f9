"""Topology spread constraints of a pod, parsed once (kube-scheduler's ``topologySpreadConstraint``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.cluster.selectors import LabelSelector, equality
from plimsoll.cluster.strict_selectors import MalformedSelector, strict_selector

Json = Mapping[str, Any]
Labels = Mapping[str, str]

_HARD, _HONOR = "DoNotSchedule", "Honor"


@dataclass(frozen=True, slots=True)
class SpreadConstraint:
    """One constraint.

    Attributes:
        hard: DoNotSchedule; otherwise ScheduleAnyway.
        selector: with the pod's values of matchLabelKeys merged in; None selects no pod.
        honor_affinity, honor_taints: nodes that the pod's node affinity or its tolerations rule out do not count.
        problem: kube-scheduler's sentence about a selector that it cannot read; "" where it can.
    """

    topology_key: str
    max_skew: int
    hard: bool
    selector: LabelSelector | None
    min_domains: int = 1
    honor_affinity: bool = True
    honor_taints: bool = False
    problem: str = ""

    def selects(self, labels: Labels) -> bool:
        return self.selector is not None and self.selector.matches(labels)

    @classmethod
    def parse(cls, constraint: Json, pod_labels: Labels) -> SpreadConstraint:
        """From JSON; raises TypeError and the like where it has the wrong shape."""
        selector, problem = None, ""
        try:
            selector = strict_selector(constraint.get("labelSelector"))
        except MalformedSelector as error:
            problem = str(error)
        min_domains = constraint.get("minDomains")
        return cls(
            topology_key=str(constraint.get("topologyKey") or ""),
            max_skew=int(constraint.get("maxSkew") or 0),
            hard=constraint.get("whenUnsatisfiable") == _HARD,
            selector=_merged(selector, constraint.get("matchLabelKeys") or (), pod_labels),
            min_domains=1 if min_domains is None else int(min_domains),
            honor_affinity=(constraint.get("nodeAffinityPolicy") or _HONOR) == _HONOR,
            honor_taints=constraint.get("nodeTaintsPolicy") == _HONOR,
            problem=problem,
        )


def _merged(selector: LabelSelector | None, keys: tuple[str, ...], labels: Labels) -> LabelSelector | None:
    """With the pod's own values of these keys required too; keys that it lacks are left out."""
    own = {key: labels[key] for key in keys if key in labels}
    if selector is None or not own:
        return selector
    return LabelSelector((*equality(own), *selector.requirements))
