"""From stamps to figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Figures = dict[str, float]


def between(stamps_s: Sequence[float], low: float, high: float) -> float | None:
    """Per second, from one share of all to another; sorted stamps. None where that is no time.

    From the first to the last there is one interval less than there are stamps.
    """
    first, last = (round(share * (len(stamps_s) - 1)) for share in (low, high)) if stamps_s else (0, 0)
    if last <= first or stamps_s[last] <= stamps_s[first]:
        return None
    return (last - first) / (stamps_s[last] - stamps_s[first])


def percentile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that at least this share of all does not exceed (nearest rank)."""
    if not values:
        return None
    return sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]


def lag_s(bound_s: Sequence[float], told_s: Sequence[float], *, until_s: float = math.inf) -> float | None:
    """The longest that Events were behind, by count: the k-th after the k-th bind; both sorted.

    Args:
        until_s: one that was not there by then is that late at least.
    """
    behind = [told - bound for bound, told in zip(bound_s, told_s, strict=False)]
    missing = [until_s - bound for bound in bound_s[len(told_s) :] if until_s < math.inf]
    return max((*behind, *missing), default=None)


def per_second(stamps_s: Sequence[float], begin_s: float) -> list[int]:
    """How many in each second from the beginning."""
    if not stamps_s:
        return []
    counts = [0] * (int(stamps_s[-1] - begin_s) + 1)
    for stamp_s in stamps_s:
        counts[int(stamp_s - begin_s)] += 1
    return counts


def of_binds(bound_s: Sequence[float], *, seconds: float, expected: int = 0, started_s: float | None = None) -> Figures:
    """Args:
    bound_s: sorted.
    seconds: only what was bound so long after the first counts; 0: everything.
    expected: how many could be bound; where fewer are, the seconds count to their end, whenever the last bind was.
    started_s: when the scheduler was; None where it ran before the pods were there.
    """
    counted = [at_s for at_s in bound_s if not seconds or at_s <= bound_s[0] + seconds]
    whole = seconds if counted and len(counted) < expected else 0.0
    ended_s = counted[0] + whole if whole else max(counted, default=0.0)
    from_start = len(counted) / (ended_s - started_s) if counted and started_s is not None else None
    return present(
        {
            "bound": len(counted),
            "pods_per_s_10_90": _during(counted, 0.1, 0.9, whole) if whole else between(counted, 0.1, 0.9),
            "pods_per_s": _during(counted, 0.0, 1.0, whole) if whole else between(counted, 0.0, 1.0),
            "pods_per_s_from_start": from_start,
        }
    )


def _during(stamps_s: Sequence[float], low: float, high: float, seconds: float) -> float:
    """Per second, from one share of the seconds after the first stamp to another."""
    since_s, until_s = (stamps_s[0] + share * seconds for share in (low, high))
    return sum(since_s < at_s <= until_s for at_s in stamps_s) / (until_s - since_s)


def of_events(bound_s: Sequence[float], told_s: Sequence[float], *, ended_s: float) -> Figures:
    """Of the Events that say that a pod was scheduled; both sorted."""
    # The two come over two connections: an Event may be seen a moment before its bind.
    after_s = max(told_s[-1] - bound_s[-1], 0.0) if told_s and len(told_s) >= len(bound_s) else None
    return present(
        {
            "events_scheduled": len(told_s),
            "events_per_s": between(told_s, 0.0, 1.0),
            "last_event_after_last_bind_s": after_s,
            "event_lag_max_s": lag_s(bound_s, told_s, until_s=ended_s),
        }
    )


def of_waits(
    sent_s: Mapping[str, float], bound_s: Mapping[str, float], *, ended_s: float = math.inf, left: int = 0
) -> Figures:
    """From the moment at which a pod's creation was sent to its bind, as it was observed.

    Args:
        ended_s: a pod that was not bound by then has waited until then at least.
        left: so many can have no node, and do not count.
    """
    waits_s = [min(bound_s[pod], ended_s) - at_s for pod, at_s in sent_s.items() if pod in bound_s]
    if ended_s < math.inf:
        # Which of the unbound can have no node is not known: the shortest of their waits hides the least.
        waits_s += sorted(ended_s - at_s for pod, at_s in sent_s.items() if pod not in bound_s)[left:]
    return present(
        {
            "wait_p50_ms": _ms(percentile(waits_s, 0.5)),
            "wait_p99_ms": _ms(percentile(waits_s, 0.99)),
            "wait_max_ms": _ms(max(waits_s, default=None)),
            "created_per_s": between(sorted(sent_s.values()), 0.0, 1.0),
        }
    )


def present(figures: Mapping[str, float | None]) -> Figures:
    """What there is; a figure that could not be taken is absent, never zero."""
    return {name: value for name, value in figures.items() if value is not None}


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else 1000 * seconds
