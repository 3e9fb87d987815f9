"""The estimate: what each node carries now, by one policy's metrics."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.load.coverage import too_few
from plimsoll.load.ledger import Entry, uncovered
from plimsoll.load.metric_load import MetricLoad, States, align, order_of
from plimsoll.load.readings import Floats, Readings, ReadingState
from plimsoll.policy.compiled import InFlight, Policy

# A limit once passed holds until the load is this far below it again, so that a node does not flap.
_HYSTERESIS = 0.05
_UNANSWERED = "no metric has been answered yet"


class PolicyLoad:
    """One policy's metrics over the Snapshot's rows; changes between decisions, never during one.

    Attributes:
        metrics: those of the policy's metrics that the source answers, in the policy's order.
        readings: the set in force; None before the first answer.
        set_aside: why no metric counts at the moment; "" if they do, or where the policy has none.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.readings: Readings | None = None
        self.metrics: tuple[MetricLoad, ...] = ()
        self.set_aside = _UNANSWERED if policy.metrics else ""
        self._membership = -1
        self._above: dict[str, frozenset[str]] = {}
        self._above_rows: dict[str, Bools] = {}
        self._flights: dict[Uid, tuple[int, tuple[float, ...]]] = {}

    @property
    def counts(self) -> bool:
        """Whether metrics have a say in decisions at the moment."""
        return bool(self.metrics) and not self.set_aside

    def current(self, view: Snapshot) -> bool:
        """Whether the arrays still stand for the Snapshot's nodes; if not, ``refresh`` is due."""
        return self._membership == view.membership

    def inherit(self, before: PolicyLoad) -> None:
        """Takes over the marks of limits that are as they were: a changed weight is no reason to forget an overload."""
        limits = {metric.name: metric.limit for metric in before.policy.limits}
        same = {metric.name for metric in self.policy.limits if limits.get(metric.name) == metric.limit}
        self._above = {name: nodes for name, nodes in before._above.items() if name in same}

    def refresh(
        self, readings: Readings, view: Snapshot, entries: Collection[Entry], selected: Bools, *, now_s: float
    ) -> None:
        """Takes a set of readings in force, or the same one anew after nodes came or went.

        Args:
            entries: the ledger's.
            selected: [N], live nodes that the policy may use.
        """
        new = readings is not self.readings
        self.readings, self._membership = readings, view.membership
        order = order_of(readings, view)
        self.metrics = tuple(
            align(metric, readings, order, view, entries=entries, policy=self.policy)
            for metric in self.policy.metrics
            if metric.name in readings.metrics
        )
        self._fly(view, entries)
        self._mark(view, flip=new)
        self.set_aside = self._why_set_aside(view, selected, now_s=now_s)

    def place(self, entry: Entry, row: int) -> None:
        """A pod came to a row: what the metrics do not show of it is in flight, from now until the next refresh."""
        if self.policy.in_flight is InFlight.COUNT and entry.pod.uid not in self._flights:
            self._add(entry.pod.uid, row, tuple(_left(metric, entry, row) for metric in self.metrics))

    def remove(self, uid: Uid) -> None:
        """A pod is gone, or was not bound after all."""
        row, amounts = self._flights.pop(uid, (0, ()))
        for metric, amount in zip(self.metrics, amounts, strict=bool(amounts)):
            metric.in_flight[row] = max(metric.in_flight[row] - amount, 0.0)

    def projected(self, view: Snapshot, pod: PodInfo | None) -> Floats:
        """[M, N], utilisation with the pod placed (None: as it is); may exceed 1."""
        return np.array([metric.projected(view, pod) for metric in self.metrics]).reshape(len(self.metrics), view.size)

    def over_limits(self, projected: Floats) -> Bools:
        """[N], where some limit would be passed. A node that is not measured is not refused by a limit."""
        over = np.zeros(projected.shape[1], dtype=np.bool_)
        for metric, load in zip(self.metrics, projected, strict=True):
            if metric.metric.limit is not None:
                above = self._above_rows[metric.metric.name] | (load > metric.metric.limit)
                over |= above & (metric.confidence > 0)
        return over

    def state(self, view: Snapshot) -> States:
        """[N], the worst ReadingState among the metrics."""
        if not self.metrics:
            return np.full(view.size, ReadingState.MISSING, dtype=np.int8)
        worst: States = np.min([metric.state for metric in self.metrics], axis=0)
        return worst

    def sampled_at_s(self, row: int) -> float | None:
        """The oldest sample time among a node's metrics; None where none is measured."""
        times = [float(metric.sampled_at_s[row]) for metric in self.metrics]
        return min((t for t in times if not np.isnan(t)), default=None)

    @property
    def newest_sample_s(self) -> float | None:
        """Time of the newest sample that counts; None where nothing is measured. A source that is asked in vain
        makes no sample younger.
        """
        times = [metric.sampled_at_s[~np.isnan(metric.sampled_at_s)] for metric in self.metrics]
        return max((float(known.max()) for known in times if len(known)), default=None)

    def _fly(self, view: Snapshot, entries: Collection[Entry]) -> None:
        self._flights = {}
        for entry in entries:
            row = view.row_of.get(entry.pod.node)
            if row is not None:
                self.place(entry, row)

    def _add(self, uid: Uid, row: int, amounts: tuple[float, ...]) -> None:
        self._flights[uid] = row, amounts
        for metric, amount in zip(self.metrics, amounts, strict=True):
            metric.in_flight[row] += amount

    def _mark(self, view: Snapshot, *, flip: bool) -> None:
        """Marks are kept by node name, since rows may stand for other nodes by now; they flip only at a refresh."""
        for metric in self.metrics:
            name, limit = metric.metric.name, metric.metric.limit
            if limit is None:
                continue
            marked = self._rows(view, self._above.get(name, frozenset()))
            if flip:
                load = np.nan_to_num(metric.measured(), nan=0.0)
                marked = (load > limit) | (marked & (load > limit - _HYSTERESIS))
                self._above[name] = frozenset(view.name(int(row)) for row in np.flatnonzero(marked))
            self._above_rows[name] = marked

    def _rows(self, view: Snapshot, names: frozenset[str]) -> Bools:
        rows = np.zeros(view.size, dtype=np.bool_)
        rows[[view.row_of[name] for name in names if name in view.row_of]] = True
        return rows

    def _why_set_aside(self, view: Snapshot, selected: Bools, *, now_s: float) -> str:
        if not self.policy.metrics:
            return ""
        if not self.metrics:
            failures = self.readings.failures if self.readings else {}
            return next(iter(failures.values()), _UNANSWERED)
        return too_few(self.policy, view, selected, self.state(view), now_s=now_s)


def _left(metric: MetricLoad, entry: Entry, row: int) -> float:
    """What the metric does not show yet of a pod in flight, in the metric's unit."""
    share = uncovered(entry, sampled_at_s=float(metric.sampled_at_s[row]), window_s=metric.window_s)
    return metric.expected(entry.pod) * share
