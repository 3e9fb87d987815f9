from __future__ import annotations

import pytest

from plimsoll.scheduling.decision import Bind, Outcome, Refuse
from tests.builders import NOW_S, PodBuilder, make_node, make_pod, make_policy
from tests.scheduling.conftest import World, uid

FULL = {"cpu": "16"}


@pytest.fixture
def one(world: World) -> World:
    world.nodes(make_node("n1"))
    return world


def web(cpu: str = "16") -> PodBuilder:
    return make_pod("web").cpu(cpu)


def decision_on(pod: PodBuilder, node: str, policy: str) -> PodBuilder:
    return pod.annotate("plimsoll.dev/decision", f'{{"policy": "{policy}"}}').on(node)


# -- commands -----------------------------------------------------------------------------------------------


def test_a_pod_that_fits_is_to_be_bound(one: World) -> None:
    one.pending(web())
    command = one.scheduler.next_command(now_s=one.now_s)
    assert isinstance(command, Bind)
    assert (command.pod, command.decision.node) == (web().info(), "n1")
    assert one.scheduler.next_command(now_s=one.now_s) is None
    assert one.scheduler.wake_at_s() is None


def test_a_pod_that_does_not_is_refused_and_waits(one: World) -> None:
    one.pending(web("17"))
    command = one.scheduler.next_command(now_s=one.now_s)
    assert isinstance(command, Refuse)
    assert command.decision.outcome is Outcome.UNSCHEDULABLE
    assert one.queued() == {"unschedulable": 1}
    assert one.next() is None


def test_the_next_pod_sees_what_is_assumed(one: World) -> None:
    assert one.decide(web()).node == "n1"
    assert one.decide(make_pod().cpu("1m")).rejected_by == {"NodeResourcesFit"}


def test_higher_priorities_are_placed_first(one: World) -> None:
    one.pending(make_pod("low").cpu("9"), make_pod("high").cpu("9").priority(10))
    first, second = one.next(), one.next()
    assert first is not None
    assert second is not None
    assert [(d.pod.name, d.node) for d in (first, second)] == [("high", "n1"), ("low", "")]


# -- who is taken ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param(web().spec(schedulerName="default-scheduler"), id="of another scheduler"),
        pytest.param(web().phase("Failed"), id="ended"),
        pytest.param(web().on("n1"), id="assigned"),
    ],
)
def test_a_pod_that_is_not_for_us_is_left_alone(one: World, pod: PodBuilder) -> None:
    one.pending(pod)
    assert one.next() is None
    one.pending(web())
    one.pending(pod)
    assert one.next() is None
    assert one.queued() == {}


def test_a_gated_pod_waits_for_its_gates_without_being_refused(one: World) -> None:
    one.pending(web().gated("x"))
    assert one.next() is None
    assert one.queued() == {"gated": 1}
    assert one.decide(web()).node == "n1"


def test_a_pod_that_is_deleted_while_it_waits_is_not_tried(one: World) -> None:
    one.pending(web())
    one.pending_goes(web())
    assert one.next() is None


def test_a_pod_that_somebody_else_bound_is_not_tried(one: World) -> None:
    one.pending(web())
    one.assigned(web().on("n1"))
    assert one.next() is None
    assert one.queued() == {}


def test_old_news_of_a_pod_that_is_being_bound_is_dropped(one: World) -> None:
    one.decide(web())
    one.pending(web().metadata(resourceVersion="2"))
    one.pending(web().labels(new="label"))
    assert one.queued() == {}
    assert one.next() is None


def test_so_it_is_of_a_pod_that_is_assigned(one: World) -> None:
    one.assigned(web().on("n1"))
    one.pending(web())
    assert one.queued() == {}


# -- what becomes of a Binding ----------------------------------------------------------------------------------


def test_a_bound_pod_keeps_its_room_and_is_not_tried_again(one: World) -> None:
    one.places(web())
    one.passes(3600)
    assert one.next() is None
    one.assigned(web().on("n1"))
    assert [pod.key for pod in one.scheduler.pods()] == ["default/web"]
    assert one.decide(make_pod().cpu("1")).node == ""


def test_the_watch_may_confirm_before_the_answer_comes(one: World) -> None:
    one.decide(web())
    one.assigned(web().on("n1"))
    one.bound(web())
    one.scheduler.assigned_pods_listed([], listed_at_s=one.now_s + 10, now_s=one.now_s + 10)
    assert [pod.key for pod in one.scheduler.pods()] == ["default/web"]


def test_a_binding_that_failed_frees_the_room_and_is_tried_again_after_its_backoff(one: World) -> None:
    one.decide(web())
    one.bind_failed(web(), retry=True)
    assert list(one.scheduler.pods()) == []
    assert one.queued() == {"backoff": 1}
    assert one.scheduler.wake_at_s() == one.now_s + 1
    assert one.next() is None
    one.passes(1)
    again = one.next()
    assert again is not None
    assert again.node == "n1"


def test_backoff_grows_with_every_binding_that_fails(one: World) -> None:
    one.pending(web())
    waits = []
    for _ in range(6):
        assert one.next() is not None
        one.bind_failed(web(), retry=True)
        due_s = one.scheduler.wake_at_s()
        assert due_s is not None
        waits.append(due_s - one.now_s)
        one.now_s = due_s
    assert waits == [1, 2, 4, 8, 10, 10]


def test_a_binding_for_a_pod_that_is_gone_is_not_tried_again(one: World) -> None:
    one.decide(web())
    one.bind_failed(web(), retry=False)
    one.passes(3600)
    assert one.queued() == {}
    assert one.next() is None
    assert list(one.scheduler.pods()) == []


@pytest.mark.parametrize("retry", [True, False])
def test_a_binding_that_failed_wakes_those_who_waited_for_room(one: World, retry: bool) -> None:  # noqa: FBT001
    one.decide(web())
    one.decide(make_pod("other").cpu("8"))
    one.passes(20)
    one.bind_failed(web(), retry=retry)
    woken = one.next()
    assert woken is not None
    assert (woken.pod.name, woken.node) == ("other", "n1")


def test_an_answer_that_contradicts_the_watch_is_not_believed(one: World) -> None:
    """The Binding timed out and had succeeded all the same."""
    one.decide(web())
    one.assigned(web().on("n1"))
    one.bind_failed(web(), retry=True)
    assert [pod.key for pod in one.scheduler.pods()] == ["default/web"]
    assert one.queued() == {}


def test_answers_about_pods_that_nobody_binds_are_nothing(one: World) -> None:
    one.bound(web())
    one.bind_failed(web(), retry=True)
    assert one.queued() == {}


def test_a_pod_that_goes_while_it_is_bound_is_gone(one: World) -> None:
    one.decide(web())
    one.pending_goes(web())
    one.assigned(web().on("n1"))
    one.assigned_goes(web())
    one.bound(web())
    assert list(one.scheduler.pods()) == []
    assert one.decide(make_pod().cpu("16")).node == "n1"


def test_a_pod_that_turns_out_to_be_elsewhere_frees_the_room_that_was_assumed(one: World) -> None:
    one.decide(web())
    one.decide(make_pod("other").cpu("8"))
    one.nodes(make_node("n2").cordoned())
    one.passes(20)
    one.assigned(web().on("n2"))
    one.bind_failed(web(), retry=False)
    woken = one.next()
    assert woken is not None
    assert (woken.pod.name, woken.node) == ("other", "n1")
    assert {pod.name: pod.node for pod in one.scheduler.pods()} == {"web": "n2", "other": "n1"}


# -- after a relist -----------------------------------------------------------------------------------------------


def test_a_bound_pod_that_is_missing_from_a_later_list_is_gone(one: World) -> None:
    one.places(web())
    one.decide(make_pod("other").cpu("8"))
    one.passes(20)
    one.scheduler.assigned_pods_listed([], listed_at_s=one.now_s, now_s=one.now_s)
    woken = one.next()
    assert woken is not None
    assert (woken.pod.name, woken.node) == ("other", "n1")
    assert [pod.name for pod in one.scheduler.pods()] == ["other"]


def test_what_the_watch_has_confirmed_is_the_watchs_to_end(one: World) -> None:
    one.places(web())
    one.assigned(web().on("n1"))
    one.passes(20)
    one.scheduler.assigned_pods_listed([], listed_at_s=one.now_s, now_s=one.now_s)
    assert [pod.name for pod in one.scheduler.pods()] == ["web"]


def test_one_that_is_in_the_list_is_not(one: World) -> None:
    one.places(web())
    one.passes(1)
    one.scheduler.assigned_pods_listed([uid(web())], listed_at_s=one.now_s, now_s=one.now_s)
    assert [pod.name for pod in one.scheduler.pods()] == ["web"]


def test_nor_is_one_that_was_bound_after_the_list_was_asked_for(one: World) -> None:
    one.places(web())
    one.scheduler.assigned_pods_listed([], listed_at_s=one.now_s - 0.1, now_s=one.now_s + 1)
    assert [pod.name for pod in one.scheduler.pods()] == ["web"]


def test_nor_is_one_whose_binding_is_still_under_way(one: World) -> None:
    one.decide(web())
    one.scheduler.assigned_pods_listed([], listed_at_s=one.now_s + 5, now_s=one.now_s + 5)
    assert [pod.name for pod in one.scheduler.pods()] == ["web"]


def test_pods_of_others_are_not_a_matter_of_lists(one: World) -> None:
    one.assigned(web().on("n1"))
    one.scheduler.assigned_pods_listed([], listed_at_s=one.now_s + 5, now_s=one.now_s + 5)
    assert [pod.name for pod in one.scheduler.pods()] == ["web"]


# -- changes that help --------------------------------------------------------------------------------------------


def waiting(world: World, pod: PodBuilder) -> None:
    assert world.decide(pod).node == ""
    world.passes(20)
    assert world.next() is None


def woken(world: World) -> str | None:
    """Where the pod that waited goes now; None where nothing woke it."""
    decision = world.next()
    return None if decision is None else decision.node


def test_an_uncordoned_node_helps(world: World) -> None:
    world.nodes(make_node("n1").cordoned())
    waiting(world, web())
    world.nodes(make_node("n1"))
    assert woken(world) == "n1"


def test_a_taint_that_is_taken_off_helps(world: World) -> None:
    world.nodes(make_node("n1").taint("a"))
    waiting(world, web())
    world.nodes(make_node("n1"))
    assert woken(world) == "n1"


def test_a_label_helps(world: World) -> None:
    world.nodes(make_node("n1"))
    waiting(world, web().node_selector(tier="a"))
    world.nodes(make_node("n1").label("tier", "a"))
    assert woken(world) == "n1"


def test_a_larger_node_helps(world: World) -> None:
    world.nodes(make_node("n1").offers(cpu="8"))
    waiting(world, web())
    world.nodes(make_node("n1"))
    assert woken(world) == "n1"


def test_a_new_node_helps(world: World) -> None:
    waiting(world, web())
    world.nodes(make_node("n1"))
    assert woken(world) == "n1"


def test_a_pod_that_ends_helps(one: World) -> None:
    one.assigned(make_pod("there").cpu("1").on("n1"))
    waiting(one, web())
    one.assigned(make_pod("there").cpu("1").on("n1").phase("Succeeded"))
    assert woken(one) == "n1"


def test_a_pod_that_shrinks_helps(one: World) -> None:
    one.assigned(make_pod("there").cpu("4").on("n1"))
    waiting(one, web("14"))
    one.assigned(make_pod("there").cpu("2").on("n1"))
    assert woken(one) == "n1"


def test_a_host_port_that_is_let_go_helps(one: World) -> None:
    one.assigned(make_pod("there").port(80).on("n1"))
    waiting(one, make_pod().port(80))
    one.assigned_goes(make_pod("there"))
    assert woken(one) == "n1"


@pytest.mark.parametrize("change", ["heartbeat", "cordon", "another pod", "a node goes", "readings"])
def test_what_cannot_help_wakes_nobody(one: World, change: str) -> None:
    one.nodes(make_node("n2").cordoned())
    one.assigned(make_pod("there").cpu("1").on("n1"))
    one.policies(make_policy("p", weights={"cpu": 1}, pod_selector=make_policy().pod_selector))
    one.readings("p", {"cpu": {"n1": 0.1}})
    waiting(one, web())
    match change:
        case "heartbeat":
            one.nodes(make_node("n1").metadata(resourceVersion="9"))
        case "cordon":
            one.nodes(make_node("n1").cordoned())
        case "another pod":
            one.assigned(make_pod("more").cpu("1").on("n1"))
        case "a node goes":
            one.node_goes("n2")
        case "readings":
            one.readings("p", {"cpu": {"n1": 0.0}})
    assert woken(one) is None
    assert one.queued() == {"unschedulable": 1}


# -- a whole run -----------------------------------------------------------------------------------------------------


def test_the_same_events_and_the_same_seed_make_the_same_run() -> None:
    def run() -> list[tuple[str, str, float]]:
        world = World(seed=42)
        world.nodes(*(make_node(f"n{i}").zone("ab"[i % 2]) for i in range(20)))
        world.policies(make_policy("p", weights={"cpu": 1, "memory": 1}))
        found = []
        for i in range(100):
            if i % 10 == 0:
                world.readings("p", {m: {f"n{k}": ((i + k) % 7) / 10 for k in range(20)} for m in ("cpu", "memory")})
            decision = world.decide(make_pod(f"p{i}").cpu("500m").owner("Job", f"job-{i % 3}"))
            world.passes(1)
            found.append((decision.pod.name, decision.node, decision.score))
        return found

    assert run() == run()


def test_nothing_is_overcommitted_however_bindings_end(world: World) -> None:
    world.nodes(*(make_node(f"n{i}").offers(cpu="4", pods="3") for i in range(5)))
    pods = [make_pod(f"p{i}").cpu(f"{1 + i % 3}") for i in range(40)]
    world.pending(*pods)
    by_uid = {uid(pod): pod for pod in pods}
    for turn in range(400):
        decision = world.next()
        if decision is None:
            world.passes(1)
            continue
        if decision.node:
            pod = by_uid[decision.pod.uid]
            match turn % 4:
                case 0:
                    world.bind_failed(pod, retry=True)
                case 1:
                    world.bound(pod)
                case 2:
                    world.assigned(pod.on(decision.node))
                    world.bound(pod)
                case _:
                    world.bound(pod)
                    world.assigned(pod.on(decision.node))
        for node in world.scheduler.nodes():
            here = [p for p in world.scheduler.pods() if p.node == node.name]
            assert sum(p.requests["cpu"] for p in here) <= 4000
            assert len(here) <= 3
    assert sum(1 for _ in world.scheduler.pods()) >= 8
    assert sum(world.queued().values()) + sum(1 for _ in world.scheduler.pods()) == 40


def test_times_are_handed_in(one: World) -> None:
    assert one.decide(web()).decided_at_s == NOW_S
