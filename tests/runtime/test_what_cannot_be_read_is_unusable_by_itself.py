"""One object that cannot be read is named and left out; nothing else changes, and nothing of what it was stays."""

from __future__ import annotations

import logging
import time
from typing import Any

import numpy as np
import pytest

from plimsoll.errors import ObjectError
from plimsoll.reporting.conditions import unscheduled
from plimsoll.runtime.mirror import ApiObjects, AssignedPods, Namespaces, Nodes
from plimsoll.runtime.pending import PendingPods
from plimsoll.runtime.policies import PolicyBook
from plimsoll.scheduling.decision import Bind, Outcome, Refuse
from plimsoll.scheduling.offline import read_cluster
from plimsoll.scheduling.scheduler import Scheduler
from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod
from tests.volume_objects import a_claim, a_volume, using

Json = dict[str, Any]


def _nothing() -> None: ...


@pytest.fixture
def nodes(scheduler: Scheduler) -> Nodes:
    return Nodes(scheduler, wake=_nothing)


@pytest.fixture
def assigned(scheduler: Scheduler) -> AssignedPods:
    return AssignedPods(scheduler, wake=_nothing)


@pytest.fixture
def pending(scheduler: Scheduler) -> PendingPods:
    return PendingPods(scheduler, wake=_nothing)


def place(scheduler: Scheduler, pod: PodBuilder) -> Bind | Refuse:
    scheduler.pod_pending(pod.info(), now_s=time.time())
    return tried(scheduler)


def tried(scheduler: Scheduler, *, after_s: float = 0.0) -> Bind | Refuse:
    command = scheduler.next_command(now_s=time.time() + after_s)
    assert isinstance(command, Bind | Refuse)
    return command


# -- nodes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(make_node("node-1").allocatable(cpu="lots"), id="a quantity"),
        pytest.param(make_node("node-1").metadata(labels={"disk": 7}), id="a label"),
        pytest.param(make_node("node-1").metadata(labels=["disk"]), id="labels that are a list"),
    ],
)
def test_a_node_that_cannot_be_read_any_more_loses_what_it_was(
    scheduler: Scheduler, nodes: Nodes, odd: NodeBuilder
) -> None:
    with pytest.raises(ObjectError, match="node node-1 cannot be read"):
        nodes.on_updated(odd.obj())
    assert [node.name for node in scheduler.nodes()] == ["node-2"]
    assert place(scheduler, make_pod("web").cpu("16")).decision.node == "node-2"
    assert place(scheduler, make_pod("next").cpu("16")).decision.node == ""


def test_a_node_that_was_mended_is_used_again_with_the_pods_that_run_there(
    scheduler: Scheduler, nodes: Nodes, assigned: AssignedPods
) -> None:
    assigned.on_added(make_pod("there").cpu("10").on("node-1").obj())
    with pytest.raises(ObjectError):
        nodes.on_updated(make_node("node-1").allocatable(cpu="lots").obj())
    nodes.on_updated(make_node("node-1").obj())
    scheduler.node_gone("node-2", now_s=time.time())
    assert place(scheduler, make_pod("large").cpu("7")).decision.node == ""
    assert place(scheduler, make_pod("small").cpu("6")).decision.node == "node-1"


# -- pending pods ---------------------------------------------------------------------------------------------

ODD_PODS = [
    pytest.param(make_pod("odd").cpu("lots"), "'lots' is not a quantity", id="a quantity"),
    pytest.param(make_pod("odd").metadata(labels={"app": 7}), "metadata.labels[app] must be a text", id="a label"),
    pytest.param(make_pod("odd").spec(tolerations=["all"]), "cannot be read", id="a toleration"),
    pytest.param(make_pod("odd").spec(containers="none"), "cannot be read", id="containers"),
]


@pytest.mark.parametrize(("odd", "why"), ODD_PODS)
def test_a_pending_pod_is_refused_with_a_sentence_that_names_it_as_an_error_that_no_autoscaler_acts_on(
    scheduler: Scheduler, pending: PendingPods, odd: PodBuilder, why: str
) -> None:
    pending.seen(odd.obj())
    command = tried(scheduler)
    condition = unscheduled(command.decision)
    assert (condition.status, condition.reason) == ("False", "SchedulerError")
    assert condition.message.startswith("pod default/odd cannot be read: ")
    assert why in condition.message


def test_it_is_not_told_again_by_each_resync(scheduler: Scheduler, pending: PendingPods) -> None:
    pending.seen(make_pod("odd").cpu("lots").obj())
    tried(scheduler)
    for version in ("2", "3"):
        pending.seen(make_pod("odd").cpu("lots").metadata(resourceVersion=version).status(message="x").obj())
    scheduler.node_seen(make_node("node-3").info(), now_s=time.time())
    assert scheduler.next_command(now_s=time.time() + 20) is None


def test_it_is_told_again_when_something_else_is_wrong_with_it(scheduler: Scheduler, pending: PendingPods) -> None:
    pending.seen(make_pod("odd").cpu("lots").obj())
    tried(scheduler)
    pending.seen(make_pod("odd").cpu("many").metadata(resourceVersion="2").obj())
    assert "'many' is not a quantity" in tried(scheduler, after_s=20).decision.problem


def test_it_is_placed_once_it_is_mended(scheduler: Scheduler, pending: PendingPods) -> None:
    pending.seen(make_pod("odd").cpu("lots").obj())
    tried(scheduler)
    pending.seen(make_pod("odd").cpu("1").metadata(resourceVersion="2").obj())
    assert isinstance(tried(scheduler, after_s=20), Bind)


def test_others_are_placed_before_and_after_it(scheduler: Scheduler, pending: PendingPods) -> None:
    for pod in (make_pod("one"), make_pod("odd").cpu("lots"), make_pod("two")):
        pending.seen(pod.obj())
    outcomes = {c.pod.name: c.decision.outcome for c in (tried(scheduler) for _ in range(3))}
    assert outcomes == {"one": Outcome.BIND, "odd": Outcome.ERROR, "two": Outcome.BIND}


def test_one_that_became_unreadable_while_it_waited_is_not_placed_as_it_was(
    scheduler: Scheduler, pending: PendingPods
) -> None:
    pending.seen(make_pod("odd").cpu("1").obj())
    pending.seen(make_pod("odd").cpu("lots").metadata(resourceVersion="2").obj())
    assert tried(scheduler).decision.outcome is Outcome.ERROR


def test_one_that_is_held_back_by_gates_is_left_to_them(scheduler: Scheduler, pending: PendingPods) -> None:
    pending.seen(make_pod("odd").cpu("lots").gated("x").obj())
    assert scheduler.next_command(now_s=time.time()) is None


# -- pods on nodes --------------------------------------------------------------------------------------------


def test_a_pod_on_a_node_keeps_its_slot(
    scheduler: Scheduler, assigned: AssignedPods, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("node-1", "node-2"):
        scheduler.node_seen(make_node(name).offers(pods="1").info(), now_s=time.time())
    assigned.on_added(make_pod("odd").cpu("lots").on("node-1").obj())
    assert "pod counts as far as it can be read: pod default/odd cannot be read" in caplog.text
    assert caplog.records[0].levelno == logging.WARNING
    assert place(scheduler, make_pod("web")).decision.node == "node-2"
    assert place(scheduler, make_pod("next")).decision.node == ""


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(make_pod("odd").spec(tolerations=["all"]), id="tolerations"),
        pytest.param(make_pod("odd").metadata(labels={"app": 7}), id="a label"),
        pytest.param(make_pod("odd").status(containerStatuses="none"), id="the status"),
    ],
)
def test_a_pod_on_a_node_keeps_what_it_requests_where_that_can_be_read(
    scheduler: Scheduler, assigned: AssignedPods, odd: PodBuilder
) -> None:
    with pytest.raises(ObjectError):
        odd.on("node-1").info()
    assigned.on_added(odd.cpu("16").on("node-1").obj())
    assert place(scheduler, make_pod("web").cpu("1")).decision.node == "node-2"


def test_a_pod_on_a_node_that_has_ended_frees_it(scheduler: Scheduler, assigned: AssignedPods) -> None:
    scheduler.node_gone("node-2", now_s=time.time())
    odd = make_pod("odd").cpu("16").spec(tolerations=["all"]).on("node-1")
    assigned.on_added(odd.obj())
    assert place(scheduler, make_pod("web").cpu("1")).decision.node == ""
    assigned.on_updated(odd.phase("Succeeded").obj())
    assert tried(scheduler, after_s=20).decision.node == "node-1"


def test_a_pod_on_a_node_counts_in_a_cluster_that_is_written_down_too() -> None:
    odd = make_pod("odd").cpu("16").spec(tolerations=["all"]).on("node-1").obj()
    items = [make_node("node-1").obj(), odd, make_pod("web").cpu("1").obj()]
    cluster = read_cluster(items, scheduler_name="plimsoll", now_s=time.time(), rng=np.random.default_rng(1))
    assert len(cluster.unreadable) == 1
    assert cluster.judge(cluster.pending["default/web"]).feasible == []


# -- other objects --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "good", "odd"),
    [
        pytest.param(
            "PersistentVolumeClaim",
            a_claim("data", volume="v", bound=True),
            a_claim("data", volume="v", bound=True, size="lots"),
            id="a claim",
        ),
        pytest.param("PersistentVolume", a_volume("v"), a_volume("v", size="lots"), id="a volume"),
    ],
)
def test_a_volume_or_claim_that_cannot_be_read_stops_its_own_pod_alone(
    scheduler: Scheduler, kind: str, good: Json, odd: Json
) -> None:
    others = [a_claim("data", volume="v", bound=True), a_volume("v")]
    mirrors = {k: ApiObjects(k, scheduler, wake=_nothing) for k in ("PersistentVolumeClaim", "PersistentVolume")}
    for thing in others:
        mirrors[thing["kind"]].on_added(thing)
    assert place(scheduler, using(make_pod("before"), "data")).decision.node
    with pytest.raises(ObjectError, match=f"{good['metadata']['name']} cannot be read"):
        mirrors[kind].on_updated(odd)
    assert place(scheduler, using(make_pod("after"), "data")).decision.node == ""
    assert place(scheduler, make_pod("other")).decision.node
    mirrors[kind].on_updated(good)
    assert tried(scheduler, after_s=20).pod.name == "after"


def test_a_namespace_whose_labels_cannot_be_read_has_none(scheduler: Scheduler) -> None:
    namespaces = Namespaces(scheduler, wake=_nothing)
    scheduler.pod_assigned(make_pod("db", "team").labels(app="db").on("node-1").info(), now_s=time.time())
    namespaces.on_added({"metadata": {"name": "team", "labels": {"kind": "data"}}})
    apart = {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {"app": "db"}},
        "namespaceSelector": {"matchLabels": {"kind": "data"}},
    }
    scheduler.node_gone("node-2", now_s=time.time())
    assert place(scheduler, make_pod("web").apart(apart)).decision.node == ""
    with pytest.raises(ObjectError, match="namespace team cannot be read"):
        namespaces.on_updated({"metadata": {"name": "team", "labels": {"kind": 7}}})
    assert tried(scheduler, after_s=20).decision.node == "node-1"


def test_a_policy_that_cannot_be_read_leaves_the_others_in_force(
    scheduler: Scheduler, policy_object: Any, caplog: pytest.LogCaptureFixture
) -> None:
    policies = PolicyBook(scheduler, changed=lambda _: None)
    policies.seen(policy_object("odd", podSelector={"matchExpressions": [{"key": "app", "operator": "Near"}]}))
    policies.seen(policy_object("even"))
    odd = policies.get("odd")
    assert odd is not None
    assert odd.policy is None
    assert "policy cannot be put in force" in caplog.text
    assert place(scheduler, make_pod("web").annotate("plimsoll.dev/policy", "even")).decision.policy == "even"
