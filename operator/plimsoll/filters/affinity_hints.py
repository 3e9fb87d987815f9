"""What may help a pod that InterPodAffinity rejected (kube-scheduler's isSchedulableAfterPodChange/NodeChange).

Where kube-scheduler's own hints miss a change that helps, and leave the pod to its flush after five minutes, these
do not: namespaceSelectors are resolved, one of several anti-affinity terms is enough, and a pod that only the
anti-affinity of others keeps away is told of nodes.
"""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.cluster.changes import Change, ChangeKind
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.pod_counts import PodMatcher
from plimsoll.cluster.pod_terms import AffinityTerm
from plimsoll.cluster.snapshot import Snapshot
from plimsoll.cluster.term_index import TermKind

_GONE = ChangeKind.POD_DELETED | ChangeKind.NOMINATION_ENDED
_PODS = ChangeKind.POD_ADDED | ChangeKind.POD_LABELS | _GONE
_NODES = ChangeKind.NODE_ADDED | ChangeKind.NODE_DELETED | ChangeKind.NODE_LABELS
WAKES = _PODS | _NODES | ChangeKind.NAMESPACE_LABELS


def helps(change: Change, pod: PodInfo, view: Snapshot) -> bool:
    if change.kind & ChangeKind.NAMESPACE_LABELS:
        return _namespace_helps(change, pod)
    if change.kind & _NODES:
        return _node_helps(change.before, change.after, pod, view)
    if change.kind & (ChangeKind.POD_ADDED | ChangeKind.POD_LABELS) and _comes(change, pod, view):
        return True
    return bool(change.kind & (_GONE | ChangeKind.POD_LABELS)) and _goes(change, pod, view)


def _namespace_helps(change: Change, pod: PodInfo) -> bool:
    namespace = change.after or change.before
    terms = (*pod.required_affinity, *pod.required_anti_affinity)
    return namespace.name == pod.namespace or any(term.pods.namespace_selector is not None for term in terms)


def _comes(change: Change, pod: PodInfo, view: Snapshot) -> bool:
    """A pod that it wants to be with is there now."""
    terms = pod.required_affinity
    if not terms or not _all_select(view, terms, change.after):
        return False
    return bool(change.kind & ChangeKind.POD_ADDED) or not _all_select(view, terms, change.before)


def _goes(change: Change, pod: PodInfo, view: Snapshot) -> bool:
    """A pod that one of the two did not want to be with is gone, or is not such a pod any more."""
    before, after = change.before, change.after
    for term in pod.required_anti_affinity:
        relabelled = not change.kind & _GONE and _selects(view, term, after)
        if _selects(view, term, before) and not relabelled:
            return True
    if change.kind & _GONE and any(_selects(view, term, pod) for term in before.required_anti_affinity):
        return True
    return _first_of_group(before, pod, view)


def _first_of_group(gone: PodInfo, pod: PodInfo, view: Snapshot) -> bool:
    """The last pod that it would have had to join is gone: now it may start a group anywhere."""
    terms = pod.required_affinity
    if not terms or not _all_select(view, terms, gone) or not _all_select(view, terms, pod):
        return False
    return not view.pods.counts(PodMatcher(tuple(term.pods for term in terms))).any()


def _node_helps(before: NodeInfo | None, after: NodeInfo | None, pod: PodInfo, view: Snapshot) -> bool:
    wanted = {term.topology_key for term in pod.required_affinity}
    if before is None or after is None:
        # The pods of a node that is gone are gone with it; what they held against the pod is not known any more.
        return after is None or not wanted or any(key in after.labels for key in wanted)
    unwanted = {term.topology_key for term in pod.required_anti_affinity}
    unwanted |= {group.topology_key for group in view.terms.matching(TermKind.REQUIRED_ANTI_AFFINITY, pod)}
    return any(before.labels.get(key) != after.labels.get(key) for key in wanted) or any(
        key in before.labels and before.labels[key] != after.labels.get(key) for key in unwanted
    )


def _all_select(view: Snapshot, terms: Iterable[AffinityTerm], pod: PodInfo) -> bool:
    return all(_selects(view, term, pod) for term in terms)


def _selects(view: Snapshot, term: AffinityTerm, pod: PodInfo) -> bool:
    return term.pods.of_incoming_selects(pod.namespace, view.namespaces.get(pod.namespace), pod.labels)
