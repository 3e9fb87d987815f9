"""What some rows carry by all metrics of a policy at once: decisions ask for few rows, and often."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from plimsoll.cluster.row_log import ALL, At
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.load.expected import RESOURCE_OF
from plimsoll.load.metric_load import MetricLoad
from plimsoll.load.presumed import requested_share
from plimsoll.load.readings import Floats

# A node of which nothing is known is taken to be a little worse than the one in the middle.
_MARGIN = 0.1


class LoadByRow:
    """The metrics of one set of readings one below the other; answers have the shape [M, n], n rows of the Snapshot.

    Args:
        metrics: those that count.
        answered: those that the source answers.
        in_flight: [S, N], of the answered ones, by window, one below the other; live.
    """

    def __init__(self, metrics: Sequence[MetricLoad], answered: Sequence[MetricLoad], in_flight: Floats) -> None:
        self._metrics, self._in_flight = metrics, in_flight
        windows = [len(metric.means) for metric in metrics]
        self._starts = np.array(list(accumulate(windows[:-1], initial=0)), dtype=np.int64)
        self._of_line = np.repeat(np.arange(len(metrics)), windows)
        counting = {id(metric) for metric in metrics}
        self._lines = np.array([id(m) in counting for m in answered for _ in m.means], dtype=np.bool_)
        self._means = np.vstack([metric.means for metric in metrics])
        self._divisor = np.vstack([metric.divisor for metric in metrics])
        self._confidence = np.vstack([metric.confidence for metric in metrics])
        self._residents = np.array([metric.residents.line for metric in metrics], dtype=np.int64)
        self._limited = [i for i, metric in enumerate(metrics) if metric.metric.limit is not None]
        self._limits = np.array([metrics[i].metric.limit for i in self._limited], dtype=np.float64)[:, None]
        self._doubtful = [i for i, metric in enumerate(metrics) if not metric.certain]

    def measured(self, at: At = ALL) -> Floats:
        """As ``MetricLoad.measured``."""
        means, divisor = _take(self._means, at), _take(self._divisor, at)
        in_flight = _take(self._in_flight, at)[self._lines]
        right = np.maximum(means + in_flight / divisor[self._of_line], np.minimum(means, 0.0))
        largest: Floats = np.fmax.reduceat(right, self._starts, axis=0)
        return largest

    def carried(self, view: Snapshot, measured: Floats, at: At = ALL) -> Floats:
        """What is taken to be there without the pod.

        c * (measured + in flight) + (1 - c) * (presumed + margin), c being the confidence. Presumed is what the pods
        there use in the long run, and no less than a typical node carries; and a load that was measured is not taken
        to have fallen because nobody looks any more. So to lose sight of a node never makes it the best.
        """
        if not self._doubtful:
            return measured
        load = measured.copy()
        for i in self._doubtful:
            load[i] = self._believed(view, i, measured[i], at)
        return load

    def with_pod(self, load: Floats, uses: Floats, at: At = ALL) -> Floats:
        """Args:
        uses: [M, 1], what the pod is expected to use, in the metrics' units.
        """
        with_pod: Floats = load + uses / _take(self._divisor, at)
        return with_pod

    def lasting(self, uses: Floats, at: At = ALL) -> Floats:
        """Utilisation in the long run with the pod placed there: by what the workloads of the pods on the node have
        used so far, whatever they happen to use now. A node whose pods rest is not taken for an empty one. Of
        workloads without history only the measurement tells.
        """
        lasting: Floats = (self._known_residents(at) + uses) / _take(self._divisor, at)
        return lasting

    def over_limits(self, above: Sequence[Bools], measured: Floats, uses: Floats, at: At = ALL) -> Bools:
        """[n], where some limit would be passed. A node that is not measured is not refused by a limit.

        Args:
            above: [N] each, by the metrics with a limit, nodes that were above it at the last refresh.
        """
        if not self._limited:
            return np.zeros(measured.shape[1], dtype=np.bool_)
        lines = self._limited
        carried = measured[lines] + uses[lines] / _take(self._divisor, at)[lines]
        over = np.array([marked[at] for marked in above])
        over |= carried > self._limits
        if self._doubtful:
            over &= _take(self._confidence, at)[lines] > 0
        refused: Bools = np.logical_or.reduce(over, axis=0)
        return refused

    def _believed(self, view: Snapshot, line: int, measured: Floats, at: At) -> Floats:
        metric, confidence = self._metrics[line], self._confidence[line, at]
        presumed = np.maximum(self._suggested(view, line, at), metric.typical[at]) + _MARGIN
        measured = np.nan_to_num(measured, nan=0.0)
        load = confidence * measured + (1 - confidence) * presumed
        return np.where(confidence > 0, np.maximum(load, measured), load)

    def _suggested(self, view: Snapshot, line: int, at: At) -> Floats:
        """[n], what the pods of a node let expect of it; -inf for custom metrics, of which they say nothing."""
        metric = self._metrics[line]
        if metric.metric.custom:
            return np.full(self._confidence[line, at].shape, -np.inf)
        if metric.metric.name in RESOURCE_OF or metric.usual.per_pod > 0:
            share: Floats = metric.habit[at] / self._divisor[line, at]
            return share
        return requested_share(view, at)

    def _known_residents(self, at: At) -> Floats:
        every = self._metrics[0].residents.every.now()
        return _take(every[:, 1], at)[self._residents]


def _take(lines: Floats, at: At) -> Floats:
    """[.., n] in one piece per line, which indexing of the second axis does not give."""
    return lines if isinstance(at, slice) else lines.take(at, axis=1)
