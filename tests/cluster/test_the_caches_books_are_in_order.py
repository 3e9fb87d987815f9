"""Whatever happens in whatever order, the arrays are what one would count anew from nodes and pods."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import HostPort, PodInfo, Uid
from tests.builders import make_node, make_pod

NODES = [f"n{i}" for i in range(20)]
ZONES = ["", "a", "b"]
RESOURCES = ["cpu", "memory", "nvidia.com/gpu", "hugepages-2Mi", "example.com/thing"]
IPS = ["0.0.0.0", "10.0.0.1", "10.0.0.2"]
PORTS = [80, 81]

amounts = st.dictionaries(st.sampled_from(RESOURCES), st.integers(min_value=0, max_value=5), max_size=3)
nodes = st.builds(
    lambda name, zone, offered, cordoned: _node(name, zone, offered, cordoned=cordoned),
    st.sampled_from(NODES), st.sampled_from(ZONES), amounts, st.booleans(),
)  # fmt: skip
shapes = st.builds(
    lambda asked, ports, owner, deleting: _pod("shape", asked, ports, owner, deleting=deleting),
    amounts,
    st.lists(st.tuples(st.sampled_from(IPS), st.sampled_from(PORTS)), max_size=2, unique=True),
    st.sampled_from(["web", "db"]),
    st.booleans(),
)


def _node(name: str, zone: str, offered: dict[str, int], *, cordoned: bool) -> NodeInfo:
    node = make_node(name)
    for resource, amount in offered.items():
        node.resource(resource, str(amount))
    if zone:
        node.zone(zone)
    return (node.cordoned() if cordoned else node).info()


def _pod(name: str, asked: dict[str, int], ports: list[tuple[str, int]], owner: str, *, deleting: bool) -> PodInfo:
    pod = make_pod(name).owner("Job", owner)
    for resource, amount in asked.items():
        pod.resource(resource, str(amount))
    for ip, port in ports:
        pod.port(port, ip=ip)
    return (pod.deleting() if deleting else pod).info()


class Books(RuleBasedStateMachine):
    """Drives a Cache, and keeps plain dictionaries of the nodes and pods that should be in it."""

    pods: Bundle[Uid] = Bundle("pods")

    @initialize()
    def begin(self) -> None:
        self.cache = Cache()
        self.nodes: dict[str, NodeInfo] = {}
        self.assigned: dict[Uid, PodInfo] = {}
        self.assumed: set[Uid] = set()
        self.serial = itertools.count()

    @rule(node=nodes)
    def node_is_seen(self, node: NodeInfo) -> None:
        self.cache.put_node(node)
        self.nodes[node.name] = node

    @rule(name=st.sampled_from(NODES))
    def node_goes(self, name: str) -> None:
        self.cache.drop_node(name)
        self.nodes.pop(name, None)

    @rule(target=pods, shape=shapes, node=st.sampled_from(NODES))
    def pod_is_assigned(self, shape: PodInfo, node: str) -> Uid:
        pod = replace(shape, uid=Uid(f"p{next(self.serial)}"), node=node)
        self.cache.put_pod(pod)
        self.assigned[pod.uid] = pod
        return pod.uid

    @rule(target=pods, shape=shapes, node=st.sampled_from(NODES))
    def pod_is_assumed(self, shape: PodInfo, node: str) -> Uid:
        pod = replace(shape, uid=Uid(f"p{next(self.serial)}"))
        self.assigned[pod.uid] = self.cache.assume(pod, node)
        self.assumed.add(pod.uid)
        return pod.uid

    @rule(uid=pods, shape=shapes)
    def pod_changes(self, uid: Uid, shape: PodInfo) -> None:
        """Also how an assumption is confirmed. What was said to be deleted goes on being so."""
        if before := self.assigned.get(uid):
            self._is_now(replace(shape, uid=uid, node=before.node, deleting=shape.deleting or before.deleting))

    @rule(uid=pods, node=st.sampled_from(NODES))
    def pod_turns_out_to_be_elsewhere(self, uid: Uid, node: str) -> None:
        if uid in self.assigned:
            self._is_now(replace(self.assigned[uid], node=node))

    @rule(uid=pods, phase=st.sampled_from(["Succeeded", "Failed"]))
    def pod_ends(self, uid: Uid, phase: str) -> None:
        if uid in self.assigned:
            self.cache.put_pod(replace(self.assigned.pop(uid), phase=phase))
            self.assumed.discard(uid)

    @rule(uid=pods)
    def pod_goes(self, uid: Uid) -> None:
        self.cache.drop_pod(uid)
        self.assigned.pop(uid, None)
        self.assumed.discard(uid)

    @rule(uid=pods)
    def pod_is_forgotten(self, uid: Uid) -> None:
        self.cache.forget(uid)
        if uid in self.assumed:
            self.assumed.discard(uid)
            del self.assigned[uid]

    @rule(shape=shapes, node=st.sampled_from(NODES))
    def assuming_and_forgetting_is_nothing(self, shape: PodInfo, node: str) -> None:
        pod = replace(shape, uid=Uid("passing"))
        before = self._arrays()
        self.cache.assume(pod, node)
        self.cache.forget(pod.uid)
        assert {**self._arrays(), **before} == self._arrays()

    def _is_now(self, pod: PodInfo) -> None:
        self.cache.put_pod(pod)
        self.assigned[pod.uid] = pod
        self.assumed.discard(pod.uid)

    def _arrays(self) -> dict[str, object]:
        view = self.cache.view
        columns = {name: view.requested[:, column].tolist() for name, column in view.columns.items()}
        return {**columns, "topology": view.topology, "live": view.live.tolist(), "assumed": self.cache.assumed()}

    @invariant()
    def every_node_has_a_row_of_its_own(self) -> None:
        view = self.cache.view
        assert {name: view.nodes[row] for name, row in view.row_of.items()} == self.nodes
        assert sorted(view.row_of.values()) == [row for row, _ in view.live_nodes()] == view.live.nonzero()[0].tolist()
        assert view.size <= len(NODES)

    @invariant()
    def the_arrays_are_what_one_would_count(self) -> None:
        view = self.cache.view
        for name, row in view.row_of.items():
            node, here = self.nodes[name], [p for p in self.assigned.values() if p.node == name]
            for resource, column in view.columns.items():
                assert view.allocatable[row, column] == node.allocatable.get(resource, 0)
                asked = len(here) if resource == "pods" else sum(p.requests.get(resource, 0) for p in here)
                assert view.requested[row, column] == asked
        free = ~view.live
        assert not view.allocatable[free].any()
        assert not view.requested[free].any()

    @invariant()
    def zones_tell_nodes_apart_as_their_labels_do(self) -> None:
        view = self.cache.view
        numbers = {(self.nodes[name].zone, int(view.zone[row])) for name, row in view.row_of.items()}
        assert len({zone for zone, _ in numbers}) == len({number for _, number in numbers}) == len(numbers)
        assert all((number == 0) == (zone == "") for zone, number in numbers)

    @invariant()
    def ports_and_workloads_are_what_one_would_count(self) -> None:
        row_of, live = self.cache.view.row_of, [p for p in self.assigned.values() if p.node in self.nodes]
        for ip, port in itertools.product(IPS, PORTS):
            clashing = {
                row_of[p.node]
                for p in live
                if any(h.port == port and (ip == h.ip or "0.0.0.0" in {ip, h.ip}) for h in p.host_ports)
            }
            assert set(self.cache.view.ports.rows_in_conflict(HostPort(ip, "TCP", port))) == clashing
        for owner in ("web", "db"):
            counted = Counter(row_of[p.node] for p in live if p.workload.endswith(owner) and not p.deleting)
            assert self.cache.view.workloads.counts(_pod("x", {}, [], owner, deleting=False).workload) == counted

    @invariant()
    def pods_are_found_by_uid_and_by_node(self) -> None:
        assert {p.uid: p for p in self.cache.pods()} == self.assigned
        assert self.cache.assumed() == self.assumed
        for name in NODES:
            assert {p.uid for p in self.cache.pods_on(name)} == {u for u, p in self.assigned.items() if p.node == name}


TestBooks = Books.TestCase
TestBooks.settings = settings(max_examples=30, stateful_step_count=35, deadline=None)
