"""What can be told of a pod that cannot be read as a whole: who it is, and, if need be, what it holds on its node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from plimsoll.cluster.pod import PodInfo
from plimsoll.errors import ObjectError

Json = Mapping[str, Any]

_WHERE = ("schedulerName", "nodeName", "hostNetwork", "priority", "preemptionPolicy", "schedulingGates")
_HOLDS = ("containers", "initContainers", "overhead", "resources")
_WHO = ("uid", "namespace", "name", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp")


def salvage(pod: Json, error: ObjectError) -> PodInfo | None:
    """The pod without the parts that cannot be read, ``unreadable`` set to the error; None where nothing is left.

    A pod on a node keeps its slot there, and what it requests wherever that can be read: kube-scheduler too counts
    a pod whose affinity it cannot read.
    """
    for part in _parts(pod):
        try:
            return replace(PodInfo.parse(part), unreadable=str(error))
        except ObjectError:
            continue
    return None


def _parts(pod: Json) -> Iterator[Json]:
    """From the most to the least that may be left."""
    metadata, spec, status = (_mapping(pod.get(part)) for part in ("metadata", "spec", "status"))
    who = _only(metadata, _WHO)
    bare = {"metadata": who, "status": _only(status, ("phase", "nominatedNodeName"))}
    holds = _only(spec, (*_WHERE, *_HOLDS))
    yield {"metadata": {**who, **_only(metadata, ("labels",))}, "spec": holds, "status": status}
    yield {**bare, "spec": holds}
    yield {**bare, "spec": _only(spec, _WHERE)}


def _only(thing: Json, keys: tuple[str, ...]) -> Json:
    return {key: thing[key] for key in keys if key in thing}


def _mapping(thing: object) -> Json:
    return thing if isinstance(thing, Mapping) else {}
