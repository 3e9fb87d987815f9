"""A pod, parsed once from its JSON into what scheduling asks about."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NewType

import orjson

from plimsoll.cluster.claim_needs import ClaimNeed, claim_needs
from plimsoll.cluster.disruption import Disruption, disruption, giving_way, nominated_node
from plimsoll.cluster.features import NO_FEATURES, required_features
from plimsoll.cluster.frozen import changer
from plimsoll.cluster.images import containers, pod_images
from plimsoll.cluster.labels import labels_of
from plimsoll.cluster.owner import Owner
from plimsoll.cluster.pod_terms import AffinityTerm, PodTerms, WeightedTerm
from plimsoll.cluster.pod_volumes import NO_VOLUMES, UsedVolumes, used_volumes
from plimsoll.cluster.quantity import whole
from plimsoll.cluster.resources import Amounts, assigned_requests, pod_requests
from plimsoll.cluster.running import running_since_s
from plimsoll.cluster.selectors import NodeSelector, Preference
from plimsoll.cluster.shared import NOTHING, shared, shared_mapping, shared_text
from plimsoll.cluster.spread import SpreadConstraint
from plimsoll.cluster.taints import Toleration
from plimsoll.cluster.times import epoch_s
from plimsoll.cluster.unsupported import unsupported_fields
from plimsoll.cluster.workload import WorkloadKey, controller, workload_key
from plimsoll.errors import InvalidInput, ObjectError, QuantityError

Uid = NewType("Uid", str)
Json = Mapping[str, Any]

POLICY_ANNOTATION = "plimsoll.dev/policy"
DECISION_ANNOTATION = "plimsoll.dev/decision"
NETWORK_ANNOTATIONS = {
    "networkReceive": "plimsoll.dev/network-receive",
    "networkTransmit": "plimsoll.dev/network-transmit",
}
# Priority of the built-in class system-cluster-critical; above it a pod is critical.
_CRITICAL_PRIORITY = 2_000_000_000
_NO_EXPECTATION: Mapping[str, int] = {}
_dump: Callable[[object], str] = json.JSONEncoder(sort_keys=True).encode


class HostPort(NamedTuple):
    ip: str
    protocol: str
    port: int


@dataclass(frozen=True, slots=True)
class PodInfo:
    """What scheduling asks about a pod.

    Attributes:
        requests: of an incoming pod by its spec; of an assigned one with resizes counted in (cpu in milli).
        class_key: equal for pods that every constraint and preference about the node alone treats alike.
        expected_network: bytes per second by metric name, from the pod's annotations.
        ignored: annotations that do not parse and are set aside, each with the reason.
        unsupported: paths of hard constraints that Plimsoll does not honour yet.
        terms_problem: kube-scheduler's sentence about selectors of pod (anti-)affinity that it cannot read; "" where
            there are none.
        unreadable: why the pod cannot be read as a whole; it is never placed, and what could be read counts.
        owner, images, containers: its controller, the images that it needs (one entry for each use) and how many
            containers it has, init containers included; only of pods that have no node yet, which alone are scored.
        may_preempt: its preemptionPolicy is not Never.
        volumes: those that decide where it can run.
        resource_claims: those that it needs.
        features: that the node must declare.
        giving_way: it is terminating because a scheduler preempted it.
        nominated_node: of a pending pod, as the API server shows it; its change is no change of the pod.
        generation: of a pod on a node; 0 where unknown.
        disruption: what is said already of why a pod on a node has to go.
        host_network: its network is the node's.
        created_s, scheduled_s, started_s: seconds since the epoch; None where not (yet) known. Started is when the
            kubelet took it on.
        running_s: since when containers of it run, and load the node; None where none does yet.
    """

    uid: Uid
    namespace: str
    name: str
    resource_version: str = ""
    scheduler_name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    node: str = ""
    phase: str = "Pending"
    deleting: bool = False
    priority: int = 0
    created_s: float = 0.0
    scheduled_s: float | None = None
    started_s: float | None = None
    requests: Amounts = field(default_factory=dict)
    host_ports: tuple[HostPort, ...] = ()
    host_network: bool = False
    node_selector: Mapping[str, str] = field(default_factory=dict)
    node_affinity: NodeSelector | None = None
    preferred_nodes: tuple[Preference, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    gates: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    workload: WorkloadKey = WorkloadKey("")
    class_key: str = ""
    daemon: bool = False
    expected_network: Mapping[str, int] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    required_affinity: tuple[AffinityTerm, ...] = ()
    required_anti_affinity: tuple[AffinityTerm, ...] = ()
    preferred_affinity: tuple[WeightedTerm, ...] = ()
    preferred_anti_affinity: tuple[WeightedTerm, ...] = ()
    terms_problem: str = ""
    unreadable: str = ""
    spread: tuple[SpreadConstraint, ...] = ()
    owner: Owner | None = None
    images: tuple[str, ...] = ()
    containers: int = 0
    may_preempt: bool = True
    volumes: UsedVolumes = NO_VOLUMES
    resource_claims: tuple[ClaimNeed, ...] = ()
    features: frozenset[str] = NO_FEATURES
    giving_way: bool = False
    nominated_node: str = field(default="", compare=False)
    generation: int = field(default=0, compare=False)
    disruption: Disruption | None = field(default=None, compare=False)
    running_s: float | None = None

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def terminal(self) -> bool:
        """As good as deleted: it holds neither resources nor ports any more."""
        return self.phase in {"Succeeded", "Failed"}

    def on(self, node: str) -> PodInfo:
        """The same pod on a node."""
        return _on(self, node)

    @property
    def exempt_from_limits(self) -> bool:
        """Critical and DaemonSet pods are needed wherever they may go."""
        return self.daemon or self.priority >= _CRITICAL_PRIORITY

    @classmethod
    def parse(cls, pod: Json) -> PodInfo:
        """From the API server's JSON.

        Raises:
            ObjectError: names the pod and what in it cannot be read.
        """
        metadata = pod.get("metadata") or {}
        try:
            return _parse(pod, metadata)
        except (InvalidInput, AttributeError, KeyError, TypeError, ValueError) as error:
            name = f"{metadata.get('namespace', '?')}/{metadata.get('name', '?')}"
            raise ObjectError(f"pod {name} cannot be read: {error}") from error


_on = changer(PodInfo, "node")


def _parse(pod: Json, metadata: Json) -> PodInfo:
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    annotations = metadata.get("annotations") or {}
    node = shared_text(spec.get("nodeName") or "")
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    preferred = affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
    owner = controller(metadata)
    expected, ignored = _expected_network(annotations)
    terms = PodTerms.parse(spec.get("affinity"), metadata["namespace"])
    labels = shared_mapping(labels_of(metadata))
    features = required_features(spec)
    return PodInfo(
        uid=Uid(metadata["uid"]),
        namespace=shared_text(metadata["namespace"]),
        name=metadata["name"],
        resource_version=metadata.get("resourceVersion", ""),
        scheduler_name=shared_text(spec.get("schedulerName") or ""),
        labels=labels,
        annotations={k: v for k, v in annotations.items() if k.startswith("plimsoll.dev/")} or NOTHING,
        node=node,
        phase=shared_text(status.get("phase") or "Pending"),
        deleting=bool(metadata.get("deletionTimestamp")),
        priority=spec.get("priority") or 0,
        created_s=epoch_s(metadata.get("creationTimestamp")) or 0.0,
        may_preempt=spec.get("preemptionPolicy") != "Never",
        giving_way=giving_way(pod),
        nominated_node=nominated_node(pod),
        generation=(metadata.get("generation") or 0) if node else 0,
        disruption=disruption(pod) if node else None,
        scheduled_s=_condition_time(status, "PodScheduled"),
        started_s=epoch_s(status.get("startTime")),
        running_s=running_since_s(status),
        requests=shared_mapping(assigned_requests(pod) if node else pod_requests(pod)),
        host_ports=tuple(dict.fromkeys(_host_ports(spec))),
        host_network=bool(spec.get("hostNetwork")),
        node_selector=spec.get("nodeSelector") or NOTHING,
        node_affinity=None if required is None else NodeSelector.parse(required),
        preferred_nodes=tuple(Preference.parse(p) for p in preferred),
        tolerations=shared(tuple(Toleration.parse(t) for t in spec.get("tolerations") or ())),
        gates=tuple(str(g.get("name")) for g in spec.get("schedulingGates") or ()),
        unsupported=unsupported_fields(spec),
        workload=WorkloadKey(shared_text(workload_key(pod))),
        class_key=shared_text(
            _class_key((node, spec.get("nodeSelector"), affinity, spec.get("tolerations"), *sorted(features)))
        ),
        daemon=owner is not None and owner.get("kind") == "DaemonSet",
        expected_network=expected or _NO_EXPECTATION,
        ignored=ignored,
        required_affinity=terms.required_affinity,
        required_anti_affinity=terms.required_anti_affinity,
        preferred_affinity=terms.preferred_affinity,
        preferred_anti_affinity=terms.preferred_anti_affinity,
        terms_problem=terms.problem,
        spread=tuple(SpreadConstraint.parse(c, labels) for c in spec.get("topologySpreadConstraints") or ()),
        owner=None if node else Owner.parse(owner),
        images=() if node else shared(pod_images(spec)),
        containers=0 if node else containers(spec),
        volumes=used_volumes(metadata["name"], spec),
        resource_claims=claim_needs(pod),
        features=features,
    )


def _class_key(parts: tuple[object, ...]) -> str:
    try:
        return orjson.dumps(parts, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError:
        # Integers beyond 64 bits, halves of characters: the slower one takes them.
        return _dump(parts)


def _expected_network(annotations: Json) -> tuple[dict[str, int], tuple[str, ...]]:
    """A hint that does not parse is set aside and named: it must not keep a pod from running."""
    expected: dict[str, int] = {}
    ignored: list[str] = []
    for metric, annotation in NETWORK_ANNOTATIONS.items():
        if annotation in annotations:
            try:
                expected[metric] = whole(annotations[annotation])
            except QuantityError as error:
                ignored.append(f"metadata.annotations[{annotation}]: {error}")
    return expected, tuple(ignored)


def _host_ports(spec: Json) -> Iterator[HostPort]:
    """Ports that the pod claims on its node; ordinary init containers have let go of theirs by then."""
    sidecars = (c for c in spec.get("initContainers") or () if c.get("restartPolicy") == "Always")
    for container in (*(spec.get("containers") or ()), *sidecars):
        for port in container.get("ports") or ():
            if (number := port.get("hostPort") or 0) > 0:
                yield HostPort(port.get("hostIP") or "0.0.0.0", port.get("protocol") or "TCP", number)  # noqa: S104


def _condition_time(status: Json, kind: str) -> float | None:
    for condition in status.get("conditions") or ():
        if condition.get("type") == kind and condition.get("status") == "True":
            return epoch_s(condition.get("lastTransitionTime"))
    return None
