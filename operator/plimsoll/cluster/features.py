"""What of a pod's spec only some kubelets can do; component-helpers' ``nodedeclaredfeatures``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Json = Mapping[str, Any]

_RESTART_ALL = "RestartAllContainersOnContainerExits"
_USER_NAMESPACES = "UserNamespacesHostNetworkSupport"
NO_FEATURES: frozenset[str] = frozenset()


def required_features(spec: Json) -> frozenset[str]:
    """By the names under which nodes declare them; most pods need none."""
    return frozenset(_required(spec)) or NO_FEATURES


def _required(spec: Json) -> Iterator[str]:
    if spec.get("hostNetwork") and spec.get("hostUsers") is False:
        yield _USER_NAMESPACES
    for kind in ("containers", "initContainers"):
        for container in spec.get(kind) or ():
            if any(rule.get("action") == "RestartAllContainers" for rule in container.get("restartPolicyRules") or ()):
                yield _RESTART_ALL
