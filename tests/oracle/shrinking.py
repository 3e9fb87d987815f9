"""A cluster in which something is wrong made as small as it gets: items, then parts of items, are left out."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

Json = dict[str, Any]
Path = tuple[str | int, ...]

# Without these the API server would not have taken the object.
_NEEDED = frozenset(
    [
        "apiVersion",
        "kind",
        "metadata",
        "name",
        "namespace",
        "uid",
        "spec",
        "status",
        "containers",
        "image",
        "key",
        "operator",
        "values",
        "topologyKey",
        "maxSkew",
        "whenUnsatisfiable",
        "weight",
        "preference",
        "podAffinityTerm",
        "nodeSelectorTerms",
        "required",
        "provisioner",
        "volumeBindingMode",
        "accessModes",
        "capacity",
        "storage",
        "selector",
        "driver",
        "volumeHandle",
        "pdName",
        "volumeID",
        "iqn",
        "targetPortal",
        "lun",
        "monitors",
        "claimName",
        "volumeClaimTemplate",
        "drivers",
        "nodeID",
        "source",
        "attacher",
        "nodeName",
        "phase",
        "persistentVolumeName",
        "disruptionsAllowed",
        "devices",
        "results",
        "request",
        "pool",
        "device",
        "deviceClassName",
        "requests",
        "containerPort",
        "hostPort",
        "effect",
        "schedulerName",
        "path",
        "local",
        "csi",
        "claimRef",
        "storageClassName",
        "matchLabelKeys",
        "mismatchLabelKeys",
        "labelSelector",
        "action",
        "exitCodes",
        "template",
        "resourceClaimName",
        "action",
        "restartPolicy",
        "priority",
        "matchLabelExpressions",
        "volumeMode",
        "volumeName",
        "annotations",
    ]
)


def shrink(items: list[Json], holds: Callable[[list[Json]], bool], *, budget: int = 600) -> list[Json]:
    """The smallest found for which ``holds``; at most ``budget`` questions are asked."""
    asked = 0

    def ask(candidate: list[Json]) -> bool:
        nonlocal asked
        asked += 1
        return asked <= budget and holds(candidate)

    smallest = _fewer(items, ask)
    while (smaller := _simpler(smallest, ask)) is not None and asked <= budget:
        smallest = smaller
    return smallest


def _fewer(items: list[Json], ask: Callable[[list[Json]], bool]) -> list[Json]:
    size = max(1, len(items) // 2)
    while True:
        start, left_out = 0, False
        while start < len(items):
            candidate = items[:start] + items[start + size :]
            if candidate and ask(candidate):
                items, left_out = candidate, True
            else:
                start += size
        if size == 1 and not left_out:
            return items
        size = max(1, size // 2)


def _simpler(items: list[Json], ask: Callable[[list[Json]], bool]) -> list[Json] | None:
    """One pass over all parts; None where none could be left out."""
    found, changed = items, False
    for path in list(_parts(items)):
        candidate = _without(found, path)
        if candidate is not None and ask(candidate):
            found, changed = candidate, True
    return found if changed else None


def _parts(value: Any, at: Path = ()) -> Iterator[Path]:
    """Paths of what may be left out, the last first so that earlier paths stay true."""
    if isinstance(value, dict):
        for key in reversed(list(value)):
            if key not in _NEEDED:
                yield (*at, key)
            yield from _parts(value[key], (*at, key))
    elif isinstance(value, list):
        for i in reversed(range(len(value))):
            if len(value) > 1 and at:
                yield (*at, i)
            yield from _parts(value[i], (*at, i))


def _without(items: list[Json], path: Path) -> list[Json] | None:
    copied: Any = copy.deepcopy(items)
    holder = copied
    try:
        for step in path[:-1]:
            holder = holder[step]
        if isinstance(holder, list) and len(holder) == 1:
            return None
        del holder[path[-1]]
    except (KeyError, IndexError, TypeError):
        return None
    return copied  # type: ignore[no-any-return]
