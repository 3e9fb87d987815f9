"""Finds, among very many waiting pods that one filter rejected, those that a change may help."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.pod_terms import PodSelector
from plimsoll.cluster.selector_index import SelectorIndex
from plimsoll.cluster.snapshot import Snapshot

# Stands for pods that nobody need tell apart.
Key = int


class WaitingIndex(Protocol):
    """Of the pods that one filter rejected."""

    def add(self, key: Key, pod: PodInfo) -> None: ...

    def remove(self, key: Key) -> None: ...

    def candidates(self, change: Change, view: Snapshot) -> Iterable[Key] | None:
        """Whom the filter's ``helps`` may be true of, in any order, perhaps more than once; None: ask all."""
        ...


class Unless:
    """Holds nobody: tells only of which changes no pod need be asked."""

    def __init__(self, kinds: ChangeKind, attribute: str) -> None:
        """Args:
        kinds: changes that help only through something that the pod in ``before`` has.
        attribute: that something.
        """
        self._kinds, self._attribute = kinds, attribute

    def add(self, key: Key, pod: PodInfo) -> None: ...

    def remove(self, key: Key) -> None: ...

    def candidates(self, change: Change, view: Snapshot) -> Iterable[Key] | None:  # noqa: ARG002
        gone = change.before
        if change.kind & ~self._kinds or not isinstance(gone, PodInfo):
            return None
        return None if getattr(gone, self._attribute) else ()


class SelectedPods:
    """Waiting pods by which pods on nodes their own selectors select."""

    def __init__(self) -> None:
        self._index: SelectorIndex[tuple[Key, int]] = SelectorIndex()
        self._selectors: dict[Key, int] = {}

    def add(self, key: Key, selectors: Iterable[PodSelector]) -> None:
        """Any one of the selectors is enough."""
        for number, selector in enumerate(selectors):
            self._index.add((key, number), (selector,))
            self._selectors[key] = number + 1

    def remove(self, key: Key) -> None:
        for number in range(self._selectors.pop(key, 0)):
            self._index.remove((key, number))

    def selecting(self, pods: Iterable[PodInfo | None]) -> Iterator[Key]:
        """Those that may select one of the pods."""
        for pod in pods:
            if pod is not None:
                yield from (key for key, _ in self._index.candidates(pod.namespace, pod.labels))
