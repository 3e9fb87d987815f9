"""Crane's Dynamic plugin inside kube-scheduler's default profile.

Source: gocrane/crane-scheduler, pkg/plugins/dynamic/{plugins,stats}.go (52fb9b8f, 8c25d319), pkg/controller/annotator
(1984489d, 8c25d319), pkg/controller/prometheus (1c6d4c59), deploy/manifests/dynamic (6a6bc150, f7e08f21: weight 3, the
default plugins stay on). Cpu and memory, each as the mean over 5 minutes and as the maximum of that over an hour and
a day, come to the scheduler as annotations that are written every 3 minutes, 15 minutes and 3 hours. The filter refuses
above 65 % of 5 minutes and 75 % of an hour; the score is the weighted mean of what is free, less 10 for each point of
the hot value: pods bound in the last 5 minutes by fives, and in the last minute by twos.

Its defects are kept: the hot value is written together with the loads only, and so is up to 3 minutes old; a value
that is no number becomes 0, which is idle; an annotation that is older than its period and 5 minutes passes the filter
and yet scores 0.

Different here: the recording rules are made each minute for all, and what could not be written is tried again at each
refresh, without backoff; the day's maximum begins with the world.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from plimsoll.sim.contenders.kube_scheduler import MAX_SCORE, KubeScheduler
from plimsoll.sim.contenders.queueing import Ints
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.world import CPU_AT, MEMORY_AT, Bools, Floats, Pod, World

_WEIGHT = 3
_WINDOW_S, _RECORD_EVERY_S = 300.0, 60.0
_VALID_FOR_LONGER_S, _HOT_VALID_S = 300.0, 300.0
# Pods bound within so many seconds, by so many.
_HOT = ((300.0, 5), (60.0, 2))
_KNOWN = [CPU_AT, MEMORY_AT]
_DAY_S = 86400.0


class _Annotation(NamedTuple):
    """One for cpu and one for memory.

    Attributes:
        range_s: whose maximum it holds.
        most: above which the filter refuses.
    """

    range_s: float
    period_s: float
    weight: float
    most: float


_ANNOTATIONS = (
    _Annotation(_RECORD_EVERY_S, 180.0, 0.2, 0.65),
    _Annotation(3600.0, 900.0, 0.3, 0.75),
    _Annotation(_DAY_S, 10800.0, 0.5, np.inf),
)


class Crane(KubeScheduler):
    """3 * Dynamic + the default profile."""

    def __init__(self, world: World, plane: MetricsPlane, rng: np.random.Generator) -> None:
        super().__init__(world, plane, rng)
        nodes = len(world.nodes)
        self._capacity = world.capacity[_KNOWN]
        self._recorded: deque[tuple[float, Floats]] = deque()
        # [A, 2, N]: what is annotated, and when it was.
        self._value = np.full((len(_ANNOTATIONS), 2, nodes), np.nan)
        self._written_s = np.full(self._value.shape, -np.inf)
        self._due_s = np.zeros(self._value.shape)
        self._hot = np.zeros(nodes, dtype=np.int64)
        self._hot_written_s = np.full(nodes, -np.inf)
        self._bound: deque[tuple[float, int]] = deque()

    def placed(self, pod: int, node: int, *, now_s: float) -> None:  # noqa: ARG002 - counts, not sizes
        self._bound.append((now_s, node))

    def refreshed(self, *, now_s: float) -> None:
        if not self.plane.answers(now_s):
            return
        if now_s % _RECORD_EVERY_S == 0:
            self._record(now_s)
        synced = np.zeros(len(self.live), dtype=np.bool_)
        for at in range(len(_ANNOTATIONS)):
            if (self._due_s[at] <= now_s).any():
                synced |= self._write(at, now_s)
        if synced.any():
            self._hot[synced] = hot_value(self._bound, now_s, len(self.live))[synced]
            self._hot_written_s[synced] = now_s
            self.try_again()

    def passing(self, replica: Pod, fit: Bools, *, now_s: float) -> Bools:  # noqa: ARG002 - part of the protocol
        return fit & ~overloaded(self._valid(now_s))

    def score(self, replica: Pod, fit: Bools, *, now_s: float) -> Ints:
        hot = np.where(now_s - self._hot_written_s < _HOT_VALID_S, self._hot, 0)
        return super().score(replica, fit, now_s=now_s) + _WEIGHT * dynamic_score(self._valid(now_s), hot)

    def _record(self, now_s: float) -> None:
        """Shares of capacity as Prometheus' rules make them; -1 stands for what is no number."""
        share = self.plane.mean(_WINDOW_S, now_s)[_KNOWN] / self._capacity
        scraped = self.plane.covered_s(_WINDOW_S, now_s) > 0
        self._recorded.append((now_s, np.where(scraped & np.isnan(share), -1.0, share)))
        while self._recorded[0][0] <= now_s - _DAY_S:
            self._recorded.popleft()

    def _write(self, at: int, now_s: float) -> Bools:
        """[N], nodes that were annotated; the others stay due."""
        found = self._most_within(_ANNOTATIONS[at].range_s, now_s)
        due = (self._due_s[at] <= now_s) & ~np.isnan(found)
        # As the annotation's text has it; what is no number is idle.
        self._value[at][due] = np.round(np.maximum(found, 0.0), 5)[due]
        self._written_s[at][due] = now_s
        self._due_s[at][due] = now_s + _ANNOTATIONS[at].period_s
        written: Bools = due.any(axis=0)
        return written

    def _most_within(self, range_s: float, now_s: float) -> Floats:
        """[2, N], NaN without any."""
        recorded = [share for at_s, share in self._recorded if at_s > now_s - range_s]
        most: Floats = np.fmax.reduce(recorded) if recorded else np.full_like(self._capacity, np.nan)
        return most

    def _valid(self, now_s: float) -> Floats:
        """[A, 2, N], what is annotated; NaN where there is nothing or it has expired."""
        lasting_s = np.array([a.period_s + _VALID_FOR_LONGER_S for a in _ANNOTATIONS])[:, None, None]
        return np.where(now_s - self._written_s < lasting_s, self._value, np.nan)


def overloaded(usage: Floats) -> Bools:
    """[N], nodes that the filter refuses.

    Args:
        usage: [A, 2, N], shares of capacity by annotation, of cpu and memory; NaN where there is none.
    """
    most = np.array([a.most for a in _ANNOTATIONS])[:, None, None]
    above: Bools = np.logical_or.reduce(usage > most, axis=(0, 1))
    return above


def dynamic_score(usage: Floats, hot: Ints) -> Ints:
    """[N], whole points; what is not annotated is scored as 0 with its full weight.

    Args:
        usage: as of ``overloaded``.
        hot: [N].
    """
    weight = np.array([a.weight for a in _ANNOTATIONS])
    free = np.where(np.isnan(usage), 0.0, (1 - usage) * weight[:, None, None] * MAX_SCORE)
    points: Ints = (free.sum(axis=(0, 1)) / (2 * weight.sum())).astype(np.int64)
    scored: Ints = np.clip(points - 10 * hot, 0, MAX_SCORE)
    return scored


def hot_value(bound: deque[tuple[float, int]], now_s: float, nodes: int) -> Ints:
    """[N]; bindings that no longer count are dropped from ``bound``, the oldest of which comes first."""
    while bound and bound[0][0] <= now_s - _HOT[0][0]:
        bound.popleft()
    hot = np.zeros(nodes, dtype=np.int64)
    for range_s, count in _HOT:
        recent = [node for bound_s, node in bound if bound_s > now_s - range_s]
        hot += np.bincount(np.array(recent, dtype=np.int64), minlength=nodes) // count
    return hot
