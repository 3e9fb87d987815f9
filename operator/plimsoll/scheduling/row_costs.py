"""What a node costs a class of pods by itself, whatever other nodes there are: load, requests, and the limits.

Kept between decisions: from one pod of a class to the next only the rows change whose pods or readings did, and only
these are worked out again. What compares nodes with each other (spreading, preferences) comes on top each time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.row_log import ALL, At
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.load.estimate import PolicyLoad
from plimsoll.load.readings import Floats
from plimsoll.policy.compiled import Formula, InFlight
from plimsoll.scores.load import load_term
from plimsoll.scores.requests import requests_term

LOAD, REQUESTS = "load", "requests"
# What stands for load while the metrics are set aside.
EXPECTED = "expected"

Selected = Callable[[], Bools]


class RowCosts:
    """Of a class of pods under a policy and a set of readings; arrays over the Snapshot's rows, not to be written.

    Attributes:
        by_name: the terms of the score that look at one node at a time, [N] each.
        weight: of all of them together.
        total: [N], their sum, weighted by ``placement``.
        over: [N], where a limit would be passed.
        scored: [M, N], the utilisation that is scored; None where metrics do not count.

    Args:
        pod: one of the class; the others request the same of cpu and memory, and are expected to use the same.
        uses: [M, 1], how much that is.
        selected: tells the policy's nodes, [N].
    """

    def __init__(self, view: Snapshot, load: PolicyLoad, pod: PodInfo, uses: Floats, selected: Selected) -> None:
        self._view, self._load, self._pod, self._uses, self._selected = view, load, pod, uses, selected
        self._weights: dict[str, float] = {}
        self._seen = self._position()
        self._begin()

    def follow(self) -> None:
        """Works out anew what changed since."""
        seen, now = self._seen, self._position()
        if seen == now:
            return
        self._seen = now
        taken, carried = self._view.changed.since(seen[0]), self._load.changed.since(seen[1])
        compared = self._load.policy.formula is Formula.RELATIVE  # with other nodes
        if compared or taken is None or carried is None or len(self.over) != self._view.size:
            self._begin()
        else:
            self._renew(np.array(list(taken | carried), dtype=np.int64))

    def _score(self, carried: Floats, at: At) -> Floats:
        """[M, n], the utilisation that is scored: no less than nodes carry in the long run. Limits look at what is
        there now.

        The classic plugins' formula stays theirs; and without accounting in flight it is bare, as they score nodes as
        they are.
        """
        view, load = self._view, self._load
        relative, ignore = load.policy.formula is Formula.RELATIVE, load.policy.in_flight is InFlight.IGNORE
        if relative and ignore:
            return load.projected_at(view, load.uses(None), at)
        return carried if relative or ignore else np.maximum(carried, load.lasting_at(view, self._uses, at))

    def requested(self, at: At = ALL) -> Floats:
        """[n], the term of requests, whether the policy weighs it or not."""
        return requests_term(self._view, self._pod, pack_target=self._load.policy.pack_target, at=at)

    def _position(self) -> tuple[int, int]:
        return self._view.changed.position, self._load.changed.position

    def _begin(self) -> None:
        self.scored: Floats | None
        self.over: Bools
        self.scored, self.over = self._carried(ALL)
        self.by_name, self._weights = self._terms(self.scored, ALL)
        self.weight = sum(self._weights.values())
        self.total = self._sum(self.by_name, self._view.size)

    def _renew(self, at: At) -> None:
        scored, self.over[at] = self._carried(at)
        terms, _ = self._terms(scored, at)
        for name, term in terms.items():
            self.by_name[name][at] = term
        self.total[at] = self._sum(terms, 1)
        if self.scored is not None and scored is not None:
            self.scored[:, at] = scored

    def _carried(self, at: At) -> tuple[Floats | None, Bools]:
        """[M, n], the utilisation that is scored; [n], where a limit would be passed."""
        if not self._load.counts:
            return None, np.zeros(self._view.live[at].shape, dtype=np.bool_)
        carried, over = self._load.with_pod_at(self._view, self._uses, at)
        return self._score(carried, at), over

    def _terms(self, scored: Floats | None, at: At) -> tuple[dict[str, Floats], dict[str, float]]:
        """[n] each, and their weights."""
        load, placement = self._load, self._load.policy.placement
        found: list[tuple[str, float, Floats | None]] = []
        if scored is not None and placement.load > 0:
            found.append((LOAD, placement.load, self._by_load(scored, at)))
        elif self._expects:
            found.append((EXPECTED, placement.load, self._by_load(load.presumed_at(self._uses, at), at)))
        if placement.requests > 0:
            found.append((REQUESTS, placement.requests, self.requested(at)))
        return (
            {name: term for name, _, term in found if term is not None},
            {name: weight for name, weight, term in found if term is not None},
        )

    @property
    def _expects(self) -> bool:
        """Whether loads count by what pods are expected to use, while nothing that was measured counts; not where the
        policy wants no such estimates, or nothing has been answered yet.
        """
        load, policy = self._load, self._load.policy
        wanted = policy.placement.load and policy.in_flight is InFlight.COUNT and policy.pack_target is None
        return bool(wanted and load.set_aside and load.metrics)

    def _by_load(self, carried: Floats, at: At) -> Floats | None:
        relative = self._load.policy.formula is Formula.RELATIVE
        return load_term(self._load, self._view, carried, self._selected() if relative else self._view.live, at=at)

    def _sum(self, terms: dict[str, Floats], rows: int) -> Floats:
        total = np.zeros(rows)
        for name, term in terms.items():
            total = total + self._weights[name] * term
        return total
