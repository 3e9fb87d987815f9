"""One node from which pods were removed in thought, while they come back one by one.

A filter that counts what every pod of a node does keeps count here, so that a hundred pods cost a hundred steps and
not a hundred times a hundred. Of the others few pods of a node have an effect: they are asked anew.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol, runtime_checkable

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.filters.interface import Overlay, Prepared


class Beside(Protocol):
    """What one filter says of one pod on one node. Pods without an effect need not be told of."""

    def put_back(self, pod: PodInfo, effect: Hashable) -> None:
        """A removed pod is there again; ``effect`` is what ``Prepared.effect`` says of it."""
        ...

    def remove(self, pod: PodInfo, effect: Hashable) -> None:
        """It is not."""
        ...

    def refuses(self) -> bool:
        """What ``Prepared.check`` would answer of the node as it is now."""
        ...


@runtime_checkable
class Counting(Protocol):
    """A prepared filter that keeps count."""

    def beside(self, row: int, overlay: Overlay) -> Beside: ...


class Asked:
    """Keeps the pods themselves and asks ``check`` about all of them."""

    def __init__(self, prepared: Prepared, row: int, overlay: Overlay) -> None:
        self._prepared, self._row, self._overlay = prepared, row, overlay
        self._removed: dict[Uid, PodInfo] = {pod.uid: pod for pod in overlay.removed}

    def put_back(self, pod: PodInfo, effect: Hashable) -> None:  # noqa: ARG002
        del self._removed[pod.uid]

    def remove(self, pod: PodInfo, effect: Hashable) -> None:  # noqa: ARG002
        self._removed[pod.uid] = pod

    def refuses(self) -> bool:
        overlay = Overlay(self._overlay.added, tuple(self._removed.values()), self._overlay.freed)
        return bool(self._prepared.check(self._row, overlay))


def beside_of(prepared: Prepared, row: int, overlay: Overlay) -> Beside:
    """Args:
    overlay: whom to begin with; pods without an effect may be left out.
    """
    return prepared.beside(row, overlay) if isinstance(prepared, Counting) else Asked(prepared, row, overlay)
