"""The default selector of kube-scheduler's spreading, from services and controllers."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.default_spread import default_selector
from plimsoll.cluster.kinds import KINDS
from plimsoll.errors import ObjectError
from tests.builders import PodBuilder, make_cache, make_pod

Json = dict[str, Any]


def service(name: str, selector: Json | None, namespace: str = "default") -> Json:
    spec = {} if selector is None else {"selector": selector}
    return {"kind": "Service", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def controller(kind: str, name: str, selector: Json | None, namespace: str = "default") -> Json:
    spec = {} if selector is None else {"selector": selector}
    return {"kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def owned(kind: str, name: str, api_version: str, *, controls: bool = True) -> PodBuilder:
    reference = {"apiVersion": api_version, "kind": kind, "name": name, "uid": "u", "controller": controls}
    return make_pod().labels(app="web", tier="front").metadata(ownerReferences=[reference])


def selected(pod: PodBuilder, *objects: Json, gone: tuple[str, str] | None = None) -> dict[str, set[str]] | None:
    """Values by key of the selector's requirements."""
    cache = make_cache()
    for thing in objects:
        kind = KINDS[thing["kind"]]
        assert cache.put_object(kind, kind.parse(thing)) is None
    if gone is not None:
        assert cache.drop_object(KINDS[gone[0]], gone[1]) is None
    selector = default_selector(cache.view.services, pod.info())
    return None if selector is None else {r.key: set(r.values) for r in selector.requirements}


WEB = make_pod().labels(app="web", tier="front")
FRONT = {"matchLabels": {"tier": "front"}}
IN_FRONT = {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["front", "back"]}]}


@pytest.mark.parametrize(
    ("pod", "objects", "want"),
    [
        pytest.param(WEB, [], None, id="nothing selects the pod"),
        pytest.param(WEB, [service("s", {"app": "web"})], {"app": {"web"}}, id="a service"),
        pytest.param(
            WEB,
            [service("s", {"app": "web"}), service("t", {"app": "web", "tier": "front"})],
            {"app": {"web"}, "tier": {"front"}},
            id="services together",
        ),
        pytest.param(WEB, [service("s", {"app": "web", "tier": "back"})], None, id="all labels must match"),
        pytest.param(WEB, [service("s", None)], None, id="a service without a selector selects none"),
        pytest.param(WEB, [service("s", {})], None, id="nor does one that is empty"),
        pytest.param(WEB, [service("s", {"app": "web"}, "other")], None, id="services of other namespaces do not"),
        pytest.param(
            owned("ReplicaSet", "r", "apps/v1"),
            [controller("ReplicaSet", "r", IN_FRONT), service("s", {"app": "web"})],
            {"app": {"web"}, "tier": {"front", "back"}},
            id="a ReplicaSet beside a service",
        ),
        pytest.param(
            owned("StatefulSet", "r", "apps/v1"),
            [controller("StatefulSet", "r", FRONT)],
            {"tier": {"front"}},
            id="a StatefulSet",
        ),
        pytest.param(
            owned("ReplicationController", "r", "v1"),
            [controller("ReplicationController", "r", {"tier": "back"}), service("s", {"tier": "front"})],
            {"tier": {"back"}},
            id="a ReplicationController goes before services",
        ),
        pytest.param(owned("ReplicaSet", "r", "apps/v1"), [], None, id="a controller that is not there"),
        pytest.param(
            owned("ReplicaSet", "r", "apps/v1"),
            [controller("ReplicaSet", "r", FRONT, "other")],
            None,
            id="a controller of another namespace",
        ),
        pytest.param(
            owned("ReplicaSet", "r", "extensions/v1beta1"),
            [controller("ReplicaSet", "r", FRONT)],
            None,
            id="a controller of another group",
        ),
        pytest.param(
            owned("ReplicaSet", "r", "apps/v1", controls=False),
            [controller("ReplicaSet", "r", FRONT)],
            None,
            id="an owner that does not control",
        ),
        pytest.param(
            owned("StatefulSet", "r", "apps/v1"),
            [controller("ReplicaSet", "r", FRONT)],
            None,
            id="a controller of another kind",
        ),
        pytest.param(
            owned("ReplicaSet", "r", "apps/v1"),
            [controller("ReplicaSet", "r", None)],
            None,
            id="a controller without a selector",
        ),
    ],
)
def test_the_selector_of_services_and_controllers(
    pod: PodBuilder, objects: list[Json], want: dict[str, set[str]] | None
) -> None:
    assert selected(pod, *objects) == want


def test_services_change_and_go() -> None:
    before, after = service("s", {"app": "web"}), service("s", {"tier": "front"})
    assert selected(WEB, before, after) == {"tier": {"front"}}
    assert selected(WEB, before, after, gone=("Service", "default/s")) is None
    assert selected(WEB, before, gone=("Service", "default/unknown")) == {"app": {"web"}}
    replica_set = controller("ReplicaSet", "r", FRONT)
    assert selected(owned("ReplicaSet", "r", "apps/v1"), replica_set, gone=("ReplicaSet", "default/r")) is None


@pytest.mark.parametrize(
    "thing",
    [
        controller("ReplicaSet", "bad", {"matchExpressions": [{"key": "a", "operator": "Near"}]}),
        controller("StatefulSet", "bad", {"matchLabels": ["a"]}),
        service("bad", {"a": "b"}) | {"spec": ["selector"]},
    ],
    ids=["operator", "labels", "spec"],
)
def test_what_cannot_be_read_is_named(thing: Json) -> None:
    with pytest.raises(ObjectError, match=f"{thing['kind']} default/bad cannot be read"):
        KINDS[thing["kind"]].parse(thing)
