"""How often the samples come, against the window that they are averaged over."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median_low

from plimsoll.load.preflight import Finding, FindingKind
from plimsoll.load.promql import duration
from plimsoll.policy.compiled import Policy

# A rate over fewer tells the phase of the scrapes more than the load.
_LEAST_SAMPLES = 4
_USUAL_S = (1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 300)
# A missed scrape now and then must not look like another interval.
_CLOSE = 0.1
_LONGEST_S = 86_400.0


def scrape_interval_s(intervals_s: Iterable[float]) -> float | None:
    """That of most targets, as somebody would have written it; None where nothing is known.

    The median, as what was down for a while, or had its clock set, seems to be scraped at odd intervals.
    """
    known = [interval_s for interval_s in intervals_s if 0 < interval_s <= _LONGEST_S]
    if not known:
        return None
    middle_s = median_low(known)
    usual_s = min(_USUAL_S, key=lambda usual: abs(usual - middle_s))
    return float(usual_s if abs(usual_s - middle_s) <= _CLOSE * usual_s else max(1, round(middle_s)))


def too_rare(policy: Policy, interval_s: float | None) -> Finding | None:
    """Of node-exporter's scrapes."""
    if interval_s is None or _LEAST_SAMPLES * interval_s <= policy.time_range_s:
        return None
    samples = int(policy.time_range_s // interval_s)
    often = duration(policy.time_range_s // _LEAST_SAMPLES)
    text = (
        f"node-exporter is scraped every {duration(interval_s)}, so that spec.timeRange {duration(policy.time_range_s)}"
        f" holds {samples} sample{'' if samples == 1 else 's'}: set spec.timeRange to"
        f" {duration(_LEAST_SAMPLES * interval_s)} or more, or scrape every {often} or more often."
    )
    return Finding(FindingKind.TOO_FEW_SAMPLES, text)


def too_slow(policy: Policy, windows_s: Iterable[float]) -> Finding | None:
    """Of metrics-server, which averages over the time between its own two scrapes."""
    window_s = scrape_interval_s(windows_s)
    if window_s is None or window_s <= policy.time_range_s:
        return None
    text = (
        f"metrics-server averages over {duration(window_s)}, longer than spec.timeRange"
        f" {duration(policy.time_range_s)}: set spec.timeRange to {duration(window_s)} or more, or metrics-server's"
        f" --metric-resolution to {duration(policy.time_range_s)} or less."
    )
    return Finding(FindingKind.TOO_FEW_SAMPLES, text)
