"""The estimate: what each node carries now, by one policy's metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.row_log import ALL, At, RowLog
from plimsoll.cluster.snapshot import Bools, Ints, Snapshot
from plimsoll.load.align import Scene, align
from plimsoll.load.by_row import LoadByRow
from plimsoll.load.coverage import fresh_enough, too_few
from plimsoll.load.entry import Entry
from plimsoll.load.flights import Flights
from plimsoll.load.history import WorkloadHistory
from plimsoll.load.metric_load import MetricLoad, States
from plimsoll.load.readings import Floats, Readings, ReadingState
from plimsoll.load.stays import Stays
from plimsoll.policy.compiled import InFlight, Policy

_UNANSWERED = "no metric has been answered yet"


class PolicyLoad:
    """One policy's metrics over the Snapshot's rows; changes between decisions, never during one.

    Attributes:
        answered: those of the policy's metrics that the source answers, in the policy's order.
        metrics: those of them that count; all where none does.
        readings: the set in force; None before the first answer.
        set_aside: why no metric counts at the moment; "" if some do, or where the policy has none.
        changed: rows whose pods in flight are others; at a refresh ``metrics`` are others.
        metrics_aside: why a metric that is answered does not count while others do, by its name.

    Args:
        history: what workloads have used; shared by all policies.
    """

    def __init__(self, policy: Policy, history: WorkloadHistory | None = None) -> None:
        self.policy = policy
        self._history = WorkloadHistory() if history is None else history
        self.readings: Readings | None = None
        self.answered: tuple[MetricLoad, ...] = ()
        self.metrics: tuple[MetricLoad, ...] = ()
        self.metrics_aside: Mapping[str, str] = {}
        self.set_aside = _UNANSWERED if policy.metrics else ""
        # Asked for by every decision, and the same until the next refresh.
        self._newest_of: tuple[MetricLoad, ...] | None = None
        self._newest_s = -np.inf
        self._membership = -1
        self._above: dict[str, frozenset[str]] = {}
        self._above_rows: dict[str, Bools] = {}
        self.changed = RowLog()
        self._flights = Flights((), np.zeros((0, 0)), self.changed)
        self._by_row: LoadByRow | None = None

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

    def refresh(self, readings: Readings, view: Snapshot, there: Stays, selected: Bools, *, now_s: float) -> None:
        """Takes a set of readings in force, or the same one anew after nodes came or went.

        Args:
            there: pods in flight and departed ones.
            selected: [N], live nodes that the policy may use.
        """
        new = readings is not self.readings
        self.readings, self._membership = readings, view.membership
        scene = Scene.of(self.policy, readings, view, there, self._history)
        self.answered, in_flight = align(scene)
        self._flights = Flights(self.answered, in_flight, self.changed)
        if self.policy.in_flight is InFlight.COUNT:
            self._flights.begin(scene.stays, scene.crowd, scene.shares)
        self._mark(view, flip=new)
        self._set_aside(selected, scene.young(now_s))
        self._by_row = LoadByRow(self.metrics, self.answered, in_flight) if self.metrics else None

    def place(self, entry: Entry, row: int) -> None:
        """A pod came to a row: what the metrics do not show of it is in flight, from now until the next refresh."""
        if self.policy.in_flight is InFlight.COUNT:
            self._flights.add(entry, row)

    def remove(self, uid: Uid) -> None:
        """A pod was not bound after all."""
        self._flights.remove(uid)

    def depart(self, entry: Entry, row: int) -> None:
        """A pod has ended: what the metrics still show of it is subtracted, until the next refresh."""
        self.remove(entry.pod.uid)
        self.place(entry, row)

    def uses(self, pod: PodInfo | None) -> Floats:
        """[M, 1], what the pod is expected to use, in the metrics' units; no pod uses nothing."""
        uses = [0.0 if pod is None else metric.expected(pod) for metric in self.metrics]
        return np.array(uses, dtype=np.float64)[:, None]

    def measured_at(self, at: At) -> Floats:
        """[M, n], utilisation with pods in flight and without departed ones; NaN where missing."""
        return np.zeros((0, 0)) if self._by_row is None else self._by_row.measured(at)

    def projected(self, view: Snapshot, pod: PodInfo | None) -> Floats:
        """[M, N], utilisation with the pod placed (None: as it is); may exceed 1."""
        return self.projected_at(view, self.uses(pod), ALL)

    def projected_at(self, view: Snapshot, uses: Floats, at: At) -> Floats:
        """[M, n], the same at some rows.

        Args:
            uses: [M, 1], as ``uses`` answers.
        """
        by_row = self._by_row
        if by_row is None:
            return np.zeros((0, len(view.live[at])))
        return by_row.with_pod(by_row.carried(view, by_row.measured(at), at), uses, at)

    def lasting(self, view: Snapshot, pod: PodInfo) -> Floats:
        """[M, N], utilisation in the long run with the pod placed, as far as the history of workloads tells."""
        return self.lasting_at(view, self.uses(pod), ALL)

    def lasting_at(self, view: Snapshot, uses: Floats, at: At) -> Floats:
        """[M, n], the same at some rows."""
        return np.zeros((0, len(view.live[at]))) if self._by_row is None else self._by_row.lasting(uses, at)

    def presumed_at(self, uses: Floats, at: At) -> Floats:
        """[M, n], utilisation with the pod placed, by what pods use by history and ask for; 0 by custom metrics."""
        shares = zip(self.metrics, uses[:, 0].tolist(), strict=True)
        return np.array([np.zeros_like(m.divisor[at]) if m.metric.custom else m.presumed(u, at) for m, u in shares])

    def over_limits(self, view: Snapshot, pod: PodInfo) -> Bools:
        """[N], where some limit would be passed. A node that is not measured is not refused by a limit."""
        return self.with_pod_at(view, self.uses(pod), ALL)[1]

    def with_pod_at(self, view: Snapshot, uses: Floats, at: At) -> tuple[Floats, Bools]:
        """Both at once: [M, n], utilisation with the pod placed; [n], where some limit would be passed."""
        by_row = self._by_row
        if by_row is None:
            return self.projected_at(view, uses, at), np.zeros(len(view.live[at]), dtype=np.bool_)
        measured = by_row.measured(at)
        above = [self._above_rows[m.metric.name] for m in self.metrics if m.metric.limit is not None]
        over = by_row.over_limits(above, measured, uses, at)
        return by_row.with_pod(by_row.carried(view, measured, at), uses, at), over

    def known(self, view: Snapshot) -> Bools:
        """[N], nodes by all of whose metrics there is a sample that is fresh enough to count."""
        if not self.metrics:
            return np.zeros(view.size, dtype=np.bool_)
        return fresh_enough(np.min([metric.confidence for metric in self.metrics], axis=0))

    def state(self, view: Snapshot) -> States:
        """[N], the worst ReadingState among the metrics."""
        if not self.metrics:
            return np.full(view.size, ReadingState.MISSING, dtype=np.int8)
        worst: States = np.min([metric.state for metric in self.metrics], axis=0)
        return worst

    def utilisation_at(self, at: At) -> Floats:
        """[M, n], as it was measured; NaN where missing."""
        return np.array([metric.utilisation[at] for metric in self.metrics])

    def oldest_sample_s(self, at: At) -> Floats:
        """[n], the oldest sample time among each node's metrics (there must be one); NaN where none is measured."""
        oldest: Floats = np.fmin.reduce(np.array([metric.sampled_at_s[at] for metric in self.metrics]), axis=0)
        return oldest

    def sampled_at_s(self, rows: Sequence[int] | Ints) -> list[float | None]:
        """The same; None where none is measured."""
        if not self.metrics:
            return [None for _ in rows]
        oldest = self.oldest_sample_s(np.asarray(rows, dtype=np.int64)).tolist()
        return [None if math.isnan(time_s) else time_s for time_s in oldest]

    @property
    def newest_sample_s(self) -> float | None:
        """Time of the newest sample that counts; None where nothing is measured. A source that is asked in vain
        makes no sample younger.
        """
        if self._newest_of is not self.metrics:
            times = [np.fmax.reduce(metric.sampled_at_s, initial=-np.inf) for metric in self.metrics]
            self._newest_of, self._newest_s = self.metrics, float(max(times, default=-np.inf))
        return None if self._newest_s == -np.inf else self._newest_s

    def _mark(self, view: Snapshot, *, flip: bool) -> None:
        """Marks are kept by node name, since rows may stand for other nodes by now; they flip only at a refresh."""
        for metric in self.answered:
            name, limit = metric.metric.name, metric.metric.limit
            if limit is None:
                continue
            marked = self._rows(view, self._above.get(name, frozenset()))
            if flip:
                load = np.nan_to_num(metric.measured(), nan=-np.inf)
                marked = (load > limit) | (marked & (load > limit - metric.hysteresis))
                self._above[name] = frozenset(view.name(int(row)) for row in np.flatnonzero(marked))
            self._above_rows[name] = marked

    def _rows(self, view: Snapshot, names: frozenset[str]) -> Bools:
        rows = np.zeros(view.size, dtype=np.bool_)
        rows[[view.row_of[name] for name in names if name in view.row_of]] = True
        return rows

    def _set_aside(self, selected: Bools, young: Bools) -> None:
        """A metric that few nodes have neither scores nor limits nor excludes; the others go on."""
        few = {m.metric.name: too_few(selected, young, fresh_enough(m.confidence)) for m in self.answered}
        aside = {name: why for name, why in few.items() if why}
        counting = tuple(m for m in self.answered if m.metric.name not in aside)
        self.metrics, self.metrics_aside = counting or self.answered, aside if counting else {}
        self.set_aside = "" if counting or not self.policy.metrics else self._why(aside)

    def _why(self, aside: Mapping[str, str]) -> str:
        failures = tuple((self.readings.failures if self.readings else {}).values())
        believed = any(bool((metric.confidence > 0).any()) for metric in self.answered)
        sentences = (*aside.values(), *failures) if believed else (*failures, *aside.values())
        return next(iter(sentences), _UNANSWERED)
