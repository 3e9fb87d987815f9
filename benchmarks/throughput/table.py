"""What `make bench` plays."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.throughput.case import Case, Mode
from benchmarks.throughput.contenders import BINDS, BINDS_EVENTS, KUBE, KUBE_DEFAULT, PLIMSOLL
from benchmarks.throughput.workloads import WORKLOADS

NODES, PAIRS, WORKLOAD_PAIRS = 5000, 5, 3
BASIC = "basic"
BOTH = (PLIMSOLL, KUBE)
WARM_PODS = 200


def cases() -> Iterator[Case]:
    """The most important ones first."""
    yield _basic("basic", pods=10_000, contenders=(*BOTH, BINDS, BINDS_EVENTS))
    yield _basic("first 60 s", pods=30_000, seconds=60)
    yield _basic("steady 200 pods/s", pods=12_000, mode=Mode.STEADY, rate=200, warm=WARM_PODS)
    yield _basic("arriving", pods=10_000, mode=Mode.ARRIVING, warm=WARM_PODS)
    yield _basic("coldstart", pods=100, assigned=50_000, mode=Mode.COLDSTART)
    for name in WORKLOADS:
        if name != BASIC:
            yield Case(name=name, workload=name, nodes=NODES, pods=2000, pairs=WORKLOAD_PAIRS, contenders=BOTH)
    yield _basic("default limits", pods=2000, contenders=(PLIMSOLL, KUBE_DEFAULT), pairs=WORKLOAD_PAIRS)


def _basic(
    name: str,
    *,
    pods: int,
    contenders: tuple[str, ...] = BOTH,
    pairs: int = PAIRS,
    mode: Mode = Mode.BURST,
    rate: float = 0.0,
    seconds: float = 0.0,
    assigned: int = 0,
    warm: int = 0,
) -> Case:
    return Case(
        name=name,
        workload=BASIC,
        nodes=NODES,
        pods=pods,
        pairs=pairs,
        contenders=contenders,
        mode=mode,
        rate=rate,
        seconds=seconds,
        assigned=assigned,
        warm=warm,
    )
