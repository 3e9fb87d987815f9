from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.cluster.selectors import LabelSelector
from plimsoll.policy.compiled import BUILT_IN, Mode, Policy
from plimsoll.policy.selection import Selection, select_policy
from tests.builders import make_pod

APP = LabelSelector.parse({"matchLabels": {"app": "web"}})
TEAM = LabelSelector.parse({"matchLabels": {"team": "a"}})
OLD, NEW = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"


def select(*policies: Policy, pod: object = None, namespace: dict[str, str] | None = None) -> Selection:
    chosen = pod or make_pod()
    return select_policy({p.name: p for p in policies}, chosen.info(), namespace or {})  # type: ignore[attr-defined]


def test_no_policy_is_the_built_in_default() -> None:
    assert select() == Selection(BUILT_IN)


def test_a_policy_without_selectors_selects_every_pod() -> None:
    policy = Policy(name="p")
    assert select(policy).policy is policy


@pytest.mark.parametrize(
    ("policy", "labels", "namespace", "selected"),
    [
        pytest.param(Policy(name="p", pod_selector=APP), {"app": "web"}, {}, True, id="its label"),
        pytest.param(Policy(name="p", pod_selector=APP), {"app": "db"}, {}, False, id="another label"),
        pytest.param(Policy(name="p", namespace_selector=TEAM), {}, {"team": "a"}, True, id="its namespace"),
        pytest.param(Policy(name="p", namespace_selector=TEAM), {}, {}, False, id="another namespace"),
        pytest.param(
            Policy(name="p", pod_selector=APP, namespace_selector=TEAM), {"app": "web"}, {}, False, id="label alone"
        ),
        pytest.param(Policy(name="p", mode=Mode.OBSERVE), {}, {}, False, id="it only observes"),
    ],
)
def test_selectors_decide(policy: Policy, labels: dict[str, str], namespace: dict[str, str], *, selected: bool) -> None:
    got = select(policy, pod=make_pod().labels(**labels), namespace=namespace)
    assert got == Selection(policy if selected else BUILT_IN)


@pytest.mark.parametrize(
    ("policies", "want"),
    [
        pytest.param([Policy(name="a", priority=1), Policy(name="b", priority=2)], "b", id="the highest priority"),
        pytest.param([Policy(name="a", priority=-1), Policy(name="b")], "b", id="0 before a negative priority"),
        pytest.param([Policy(name="a", created=NEW), Policy(name="b", created=OLD)], "b", id="then the oldest"),
        pytest.param([Policy(name="b", created=OLD), Policy(name="a", created=OLD)], "a", id="then the first by name"),
        pytest.param(
            [Policy(name="a", priority=9, mode=Mode.OBSERVE), Policy(name="b")], "b", id="never one that observes"
        ),
    ],
)
def test_among_several_wins(policies: list[Policy], want: str) -> None:
    policy = select(*policies).policy
    assert policy is not None
    assert policy.name == want


def naming(policy: str) -> object:
    return make_pod("web", "shop").annotate("plimsoll.dev/policy", policy)


def test_the_annotation_goes_before_pod_selector_and_priority() -> None:
    named = Policy(name="named", pod_selector=APP, priority=-5)
    assert select(named, Policy(name="other", priority=5), pod=naming("named")) == Selection(named)


def test_an_empty_annotation_names_nothing() -> None:
    policy = Policy(name="p")
    assert select(policy, pod=naming("")) == Selection(policy)


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        pytest.param(
            None, "no such policy is in force: create or mend it, or take the annotation off the pod", id="not there"
        ),
        pytest.param(
            Policy(name="named", namespace_selector=TEAM),
            "its namespaceSelector does not select namespace shop: label the namespace, or name another",
            id="not for the namespace",
        ),
        pytest.param(
            Policy(name="named", mode=Mode.OBSERVE),
            "its mode is Observe and places no pods: set its mode to Enforce, or name another",
            id="only observes",
        ),
    ],
)
def test_a_pod_waits_for_the_policy_that_it_names(named: Policy | None, problem: str) -> None:
    others = [Policy(name="other")]
    got = select(*others, *([named] if named else []), pod=naming("named"))
    assert got.policy is None
    assert got.problem == f'annotation plimsoll.dev/policy names SchedulingPolicy "named", but {problem}'


_POLICIES = st.lists(
    st.builds(
        Policy,
        name=st.sampled_from("abcdefgh"),
        priority=st.integers(-1, 1),
        created=st.sampled_from(["", OLD, NEW]),
        mode=st.sampled_from(Mode),
        pod_selector=st.sampled_from([LabelSelector(), APP]),
        namespace_selector=st.sampled_from([LabelSelector(), TEAM]),
    ),
    unique_by=lambda p: p.name,
    max_size=6,
)
_PODS = st.builds(
    lambda labels, named: make_pod("web", "shop").labels(**labels).annotate("plimsoll.dev/policy", named),
    st.sampled_from([{}, {"app": "web"}]),
    st.sampled_from(["", "a", "b", "z"]),
)
_NAMESPACES = st.sampled_from([{}, {"team": "a"}])


@given(_POLICIES, _PODS, _NAMESPACES, st.randoms())
def test_the_order_of_policies_does_not_matter(policies, pod, namespace, random) -> None:
    shuffled = random.sample(policies, len(policies))
    assert select(*policies, pod=pod, namespace=namespace) == select(*shuffled, pod=pod, namespace=namespace)


@given(_POLICIES, _PODS, _NAMESPACES)
def test_every_pod_has_a_policy_or_a_sentence(policies, pod, namespace) -> None:
    got = select(*policies, pod=pod, namespace=namespace)
    assert (got.policy is None) == bool(got.problem)
    assert got.policy is None or got.policy.enforced
    assert got.policy is None or got.policy.namespace_selector.matches(namespace)


@given(_POLICIES, _PODS, _NAMESPACES)
def test_policies_that_were_not_chosen_could_as_well_not_be_there(policies, pod, namespace) -> None:
    got = select(*policies, pod=pod, namespace=namespace)
    alone = [p for p in policies if p is got.policy]
    if alone:
        assert select(*alone, pod=pod, namespace=namespace) == got


@given(_POLICIES, _NAMESPACES)
def test_raising_the_chosen_policys_priority_keeps_it_chosen(policies, namespace) -> None:
    chosen = select(*policies, namespace=namespace).policy
    raised = [replace(p, priority=9) if p is chosen else p for p in policies]
    again = select(*raised, namespace=namespace).policy
    assert again is not None
    assert chosen is not None
    assert again.name == chosen.name
