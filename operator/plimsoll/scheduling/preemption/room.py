"""What is free on a node while pods are removed in thought: spares asking all filters where sums tell the answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.resources import PODS
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.filters.node_resources_fit import shortage


class Rooms:
    """What one pod finds on any node, good until anything changes: read from the arrays once, not node by node."""

    def __init__(self, view: Snapshot, pod: PodInfo) -> None:
        wanted = {PODS: 1, **{name: value for name, value in pod.requests.items() if value > 0}}
        # [N] each, what is left once the pod has taken its part.
        self._left = {name: _left(view, name, value) for name, value in wanted.items()}

    def on(self, row: int, *, freed: Mapping[str, int], added: Iterable[PodInfo] = ()) -> Room:
        """Args:
        freed: what the pods that are removed hold together; ``pods`` counts them.
        added: pods that will take room there as well.
        """
        return Room({name: left[row] + freed.get(name, 0) for name, left in self._left.items()}, added)


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


def _left(view: Snapshot, name: str, value: int) -> list[int]:
    column = view.columns.get(name)
    if column is None:
        return [-value] * view.size
    left: list[int] = (view.allocatable[:, column] - view.requested[:, column]).tolist()
    return [free - value for free in left]
