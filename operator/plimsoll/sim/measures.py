"""What a replay is judged by: each measure's name, unit, and which way is better."""

from __future__ import annotations

import enum
from typing import NamedTuple


class Better(enum.Enum):
    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"  # told so that others can be judged: who places less looks better


class Measure(NamedTuple):
    """Attributes:
    key: in scorecards.
    unit: ``%``, ``s`` or nothing.
    """

    key: str
    title: str
    unit: str = "%"
    better: Better = Better.LOWER


# Network is the larger of both directions, except for unserved demand, where each counts by itself.
RESOURCES = ("cpu", "memory", "network")

UNSERVED = tuple(
    Measure(f"unserved_{name}", f"unserved {name}", "%") for name in ("cpu", "memory", "receive", "transmit")
)
HOT = Measure("hot", "hot node-minutes")
HOT_OF = tuple(Measure(f"hot_{name}", f"hot by {name}") for name in RESOURCES)
OVER = Measure("over", "node-minutes over capacity")
OVER_OF = tuple(
    Measure(f"over_{name}", "memory over capacity (OOM)" if name == "memory" else f"{name} over capacity")
    for name in RESOURCES
)

PRIMARY = (*UNSERVED, HOT)
MEASURES = (
    *PRIMARY,
    *HOT_OF,
    OVER,
    *OVER_OF,
    Measure("fullest", "fullest node, mean over time"),
    Measure("p99", "99th percentile of node utilisation"),
    *(Measure(f"stddev_{name}", f"standard deviation over nodes, {name}") for name in RESOURCES),
    *(Measure(f"jain_{name}", f"Jain's index, {name}", "", Better.HIGHER) for name in RESOURCES),
    Measure("siblings", "replicas beside one of their own"),
    Measure("herd", "largest share of a burst on one node"),
    Measure("wait", "wait for a node, mean", "s"),
    Measure("unplaced", "pods never placed", ""),
    *(Measure(f"mean_{name}", f"mean utilisation, {name}", "%", Better.NEITHER) for name in RESOURCES),
)
BY_KEY = {measure.key: measure for measure in MEASURES}
