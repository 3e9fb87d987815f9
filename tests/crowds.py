"""Small random clusters whose pods have much to say about each other: few keys, few values, every operator."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st

from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod

KEYS = ("zone", "rack", "nowhere")
NODES = ("n1", "n2", "n3", "n4")
NAMESPACES = ("one", "two", "unknown")
POD_NAMES = tuple(f"p{i}" for i in range(6))
Json = dict[str, Any]

values = st.sampled_from(["", "a", "b"])
labels = st.dictionaries(st.sampled_from(["app", "tier"]), values)
keys = st.sampled_from(KEYS)
expressions = st.one_of(
    st.builds(
        lambda key, operator, values: {"key": key, "operator": operator, "values": values},
        st.sampled_from(["app", "tier"]),
        st.sampled_from(["In", "NotIn"]),
        st.lists(values, min_size=1, max_size=2),
    ),
    st.builds(
        lambda key, operator: {"key": key, "operator": operator},
        st.sampled_from(["app", "tier"]),
        st.sampled_from(["Exists", "DoesNotExist"]),
    ),
)
selectors = st.fixed_dictionaries(
    {}, optional={"matchLabels": labels, "matchExpressions": st.lists(expressions, max_size=2)}
)
maybe_selectors = st.one_of(st.none(), selectors, selectors, selectors)
terms = st.builds(
    lambda key, selector, spaces, space_selector: {
        "topologyKey": key,
        **({} if selector is None else {"labelSelector": selector}),
        **({} if spaces is None else {"namespaces": spaces}),
        **({} if space_selector is None else {"namespaceSelector": space_selector}),
    },
    keys,
    maybe_selectors,
    st.one_of(st.none(), st.lists(st.sampled_from(NAMESPACES), max_size=2)),
    st.one_of(st.none(), st.none(), selectors),
)
constraints = st.fixed_dictionaries(
    {
        "topologyKey": keys,
        "maxSkew": st.integers(1, 2),
        "whenUnsatisfiable": st.sampled_from(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
    },
    optional={
        "labelSelector": selectors,
        "minDomains": st.integers(1, 3),
        "matchLabelKeys": st.lists(st.sampled_from(["app", "tier"]), max_size=2),
        "nodeAffinityPolicy": st.sampled_from(["Honor", "Ignore"]),
        "nodeTaintsPolicy": st.sampled_from(["Honor", "Ignore"]),
    },
)


@st.composite
def nodes(draw: st.DrawFn) -> NodeBuilder:
    node = make_node(draw(st.sampled_from(NODES)))
    for key in KEYS[:2]:
        if draw(st.integers(0, 4)):
            node.label(key, draw(values))
    return node.taint("dedicated") if draw(st.integers(0, 3)) == 0 else node


@st.composite
def pods(draw: st.DrawFn) -> PodBuilder:
    """Without a node; names are few, so that pods are changed and not only added."""
    pod = make_pod(draw(st.sampled_from(POD_NAMES)), draw(st.sampled_from(("one", *NAMESPACES))))
    pod.labels(**draw(labels))
    if draw(st.booleans()):
        pod.apart(*draw(st.lists(terms, max_size=2)))
    if draw(st.booleans()):
        pod.together(*draw(st.lists(terms, max_size=2)))
    if draw(st.booleans()):
        pod.prefer_together(draw(st.integers(1, 2)), draw(terms)).prefer_apart(1, draw(terms))
    if draw(st.booleans()):
        pod.spec(topologySpreadConstraints=draw(st.lists(constraints, max_size=2)))
    if draw(st.integers(0, 3)) == 0:
        pod.node_selector(zone=draw(values))
    if draw(st.integers(0, 3)) == 0:
        pod.tolerate(operator="Exists")
    return pod


@st.composite
def bound_pods(draw: st.DrawFn) -> PodBuilder:
    """Incoming ones that their own terms and constraints concern, and that share a namespace with most others."""
    pod = make_pod("incoming", "one").labels(**draw(labels))
    pod.apart(*draw(st.lists(terms, max_size=2))).together(*draw(st.lists(terms, max_size=2)))
    hard = [
        constraint | {"whenUnsatisfiable": "DoNotSchedule"} for constraint in draw(st.lists(constraints, max_size=2))
    ]
    pod.spec(topologySpreadConstraints=hard)
    return pod.node_selector(zone=draw(values)) if draw(st.booleans()) else pod


@st.composite
def placed_pods(draw: st.DrawFn) -> PodBuilder:
    pod = draw(pods()).on(draw(st.sampled_from(NODES)))
    return pod.deleting() if draw(st.integers(0, 4)) == 0 else pod


namespaces = st.tuples(st.sampled_from(NAMESPACES[:2]), labels)
