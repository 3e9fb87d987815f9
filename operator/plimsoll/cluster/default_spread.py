"""Which pods belong together where a pod does not say how to spread. Rules: kube-scheduler's DefaultSelector."""

from __future__ import annotations

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.selectors import LabelSelector, equality
from plimsoll.cluster.services import REPLICA_SET, REPLICATION_CONTROLLER, STATEFUL_SET, Controller, Services

# Only controllers of exactly these API groups count.
_OWNERS = {
    ("v1", REPLICATION_CONTROLLER),
    ("apps/v1", REPLICA_SET),
    ("apps/v1", STATEFUL_SET),
}


def default_selector(services: Services, pod: PodInfo) -> LabelSelector | None:
    """The selectors of the pod's services and of its controller together; None where there are none."""
    labels = {key: value for service in services.of(pod) for key, value in service.selector.items()}
    controller = _controller(services, pod)
    if controller is None or controller.selector is None:
        requirements = tuple(equality(labels))
    elif controller.kind == REPLICATION_CONTROLLER:
        # Plain maps are merged, and its own goes before the services'.
        merged = {r.key: r for r in (*equality(labels), *controller.selector.requirements)}
        requirements = tuple(merged.values())
    else:
        requirements = (*equality(labels), *controller.selector.requirements)
    return LabelSelector(requirements) if requirements else None


def _controller(services: Services, pod: PodInfo) -> Controller | None:
    owner = pod.owner
    if owner is None or (owner.api_version, owner.kind) not in _OWNERS:
        return None
    return services.controller(owner.kind, f"{pod.namespace}/{owner.name}")
