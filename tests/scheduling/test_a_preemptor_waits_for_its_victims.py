"""From the decision to preempt until the pod runs on the node that was cleared for it."""

from __future__ import annotations

import itertools

from plimsoll.scheduling.decision import Bind, Preempt, Refuse
from tests.builders import PodBuilder, make_node, make_pod
from tests.scheduling.conftest import World, uid

LOW = make_pod("low").cpu("3").on("n1").started()


def _nodes(world: World, *names: str) -> None:
    world.nodes(*(make_node(name).offers(cpu="4") for name in names or ("n1",)))


def _high(name: str = "high", *, priority: int = 10, cpu: str = "3") -> PodBuilder:
    return make_pod(name).cpu(cpu).priority(priority)


def _preempts(world: World, pod: PodBuilder) -> Preempt:
    world.pending(pod)
    command = world.scheduler.next_command(now_s=world.now_s)
    assert isinstance(command, Preempt)
    assert command.pod.uid == uid(pod)
    return command


def _evicted(world: World, *victims: PodBuilder, preemptor: PodBuilder, failed: bool = False) -> None:
    for victim in victims:
        world.scheduler.victim_evicted(uid(victim), now_s=world.now_s)
    world.scheduler.preempted(uid(preemptor), failed=failed, now_s=world.now_s)


def test_a_pod_that_fits_nowhere_preempts(world: World) -> None:
    _nodes(world)
    world.assigned(LOW)
    command = _preempts(world, _high())
    assert [victim.name for victim in command.decision.victims] == ["low"]
    assert command.decision.nominated_node == "n1"
    assert command.decision.rejected_by == {"NodeResourcesFit"}


def test_it_is_not_tried_while_its_victims_are_being_evicted(world: World) -> None:
    _nodes(world)
    world.assigned(LOW)
    _preempts(world, _high())
    world.passes(20)
    world.nodes(make_node("n2").offers(cpu="4"))
    assert world.next() is None
    _evicted(world, LOW, preemptor=_high())
    decision = world.next()
    assert decision is not None
    assert decision.node == "n2"


def test_it_takes_its_place_once_its_victims_are_gone(world: World) -> None:
    _nodes(world)
    world.assigned(LOW)
    _preempts(world, _high())
    _evicted(world, LOW, preemptor=_high())
    assert world.next() is None
    world.passes(2)
    world.assigned_goes(LOW)
    decision = world.next()
    assert decision is not None
    assert decision.node == "n1"


def test_it_need_not_wait_out_its_backoff_once_its_victims_are_gone(world: World) -> None:
    _nodes(world)
    world.assigned(LOW)
    _preempts(world, _high())
    _evicted(world, LOW, preemptor=_high())
    world.assigned_goes(LOW)
    decision = world.next()
    assert decision is not None
    assert decision.node == "n1"


def test_victims_that_are_gone_before_the_evictions_are_through_are_not_missed(world: World) -> None:
    _nodes(world)
    world.assigned(LOW)
    _preempts(world, _high())
    world.assigned_goes(LOW)
    world.passes(2)
    assert world.next() is None
    _evicted(world, preemptor=_high())
    decision = world.next()
    assert decision is not None
    assert decision.node == "n1"


def test_it_preempts_nobody_else_while_its_victims_terminate(world: World) -> None:
    """Even where the watch has not shown yet that the victim is being deleted."""
    _nodes(world, "n1", "n2")
    small = make_pod("small").cpu("100m").on("n2").started()
    world.assigned(LOW, make_pod("other").cpu("3").priority(5).on("n2").started(), small)
    assert [victim.name for victim in _preempts(world, _high()).decision.victims] == ["low"]
    _evicted(world, LOW, preemptor=_high())
    world.passes(20)
    # It is asked to be smaller, which may help it, and is tried again: the other node has a victim as well.
    world.pending(_high(cpu="2"))
    command = world.scheduler.next_command(now_s=world.now_s)
    assert isinstance(command, Refuse)
    assert command.decision.after.endswith("not eligible due to a terminating pod on the nominated node.")
    assert world.nominated_to(_high()) == "n1"


def test_word_of_a_victim_from_before_its_deletion_does_not_let_it_preempt_again(world: World) -> None:
    """The victim's condition is written first; the watch may tell of it after the deletion has been answered."""
    _nodes(world, "n1", "n2")
    world.assigned(LOW, make_pod("other").cpu("3").priority(5).on("n2").started())
    assert [victim.name for victim in _preempts(world, _high()).decision.victims] == ["low"]
    _evicted(world, LOW, preemptor=_high())
    said = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    world.assigned(make_pod("low").cpu("3").on("n1").started().status(conditions=[said]))
    world.passes(20)
    world.pending(_high(cpu="2"))
    command = world.scheduler.next_command(now_s=world.now_s)
    assert isinstance(command, Refuse)
    assert command.decision.after.endswith("not eligible due to a terminating pod on the nominated node.")
    world.assigned_goes(LOW)
    decision = world.next()
    assert decision is not None
    assert decision.node == "n1"


def test_evictions_that_fail_each_time_are_tried_once_in_each_backoff(world: World) -> None:
    """As where a webhook denies the deletion."""
    _nodes(world)
    world.assigned(LOW)
    _preempts(world, _high())
    _evicted(world, preemptor=_high(), failed=True)
    preempted_s = [world.now_s]
    while len(preempted_s) < 6:
        world.passes(0.5)
        if (command := world.scheduler.next_command(now_s=world.now_s)) is not None:
            assert isinstance(command, Preempt)
            preempted_s.append(world.now_s)
            _evicted(world, preemptor=_high(), failed=True)
    assert [later - earlier for earlier, later in itertools.pairwise(preempted_s)] == [1, 2, 4, 8, 10]


def test_room_that_others_take_each_time_costs_one_victim_in_each_backoff(world: World) -> None:
    """As where another scheduler fills the node again before we look."""
    _nodes(world)
    victim = LOW
    world.assigned(victim)
    world.pending(_high())
    preempted_s = []
    for turn in range(300):
        if (command := world.scheduler.next_command(now_s=world.now_s)) is not None:
            assert isinstance(command, Preempt)
            preempted_s.append(world.now_s)
            _evicted(world, victim, preemptor=_high())
            world.assigned_goes(victim)
            victim = make_pod(f"refilled-{turn}").cpu("3").on("n1").started()
            world.assigned(victim)
        world.passes(0.1)
    assert [round(later - earlier) for earlier, later in itertools.pairwise(preempted_s)] == [1, 3, 5, 9, 11]


def test_a_pod_is_tried_on_its_nominated_node_first(world: World) -> None:
    _nodes(world)
    world.assigned(LOW)
    _preempts(world, _high())
    _evicted(world, LOW, preemptor=_high())
    world.passes(20)
    world.assigned_goes(LOW)
    world.nodes(make_node("n0").offers(cpu="64", memory="1000Gi"))
    decision = world.next()
    assert decision is not None
    assert (decision.node, decision.feasible) == ("n1", 1)


def test_nobody_of_no_higher_priority_takes_the_room_that_is_kept(world: World) -> None:
    _nodes(world)
    world.assigned(LOW)
    _preempts(world, _high())
    world.assigned_goes(LOW)
    world.pending(_high("equal"), _high("thief", priority=9))
    for _ in range(2):
        command = world.scheduler.next_command(now_s=world.now_s)
        assert isinstance(command, Refuse)
    higher = _high("higher", priority=11)
    assert world.decide(higher).node == "n1"


def test_a_deleted_preemptor_gives_its_room_to_those_who_wait(world: World) -> None:
    _nodes(world)
    world.assigned(LOW)
    _preempts(world, _high())
    world.assigned_goes(LOW)
    assert world.decide(_high("next", priority=9)).node == ""
    world.passes(2)
    world.pending_goes(_high())
    decision = world.next()
    assert decision is not None
    assert (decision.pod.name, decision.node) == ("next", "n1")


def test_a_preemptor_that_finds_another_place_gives_its_room_to_those_who_wait(world: World) -> None:
    _nodes(world)
    world.assigned(LOW)
    _preempts(world, _high())
    _evicted(world, preemptor=_high())
    assert world.decide(_high("next", priority=9)).node == ""
    world.passes(20)
    world.nodes(make_node("n2").offers(cpu="3"))
    first = world.next()
    assert first is not None
    assert (first.pod.name, first.node) == ("high", "n2")
    world.bound(_high())
    world.assigned_goes(LOW)
    second = world.next()
    assert second is not None
    assert (second.pod.name, second.node) == ("next", "n1")


def test_pods_of_lower_priority_lose_their_nomination_to_the_node(world: World) -> None:
    _nodes(world)
    world.assigned(LOW)
    _preempts(world, _high())
    _evicted(world, preemptor=_high())
    command = _preempts(world, _high("higher", priority=11))
    assert [pod.name for pod in command.displaced] == ["high"]
    assert world.nominated_to(_high()) == ""
    assert world.nominated_to(_high("higher")) == "n1"


def test_a_pod_that_nothing_helps_loses_its_nomination(world: World) -> None:
    _nodes(world)
    world.assigned(LOW)
    _preempts(world, _high())
    _evicted(world, LOW, preemptor=_high())
    world.passes(20)
    world.assigned(make_pod("guard").cpu("3").priority(20).on("n1").started())
    world.assigned_goes(LOW)
    decision = world.next()
    assert decision is not None
    assert (decision.node, decision.nominated_node) == ("", "")
    assert world.nominated_to(_high()) == ""


def test_a_nomination_from_before_a_restart_keeps_its_room(world: World) -> None:
    _nodes(world)
    nominated = _high().status(nominatedNodeName="n1")
    world.pending(nominated)
    world.pending(_high("thief", priority=20, cpu="1"))
    thief = world.next()
    assert thief is not None
    assert thief.pod.name == "thief"
    assert world.nominated_to(_high()) == "n1"


def test_nominations_of_other_schedulers_do_not_count(world: World) -> None:
    _nodes(world)
    world.pending(_high().status(nominatedNodeName="n1").spec(schedulerName="default-scheduler"))
    assert world.nominated_to(_high()) == ""


def test_victims_that_are_all_terminating_need_no_further_call(world: World) -> None:
    _nodes(world)
    world.assigned(make_pod("low").cpu("3").on("n1").started().deleting())
    world.pending(_high())
    command = world.scheduler.next_command(now_s=world.now_s)
    assert isinstance(command, Refuse)
    assert command.decision.nominated_node == "n1"
    assert world.nominated_to(_high()) == "n1"


def test_a_pod_of_equal_priority_waits_without_harm_to_anybody(world: World) -> None:
    _nodes(world)
    world.assigned(LOW)
    world.pending(_high("equal", priority=0))
    command = world.scheduler.next_command(now_s=world.now_s)
    assert isinstance(command, Refuse)
    assert not isinstance(command, Bind)


def test_it_preempts_an_assumed_victim_once(world: World) -> None:
    """Whose Binding was taken back, or crossed the deletion: until that is settled it holds its room, and gives way."""
    _nodes(world)
    world.pending(make_pod("low").cpu("3"))
    assert isinstance(world.scheduler.next_command(now_s=world.now_s), Bind)
    _preempts(world, _high())
    _evicted(world, LOW, preemptor=_high())
    world.passes(20)
    # Something that may help it, so that it is tried again.
    world.pending(_high(cpu="2"))
    command = world.scheduler.next_command(now_s=world.now_s)
    assert isinstance(command, Refuse)
    assert command.decision.after.endswith("not eligible due to a terminating pod on the nominated node.")
    world.scheduler.bind_failed(uid(LOW), retry=True, now_s=world.now_s)
    world.passes(20)
    decision = world.next()
    assert decision is not None
    assert (decision.pod.name, decision.node) == ("high", "n1")
