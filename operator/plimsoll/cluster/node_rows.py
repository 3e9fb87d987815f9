"""Which rows a selector over node labels selects, for selectors by the thousand.

Volumes and storage capacities name nodes by selectors, and there may be one per node. Most of them name values of
one label: an index of that label leaves few nodes to look at. What selects many nodes is kept as a column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from weakref import WeakKeyDictionary, proxy

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.node_column import NodeColumns
from plimsoll.cluster.selectors import Labels, LabelSelector, NodeSelector, NodeSelectorTerm, Operator, Requirement
from plimsoll.cluster.snapshot import Snapshot

Rows = NDArray[np.intp]
# Looking at fewer nodes than this is cheaper than keeping a column.
_FEW = 64
_NOWHERE: frozenset[int] = frozenset()


def allows(affinity: NodeSelector | None, labels: Labels) -> bool:
    """Whether a volume's node affinity allows a node with the labels: component-helpers' ``CheckNodeAffinity``.

    It knows the node's labels alone, so what a term says of ``metadata.name`` does not count.
    """
    return affinity is None or any(_term_allows(term, labels) for term in affinity.terms)


def _term_allows(term: NodeSelectorTerm, labels: Labels) -> bool:
    if not term.expressions and not term.fields:
        return False
    malformed = any(field.operator is Operator.NEVER for field in term.fields)
    return not malformed and all(e.matches(labels) for e in term.expressions)


class NodeRows:
    """Of one Snapshot; rows come in ascending order."""

    def __init__(self, view: Snapshot) -> None:
        # What is kept for a view must not keep the view: whoever reads cluster after cluster would keep them all.
        self._view: Snapshot = proxy(view)
        self._columns = NodeColumns(np.int8)
        self._labels: dict[str, _LabelRows] = {}

    @classmethod
    def of(cls, view: Snapshot) -> NodeRows:
        """The one that is kept for the view."""
        kept = _KEPT.get(view)
        if kept is None:
            kept = _KEPT[view] = cls(view)
        return kept

    def all(self) -> Rows:
        return np.flatnonzero(self._view.live)

    def affine(self, selector: NodeSelector | None) -> Rows:
        """Rows that a volume's node affinity allows; None allows all."""
        if selector is None:
            return self.all()
        terms = selector.terms
        if len(terms) == 1 and len(terms[0].expressions) == 1 and not terms[0].fields:
            return self._by_one(selector, terms[0].expressions[0])
        return self._matching(selector, lambda node: allows(selector, node.labels), self._few(selector.terms))

    def labelled(self, selector: LabelSelector) -> Rows:
        if len(selector.requirements) == 1:
            return self._by_one(selector, selector.requirements[0])
        few = self._few([NodeSelectorTerm(selector.requirements)])
        return self._matching(selector, lambda node: selector.matches(node.labels), few)

    def _by_one(self, selector: object, wanted: Requirement) -> Rows:
        """The selector is one requirement; most of the thousands name one node, which needs no second look."""
        few = self._with(wanted) if wanted.operator is Operator.IN else None
        if few is not None and len(few) <= _FEW:
            return np.array(sorted(few), dtype=np.intp)
        return self._matching(selector, lambda node: wanted.matches(node.labels), None)

    def _matching(self, selector: object, matches: Callable[[NodeInfo], bool], few: set[int] | None) -> Rows:
        if few is None:
            return np.flatnonzero(self._columns.of(self._view, _key(selector), matches))
        nodes = ((row, self._view.nodes[row]) for row in sorted(few))
        return np.array([row for row, node in nodes if node is not None and matches(node)], dtype=np.intp)

    def _few(self, terms: Iterable[NodeSelectorTerm]) -> set[int] | None:
        """Rows outside which no term matches; None where these are many, or not known."""
        found: set[int] = set()
        for term in terms:
            rows = self._candidates(term)
            if rows is None or len(found) + len(rows) > _FEW:
                return None
            found |= rows
        return found

    def _candidates(self, term: NodeSelectorTerm) -> set[int] | None:
        wanted = [r for r in term.expressions if r.operator is Operator.IN]
        return min((self._with(r) for r in wanted), key=len) if wanted else None

    def _with(self, wanted: Requirement) -> set[int]:
        index = self._labels.get(wanted.key)
        if index is None:
            index = self._labels[wanted.key] = _LabelRows(wanted.key)
        index.update(self._view)
        found: set[int] = set()
        for value in wanted.values:
            found |= index.rows.get(value, _NOWHERE)
        return found


class _LabelRows:
    """Rows by the value of one label; only rows whose node changed since are looked at again."""

    def __init__(self, key: str) -> None:
        self.rows: dict[str, set[int]] = {}
        self._key = key
        self._seen = 0
        self._values: dict[int, str] = {}

    def update(self, view: Snapshot) -> None:
        if self._seen == view.topology:
            return
        for row in np.flatnonzero(view.version > self._seen):
            node = view.nodes[row]
            self._put(int(row), None if node is None else node.labels.get(self._key))
        self._seen = view.topology

    def _put(self, row: int, value: str | None) -> None:
        if (before := self._values.pop(row, None)) is not None:
            self.rows[before].discard(row)
        if value is not None:
            self._values[row] = value
            self.rows.setdefault(value, set()).add(row)


@lru_cache(maxsize=4096)
def _key(selector: object) -> str:
    """Equal selectors have one key, and so one column."""
    return repr(selector)


_KEPT: WeakKeyDictionary[Snapshot, NodeRows] = WeakKeyDictionary()
