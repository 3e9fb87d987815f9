from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.kinds import KINDS
from plimsoll.cluster.reservation import Reservation
from plimsoll.cluster.resource_claims import ResourceClaim
from plimsoll.filters.dynamic_resources import DynamicResources
from plimsoll.filters.interface import Code, Problem, Reason
from tests.builders import PodBuilder, make_cache, make_node, make_pod
from tests.filters.judging import refused
from tests.volume_objects import put

Json = dict[str, Any]

RESOURCES = DynamicResources()
ELSEWHERE = Reason("resourceclaim not available on the node", resolvable=False)
ON_N1 = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}
IN_A = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}


def a_resource_claim(
    name: str = "gpu",
    *,
    on: Json | None = None,
    allocated: bool = True,
    users: tuple[str, ...] = (),
    owner: str = "",
    allocation: Json | None = None,
    devices: list[Json] | None = None,
    **metadata: Any,
) -> Json:
    """``on``: the allocation's node selector."""
    owners = [{"kind": "Pod", "name": "p", "uid": owner, "controller": True}] if owner else []
    found = ({"nodeSelector": on} if on else {}) | (allocation or {})
    status: Json = {"reservedFor": [{"resource": "pods", "name": uid, "uid": uid} for uid in users]}
    return {
        "kind": "ResourceClaim",
        "metadata": {
            "name": name, "namespace": "default", "uid": f"uid-{name}", "ownerReferences": owners, **metadata
        },
        "status": status | ({"allocation": found} if allocated else {}) | ({"devices": devices} if devices else {}),
    }  # fmt: skip


def claiming(*claims: str) -> PodBuilder:
    return make_pod("p").spec(resourceClaims=[{"name": c, "resourceClaimName": c} for c in claims or ("gpu",)])


def from_template(made: str | None = None, *, statuses: list[Json] | None = None) -> PodBuilder:
    pod = make_pod("p").spec(resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "t"}])
    if made is not None:
        statuses = [{"name": "gpu", "resourceClaimName": made}]
    return pod if statuses is None else pod.status(resourceClaimStatuses=statuses)


def cluster(*objects: Json) -> Cache:
    nodes = [make_node("n1").label("zone", "a"), make_node("n2").label("zone", "b")]
    return put(make_cache(nodes), *objects)


@pytest.mark.parametrize(
    ("selectors", "want"),
    [
        pytest.param([None], set(), id="devices that every node reaches"),
        pytest.param([ON_N1], {"n2"}, id="devices of one node"),
        pytest.param([IN_A], {"n2"}, id="devices of some nodes"),
        pytest.param([None, IN_A], {"n2"}, id="several claims"),
        pytest.param([{"nodeSelectorTerms": [{}]}], {"n1", "n2"}, id="a selector that matches nothing"),
    ],
)
def test_nodes_must_reach_the_devices_of_allocated_claims(selectors: list[Json | None], want: set[str]) -> None:
    names = [f"claim-{i}" for i in range(len(selectors))]
    cache = cluster(*(a_resource_claim(name, on=on) for name, on in zip(names, selectors, strict=True)))
    found = refused(RESOURCES, cache, claiming(*names).info())
    assert found == dict.fromkeys(want, ELSEWHERE)


@pytest.mark.parametrize(
    ("pod", "objects", "want"),
    [
        pytest.param(claiming(), [], 'could not find ResourceClaim "default/gpu"', id="not there"),
        pytest.param(
            claiming(),
            [a_resource_claim(deletionTimestamp="2026-01-01T00:00:00Z")],
            'resourceclaim "gpu" is being deleted',
            id="being deleted",
        ),
        pytest.param(
            from_template("gpu"),
            [a_resource_claim(owner="uid-other")],
            "ResourceClaim default/gpu was not created for Pod default/p (Pod is not owner)",
            id="from a template, for another pod",
        ),
    ],
)
def test_a_claim_that_cannot_be_used_keeps_the_pod_from_every_node(
    pod: PodBuilder, objects: list[Json], want: str
) -> None:
    assert refused(RESOURCES, cluster(*objects), pod.info()) == Problem(want)


CONDITIONS = {"driver": "d", "pool": "p", "device": "x", "bindingConditions": ["Attached"]}


@pytest.mark.parametrize(
    ("pod", "objects", "want"),
    [
        pytest.param(
            claiming("ready", "gpu"),
            [a_resource_claim("ready"), a_resource_claim(allocated=False)],
            "spec.resourceClaims[1]: resource claim default/gpu is not allocated, and this scheduler allocates none",
            id="not allocated",
        ),
        pytest.param(from_template(), [], "spec.resourceClaims[0]: ResourceClaim not created yet", id="not yet made"),
        pytest.param(
            claiming(),
            [a_resource_claim(allocation={"devices": {"results": [CONDITIONS]}})],
            "spec.resourceClaims[0]: device p/x of resource claim default/gpu is not ready",
            id="devices that are not ready",
        ),
        pytest.param(
            make_pod("p").requests(**{"deviceclass.resource.kubernetes.io/gpu": "1"}),
            [],
            "resources.requests[deviceclass.resource.kubernetes.io/gpu]: this scheduler allocates no devices",
            id="extended resources backed by claims",
        ),
    ],
)
def test_what_would_have_to_be_allocated_is_refused_by_field_and_calls_no_autoscaler(
    pod: PodBuilder, objects: list[Json], want: str
) -> None:
    assert refused(RESOURCES, cluster(*objects), pod.info()) == Problem(want, Code.ERROR)


@pytest.mark.parametrize(
    ("conditions", "fit"),
    [
        pytest.param([("Attached", "True")], True, id="attached"),
        pytest.param([("Attached", "False")], False, id="not attached"),
        pytest.param([("Attached", "True"), ("Failed", "True")], False, id="failed"),
        pytest.param([("Attached", "True"), ("Failed", "False")], True, id="not failed"),
    ],
)
def test_devices_that_must_be_set_up_first_are_ready_by_their_conditions(
    conditions: list[tuple[str, str]], *, fit: bool
) -> None:
    result = CONDITIONS | {"bindingFailureConditions": ["Failed"]}
    device = {"driver": "d", "pool": "p", "device": "x"}
    device["conditions"] = [{"type": kind, "status": status} for kind, status in conditions]  # type: ignore[assignment]
    claim = a_resource_claim(allocation={"devices": {"results": [result]}}, devices=[device])
    assert (refused(RESOURCES, cluster(claim), claiming().info()) == {}) is fit


def test_a_claim_from_a_template_is_the_one_that_the_status_names() -> None:
    cache = cluster(a_resource_claim("made", owner="uid-default-p", on=ON_N1))
    assert refused(RESOURCES, cache, from_template("made").info()) == {"n2": ELSEWHERE}


def test_a_template_of_which_none_was_made_needs_nothing() -> None:
    pod = from_template(statuses=[{"name": "gpu"}])
    assert refused(RESOURCES, cluster(), pod.info()) is None


def test_a_pod_without_claims_is_not_looked_at() -> None:
    assert refused(RESOURCES, cluster(), make_pod().requests(cpu="1").info()) is None


def test_claims_that_do_not_name_the_pod_are_to_be_reserved() -> None:
    pod = claiming("mine", "new", "new").info()
    cache = cluster(a_resource_claim("mine", users=("other", pod.uid)), a_resource_claim("new", users=("other",)))
    prepared = RESOURCES.prepare(cache.view, pod)
    assert prepared is not None
    assert not isinstance(prepared, Problem)
    assert prepared.reservations() == (Reservation("default", "new", "uid-new"),)


def claim_change(before: Json | None, after: Json) -> Change:
    parsed = None if before is None else ResourceClaim.parse(before)
    return Change(ChangeKind.RESOURCE_CLAIM, before=parsed, after=ResourceClaim.parse(after))


@pytest.mark.parametrize(
    ("news", "want"),
    [
        pytest.param(Change(ChangeKind.NODE_ADDED, after=make_node().info()), True, id="a node came"),
        pytest.param(claim_change(None, a_resource_claim()), True, id="the claim came"),
        pytest.param(claim_change(a_resource_claim(allocated=False), a_resource_claim()), True, id="it was allocated"),
        pytest.param(
            claim_change(a_resource_claim(), a_resource_claim(finalizers=["x"], labels={"a": "b"})),
            False,
            id="only its metadata changed",
        ),
        pytest.param(claim_change(None, a_resource_claim("other")), False, id="another claim came"),
    ],
)
def test_what_helps(news: Change, *, want: bool) -> None:
    assert news.kind & RESOURCES.wakes
    assert RESOURCES.helps(news, claiming("gpu").info(), cluster(a_resource_claim()).view) is want


def test_a_claim_helps_only_once_all_are_there() -> None:
    news = claim_change(None, a_resource_claim())
    assert not RESOURCES.helps(news, claiming("gpu", "gone").info(), cluster(a_resource_claim()).view)


def test_the_store_answers_with_what_changed() -> None:
    cache = cluster()
    kind = KINDS["ResourceClaim"]
    came = cache.put_object(kind, ResourceClaim.parse(a_resource_claim(resourceVersion="1")))
    assert came is not None
    assert (came.kind, came.before) == (ChangeKind.RESOURCE_CLAIM, None)
    again = ResourceClaim.parse(a_resource_claim(resourceVersion="2"))
    assert cache.put_object(kind, again) is None, "only the version is another"
    assert cache.view.resource_claims.get("default", "gpu") == again
    gone = cache.drop_object(kind, "default/gpu")
    assert gone is not None
    assert gone.before == again
    assert cache.view.resource_claims.get("default", "gpu") is None
    assert cache.drop_object(kind, "default/gpu") is None
