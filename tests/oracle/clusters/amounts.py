"""Resource requests, in the spellings that the API server accepts."""

from __future__ import annotations

from tests.oracle.clusters.vocabulary import Json
from tests.oracle.source import Source

_CPU = ("100m", "500m", "0.5", "1", "1500m", "2", "1e0", "250.5m", "0.0001", "2000000u", "3")
_MEMORY = ("64Mi", "1Gi", "0.5Gi", "1073741824", "1G", "1e9", "1.5Gi", "500M", "100m", "2Gi", "3Gi")
_EPHEMERAL = ("1Gi", "500M", "2Gi", "1e3")
_GPU = "example.com/gpu"
_HUGE = "hugepages-2Mi"


def allocatable(source: Source) -> Json:
    found = {
        "cpu": source.pick(("4", "6", "8", "3500m", "2")),
        "memory": source.pick(("4Gi", "6Gi", "5e9", "8589934592")),
        "pods": source.pick((*["110"] * 12, "5", "3", "2", "0")),
    }
    if source.chance(85):
        found["ephemeral-storage"] = source.pick(("10Gi", "2Gi"))
    if source.chance(60):
        found[_GPU] = source.pick(("2", "1", "0"))
    if source.chance(45):
        found[_HUGE] = source.pick(("64Mi", "4Mi"))
    if source.chance(2):
        del found["pods"]
    return found


def requests(source: Source, *, modest: bool = False) -> dict[str, str]:
    """Of one container; ``modest``: cpu and memory alone."""
    found = {}
    if source.chance(65):
        found["cpu"] = source.pick(_CPU)
    if source.chance(50):
        found["memory"] = source.pick(_MEMORY)
    if modest:
        return found
    if source.chance(10):
        found["ephemeral-storage"] = source.pick(_EPHEMERAL)
    if source.chance(10):
        found[_GPU] = source.pick(("1", "2", "0"))
    if source.chance(6) and ("cpu" in found or "memory" in found):
        found[_HUGE] = source.pick(("2Mi", "4Mi", "66Mi"))
    return found


def container_resources(requested: dict[str, str]) -> Json:
    """Extended resources and huge pages are limited by what they request."""
    limits = {name: amount for name, amount in requested.items() if name in {_GPU, _HUGE}}
    return {"requests": requested, **({"limits": limits} if limits else {})} if requested else {}


def pod_level(source: Source) -> Json:
    """``spec.resources``; what containers ask for and the pod does not, the API server would add."""
    return {"requests": {"cpu": source.pick(("3500m", "1", "2", "40")), "memory": source.pick(("1Gi", "2Gi", "4Gi"))}}


def overhead(source: Source) -> dict[str, str]:
    return source.pick(({"cpu": "250m"}, {"memory": "128Mi"}, {"cpu": "1", "memory": "1Gi"}))
