"""What pods in flight add to each node by each metric, and departed ones take, known pod by pod."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plimsoll.cluster.pod import Uid
from plimsoll.cluster.row_log import RowLog
from plimsoll.load.entry import Entry
from plimsoll.load.exact import on_grid
from plimsoll.load.expected import Crowd, uses_of
from plimsoll.load.metric_load import MetricLoad
from plimsoll.load.readings import Floats
from plimsoll.load.stays import Stays, stays_on
from plimsoll.load.unseen import Shares, unseen_of_one


class Flights:
    """Writes the ``in_flight`` of the metrics. Their windows are worked on as one array of S lines.

    Args:
        metrics: of one policy, nothing in flight yet.
        in_flight: [S, N], theirs, one below the other.
        changed: is told of rows that carry something else.
    """

    def __init__(self, metrics: Sequence[MetricLoad], in_flight: Floats, changed: RowLog) -> None:
        self._metrics, self._in_flight, self._changed = metrics, in_flight, changed
        self._windows = windows = [(i, length_s) for i, metric in enumerate(metrics) for length_s in metric.windows_s]
        self._metric_of = np.array([i for i, _ in windows], dtype=np.int64)
        self._scales = np.array([metrics[i].scale for i, _ in windows], dtype=np.float64)[:, None]
        self._shown_until_s = np.array([metrics[i].shown_until_s for i, _ in windows], dtype=np.float64)
        # Those of the refresh, [S, E], which of them have gone since, and those that came since.
        self._stays, self._amounts = stays_on(()), np.zeros((len(windows), 0))
        self._gone: set[Uid] = set()
        self._by_pod: dict[Uid, tuple[int, Floats]] = {}

    def begin(self, stays: Stays, crowd: Crowd, shares: Shares) -> None:
        """All that are known at a refresh; of departed pods what they are known to have used: that one used what it
        asked for nobody knows, and an idle one that goes must not make its node seem empty.

        Args:
            crowd: one pod of each of their kinds.
            shares: theirs.
        """
        if not self._metrics or not len(stays):
            return
        uses = uses_of(crowd, [metric.expectations for metric in self._metrics])
        expected, announced = uses.expected[self._metric_of], uses.announced[self._metric_of]
        amounts, gone = expected.take(stays.kinds, axis=1), np.flatnonzero(stays.gone)
        amounts[:, gone] = announced.take(stays.kinds[gone], axis=1)
        for i, (_, length_s) in enumerate(self._windows):
            amounts[i] *= shares.line(shown_until_s=self._shown_until_s[i], window_s=length_s)
        self._stays, self._amounts = stays, on_grid(amounts, self._scales)
        for i, line in enumerate(self._amounts):
            self._in_flight[i] += np.bincount(stays.rows, line, minlength=self._in_flight.shape[1])

    def add(self, entry: Entry, row: int) -> None:
        """One more; a pod that is known already counts once."""
        if self._metrics and not self._knows(entry.pod.uid):
            uses = [_use(metric, entry) for metric in self._metrics]
            lines = zip(self._windows, self._shown_until_s[:, row].tolist(), strict=True)
            amounts = np.array(
                [uses[i] * unseen_of_one(entry, sampled_at_s=at_s, window_s=s) for (i, s), at_s in lines]
            )
            amounts = on_grid(amounts, self._scales[:, 0])
            self._by_pod[entry.pod.uid] = row, amounts
            self._write(row, amounts)

    def remove(self, uid: Uid) -> None:
        if uid in self._by_pod:
            row, amounts = self._by_pod.pop(uid)
            self._write(row, -amounts)
        elif (at := self._at_first(uid)) is not None:
            self._gone.add(uid)
            self._write(int(self._stays.rows[at]), -self._amounts[:, at])

    def _knows(self, uid: Uid) -> bool:
        return uid in self._by_pod or self._at_first(uid) is not None

    def _at_first(self, uid: Uid) -> int | None:
        """Its place among those of the refresh; None where it is none of them, or no more."""
        return None if uid in self._gone else self._stays.place(uid)

    def _write(self, row: int, amounts: Floats) -> None:
        self._in_flight[:, row] += amounts
        self._changed.mark(row)


def _use(metric: MetricLoad, entry: Entry) -> float:
    expectations = metric.expectations
    return expectations.of(entry.pod) if entry.ended_s is None else expectations.announced(entry.pod)
