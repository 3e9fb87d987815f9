"""How many pods that a selector selects run on which node, kept in step with the pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.pod_terms import PodSelector
from plimsoll.cluster.selector_index import SelectorIndex
from plimsoll.cluster.strict_selectors import equals_one_of

Ints = NDArray[np.int64]
Labels = Mapping[str, str]

# A matcher costs 8 bytes per node. When there are more than these, a quarter goes at once: all classes of pods are
# looked through then.
_MAX_MATCHERS = 512
_FIRST_ROWS = 16
_ClassKey = tuple[str | bool, ...]


@dataclass(frozen=True, slots=True)
class PodMatcher:
    """Which pods on nodes an incoming pod's terms or constraints count.

    Attributes:
        selectors: all must select a pod.
        terminating: whether pods with a deletion timestamp count.
    """

    selectors: tuple[PodSelector, ...]
    terminating: bool = True

    def matches(self, namespace: str, namespace_labels: Labels | None, labels: Labels) -> bool:
        return all(s.of_incoming_selects(namespace, namespace_labels, labels) for s in self.selectors)


class _Column:
    """What one matcher counts."""

    __slots__ = ("asked", "counts", "matcher")

    def __init__(self, matcher: PodMatcher, rows: int) -> None:
        self.matcher = matcher
        self.counts = np.zeros(rows, dtype=np.int64)
        self.asked = 0


class _LabelClass:
    """Pods that every matcher treats alike, by row, and the columns that count them."""

    __slots__ = ("deleting", "hits", "labels", "rows")

    def __init__(self, labels: Labels, *, deleting: bool) -> None:
        self.labels = labels
        self.deleting = deleting
        self.rows: dict[int, int] = {}
        self.hits: list[_Column] = []


class PodCounts:
    """Pods by namespace, labels and whether they terminate; a pod that comes or goes touches its own class alone.

    Args:
        namespaces: labels by name, live.
    """

    def __init__(self, namespaces: Mapping[str, Labels]) -> None:
        self._namespaces = namespaces
        self._classes: dict[str, dict[_ClassKey, _LabelClass]] = {}
        self._labelled: dict[tuple[str, str, str], dict[_ClassKey, _LabelClass]] = {}
        self._columns: dict[PodMatcher, _Column] = {}
        self._index: SelectorIndex[_Column] = SelectorIndex()
        self._capacity = _FIRST_ROWS
        self._size = 0
        self._asked = 0

    def counts(self, matcher: PodMatcher) -> Ints:
        """[N], pods that it selects; live, not to be written. A new matcher is counted once, from all pods."""
        column = self._columns.get(matcher) or self._register(matcher)
        self._asked += 1
        column.asked = self._asked
        return column.counts[: self._size]

    @property
    def classes(self) -> int:
        """How many classes of pods there are; those without pods are gone."""
        return sum(len(classes) for classes in self._classes.values())

    # -- written by the cache only --------------------------------------------------------------------

    def reserve(self, rows: int) -> None:
        """There are this many rows now."""
        self._size = max(self._size, rows)
        if self._size > self._capacity:
            self._capacity = max(2 * self._capacity, self._size)
            for column in self._columns.values():
                column.counts = np.concatenate(
                    (column.counts, np.zeros(self._capacity - len(column.counts), dtype=np.int64))
                )

    def add(self, row: int, pod: PodInfo) -> None:
        classes = self._classes.setdefault(pod.namespace, {})
        key = _key(pod)
        found = classes.get(key)
        if found is None:
            found = classes[key] = _LabelClass(pod.labels, deleting=pod.deleting)
            found.hits = self._hits(pod.namespace, found)
            for label in pod.labels.items():
                self._labelled.setdefault((pod.namespace, *label), {})[key] = found
        found.rows[row] = found.rows.get(row, 0) + 1
        for column in found.hits:
            column.counts[row] += 1

    def remove(self, row: int, pod: PodInfo) -> None:
        classes = self._classes[pod.namespace]
        key = _key(pod)
        found = classes[key]
        found.rows[row] -= 1
        for column in found.hits:
            column.counts[row] -= 1
        if not found.rows[row]:
            del found.rows[row]
        if not found.rows:
            del classes[key]
            self._unlabel(pod.namespace, key, found)
        if not classes:
            del self._classes[pod.namespace]

    def _unlabel(self, namespace: str, key: _ClassKey, found: _LabelClass) -> None:
        for label in found.labels.items():
            labelled = self._labelled[namespace, *label]
            del labelled[key]
            if not labelled:
                del self._labelled[namespace, *label]

    def namespace_changed(self, name: str) -> None:
        """Its labels are others now: namespaceSelectors may select it that did not, and the other way round."""
        if name not in self._classes:
            return
        for column in self._columns.values():
            if any(selector.namespace_selector is not None for selector in column.matcher.selectors):
                self._recount(column, name)

    def _recount(self, column: _Column, namespace: str) -> None:
        before = [found for found in self._classes[namespace].values() if column in found.hits]
        for found in before:
            found.hits.remove(column)
        column.counts -= _by_row(before, self._capacity)
        self._count(column, self._matched(column.matcher, namespace))

    # -- matchers -------------------------------------------------------------------------------------

    def _hits(self, namespace: str, found: _LabelClass) -> list[_Column]:
        return [
            column
            for column in self._index.candidates(namespace, found.labels)
            if self._counted(column.matcher, namespace, found)
        ]

    def _counted(self, matcher: PodMatcher, namespace: str, found: _LabelClass) -> bool:
        if found.deleting and not matcher.terminating:
            return False
        return matcher.matches(namespace, self._namespaces.get(namespace), found.labels)

    def _register(self, matcher: PodMatcher) -> _Column:
        if len(self._columns) >= _MAX_MATCHERS:
            self._drop_longest_unused()
        column = self._columns[matcher] = _Column(matcher, self._capacity)
        self._index.add(column, matcher.selectors)
        for namespace in self._possible(matcher):
            self._count(column, self._matched(matcher, namespace))
        return column

    def _possible(self, matcher: PodMatcher) -> Iterable[str]:
        """Namespaces that are worth asking."""
        possible: AbstractSet[str] = self._classes.keys()
        for selector in matcher.selectors:
            if selector.namespace_selector is None:
                possible = possible & selector.namespaces
        return possible

    def _count(self, column: _Column, classes: Sequence[_LabelClass]) -> None:
        for found in classes:
            found.hits.append(column)
        column.counts += _by_row(classes, self._capacity)

    def _matched(self, matcher: PodMatcher, namespace: str) -> list[_LabelClass]:
        """Classes of the namespace that it selects; of 50,000 one label leaves few."""
        namespace_labels = self._namespaces.get(namespace)
        if not all(s.of_incoming_selects_namespace(namespace, namespace_labels) for s in matcher.selectors):
            return []
        selectors = [selector.labels for selector in matcher.selectors]
        wanted = next((pair for labels in selectors if labels is not None for pair in equals_one_of(labels)), None)
        matched = self._with_label(namespace, *wanted) if wanted else list(self._classes[namespace].values())
        if not matcher.terminating:
            matched = [found for found in matched if not found.deleting]
        for labels in selectors:
            matched = labels.matching(matched) if labels is not None else []
        return matched

    def _with_label(self, namespace: str, key: str, values: Iterable[str]) -> list[_LabelClass]:
        return [found for value in values for found in self._labelled.get((namespace, key, value), {}).values()]

    def _drop_longest_unused(self) -> None:
        by_use = sorted(self._columns.values(), key=lambda column: column.asked)
        gone = set(by_use[: _MAX_MATCHERS // 4])
        for column in gone:
            del self._columns[column.matcher]
            self._index.remove(column)
        for classes in self._classes.values():
            for found in classes.values():
                if not gone.isdisjoint(found.hits):
                    found.hits = [column for column in found.hits if column not in gone]


def _by_row(classes: Sequence[_LabelClass], size: int) -> Ints:
    """[size], pods of all of them, by row."""
    rows = np.fromiter(chain.from_iterable(found.rows for found in classes), dtype=np.int64)
    counts = np.fromiter(chain.from_iterable(found.rows.values() for found in classes), dtype=np.int64)
    # Sums of numbers of pods are exact in the float64 that bincount makes of weights.
    return np.bincount(rows, weights=counts, minlength=size).astype(np.int64)


def _key(pod: PodInfo) -> _ClassKey:
    """Equal for pods of one namespace with equal labels in equal order; other orders only make one more class."""
    return (pod.deleting, *pod.labels, *pod.labels.values())
