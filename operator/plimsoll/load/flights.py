"""What pods in flight add to each node by each metric, and departed ones take, known pod by pod."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plimsoll.cluster.pod import Uid
from plimsoll.load.exact import on_grid
from plimsoll.load.expected import Crowd, uses_of
from plimsoll.load.ledger import Entry
from plimsoll.load.metric_load import MetricLoad
from plimsoll.load.readings import Floats
from plimsoll.load.unseen import Stays, unseen, unseen_of_one


class Flights:
    """Writes the ``in_flight`` of the metrics. Their windows are worked on as one array of S lines.

    Args:
        metrics: of one policy, nothing in flight yet.
        in_flight: [S, N], theirs, one below the other.
    """

    def __init__(self, metrics: Sequence[MetricLoad], in_flight: Floats) -> None:
        self._metrics, self._in_flight = metrics, in_flight
        self._windows = windows = [(i, length_s) for i, metric in enumerate(metrics) for length_s in metric.windows_s]
        self._metric_of = np.array([i for i, _ in windows], dtype=np.int64)
        self._windows_s = np.array([length_s for _, length_s in windows], dtype=np.float64)[:, None]
        self._scales = np.array([metrics[i].scale for i, _ in windows], dtype=np.float64)[:, None]
        self._shown_until_s = np.array([metrics[i].shown_until_s for i, _ in windows], dtype=np.float64)
        self._by_pod: dict[Uid, tuple[int, Floats]] = {}

    def begin(self, stays: Stays, crowd: Crowd) -> None:
        """All that are known at a refresh; of departed pods what they are known to have used: that one used what it
        asked for nobody knows, and an idle one that goes must not make its node seem empty.

        Args:
            crowd: the same pods.
        """
        if not self._metrics or not stays.pods:
            return
        uses = uses_of(crowd, [metric.expectations for metric in self._metrics])
        amounts = self._amounts(stays, np.where(stays.gone, uses.announced, uses.expected))
        for i, line in enumerate(amounts):
            self._in_flight[i] += np.bincount(stays.rows, line, minlength=self._in_flight.shape[1])
        uids = [pod.uid for pod in stays.pods]
        self._by_pod = dict(zip(uids, zip(stays.rows.tolist(), amounts.T, strict=True), strict=True))

    def add(self, entry: Entry, row: int) -> None:
        """One more; a pod that is known already counts once."""
        if self._metrics and entry.pod.uid not in self._by_pod:
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

    def _write(self, row: int, amounts: Floats) -> None:
        self._in_flight[:, row] += amounts

    def _amounts(self, stays: Stays, uses: Floats) -> Floats:
        """[S, E], in the metrics' units.

        Args:
            uses: [M, E].
        """
        shares = unseen(stays, sampled_at_s=self._shown_until_s.take(stays.rows, axis=1), window_s=self._windows_s)
        return on_grid(shares * uses[self._metric_of], self._scales)


def _use(metric: MetricLoad, entry: Entry) -> float:
    expectations = metric.expectations
    return expectations.of(entry.pod) if entry.ended_s is None else expectations.announced(entry.pod)
