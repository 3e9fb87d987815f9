"""What a pod requests and what a node offers, as integers by resource name.

Units: ``cpu`` in thousandths of a core, everything else in its base unit (bytes, pieces). Rules:
component-helpers ``resource/helpers.go`` and kube-scheduler's NodeResourcesFit, 1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from plimsoll.cluster.quantity import milli, whole

Amounts = dict[str, int]
Json = Mapping[str, Any]

CPU, MEMORY, EPHEMERAL_STORAGE, PODS = "cpu", "memory", "ephemeral-storage", "pods"
BASIC = (CPU, MEMORY, EPHEMERAL_STORAGE, PODS)


def amounts(quantities: Mapping[str, Any] | None) -> Amounts:
    """Quantities by resource name as integers; names that kube-scheduler does not track are left out.

    Raises:
        QuantityError: a quantity that does not parse.
    """
    return {name: amount(name, quantity) for name, quantity in (quantities or {}).items() if tracked(name)}


def amount(name: str, quantity: object) -> int:
    return milli(quantity) if name == CPU else whole(quantity)


def tracked(name: str) -> bool:
    return name in BASIC or is_scalar(name)


def is_scalar(name: str) -> bool:
    """Extended resources, huge pages, attachable volumes, and names under ``kubernetes.io/``."""
    if name.startswith(("hugepages-", "attachable-volumes-")):
        return True
    domain, slash, _ = name.partition("/")
    native = domain == "kubernetes.io" or domain.endswith(".kubernetes.io")
    # "requests.<name>" is a quota's spelling of an extended resource, not a resource.
    return bool(slash) and (native or not name.startswith("requests."))


def pod_requests(pod: Json) -> Amounts:
    """What an incoming pod requests: the spec alone (the API server has copied limits into it already)."""
    spec = pod.get("spec") or {}
    total = _aggregate(spec, lambda container: amounts(_requests(container)))
    total.update(_pod_level_only(amounts(_requests(spec))))
    add(total, amounts(spec.get("overhead")))
    return total


def assigned_requests(pod: Json) -> Amounts:
    """What a pod on a node counts for.

    While a resize is under way, the largest of what is asked, allocated and in force is counted; a resize
    that the kubelet called infeasible is not counted as asked.
    """
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    statuses = _running_statuses(spec, status)
    infeasible = _resize_infeasible(status)

    def counted(container: Json) -> Amounts:
        reported = statuses.get(str(container.get("name")))
        return _in_force(_requests(container), reported, infeasible=infeasible)

    total = _aggregate(spec, counted)
    pod_level = _pod_level_only(amounts(_requests(spec)))
    if pod_level:
        total.update(_pod_level_only(_in_force(_requests(spec), status, infeasible=infeasible)))
    add(total, amounts(spec.get("overhead")))
    return total


def add(into: Amounts, more: Mapping[str, int]) -> None:
    for name, value in more.items():
        into[name] = into.get(name, 0) + value


def greatest(*parts: Mapping[str, int]) -> Amounts:
    result: Amounts = {}
    for part in parts:
        for name, value in part.items():
            result[name] = max(result.get(name, value), value)
    return result


def _aggregate(spec: Json, requests_of: Callable[[Json], Amounts]) -> Amounts:
    """The larger of what runs for good and of the hungriest moment of initialisation."""
    main: Amounts = {}
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in spec.get("containers") or ():
        add(main, requests_of(container))
    for container in spec.get("initContainers") or ():
        running = dict(sidecars)
        add(running, requests_of(container))
        # An ordinary init container runs beside the sidecars that were started before it.
        peak = greatest(peak, running)
        if container.get("restartPolicy") == "Always":
            add(main, requests_of(container))
            sidecars = running
    return greatest(main, peak)


def _pod_level_only(pod_level: Amounts) -> Amounts:
    """Only cpu, memory and huge pages can be asked for at pod level (PodLevelResources)."""
    return {n: v for n, v in pod_level.items() if n in {CPU, MEMORY} or n.startswith("hugepages-")}


def _in_force(asked: Mapping[str, Any], status: Json | None, *, infeasible: bool) -> Amounts:
    """``status`` is a container's, or the pod's own for pod-level resources; without resources in it the spec holds."""
    if status is None or status.get("resources") is None:
        return amounts(asked)
    actual, allocated = amounts(_requests(status)), amounts(status.get("allocatedResources"))
    return greatest(actual, allocated) if infeasible else greatest(amounts(asked), actual, allocated)


def _requests(holder: Json) -> Mapping[str, Any]:
    return (holder.get("resources") or {}).get("requests") or {}


def _running_statuses(spec: Json, status: Json) -> dict[str, Json]:
    """By container name; ordinary init containers are left out, they count as their spec says."""
    over = {str(c.get("name")) for c in spec.get("initContainers") or () if c.get("restartPolicy") != "Always"}
    listed: Iterable[Json] = (
        *(status.get("containerStatuses") or ()),
        *(status.get("initContainerStatuses") or ()),
    )
    return {name: s for s in listed if (name := str(s.get("name"))) not in over}


def _resize_infeasible(status: Json) -> bool:
    return any(
        c.get("type") == "PodResizePending" and c.get("reason") == "Infeasible" for c in status.get("conditions") or ()
    )
