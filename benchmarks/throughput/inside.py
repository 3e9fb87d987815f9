"""What schedulers say of themselves: how long decisions take, and how long the loop stood still."""

from __future__ import annotations

import re

from benchmarks.throughput.exposition import buckets, largest_above, percentile, total
from benchmarks.throughput.rates import Figures, present

# The first that is there: thread CPU time of a decision, else its wall time.
_DECISIONS = (
    "plimsoll_scheduling_decision_cpu_seconds",
    "plimsoll_scheduling_algorithm_duration_seconds",
    "scheduler_scheduling_algorithm_duration_seconds",
)
# The others tried preemption, too, on copies of nodes.
_PLACED = "scheduled"
_STALL = "plimsoll_loop_stall_seconds"
_LONGEST = re.compile(r"^plimsoll_(loop_longest_\w+)_seconds (\S+)", re.MULTILINE)


def of_metrics(text: str) -> Figures:
    """Of one exposition; empty for none."""
    decisions = next((name for name in _DECISIONS if buckets(text, name)), _DECISIONS[-1])
    placed = buckets(text, decisions, result=_PLACED) or buckets(text, decisions)
    others = buckets(text, decisions, but={"result": _PLACED}) if buckets(text, decisions, result=_PLACED) else {}
    return present(
        {
            "decision_p50_ms": _ms(percentile(placed, 0.5)),
            "decision_p99_ms": _ms(percentile(placed, 0.99)),
            "decision_refused_p99_ms": _ms(percentile(others, 0.99)),
            "loop_stall_above_ms": _ms(largest_above(buckets(text, _STALL))),
            "decisions_without_metrics": total(text, "plimsoll_load_fallback_total"),
            "nodes_with_metrics": total(text, "plimsoll_load_nodes", state="fresh"),
            "events_dropped": total(text, "plimsoll_events_dropped_total"),
            **{f"{name}_ms": _ms(float(value)) for name, value in _LONGEST.findall(text)},
        }
    )


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else 1000 * seconds
