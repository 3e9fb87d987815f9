"""Whether a pod fits on one node while pods are removed there in thought (kube-scheduler's AddPod and RemovePod)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.resources import PODS, Amounts, add
from plimsoll.filters.interface import Overlay
from plimsoll.filters.node_resources_fit import NodeResourcesFit
from plimsoll.filters.prepared import PodFilters


class Trial:
    """Asks the filters about those pods alone that have an effect on them, and about equal effects once.

    Args:
        added: pods that must have room there as well; the incoming pod must do with them and without them.
        removed: pods of the node that are gone at first.
        freed: what these hold together; ``pods`` counts them.
    """

    def __init__(
        self,
        filters: PodFilters,
        row: int,
        *,
        added: tuple[PodInfo, ...],
        removed: Iterable[PodInfo],
        freed: Mapping[str, int],
    ) -> None:
        self._filters, self._row = filters, row
        self._added, self._freed = added, freed
        self._asked = [p for cluster_filter, p in filters.prepared if cluster_filter.name != NodeResourcesFit.name]
        self._effects: dict[Uid, Hashable] = {}
        self._removed: dict[Uid, PodInfo] = {}
        # Effects with which the pod does not fit as things stand.
        self._refused: set[Hashable] = set()
        for pod in removed:
            effect = tuple(prepared.effect(pod) for prepared in self._asked)
            if any(part is not None for part in effect):
                self._effects[pod.uid], self._removed[pod.uid] = effect, pod

    def reasons(self) -> tuple[str, ...]:
        """Why the pod does not fit with all of them removed; empty where it fits."""
        for overlay in self._overlays(_without(self._freed, self._removed.values())):
            if rejected := self._filters.check(self._row, overlay):
                return tuple(reason.text for reason in rejected.reasons)
        return ()

    def put_back(self, pod: PodInfo) -> bool:
        """Whether the pod still fits with it, resources apart, which Room knows; if not, it stays removed."""
        effect = self._effects.get(pod.uid)
        if effect is None:
            return True
        if effect in self._refused:
            return False
        del self._removed[pod.uid]
        if self._fits():
            self._refused.clear()
            return True
        self._removed[pod.uid] = pod
        self._refused.add(effect)
        return False

    def _fits(self) -> bool:
        """What does not look at pods does not change, and has let the pod pass before."""
        return not any(prepared.check(self._row, overlay) for overlay in self._overlays({}) for prepared in self._asked)

    def _overlays(self, freed: Mapping[str, int]) -> Sequence[Overlay]:
        removed = tuple(self._removed.values())
        with_all = Overlay(added=self._added, removed=removed, freed=freed)
        return (with_all, Overlay(removed=removed, freed=freed)) if self._added else (with_all,)


def _without(freed: Mapping[str, int], pods: Iterable[PodInfo]) -> Amounts:
    left = dict(freed)
    for pod in pods:
        add(left, {PODS: -1, **{name: -value for name, value in pod.requests.items()}})
    return left
