"""All filters over all nodes, in kube-scheduler's order, with the policy's own after them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.filters.caches import FilterCaches
from plimsoll.filters.interface import NodeFilter, Overlay, Refusal
from plimsoll.filters.node_affinity import OUTSIDE, NodeAffinity
from plimsoll.filters.node_resources_fit import NodeResourcesFit
from plimsoll.filters.node_verdicts import NodeVerdicts
from plimsoll.filters.prepared import PodFilters, Rejected
from plimsoll.policy.compiled import Policy


@dataclass(frozen=True, slots=True)
class Feasibility:
    """What the filters leave.

    Attributes:
        rows: [N], True where no filter refuses.
        refusals: reasons in the order of the filters; a node stands only under the first filter that refused it.
    """

    rows: Bools
    refusals: tuple[Refusal, ...]


def run_filters(filters: PodFilters, caches: FilterCaches) -> Feasibility:
    """Everything but the load limits, which need readings; of a pod that no problem keeps from every node.

    A node to which pods of no lower priority are nominated must do with them and without them.
    """
    view = filters.view
    if (kept := _kept(filters, caches)) is not None:
        left, refusals = kept[0], list(kept[1])
        groups = _groups_beside(filters, caches)
    else:
        left, refusals = view.live.copy(), list(_refused_beside(filters))
        for refusal in refusals:
            left &= ~refusal.rows
        groups = _groups(filters, caches)
    for group in groups:
        refused = np.zeros(view.size, dtype=np.bool_)
        for refusal in group:
            rows = refusal.rows & left
            if rows.any():
                refused |= rows
                refusals.append(Refusal(refusal.plugin, refusal.reason, rows, refusal.resolvable & rows))
        left = left & ~refused
    return Feasibility(left, _by_reason(refusals))


def _by_reason(refusals: Sequence[Refusal]) -> tuple[Refusal, ...]:
    """One of each plugin and reason: some nodes may refuse for it only with the pods that are nominated to them."""
    found: dict[tuple[str, str], Refusal] = {}
    for refusal in refusals:
        key = refusal.plugin, refusal.reason
        if (other := found.get(key)) is not None:
            refusal = Refusal(*key, other.rows | refusal.rows, other.resolvable | refusal.resolvable)  # noqa: PLW2901
        found[key] = refusal
    return tuple(found.values())


def selected_rows(view: Snapshot, policy: Policy, caches: FilterCaches) -> Bools:
    """[N], live nodes that the policy may use, whatever the pod."""
    rows: Bools = view.live & (caches.of_policy(policy).of(view, _NO_POD) == 0)
    return rows


def yields_to(view: Snapshot, pod: PodInfo, node: str) -> tuple[PodInfo, ...]:
    """Pods nominated to the node whose room the pod must leave to them."""
    return tuple(p for p in view.nominated.pods_on(node) if p.priority >= pod.priority and p.uid != pod.uid)


def _yielding(filters: PodFilters) -> Iterator[tuple[int, Rejected]]:
    """Nodes that refuse the pod once the pods nominated to them are there."""
    view, pod = filters.view, filters.pod
    for node in view.nominated.nodes():
        row = view.row_of.get(node)
        if row is None or not (others := yields_to(view, pod, node)):
            continue
        if rejected := filters.check(row, Overlay(added=others)):
            yield row, rejected


def _refused_beside(filters: PodFilters) -> Iterable[Refusal]:
    """What ``_yielding`` says, by reason: as many pods as like may be nominated."""
    found: dict[tuple[str, str], Refusal] = {}
    for row, rejected in _yielding(filters):
        for reason in rejected.reasons:
            key = rejected.plugin, reason.text
            if key not in found:
                rows, resolvable = np.zeros((2, filters.view.size), dtype=np.bool_)
                found[key] = Refusal(*key, rows, resolvable)
            found[key].rows[row] = True
            found[key].resolvable[row] |= rejected.resolvable
    return found.values()


def _kept(filters: PodFilters, caches: FilterCaches) -> tuple[Bools, tuple[Refusal, ...]] | None:
    """[N], what the filters of the node alone and NodeResourcesFit leave, and their refusals, where they come first and
    look at every node as it is.
    """
    if filters.named is not None or filters.pod.host_ports:
        return None
    if filters.only_fit:
        return caches.rows.of(filters.view, filters.pod, yields=len(filters.view.nominated) > 0)
    return None if any(_yielding(filters)) else caches.rows.of(filters.view, filters.pod)


def _groups_beside(filters: PodFilters, caches: FilterCaches) -> Iterator[Iterable[Refusal]]:
    """Of the filters that ``_kept`` does not know."""
    for cluster_filter, prepared in filters.prepared:
        if not isinstance(cluster_filter, NodeResourcesFit):
            yield prepared.refusals()
    yield from _late_groups(filters, caches, None)


def _groups(filters: PodFilters, caches: FilterCaches) -> Iterator[Iterable[Refusal]]:
    view, pod = filters.view, filters.pod
    rows = None
    if filters.named is not None:
        rows = [view.row_of[name] for name in filters.named if name in view.row_of]
        yield (_outside(view, rows),)
    yield _by_class(caches.first, view, pod, rows)
    for _, prepared in filters.prepared:
        yield prepared.refusals()
    yield from _late_groups(filters, caches, rows)


def _late_groups(filters: PodFilters, caches: FilterCaches, rows: Sequence[int] | None) -> Iterator[Iterable[Refusal]]:
    view, pod, policy = filters.view, filters.pod, filters.policy
    if any(late.concerns(pod) for late in caches.late.filters):
        yield _by_class(caches.late, view, pod, rows)
    if policy.node_selector or policy.node_affinity is not None:
        of_policy = caches.of_policy(policy)
        yield _node_refusals(of_policy.filters, of_policy.of(view, _NO_POD))


def _by_class(verdicts: NodeVerdicts, view: Snapshot, pod: PodInfo, rows: Sequence[int] | None) -> Iterator[Refusal]:
    first = verdicts.of(view, pod) if rows is None else verdicts.of_rows(view, pod, rows)
    return _node_refusals(verdicts.filters, first)


def _outside(view: Snapshot, named: Sequence[int]) -> Refusal:
    rows = np.ones(view.size, dtype=np.bool_)
    rows[named] = False
    return Refusal(NodeAffinity.name, OUTSIDE, rows, resolvable=np.zeros_like(rows))


def _node_refusals(filters: Sequence[NodeFilter], first: NDArray[np.int8]) -> Iterator[Refusal]:
    if not first.any():
        return
    never = np.zeros(len(first), dtype=np.bool_)
    for i, node_filter in enumerate(filters, start=1):
        yield Refusal(node_filter.name, node_filter.reason, rows=first == i, resolvable=never)


# The policy's node filters do not look at the pod.
_NO_POD = PodInfo(uid=Uid(""), namespace="", name="")
