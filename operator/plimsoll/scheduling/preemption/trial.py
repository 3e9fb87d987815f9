"""Whether a pod fits on one node while pods are removed there in thought (kube-scheduler's AddPod and RemovePod)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.resources import PODS, Amounts, add
from plimsoll.filters.beside import Beside, beside_of
from plimsoll.filters.interface import Overlay
from plimsoll.filters.node_resources_fit import NodeResourcesFit
from plimsoll.filters.prepared import PodFilters

# What each of the filters that are asked says of a pod.
_Effect = tuple[Hashable, ...]


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
        self._effects: dict[Uid, _Effect] = {}
        self._removed: list[PodInfo] = []
        self._beside: list[tuple[int, Beside]] = []
        # Effects with which the pod does not fit as things stand.
        self._refused: set[_Effect] = set()
        effects = [prepared.effect for prepared in self._asked]
        nothing: _Effect = tuple(None for _ in effects)
        for pod in removed:
            effect = tuple([effect_of(pod) for effect_of in effects])
            if effect != nothing:
                self._effects[pod.uid] = effect
                self._removed.append(pod)

    def reasons(self) -> tuple[str, ...]:
        """Why the pod does not fit with all of them removed; empty where it fits."""
        for overlay in self._overlays(_without(self._freed, self._removed)):
            if rejected := self._filters.check(self._row, overlay):
                return tuple(reason.text for reason in rejected.reasons)
        self._beside = [
            (i, beside_of(prepared, self._row, overlay))
            for overlay in self._overlays({})
            for i, prepared in enumerate(self._asked)
        ]
        return ()

    def put_back(self, pod: PodInfo) -> bool:
        """Whether the pod still fits with it, resources apart, which Room knows; if not, it stays removed.

        To be asked once ``reasons`` found none: what does not look at pods does not change then, and lets the pod pass.
        """
        effect = self._effects.get(pod.uid)
        if effect is None:
            return True
        if effect in self._refused:
            return False
        felt = [(beside, effect[i]) for i, beside in self._beside if effect[i] is not None]
        for beside, part in felt:
            beside.put_back(pod, part)
        if not any(beside.refuses() for beside, _ in felt):
            self._refused.clear()
            return True
        for beside, part in felt:
            beside.remove(pod, part)
        self._refused.add(effect)
        return False

    def _overlays(self, freed: Mapping[str, int]) -> Sequence[Overlay]:
        removed = tuple(self._removed)
        with_all = Overlay(added=self._added, removed=removed, freed=freed)
        return (with_all, Overlay(removed=removed, freed=freed)) if self._added else (with_all,)


def _without(freed: Mapping[str, int], pods: Iterable[PodInfo]) -> Amounts:
    left = dict(freed)
    for pod in pods:
        add(left, {PODS: -1, **{name: -value for name, value in pod.requests.items()}})
    return left
