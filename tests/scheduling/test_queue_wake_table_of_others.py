"""As test_queue_wake_table, of plugins that look at other pods, at volumes and at claims."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod
from tests.scheduling.conftest import World
from tests.scheduling.waking import (
    Step,
    comes,
    does_not_wake,
    goes,
    itself,
    node_is,
    rejected,
    thing_goes,
    thing_is,
    wakes,
)
from tests.scheduling.waking import waiting_pod as pod
from tests.volume_objects import a_capacity, a_claim, a_class, a_driver, a_volume, topology, using

Json = dict[str, Any]
Begin = Callable[[World], None]
X = {"matchLabels": {"app": "x"}}
TERM = {"topologyKey": "zone", "labelSelector": X}


def node(name: str, zone: str = "") -> NodeBuilder:
    made = make_node(name)
    return made.label("zone", zone) if zone else made


def x(name: str, on: str, app: str = "x") -> PodBuilder:
    return make_pod(name).labels(app=app).on(on)


def happens(world: World, *steps: Step) -> None:
    for step in steps:
        step(world)


# -- PodTopologySpread ------------------------------------------------------------------------------------------


def spread(world: World) -> None:
    """Zone a has one such pod more than zone b, whose only node is tainted."""
    world.nodes(node("a1", "a"), node("b1", "b").taint("t"))
    world.assigned(x("one", "a1"), x("other", "a1", app="y"))
    waiting = pod().labels(app="x").spread_over("zone", X)
    world.pending(waiting)
    decision = world.next()
    assert decision is not None
    assert decision.rejected_by == {"PodTopologySpread", "TaintToleration"}
    world.passes(20)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(goes(x("one", "a1")), id="a matching pod deleted"),
        pytest.param(comes(x("one", "a1", app="z")), id="a matching pod relabelled"),
        pytest.param(comes(x("one", "a1").deleting()), id="a matching pod terminating"),
        pytest.param(comes(x("two", "b1")), id="a matching pod added where there were fewest"),
        pytest.param(node_is(node("c1", "c")), id="a node added in a new domain"),
        pytest.param(lambda world: world.node_goes("b1"), id="the emptiest domain deleted"),
        pytest.param(itself(pod().labels(app="y").spread_over("zone", X)), id="own label: it no longer counts itself"),
    ],
)
def test_row_pod_topology_spread_wakes(world: World, step: Step) -> None:
    spread(world)
    wakes(world, step)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(goes(x("other", "a1", app="y")), id="another pod deleted"),
        pytest.param(comes(x("new", "b1", app="y")), id="another pod added"),
        pytest.param(comes(x("other", "a1", app="z")), id="another pod relabelled"),
        pytest.param(node_is(node("a1", "a").label("x", "y")), id="a label that is no key"),
        pytest.param(node_is(node("a1", "a").offers(cpu="99")), id="more room"),
    ],
)
def test_row_pod_topology_spread_does_not_wake(world: World, step: Step) -> None:
    spread(world)
    does_not_wake(world, step)


# -- InterPodAffinity -------------------------------------------------------------------------------------------


def together(world: World) -> None:
    world.nodes(node("a1", "a"))
    world.assigned(x("other", "a1", app="y"))
    rejected(world, pod().labels(app="w").together(TERM), "InterPodAffinity")


def apart(world: World) -> None:
    world.nodes(node("a1", "a"))
    world.assigned(x("one", "a1"), x("other", "a1", app="y"))
    rejected(world, pod().apart(TERM), "InterPodAffinity")


def kept_away(world: World) -> None:
    world.nodes(node("a1", "a"))
    world.assigned(x("one", "a1", app="y").apart(TERM), x("other", "a1", app="y"))
    rejected(world, pod().labels(app="x"), "InterPodAffinity")


@pytest.mark.parametrize(
    ("begin", "step"),
    [
        pytest.param(together, comes(x("one", "a1")), id="a matching pod added"),
        pytest.param(together, comes(x("other", "a1")), id="a pod relabelled so that it matches"),
        pytest.param(apart, goes(x("one", "a1")), id="the pod in the way deleted"),
        pytest.param(apart, comes(x("one", "a1", app="z")), id="the pod in the way relabelled"),
        pytest.param(apart, node_is(node("b1", "b")), id="a node added"),
        pytest.param(apart, node_is(node("a2")), id="a node added without the key"),
        pytest.param(kept_away, goes(x("one", "a1", app="y").apart(TERM)), id="the pod that keeps it away deleted"),
        pytest.param(kept_away, itself(pod().labels(app="z")), id="own label"),
    ],
)
def test_row_inter_pod_affinity_wakes(world: World, begin: Begin, step: Step) -> None:
    begin(world)
    wakes(world, step)


@pytest.mark.parametrize(
    ("begin", "step"),
    [
        pytest.param(together, comes(x("new", "a1", app="y")), id="another pod added"),
        pytest.param(together, goes(x("other", "a1", app="y")), id="another pod deleted"),
        pytest.param(together, node_is(node("n2")), id="a node added without the key"),
        pytest.param(apart, goes(x("other", "a1", app="y")), id="a pod deleted that was not in the way"),
        pytest.param(apart, comes(x("new", "a1")), id="a pod added that is in the way, too"),
        pytest.param(kept_away, goes(x("other", "a1", app="y")), id="a pod deleted that kept nobody away"),
        pytest.param(kept_away, node_is(node("a1", "a").offers(cpu="99")), id="more room"),
    ],
)
def test_row_inter_pod_affinity_does_not_wake(world: World, begin: Begin, step: Step) -> None:
    begin(world)
    does_not_wake(world, step)


# -- VolumeRestrictions -----------------------------------------------------------------------------------------


def alone() -> Json:
    claim = a_claim("alone", volume="v", bound=True)
    claim["spec"]["accessModes"] = ["ReadWriteOncePod"]
    return claim


def exclusive(world: World) -> None:
    happens(world, node_is(make_node("n1")), thing_is(a_volume("v", phase="Bound")), thing_is(alone()))
    world.assigned(using(x("user", "n1"), "alone"), x("other", "n1"))
    rejected(world, using(pod(), "alone"), "VolumeRestrictions")


def test_row_volume_restrictions_wakes_when_the_user_of_the_claim_is_deleted(world: World) -> None:
    exclusive(world)
    wakes(world, goes(using(x("user", "n1"), "alone")))


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(goes(x("other", "n1")), id="another pod deleted"),
        pytest.param(thing_is(a_claim("unrelated")), id="another claim added"),
        pytest.param(node_is(make_node("n1").label("x", "y")), id="a label"),
    ],
)
def test_row_volume_restrictions_does_not_wake(world: World, step: Step) -> None:
    exclusive(world)
    does_not_wake(world, step)


# -- NodeVolumeLimits -------------------------------------------------------------------------------------------


def csi_node(limit: int) -> Json:
    driver = {"name": "csi.x", "nodeID": "n1", "allocatable": {"count": limit}}
    return {"kind": "CSINode", "metadata": {"name": "n1", "uid": "u"}, "spec": {"drivers": [driver]}}


def csi_volume(name: str) -> Json:
    return a_volume(name, phase="Bound", csi={"driver": "csi.x", "volumeHandle": name})


def full(world: World) -> None:
    """One volume is what n1 can have, and has."""
    happens(
        world,
        node_is(make_node("n1")),
        thing_is(csi_node(1)),
        *(thing_is(csi_volume(name)) for name in ("v1", "v2")),
        *(thing_is(a_claim(f"c-{name}", volume=name, bound=True)) for name in ("v1", "v2")),
    )
    world.assigned(using(x("user", "n1"), "c-v1"), x("other", "n1"))
    rejected(world, using(pod(), "c-v2"), "NodeVolumeLimits")


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(thing_is(csi_node(2)), id="limit raised"),
        pytest.param(goes(using(x("user", "n1"), "c-v1")), id="a pod with volumes deleted"),
        pytest.param(node_is(make_node("n2")), id="a node added that has no limit"),
    ],
)
def test_row_node_volume_limits_wakes(world: World, step: Step) -> None:
    full(world)
    wakes(world, step)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(thing_is(csi_node(0)), id="limit lowered"),
        pytest.param(goes(x("other", "n1")), id="a pod without volumes deleted"),
        pytest.param(thing_is(a_claim("unrelated")), id="another claim added"),
    ],
)
def test_row_node_volume_limits_does_not_wake(world: World, step: Step) -> None:
    full(world)
    does_not_wake(world, step)


# -- VolumeBinding ----------------------------------------------------------------------------------------------


def unbound(world: World) -> None:
    """No volume fits the claim, and nobody provides one in zone a."""
    happens(
        world,
        node_is(node("a1", "a")),
        thing_is(a_class(provisioner="csi.x", topologies=[topology(zone=["b"])])),
        thing_is(a_claim("c")),
    )
    rejected(world, using(pod(), "c"), "VolumeBinding")


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(thing_is(a_volume("v")), id="a volume added"),
        pytest.param(thing_is(a_class(provisioner="csi.x")), id="allowedTopologies changed"),
        pytest.param(node_is(node("b1", "b")), id="a node added where one can be provided"),
        pytest.param(node_is(node("a1", "b")), id="a node's labels changed"),
    ],
)
def test_row_volume_binding_wakes(world: World, step: Step) -> None:
    unbound(world)
    wakes(world, step)


def test_row_volume_binding_wakes_when_its_own_claim_is_there(world: World) -> None:
    happens(world, node_is(make_node("n1")), thing_is(a_class()), thing_is(a_volume("v")))
    world.pending(using(pod(), "late"))
    assert world.next() is not None
    world.passes(20)
    wakes(world, thing_is(a_claim("late")))


def test_row_volume_binding_wakes_when_capacity_grows(world: World) -> None:
    happens(
        world,
        node_is(node("a1", "a")),
        thing_is(a_class(provisioner="csi.x")),
        thing_is(a_driver("csi.x", storage_capacity=True)),
        thing_is(a_capacity("s", of_class="wait", topology={"matchLabels": {"zone": "a"}}, capacity="1Gi")),
        thing_is(a_claim("c")),
    )
    rejected(world, using(pod(), "c"), "VolumeBinding")
    grown = a_capacity("s", of_class="wait", topology={"matchLabels": {"zone": "a"}}, capacity="9Gi")
    wakes(world, thing_is(grown))


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(thing_is(a_claim("unrelated")), id="another claim"),
        pytest.param(comes(x("new", "a1")), id="a pod added"),
        pytest.param(node_is(node("a1", "a").taint("x")), id="a taint"),
    ],
)
def test_row_volume_binding_does_not_wake(world: World, step: Step) -> None:
    unbound(world)
    does_not_wake(world, step)


# -- VolumeZone -------------------------------------------------------------------------------------------------

ZONE = "topology.kubernetes.io/zone"


def elsewhere(world: World) -> None:
    happens(
        world,
        node_is(make_node("a1").zone("a")),
        thing_is(a_volume("v", phase="Bound", labels={ZONE: "b"})),
        thing_is(a_claim("c", volume="v", bound=True)),
    )
    rejected(world, using(pod(), "c"), "VolumeZone")


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(node_is(make_node("b1").zone("b")), id="a node added there"),
        pytest.param(node_is(make_node("a1").zone("b")), id="a node's labels changed"),
        pytest.param(thing_is(a_volume("v", phase="Bound", labels={ZONE: "a"})), id="the volume's labels changed"),
    ],
)
def test_row_volume_zone_wakes(world: World, step: Step) -> None:
    elsewhere(world)
    wakes(world, step)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(thing_is(a_claim("unrelated")), id="another claim"),
        pytest.param(comes(x("new", "a1")), id="a pod added"),
        pytest.param(node_is(make_node("a1").zone("a").taint("x")), id="a taint"),
    ],
)
def test_row_volume_zone_does_not_wake(world: World, step: Step) -> None:
    elsewhere(world)
    does_not_wake(world, step)


# -- DRA --------------------------------------------------------------------------------------------------------


def device(name: str = "gpu", *, allocated: bool = True) -> Json:
    status: Json = {"allocation": {}} if allocated else {}
    return {"kind": "ResourceClaim", "metadata": {"name": name, "namespace": "default", "uid": name}, "status": status}


def unallocated(world: World) -> None:
    happens(world, node_is(make_node("n1")), thing_is(device(allocated=False)))
    world.pending(pod().spec(resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}]))
    decision = world.next()
    assert decision is not None
    assert decision.rejected_by == {"DynamicResources"}
    world.passes(20)


def test_row_dra_wakes_when_its_claim_is_allocated(world: World) -> None:
    unallocated(world)
    wakes(world, thing_is(device()))


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(thing_is(device("other")), id="another claim"),
        pytest.param(thing_goes(device()), id="the claim deleted"),
        pytest.param(comes(x("new", "n1")), id="a pod added"),
    ],
)
def test_row_dra_does_not_wake(world: World, step: Step) -> None:
    unallocated(world)
    does_not_wake(world, step)


# -- NodeDeclaredFeatures ---------------------------------------------------------------------------------------

FEATURE = "UserNamespacesHostNetworkSupport"


def featureless(world: World) -> None:
    world.nodes(make_node("n1"))
    rejected(world, pod().spec(hostNetwork=True, hostUsers=False), "NodeDeclaredFeatures")


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(node_is(make_node("n1").status(declaredFeatures=[FEATURE])), id="declared now"),
        pytest.param(node_is(make_node("n2").status(declaredFeatures=[FEATURE])), id="a node added that declares it"),
    ],
)
def test_row_node_declared_features_wakes(world: World, step: Step) -> None:
    featureless(world)
    wakes(world, step)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(node_is(make_node("n1").status(declaredFeatures=["Other"])), id="another feature"),
        pytest.param(node_is(make_node("n2")), id="a node added without it"),
        pytest.param(node_is(make_node("n1").label("x", "y")), id="a label"),
    ],
)
def test_row_node_declared_features_does_not_wake(world: World, step: Step) -> None:
    featureless(world)
    does_not_wake(world, step)
