"""The scenarios that quality is judged by, as data."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.sim.scenario import HOUR_S, Arrivals, Fault, FaultKind, Machines, Scenario, Workloads

_TO_THE_END_S = float("inf")
_ALL_S = 7 * HOUR_S
_OUTAGES_H = ((3.0, 1 / 6), (4.5, 1 / 6), (6.0, 3.0), (11.0, 1 / 6))


def _spreading(kind: FaultKind) -> tuple[Fault, ...]:
    """Half of the nodes have it, and from some moment on the others as well."""
    return Fault(kind, share=0.5), Fault(kind, from_s=_ALL_S)


_PLAIN = (
    Scenario("services", "Rollouts of services, which kube-scheduler spreads by default"),
    Scenario("jobs", "Rollouts of jobs, which nobody spreads by default", workloads=Workloads.JOBS),
    Scenario("singles", "Pods that come one by one", arrivals=Arrivals.SINGLE),
    Scenario("mixed", "Rollouts, half of services and half of jobs", workloads=Workloads.MIXED),
    Scenario(
        "slow-metrics",
        "Exporters are scraped every minute, and samples are seen every three minutes only",
        scrape_s=60.0,
        publish_s=180.0,
    ),
    Scenario("network-bound", "Network runs short before CPU and memory do", cpu=0.25, memory=0.2, network=0.5),
    Scenario("best-effort", "No pod requests anything", best_effort=1.0),
    Scenario("heterogeneous", "Nodes of many sizes, as recorded in a real cluster", machines=Machines.RECORDED),
    Scenario("bursts", "Arrivals and lives as recorded in a real cluster", arrivals=Arrivals.RECORDED),
    Scenario("node-added", "Three empty nodes are added, half an hour apart", joins=3),
    Scenario("drain", "Three nodes are drained, half an hour apart, and their pods come anew", drains=3),
)

_WRONG = (
    Scenario(
        "outage",
        "The metrics source does not answer, three times for ten minutes and once for three hours",
        faults=tuple(
            Fault(FaultKind.OUTAGE, from_s=begin * HOUR_S, until_s=(begin + length) * HOUR_S)
            for begin, length in _OUTAGES_H
        ),
    ),
    Scenario(
        "dark",
        "From the third hour on no exporter answers any more",
        faults=(Fault(FaultKind.DARK, until_s=_TO_THE_END_S),),
    ),
    Scenario(
        "one-dark",
        "One node's exporter stops answering",
        faults=(Fault(FaultKind.DARK, until_s=_TO_THE_END_S, share=0.0),),
    ),
    Scenario("nan", "The values of half of the exporters, later of all, are NaN", faults=_spreading(FaultKind.NAN)),
    Scenario(
        "counter-reset",
        "On half of the nodes, later on all, counters begin at 0 again every three minutes",
        faults=(
            Fault(FaultKind.COUNTER_RESET, until_s=_ALL_S, share=0.5),
            Fault(FaultKind.COUNTER_RESET, from_s=_ALL_S),
        ),
    ),
    Scenario(
        "renamed-device",
        "On half of the nodes, later on all, the traffic moves to a device that the policy does not know",
        faults=_spreading(FaultKind.RENAMED_DEVICE),
    ),
    Scenario(
        "frozen",
        "Half of the exporters, later all, repeat their last values, while their clocks go on",
        faults=_spreading(FaultKind.FROZEN),
    ),
    Scenario(
        "stuck",
        "Half of the exporters, later all, repeat their last values, those of their clocks too",
        faults=_spreading(FaultKind.STUCK),
    ),
    Scenario(
        "skewed-clock",
        "The source's clock is four minutes ahead, later behind, and so are the exporters' by turns",
        faults=(Fault(FaultKind.SKEWED_CLOCK),),
    ),
)

SCENARIOS: Mapping[str, Scenario] = {scenario.name: scenario for scenario in (*_PLAIN, *_WRONG)}
