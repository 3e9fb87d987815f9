"""Differences that are intended: each stands in docs/deviations.md, under the id by which it is counted here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.oracle.comparing import Disagreement

Json = Mapping[str, Any]
# The difference, both verdicts on the pod, and the cluster's items.
Explains = Callable[[Disagreement, Json, Json, Sequence[Json]], bool]

_FOREIGN_CLAIM = re.compile(
    r'running "NodeVolumeLimits" filter plugin: PVC (\S+) was not created for pod \S+ \(pod is not owner\)'
)
# Volumes for which NodeVolumeLimits looks at those of pods on nodes; disks of the tree are counted as their CSI drivers'.
_COUNTED = frozenset(
    {
        "persistentVolumeClaim",
        "ephemeral",
        "awsElasticBlockStore",
        "azureDisk",
        "azureFile",
        "cinder",
        "gcePersistentDisk",
        "portworxVolume",
        "vsphereVolume",
    }
)
_LEFT_OUT = "node(s) didn't satisfy plugin(s)"
_DOCUMENT = Path(__file__).parents[2] / "docs" / "deviations.md"


def deviation(found: Disagreement, ours: Json | None, theirs: Json, items: Sequence[Json]) -> str | None:
    """The id of the intended deviation that explains the difference, if one does."""
    if ours is None:
        return None
    return next((name for name, explains in BY_ID.items() if explains(found, ours, theirs, items)), None)


def documented() -> dict[str, str]:
    """Text by id: the headings ``## `id` `` of the page that say they are compared."""
    parts = re.split(r"^## `([a-z-]+)`.*$", _DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _unsupported_field(_found: Disagreement, ours: Json, _theirs: Json, items: Sequence[Json]) -> bool:
    """The whole pod is refused by name of the field, whatever kube-scheduler would say to it."""
    spec = _pod(items, ours["pod"])["spec"]
    operators = {toleration.get("operator") or "Equal" for toleration in spec.get("tolerations", ())}
    sets_one = bool(spec.get("schedulingGroup") or spec.get("workloadRef") or operators - {"Equal", "Exists"})
    return sets_one and ours["message"].startswith("pod uses fields that this scheduler does not support yet: ")


def _unallocated_claim(_found: Disagreement, ours: Json, theirs: Json, items: Sequence[Json]) -> bool:
    """Plimsoll leaves the claim alone where kube-scheduler's DynamicResources would try to allocate it."""
    if not ours["message"].endswith("is not allocated, and this scheduler allocates none"):
        return False
    earlier = (theirs.get("preFilter") or {}).get("plugin") not in {None, "DynamicResources"}
    return not earlier and any("allocation" not in claim.get("status", {}) for claim in _claims_of(items, ours["pod"]))


def _pod(items: Sequence[Json], key: str) -> Json:
    namespace, name = key.split("/")
    return next(
        item
        for item in items
        if item["kind"] == "Pod" and (item["metadata"]["namespace"], item["metadata"]["name"]) == (namespace, name)
    )


def _claims_of(items: Sequence[Json], key: str) -> list[Json]:
    """Resource claims of the pod, those that its status names included."""
    pod = _pod(items, key)
    made = {s["name"]: s.get("resourceClaimName") for s in pod.get("status", {}).get("resourceClaimStatuses", ())}
    names = {c.get("resourceClaimName") or made.get(c["name"]) for c in pod["spec"].get("resourceClaims", ())}
    return [
        item
        for item in items
        if item["kind"] == "ResourceClaim"
        and item["metadata"]["namespace"] == pod["metadata"]["namespace"]
        and item["metadata"]["name"] in names
    ]


def _no_deallocation(found: Disagreement, _ours: Json, _theirs: Json, _items: Sequence[Json]) -> bool:
    return found.field == "message" and bool(found.ours == _undone(found.theirs))


def _undone(message: str) -> str:
    """As it would be without deallocation."""
    return message.replace("deallocation of ResourceClaim completed", "still not schedulable")


def _foreign_claim(found: Disagreement, _ours: Json, theirs: Json, items: Sequence[Json]) -> bool:
    reasons = (reason for verdict in theirs["nodes"].values() for reason in verdict["reasons"])
    if any(_FOREIGN_CLAIM.search(text) for text in (theirs["message"], *reasons)):
        return True
    # In a dry run of preemption the error is not told: the node is no candidate, or the odd pod a victim.
    if found.field not in {"preemption", "message"} or theirs["feasible"]:
        return False
    # Volumes of pods on nodes are counted only for a pod that has such volumes itself.
    volumes = _pod(items, theirs["pod"])["spec"].get("volumes", ())
    asks = any(_COUNTED & volume.keys() for volume in volumes)
    return asks and any(_pod(items, key)["spec"].get("nodeName") for key in _with_foreign_claims(items))


def _with_foreign_claims(items: Sequence[Json]) -> set[str]:
    """Pods with a generic ephemeral volume whose claim is not theirs."""
    claims = {
        (claim["metadata"]["namespace"], claim["metadata"]["name"]): claim
        for claim in items
        if claim["kind"] == "PersistentVolumeClaim"
    }
    found = set()
    for pod in (item for item in items if item["kind"] == "Pod"):
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        for volume in pod["spec"].get("volumes", ()):
            claim = claims.get((namespace, f"{name}-{volume['name']}"))
            if "ephemeral" in volume and claim is not None and "ownerReferences" not in claim["metadata"]:
                found.add(f"{namespace}/{name}")
    return found


def _nominated_first(found: Disagreement, _ours: Json, theirs: Json, _items: Sequence[Json]) -> bool:
    """The verdicts on the nodes are the same, and so is what preemption says; only the counts are told otherwise."""
    if found.field != "message" or _LEFT_OUT not in found.theirs + found.ours:
        return False
    counts = Counter(reason for verdict in theirs["nodes"].values() for reason in verdict["reasons"])
    told = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
    start = f"0/{len(theirs['nodes'])} nodes are available: {told}."
    return bool(found.ours.startswith(start) and _undone(found.theirs).endswith(found.ours.removeprefix(start)))


BY_ID: dict[str, Explains] = {
    "unsupported-fields": _unsupported_field,
    "unallocated-claims": _unallocated_claim,
    "no-deallocation": _no_deallocation,
    "foreign-claims": _foreign_claim,
    "nominated-first": _nominated_first,
}
