"""What is remembered of which policy places which pod is what asking anew would say."""

from __future__ import annotations

from plimsoll.cluster.selectors import LabelSelector
from plimsoll.policy.compiled import BUILT_IN, Policy
from plimsoll.policy.selection import select_policy
from plimsoll.scheduling.selections import Selections
from tests.builders import PodBuilder, make_pod, make_policy

TEAM_A = make_policy("team-a", pod_selector=LabelSelector.parse({"matchLabels": {"team": "a"}}))
PROD = make_policy("prod", namespace_selector=LabelSelector.parse({"matchLabels": {"env": "prod"}}))
PODS = [
    pod if policy is None else pod.annotate("plimsoll.dev/policy", policy)
    for policy in (None, "prod", "nobody")
    for pod in (make_pod("a").labels(team="a"), make_pod("b").labels(team="b"), make_pod("c", "other"))
]


def _as_asked_anew(known: Selections, namespaces: dict[str, dict[str, str]], *policies: Policy) -> None:
    in_force = {policy.name: policy for policy in policies}
    for pod in (pod.info() for pod in (*PODS, *PODS)):
        assert known.of(pod) == select_policy(in_force, pod, namespaces.get(pod.namespace, {}))


def test_it_follows_policies_and_the_labels_of_namespaces() -> None:
    namespaces: dict[str, dict[str, str]] = {}
    known = Selections(namespaces)
    _as_asked_anew(known, namespaces)
    known.policies_changed([TEAM_A, PROD])
    _as_asked_anew(known, namespaces, TEAM_A, PROD)
    namespaces["other"] = {"env": "prod"}
    known.namespace_changed("other")
    _as_asked_anew(known, namespaces, TEAM_A, PROD)
    assert known.of(make_pod("c", "other").info()).policy == PROD
    del namespaces["other"]
    known.namespace_changed("other")
    known.policies_changed([PROD])
    _as_asked_anew(known, namespaces, PROD)


def _indexed(i: int, namespace: str = "default") -> PodBuilder:
    return make_pod(f"p{i}", namespace).labels(team="a", index=str(i))


def test_pods_that_no_policy_tells_apart_are_asked_about_once() -> None:
    known = Selections({})
    known.policies_changed([TEAM_A])
    first = known.of(_indexed(0).info())
    assert first.policy == TEAM_A
    assert all(known.of(_indexed(i).info()) is first for i in range(50))


def test_labels_of_one_namespace_say_nothing_of_the_pods_of_another() -> None:
    known = Selections({})
    first = known.of(_indexed(0).info())
    known.namespace_changed("other")
    assert known.of(_indexed(1).info()) is first
    known.namespace_changed("default")
    assert known.of(_indexed(2).info()) is not first


def test_what_is_remembered_is_bounded() -> None:
    known = Selections({})
    known.policies_changed([make_policy("odd", pod_selector=LabelSelector.parse({"matchLabels": {"index": "7"}}))])
    for i in range(12_000):
        selected = known.of(_indexed(0).labels(index=str(i)).info()).policy
        assert (selected == BUILT_IN) == (i != 7)
    assert sum(map(len, known._known.values())) <= 5000
