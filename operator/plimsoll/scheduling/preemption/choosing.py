"""Which of several nodes is cleared (kube-scheduler's pickOneNodeForPreemption)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from plimsoll.cluster.pod import PodInfo
from plimsoll.scheduling.preemption.importance import start_s

# Makes every priority count as positive, so that one victim of a negative priority costs less than two.
_SHIFT = 2**31

_Harm = tuple[int, int, int, int, float]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node on which the pod fits once the victims are gone.

    Attributes:
        victims: the most important first; none where the pod fits as it is.
        violations: how many of them a disruption budget would spare.
        harm: what is compared; the least is best.
    """

    row: int
    victims: tuple[PodInfo, ...]
    violations: int = 0
    harm: _Harm = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "harm", _harm(self.victims, self.violations))


def choose_candidate(candidates: Sequence[Candidate]) -> Candidate:
    """The first among those that are equally good."""
    return min(candidates, key=attrgetter("harm"))


def _harm(victims: Sequence[PodInfo], violations: int) -> _Harm:
    """Fewest violations; lowest priority of the most important victim; smallest sum of priorities; fewest victims;
    latest start of the longest running among the most important ones.
    """
    if not victims:
        return (0, 0, 0, 0, 0.0)
    highest = victims[0].priority
    return (
        violations,
        highest,
        sum(pod.priority + _SHIFT for pod in victims),
        len(victims),
        -min(start_s(pod) for pod in victims if pod.priority == highest),
    )
