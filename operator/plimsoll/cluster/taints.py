"""Taints and tolerations, by the rules of kube-scheduler's TaintToleration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

UNSCHEDULABLE_KEY = "node.kubernetes.io/unschedulable"
_HARD_EFFECTS = frozenset({"NoSchedule", "NoExecute"})


@dataclass(frozen=True, slots=True)
class Taint:
    key: str
    value: str
    effect: str

    @property
    def hard(self) -> bool:
        """It keeps pods away; PreferNoSchedule only asks."""
        return self.effect in _HARD_EFFECTS

    @classmethod
    def parse(cls, taint: Mapping[str, Any]) -> Taint:
        return cls(str(taint.get("key", "")), str(taint.get("value") or ""), str(taint.get("effect", "")))


CORDON = Taint(UNSCHEDULABLE_KEY, "", "NoSchedule")


@dataclass(frozen=True, slots=True)
class Toleration:
    """Operators other than Equal and Exists tolerate nothing (Lt and Gt stand behind a gate that is off)."""

    key: str
    operator: str
    value: str
    effect: str

    def tolerates(self, taint: Taint) -> bool:
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        match self.operator:
            case "" | "Equal":
                return self.value == taint.value
            case "Exists":
                return True
            case _:
                return False

    @classmethod
    def parse(cls, toleration: Mapping[str, Any]) -> Toleration:
        return cls(
            str(toleration.get("key") or ""),
            str(toleration.get("operator") or ""),
            str(toleration.get("value") or ""),
            str(toleration.get("effect") or ""),
        )


def tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    return any(toleration.tolerates(taint) for toleration in tolerations)
