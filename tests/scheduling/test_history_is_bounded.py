from __future__ import annotations

from dataclasses import replace

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.scheduling.decision import Decision, Outcome
from plimsoll.scheduling.history import History
from tests.builders import NOW_S, make_pod


def decision(pod: PodInfo, at_s: float) -> Decision:
    return Decision(pod, Outcome.UNSCHEDULABLE, "", 0, decided_at_s=NOW_S + at_s, nodes=0, feasible=0)


def test_the_newest_decision_comes_first() -> None:
    history, pod = History(), make_pod("web").info()
    for at_s in range(3):
        history.keep(decision(pod, at_s))
    assert [d.decided_at_s - NOW_S for d in history.of("default/web")] == [2, 1, 0]
    assert history.of("default/other") == []


def test_a_pod_keeps_its_last_ten() -> None:
    history, pod = History(), make_pod("web").info()
    for at_s in range(25):
        history.keep(decision(pod, at_s))
    assert [d.decided_at_s - NOW_S for d in history.of("default/web")] == list(range(24, 14, -1))
    assert len(history) == 10


def test_ten_thousand_are_kept_and_the_pod_tried_longest_ago_loses_first() -> None:
    history = History()
    pods = [make_pod(f"p{i}").info() for i in range(4)]
    other = make_pod("other").info()
    for at_s, pod in enumerate([*pods, pods[0]]):
        history.keep(decision(pod, at_s))
    many = [PodInfo(uid=other.uid, namespace="many", name=str(i)) for i in range(10_000)]
    for pod in many[:9_998]:
        history.keep(decision(pod, 10))
    assert len(history) == 10_000
    assert history.of("default/p1") == history.of("default/p2") == history.of("default/p3") == []
    assert [d.decided_at_s - NOW_S for d in history.of("default/p0")] == [4, 0]
    for pod in many[9_998:]:
        history.keep(decision(pod, 11))
    assert len(history) == 10_000
    assert history.of("default/p0") == []
    assert len(history.of("many/0")) == 1


def test_what_became_of_a_binding_is_noted_for_that_pod_alone() -> None:
    history, pod = History(), make_pod("web").info()
    history.keep(replace(decision(pod, 0), outcome=Outcome.BIND, node="n1"))
    history.bound(replace(pod, uid=Uid("a namesake's")))
    history.bound(make_pod("other").info())
    assert [d.bound for d in history.of("default/web")] == [None]
    history.bind_failed(pod, node="")
    assert [d.bound for d in history.of("default/web")] == [False]
