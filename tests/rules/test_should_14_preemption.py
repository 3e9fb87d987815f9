from __future__ import annotations

from typing import Any

import pytest

from plimsoll.kube.client import ApiClient
from plimsoll.kube.eviction import Eviction, Evictor
from plimsoll.scheduling.decision import Preempt
from tests.builders import PodBuilder, make_node, make_pod
from tests.kube.api_server import ApiServer
from tests.rules.asking import cluster, fits, sentence, shown
from tests.scheduling.conftest import World

LOW = "/api/v1/namespaces/default/pods/low"


def low(name: str = "low", node: str = "n1", **labels: str) -> PodBuilder:
    return make_pod(name).cpu("1").on(node).started().labels(**labels)


def high(**spec: Any) -> PodBuilder:
    return make_pod("high").cpu("1").priority(10).spec(**spec)


def full(*pods: PodBuilder) -> World:
    """Nodes of one core, each of which a pod has."""
    there = pods or (low(),)
    return cluster(*(make_node(f"n{i + 1}").offers(cpu="1") for i in range(len(there))), pods=there)


def preempts(world: World, pod: PodBuilder) -> Preempt:
    world.pending(pod)
    command = world.scheduler.next_command(now_s=world.now_s)
    assert isinstance(command, Preempt), command
    return command


def test_pods_of_lower_priority_give_way_on_one_node() -> None:
    decision = preempts(full(), high()).decision
    assert ([victim.name for victim in decision.victims], decision.nominated_node) == (["low"], "n1")


@pytest.mark.parametrize(
    ("pod", "why"),
    [
        pytest.param(high(preemptionPolicy="Never"), "not eligible due to preemptionPolicy=Never.", id="Never"),
        pytest.param(high().priority(0), "No preemption victims found for incoming pod.", id="of equal priority"),
    ],
)
def test_nobody_gives_way_to_a_pod(pod: PodBuilder, why: str) -> None:
    world = full()
    assert world.decide(pod).victims == ()
    assert why in sentence(world, pod)


def test_no_more_pods_go_than_must() -> None:
    small = [make_pod(name).cpu("500m").on("n1").priority(i) for i, name in enumerate(("lowest", "low"))]
    world = cluster(make_node("n1").offers(cpu="1"), pods=small)
    assert [victim.name for victim in preempts(world, high().cpu("500m")).decision.victims] == ["lowest"]


def test_a_disruption_budget_is_kept_where_there_is_another_way() -> None:
    world = full(low("guarded", "n1", app="x"), low("free", "n2"))
    budget = {
        "kind": "PodDisruptionBudget",
        "metadata": {"namespace": "default", "name": "b"},
        "spec": {"selector": {"matchLabels": {"app": "x"}}},
        "status": {"disruptionsAllowed": 0},
    }
    shown(world, budget)
    assert [victim.name for victim in preempts(world, high()).decision.victims] == ["free"]


def test_the_cheapest_victim_goes() -> None:
    world = full(low("dear", "n1").priority(5), low("cheap", "n2").priority(1))
    assert [victim.name for victim in preempts(world, high()).decision.victims] == ["cheap"]


def test_the_room_is_kept_for_the_pod_that_it_was_made_for() -> None:
    world = full()
    preempts(world, high())
    world.assigned_goes(low())
    assert fits(world, make_pod("rival").cpu("1").priority(9)) == set()
    assert fits(world, make_pod("higher").cpu("1").priority(11)) == {"n1"}
    world.scheduler.preempted(high().info().uid, failed=False, now_s=world.now_s)
    world.passes(10)
    decision = world.next()
    assert decision is not None
    assert (decision.pod.name, decision.node) == ("high", "n1")


def test_nobody_else_is_preempted_while_the_victims_terminate() -> None:
    world = full(low("first", "n1"), low("second", "n2"))
    command = preempts(world, high())
    (victim,) = command.decision.victims
    world.scheduler.victim_evicted(victim.uid, now_s=world.now_s)
    world.scheduler.preempted(high().info().uid, failed=False, now_s=world.now_s)
    assert "not eligible due to a terminating pod on the nominated node." in sentence(world, high())


async def test_a_victim_is_told_why_before_it_is_deleted(server: ApiServer, client: ApiClient) -> None:
    await server.put(LOW, low().obj())
    evictor = Evictor(client, scheduler_name="plimsoll", may_write=lambda: True, timeout_s=1.0)
    assert await evictor.evict(low().info()) is Eviction.EVICTED
    assert server.requests == [f"PATCH {LOW}/status", f"DELETE {LOW}"]
    (patch,) = server.sent("PATCH")
    (condition,) = patch["status"]["conditions"]
    assert (condition["type"], condition["reason"]) == ("DisruptionTarget", "PreemptionByScheduler")
    assert server.sent("DELETE") == [
        {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "uid-default-low"}}
    ]
