"""DynamicResources: nodes that reach the devices of the pod's resource claims.

Claims that are allocated are honoured; a pod with any other is refused by the name of the field.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.invalidates import Invalidates
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.reservation import Reservation
from plimsoll.cluster.resource_claims import ResourceClaim
from plimsoll.cluster.selectors import NodeSelector
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.filters.interface import Overlay, Problem, Reason, Refusal
from plimsoll.filters.resource_claims import claim_of, claims_of, not_done

_REASON = "resourceclaim not available on the node"
# Extended resources by the name of the device class that backs them: a claim would have to be made for the pod.
_CLASS_PREFIX = "deviceclass.resource.kubernetes.io/"


class DynamicResources:
    name = "DynamicResources"
    invalidates = Invalidates.ALL
    wakes = ChangeKind.RESOURCE_CLAIM | ChangeKind.NODE_ADDED | ChangeKind.NODE_LABELS

    def prepare(self, view: Snapshot, pod: PodInfo) -> PreparedClaims | Problem | None:
        if backed := [name for name, amount in pod.requests.items() if amount and name.startswith(_CLASS_PREFIX)]:
            return not_done(f"resources.requests[{backed[0]}]", "this scheduler allocates no devices")
        if not pod.resource_claims:
            return None
        claims = claims_of(view, pod)
        return claims if isinstance(claims, Problem) else PreparedClaims(view, pod, claims)

    def helps(self, change: Change, pod: PodInfo, view: Snapshot) -> bool:
        """A node, or a change of one of the pod's own claims once all of them are there."""
        before, after = change.before, change.after
        if not isinstance(after, ResourceClaim):
            return True
        if not any((pod.namespace, need.claim) == (after.namespace, after.name) for need in pod.resource_claims):
            return False
        if before is not None and (before.allocation, before.reserved_for) == (after.allocation, after.reserved_for):
            return False
        return not any(isinstance(claim_of(view, pod, need), Problem) for need in pod.resource_claims)


@dataclass(frozen=True, slots=True)
class PreparedClaims:
    """Attributes:
    claims: the pod's, all of them allocated.
    """

    view: Snapshot
    pod: PodInfo
    claims: tuple[ResourceClaim, ...]

    def refusals(self) -> Iterable[Refusal]:
        refused = np.zeros(self.view.size, dtype=np.bool_)
        for selector in _selectors(self.claims):
            refused |= ~_selected(self.view, selector)
        yield Refusal(DynamicResources.name, _REASON, rows=refused, resolvable=np.zeros_like(refused))

    def check(self, row: int, overlay: Overlay) -> tuple[Reason, ...]:  # noqa: ARG002
        node = self.view.nodes[row]
        if node is None or all(s.matches(node.labels, node.name) for s in _selectors(self.claims)):
            return ()
        return (Reason(_REASON, resolvable=False),)

    def effect(self, pod: PodInfo) -> None:
        """None: pods do not matter."""

    def reservations(self) -> tuple[Reservation, ...]:
        """Claims that do not name the pod among their users yet, and must before it is bound, wherever it goes."""
        new = (claim for claim in self.claims if self.pod.uid not in claim.reserved_for)
        return tuple(Reservation(claim.namespace, claim.name, claim.uid) for claim in new)


def _selectors(claims: Iterable[ResourceClaim]) -> tuple[NodeSelector, ...]:
    allocations = (claim.allocation for claim in claims)
    return tuple(a.node_selector for a in allocations if a is not None and a.node_selector is not None)


def _selected(view: Snapshot, selector: NodeSelector) -> Bools:
    """[N]; devices of one node alone are often selected by its name."""
    selected = np.zeros(view.size, dtype=np.bool_)
    names = selector.names()
    rows = range(view.size) if names is None else [view.row_of[name] for name in names if name in view.row_of]
    for row in rows:
        node = view.nodes[row]
        selected[row] = node is not None and selector.matches(node.labels, node.name)
    return selected
