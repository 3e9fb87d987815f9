from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.namespace import Namespace
from plimsoll.filters.inter_pod_affinity import ALONE, OTHERS, OWN, AffinityOfPod, InterPodAffinity
from plimsoll.filters.interface import Code, Overlay, Problem, Reason
from tests.builders import NodeBuilder, PodBuilder, make_cache, make_node, make_pod
from tests.filters.judging import exists, one_of, refused, term

REASONS = {
    "alone": Reason(ALONE, resolvable=False),
    "own": Reason(OWN, resolvable=True),
    "others": Reason(OTHERS, resolvable=True),
}
SCAN = one_of("service", "securityscan", "value2")
VIRUS = one_of("service", "antivirusscan", "value2")


def scan(namespace: str = "default") -> PodBuilder:
    return make_pod(namespace=namespace).labels(service="securityscan")


def secure(namespace: str = "default") -> PodBuilder:
    return make_pod(namespace=namespace).labels(security="S1")


def within(key: str, selector: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return term(key, labelSelector=selector, **fields)


def node1() -> NodeBuilder:
    return make_node("node1").label("region", "r1").label("zone", "z11")


def judged(
    pod: PodBuilder,
    pods: list[PodBuilder],
    nodes: list[NodeBuilder],
    namespaces: dict[str, dict[str, str]] | None = None,
) -> Any:
    cache = make_cache(nodes, pods)
    for name, labels in (namespaces or {}).items():
        cache.put_namespace(Namespace(name, labels))
    return refused(InterPodAffinity(), cache, pod.info())


@pytest.mark.parametrize(
    ("pod", "existing", "want"),
    [
        pytest.param(secure().together(within("region", SCAN)), scan(), None, id="affinity with In"),
        pytest.param(
            secure().together(within("region", one_of("service", "x", operator="NotIn"))), scan(), None,
            id="affinity with NotIn",
        ),
        pytest.param(
            secure().together(within("region", SCAN, namespaces=["Other"])), scan("ns"), "alone",
            id="affinity in another namespace",
        ),
        pytest.param(scan().together(within("region", VIRUS)), scan(), "alone", id="affinity without such a pod"),
        pytest.param(
            secure().together(
                within("region", {"matchExpressions": [
                    {"key": "service", "operator": "Exists"}, {"key": "wrong", "operator": "DoesNotExist"}]}),
                within("region", {"matchExpressions": [
                    {"key": "service", "operator": "In", "values": ["securityscan"]},
                    {"key": "service", "operator": "NotIn", "values": ["wrong"]}]}),
            ),
            scan(), None, id="several terms",
        ),
        pytest.param(
            secure().together(exists("service", "region"), within("region", one_of("service", "securityscan2"))),
            scan(), "alone", id="one of several terms does not match",
        ),
        pytest.param(
            secure().together(within("region", SCAN)).apart(within("node", VIRUS)), scan(), None,
            id="both satisfied",
        ),
        pytest.param(
            secure().together(within("region", SCAN)).apart(within("node", VIRUS)),
            scan().apart(within("node", VIRUS)), None, id="both satisfied, and the other's",
        ),
        pytest.param(
            secure().together(within("region", SCAN)).apart(within("zone", SCAN)), scan(), "own",
            id="affinity but not anti-affinity",
        ),
        pytest.param(
            scan().together(within("region", SCAN)).apart(within("node", VIRUS)),
            scan().apart(within("zone", SCAN)), "others", id="all but the other's anti-affinity",
        ),
        pytest.param(scan(), scan().apart(within("zone", SCAN)), "others", id="without terms of its own"),
        pytest.param(
            scan().apart(exists("service", "region"), exists("security", "region")),
            secure().apart(exists("security", "zone")), "own", id="its own but not the other's",
        ),
        pytest.param(
            secure().apart(exists("security", "zone")),
            scan().apart(exists("service", "zone"), exists("security", "zone")), "others",
            id="one term of the other is enough",
        ),
        pytest.param(
            make_pod().labels(abc="", xyz="").apart(exists("abc", "zone"), exists("def", "zone")),
            make_pod().labels(**{"def": "", "xyz": ""}).apart(exists("abc", "zone"), exists("def", "zone")), "own",
            id="both ways, its own is told first",
        ),
        pytest.param(scan().apart(within("zone", SCAN)), scan().deleting(), "own", id="a terminating pod counts"),
        pytest.param(
            scan(), scan().apart(within("zone", SCAN)).deleting(), "others", id="a terminating pod's terms count"
        ),
        pytest.param(scan().apart({"topologyKey": "zone"}), scan(), None, id="an absent selector selects no pod"),
        pytest.param(scan().apart(within("zone", {})), make_pod(), "own", id="an empty selector selects all pods"),
        pytest.param(scan().apart(within("other", SCAN)), scan(), None, id="a node without the key is no domain"),
        pytest.param(scan().together(within("other", SCAN)), scan(), "alone", id="affinity needs the key"),
        pytest.param(scan().together(within("", SCAN)), scan(), "alone", id="an empty key is on no node"),
    ],
)  # fmt: skip
def test_one_node_with_one_pod_as_in_kube_scheduler(pod: PodBuilder, existing: PodBuilder, want: str | None) -> None:
    assert judged(pod, [existing.on("node1")], [node1()]) == ({"node1": REASONS[want]} if want else {})


def test_pods_that_have_ended_count_neither_way() -> None:
    ended = [scan().on("node1").apart(within("zone", SCAN)).phase(phase) for phase in ("Succeeded", "Failed")]
    assert judged(scan(), ended, [node1()]) is None
    assert judged(scan().apart(within("zone", SCAN)), ended, [node1()]) == {}


TEAMS = {
    "subteam1.team1": {"team": "team1"},
    "subteam2.team1": {"team": "team1"},
    "subteam1.team2": {"team": "team2"},
}
TEAM1 = {"matchExpressions": [{"key": "team", "operator": "In", "values": ["team1"]}]}
NOT_TEAM1 = {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["team1"]}]}


@pytest.mark.parametrize(
    ("pod", "existing", "want"),
    [
        pytest.param(secure().together(within("region", SCAN, namespaceSelector=TEAM1)), scan("subteam1.team1"), None,
                     id="affinity, selected"),
        pytest.param(secure().together(within("region", SCAN, namespaceSelector=TEAM1)), scan("subteam1.team2"),
                     "alone", id="affinity, not selected"),
        pytest.param(secure("subteam1.team1").apart(within("zone", SCAN, namespaceSelector=TEAM1)),
                     scan("subteam2.team1"), "own", id="anti-affinity, selected"),
        pytest.param(secure("subteam1.team1").apart(within("zone", SCAN, namespaceSelector={})),
                     scan("subteam2.team1"), "own", id="anti-affinity, all"),
        pytest.param(secure("subteam1.team1").apart(within("zone", SCAN, namespaceSelector={})),
                     scan("nobody.knows"), "own", id="anti-affinity, all, also unknown ones"),
        pytest.param(secure("subteam1.team1").apart(within("zone", SCAN, namespaceSelector=TEAM1)),
                     scan("subteam1.team2"), None, id="anti-affinity, not selected"),
        pytest.param(
            secure().apart(within("zone", SCAN, namespaceSelector=TEAM1, namespaces=["subteam1.team2"])),
            scan("subteam1.team2"), "own", id="named beside the selector",
        ),
        pytest.param(scan("subteam1.team1"), secure().apart(within("zone", SCAN, namespaceSelector=TEAM1)), "others",
                     id="the other's, selected"),
        pytest.param(scan("subteam1.team2"), secure().apart(within("zone", SCAN, namespaceSelector=TEAM1)), None,
                     id="the other's, not selected"),
        pytest.param(scan("nobody.knows"), secure().apart(within("zone", SCAN, namespaceSelector=NOT_TEAM1)), "others",
                     id="the other's, unknown namespaces have no labels"),
        pytest.param(scan("subteam1.team1"), secure().apart(within("zone", SCAN, namespaceSelector=NOT_TEAM1)), None,
                     id="the other's, a selector of what must not be"),
    ],
)  # fmt: skip
def test_namespaces_may_be_selected_by_their_labels(pod: PodBuilder, existing: PodBuilder, want: str | None) -> None:
    got = judged(pod, [existing.on("node1")], [node1()], TEAMS)
    assert (got or {}) == ({"node1": REASONS[want]} if want else {})


def test_an_incoming_pods_selector_of_what_must_not_be_selects_every_namespace() -> None:
    """kube-scheduler asks the namespaceSelector once more about no labels at all; the other way round it does not."""
    existing = [scan("subteam1.team1").on("node1")]
    wants = secure().together(within("region", SCAN, namespaceSelector=NOT_TEAM1))
    assert judged(wants, existing, [node1()], TEAMS) == {}
    hates = secure().apart(within("region", SCAN, namespaceSelector=NOT_TEAM1))
    assert judged(hates, existing, [node1()], TEAMS) == {"node1": REASONS["own"]}


def regions() -> list[NodeBuilder]:
    return [
        make_node("a").label("region", "China"),
        make_node("b").label("region", "China").label("az", "az1"),
        make_node("c").label("region", "India"),
    ]


def zones(*names: str) -> list[NodeBuilder]:
    """One region, each node its own zone."""
    return [make_node(name).label("region", "r1").label("zone", f"z-{name}") for name in names]


BOTH = {"foo": "", "bar": ""}


@pytest.mark.parametrize(
    ("pod", "existing", "nodes", "want"),
    [
        pytest.param(
            make_pod().together(term("region", {"foo": "bar"})), [make_pod().labels(foo="bar").on("a")], regions(),
            {"c": "alone"}, id="all nodes of the domain",
        ),
        pytest.param(
            make_pod().labels(foo="bar", service="s").together(
                term("zone", {"foo": "bar"}), term("zone", {"service": "s"})),
            [make_pod().labels(foo="bar").on("a")], zones("a", "b"), {}, id="the first pod of a group",
        ),
        pytest.param(
            make_pod().labels(foo="bar", service="s").together(
                term("rack", {"foo": "bar"}), term("rack", {"service": "s"})),
            [make_pod().labels(foo="bar").on("a")], zones("a", "b"), {"a": "alone", "b": "alone"},
            id="the first pod of a group needs the keys",
        ),
        pytest.param(
            make_pod().labels(foo="bar").together(term("zone", {"foo": "bar"})),
            [make_pod(namespace="elsewhere").labels(foo="bar").on("a")], zones("a", "b"), {},
            id="the first pod of a group in its namespace",
        ),
        pytest.param(
            make_pod().labels(foo="bar").together(term("zone", {"foo": "bar"})),
            [make_pod().labels(foo="bar").on("a")], [make_node("a"), *zones("b")], {"a": "alone"},
            id="the first pod of a group where the others are in no domain",
        ),
        pytest.param(
            make_pod().together(term("zone", {"foo": "bar"})), [], zones("a", "b"), {"a": "alone", "b": "alone"},
            id="no group of its own",
        ),
        pytest.param(
            make_pod().apart(term("region", {"foo": "abc"})), [make_pod().labels(foo="abc").on("a")], regions(),
            {"a": "own", "b": "own"}, id="anti-affinity over the domain",
        ),
        pytest.param(
            make_pod().apart(term("region", {"foo": "abc"}), term("zone", {"service": "s"})),
            [make_pod().labels(foo="abc", service="s").on("a")], zones("a", "b"), {"a": "own", "b": "own"},
            id="any term of anti-affinity",
        ),
        pytest.param(
            make_pod(namespace="NS1").labels(foo="123").apart(term("region", {"foo": "bar"})),
            [
                make_pod(namespace="NS1").labels(foo="bar").on("a"),
                make_pod(namespace="NS2").on("c").apart(term("region", {"foo": "123"})),
            ],
            regions(), {"a": "own", "b": "own"}, id="the other's anti-affinity is about its namespace",
        ),
        pytest.param(
            make_pod().labels(foo=""), [make_pod().on("a").apart(exists("foo", "invalid"))], zones("a", "b"), None,
            id="the other's key is on no node, so there is nothing to look at",
        ),
        pytest.param(
            make_pod().apart(exists("foo", "invalid")), [make_pod().labels(foo="").on("a")], zones("a", "b"), {},
            id="its own key is on no node",
        ),
        pytest.param(
            make_pod().labels(**BOTH),
            [make_pod().on("a").apart(exists("foo", "zone")), make_pod().on("a").apart(exists("bar", "region"))],
            zones("a", "b"), {"a": "others", "b": "others"}, id="two others over different domains",
        ),
        pytest.param(
            make_pod().apart(exists("foo", "zone"), exists("bar", "region")),
            [make_pod().labels(foo="").on("a"), make_pod().labels(bar="").on("b")],
            zones("a", "b"), {"a": "own", "b": "own"}, id="two terms over different domains",
        ),
        pytest.param(
            make_pod().labels(**BOTH), [make_pod().on("a").apart(exists("foo", "invalid"), exists("bar", "zone"))],
            zones("a", "b"), {"a": "others"}, id="one of the other's keys is on no node",
        ),
        pytest.param(
            make_pod().apart(exists("foo", "invalid"), exists("bar", "zone")), [make_pod().labels(**BOTH).on("a")],
            zones("a", "b"), {"a": "own"}, id="one of its own keys is on no node",
        ),
        pytest.param(
            make_pod().labels(**BOTH),
            [
                make_pod().on("a").apart(exists("foo", "zone"), exists("labelA", "zone")),
                make_pod().on("b").apart(exists("bar", "zone"), exists("labelB", "zone")),
            ],
            zones("a", "b", "c"), {"a": "others", "b": "others"}, id="one term of each other is enough",
        ),
        pytest.param(
            make_pod().together(exists("foo", "region"), exists("bar", "zone")),
            [make_pod().labels(**BOTH).on("a")], zones("a", "b"), {"b": "alone"}, id="every term's domain",
        ),
        pytest.param(
            make_pod().together(exists("foo", "region"), exists("bar", "zone")),
            [make_pod().labels(foo="").on("a"), make_pod().labels(bar="").on("b")],
            zones("a", "b"), {"a": "alone", "b": "alone"}, id="one pod must match all terms",
        ),
        pytest.param(
            make_pod().labels(app="x"), [make_pod().labels(app="y").on("a").apart(term("region", {"app": "x"}))],
            regions(), {"a": "others", "b": "others"}, id="existing anti-affinity refuses the whole domain",
        ),
    ],
)  # fmt: skip
def test_several_nodes_as_in_kube_scheduler(
    pod: PodBuilder, existing: list[PodBuilder], nodes: list[NodeBuilder], want: dict[str, str] | None
) -> None:
    expected = None if want is None else {name: REASONS[reason] for name, reason in want.items()}
    assert judged(pod, existing, nodes) == expected


def test_a_pod_that_nobody_minds_and_that_minds_nobody_is_not_looked_at() -> None:
    assert judged(scan(), [secure().on("node1").apart(within("zone", VIRUS))], [node1()]) is None


BAD = "{{.bad-value.}}"
SENTENCE = (
    'requiredAffinityTerms: values[0][service]: Invalid value: "{{.bad-value.}}": a valid label must be an empty string'
    " or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
    " (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is"
    " '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


def test_a_malformed_selector_of_an_incoming_pod_is_told() -> None:
    pod = scan().together(within("region", one_of("service", "foo")), within("node", one_of("service", BAD)))
    assert judged(pod, [], [node1()]) == Problem(f"parsing pod: {SENTENCE}", Code.UNRESOLVABLE)


def test_malformed_selectors_of_several_kinds_are_told_together() -> None:
    pod = scan().together(within("zone", one_of("a", "b", operator="Has")))
    pod = pod.prefer_apart(1, within("zone", one_of("a")))
    assert judged(pod, [], [node1()]) == Problem(
        'parsing pod: [requiredAffinityTerms: "Has" is not a valid label selector operator, preferredAntiAffinityTerms:'
        " values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty]"
    )


def test_a_malformed_selector_of_a_pod_on_a_node_takes_the_terms_of_its_kind_with_it() -> None:
    existing = scan().on("node1").apart(within("zone", SCAN), within("zone", one_of("service", BAD)))
    assert judged(scan(), [existing], [node1()]) is None
    assert judged(scan().apart(within("zone", SCAN)), [existing], [node1()]) == {"node1": REASONS["own"]}


def prepared_for(pod: PodBuilder, pods: list[PodBuilder]) -> AffinityOfPod:
    prepared = InterPodAffinity().prepare(make_cache([node1()], pods).view, pod.info())
    assert isinstance(prepared, AffinityOfPod)
    return prepared


@pytest.mark.parametrize(
    ("pod", "existing", "overlay", "want"),
    [
        pytest.param(scan().together(within("zone", SCAN)), [], "+", None, id="the first of a group joins"),
        pytest.param(secure().together(within("zone", SCAN)), [], "", "alone", id="nobody to join"),
        pytest.param(secure().together(within("zone", SCAN)), [], "+", None, id="a nominated pod to join"),
        pytest.param(secure().together(within("zone", SCAN)), ["scan"], "-", "alone", id="the one to join is removed"),
        pytest.param(scan().together(within("zone", SCAN)), ["scan"], "-", None, id="and it may start a group itself"),
        pytest.param(scan().apart(within("zone", SCAN)), [], "+", "own", id="a nominated pod that it hates"),
        pytest.param(scan().apart(within("zone", SCAN)), ["scan"], "-", None, id="the hated one is removed"),
        pytest.param(scan().apart(within("zone", SCAN)), ["scan", "scan"], "-", "own", id="one of two is removed"),
        pytest.param(scan().apart(within("zone", VIRUS)), [], "hater", "others", id="a nominated pod that hates it"),
    ],
)
def test_pods_of_the_overlay_count_both_ways(
    pod: PodBuilder, existing: list[str], overlay: str, want: str | None
) -> None:
    pods = [scan().on("node1") for _ in existing]
    match overlay:
        case "+":
            given = Overlay(added=(scan().info(),))
        case "-":
            given = Overlay(removed=(pods[0].info(),))
        case "hater":
            given = Overlay(added=(secure().apart(within("zone", SCAN)).info(),))
        case _:
            given = Overlay()
    assert prepared_for(pod, pods).check(0, given) == ((REASONS[want],) if want else ())
