"""What is played: one workload in one way, by which contenders, how often."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from enum import StrEnum


class Mode(StrEnum):
    """When the measured pods are created."""

    BURST = "burst"
    """All before the scheduler starts."""
    STEADY = "steady"
    """At a steady rate, while it runs and is warm."""
    ARRIVING = "arriving"
    """As fast as the API server takes them, while it runs and is warm."""
    COLDSTART = "coldstart"
    """All before it starts, in a cluster that is full of pods."""

    @property
    def warm(self) -> bool:
        """Whether the scheduler runs before the measured pods exist."""
        return self in (Mode.STEADY, Mode.ARRIVING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Attributes:
    name: of the results and of the table in the document.
    pods: how many are measured.
    contenders: in turn, one run each, ``pairs`` times.
    rate: pods per second that are created, in the mode that has one.
    seconds: the run ends so long after the first bind; 0: when all pods are bound and all Events there.
    assigned: pods that run already, beside those of the workload.
    warm: pods that are bound before the clock runs, in modes in which the scheduler is warm.
    limit_s: a run that needs longer is reported as unfinished.
    """

    name: str
    workload: str
    nodes: int
    pods: int
    pairs: int
    contenders: tuple[str, ...]
    mode: Mode = Mode.BURST
    rate: float = 0.0
    seconds: float = 0.0
    assigned: int = 0
    warm: int = 0
    limit_s: float = 300.0

    def parameters(self) -> dict[str, object]:
        """What a run depends on; how often it is played and beside whom is no part of it."""
        return {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name not in ("pairs", "contenders")
        }
