"""PodDisruptionBudgets, as far as preemption looks at them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.selectors import LabelSelector
from plimsoll.cluster.strict_selectors import MalformedSelector, strict_selector
from plimsoll.errors import ObjectError

Json = Mapping[str, Any]

KIND = "PodDisruptionBudget"


@dataclass(frozen=True, slots=True)
class DisruptionBudget:
    """Attributes:
    selector: None selects nothing; neither does an empty one.
    allowed: how many more pods may be disrupted now.
    disrupted: names of pods whose disruption the API server has counted already.
    """

    namespace: str
    name: str
    selector: LabelSelector | None = None
    allowed: int = 0
    disrupted: frozenset[str] = frozenset()

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    def guards(self, pod: PodInfo) -> bool:
        """Whether the pod's disruption would be counted here (kube-scheduler's filterPodsWithPDBViolation)."""
        if self.selector is None or not self.selector.requirements or not pod.labels:
            return False
        if self.namespace != pod.namespace or pod.name in self.disrupted:
            return False
        return self.selector.matches(pod.labels)

    @classmethod
    def parse(cls, raw: Json) -> DisruptionBudget:
        """From the API server's JSON.

        Raises:
            ObjectError: names the budget and what in it cannot be read.
        """
        metadata = raw.get("metadata") or {}
        try:
            spec, status = raw.get("spec") or {}, raw.get("status") or {}
            return cls(
                namespace=metadata["namespace"],
                name=metadata["name"],
                selector=_selector(spec.get("selector")),
                allowed=int(status.get("disruptionsAllowed") or 0),
                disrupted=frozenset(status.get("disruptedPods") or ()),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            name = f"{metadata.get('namespace', '?')}/{metadata.get('name', '?')}"
            raise ObjectError(f"PodDisruptionBudget {name} cannot be read: {error}") from error


def _selector(selector: Json | None) -> LabelSelector | None:
    """A selector that cannot be read guards nothing, as in kube-scheduler."""
    try:
        return strict_selector(selector)
    except MalformedSelector:
        return None
