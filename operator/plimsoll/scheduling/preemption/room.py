"""What is free on a node while pods are removed in thought: spares asking all filters where sums tell the answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.resources import PODS
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.filters.node_resources_fit import shortage
from plimsoll.filters.room import wanted_by


class Rooms:
    """What one pod finds on any node, good until anything changes."""

    def __init__(self, view: Snapshot, pod: PodInfo) -> None:
        self._view, self._wanted = view, wanted_by(pod)

    def on(self, row: int, *, freed: Mapping[str, int], added: Iterable[PodInfo] = ()) -> Room:
        """Args:
        freed: what the pods that are removed hold together; ``pods`` counts them.
        added: pods that will take room there as well.
        """
        left = {name: _free(self._view, name, row) - value + freed.get(name, 0) for name, value in self._wanted.items()}
        return Room(left, added)


class Room:
    """Room for one pod on one node. Says no exactly where NodeResourcesFit would refuse.

    Args:
        left: what is left with the pod, by the resources that it asks for.
        added: pods that will take room there as well.
    """

    def __init__(self, left: dict[str, int], added: Iterable[PodInfo] = ()) -> None:
        self._left = left
        for other in added:
            self._change(other.requests, -1)

    def shortages(self) -> tuple[str, ...]:
        """What is missing, in kube-scheduler's words; empty where there is room."""
        return tuple(shortage(name) for name, left in self._left.items() if left < 0)

    def remove(self, pod: PodInfo) -> None:
        self._change(pod.requests, 1)

    def put_back(self, pod: PodInfo) -> bool:
        """Whether there is still room with it; if not, it stays removed."""
        self._change(pod.requests, -1)
        if min(self._left.values()) >= 0:
            return True
        self._change(pod.requests, 1)
        return False

    def _change(self, requests: Mapping[str, int], sign: int) -> None:
        for name in self._left:
            self._left[name] += sign * (1 if name == PODS else requests.get(name, 0))


def _free(view: Snapshot, name: str, row: int) -> int:
    column = view.columns.get(name)
    return 0 if column is None else int(view.allocatable[row, column]) - int(view.requested[row, column])
