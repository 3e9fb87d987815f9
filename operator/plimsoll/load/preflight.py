"""What a try of a policy's queries found, as values: what each came to, and what is wrong with it.

Measured numbers in sentences stand behind the word "about": they tremble from refresh to refresh, and a status is
not written for that. Examples are the first by name, for the same reason.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class FindingKind(enum.StrEnum):
    QUERY_FAILED = "QueryFailed"
    NODES_WITHOUT_SERIES = "NodesWithoutSeries"
    DEVICE_NOT_ON_ALL_NODES = "DeviceNotOnAllNodes"
    AMBIGUOUS_SERIES = "AmbiguousSeries"
    IMPOSSIBLE_VALUES = "ImpossibleValues"
    ALL_ZERO = "AllZero"
    OUTSIDE_SCALE = "OutsideScale"
    CAPACITY_ASSUMED = "CapacityAssumed"
    TOO_FEW_SAMPLES = "TooFewSamples"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong.

    Attributes:
        text: sentences that say what is wrong and what to do.
        metric: that it is about; "" for the source as a whole.
    """

    kind: FindingKind
    text: str
    metric: str = ""


@dataclass(frozen=True, slots=True)
class Tried:
    """What one metric's query came to.

    Attributes:
        series: how many there are, those of nodes that the policy does not select included.
        nodes: how many of the policy's nodes have one; ``of_nodes`` is how many it selects.
        example: one of them with its value, e.g. ``eth0 of node-1 at about 12 %``; "" where no value can be used.
        unmapped: how many series name no known node.
        unmapped_example: one of them.
    """

    metric: str
    series: int
    nodes: int
    of_nodes: int
    example: str = ""
    unmapped: int = 0
    unmapped_example: str = ""


@dataclass(frozen=True, slots=True)
class Preflight:
    """One refresh seen as a try.

    Attributes:
        findings: in the order of the policy's metrics, those of the source as a whole last.
        tried: of each metric that was answered.
        beyond: metric and node of each value that is out of range; it stays so until it is clearly back in.
            With node "" it is the metric as a whole.
    """

    findings: tuple[Finding, ...] = ()
    tried: tuple[Tried, ...] = ()
    beyond: frozenset[tuple[str, str]] = frozenset()


def about(value: float, unit: str = "") -> str:
    """``about 12 %``: two digits are enough for people, and the word marks what may tremble."""
    return f"about {float(f'{value:.2g}'):.12g}{unit}"


def some(names: list[str], *, at_most: int = 8) -> str:
    """``a, b and 3 more``."""
    shown = ", ".join(names[:at_most])
    return f"{shown} and {len(names) - at_most} more" if len(names) > at_most else shown
