"""What waits together, what happens during an attempt, what a pod changes of itself, and what is held back."""

from __future__ import annotations

import pytest

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.filters.waiting import WaitingIndex
from plimsoll.scheduling.queue import QueuedPod
from tests.builders import NOW_S, PodBuilder, make_cache, make_node, make_pod
from tests.scheduling.line import AnyChange, Line

FIT, TAINTS, PORTS, LIMITS = "NodeResourcesFit", "TaintToleration", "NodePorts", "SchedulingPolicyLimits"


@pytest.fixture
def line() -> Line:
    return Line()


class Asked(AnyChange):
    """Remembers the questions, and says no."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.late: list[bool] = []

    def asked(self, plugin: str, change: Change, queued: QueuedPod) -> bool:
        self.names.append(queued.pod.name)
        self.late.append(change.late)
        return False


# -- who is asked about together ------------------------------------------------------------------------------


def test_replicas_that_wait_for_the_same_cost_one_question() -> None:
    asked = Asked()
    line = Line(asked)
    for i in range(100):
        line.put(make_pod(f"web-{i}").cpu("1").owner("ReplicaSet", "web"))
    for _ in range(100):
        line.fails(FIT)
    line.happens(ChangeKind.POD_DELETED)
    assert len(asked.names) == 1
    line.happens(ChangeKind.NODE_TAINTS)
    assert len(asked.names) == 1


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(make_pod("b").cpu("2"), id="requests"),
        pytest.param(make_pod("b").cpu("1").priority(7), id="priority"),
        pytest.param(make_pod("b", "elsewhere").cpu("1"), id="namespace"),
        pytest.param(make_pod("b").cpu("1").spec(preemptionPolicy="Never"), id="preemption policy"),
        pytest.param(make_pod("b").cpu("1").tolerate(key="x", operator="Exists"), id="tolerations"),
    ],
)
def test_pods_that_ask_for_something_else_are_asked_about_apart(other: PodBuilder) -> None:
    asked = Asked()
    line = Line(asked)
    line.put(make_pod("a").cpu("1"), other)
    line.fails(FIT)
    line.fails(FIT)
    line.happens(ChangeKind.POD_DELETED)
    assert sorted(asked.names) == ["a", "b"]


def test_pods_that_other_plugins_or_policies_rejected_are_asked_about_apart() -> None:
    asked = Asked()
    line = Line(asked)
    line.put(make_pod("a"), make_pod("b"), make_pod("c"))
    line.fails(FIT)
    line.fails(FIT, PORTS)
    line.fails(FIT).policy = "other"
    line.happens(ChangeKind.POD_DELETED)
    assert set(asked.names) == {"a", "b", "c"}


def test_pods_whose_claims_are_their_own_are_asked_about_apart() -> None:
    """Such a claim asks whether it was made for this very pod."""

    def ephemeral(name: str) -> PodBuilder:
        volume = {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
        return make_pod(name).spec(volumes=[volume])

    asked = Asked()
    line = Line(asked)
    line.put(ephemeral("a"), ephemeral("b"))
    line.fails(FIT)
    line.fails(FIT)
    line.happens(ChangeKind.POD_DELETED)
    assert sorted(asked.names) == ["a", "b"]


def test_a_pod_that_changes_without_being_helped_is_asked_about_as_it_is_then() -> None:
    asked = Asked()
    line = Line(asked)
    line.put(make_pod("a").cpu("1"), make_pod("b").cpu("1"))
    line.fails(FIT)
    line.fails(FIT)
    line.happens(ChangeKind.POD_DELETED)
    assert len(asked.names) == 1
    line.put(make_pod("b").cpu("2"))
    line.happens(ChangeKind.POD_DELETED)
    assert len(asked.names) == 3


# -- of pods that are alike one is tried for all ----------------------------------------------------------------


def three_wait(line: Line) -> None:
    line.put(make_pod("a"), make_pod("b"), make_pod("c"))
    for _ in range(3):
        line.fails(FIT)
    line.now_s += 20


def test_one_is_tried_for_all_and_the_next_when_it_found_a_place(line: Line) -> None:
    three_wait(line)
    line.happens(ChangeKind.POD_DELETED)
    assert line.places() == {"active": 1, "unschedulable": 2}
    assert line.placed() == "a"
    assert line.places() == {"active": 1, "unschedulable": 1}
    assert (line.placed(), line.placed()) == ("b", "c")
    assert line.places() == {}


def test_what_refuses_one_of_them_again_refuses_all(line: Line) -> None:
    three_wait(line)
    line.happens(ChangeKind.POD_DELETED)
    assert line.placed() == "a"
    assert line.fails(FIT).pod.name == "b"
    assert line.places() == {"unschedulable": 2}
    line.now_s += 20
    line.happens(ChangeKind.POD_DELETED)
    assert (line.placed(), line.placed()) == ("c", "b")


def test_what_rejects_one_of_them_anew_is_what_all_wait_for(line: Line) -> None:
    three_wait(line)
    line.happens(ChangeKind.POD_DELETED)
    line.fails(FIT, TAINTS)
    assert line.queue.rejected() == {FIT: 3, TAINTS: 3}
    line.now_s += 20
    line.happens(ChangeKind.NODE_TAINTS)
    assert (line.placed(), line.placed(), line.placed()) == ("b", "c", "a")


@pytest.mark.parametrize("end", ["error", "goes", "changes", "is held back", "something happened meanwhile"])
def test_the_next_is_tried_when_the_first_says_nothing_of_the_others(line: Line, end: str) -> None:
    three_wait(line)
    line.happens(ChangeKind.POD_DELETED)
    uid = make_pod("a").info().uid
    match end:
        case "error":
            line.fails()
        case "goes":
            line.queue.remove(uid, now_s=line.now_s)
        case "changes":
            line.put(make_pod("a").gated("x"))
        case "is held back":
            line.queue.hold(uid, now_s=line.now_s)
        case _:
            queued = line.pop()
            assert queued is not None
            line.happens(ChangeKind.POD_DELETED)
            line.comes_back(queued, FIT)
    assert line.queue.counts()["active"] == 1
    assert line.placed() == "b"


def test_what_waited_too_long_is_tried_each_for_itself(line: Line) -> None:
    """What is told about each of them, the condition and the event, is to be fresh."""
    three_wait(line)
    line.now_s += 330
    assert [line.fails(FIT).pod.name for _ in range(3)] == ["a", "b", "c"]
    assert line.places() == {"unschedulable": 3}
    line.now_s += 270
    assert line.pop() is None
    line.now_s += 60
    assert (line.placed(), line.placed(), line.placed()) == ("a", "b", "c")
    assert ("active", "UnschedulableTimeout") in line.queue.take_incoming()


def test_thousands_that_waited_too_long_do_not_come_up_together(line: Line) -> None:
    line.put(*(make_pod(f"p{i}") for i in range(1000)))
    for _ in range(1000):
        line.fails(FIT)
    line.now_s += 330
    tried = []
    for _ in range(60):
        names = line.names()
        assert len(names) <= 50
        tried += names
        due_s = line.queue.due_at_s()
        line.now_s = max(line.now_s, due_s or line.now_s + 1)
    assert len(tried) == len(set(tried)) == 1000
    assert line.now_s <= NOW_S + 400


def test_a_safety_net_does_not_wait_for_whoever_is_tried_for_all(line: Line) -> None:
    three_wait(line)
    line.happens(ChangeKind.POD_DELETED)
    assert line.pop() is not None
    line.now_s += 330
    queued = line.pop()
    assert queued is not None
    assert queued.pod.name == "b"


def test_nominated_pods_are_tried_whatever_becomes_of_others_like_them() -> None:
    class Nominated(AnyChange):
        def among(self, index: WaitingIndex, change: Change) -> None:
            """All are asked."""

        def stands_alone(self, uid: Uid) -> bool:
            return uid == make_pod("c").info().uid

    line = Line(Nominated())
    three_wait(line)
    line.happens(ChangeKind.POD_DELETED)
    assert line.places() == {"active": 2, "unschedulable": 1}


# -- pods with labels of their own ------------------------------------------------------------------------------


def indexed(name: str) -> PodBuilder:
    return make_pod(name).cpu("1").labels(app="x", index=name)


def test_pods_with_labels_that_nobody_reads_are_tried_one_for_all(line: Line) -> None:
    line.put(*(indexed(name) for name in "abc"))
    for _ in range(3):
        line.fails(FIT)
    line.now_s += 20
    line.happens(ChangeKind.POD_DELETED)
    assert line.fails(FIT).pod.name == "a"
    assert line.places() == {"unschedulable": 3}


@pytest.mark.parametrize("plugin", ["PodTopologySpread", "InterPodAffinity", "SchedulingPolicy"])
def test_pods_whose_labels_were_read_are_asked_about_apart(plugin: str) -> None:
    asked = Asked()
    line = Line(asked)
    line.put(indexed("a"), indexed("b"))
    line.fails(plugin)
    line.fails(plugin)
    line.happens(~ChangeKind(0))
    assert set(asked.names) == {"a", "b"}


def test_pods_with_constraints_of_their_own_are_asked_about_apart() -> None:
    asked = Asked()
    line = Line(asked)
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "x"}}}
    line.put(indexed("a").apart(term), indexed("b").apart(term))
    line.fails(FIT)
    line.fails(FIT)
    line.happens(ChangeKind.POD_DELETED)
    assert set(asked.names) == {"a", "b"}


@pytest.mark.parametrize("rejected_by", [(FIT,), (FIT, "InterPodAffinity")], ids=["room is short", "kept away"])
def test_whoever_is_kept_away_by_its_labels_speaks_only_for_those_that_have_them(rejected_by: tuple[str, ...]) -> None:
    """The others, which no anti-affinity selects, may fit or preempt where it could not."""

    class KeptAway(AnyChange):
        by = ""

        def told_by_labels(self, pod: PodInfo) -> bool:
            return pod.labels["index"] == self.by

    anti_affinity = KeptAway()
    line = Line(anti_affinity)
    line.put(indexed("a"), indexed("a2").labels(app="x", index="a"), indexed("b"), indexed("c"))
    for _ in range(4):
        line.fails(FIT)
    anti_affinity.by = "a"
    line.now_s += 20
    line.happens(ChangeKind.POD_DELETED)
    assert line.fails(*rejected_by).pod.name == "a"
    assert line.fails(FIT).pod.name == "b"
    assert line.places() == {"unschedulable": 4}
    assert line.queue.rejected()["InterPodAffinity"] == 2 * ("InterPodAffinity" in rejected_by)


# -- what happens during an attempt ---------------------------------------------------------------------------


def test_a_change_during_an_attempt_is_not_lost(line: Line) -> None:
    line.put(make_pod("a"))
    queued = line.pop()
    assert queued is not None
    line.happens(ChangeKind.POD_DELETED)
    line.comes_back(queued, FIT)
    assert line.places() == {"backoff": 1}


def test_a_change_during_an_attempt_is_judged_by_what_rejected_the_pod(line: Line) -> None:
    line.put(make_pod("a"))
    queued = line.pop()
    assert queued is not None
    line.happens(ChangeKind.POD_DELETED)
    line.comes_back(queued, TAINTS)
    assert line.places() == {"unschedulable": 1}


def test_a_change_before_an_attempt_is_not_replayed_after_it(line: Line) -> None:
    line.put(make_pod("first"), make_pod("second"))
    first = line.pop()
    assert first is not None
    line.happens(ChangeKind.POD_DELETED)
    line.fails(FIT)
    assert line.places() == {"unschedulable": 1}
    line.comes_back(first, FIT)
    assert line.places() == {"unschedulable": 1, "backoff": 1}


def test_a_late_change_says_that_it_is_late() -> None:
    asked = Asked()
    line = Line(asked)
    line.put(make_pod("a"))
    queued = line.pop()
    assert queued is not None
    line.happens(ChangeKind.POD_DELETED)
    line.comes_back(queued, FIT)
    line.happens(ChangeKind.POD_DELETED)
    assert asked.late == [True, False]


def test_two_small_pods_that_go_during_an_attempt_help_together() -> None:
    """By the time that the first is asked about, the room of both is there."""
    small = [make_pod(f"small-{i}").cpu("8").on("n1") for i in range(2)]
    cache = make_cache([make_node("n1")], small)
    line = Line(view=cache.view)
    line.put(make_pod("a").cpu("8"))
    queued = line.pop()
    assert queued is not None
    for pod in small:
        line.changes(cache.drop_pod(pod.info().uid))
    line.comes_back(queued, FIT)
    assert line.places() == {"backoff": 1}


def test_a_pod_is_not_woken_by_its_own_assumption_being_forgotten(line: Line) -> None:
    line.put(make_pod("a"))
    queued = line.pop()
    assert queued is not None
    line.changes(Change(ChangeKind.POD_DELETED, before=make_pod("a").on("n1").info()))
    line.comes_back(queued, FIT)
    assert line.places() == {"unschedulable": 1}


def test_changes_are_kept_only_as_long_as_an_attempt_needs_them(line: Line) -> None:
    line.put(make_pod("a"), make_pod("b"))
    line.happens(ChangeKind.POD_DELETED)
    assert line.queue._in_flight.changes == 0
    a = line.pop()
    assert a is not None
    line.happens(ChangeKind.POD_DELETED)
    b = line.pop()
    assert b is not None
    line.happens(ChangeKind.POD_DELETED)
    assert line.queue._in_flight.changes == 2
    line.queue.done(a.pod.uid)
    assert (line.queue._in_flight.changes, line.queue.in_flight) == (1, 1)
    line.comes_back(b, FIT)
    assert (line.queue._in_flight.changes, line.queue.in_flight) == (0, 0)


def test_nothing_is_kept_for_a_pod_that_has_its_place(line: Line) -> None:
    """It may wait for its volumes for minutes."""
    line.put(make_pod("prepares"), make_pod("b"))
    prepares = line.pop()
    assert prepares is not None
    line.queue.placed(prepares.pod.uid, now_s=line.now_s)
    assert line.queue.in_flight == 0
    line.happens(ChangeKind.POD_DELETED)
    assert line.queue._in_flight.changes == 0
    line.comes_back(prepares)
    assert line.places() == {"active": 1, "backoff": 1}


def test_what_the_pod_itself_changed_during_an_attempt_is_not_lost(line: Line) -> None:
    line.put(make_pod("a").cpu("2"))
    queued = line.pop()
    assert queued is not None
    queued.changed(make_pod("a").cpu("1").info())
    line.comes_back(queued, FIT)
    assert line.places() == {"backoff": 1}


# -- changes of the pod itself --------------------------------------------------------------------------------


def test_our_own_status_wakes_nobody(line: Line) -> None:
    line.put(make_pod("a"))
    line.fails(FIT)
    line.now_s += 20
    told = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available"}
    line.put(make_pod("a").metadata(resourceVersion="77").status(conditions=[told], nominatedNodeName="n1"))
    assert line.places() == {"unschedulable": 1}


TOLERATES = make_pod("a").cpu("2").tolerate(key="x", operator="Exists")


@pytest.mark.parametrize(
    ("rejected_by", "changed", "helps"),
    [
        pytest.param(TAINTS, TOLERATES, True, id="a toleration, for a taint"),
        pytest.param("NodeUnschedulable", TOLERATES, True, id="a toleration, for a cordon"),
        pytest.param(FIT, TOLERATES, False, id="a toleration, for want of room"),
        pytest.param(FIT, make_pod("a").cpu("1"), True, id="a smaller request, for want of room"),
        pytest.param(FIT, make_pod("a").cpu("3"), False, id="a larger request"),
        pytest.param(TAINTS, make_pod("a").cpu("1"), False, id="a smaller request, for a taint"),
        pytest.param(LIMITS, make_pod("a").cpu("1"), True, id="a smaller request, for a load limit"),
        pytest.param(FIT, make_pod("a").cpu("2").labels(tier="b"), False, id="a label, for want of room"),
        pytest.param("SchedulingPolicy", make_pod("a").cpu("2").labels(tier="b"), True, id="a label, for a policy"),
        pytest.param(
            "SchedulingPolicy", make_pod("a").cpu("2").annotate("plimsoll.dev/policy", "p"), True, id="the policy"
        ),
        pytest.param(FIT, make_pod("a").cpu("2").annotate("example.com/x", "y"), False, id="somebody's annotation"),
    ],
)
def test_only_a_change_of_the_pod_that_can_help_is_tried(
    line: Line, rejected_by: str, changed: PodBuilder, *, helps: bool
) -> None:
    line.put(make_pod("a").cpu("2"))
    line.fails(rejected_by)
    line.now_s += 20
    line.put(changed)
    assert line.places() == ({"active": 1} if helps else {"unschedulable": 1})
    line.happens(~ChangeKind(0))
    queued = line.pop()
    assert queued is not None
    assert queued.pod == changed.info()


def test_a_changed_pod_waits_out_its_backoff(line: Line) -> None:
    line.put(make_pod("a"))
    line.fails()
    line.put(make_pod("a").labels(tier="b"))
    assert line.places() == {"backoff": 1}
    line.now_s += 1
    queued = line.pop()
    assert queued is not None
    assert queued.pod.labels == {"tier": "b"}


# -- nominations ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("priority", "wakes"), [(4, True), (5, True), (6, False)], ids=["lower", "equal", "higher: it never yielded"]
)
def test_a_nomination_that_ends_wakes_pods_that_had_to_yield(priority: int, *, wakes: bool) -> None:
    cache = make_cache([make_node("n1")])
    line = Line(view=cache.view)
    line.put(make_pod("a").cpu("8").priority(priority))
    line.fails(FIT)
    line.now_s += 20
    line.changes(Change(ChangeKind.NOMINATION_ENDED, before=make_pod("nominated").cpu("1").priority(5).on("n1").info()))
    assert line.places() == ({"active": 1} if wakes else {"unschedulable": 1})


def test_room_beside_a_nominated_pod_wakes_a_pod_that_had_to_yield_to_it() -> None:
    """Without the nominated pod there was room all the time."""
    cache = make_cache([make_node("n1").offers(cpu="16")])
    cache.nominate(make_pod("nominated").cpu("12").priority(5).info(), "n1")
    line = Line(view=cache.view)
    line.put(make_pod("a").cpu("8"))
    line.fails(FIT)
    line.now_s += 20
    line.changes(cache.put_node(make_node("n1").offers(cpu="20").info()))
    assert line.places() == {"active": 1}


# -- held back while victims are evicted ------------------------------------------------------------------------


def test_a_preemptor_that_is_held_back_is_not_tried(line: Line) -> None:
    line.put(make_pod("a"))
    queued = line.pop()
    assert queued is not None
    line.queue.hold(queued.pod.uid, now_s=line.now_s)
    line.comes_back(queued, FIT)
    line.now_s += 3600
    line.happens(ChangeKind.POD_DELETED)
    assert line.names() == []
    assert line.places() == {"unschedulable": 1}


def test_what_woke_it_meanwhile_counts_when_it_is_released(line: Line) -> None:
    line.put(make_pod("a"))
    queued = line.pop()
    assert queued is not None
    line.queue.hold(queued.pod.uid, now_s=line.now_s)
    line.comes_back(queued, FIT)
    line.happens(ChangeKind.POD_DELETED)
    line.queue.release(queued.pod.uid, retry=False, now_s=line.now_s)
    assert line.places() == {"backoff": 1}


def test_without_anything_that_woke_it_it_waits_for_its_victims(line: Line) -> None:
    line.put(make_pod("a"))
    line.queue.hold(line.fails(FIT).pod.uid, now_s=line.now_s)
    line.queue.release(make_pod("a").info().uid, retry=False, now_s=line.now_s)
    assert line.places() == {"unschedulable": 1}
    line.happens(ChangeKind.POD_DELETED)
    assert line.places() == {"backoff": 1}


def test_evictions_that_failed_are_tried_again_after_the_backoff(line: Line) -> None:
    line.put(make_pod("a"))
    line.queue.release(line.preempts(FIT).pod.uid, retry=True, now_s=line.now_s)
    assert line.places() == {"backoff": 1}
    assert line.queue.take_incoming()["backoff", "ForceActivate"] == 1
    assert line.pop() is None
    line.now_s += 1
    assert line.names() == ["a"]


def test_evictions_that_fail_after_the_backoff_are_tried_again_at_once(line: Line) -> None:
    line.put(make_pod("a"))
    queued = line.preempts(FIT)
    line.now_s += 1
    line.queue.release(queued.pod.uid, retry=True, now_s=line.now_s)
    assert line.names() == ["a"]


def test_a_pod_that_preempted_waits_out_its_backoff_even_if_nobody_else_is_due(line: Line) -> None:
    line.put(make_pod("a"))
    line.queue.release(line.preempts(FIT).pod.uid, retry=False, now_s=line.now_s)
    line.happens(ChangeKind.POD_DELETED)
    assert line.places() == {"backoff": 1}
    assert line.pop() is None
    assert line.queue.due_at_s() == line.now_s + 1
    line.now_s += 1
    line.fails(FIT)
    # That attempt removed nobody: the next may come as soon as somebody has the time.
    line.happens(ChangeKind.POD_DELETED)
    assert line.names() == ["a"]


@pytest.mark.parametrize("woken", [False, True], ids=["it waits", "something else woke it before"])
def test_a_pod_that_preempted_need_not_wait_once_its_victims_are_gone(line: Line, *, woken: bool) -> None:
    """As in kube-scheduler's queue: with nobody else to try, whoever something woke is tried at once."""
    line.put(make_pod("a"))
    uid = line.preempts(FIT).pod.uid
    line.queue.release(uid, retry=False, now_s=line.now_s)
    if woken:
        line.happens(ChangeKind.POD_DELETED)
    line.queue.wake_pod(uid, now_s=line.now_s)
    assert line.places() == {"backoff": 1}
    assert line.queue.due_at_s() == 0.0
    assert line.names() == ["a"]


def test_a_pod_that_would_preempt_again_too_soon_waits_out_its_backoff(line: Line) -> None:
    line.put(make_pod("a"))
    uid = line.preempts(FIT).pod.uid
    line.queue.release(uid, retry=False, now_s=line.now_s)
    line.queue.wake_pod(uid, now_s=line.now_s)
    queued = line.pop()
    assert queued is not None
    assert queued.preempts_again_s == line.now_s + 1
    line.queue.too_soon(queued)
    line.happens(ChangeKind.POD_DELETED)
    assert line.pop() is None
    assert line.queue.due_at_s() == line.now_s + 1
    line.now_s += 1
    assert line.names() == ["a"]


def test_a_change_that_helps_very_many_moves_them_by_and_by_the_most_urgent_first(line: Line) -> None:
    for i in range(2500):
        line.put(make_pod(f"p{i}").cpu(f"{i + 1}m").priority(i))
    for _ in range(2500):
        line.fails(FIT)
    line.now_s += 20
    line.happens(ChangeKind.POD_DELETED)
    assert line.places()["active"] < 2500
    assert line.queue.due_at_s() == 0.0
    names = line.names()
    assert names == [f"p{i}" for i in reversed(range(2500))]
    assert line.places() == {}


@pytest.mark.parametrize("held", [False, True], ids=["at once", "when it is held back no longer"])
def test_a_pod_that_changes_before_its_turn_to_be_moved_is_tried_all_the_same(line: Line, *, held: bool) -> None:
    """It is among others then, of whom nobody says that the change helps them."""
    pods = [make_pod(f"p{i}").cpu(f"{i + 1}m") for i in range(1500)]
    line.put(*pods)
    for _ in pods:
        line.fails(FIT)
    line.now_s += 20
    last = pods[-1]
    if held:
        line.queue.hold(last.info().uid, now_s=line.now_s)
    line.happens(ChangeKind.POD_DELETED)
    line.put(last.labels(tier="b"))
    line.queue.release(last.info().uid, retry=False, now_s=line.now_s)
    assert sorted(line.names()) == sorted(pod.info().name for pod in pods)


def test_a_pod_that_changes_while_others_are_yet_to_be_moved_waits_on(line: Line) -> None:
    pods = [make_pod(f"p{i}").cpu(f"{i + 1}m") for i in range(1500)]
    line.put(make_pod("tainted"), *pods)
    line.fails(TAINTS)
    for _ in pods:
        line.fails(FIT)
    line.now_s += 20
    line.happens(ChangeKind.POD_DELETED)
    line.put(make_pod("tainted").labels(tier="b"))
    assert len(line.names()) == len(pods)
    assert line.places() == {"unschedulable": 1}


def test_an_attempt_that_pauses_goes_on_next(line: Line) -> None:
    line.put(make_pod("a"), make_pod("b"))
    queued = line.pop()
    assert queued is not None
    line.queue.paused(queued)
    assert line.queue.in_flight == 0
    assert queued.attempts == 0
    assert line.queue.due_at_s() == 0.0
    assert sorted(line.names()) == ["a", "b"]


@pytest.mark.parametrize("rejected_by", [[], [FIT]], ids=["after an error", "woken already"])
def test_a_pod_that_was_to_be_tried_is_held_back_too(line: Line, rejected_by: list[str]) -> None:
    line.put(make_pod("a"))
    line.fails(*rejected_by)
    line.happens(ChangeKind.POD_DELETED)
    line.queue.hold(make_pod("a").info().uid, now_s=line.now_s)
    assert line.names() == []
    line.queue.release(make_pod("a").info().uid, retry=False, now_s=line.now_s)
    line.now_s += 1
    assert line.names() == ["a"]


def test_a_pod_that_goes_while_it_is_held_back_is_forgotten(line: Line) -> None:
    line.put(make_pod("a"))
    line.queue.hold(line.fails(FIT).pod.uid, now_s=line.now_s)
    line.queue.remove(make_pod("a").info().uid, now_s=line.now_s)
    line.put(make_pod("a"))
    assert line.names() == ["a"]


# -- who came into which place, and why -------------------------------------------------------------------------


def test_incoming_pods_are_counted_by_place_and_event(line: Line) -> None:
    line.put(make_pod("a"), make_pod("b").gated("x"))
    line.fails(FIT)
    line.happens(ChangeKind.POD_DELETED)
    line.now_s += 1
    line.fails(FIT)
    line.put(make_pod("b"))
    assert line.queue.take_incoming() == {
        ("active", "UnscheduledPodAdd"): 1,
        ("gated", "UnscheduledPodAdd"): 1,
        ("unschedulable", "ScheduleAttemptFailure"): 2,
        ("backoff", "AssignedPodDelete"): 1,
        ("active", "BackoffComplete"): 1,
        ("active", "UnscheduledPodUpdate"): 1,
    }
