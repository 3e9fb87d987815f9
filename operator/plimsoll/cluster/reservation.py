"""A resource claim that is to be reserved for a pod."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reservation:
    """Of an allocated ResourceClaim: the pod is to be added to ``status.reservedFor``."""

    namespace: str
    name: str
    uid: str

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"
