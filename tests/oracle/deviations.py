"""Differences that are intended: each stands in docs/deviations.md, under the id by which it is counted here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.oracle.comparing import Disagreement

Json = Mapping[str, Any]
Explains = Callable[[Disagreement, Json, Json], bool]

_FOREIGN_CLAIM = re.compile(
    r'running "NodeVolumeLimits" filter plugin: PVC (\S+) was not created for pod \S+ \(pod is not owner\)'
)
_LEFT_OUT = "node(s) didn't satisfy plugin(s)"
_DOCUMENT = Path(__file__).parents[2] / "docs" / "deviations.md"


def deviation(found: Disagreement, ours: Json | None, theirs: Json) -> str | None:
    """The id of the intended deviation that explains the difference, if one does."""
    if ours is None:
        return None
    return next((name for name, explains in BY_ID.items() if explains(found, ours, theirs)), None)


def documented() -> dict[str, str]:
    """Text by id: the headings ``## `id` `` of the page that say they are compared."""
    parts = re.split(r"^## `([a-z-]+)`.*$", _DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _unsupported_field(_found: Disagreement, ours: Json, _theirs: Json) -> bool:
    """The whole pod is refused by name of the field, whatever kube-scheduler would say to it."""
    return bool(ours["message"].startswith("pod uses fields that this scheduler does not support yet: "))


def _unallocated_claim(_found: Disagreement, ours: Json, theirs: Json) -> bool:
    """Plimsoll leaves the claim alone where kube-scheduler's DynamicResources would try to allocate it."""
    earlier = (theirs.get("preFilter") or {}).get("plugin") not in {None, "DynamicResources"}
    return not earlier and ours["message"].endswith("is not allocated, and this scheduler allocates none")


def _no_deallocation(found: Disagreement, _ours: Json, _theirs: Json) -> bool:
    if found.field != "message":
        return False
    return bool(found.ours == found.theirs.replace("deallocation of ResourceClaim completed", "still not schedulable"))


def _foreign_claim(_found: Disagreement, _ours: Json, theirs: Json) -> bool:
    reasons = (reason for verdict in theirs["nodes"].values() for reason in verdict["reasons"])
    return any(_FOREIGN_CLAIM.match(reason) for reason in reasons)


def _nominated_first(found: Disagreement, _ours: Json, theirs: Json) -> bool:
    """The verdicts on the nodes are the same, and so is what preemption says; only the counts are told otherwise."""
    if found.field != "message" or _LEFT_OUT not in found.theirs + found.ours:
        return False
    counts = Counter(reason for verdict in theirs["nodes"].values() for reason in verdict["reasons"])
    told = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
    start = f"0/{len(theirs['nodes'])} nodes are available: {told}."
    return bool(found.ours.startswith(start) and found.theirs.endswith(found.ours.removeprefix(start)))


BY_ID: dict[str, Explains] = {
    "unsupported-fields": _unsupported_field,
    "unallocated-claims": _unallocated_claim,
    "no-deallocation": _no_deallocation,
    "foreign-claims": _foreign_claim,
    "nominated-first": _nominated_first,
}
