"""What Prometheus finds in a range of each node's samples, whatever is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plimsoll.sim.faults import Faults
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.scenario import FaultKind
from plimsoll.sim.scrapes import Span
from plimsoll.sim.world import CPU_AT, MEMORY_AT, Floats

# What a clock that is set back seems to advance by: to ``rate`` it is a counter that was reset.
_SINCE_THE_EPOCH_S = 1.7e9
_REPEATED = (FaultKind.FROZEN, FaultKind.STUCK)


@dataclass(frozen=True, slots=True)
class Range:
    """One window of a plane's samples. All values are [N], NaN where Prometheus has no series or answers it.

    Attributes:
        span: what was scraped of the nodes.
        device: what was scraped of the device that the policy knows.
    """

    plane: MetricsPlane
    span: Span
    device: Span

    @classmethod
    def of(cls, plane: MetricsPlane, window_s: float, now_s: float) -> Range:
        """As Prometheus answers at a moment, by whoever asks' clock; its own may be another."""
        seen_s = plane.seen_s(now_s)
        end_s = seen_s - plane.faults.source_ahead_s(now_s)
        begin_s, of = end_s - window_s, plane.scrapes.span
        span = of(begin_s, end_s, until_s=seen_s)
        if not any(plane.faults.of(FaultKind.RENAMED_DEVICE)):
            return cls(plane, span, span)
        kinds = (FaultKind.DARK, FaultKind.RENAMED_DEVICE)
        return cls(plane, span, of(begin_s, end_s, until_s=seen_s, kinds=kinds))

    def clock(self) -> Floats:
        """``rate(node_time_seconds)``."""
        first_s, last_s = (_held(at_s, self._faults, FaultKind.STUCK) for at_s in (self.span.first_s, self.span.last_s))
        advanced = last_s - first_s
        for fault, nodes in self._faults.of(FaultKind.SKEWED_CLOCK):
            for set_at_s, ahead in ((fault.from_s, self._faults.sign), (fault.until_s, -self._faults.sign)):
                inside = nodes & (self.span.first_s < set_at_s) & (set_at_s <= self.span.last_s)
                set_by = np.where(ahead > 0, fault.skew_s, _SINCE_THE_EPOCH_S)
                advanced = np.where(inside, advanced + set_by, advanced)
        clock: Floats = advanced / self.span.length_s * self.span.share
        return clock

    def traffic(self, metric: int) -> Floats:
        """``rate(node_network_*_bytes_total)`` of the device."""
        return self._rate(self._increase(self.device)[metric], self.device)

    def idle(self) -> Floats:
        """The share of idle time in all that ``rate(node_cpu_seconds_total)`` finds: NaN where it stands still, and
        what a reset loses is lost to both.
        """
        first_s, last_s = _frozen(self.span.first_s, self._faults), _frozen(self.span.last_s, self._faults)
        counted_s = np.where(last_s > first_s, last_s - first_s, np.nan)
        busy_s = self._increase(self.span)[CPU_AT] / self.plane.world.capacity[CPU_AT]
        idle: Floats = np.maximum(1 - busy_s / counted_s, 0.0)
        return idle

    def available(self) -> Floats:
        """``avg_over_time(node_memory_MemAvailable_bytes)``."""
        mean = self.plane.true_mean(self.span)
        used = np.where(np.isnan(mean), self.plane.at_scrape(self.span.last_s), mean)[MEMORY_AT]
        holding = np.zeros(len(used), dtype=np.bool_)
        for kind in _REPEATED:
            for fault, nodes in self._faults.of(kind):
                first_s, last_s = (
                    np.clip(s, fault.from_s, fault.until_s) for s in (self.span.first_s, self.span.last_s)
                )
                held = nodes & ~holding & (last_s > first_s)
                value = self.plane.at_scrape(self.plane.scrapes.before(fault.from_s))[MEMORY_AT]
                true = self._carried(first_s, last_s)[MEMORY_AT]
                wrong_by = ((last_s - first_s) * value - true) / self.span.length_s
                used = np.where(held, used + wrong_by, used)
                holding |= held
        available: Floats = self.plane.world.capacity[MEMORY_AT] - used
        return available

    @property
    def _faults(self) -> Faults:
        return self.plane.faults

    def _increase(self, span: Span) -> Floats:
        """[M, N], of counters, which may stand still."""
        first_s, last_s = (_frozen(at_s, self._faults) for at_s in (span.first_s, span.last_s))
        return np.where(np.isnan(span.length_s), np.nan, self._carried(first_s, last_s))

    def _carried(self, from_s: Floats, until_s: Floats) -> Floats:
        """[M, N], anything where a moment is NaN."""
        until = self.plane.demand.carried_until
        carried: Floats = until(np.nan_to_num(until_s)) - until(np.nan_to_num(from_s))
        return carried

    def _rate(self, increase: Floats, span: Span) -> Floats:
        rate: Floats = increase / span.length_s * span.share
        if self._faults:
            rate = rate * (1 - self._lost_s(span) / span.length_s)
        return rate

    def _lost_s(self, span: Span) -> Floats:
        """How long counters counted between a scrape and the reset after it, which no sample shows."""
        lost_s = np.zeros_like(span.first_s)
        for fault, nodes in self._faults.of(FaultKind.COUNTER_RESET):
            if np.isnan(span.first_s).all():
                break
            begin_s, end_s = np.nanmin(span.first_s), min(np.nanmax(span.last_s), fault.until_s)
            first = max(0.0, np.floor((begin_s - fault.from_s) / fault.every_s))
            for reset_s in np.arange(fault.from_s + first * fault.every_s, end_s, fault.every_s):
                inside = nodes & (span.first_s < reset_s) & (reset_s <= span.last_s)
                lost_s += np.where(inside, reset_s - self.plane.scrapes.before(float(reset_s)), 0.0)
        return lost_s


def _frozen(at_s: Floats, faults: Faults) -> Floats:
    for kind in _REPEATED:
        at_s = _held(at_s, faults, kind)
    return at_s


def _held(at_s: Floats, faults: Faults, kind: FaultKind) -> Floats:
    """[N], the moment whose values a node shows at each moment."""
    for fault, nodes in faults.of(kind):
        at_s = np.where(nodes & (fault.from_s <= at_s) & (at_s < fault.until_s), fault.from_s, at_s)
    return at_s
