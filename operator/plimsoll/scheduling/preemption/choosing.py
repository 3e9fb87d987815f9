"""Which of several nodes is cleared (kube-scheduler's pickOneNodeForPreemption)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.cluster.pod import PodInfo
from plimsoll.scheduling.preemption.importance import start_s

# Makes every priority count as positive, so that one victim of a negative priority costs less than two.
_SHIFT = 2**31


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node on which the pod fits once the victims are gone.

    Attributes:
        victims: the most important first; never empty.
        violations: how many of them a disruption budget would spare.
    """

    row: int
    victims: tuple[PodInfo, ...]
    violations: int = 0


def choose_candidate(candidates: Sequence[Candidate]) -> Candidate:
    """The first among those that are equally good."""
    return min(candidates, key=_harm)


def _harm(candidate: Candidate) -> tuple[int, int, int, int, float]:
    """Fewest violations; lowest priority of the most important victim; smallest sum of priorities; fewest victims;
    latest start of the longest running among the most important ones.
    """
    victims = candidate.victims
    highest = victims[0].priority
    return (
        candidate.violations,
        highest,
        sum(pod.priority + _SHIFT for pod in victims),
        len(victims),
        -min(start_s(pod) for pod in victims if pod.priority == highest),
    )
