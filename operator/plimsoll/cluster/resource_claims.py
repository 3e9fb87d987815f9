"""ResourceClaims, as far as they are allocated already: their devices are never chosen here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.objects import ApiObject, Kind
from plimsoll.cluster.selectors import NodeSelector
from plimsoll.cluster.storage.reading import read
from plimsoll.cluster.workload import controller

Json = Mapping[str, Any]

RESOURCE_CLAIM = "ResourceClaim"


@dataclass(frozen=True, slots=True)
class Allocation:
    """Attributes:
    node_selector: nodes that reach the devices; None: all.
    unready: devices that must be set up for the node first, and are not; each as ``pool/device``.
    """

    node_selector: NodeSelector | None = None
    unready: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResourceClaim:
    """What scheduling asks about a ResourceClaim.

    Attributes:
        allocation: None where it has no devices yet.
        reserved_for: uids of those who may use it.
        controller_uid: of the pod for which it was made from a template; "" where nothing controls it.
    """

    namespace: str
    name: str
    uid: str = ""
    resource_version: str = ""
    allocation: Allocation | None = None
    reserved_for: tuple[str, ...] = ()
    controller_uid: str = ""
    deleting: bool = False

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @classmethod
    def parse(cls, claim: Json) -> ResourceClaim:
        """Raises ObjectError."""
        return read(RESOURCE_CLAIM, claim, _parse)


class ResourceClaims:
    """The store, by namespace and name."""

    def __init__(self) -> None:
        self._claims: dict[str, ResourceClaim] = {}

    def get(self, namespace: str, name: str) -> ResourceClaim | None:
        return self._claims.get(f"{namespace}/{name}")

    def put(self, kind: Kind, thing: ApiObject) -> Change | None:
        assert isinstance(thing, ResourceClaim)
        before = self._claims.get(thing.key)
        self._claims[thing.key] = thing
        if before is not None and replace(before, resource_version=thing.resource_version) == thing:
            return None
        return Change(kind.changed, before=before, after=thing)

    def drop(self, kind: Kind, key: str) -> Change | None:
        before = self._claims.pop(key, None)
        return None if before is None else Change(kind.gone, before=before)


RESOURCE_CLAIM_KIND = Kind(
    RESOURCE_CLAIM, ResourceClaim.parse, changed=ChangeKind.RESOURCE_CLAIM, store="resource_claims"
)


def _parse(claim: Json) -> ResourceClaim:
    metadata, status = claim["metadata"], claim.get("status") or {}
    return ResourceClaim(
        namespace=metadata["namespace"],
        name=metadata["name"],
        uid=metadata.get("uid") or "",
        resource_version=metadata.get("resourceVersion") or "",
        allocation=_allocation(status),
        reserved_for=tuple(str(user["uid"]) for user in status.get("reservedFor") or ()),
        controller_uid=(controller(metadata) or {}).get("uid") or "",
        deleting=bool(metadata.get("deletionTimestamp")),
    )


def _allocation(status: Json) -> Allocation | None:
    allocation = status.get("allocation")
    if allocation is None:
        return None
    selector = allocation.get("nodeSelector")
    return Allocation(None if selector is None else NodeSelector.parse(selector), tuple(_unready(allocation, status)))


def _unready(allocation: Json, status: Json) -> Iterator[str]:
    """kube-scheduler's ``isClaimReadyForBinding``."""
    true = {_device(device): _true_conditions(device) for device in status.get("devices") or ()}
    for device in (allocation.get("devices") or {}).get("results") or ():
        wanted, fatal = (set(device.get(f) or ()) for f in ("bindingConditions", "bindingFailureConditions"))
        found = true.get(_device(device), set())
        if wanted and (not wanted <= found or fatal & found):
            yield f"{device.get('pool')}/{device.get('device')}"


def _device(device: Json) -> tuple[Any, ...]:
    return tuple(device.get(part) for part in ("driver", "pool", "device"))


def _true_conditions(device: Json) -> set[str]:
    return {c["type"] for c in device.get("conditions") or () if c.get("status") == "True"}
