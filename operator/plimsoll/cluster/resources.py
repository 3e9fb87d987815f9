"""What a pod requests and what a node offers, as integers by resource name.

Units: ``cpu`` in thousandths of a core, everything else in its base unit (bytes, pieces). Rules:
component-helpers ``resource/helpers.go`` and kube-scheduler's NodeResourcesFit, 1.36.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from plimsoll.cluster.quantity import milli, nano, rounded, whole

Amounts = dict[str, int]
Json = Mapping[str, Any]

CPU, MEMORY, EPHEMERAL_STORAGE, PODS = "cpu", "memory", "ephemeral-storage", "pods"
BASIC = (CPU, MEMORY, EPHEMERAL_STORAGE, PODS)
_MILLI, _WHOLE = 10**6, 10**9  # nano in a unit
# apimachinery's IsQualifiedName, of a name with a prefix.
_PREFIX = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)
_LONGEST_PREFIX, _LONGEST_NAME = 253, 63


def amounts(quantities: Mapping[str, Any] | None) -> Amounts:
    """Quantities by resource name as integers; names that kube-scheduler does not track are left out.

    Raises:
        QuantityError: a quantity that does not parse.
    """
    return {name: amount(name, quantity) for name, quantity in (quantities or {}).items() if tracked(name)}


def amount(name: str, quantity: object) -> int:
    return milli(quantity) if name == CPU else whole(quantity)


@lru_cache(maxsize=1024)
def tracked(name: str) -> bool:
    return name in BASIC or is_scalar(name)


def is_scalar(name: str) -> bool:
    """Extended resources, huge pages, attachable volumes, and names under ``kubernetes.io/``."""
    if name.startswith(("hugepages-", "attachable-volumes-")):
        return True
    return "kubernetes.io/" in name or _is_extended(name)


def pod_requests(pod: Json) -> Amounts:
    """What an incoming pod requests: the spec alone (the API server has copied limits into it already)."""
    spec = pod.get("spec") or {}
    total = _aggregate(spec, lambda container: _nanos(_requests(container)))
    total.update(_pod_level(spec))
    return _with_overhead(total, spec)


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
    in_force = _in_force(_requests(spec), status, infeasible=infeasible)
    # Only what the spec asks for at pod level is in force there, whatever the status adds.
    total.update({name: in_force.get(name, 0) for name in _pod_level(spec)})
    return _with_overhead(total, spec)


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


def _with_overhead(total: Amounts, spec: Json) -> Amounts:
    """The sums, rounded up once they are complete."""
    add(total, _nanos(spec.get("overhead") or {}))
    return {name: rounded(value, _MILLI if name == CPU else _WHOLE) for name, value in total.items()}


def _nanos(quantities: Mapping[str, Any]) -> Amounts:
    """Exact; that a pod is one pod need not be said."""
    return {name: nano(quantity) for name, quantity in quantities.items() if name != PODS and tracked(name)}


def _pod_level(spec: Json) -> Amounts:
    """Only cpu, memory and huge pages can be asked for at pod level (PodLevelResources)."""
    asked = _nanos(_requests(spec))
    return {n: v for n, v in asked.items() if n in {CPU, MEMORY} or n.startswith("hugepages-")}


def _in_force(asked: Mapping[str, Any], status: Json | None, *, infeasible: bool) -> Amounts:
    """``status`` is a container's, or the pod's own for pod-level resources; without resources in it the spec holds."""
    if status is None or status.get("resources") is None:
        return _nanos(asked)
    actual, allocated = _nanos(_requests(status)), _nanos(status.get("allocatedResources") or {})
    return greatest(actual, allocated) if infeasible else greatest(_nanos(asked), actual, allocated)


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
    pending = (c for c in status.get("conditions") or () if c.get("type") == "PodResizePending")
    return any(c.get("reason") == "Infeasible" for c in itertools.islice(pending, 1))


def _is_extended(name: str) -> bool:
    """Of a domain of its own; "requests.<name>" is a quota's spelling of such a resource, not a resource."""
    prefix, slash, rest = name.partition("/")
    if not slash or name.startswith("requests.") or len(f"requests.{prefix}") > _LONGEST_PREFIX:
        return False
    return len(rest) <= _LONGEST_NAME and bool(_PREFIX.fullmatch(prefix) and _NAME.fullmatch(rest))
