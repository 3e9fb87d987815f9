"""A pod's resource claims, or what keeps it from using them: DynamicResources' PreFilter."""

from __future__ import annotations

from plimsoll.cluster.claim_needs import ClaimNeed
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.resource_claims import ResourceClaim
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.filters.interface import Code, Problem


def claims_of(view: Snapshot, pod: PodInfo) -> tuple[ResourceClaim, ...] | Problem:
    """The claims, all of them allocated. kube-scheduler first looks whether all are there, then at each."""
    claims: dict[str, ResourceClaim] = {}
    fields: dict[str, str] = {}
    for need in pod.resource_claims:
        found = claim_of(view, pod, need)
        if isinstance(found, Problem):
            return found
        claims[found.key] = found
        fields.setdefault(found.key, need.field)
    problems = (_unusable(claim, fields[key]) for key, claim in claims.items())
    return next((problem for problem in problems if problem is not None), tuple(claims.values()))


def claim_of(view: Snapshot, pod: PodInfo, need: ClaimNeed) -> ResourceClaim | Problem:
    """Whatever its state is."""
    if need.claim is None:
        return not_done(need.field, "ResourceClaim not created yet")
    claim = view.resource_claims.get(pod.namespace, need.claim)
    if claim is None:
        return Problem(f'could not find ResourceClaim "{pod.namespace}/{need.claim}"')
    if claim.deleting:
        return Problem(f'resourceclaim "{claim.name}" is being deleted')
    if need.made_for_pod and claim.controller_uid != pod.uid:
        return Problem(f"ResourceClaim {claim.key} was not created for Pod {pod.key} (Pod is not owner)")
    return claim


def not_done(field: str, why: str) -> Problem:
    """Nothing that anybody adds to the cluster helps: no autoscaler must act."""
    return Problem(f"{field}: {why}", Code.ERROR)


def _unusable(claim: ResourceClaim, field: str) -> Problem | None:
    if claim.allocation is None:
        return not_done(field, f"resource claim {claim.key} is not allocated, and this scheduler allocates none")
    if claim.allocation.unready:
        return not_done(field, f"device {claim.allocation.unready[0]} of resource claim {claim.key} is not ready")
    return None
