"""One ClusterFilter over a handful of nodes, read back by name."""

from __future__ import annotations

from typing import Any

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.pod import PodInfo
from plimsoll.filters.interface import ClusterFilter, Overlay, Prepared, Problem, Reason


def term(key: str, labels: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    """A term of pod affinity that selects the labels, unless ``labelSelector`` is among the fields."""
    return {"topologyKey": key, "labelSelector": {"matchLabels": labels or {}}, **fields}


def exists(key: str, topology_key: str) -> dict[str, Any]:
    return term(topology_key, labelSelector={"matchExpressions": [{"key": key, "operator": "Exists"}]})


def one_of(key: str, *values: str, operator: str = "In") -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def by_effect(prepared: Prepared, overlay: Overlay) -> Overlay:
    """The same in its effects: pods without any are left out, pods of equal effect stand for one another."""
    first: dict[object, PodInfo] = {}
    sides = []
    for pods in (overlay.removed, overlay.added):
        felt = [(prepared.effect(pod), pod) for pod in pods]
        sides.append(tuple(first.setdefault(effect, pod) for effect, pod in felt if effect is not None))
    return Overlay(removed=sides[0], added=sides[1])


def refused(cluster_filter: ClusterFilter, cache: Cache, pod: PodInfo) -> dict[str, Reason] | Problem | None:
    """The reason by node that is refused; the mask and the check of each row agree. None: the filter skips the pod."""
    view = cache.view
    prepared = cluster_filter.prepare(view, pod)
    if prepared is None or isinstance(prepared, Problem):
        return prepared
    found: dict[str, list[Reason]] = {name: [] for name in view.row_of}
    for refusal in prepared.refusals():
        for name, row in view.row_of.items():
            if refusal.rows[row]:
                found[name].append(Reason(refusal.reason, resolvable=bool(refusal.resolvable[row])))
    for name, row in view.row_of.items():
        assert prepared.check(row, Overlay()) == tuple(found[name]), name
    assert all(len(reasons) <= 1 for reasons in found.values())
    return {name: reasons[0] for name, reasons in found.items() if reasons}
