"""Which exporters are wrong in which way at a moment."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from plimsoll.sim.scenario import Fault, FaultKind, Scenario
from plimsoll.sim.world import Bools, Floats


class Faults:
    """A scenario's faults, and which nodes have them: of each the first of one random order of the nodes.

    Attributes:
        sign: [N], by turns 1 and -1: which way a node's clock is off.
    """

    def __init__(self, scenario: Scenario, nodes: int, *, seed: int) -> None:
        rank = np.random.default_rng([seed, 2]).permutation(nodes)
        self.sign = np.where(rank % 2 == 0, 1.0, -1.0)
        self._faults = tuple((fault, rank < max(1, round(fault.share * nodes))) for fault in scenario.faults)
        self._nobody = np.zeros(nodes, dtype=np.bool_)

    def __bool__(self) -> bool:
        return bool(self._faults)

    def of(self, kind: FaultKind) -> Iterator[tuple[Fault, Bools]]:
        """Each fault of the kind with the nodes, [N], that have it from time to time."""
        return ((fault, has) for fault, has in self._faults if fault.kind is kind)

    def within(self, kind: FaultKind, begin_s: float | Floats, end_s: float | Floats) -> Bools:
        """[N], nodes that have it at any moment from the one to the other, each its own or one for all."""
        has = self._nobody
        for fault, nodes in self.of(kind):
            has = has | (nodes & (fault.from_s <= end_s) & (begin_s < fault.until_s))
        return has

    def at(self, kind: FaultKind, at_s: float) -> Bools:
        """[N], nodes that have it at the moment."""
        return self.within(kind, at_s, at_s)

    def seen_until_s(self, at_s: float) -> float:
        """Up to when the source has told anything: while it does not answer, what it told before."""
        outages = (fault for fault, _ in self.of(FaultKind.OUTAGE))
        return min((fault.from_s for fault in outages if fault.from_s <= at_s < fault.until_s), default=at_s)

    def answering_until_s(self, at_s: float, kinds: Collection[FaultKind]) -> float | Floats:
        """[N] or one for all, the last moment up to then that no fault of the kinds has."""
        until_s: float | Floats = at_s
        for kind in kinds:
            for fault, nodes in self.of(kind):
                if fault.from_s <= at_s < fault.until_s:
                    until_s = np.where(nodes, np.minimum(until_s, fault.from_s), until_s)
        return until_s

    def answering_from_s(self, at_s: Floats, kinds: Collection[FaultKind]) -> Floats:
        """[N], the first moment from each on that no fault of the kinds has."""
        for kind in kinds:
            for fault, nodes in self.of(kind):
                at_s = np.where(nodes & (fault.from_s <= at_s) & (at_s < fault.until_s), fault.until_s, at_s)
        return at_s

    def source_ahead_s(self, at_s: float) -> float:
        """How far the source's own clock is ahead of everybody's: in the first half of the fault, and as far behind
        in the second.
        """
        for fault, _ in self.of(FaultKind.SKEWED_CLOCK):
            if fault.from_s <= at_s < fault.until_s:
                return fault.skew_s if at_s < (fault.from_s + fault.until_s) / 2 else -fault.skew_s
        return 0.0
