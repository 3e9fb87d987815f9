"""Pods that wait because of affinity or anti-affinity, by what their terms and those of others speak of."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TypeVar

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.pod_terms import Labels, PodSelector
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.cluster.strict_selectors import equals_one_of
from plimsoll.cluster.term_index import TermKind
from plimsoll.filters.waiting import Key, SelectedPods

_LABELS = ChangeKind.NODE_LABELS | ChangeKind.NODE_TAINTS | ChangeKind.NODE_SCHEDULABLE | ChangeKind.NODE_ALLOCATABLE
_PODS = (
    ChangeKind.POD_ADDED
    | ChangeKind.POD_LABELS
    | ChangeKind.POD_DELETED
    | ChangeKind.POD_DELETING
    | ChangeKind.POD_SHRUNK
    | ChangeKind.NOMINATION_ENDED
)

_Place = TypeVar("_Place", bound=Hashable)


class WaitingForAffinity:
    """Answers like ``affinity_hints.helps``."""

    def __init__(self) -> None:
        self._pods: dict[Key, PodInfo] = {}
        self._selecting = SelectedPods()
        self._labelled: dict[tuple[str, str, str], dict[Key, None]] = {}
        self._keyed: dict[str, dict[Key, None]] = {}

    def add(self, key: Key, pod: PodInfo) -> None:
        self._pods[key] = pod
        self._selecting.add(key, (term.pods for term in (*pod.required_affinity, *pod.required_anti_affinity)))
        for label in pod.labels.items():
            self._labelled.setdefault((pod.namespace, *label), {})[key] = None
        for topology_key in _topology_keys(pod):
            self._keyed.setdefault(topology_key, {})[key] = None

    def remove(self, key: Key) -> None:
        pod = self._pods.pop(key)
        self._selecting.remove(key)
        for label in pod.labels.items():
            _leave(self._labelled, (pod.namespace, *label), key)
        for topology_key in _topology_keys(pod):
            _leave(self._keyed, topology_key, key)

    def candidates(self, change: Change, view: Snapshot) -> Iterable[Key] | None:
        if change.kind and not change.kind & ~_PODS:
            return self._of_pods(change)
        if change.kind and not change.kind & ~_LABELS:
            return self._of_labels(change.before.labels, change.after.labels, view)
        return None

    def _of_pods(self, change: Change) -> list[Key] | None:
        """Whose terms select one of the pods, or whom a term of the one that went selects."""
        found = list(self._selecting.selecting((change.before, change.after)))
        for term in () if change.before is None else change.before.required_anti_affinity:
            selected = self._selected(term.pods)
            if selected is None:
                return None
            found.extend(selected)
        return found

    def _selected(self, selector: PodSelector) -> Iterator[Key] | None:
        """None where the selector names no label, or not the namespaces."""
        wanted = next(equals_one_of(selector.labels), None) if selector.labels is not None else None
        if wanted is None or selector.namespace_selector is not None:
            return None
        name, values = wanted
        places = ((namespace, name, value) for namespace in selector.namespaces for value in values)
        return (key for place in places for key in self._labelled.get(place, ()))

    def _of_labels(self, before: Labels, after: Labels, view: Snapshot) -> list[Key] | None:
        """Whom a label concerns that is another now; None where it is one by which pods on nodes keep others away."""
        changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
        if not changed.isdisjoint(view.terms.topology_keys(TermKind.REQUIRED_ANTI_AFFINITY)):
            return None
        return [key for name in changed for key in self._keyed.get(name, ())]


def _topology_keys(pod: PodInfo) -> set[str]:
    return {term.topology_key for term in (*pod.required_affinity, *pod.required_anti_affinity)}


def _leave(places: dict[_Place, dict[Key, None]], place: _Place, key: Key) -> None:
    keys = places[place]
    del keys[key]
    if not keys:
        del places[place]
