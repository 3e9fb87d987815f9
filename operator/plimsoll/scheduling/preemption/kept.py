"""What dry runs found, kept per class of pods: between two pods of a class few nodes change, only these are tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.budgets import DisruptionBudget
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.filters.prepared import PodFilters
from plimsoll.policy.compiled import Policy
from plimsoll.scheduling.preemption.choosing import Candidate

# A class costs some 300 bytes per candidate; the one longest unused goes.
_MAX_CLASSES = 8

Found = Candidate | tuple[str, ...]
_Key = tuple[str, tuple[tuple[str, int], ...], int]


class KeptRuns:
    """Never changes an answer. Of pods to which only room matters: what else they look at reaches beyond a node."""

    def __init__(self) -> None:
        self._classes: dict[_Key, ClassRuns] = {}

    def of(self, filters: PodFilters, budgets: Sequence[DisruptionBudget]) -> ClassRuns | None:
        """What is known of the nodes as they are now; None where nothing is kept."""
        if not filters.only_fit:
            return None
        pod = filters.pod
        key = pod.class_key, tuple(pod.requests.items()), pod.priority
        runs = self._classes.pop(key, None)
        if runs is None or not runs.stands_for(filters, budgets):
            runs = ClassRuns(filters.view, filters.policy, budgets)
        self._classes[key] = runs
        if len(self._classes) > _MAX_CLASSES:
            del self._classes[next(iter(self._classes))]
        runs.follow()
        return runs


class ClassRuns:
    """Of pods of one class, priority and size, under one policy and the same budgets."""

    def __init__(self, view: Snapshot, policy: Policy, budgets: Sequence[DisruptionBudget]) -> None:
        self._view, self._policy, self._budgets = view, policy, tuple(budgets)
        self._candidates: dict[int, Candidate] = {}
        # [N], why nobody's end would help there, by its place among the texts; 0 where that is not known.
        self._why: NDArray[np.int32] = np.zeros(view.size, dtype=np.int32)
        self._texts: list[tuple[str, ...]] = [()]
        self._stand()

    def stands_for(self, filters: PodFilters, budgets: Sequence[DisruptionBudget]) -> bool:
        same = self._view is filters.view and len(self._why) == filters.view.size and self._policy is filters.policy
        return same and len(self._budgets) == len(budgets) and all(map(_is, self._budgets, budgets))

    def follow(self) -> None:
        """Forgets what changed since."""
        rows = self._changed()
        self._stand()
        if rows is None:
            self._candidates.clear()
            self._why[:] = 0
            return
        for row in rows:
            self._candidates.pop(row, None)
            self._why[row] = 0

    def candidate(self, row: int) -> Candidate | None:
        return self._candidates.get(row)

    def keep(self, row: int, found: Found) -> None:
        if isinstance(found, Candidate):
            self._candidates[row] = found
            return
        if found not in self._texts:
            self._texts.append(found)
        self._why[row] = self._texts.index(found)

    def hopeless(self) -> Bools:
        """[N], where nobody's end would help."""
        rows: Bools = self._why > 0
        return rows

    def reasons(self, rows: NDArray[np.int64]) -> Counter[str]:
        """Of rows that are hopeless, counted."""
        counted: Counter[str] = Counter()
        for texts, count in zip(self._texts, np.bincount(self._why[rows]).tolist(), strict=False):
            for text in texts:
                counted[text] += count
        return +counted

    def _changed(self) -> set[int] | None:
        """Rows that may be others than they were; None: any."""
        view, (changed, residents, nominated) = self._view, self._positions
        rows = view.changed.since(changed)
        there, coming = view.residents.changed.since(residents), view.nominated.changed.since(nominated)
        if rows is None or there is None or coming is None:
            return None
        return rows | {view.row_of[name] for name in there | coming if name in view.row_of}

    def _stand(self) -> None:
        view = self._view
        self._positions = view.changed.position, view.residents.changed.position, view.nominated.changed.position


def _is(one: object, other: object) -> bool:
    return one is other
