"""What a pod's spec and status say of the resource claims that it needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ClaimNeed:
    """One entry of ``spec.resourceClaims`` for which there is, or will be, a ResourceClaim.

    Attributes:
        field: path of the entry.
        claim: name of the ResourceClaim, in the pod's namespace; None as long as none has been made from the template.
        made_for_pod: from a template: it must belong to the pod.
    """

    field: str
    claim: str | None
    made_for_pod: bool = False


def claim_needs(pod: Json) -> tuple[ClaimNeed, ...]:
    """Twin of ``resourceclaim.Name``; a template from which deliberately none was made needs nothing."""
    entries = (pod.get("spec") or {}).get("resourceClaims")
    return tuple(_needs(pod, entries)) if entries else ()


def _needs(pod: Json, entries: Any) -> Iterator[ClaimNeed]:
    made = {s["name"]: s for s in (pod.get("status") or {}).get("resourceClaimStatuses") or ()}
    for i, entry in enumerate(entries):
        field = f"spec.resourceClaims[{i}]"
        if (claim := entry.get("resourceClaimName")) is not None:
            yield ClaimNeed(field, claim)
        elif entry["name"] not in made:
            yield ClaimNeed(field, None, made_for_pod=True)
        elif (claim := made[entry["name"]].get("resourceClaimName")) is not None:
            yield ClaimNeed(field, claim, made_for_pod=True)
