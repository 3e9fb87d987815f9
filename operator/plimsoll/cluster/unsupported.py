"""Fields of a pod that are hard constraints which Plimsoll does not honour yet.

A pod that sets one is never bound past it: it stays pending and is told which field. Fields that cannot
restrict the choice of a node are not listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Json = Mapping[str, Any]

# Volumes that are bound, limited in number per node, or exclusive; the others mount anywhere.
_PLACING_VOLUMES = (
    "persistentVolumeClaim",
    "ephemeral",
    "awsElasticBlockStore",
    "azureDisk",
    "cinder",
    "gcePersistentDisk",
    "iscsi",
    "portworxVolume",
    "rbd",
    "vsphereVolume",
)
_KNOWN_OPERATORS = frozenset({"", "Equal", "Exists"})
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def unsupported_fields(spec: Json) -> tuple[str, ...]:
    """The paths of such fields, in the order of the spec's own documentation; empty for most pods."""
    return tuple(_found(spec))


def _found(spec: Json) -> Iterator[str]:
    yield from _volumes(spec.get("volumes") or ())
    for i, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        if constraint.get("whenUnsatisfiable") == "DoNotSchedule":
            yield f"spec.topologySpreadConstraints[{i}] (whenUnsatisfiable: DoNotSchedule)"
    affinity = spec.get("affinity") or {}
    for kind in ("podAffinity", "podAntiAffinity"):
        if (affinity.get(kind) or {}).get(_REQUIRED):
            yield f"spec.affinity.{kind}.{_REQUIRED}"
    for i, toleration in enumerate(spec.get("tolerations") or ()):
        if (toleration.get("operator") or "") not in _KNOWN_OPERATORS:
            yield f"spec.tolerations[{i}].operator ({toleration['operator']})"
    yield from (f"spec.{f}" for f in ("resourceClaims", "schedulingGroup", "workloadRef") if spec.get(f))
    yield from _node_features(spec)


def _volumes(volumes: Iterable[Json]) -> Iterator[str]:
    for i, volume in enumerate(volumes):
        yield from (f"spec.volumes[{i}].{kind}" for kind in _PLACING_VOLUMES if volume.get(kind) is not None)


def _node_features(spec: Json) -> Iterator[str]:
    """What kube-scheduler's NodeDeclaredFeatures infers a need from."""
    if spec.get("hostNetwork") and spec.get("hostUsers") is False:
        yield "spec.hostUsers (false with hostNetwork)"
    for kind in ("containers", "initContainers"):
        for i, container in enumerate(spec.get(kind) or ()):
            rules = container.get("restartPolicyRules") or ()
            if any(rule.get("action") == "RestartAllContainers" for rule in rules):
                yield f"spec.{kind}[{i}].restartPolicyRules (RestartAllContainers)"
