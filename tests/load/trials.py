"""What tries of policies are made of."""

from __future__ import annotations

from plimsoll.load.preflight import Finding, FindingKind, Preflight
from tests.builders import NodeBuilder, make_node
from tests.load.answers import Answering

LONG_AGO, JUST_NOW = "2023-01-01T00:00:00Z", "2023-11-14T22:13:00Z"


def nodes(*names: str) -> list[NodeBuilder]:
    """Old enough to have readings."""
    return [make_node(name).metadata(creationTimestamp=LONG_AGO) for name in names]


def many(count: int) -> list[NodeBuilder]:
    return nodes(*(f"node-{i}" for i in range(1, count + 1)))


def carrying(rate_bytes_s: float, *names: str, speed_bytes_s: float = 1250e6, **more: float) -> Answering:
    """Each receives and sends as much by eth0."""
    answering = Answering()
    rates = {"eth0": rate_bytes_s}
    for name in names:
        answering.target(name, receive=rates, transmit=rates, speed={"eth0": speed_bytes_s}, **more)
    return answering


def only(preflight: Preflight) -> Finding:
    (finding,) = preflight.findings
    return finding


def kinds(preflight: Preflight) -> list[FindingKind]:
    return [finding.kind for finding in preflight.findings]
