"""A dry run costs as much as there are different pods in the way, not as much as there are pods."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace

import pytest

from plimsoll.cluster.pod import PodInfo
from plimsoll.filters.interface import Overlay, Prepared, Reason, Refusal
from plimsoll.scheduling.preemption.choosing import Candidate
from plimsoll.scheduling.preemption.victims import DryRun
from tests.builders import PodBuilder, make_cache, make_node, make_pod
from tests.scheduling.preempting import filters_of

HOST = "kubernetes.io/hostname"
PODS = 100


@dataclass
class Watched:
    """A prepared filter, and how many pods its answers had to look at."""

    prepared: Prepared
    looked_at: list[int] = field(default_factory=list)

    def refusals(self) -> Iterable[Refusal]:
        return self.prepared.refusals()

    def check(self, row: int, overlay: Overlay) -> tuple[Reason, ...]:
        self.looked_at.append(len(overlay.added) + len(overlay.removed))
        return self.prepared.check(row, overlay)

    def effect(self, pod: PodInfo) -> Hashable:
        return self.prepared.effect(pod)


def _low(i: int) -> PodBuilder:
    return make_pod(f"low-{i}").cpu("1").labels(app="x" if i % 2 else "y").on("n").started()


def _apart() -> PodBuilder:
    return make_pod("high").apart({"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": HOST})


@pytest.mark.parametrize(
    ("incoming", "victims", "checks"),
    [
        pytest.param(_apart(), PODS // 2, 2, id="half of them are in the way, for one reason"),
        pytest.param(make_pod("high").port(80), 2, 1, id="no filter has a word against any"),
    ],
)
def test_pods_of_equal_effect_are_asked_about_once(incoming: PodBuilder, victims: int, checks: int) -> None:
    cache = make_cache([make_node("n").offers(cpu=str(PODS), pods="110").label(HOST, "n")], map(_low, range(PODS)))
    filters = filters_of(cache, incoming.cpu("2").priority(10))
    watched = [(cluster_filter, Watched(prepared)) for cluster_filter, prepared in filters.prepared]
    found = DryRun(replace(filters, prepared=tuple(watched)), ()).victims_on(0)
    assert isinstance(found, Candidate)
    assert len(found.victims) == victims
    for cluster_filter, seen in watched:
        assert len(seen.looked_at) <= checks, cluster_filter.name
        assert max(seen.looked_at) <= PODS // 2, cluster_filter.name
